// One ordered axis: a line through the values, and a band where the true ones lie.

function drawLine(host, picture, state) {
  const axis = picture.axes[0];
  const [from, to] = state.window;
  const width = host.clientWidth, height = width < 500 ? 260 : 360;
  const [low, high] = extent(picture, from, to);
  const numbers = numberTicks(low, high, height / 60);
  const top = Math.max(high, numbers[numbers.length - 1]), bottom = Math.min(low, numbers[0]);
  const left = 14 + Math.max(...numbers.map((number) => widthOf(short(number), 12)));
  const box = { left, right: width - 14, top: 30, bottom: height - 54 };
  const x = (place) => box.left + ((place + 0.5 - from) / (to - from)) * (box.right - box.left);
  const y = (value) => box.bottom - ((value - bottom) / (top - bottom || 1)) * (box.bottom - box.top);
  const svg = sheet(host, width, height, state.label);

  const scale = drawn(svg, "g", { class: "scale", "aria-hidden": "true" });
  for (const number of numbers) {
    drawn(scale, "line", { class: number === 0 ? "zero" : "grid", x1: box.left, x2: box.right, y1: y(number), y2: y(number) });
    drawn(scale, "text", { x: box.left - 8, y: y(number) + 4, "text-anchor": "end" }, short(number));
  }
  const most = Math.max(2, Math.floor((box.right - box.left) / 50));
  let free = -Infinity;
  for (const { place, label, below } of axisTicks(axis, from, to, most)) {
    const half = Math.max(widthOf(label, 12), widthOf(below || "", 12)) / 2;
    const at = Math.min(Math.max(x(place), half), width - half);
    drawn(scale, "line", { class: "mark", x1: x(place), x2: x(place), y1: box.bottom, y2: box.bottom + 5 });
    if (at - half < free) continue;
    free = at + half + 8;
    drawn(scale, "text", { x: at, y: box.bottom + 19, "text-anchor": "middle" }, label);
    if (below) drawn(scale, "text", { class: "below", x: at, y: box.bottom + 34, "text-anchor": "middle" }, below);
  }
  const each = axis.kind === "time" && picture.name !== "cell" ? ` per ${picture.name}` : "";
  drawn(scale, "text", { class: "name", x: 2, y: 14 }, fitted(state.quantity + each, width - 20, 13));
  const zone = axis.zone ? ` (${axis.zone})` : "";
  drawn(scale, "text", { class: "name", x: box.right, y: height - 4, "text-anchor": "end" }, fitted(axis.name + zone, width - 30, 12));

  const places = [];
  for (let place = from; place < to; place++) places.push(place);
  drawBand(svg, picture, places, x, y);
  const through = (some) => some.map((place, n) => `${n ? "L" : "M"}${x(place).toFixed(1)},${y(picture.values[place]).toFixed(1)}`).join("");
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
  const chosen = drawn(svg, "rect", { class: "chosen", x: 0, y: box.top, width: 0, height: box.bottom - box.top });
  const mark = drawn(svg, "g", { class: "cursor", "aria-hidden": "true" });

  return {
    size: picture.values.length,
    at: (px) => Math.min(to - 1, Math.max(from, Math.floor(from + ((px - box.left) / (box.right - box.left)) * (to - from)))),
    inside: (px, py) => px >= box.left - 8 && px <= box.right + 8 && py >= 0 && py <= box.bottom + 12,
    choose: (a, b) => {
      const [first, last] = [Math.min(a, b), Math.max(a, b)];
      chosen.setAttribute("x", Math.max(box.left, first));
      chosen.setAttribute("width", Math.max(0, Math.min(box.right, last) - Math.max(box.left, first)));
    },
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

function drawBand(svg, picture, places, x, y) {
  if (!picture.low) return;
  const known = places.filter((place) => picture.low[place] !== null && picture.high[place] !== null);
  if (!known.length) return;
  const over = known.map((place) => `${x(place).toFixed(1)},${y(picture.high[place]).toFixed(1)}`);
  const under = known.map((place) => `${x(place).toFixed(1)},${y(picture.low[place]).toFixed(1)}`).reverse();
  drawn(svg, "path", { class: "band", d: `M${over.join("L")}L${under.join("L")}Z`, "data-points": known.length });
}
