// One ordered axis: a line through the values, and a band where the true ones lie.

function drawLine(host, picture, state) {
  const [first, last] = state.window;
  const frame = lineFrame(host, picture, state, extent(picture, first, last), { right: 0, top: 0 });
  const { svg, axis, box, x, y, from, to } = frame;
  const places = placesFrom(from, to);
  drawBand(svg, picture, 0, places, x, y, "band");
  const through = (some) => linePath(picture, 0, some, x, y);
  const full = places.filter((place) => !axis.partial.includes(place));
  drawn(svg, "path", { class: "line", d: through(full), "data-points": full.length });
  const all = places.length <= (box.right - box.left) / 9;
  for (const place of places) {
    const part = axis.partial.includes(place);
    // The first or last week or month may be cut by the data's own ends, which is no fall of the numbers.
    const next = place === from ? from + 1 : place - 1;
    if (part && next < to) drawn(svg, "path", { class: "line partly", d: through([next, place]) });
    if (all || part) drawn(svg, "circle", { class: `point${part ? " part" : ""}`, cx: x(place), cy: y(picture.values[place]), r: 3 });
  }
  const choose = chooser(svg, box);
  const mark = drawn(svg, "g", { class: "cursor", "aria-hidden": "true" });

  return {
    size: picture.values.length,
    at: frame.column,
    column: frame.column,
    inside: frame.inside,
    choose,
    mark: (place) => {
      mark.replaceChildren();
      if (place === null || place < from || place >= to) return;
      const { value, low: under, high: over, known } = worth(picture, place);
      drawn(mark, "line", { class: "cross", x1: x(place), x2: x(place), y1: box.top, y2: box.bottom });
      if (known) drawn(mark, "line", { class: "whisker", x1: x(place), x2: x(place), y1: y(under), y2: y(over) });
      drawn(mark, "circle", { class: "here", cx: x(place), cy: y(value), r: 5 });
    },
    step: (place, key) => place + ({ ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[key] || 0),
  };
}
