// Two axes: a square for each pair, the darker the more (the lighter on a dark page). One hue, so that it reads the
// same to colour-blind eyes and on paper; what is below zero has the other hue.

const RAMPS = {
  light: [[240, 245, 250], [189, 215, 236], [107, 174, 214], [49, 126, 187], [15, 76, 146], [7, 38, 86]],
  dark: [[22, 32, 46], [24, 62, 104], [31, 105, 166], [82, 158, 214], [161, 208, 240], [240, 248, 255]],
  lightBelow: [[240, 245, 250], [252, 206, 160], [240, 148, 70], [204, 95, 20], [140, 58, 8], [90, 34, 4]],
  darkBelow: [[22, 32, 46], [92, 52, 20], [158, 84, 24], [214, 126, 52], [244, 178, 112], [255, 232, 208]],
};

function rampColour(ramp, share) {
  const at = Math.min(1, Math.max(0, share)) * (ramp.length - 1);
  const lower = Math.min(ramp.length - 2, Math.floor(at)), rest = at - lower;
  const mixed = ramp[lower].map((part, n) => Math.round(part + (ramp[lower + 1][n] - part) * rest));
  return `rgb(${mixed.join(",")})`;
}

// Few large values among many small ones leave an even scale blank.
function skewed(values) {
  const sizes = values.map(Math.abs).sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length * 0.75)] < 0.1 * sizes[sizes.length - 1];
}

function colouring(values, stretch) {
  const most = Math.max(...values.map((value) => Math.abs(value || 0)), 1e-12);
  const bend = (share) => (stretch ? Math.sqrt(share) : share);
  const [up, down] = dark() ? [RAMPS.dark, RAMPS.darkBelow] : [RAMPS.light, RAMPS.lightBelow];
  return (value) => (value === null ? "none" : rampColour(value < 0 ? down : up, bend(Math.abs(value) / most)));
}

function drawHeat(host, picture, state) {
  const [rows, columns] = picture.axes;
  const ny = sizeOf(rows), nx = sizeOf(columns), width = host.clientWidth;
  const fades = state.colour === "clear" && Boolean(picture.low);
  const shown = state.colour === "error" ? picture.values.map((_, n) => worth(picture, n).half)
    : fades ? withoutNoise(picture) : picture.values;
  // One scale for the values as they are and without their noise, so that the switch shows what it takes away.
  const colour = colouring(state.colour === "error" ? shown : picture.values, state.stretch);
  const pitch = Math.max(4, Math.min(ny < 5 ? 64 : 30, Math.floor((width < 500 ? 300 : 420) / ny)));
  // Numbers grow upwards, as on any scale; labels and times are read downwards.
  const upwards = rows.kind === "bins" || rows.kind === "number";
  const line = (row) => (upwards ? ny - 1 - row : row);
  const rowTicks = axisTicks(rows, 0, ny, Math.max(1, Math.floor((ny * pitch) / 15)));
  const rowLabels = rowTicks.map(({ label, below, whole }) => whole || (below ? `${label} ${below}` : label));
  const left = 12 + Math.min(0.3 * width, Math.max(0, ...rowLabels.map((label) => widthOf(label, 12))));
  const box = { left, right: width - 10, top: 26 };
  const across = (box.right - box.left) / nx;
  const turned = columns.kind === "category" && across < 64;
  const most = turned ? Math.floor((box.right - box.left) / 18) : Math.floor((box.right - box.left) / 56);
  const columnTicks = axisTicks(columns, 0, nx, Math.max(1, most));
  const foot = turned ? Math.min(96, 16 + 0.75 * Math.max(...columnTicks.map(({ label }) => widthOf(label, 12)))) : 40;
  box.bottom = box.top + ny * pitch;
  const height = box.bottom + foot + (fades ? 98 : 78);
  const svg = sheet(host, width, height, state.label);

  const squares = drawn(svg, "g", { class: "squares", "aria-hidden": "true" });
  const gap = across >= 12 && pitch >= 12 ? 1 : 0;
  shown.forEach((value, index) => {
    const [row, column] = [Math.floor(index / nx), index % nx];
    // Without a gap, squares overlap a little: no seams of the background between them.
    drawn(squares, "rect", {
      class: "square", x: (box.left + column * across).toFixed(2), y: box.top + line(row) * pitch,
      width: (across - gap + (gap ? 0 : 0.35)).toFixed(2), height: pitch - gap + (gap ? 0 : 0.35), fill: colour(value),
    });
  });
  const scale = drawn(svg, "g", { class: "scale", "aria-hidden": "true" });
  drawn(scale, "text", { class: "name", x: 2, y: 14 }, fitted(rows.name, width - 20, 13));
  rowTicks.forEach(({ place }, n) => {
    const y = box.top + (line(place) + 0.5) * pitch + 4;
    drawn(scale, "text", { x: box.left - 8, y, "text-anchor": "end" }, fitted(rowLabels[n], left - 12, 12));
  });
  for (const { place, label, below } of columnTicks) {
    const x = box.left + (place + 0.5) * across;
    if (turned) {
      const turn = `rotate(-48 ${x} ${box.bottom + 14})`;
      drawn(scale, "text", { x, y: box.bottom + 14, "text-anchor": "end", transform: turn }, fitted(label, 96, 12));
      continue;
    }
    const half = widthOf(label, 12) / 2, at = Math.min(Math.max(x, half), width - half);
    drawn(scale, "text", { x: at, y: box.bottom + 16, "text-anchor": "middle" }, fitted(label, Math.max(across, 60), 12));
    if (below) drawn(scale, "text", { class: "below", x: at, y: box.bottom + 31, "text-anchor": "middle" }, below);
  }
  drawn(scale, "text", { class: "name", x: box.right, y: box.bottom + foot + 8, "text-anchor": "end" }, fitted(columns.name, width - 30, 13));
  drawLegend(svg, state.colour === "error" ? shown : picture.values, colour, { x: box.left, y: box.bottom + foot + 24, width: Math.min(320, box.right - box.left) }, state, fades);
  const mark = drawn(svg, "g", { class: "cursor", "aria-hidden": "true" });

  const clamp = (place, size) => Math.min(size - 1, Math.max(0, place));
  return {
    size: picture.values.length,
    at: (px, py) => line(clamp(Math.floor((py - box.top) / pitch), ny)) * nx + clamp(Math.floor((px - box.left) / across), nx),
    inside: (px, py) => px >= box.left && px <= box.right && py >= box.top && py <= box.bottom,
    mark: (index) => {
      mark.replaceChildren();
      if (index === null) return;
      const place = {
        x: box.left + (index % nx) * across - 1, y: box.top + line(Math.floor(index / nx)) * pitch - 1,
        width: Math.max(4, across + 1), height: Math.max(4, pitch + 1),
      };
      drawn(mark, "rect", { class: "ring outer", ...place });
      drawn(mark, "rect", { class: "ring inner", ...place });
    },
    step: (index, key) => {
      const row = Math.floor(index / nx), column = index % nx;
      if (key === "ArrowRight") return row * nx + clamp(column + 1, nx);
      if (key === "ArrowLeft") return row * nx + clamp(column - 1, nx);
      if (key === "ArrowDown") return clamp(row + (upwards ? -1 : 1), ny) * nx + column;
      if (key === "ArrowUp") return clamp(row + (upwards ? 1 : -1), ny) * nx + column;
      return index;
    },
  };
}

function drawLegend(svg, values, colour, place, state, fades) {
  const known = values.filter((value) => value !== null);
  const low = Math.min(0, ...known), high = Math.max(0, ...known);
  const legend = drawn(svg, "g", { class: "legend scale", "aria-hidden": "true" });
  const title = state.colour === "error" ? "± how far it may be off" : state.quantity;
  drawn(legend, "text", { class: "name", x: place.x, y: place.y }, fitted(title, place.width, 12));
  const steps = 60, each = place.width / steps;
  for (let step = 0; step < steps; step++) {
    const value = low + ((step + 0.5) / steps) * (high - low);
    drawn(legend, "rect", { x: place.x + step * each, y: place.y + 8, width: each + 0.5, height: 12, fill: colour(value) });
  }
  if (fades) drawn(legend, "text", { class: "fades", x: place.x, y: place.y + 55 }, "faint or even: could be noise");
  for (const number of numberTicks(low, high, Math.max(2, place.width / 80))) {
    const x = place.x + ((number - low) / (high - low || 1)) * place.width;
    drawn(legend, "text", { x, y: place.y + 35, "text-anchor": number === low ? "start" : "middle" }, short(number));
  }
}
