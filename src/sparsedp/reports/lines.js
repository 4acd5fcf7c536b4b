// A few labels along one ordered axis: a line with its band for each. Dashes and markers tell them apart where colours
// do not: to colour-blind eyes, and on paper.

const DASHES = ["", "9 4", "2 4", "12 4 2 4", "5 5", "16 5", "10 3 2 3 2 3", "1 6"];
const MARKERS = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1,0 ${2 * r},0a${r},${r} 0 1,0 ${-2 * r},0Z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x},${y - 1.25 * r}l${1.2 * r},${2.1 * r}h${-2.4 * r}Z`,
  (x, y, r) => `M${x},${y - 1.4 * r}l${1.4 * r},${1.4 * r}l${-1.4 * r},${1.4 * r}l${-1.4 * r},${-1.4 * r}Z`,
  (x, y, r) => `M${x},${y + 1.25 * r}l${1.2 * r},${-2.1 * r}h${-2.4 * r}Z`,
  (x, y, r) => `M${x - 1.4 * r},${y - 0.6 * r}h${2.8 * r}v${1.2 * r}h${-2.8 * r}Z`,
  (x, y, r) => `M${x - 0.6 * r},${y - 1.4 * r}h${1.2 * r}v${2.8 * r}h${-1.2 * r}Z`,
  (x, y, r) => `M${x - 1.3 * r},${y - 1.3 * r}l${1.3 * r},${0.9 * r}l${1.3 * r},${-0.9 * r}v${2.6 * r}l${-1.3 * r},${-0.9 * r}l${-1.3 * r},${0.9 * r}Z`,
];
const SAMPLE = 34, LABEL_LINE = 18;

function drawLines(host, picture, state) {
  const [rows, columns] = picture.axes, across = sizeOf(columns), count = sizeOf(rows);
  const names = rows.labels.map((label) => (label === "" ? "(empty)" : label)), width = host.clientWidth;
  const widest = Math.max(...names.map((name) => widthOf(name, 12)));
  // Labels stand at the ends of their lines, or above all of them where there is no room.
  const beside = width >= 560, room = { right: beside ? Math.min(0.25 * width, SAMPLE + widest + 16) : 0, top: 0 };
  const legend = beside ? [] : inRows(names, width - 12);
  if (!beside) room.top = LABEL_LINE * (1 + Math.max(...legend.map(({ row }) => row))) + 4;
  const [first, last] = state.window;
  const ends = placesFrom(0, count).map((row) => extent(picture, row * across + first, row * across + last));
  const reach = [Math.min(...ends.map(([low]) => low)), Math.max(...ends.map(([, high]) => high))];
  const frame = lineFrame(host, picture, state, reach, room);
  const { svg, box, x, y, from, to } = frame;
  const places = placesFrom(from, to), full = places.filter((place) => !columns.partial.includes(place));
  const path = (row, some) => linePath(picture, row * across, some, x, y);

  for (let row = 0; row < count; row++) drawBand(svg, picture, row * across, places, x, y, `band s${row}`);
  const every = Math.max(1, Math.round((places.length * 90) / (box.right - box.left)));
  const all = places.length <= (box.right - box.left) / 14;
  for (let row = 0; row < count; row++) {
    const at = row * across, group = drawn(svg, "g", { class: `series s${row}` });
    drawn(group, "path", { class: "line", d: path(row, full), "stroke-dasharray": DASHES[row], "data-points": full.length });
    for (const place of places) {
      const part = columns.partial.includes(place), next = place === from ? from + 1 : place - 1;
      if (part && next < to) drawn(group, "path", { class: "line partly", d: path(row, [next, place]) });
      // Markers of long lines stand in different places, so that no two hide each other.
      const marked = all || part || (place + Math.round((row * every) / count)) % every === 0;
      if (marked) drawn(group, "path", { class: `point${part ? " part" : ""}`, d: MARKERS[row](x(place), y(picture.values[at + place]), 3.4) });
    }
  }
  const shown = drawn(svg, "g", { class: "names scale", "aria-hidden": "true" });
  // A line ends where its last whole point is: half a week at the end is no fall.
  const tip = full.length ? full[full.length - 1] : to - 1;
  const tips = names.map((_, row) => y(picture.values[row * across + tip]));
  const spots = beside
    ? apart(tips, box)
    : legend.map(({ row }) => 26 + LABEL_LINE * row);
  names.forEach((name, row) => {
    const left = beside ? box.right + 6 : legend[row].left, at = spots[row];
    if (beside) drawn(shown, "path", { class: `leader s${row}`, d: `M${x(tip)},${tips[row]}L${left},${at}` });
    const sample = drawn(shown, "g", { class: `series s${row}` });
    drawn(sample, "path", { class: "line", d: `M${left},${at}h${SAMPLE - 6}`, "stroke-dasharray": DASHES[row] });
    drawn(sample, "path", { class: "point", d: MARKERS[row](left + (SAMPLE - 6) / 2, at, 3.8) });
    const text = fitted(name, beside ? room.right - SAMPLE - 4 : width - SAMPLE - 12, 12);
    const label = drawn(shown, "text", { class: "label-of-line", x: left + SAMPLE, y: at + 4 }, text);
    if (text !== name) drawn(label, "title", {}, name);
  });
  const choose = chooser(svg, box);
  const mark = drawn(svg, "g", { class: "cursor", "aria-hidden": "true" });

  return {
    size: picture.values.length,
    at: (px, py) => {
      const place = frame.column(px);
      const far = placesFrom(0, count).map((row) => Math.abs(y(picture.values[row * across + place]) - (py ?? 0)));
      return far.indexOf(Math.min(...far)) * across + place;
    },
    column: frame.column,
    inside: frame.inside,
    choose,
    mark: (index) => {
      mark.replaceChildren();
      if (index === null) return;
      const row = Math.floor(index / across), place = index % across;
      if (place < from || place >= to) return;
      const { value, low: under, high: over, known } = worth(picture, index);
      drawn(mark, "path", { class: `line strong s${row}`, d: path(row, full) });
      drawn(mark, "line", { class: "cross", x1: x(place), x2: x(place), y1: box.top, y2: box.bottom });
      if (known) drawn(mark, "line", { class: "whisker", x1: x(place), x2: x(place), y1: y(under), y2: y(over) });
      drawn(mark, "circle", { class: `here s${row}`, cx: x(place), cy: y(value), r: 5 });
    },
    // Along a line to the left and right; up and down is the next label.
    step: (index, key) => {
      const row = Math.floor(index / across), place = index % across;
      const along = Math.min(across - 1, Math.max(0, place + ({ ArrowRight: 1, ArrowLeft: -1 }[key] || 0)));
      const down = Math.min(count - 1, Math.max(0, row + ({ ArrowDown: 1, ArrowUp: -1 }[key] || 0)));
      return down * across + along;
    },
  };
}

// Labels one after another, in as many rows as they need.
function inRows(names, width) {
  let left = 2, row = 0;
  return names.map((name) => {
    const wide = SAMPLE + Math.min(width - SAMPLE, widthOf(name, 12)) + 14;
    if (left > 2 && left + wide > width + 14) [left, row] = [2, row + 1];
    const place = { left, row };
    left += wide;
    return place;
  });
}

// Heights as near as possible to those wanted, and far enough from one another to be read.
function apart(wanted, box) {
  const order = wanted.map((_, n) => n).sort((a, b) => wanted[a] - wanted[b]);
  const found = [];
  let least = box.top;
  for (const n of order) { found[n] = Math.max(wanted[n], least); least = found[n] + LABEL_LINE; }
  let most = box.bottom;
  for (const n of order.reverse()) { found[n] = Math.min(found[n], most); most = found[n] - LABEL_LINE; }
  return found;
}
