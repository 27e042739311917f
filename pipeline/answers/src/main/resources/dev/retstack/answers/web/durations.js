// How long the calls of one function took: percentiles and a histogram.
import { ask } from "./api.js";
import { fit, palette, rectangles } from "./canvas.js";
import { h, notice } from "./dom.js";
import { number, plural, time, unitName } from "./format.js";

const BARS = 48;
const HEIGHT = 96;
const AXIS = 18;

/**
 * Bars of calls: one for each duration where there are few, else each longer than the one before
 * by the same factor.
 */
export function bars(found) {
  const { min, max, durations } = found;
  const single = max - min < BARS;
  const scale = single ? (value) => value - min : (value) => Math.log2(value + 1) - Math.log2(min + 1);
  const step = (single ? max - min + 1 : scale(max) * 1.0001) / (single ? max - min + 1 : BARS);
  const calls = new Array(single ? max - min + 1 : BARS).fill(0);
  for (const one of durations) {
    calls[Math.min(calls.length - 1, Math.floor(scale(Math.max(min, one.from)) / step))] += one.calls;
  }
  return { calls, at: (value) => Math.min(1, (scale(value) + (single ? 0.5 : 0)) / (step * calls.length)) };
}

function draw(canvas, found) {
  const width = canvas.parentElement.clientWidth;
  if (width === 0) {
    return;
  }
  const colours = palette();
  const context = fit(canvas, width, HEIGHT);
  context.fillStyle = colours.panel;
  context.fillRect(0, 0, width, HEIGHT);
  const { calls, at } = bars(found);
  const most = Math.max(1, ...calls);
  const step = width / calls.length;
  const room = HEIGHT - AXIS - 14;
  rectangles(context, calls.map((count, i) => {
    const tall = count === 0 ? 0 : Math.max(2, (count / most) * room);
    return { x: i * step, y: HEIGHT - AXIS - tall, w: step, h: tall + 1, colour: colours.accent };
  }).filter((one) => one.h > 1), colours);
  context.fillStyle = colours.text;
  const right = time(found.max, found.unit);
  context.fillText(time(found.min, found.unit), 2, HEIGHT - AXIS / 2);
  context.fillText(right, width - context.measureText(right).width - 2, HEIGHT - AXIS / 2);
  for (const key of ["p50", "p99"]) {
    const x = at(found[key]) * width;
    context.fillRect(x, 12, 1, HEIGHT - AXIS - 12);
    const wide = context.measureText(key).width;
    context.fillText(key, key === "p50" ? Math.max(2, x - wide - 3) : Math.min(width - wide - 2, x + 3), 6);
  }
}

/** Fills an element with the durations of a function, of the core and time that are chosen. */
export async function durations(root, app, signal, name, session) {
  root.replaceChildren(h("p", { class: "dim" }, "Reading calls …"));
  try {
    const found = await ask("/durations", { session, unit: app.state.unit, ...app.window(), function: name }, signal);
    if (found.calls === 0) {
      root.replaceChildren(h("p", { class: "dim" }, "No call of it that ended is in the trees that are kept."));
      return;
    }
    const exact = (key) => number(found[key]) + " " + unitName(found.unit);
    const canvas = h("canvas", { role: "img", "aria-label": "Histogram of " + plural(found.calls, "call") + ", from " + exact("min") + " to " + exact("max") });
    const words = h("dl", { class: "durations" }, ...[["Least", "min"], ["p50", "p50"], ["p90", "p90"], ["p95", "p95"], ["p99", "p99"], ["Most", "max"]]
      .flatMap(([head, key]) => [h("dt", {}, head), h("dd", {}, exact(key))]));
    const left = [found.endUnknown > 0 ? plural(found.endUnknown, "more has", "more have") + " no known end." : null,
      found.notKept > 0 ? "Trees keep the first calls of a core alone: " + plural(found.notKept, "call of all functions is", "calls of all functions are") + " left out. Choose a shorter time for them." : null];
    root.replaceChildren(h("p", { class: "dim" }, plural(found.calls, "call") + ". ", ...left.filter(Boolean).map((text) => text + " ")), canvas, words);
    const sized = new ResizeObserver(() => draw(canvas, found));
    sized.observe(root);
    addEventListener("retstack-theme", () => draw(canvas, found), { signal });
    signal.addEventListener("abort", () => sized.disconnect());
  } catch (failure) {
    if (failure.name !== "AbortError") {
      root.replaceChildren(notice(failure.message, failure.cure));
    }
  }
}
