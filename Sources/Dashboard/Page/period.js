// Which period is looked at, and which windows answer for it.

import { byId } from "./dom.js";

const minute = 60000, hour = 3600000, day = 86400000;
export const windowLength = { minute, hour, day, week: 7 * day, month: 30 * day };
const lengths = { hour, day, week: 7 * day, month: 30 * day };

export class Period {
  constructor(onChange) {
    const query = new URLSearchParams(location.search);
    const wanted = query.get("period");
    this.kind = wanted === "custom" || wanted in lengths ? wanted : "hour";
    this.inputs = [...document.querySelectorAll("input[name=period]")];
    this.from = byId("custom-from");
    this.to = byId("custom-to");
    this.from.value = query.get("from") ?? "";
    this.to.value = query.get("to") ?? "";
    for (const input of this.inputs) {
      input.checked = input.value === this.kind;
      input.addEventListener("change", () => this.#choose(input.value, onChange));
    }
    for (const input of [this.from, this.to]) {
      input.addEventListener("change", () => this.#choose("custom", onChange));
    }
    byId("custom").hidden = this.kind !== "custom";
  }

  #choose(kind, onChange) {
    this.kind = kind;
    byId("custom").hidden = kind !== "custom";
    if (kind === "custom" && !this.from.value) {
      this.from.value = local(Date.now() - day);
      this.to.value = local(Date.now());
    }
    const query = new URLSearchParams({ period: kind });
    if (kind === "custom") {
      query.set("from", this.from.value);
      query.set("to", this.to.value);
    }
    // So that a reload and a shared address show the same.
    history.replaceState(null, "", `?${query}${location.hash}`);
    onChange();
  }

  /** In milliseconds; `to` is null while the period reaches up to now. Null: the dates are wrong. */
  get range() {
    if (this.kind !== "custom") return { from: Date.now() - lengths[this.kind], to: null };
    const from = Date.parse(this.from.value);
    const to = this.to.value ? Date.parse(this.to.value) : null;
    if (!Number.isFinite(from) || (to !== null && !(to > from))) return null;
    return { from, to };
  }

  /** The shortest windows that give a readable chart, the best first. */
  get windows() {
    const range = this.range;
    const length = (range?.to ?? Date.now()) - (range?.from ?? 0);
    if (length <= 3 * hour) return ["minute", "hour", "day"];
    return length <= 9 * day ? ["hour", "day", "minute"] : ["day", "hour"];
  }

  get query() {
    const range = this.range;
    if (!range) return null;
    const query = new URLSearchParams({ from: new Date(range.from).toISOString() });
    if (range.to !== null) query.set("to", new Date(range.to).toISOString());
    return query.toString();
  }

  /** How often new numbers are asked for. */
  get pace() { return { hour: 2000, day: 4000, week: 8000 }[this.kind] ?? 15000; }
}

/** As the input wants it: local time to the minute. */
function local(time) {
  const date = new Date(time - new Date(time).getTimezoneOffset() * minute);
  return date.toISOString().slice(0, 16);
}

/** The starts of all windows from the first to the last, those without events too. */
export function starts(windows, window, range) {
  const known = windows.map((item) => Date.parse(item.start));
  const length = windowLength[window];
  if (!length || known.length === 0) return known;
  const end = Math.min(range.to ?? Date.now(), Date.now());
  const all = [];
  let next = known[0];
  while (next - length > range.from - length && all.length < 2000) next -= length;
  let index = 0;
  while ((next < end || index < known.length) && all.length < 2000) {
    // A day at a clock change is an hour shorter or longer.
    if (index < known.length && known[index] - next < length / 2) next = known[index++];
    all.push(next);
    next += length;
  }
  return all;
}
