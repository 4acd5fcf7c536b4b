// What charts of lines have in common: a scale of numbers on the left, one ordered axis along the bottom.

function lineFrame(host, picture, state, [low, high], room) {
  const axis = picture.axes[picture.axes.length - 1];
  const [from, to] = state.window;
  const width = host.clientWidth, height = (width < 500 ? 260 : 360) + room.top;
  const numbers = numberTicks(low, high, (height - room.top) / 60);
  const top = Math.max(high, numbers[numbers.length - 1]), bottom = Math.min(low, numbers[0]);
  const left = 14 + Math.max(...numbers.map((number) => widthOf(short(number), 12)));
  const box = { left, right: width - 14 - room.right, top: 30 + room.top, bottom: height - 54 };
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

  const column = (px) => Math.min(to - 1, Math.max(from, Math.floor(from + ((px - box.left) / (box.right - box.left)) * (to - from))));
  const inside = (px, py) => px >= box.left - 8 && px <= box.right + 8 && py >= 0 && py <= box.bottom + 12;
  return { svg, axis, box, x, y, from, to, column, inside };
}

// The part that a drag has chosen.
function chooser(svg, box) {
  const chosen = drawn(svg, "rect", { class: "chosen", x: 0, y: box.top, width: 0, height: box.bottom - box.top });
  return (a, b) => {
    const [first, last] = [Math.min(a, b), Math.max(a, b)];
    chosen.setAttribute("x", Math.max(box.left, first));
    chosen.setAttribute("width", Math.max(0, Math.min(box.right, last) - Math.max(box.left, first)));
  };
}

// A line through some places of one row; the row begins `at` some number among the picture's values.
function linePath(picture, at, places, x, y) {
  return places.map((place, n) => `${n ? "L" : "M"}${x(place).toFixed(1)},${y(picture.values[at + place]).toFixed(1)}`).join("");
}

function drawBand(svg, picture, at, places, x, y, kind) {
  if (!picture.low) return;
  const known = places.filter((place) => picture.low[at + place] !== null && picture.high[at + place] !== null);
  if (!known.length) return;
  const over = known.map((place) => `${x(place).toFixed(1)},${y(picture.high[at + place]).toFixed(1)}`);
  const under = known.map((place) => `${x(place).toFixed(1)},${y(picture.low[at + place]).toFixed(1)}`).reverse();
  drawn(svg, "path", { class: kind, d: `M${over.join("L")}L${under.join("L")}Z`, "data-points": known.length });
}

function placesFrom(from, to) {
  return Array.from({ length: to - from }, (_, n) => from + n);
}
