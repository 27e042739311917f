// Draws rectangles with names: the timeline, the icicle and the differences.
import { plural, visible } from "./format.js";

const FONT = "12px system-ui, sans-serif";
const hues = new Map();
const darks = Array.from({ length: 360 }, (_, hue) => `hsl(${hue} 34% 36%)`);
const lights = Array.from({ length: 360 }, (_, hue) => `hsl(${hue} 52% 76%)`);

function hueOf(name) {
  let hue = hues.get(name);
  if (hue === undefined) {
    let hash = 0;
    for (let i = 0; i < Math.min(name.length, 200); i++) {
      hash = (hash * 31 + name.charCodeAt(i)) >>> 0;
    }
    hue = (hash * 137) % 360;
    if (hues.size > 20000) {
      hues.clear();
    }
    hues.set(name, hue);
  }
  return hue;
}

/** Colours of the page, read once per drawing. */
export function palette() {
  const style = getComputedStyle(document.documentElement);
  const get = (key) => style.getPropertyValue(key).trim();
  const dark = get("--dark") === "1";
  return {
    dark,
    text: get("--text"), dim: get("--dim"), line: get("--line"), back: get("--back"), panel: get("--panel"),
    accent: get("--accent"), hit: get("--hit"), bad: get("--bad"), warn: get("--warn"),
    of: (name) => (dark ? darks : lights)[hueOf(name)],
    label: dark ? "#f2f4f8" : "#14181f",
  };
}

/** Fits a canvas to its element, sharp on any screen. */
export function fit(canvas, width, height) {
  const ratio = Math.min(2, window.devicePixelRatio || 1);
  const [w, t] = [Math.max(1, Math.round(width * ratio)), Math.max(1, Math.round(height * ratio))];
  if (canvas.width !== w || canvas.height !== t) {
    canvas.width = w;
    canvas.height = t;
    canvas.style.width = width + "px";
    canvas.style.height = height + "px";
  }
  const context = canvas.getContext("2d", { alpha: false });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = FONT;
  context.textBaseline = "middle";
  context.direction = "ltr";
  return context;
}

const widths = new Map();
let average = 6.6;

/** As much of a text as fits. */
export function fitText(context, text, width) {
  const most = Math.floor(width / (average * 0.7));
  const shown = visible(text.length > most ? text.slice(0, most) : text);
  let wide = widths.get(shown);
  if (wide === undefined) {
    wide = context.measureText(shown).width;
    if (widths.size > 20000) {
      widths.clear();
    }
    widths.set(shown, wide);
  }
  if (wide <= width && shown.length >= text.length) {
    return shown;
  }
  const chars = Math.floor((width - 8) / Math.max(1, wide / shown.length));
  return chars < 2 ? "" : shown.slice(0, chars) + "…";
}

/** The stripes of what is missing. */
export function hatch(context, x, y, width, height, colour) {
  context.save();
  context.beginPath();
  context.rect(x, y, width, height);
  context.clip();
  context.strokeStyle = colour;
  context.globalAlpha = 0.55;
  context.lineWidth = 2;
  context.beginPath();
  const first = Math.floor((x - height) / 8) * 8;
  for (let at = first; at < x + width; at += 8) {
    context.moveTo(at, y + height);
    context.lineTo(at + height, y);
  }
  context.stroke();
  context.restore();
}

/**
 * Draws rectangles {x, y, w, h, name, label, alpha, dim, colour, mark}. A mark is a thick edge. A tile {x, y, w, h, calls,
 * tile} is the number of the calls that the rectangles below it stand for.
 */
export function rectangles(context, list, colours) {
  let run = null; // narrow ones side by side that look alike
  const fill = () => {
    if (run) {
      context.globalAlpha = run.alpha;
      context.fillStyle = run.colour;
      context.fillRect(run.x, run.y, run.end - run.x, Math.max(run.h - 1, run.h * 0.75));
    }
  };
  for (const one of list) {
    if (one.tile) {
      continue;
    }
    const alpha = (one.alpha ?? 1) * (one.dim ? 0.22 : 1);
    const colour = one.colour ?? colours.of(one.name);
    const end = one.x + Math.max(0.6, one.w > 3 ? one.w - 1 : one.w);
    if (run && run.y === one.y && run.h === one.h && run.alpha === alpha && run.colour === colour && one.x >= run.x && one.x - run.end < 0.01) {
      run.end = Math.max(run.end, end);
    } else {
      fill();
      run = { x: one.x, y: one.y, h: one.h, end, alpha, colour };
    }
  }
  fill();
  context.globalAlpha = 1;
  for (const one of list) {
    if (one.w <= 26 || !(one.tile || one.label)) {
      continue;
    }
    const label = one.tile ? plural(one.calls, "call") : one.label;
    const text = fitText(context, label, one.w - 8);
    let x = one.x + 4;
    if (one.tile && text !== label) {
      continue; // half a number is none
    }
    if (one.tile) { // a number over many colours
      const wide = widths.get(text) ?? context.measureText(text).width;
      x = one.x + Math.max(4, (one.w - wide) / 2);
      context.globalAlpha = 0.75;
      context.fillStyle = colours.back;
      context.fillRect(x - 4, one.y + 1, wide + 8, one.h - 3);
    }
    context.globalAlpha = one.dim ? 0.4 : 1;
    context.fillStyle = one.ink ?? (one.tile ? colours.text : colours.label);
    context.fillText(text, x, one.y + one.h / 2);
  }
  context.globalAlpha = 1;
  for (const one of list) {
    if (one.mark) {
      context.strokeStyle = one.mark;
      context.lineWidth = 2;
      context.strokeRect(one.x + 1, one.y + 1, Math.max(1, one.w - 3), one.h - 3);
    }
  }
}

/** The last drawn rectangle at a place. */
export function hit(list, x, y) {
  for (let i = list.length - 1; i >= 0; i--) {
    const one = list[i];
    if (x >= one.x && x < one.x + Math.max(one.w, 2) && y >= one.y && y < one.y + one.h) {
      return one;
    }
  }
  return null;
}

/** Round steps for the marks of an axis: 1, 2 or 5 times a power of ten. */
export function ticks(from, to, most) {
  const raw = Math.max(1e-9, (to - from) / Math.max(1, most));
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(1, [1, 2, 5, 10].map((one) => one * power).find((one) => one >= raw));
  const found = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    found.push(at);
  }
  return { step, at: found };
}
