// Making elements, and showing texts of events without trusting them.

export const byId = (id) => document.getElementById(id);

/** An element with attributes and children; texts become text nodes and never markup. */
export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

/** Sets a text only where it changed, so that nobody's selection is lost and nothing is read again. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// Controls, what turns or hides the text around it, and what ends a line.
const unsafe =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/g;

/** The text with everything that cannot be seen written out: \u202E for what would turn it around. */
export function visible(text) {
  return String(text).replace(
    unsafe, (character) => "\\u" + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0"));
}

/** As much of it as a chart's legend has room for. */
export function short(text, most = 32) {
  const characters = Array.from(visible(text));
  return characters.length <= most ? characters.join("") : characters.slice(0, most - 1).join("") + "…";
}

/** A name of an event, by itself whatever its direction. */
export const nameElement = (text) => el("bdi", { class: "name" }, visible(text));

/** A table of plain cells; a column is {title, number: true for right-aligned digits}. */
export function table(caption, columns, rows, total) {
  const cell = (value, column, tag = "td") =>
    el(tag, { class: column.number ? "number" : null, "data-label": column.title,
      scope: tag === "th" ? "row" : null }, value instanceof Node ? value : String(value));
  const line = (row, className) =>
    el("tr", { class: className },
      ...row.map((value, index) => cell(value, columns[index], index === 0 ? "th" : "td")));
  return el("table", {},
    el("caption", { class: "hidden" }, caption),
    el("thead", {}, el("tr", {}, ...columns.map((column) =>
      el("th", { scope: "col", class: column.number ? "number" : null }, column.title)))),
    el("tbody", {}, ...rows.map((row) => line(row))),
    total ? el("tfoot", {}, line(total, "other")) : null);
}

/** Fills a report picker, keeping what was chosen. */
export function fillSelect(select, reports) {
  const names = reports.map((report) => report.name).join("\n");
  if (select.dataset.names === names) return;
  const chosen = select.value;
  select.dataset.names = names;
  select.replaceChildren(...reports.map((report) =>
    el("option", { value: report.name }, short(report.title || report.name, 60))));
  if (reports.some((report) => report.name === chosen)) select.value = chosen;
}
