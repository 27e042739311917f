// All the time of what the timeline shows, small, with the part that is in sight: drag it, or click elsewhere.
import { fit, palette } from "./canvas.js";
import { h } from "./dom.js";

const HEIGHT = 34;
const COLUMNS = 512;
const EDGE = 6; // pixels around an end of the part in sight
const LEAST = 6; // pixels of that part, at least

/** How many calls are open on each other, on the deepest task: for each column of a time, as a share of the most. */
function shape(rows, from, to) {
  const tracks = new Map();
  const step = (to - from) / COLUMNS;
  for (const row of rows) {
    if (row.kind !== "CALLS") {
      continue;
    }
    const key = [row.core, row.session, row.task, row.instance, row.interrupts].join("/");
    const track = tracks.get(key) ?? tracks.set(key, new Float64Array(COLUMNS)).get(key);
    const dense = row.busy / Math.max(1, row.to - row.from);
    const last = Math.min(COLUMNS - 1, Math.floor((row.to - from) / step));
    for (let at = Math.max(0, Math.floor((row.from - from) / step)); at <= last; at++) {
      const begin = from + at * step;
      track[at] += (dense * Math.max(0, Math.min(row.to, begin + step) - Math.max(row.from, begin))) / step;
    }
  }
  const all = new Float64Array(COLUMNS);
  for (const track of tracks.values()) {
    track.forEach((depth, at) => (all[at] = Math.max(all[at], depth)));
  }
  const most = Math.max(1e-9, ...all);
  return all.map((depth) => depth / most);
}

export class Minimap {
  /** @param look shows another time; @param gutter pixels at both ends, as the timeline has them */
  constructor(signal, gutter, look) {
    this.gutter = gutter;
    this.look = look;
    this.canvas = h("canvas", { role: "img", "aria-label": "All the time, with the part in sight. W, S, A and D on the timeline move it." });
    this.element = h("div", { class: "map" }, this.canvas);
    const on = (event, does) => this.canvas.addEventListener(event, does.bind(this), { signal });
    on("pointerdown", this.down);
    on("pointermove", this.move);
    on("pointerup", () => (this.drag = null));
    on("pointercancel", () => (this.drag = null));
  }

  /** What was asked for all of a time. */
  take(rows, from, to) {
    this.known = { from, to, heights: shape(rows, from, to) };
  }

  /** Whether the picture is of much less than all the time. */
  isOld({ from, to }) {
    return !this.known || this.known.from > from || to - this.known.to > (to - from) / 8;
  }

  x(time) {
    const { from, to } = this.bounds;
    return this.gutter + ((time - from) / Math.max(1, to - from)) * (this.width - 2 * this.gutter);
  }

  time(x) {
    const { from, to } = this.bounds;
    return from + ((x - this.gutter) / (this.width - 2 * this.gutter)) * Math.max(1, to - from);
  }

  /** @param marks rows whose times are marked; @param current the one that is at hand */
  draw(width, bounds, view, marks, current) {
    Object.assign(this, { width, bounds, view });
    const colours = palette();
    const context = fit(this.canvas, width, HEIGHT);
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, width, HEIGHT);
    const room = HEIGHT - 10;
    if (this.known) {
      const { from, to, heights } = this.known;
      context.fillStyle = colours.dim;
      context.globalAlpha = 0.55;
      heights.forEach((height, at) => {
        const x = Math.floor(this.x(from + ((to - from) * at) / COLUMNS));
        const end = Math.floor(this.x(from + ((to - from) * (at + 1)) / COLUMNS));
        const tall = height === 0 ? 0 : Math.max(1, height * room);
        context.fillRect(x, HEIGHT - 2 - tall, end - x, tall);
      });
    }
    const [x, end] = this.sight();
    context.globalAlpha = 0.7;
    context.fillStyle = colours.back;
    context.fillRect(0, 0, x, HEIGHT);
    context.fillRect(end, 0, width - end, HEIGHT);
    context.globalAlpha = 1;
    context.fillStyle = colours.hit;
    let last = -1;
    for (const mark of marks) {
      const at = Math.round(this.x(mark.enter));
      if (at !== last) {
        context.fillRect(at, 1, 1, 5);
        last = at;
      }
    }
    if (current) {
      context.fillRect(this.x(current.enter) - 1, 0, 3, HEIGHT);
    }
    context.strokeStyle = colours.accent;
    context.lineWidth = 2;
    context.strokeRect(x + 1, 1, end - x - 2, HEIGHT - 2);
    this.canvas.dataset.sight = Math.round(x) + " " + Math.round(end);
  }

  /** Where the part in sight begins and ends, in pixels: never too narrow to be held. */
  sight() {
    const [x, end] = [Math.max(0, this.x(this.view.from)), Math.min(this.width, this.x(this.view.to))];
    const more = Math.max(0, LEAST - (end - x)) / 2;
    return [x - more, end + more];
  }

  down(event) {
    if (event.button !== 0) {
      return;
    }
    this.canvas.setPointerCapture(event.pointerId);
    const at = event.offsetX;
    const [x, end] = this.sight();
    const wide = end - x > 4 * EDGE;
    const side = wide && Math.abs(at - x) < EDGE ? "from" : wide && Math.abs(at - end) < EDGE ? "to" : null;
    if (!side && (at < x || at > end)) {
      const half = (this.view.to - this.view.from) / 2;
      this.look(this.time(at) - half, this.time(at) + half);
    }
    this.drag = { side, at, view: this.view };
  }

  move(event) {
    const [x, end] = this.view ? this.sight() : [0, 0];
    if (!this.drag) {
      const wide = end - x > 4 * EDGE;
      const isEdge = wide && (Math.abs(event.offsetX - x) < EDGE || Math.abs(event.offsetX - end) < EDGE);
      this.canvas.style.cursor = isEdge ? "ew-resize" : event.offsetX >= x && event.offsetX <= end ? "grab" : "pointer";
      return;
    }
    const by = this.time(event.offsetX) - this.time(this.drag.at);
    const { side, view } = this.drag;
    this.look(side === "to" ? view.from : view.from + by, side === "from" ? view.to : view.to + by);
  }
}
