// How fast a job worked lately, as curves of half an hour. uPlot draws them; what they say is text.
import { ask } from "./api.js";
import { palette } from "./canvas.js";
import { h } from "./dom.js";
import { compact, number, percent } from "./format.js";
import uPlot from "./uPlot.esm.js";

const HEIGHT = 108;
const LEAST_SECONDS = 300;
const WHOLE = [...Array(16).keys()].flatMap((power) => [1, 2, 5].map((one) => one * 10 ** power)); // steps of an axis
const STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: -12, PageDown: 12, Home: -Infinity, End: Infinity };

/**
 * What is drawn: its name, its unit, its value in a slot of a number of seconds, and more for
 * its text.
 */
const CURVES = [
  { name: "Records", unit: "records/s", of: (slot, seconds) => slot.records / seconds },
  { name: "Lag", unit: "chunks behind", of: (slot) => slot.lag ?? null },
  { name: "Lost", unit: "records in all", of: (slot) => slot.lost ?? null },
  { name: "Checkpoints", unit: "bytes/s", of: (slot, seconds) => slot.checkpointBytes / seconds,
    more: (slot, seconds) => ", " + percent(slot.checkpointCpuMs / (10 * seconds)) + " CPU" },
];

const clock = (millis, more) =>
  new Date(millis).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23", ...more });

/** A curve, with the text of the slot under the pointer, else of the last. */
class Curve {
  constructor(what, move) {
    this.what = what;
    this.span = [0, LEAST_SECONDS];
    this.value = h("b", {}, "–");
    this.rest = h("span", {}, what.unit);
    this.holder = h("div", { class: "plot", role: "slider", tabindex: 0, "aria-label": what.name + " over time", "aria-valuemin": 0,
      "aria-valuemax": 0, "aria-valuenow": 0, "aria-valuetext": "nothing is counted yet",
      onkeydown: (event) => {
        if (Object.hasOwn(STEPS, event.key) || event.key === "Escape") {
          event.preventDefault();
          event.stopPropagation();
          move(STEPS[event.key]);
        }
      },
      onblur: () => move(undefined) });
    this.element = h("figure", { class: "curve" },
      h("figcaption", {}, h("span", {}, what.name + " "), this.value, " ", this.rest), this.holder);
    const look = (key) => () => palette()[key];
    const axis = { stroke: look("dim"), font: "11px system-ui, sans-serif", grid: { stroke: look("line"), width: 1 }, ticks: { show: false } };
    this.plot = new uPlot({
      width: 300, height: HEIGHT, padding: [8, 10, 0, 0], legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false }, sync: { key: "retstack-curves" } },
      scales: {
        x: { range: () => this.span },
        y: { range: (_, from, to) => [0, Math.max(1, to ?? 1) * 1.05] },
      },
      axes: [
        { ...axis, size: 20, gap: 3, space: 70, values: (_, all) => all.map((seconds) => clock(seconds * 1000)) },
        { ...axis, size: 48, gap: 4, space: 28, incrs: WHOLE, values: (_, all) => all.map(compact) },
      ],
      series: [{}, { stroke: look("accent"), fill: () => palette().accent + "26", width: 1.5, points: { show: (plot) => plot.data[0].length === 1 } }],
      hooks: { setCursor: [() => this.say()] },
    }, [[], []], this.holder);
  }

  show(slots, seconds) {
    this.slots = slots;
    this.seconds = seconds;
    const to = slots.length ? slots.at(-1).time / 1000 : Date.now() / 1000;
    this.span = [Math.min(slots.length ? slots[0].time / 1000 : to, to - LEAST_SECONDS), to];
    this.plot.setData([slots.map((slot) => slot.time / 1000), slots.map((slot) => this.what.of(slot, seconds))]);
    this.say();
  }

  /** Points at a slot; at none without one. */
  point(index) {
    const left = index === undefined ? -10 : this.plot.valToPos(this.slots[index].time / 1000, "x");
    this.plot.setCursor({ left, top: index === undefined ? -10 : 10 }, true, false);
  }

  pointed() {
    return this.plot.cursor.left >= 0 ? this.plot.cursor.idx ?? undefined : undefined;
  }

  say() {
    if (!this.slots?.length) {
      return;
    }
    const pointed = this.pointed();
    const slot = this.slots[pointed ?? this.slots.length - 1];
    const value = this.what.of(slot, this.seconds);
    const text = value === null ? "unknown" : number(value);
    const rest = this.what.unit + (this.what.more?.(slot, this.seconds) ?? "") + (pointed === undefined ? "" : " at " + clock(slot.time, { second: "2-digit" }));
    this.value.textContent = text;
    this.rest.textContent = rest;
    this.holder.setAttribute("aria-valuemax", this.slots.length - 1);
    this.holder.setAttribute("aria-valuenow", pointed ?? this.slots.length - 1);
    this.holder.setAttribute("aria-valuetext", text + " " + rest);
  }
}

/** All curves of a job until the signal: {element, look}, which asks for them and answers with whom it misses. */
export function curves(signal) {
  let count = 0;
  const all = CURVES.map((what) => new Curve(what, (step) => {
    const last = count - 1;
    const index = step === undefined || last < 0 ? undefined : Math.min(last, Math.max(0, (all[0].pointed() ?? last) + step));
    all.forEach((curve) => curve.point(index));
  }));
  const sized = new ResizeObserver(() => all.forEach((curve) => curve.plot.setSize({ width: Math.max(80, curve.holder.clientWidth), height: HEIGHT })));
  const element = h("div", { class: "curves" }, all.map((curve) => curve.element));
  sized.observe(element);
  addEventListener("retstack-theme", () => all.forEach((curve) => curve.plot.redraw()), { signal });
  signal.addEventListener("abort", () => {
    sized.disconnect();
    all.forEach((curve) => curve.plot.destroy());
  });
  return {
    element,
    async look() {
      const { history, seconds, missing } = await ask("/history", {}, signal);
      count = history.length;
      all.forEach((curve) => curve.show(history, seconds));
      return missing;
    },
  };
}
