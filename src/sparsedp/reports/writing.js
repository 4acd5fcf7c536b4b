// Numbers, times and places as people read them.

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];

// Two digits of an error: 1,234 is 1,200 and 9.97 is 10.
function twoDigits(error) {
  return error > 0 && isFinite(error) ? Number(error.toPrecision(2)) : 0;
}

// How many decimals show them; below zero, how many digits before the point are not known.
function decimalsFor(error) {
  const shown = twoDigits(error);
  return shown ? Math.min(6, 1 - Math.floor(Math.log10(shown) + 1e-9)) : 0;
}

function grouped(number, decimals) {
  const shown = decimals < 0
    ? (Math.round(number * 10 ** decimals) / 10 ** decimals).toLocaleString("en-US", { maximumFractionDigits: 0 })
    : number.toLocaleString("en-US", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  return shown.replace(/^-(?=[0.,]*$)/, "").replace(/^-/, "−");
}

// A number whose error is not known, in at most four digits.
function plain(number) {
  if (Number.isInteger(number)) return grouped(number, 0);
  return grouped(number, Math.min(6, Math.max(0, 3 - Math.floor(Math.log10(Math.abs(number) || 1)))));
}

// Short numbers for scales: 1,200; 12k; 3.4M.
function short(number) {
  for (const [size, letter] of [[1e12, "T"], [1e9, "B"], [1e6, "M"], [1e4, "k"]]) {
    if (Math.abs(number) >= size) {
      const unit = letter === "k" ? 1e3 : size;
      return grouped(number / unit, 2).replace(/\.?0+$/, "") + letter;
    }
  }
  return grouped(number, 6).replace(/\.?0+$/, "");
}

const LARGE = [[1e12, " trillion"], [1e9, " billion"], [1e6, " million"]];

// Every point of a picture knows what it is worth: its value, and its range where that is known. `write` gives all
// digits that are known, for tables; `brief` counts in millions where numbers are large, and `unit` says so.
function worth(picture, index) {
  const value = picture.values[index];
  const low = picture.low ? picture.low[index] : null;
  const high = picture.high ? picture.high[index] : null;
  const known = low !== null && high !== null, half = known ? (high - low) / 2 : null;
  const decimals = known ? decimalsFor(half) : 0;
  const write = (number) => (half ? grouped(number, decimals) : plain(number));
  const most = Math.max(Math.abs(value), half || 0);
  const [size, unit] = LARGE.find(([each]) => half && most >= each && half >= each / 1000) || [1, ""];
  const brief = (number) => (unit ? grouped(number / size, decimalsFor(half / size)) : write(number));
  return { value, low, high, known, write, brief, unit, half };
}

function valueInWords(picture, index) {
  const { value, low, high, known, brief, unit } = worth(picture, index);
  if (!known) return { value: plain(value), range: picture.note || "how far it may be off is not known" };
  if (low === high) return { value: brief(value), range: "known exactly" };
  return { value: brief(value) + unit, range: `likely ${brief(low)} to ${brief(high)}${unit}` };
}

// "1,234 ± 56", "152.0 ± 2.8 million", or the two ends where the range was cut.
function withError(picture, index) {
  const { value, low, high, known, brief, unit, half } = worth(picture, index);
  if (!known || !half) return brief(value);
  if (Math.abs((high + low) / 2 - value) > 0.05 * half) return `${brief(value)} (${brief(low)}–${brief(high)})${unit}`;
  return `${brief(value)} ± ${brief(half)}${unit}`;
}

function two(number) {
  return String(number).padStart(2, "0");
}

function timeAt(axis, place) {
  return axis.times ? axis.times[place] : axis.first + place * axis.step;
}

function sizeOf(axis) {
  if (axis.kind === "category") return axis.labels.length;
  if (axis.kind === "bins") return axis.edges.length - 1;
  if (axis.kind === "number" && axis.bounds) return axis.bounds.length - 1;
  return axis.times ? axis.times.length : axis.length;
}

function dayOf(date) {
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

function clockOf(date, unit) {
  const minute = `${two(date.getUTCHours())}:${two(date.getUTCMinutes())}`;
  return unit === "second" ? `${minute}:${two(date.getUTCSeconds())}` : minute;
}

// Times are written as they stand in the file; nothing is moved to the reader's own timezone.
function timeInWords(axis, place) {
  const date = new Date(timeAt(axis, place));
  const zone = axis.zone && (axis.unit === "time" || axis.unit === "second") ? ` ${axis.zone}` : "";
  if (axis.unit === "year") return String(date.getUTCFullYear());
  if (axis.unit === "month") return `${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
  if (axis.unit === "week") return `week of ${dayOf(new Date(date - ((date.getUTCDay() + 6) % 7) * 864e5))}`;
  if (axis.unit === "day") return `${DAYS[date.getUTCDay()]} ${dayOf(date)}`;
  return `${DAYS[date.getUTCDay()]} ${dayOf(date)}, ${clockOf(date, axis.unit)}${zone}`;
}

function binInWords(edges, place) {
  const low = edges[place], high = edges[place + 1], last = place === edges.length - 2;
  if (low === null && high === null) return "any number";
  if (low === null) return `under ${plain(high)}`;
  if (high === null) return `${plain(low)} and more`;
  return last ? `${plain(low)} to ${plain(high)}` : `${plain(low)} to under ${plain(high)}`;
}

// What one place of an axis is called.
function placeInWords(axis, place) {
  const part = axis.partial.includes(place) ? " (part of it)" : "";
  if (axis.kind === "time") return timeInWords(axis, place) + part;
  if (axis.kind === "category") return axis.labels[place];
  if (axis.kind === "bins") return binInWords(axis.edges, place);
  if (!axis.bounds) return String(axis.first + place);
  return `${axis.bounds[place]} to ${axis.bounds[place + 1] - 1}`;
}

// The same for files: sortable, and as the release's own columns write it.
function placeForFile(axis, place) {
  if (axis.kind !== "time") return placeInWords(axis, place);
  const text = new Date(timeAt(axis, place)).toISOString().replace(/\.000Z$/, "").replace(/Z$/, "");
  return axis.unit === "time" || axis.unit === "second" ? text.replace("T", " ") : text.slice(0, 10);
}

// Where a point is, on every axis of its picture; rows come first.
function placesOf(picture, index) {
  const across = sizeOf(picture.axes[picture.axes.length - 1]);
  return picture.axes.length === 1 ? [index] : [Math.floor(index / across), index % across];
}

function pointInWords(picture, index) {
  return placesOf(picture, index).map((place, axis) => {
    const { name, kind } = picture.axes[axis];
    const words = cut(placeInWords(picture.axes[axis], place), 120);
    return kind === "time" || kind === "category" ? words : `${name} ${words}`;
  }).join(", ");
}

function cut(text, most) {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}
