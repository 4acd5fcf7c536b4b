// What the reader does: choose a view, look at points by mouse, finger or keyboard, zoom, read the table, save it.

const DRAW = { line: drawLine, lines: drawLines, bars: drawBars, heat: drawHeat };
const CALLED = { line: "Line chart", lines: "Line chart", bars: "Bar chart", heat: "Heat map" };
const CHOICE = { lines: "a line for each label", heat: "a heat map" };
const HELP = {
  line: "Point at the chart, or focus it and press the arrow keys. Drag to zoom in; the keys + and − zoom too, and Escape shows all.",
  lines: "Point at the chart, or focus it and press the arrow keys: left and right go along a line, up and down to the next label. Drag to zoom in; the keys + and − zoom too, and Escape shows all.",
  bars: "Point at a bar, or focus the chart and press the arrow keys.",
  heat: "Point at a square, or focus the chart and press the arrow keys.",
};
const data = JSON.parse(document.getElementById("data").textContent);
const find = (id) => document.getElementById(id);
const chart = find("chart"), readout = find("readout"), table = find("table");
let view = null, picture = null, drawing = null, here = null, drag = null, width = 0;
const state = { window: [0, 0], kind: "line", colour: "clear", stretch: false, label: "", quantity: data.quantity };

const linear = () => state.kind === "line" || state.kind === "lines";
// How many points stand side by side; a window of them is shown.
const across = () => sizeOf(picture.axes[picture.axes.length - 1]);

function showView(number) {
  view = data.views[number];
  state.kind = view.kinds[0];
  find("kind-field").hidden = view.kinds.length < 2;
  find("kind").replaceChildren(...view.kinds.map((kind) => new Option(CHOICE[kind] || kind, kind)));
  find("picture-field").hidden = view.pictures.length < 2;
  find("picture").replaceChildren(...view.pictures.map(({ name }, n) => new Option(name, n)));
  // On a narrow screen as many points as can be told apart there; elsewhere as many as the page opens with.
  const narrow = view.pictures.findLastIndex(({ axes }) => sizeOf(axes[axes.length - 1]) <= 0.8 * chart.clientWidth);
  const opens = linear() ? Math.max(0, Math.min(view.opens, narrow)) : view.opens;
  find("picture").value = opens;
  showPicture(opens);
}

function showPicture(number) {
  picture = view.pictures[number];
  here = null;
  state.window = [0, across()];
  state.label = `${CALLED[state.kind]} of ${data.quantity} by ${view.title}`;
  find("zoom").hidden = !linear();
  find("chart-help").textContent = HELP[state.kind];
  find("colour-field").hidden = state.kind !== "heat" || !picture.low;
  find("stretch-field").hidden = state.kind !== "heat";
  if (state.kind === "heat") {
    if (!picture.low) state.colour = find("colour").value = "clear";
    state.stretch = find("stretch").checked = skewed(picture.values);
  }
  chart.setAttribute("aria-label", `${state.label}. ${grouped(picture.values.length, 0)} points.`);
  draw();
  invite();
  if (!table.hidden) fillTable(table, picture, data, state.label);
}

function draw() {
  width = chart.clientWidth;
  drawing = DRAW[state.kind](chart, picture, state);
  drawing.mark(here);
  const [from, to] = state.window, whole = to - from >= across();
  find("whole").disabled = find("wider").disabled = whole;
  find("earlier").disabled = from === 0;
  find("later").disabled = to >= across();
  find("closer").disabled = to - from <= 8;
}

function invite() {
  if (!linear()) return readout.replaceChildren("Choose a point to read its value.");
  const [from, to] = state.window, axis = picture.axes[picture.axes.length - 1];
  const named = axis.kind === "time" || axis.kind === "category" ? "" : `${axis.name} `;
  const span = `${named}${placeInWords(axis, from)} to ${named}${placeInWords(axis, to - 1)}`;
  readout.replaceChildren(`${to - from >= across() ? "All of it" : "Zoomed"}: ${span}.`);
}

function look(index) {
  here = index;
  drawing.mark(here);
  if (here === null) return invite();
  const { value, range } = valueInWords(picture, here);
  const noise = state.kind === "heat" && couldBeNoise(picture, here) ? "; its difference from its row and column could be noise" : "";
  readout.replaceChildren(`${pointInWords(picture, here)}: `, made(null, "strong", {}, value), `, ${range}${noise}`);
}

// A window of so many points around a centre, within the points there are.
function zoomTo(from, to) {
  const count = across(), size = Math.min(count, Math.max(8, Math.round(to - from)));
  const first = Math.min(count - size, Math.max(0, Math.round(from)));
  state.window = [first, first + size];
  if (here !== null && (here % count < first || here % count >= first + size)) here = null;
  draw();
  here === null ? invite() : look(here);
}

function zoomBy(factor) {
  const [from, to] = state.window;
  const centre = here === null ? (from + to) / 2 : (here % across()) + 0.5, size = (to - from) * factor;
  zoomTo(centre - size / 2, centre + size / 2);
}

function moveBy(share) {
  const [from, to] = state.window, step = Math.round((to - from) * share) || Math.sign(share);
  const by = Math.min(across() - to, Math.max(-from, step));
  zoomTo(from + by, to + by);
}

// The points that Home, End and the page keys stay within: those of one line, or all.
function reachable() {
  if (!linear()) return [0, drawing.size, 0, drawing.size];
  const count = across(), row = here === null ? 0 : here - (here % count), [from, to] = state.window;
  return [row + from, row + to, row, row + count];
}

function keep(index, least = 0, most = drawing.size) {
  const wanted = Math.min(most - 1, Math.max(least, index)), [from, to] = state.window, column = wanted % across();
  if (linear() && (column < from || column >= to)) zoomTo(column - (to - from) / 2, column + (to - from) / 2);
  look(wanted);
}

chart.addEventListener("keydown", (event) => {
  const { key } = event;
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const [from, to, least, most] = reachable(), at = here === null ? from : here;
  if (key.startsWith("Arrow")) keep(here === null ? from : drawing.step(at, key));
  else if (key === "Home") keep(from);
  else if (key === "End") keep(to - 1);
  else if (key === "PageDown") keep(at + 10, least, most);
  else if (key === "PageUp") keep(at - 10, least, most);
  else if (linear() && (key === "+" || key === "=")) zoomBy(0.5);
  else if (linear() && key === "-") zoomBy(2);
  else if (key === "Escape") { here = null; zoomTo(0, across()); }
  else return;
  event.preventDefault();
});

const spot = (event) => {
  const box = chart.getBoundingClientRect();
  return [event.clientX - box.left, event.clientY - box.top];
};
chart.addEventListener("pointerdown", (event) => {
  const [x, y] = spot(event);
  if (!drawing.inside(x, y) || event.button) return;
  look(drawing.at(x, y));
  if (drawing.choose) { drag = x; chart.setPointerCapture(event.pointerId); }
});
chart.addEventListener("pointermove", (event) => {
  const [x, y] = spot(event);
  if (drag !== null) return drawing.choose(drag, x);
  if (drawing.inside(x, y)) { const index = drawing.at(x, y); if (index !== here) look(index); }
});
chart.addEventListener("pointerup", (event) => {
  if (drag === null) return;
  const [x] = spot(event), start = drag;
  drag = null;
  drawing.choose(0, 0);
  if (Math.abs(x - start) < 12) return;
  const [first, last] = [drawing.column(Math.min(start, x)), drawing.column(Math.max(start, x)) + 1];
  here = null;
  zoomTo(first, last);
});
chart.addEventListener("pointercancel", () => { drag = null; if (drawing.choose) drawing.choose(0, 0); });

find("view").addEventListener("change", (event) => showView(Number(event.target.value)));
find("kind").addEventListener("change", (event) => { state.kind = event.target.value; showPicture(Number(find("picture").value)); });
find("picture").addEventListener("change", (event) => showPicture(Number(event.target.value)));
find("colour").addEventListener("change", (event) => { state.colour = event.target.value; draw(); });
find("stretch").addEventListener("change", (event) => { state.stretch = event.target.checked; draw(); });
find("closer").addEventListener("click", () => zoomBy(0.5));
find("wider").addEventListener("click", () => zoomBy(2));
find("earlier").addEventListener("click", () => moveBy(-0.5));
find("later").addEventListener("click", () => moveBy(0.5));
find("whole").addEventListener("click", () => { here = null; zoomTo(0, across()); });
find("show-table").addEventListener("click", (event) => {
  table.hidden = !table.hidden;
  event.target.setAttribute("aria-expanded", String(!table.hidden));
  event.target.textContent = table.hidden ? "Show as a table" : "Hide the table";
  if (!table.hidden) fillTable(table, picture, data, state.label);
});
find("download").addEventListener("click", () => {
  const name = data.title.normalize("NFKD").replace(/[^A-Za-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60);
  saveCsv(picture, data, `${name || "release"}.csv`);
});

for (const id of ["controls", "chart", "chart-help", "actions"]) find(id).hidden = false;
find("view-field").hidden = data.views.length < 2;
find("view").replaceChildren(...data.views.map(({ title }, n) => new Option(title, n)));
showView(0);
new ResizeObserver(() => { if (chart.clientWidth !== width) draw(); }).observe(chart);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
addEventListener("beforeprint", () => { printing = true; draw(); });
addEventListener("afterprint", () => { printing = false; draw(); });
