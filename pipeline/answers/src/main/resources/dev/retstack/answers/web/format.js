// How names, numbers and times are written. Names come from hostile images.

const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;
const LONG = 1000;

/** Text of one line: what a reader would obey instead of show is escaped, as the server does. */
export function visible(text) {
  return String(text).replace(UNSEEN, (found) =>
    [...Array(found.length).keys()]
      .map((i) => found.charCodeAt(i))
      .map((unit) => (unit < 32 ? "\\x" + unit.toString(16).padStart(2, "0")
        : "\\u" + unit.toString(16).padStart(4, "0")))
      .join(""));
}

/** A visible text of at most `most` characters. */
export function cut(text, most = LONG) {
  const whole = text.length <= most;
  return visible(whole ? text : text.slice(0, most - 1)) + (whole ? "" : "…");
}

const UNSIGNED_ZERO = { signDisplay: "negative" };
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0, ...UNSIGNED_ZERO });
const short = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 4, ...UNSIGNED_ZERO });

/** 1,234,567; nothing for what is not there. */
export function number(value) {
  return value === undefined || value === null ? "" : whole.format(value);
}

/** 1.235M */
export function compact(value) {
  const steps = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];
  const step = steps.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
  return short.format(value / step[0]) + step[1];
}

/** 1 call, 2 calls */
export function plural(value, one, many = one + "s") {
  return number(value) + " " + (value === 1 ? one : many);
}

/** 88.89 %: what is less than all is not 100 %, and what is more than nothing is not 0 %. */
export function percent(value) {
  const inside = value > 0 && value < 100;
  return short.format(inside ? Math.min(99.99, Math.max(0.01, value)) : value) + " %";
}

/** The word of a unit of time. */
export function unitName(unit) {
  return unit === "NANOSECONDS" ? "ns" : "insn";
}

/** A time in its unit: 1.5 ms, 1.2M insn. */
export function time(value, unit) {
  if (unit !== "NANOSECONDS") {
    return compact(value) + " insn";
  }
  const steps = [[1e9, " s"], [1e6, " ms"], [1e3, " µs"]];
  const step = steps.find(([least]) => Math.abs(value) >= least) ?? [1, " ns"];
  return short.format(value / step[0]) + step[1];
}

/** A word of a command line of a POSIX shell. */
export function shell(word) {
  const text = String(word);
  if (/^[\w@%+=:,./-]+$/.test(text)) {
    return text;
  }
  if (visible(text) === text) {
    return "'" + text.replaceAll("'", "'\\''") + "'";
  }
  const escaped = text.replace(/[\\']/g, "\\$&");
  return "$'" + visible(escaped) + "'";
}

/** What finds names: a regular expression, or a plain text where it is none. Empty: null. */
export function finder(text) {
  if (!text) {
    return null;
  }
  try {
    const pattern = new RegExp(text, "i");
    return (name) => pattern.test(name.length > 4096 ? name.slice(0, 4096) : name);
  } catch {
    const plain = text.toLowerCase();
    return (name) => name.toLowerCase().includes(plain);
  }
}

const OTHERS = new Map();

/** Notes other names of functions, by the names that are shown. */
export function noteNames(names) {
  for (const [shown, others] of Object.entries(names)) {
    OTHERS.set(shown, new Set([...(OTHERS.get(shown) ?? []), ...others]));
  }
}

/** The other names of a function, as far as answers had them. */
export const otherNames = (shown) => [...(OTHERS.get(shown) ?? [])];

/** What finds functions by any of their names. Empty: null. */
export function functionFinder(text) {
  const match = finder(text);
  return match && ((name) => match(name) || otherNames(name).some(match));
}
