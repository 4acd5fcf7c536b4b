// Where scales have their marks.

// Round steps of 1, 2 or 5 times a power of ten that give about `count` marks from low to high.
function numberTicks(low, high, count) {
  const span = high - low || 1;
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each >= rough * 0.999) || 10 * power;
  const ticks = [];
  for (let number = Math.ceil(low / step - 1e-9); number * step <= high + step * 1e-9; number++) {
    ticks.push(Number((number * step).toPrecision(12)));
  }
  return ticks;
}

const DAY = 864e5;
// Each kind of mark: when two times have different keys, a mark lies between them.
const TIME_MARKS = [
  ...[1, 5, 15, 30].map((n) => ({ key: (t) => Math.floor(t / 1e3 / n), kind: "second" })),
  ...[1, 5, 15, 30].map((n) => ({ key: (t) => Math.floor(t / 6e4 / n), kind: "time" })),
  ...[1, 3, 6, 12].map((n) => ({ key: (t) => Math.floor(t / 36e5 / n), kind: "time" })),
  { key: (t) => Math.floor(t / DAY), kind: "day" },
  { key: (t) => Math.floor((t / DAY + 3) / 7), kind: "day" },
  ...[1, 3, 6].map((n) => ({ key: (t) => Math.floor(monthOf(t) / n), kind: "month" })),
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].map((n) => ({
    key: (t) => Math.floor(new Date(t).getUTCFullYear() / n), kind: "year",
  })),
];

function monthOf(time) {
  const date = new Date(time);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function timeTicks(axis, from, to, most) {
  for (const { key, kind } of TIME_MARKS) {
    const first = timeAt(axis, from), last = timeAt(axis, to - 1);
    if (key(last) - key(first) > most * 3) continue;
    const places = [];
    for (let place = from; place < to; place++) {
      // The first cell has a mark if its period begins with it.
      const before = place > 0 ? timeAt(axis, place - 1) : first - 1;
      if (key(timeAt(axis, place)) !== key(before)) places.push(place);
    }
    if (places.length <= most) return labelled(axis, places.length ? places : [from], kind);
  }
  return [];
}

function labelled(axis, places, kind) {
  let year = null, day = null;
  return places.map((place) => {
    const date = new Date(timeAt(axis, place));
    const newYear = date.getUTCFullYear() !== year, newDay = dayOf(date) !== day;
    year = date.getUTCFullYear();
    day = dayOf(date);
    const dayAndMonth = `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]}`;
    if (kind === "year") return { place, label: String(year) };
    if (kind === "month") {
      const month = MONTHS[date.getUTCMonth()];
      return { place, label: month, below: newYear ? String(year) : "", whole: `${month} ${year}` };
    }
    if (kind === "day") return { place, label: dayAndMonth, below: newYear ? String(year) : "" };
    return { place, label: clockOf(date, kind), below: newDay ? dayAndMonth : "" };
  });
}

// Round numbers among the edges of bins, marked where their bins begin.
function edgeTicks(edges, from, to, most) {
  const finite = [...edges.keys()].filter((place) => place >= from && place <= to && edges[place] !== null);
  if (finite.length < 2) return [];
  const widths = finite.slice(1).map((place, n) => edges[place] - edges[finite[n]]);
  if (Math.max(...widths) > 1.001 * Math.min(...widths)) {
    // Cells are drawn equally wide: round numbers alone would make bins of unequal width look equal.
    const every = Math.ceil(finite.length / Math.max(1, most));
    return finite.filter((_, n) => n % every === 0).map((place) => ({ place: place - 0.5, label: short(edges[place]) }));
  }
  const places = new Map(finite.map((place) => [edges[place], place]));
  return numberTicks(edges[finite[0]], edges[finite[finite.length - 1]], most)
    .filter((number) => places.has(number))
    .map((number) => ({ place: places.get(number) - 0.5, label: short(number) }));
}

// Marks along an axis of cells from..to−1, at most so many of them.
function axisTicks(axis, from, to, most) {
  if (axis.kind === "time") return timeTicks(axis, from, to, most);
  const count = to - from, edges = axis.edges || axis.bounds;
  if (edges) {
    const ticks = edgeTicks(edges, from, to, most);
    if (ticks.length > 1) return ticks;
  }
  if (axis.kind === "number" && !axis.bounds) {
    return numberTicks(axis.first + from, axis.first + to - 1, most)
      .filter(Number.isInteger)
      .map((number) => ({ place: number - axis.first, label: String(number) }));
  }
  const every = [1, 2, 5].flatMap((n) => [n, 10 * n, 100 * n, 1000 * n]).sort((a, b) => a - b)
    .find((n) => count / n <= most) || count;
  const ticks = [];
  for (let place = Math.ceil(from / every) * every; place < to; place += every) {
    const start = axis.kind === "bins" ? axis.edges[place] : axis.bounds ? axis.bounds[place] : null;
    const label = axis.kind === "category" ? axis.labels[place] : start === null ? "−∞" : short(start);
    ticks.push({ place, label });
  }
  return ticks;
}
