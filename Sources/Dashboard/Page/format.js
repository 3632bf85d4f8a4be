// Numbers and times as the viewer reads them.

const whole = new Intl.NumberFormat(undefined, { maximumFractionDigits: 0 });
const tenth = new Intl.NumberFormat(undefined, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
const three = new Intl.NumberFormat(undefined, { maximumSignificantDigits: 4 });
const percents = new Intl.NumberFormat(undefined, { style: "percent", maximumFractionDigits: 1 });

const huge = new Intl.NumberFormat(undefined, { notation: "scientific", maximumSignificantDigits: 4 });

/** A whole number that no double holds, with the digits that were sent; beside others it counts as the nearest double. */
class Exact extends Number {
  constructor(digits) {
    super(digits);
    this.digits = digits;
  }

  toJSON() { return JSON.rawJSON(this.digits); }
}

/** As JSON.parse, but no digit is lost where the browser tells what a number was written as. */
export const parse = (text) => JSON.parse(text, (key, value, context) =>
  Number.isInteger(value) && !Number.isSafeInteger(value) && JSON.rawJSON && /^-?\d+$/.test(context?.source ?? "")
    ? new Exact(context.source) : value);

/** Digits that a double does not hold would be wrong ones. */
const wholeText = (value) => value instanceof Exact ? whole.format(BigInt(value.digits))
  : Math.abs(value) <= Number.MAX_SAFE_INTEGER ? whole.format(value) : huge.format(value);

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone;

export const count = (value) => (value === null || value === undefined ? "–" : wholeText(value));
/** `1 event`, `2,000 events`. */
export const counted = (value, one, many = `${one}s`) => `${count(value)} ${value === 1 ? one : many}`;
export const percent = (value) => (Number.isFinite(value) ? percents.format(value) : "–");
export const measured = (value) =>
  value === null || value === undefined ? "–"
    : value instanceof Exact || Math.abs(value) >= 1e15 || Number.isInteger(value) ? count(value) : three.format(value);

/** 0, 0.4, 12, 1,234: no more digits than change. */
export function rate(value) {
  if (!value) return "0";
  return value < 10 ? tenth.format(value) : whole.format(value);
}

/** A value of an event as it stands: texts bare, others as JSON. A browser that kept no digits shows none it made up. */
export const plain = (value) => typeof value === "string" ? value
  : Number.isInteger(value) && !Number.isSafeInteger(value) && !JSON.rawJSON ? `≈ ${huge.format(value)}`
  : JSON.stringify(value);

/** The same, and no two values look alike: a text that reads as another value stands in quotes. */
export function distinct(value) {
  if (typeof value !== "string") return plain(value);
  try {
    JSON.parse(value);
    return JSON.stringify(value);
  } catch {
    return value === "" ? '""' : value;
  }
}

const formats = new Map();
function formatter(options) {
  const key = JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(undefined, options));
  return formats.get(key);
}

export const clock = (time) =>
  formatter({ hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(time);

/** The start of a window: days and longer in the report's zone, whose days they are. */
export function windowLabel(time, window, zone) {
  if (window === "minute") return formatter({ hour: "2-digit", minute: "2-digit" }).format(time);
  if (window === "hour") {
    return formatter({ weekday: "short", hour: "2-digit", minute: "2-digit" }).format(time);
  }
  return formatter({ month: "short", day: "numeric", timeZone: zone }).format(time);
}

export const moment = (time) =>
  formatter({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }).format(time);

/** 4 s, 3 min, 2 h, 5 d. */
export function age(milliseconds) {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 130000) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}
