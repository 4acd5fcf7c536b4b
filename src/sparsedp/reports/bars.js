// Labels without an order: a bar for each, lying, so that labels can be read on any screen.

function drawBars(host, picture, state) {
  const axis = picture.axes[0], count = picture.values.length;
  const width = host.clientWidth, row = count > 25 ? 24 : 32, thick = row - 12;
  const [low, high] = extent(picture, 0, count);
  const labels = picture.values.map((_, place) => placeInWords(axis, place));
  const texts = picture.values.map((_, place) => withError(picture, place));
  const textWidth = Math.max(...texts.map((text) => widthOf(text, 12)));
  // On a narrow screen labels stand above their bars, and the bars have all the width.
  const above = width < 520;
  const room = above ? 0 : Math.min(0.35 * width, 12 + Math.max(...labels.map((label) => widthOf(label, 13))));
  const pitch = above ? row + 16 : row;
  const height = count * pitch + 40;
  const box = { left: room + 8, right: width - textWidth - 20, top: 8, bottom: height - 32 };
  const x = (value) => box.left + ((value - low) / (high - low)) * (box.right - box.left);
  const middle = (place) => box.top + place * pitch + (above ? 16 : 0) + row / 2;
  const svg = sheet(host, width, height, state.label);

  const scale = drawn(svg, "g", { class: "scale", "aria-hidden": "true" });
  for (const number of numberTicks(low, high, Math.max(2, (box.right - box.left) / 90))) {
    drawn(scale, "line", { class: number === 0 ? "zero" : "grid", x1: x(number), x2: x(number), y1: box.top, y2: box.bottom });
    drawn(scale, "text", { x: x(number), y: box.bottom + 18, "text-anchor": "middle" }, short(number));
  }
  picture.values.forEach((value, place) => {
    const y = middle(place);
    const label = fitted(labels[place], above ? width - 16 : room - 8, 13);
    const where = above ? { x: box.left, y: y - row / 2 - 2 } : { x: room, y: y + 4, "text-anchor": "end" };
    const text = drawn(svg, "text", { class: "label", ...where }, label);
    if (label !== labels[place]) drawn(text, "title", {}, labels[place]);
    const [start, end] = [x(Math.min(0, value)), x(Math.max(0, value))];
    drawn(svg, "rect", { class: "bar", x: start, y: y - thick / 2, width: Math.max(0.5, end - start), height: thick, rx: 2 });
    const { low: under, high: over, known } = worth(picture, place);
    if (known && over > under) {
      // Caps would hide a range that is narrower than they are.
      const caps = x(over) - x(under) > 8 ? `M${x(under)},${y - 5}v10M${x(over)},${y - 5}v10` : "";
      const d = `M${x(under)},${y}H${x(over)}${caps}`;
      drawn(svg, "path", { class: "whisker", d });
    }
    drawn(svg, "text", { class: "value", x: width - 4, y: y + 4, "text-anchor": "end" }, texts[place]);
  });
  const mark = drawn(svg, "g", { class: "cursor", "aria-hidden": "true" });

  return {
    size: count,
    at: (_, py) => Math.min(count - 1, Math.max(0, Math.floor((py - box.top) / pitch))),
    inside: (_, py) => py >= box.top && py <= box.bottom,
    mark: (place) => {
      mark.replaceChildren();
      if (place === null) return;
      const y = box.top + place * pitch;
      drawn(mark, "rect", { class: "frame", x: 1, y: y + 1, width: width - 2, height: pitch - 2, rx: 4 });
    },
    step: (place, key) => place + ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key] || 0),
  };
}
