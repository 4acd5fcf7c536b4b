// Pieces of pictures. All text goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

function drawn(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function made(parent, name, attributes, text) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function sheet(host, width, height, label) {
  host.replaceChildren();
  const svg = drawn(host, "svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  return svg;
}

// How wide a text will be, measured once per length of text and size.
const measuring = document.createElement("canvas").getContext("2d");
function widthOf(text, size) {
  measuring.font = `${size || 12}px ${getComputedStyle(document.body).fontFamily}`;
  return measuring.measureText(text).width;
}

function fitted(text, width, size) {
  if (widthOf(text, size) <= width) return text;
  let length = text.length;
  while (length > 1 && widthOf(`${text.slice(0, length)}…`, size) > width) length = Math.ceil(length * 0.9) - 1;
  return `${text.slice(0, Math.max(1, length))}…`;
}

function extent(picture, from, to) {
  let low = 0, high = 0;
  for (let index = from; index < to; index++) {
    const lower = picture.low && picture.low[index] !== null ? picture.low[index] : picture.values[index];
    const upper = picture.high && picture.high[index] !== null ? picture.high[index] : picture.values[index];
    low = Math.min(low, lower, picture.values[index]);
    high = Math.max(high, upper, picture.values[index]);
  }
  return low === high ? [0, 1] : [low, high];
}

function dark() {
  return !printing && matchMedia("(prefers-color-scheme: dark)").matches;
}
let printing = false;
