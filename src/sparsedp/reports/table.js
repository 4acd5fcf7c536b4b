// The same numbers as a table, for reading with a keyboard or a screen reader, and as a file.

const MOST_ROWS = 2000;

function columnsOf(picture, data) {
  return [...picture.axes.map((axis) => axis.name), data.quantity, ...(picture.low ? ["likely from", "likely to"] : [])];
}

function fillTable(host, picture, data, caption) {
  host.replaceChildren();
  const table = made(host, "table", {});
  const rows = Math.min(MOST_ROWS, picture.values.length);
  const rest = picture.values.length - rows;
  const more = rest ? ` The first ${grouped(rows, 0)} of ${grouped(picture.values.length, 0)} rows; all of them are in the CSV.` : "";
  made(table, "caption", {}, caption + more);
  const head = made(made(table, "thead", {}), "tr", {});
  const axes = picture.axes.length;
  columnsOf(picture, data).forEach((name, n) => made(head, "th", { scope: "col", class: n < axes ? "" : "number" }, name));
  const body = made(table, "tbody", {});
  for (let index = 0; index < rows; index++) {
    const row = made(body, "tr", {});
    placesOf(picture, index).forEach((place, axis) => {
      made(row, "th", { scope: "row" }, cut(placeInWords(picture.axes[axis], place), 120));
    });
    const { value, low, high, known, write } = worth(picture, index);
    made(row, "td", { class: "number" }, write(value));
    if (picture.low) {
      made(row, "td", { class: "number" }, known ? write(low) : "not known");
      made(row, "td", { class: "number" }, known ? write(high) : "not known");
    }
  }
}

function quotedField(field) {
  const text = field === null || field === undefined ? "" : String(field);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function asCsv(picture, data) {
  const names = [...picture.axes.map((axis) => axis.name), data.column, ...(picture.low ? ["low", "high"] : [])];
  const lines = [names.map(quotedField).join(",")];
  picture.values.forEach((value, index) => {
    const places = placesOf(picture, index).map((place, axis) => placeForFile(picture.axes[axis], place));
    const ends = picture.low ? [picture.low[index], picture.high[index]] : [];
    lines.push([...places, value, ...ends].map(quotedField).join(","));
  });
  return `${lines.join("\r\n")}\r\n`;
}

function saveCsv(picture, data, name) {
  const address = URL.createObjectURL(new Blob([asCsv(picture, data)], { type: "text/csv;charset=utf-8" }));
  const link = made(document.body, "a", { href: address, download: name });
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}
