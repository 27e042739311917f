// The icicle of a window or of all: who called whom, outermost on top.
import { ask } from "./api.js";
import { fit, hit, palette, rectangles } from "./canvas.js";
import { button, choice, field, h, notice } from "./dom.js";
import { cut, finder, number, percent, time } from "./format.js";
import { about, coreChoice } from "./functions.js";

const LINE = 20;
const NARROW = 0.5; // pixels
const NODES = 200000;

/** Adds the calls of a tree to nodes by name: {name, calls, total, self, kids}. */
export function merge(trees) {
  const root = { name: "all", calls: 0, total: 0, self: 0, kids: new Map() };
  let nodes = 0;
  let left = false;
  for (const tree of trees) {
    const end = last(tree.calls);
    const stack = [[tree.calls, root]];
    while (stack.length > 0) {
      const [calls, parent] = stack.pop();
      for (const call of calls) {
        if (call.kind && call.kind !== "INTERRUPT" && call.kind !== "SYSTEM_CALL") {
          stack.push([call.children ?? [], parent]);
          continue;
        }
        let node = parent.kids.get(call.function);
        if (!node) {
          if (++nodes > NODES) {
            left = true;
            continue;
          }
          node = { name: call.function, calls: 0, total: 0, self: 0, kids: new Map(), parent };
          parent.kids.set(call.function, node);
        }
        const lasts = Math.max(0, (call.exit ?? (call.atLeast === undefined ? end : call.enter + call.atLeast)) - call.enter);
        node.calls++;
        node.total += lasts;
        node.self += lasts;
        if (parent !== root) {
          parent.self -= lasts;
        } else {
          root.calls++;
          root.total += lasts;
        }
        stack.push([call.children ?? [], node]);
      }
    }
  }
  return { root, left };
}

function last(calls) {
  let most = 0;
  const stack = [...calls];
  while (stack.length > 0) {
    const call = stack.pop();
    most = Math.max(most, call.exit ?? call.enter);
    for (const child of call.children ?? []) {
      stack.push(child);
    }
  }
  return most;
}

/** What a node weighs: calls below and in it, or time. */
function weigh(node, by) {
  if (by === "time") {
    return node.total;
  }
  if (node.weight === undefined) {
    const order = [node];
    for (let i = 0; i < order.length; i++) {
      order.push(...order[i].kids.values());
    }
    for (const one of order.reverse()) {
      one.weight = one.calls + [...one.kids.values()].reduce((sum, kid) => sum + kid.weight, 0);
    }
  }
  return node.weight;
}

class Icicle {
  constructor(root, app, signal, merged, unit, cores) {
    Object.assign(this, { root, app, signal, unit, all: merged.root, by: app.state.by ?? "time", match: finder(app.state.search) });
    this.top = this.all;
    this.focus = this.all;
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Flame: callers above what they called. Press ? for its keys." });
    this.space = h("div", {});
    this.stage = h("div", { class: "stage" }, this.canvas, this.space);
    this.tip = h("div", { class: "tip", hidden: true });
    this.found = h("span", { class: "dim", role: "status" });
    const bar = about(app, "Flame", coreChoice(app, cores, "all cores"),
      choice("By", [["time", "time"], ["calls", "calls"]], this.by, (value) => {
        this.by = value;
        app.keep({ by: value });
        this.soon();
      }),
      field("Search functions", app.state.search ?? "", (text) => {
        this.match = finder(text);
        app.keep({ search: text || undefined });
        this.count();
        this.soon();
      }), this.found, button("Whole", () => this.zoom(this.all)));
    root.replaceChildren(bar, this.stage, this.tip);
    const on = (target, event, does) => target.addEventListener(event, does.bind(this), { signal });
    on(this.canvas, "click", (event) => this.pick(this.at(event)));
    on(this.canvas, "dblclick", (event) => this.zoom(this.at(event)));
    on(this.canvas, "pointermove", this.hover);
    on(this.canvas, "pointerleave", () => (this.tip.hidden = true));
    on(this.canvas, "keydown", this.key);
    on(this.stage, "scroll", () => this.soon());
    on(window, "retstack-theme", () => this.soon());
    const sized = new ResizeObserver(() => this.soon());
    sized.observe(this.stage);
    signal.addEventListener("abort", () => sized.disconnect());
    this.count();
  }

  soon() {
    this.drawing ||= requestAnimationFrame(() => {
      this.drawing = 0;
      this.draw();
    });
  }

  kids(node) {
    return [...node.kids.values()].sort((a, b) => weigh(b, this.by) - weigh(a, this.by));
  }

  draw() {
    const colours = palette();
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    const context = fit(this.canvas, width, height);
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    const list = [];
    const whole = Math.max(1, weigh(this.top, this.by));
    let deepest = 0;
    const place = (node, x, depth) => {
      const w = (weigh(node, this.by) / whole) * width;
      deepest = Math.max(deepest, depth);
      const y = depth * LINE - this.stage.scrollTop;
      list.push({ x, y, w, h: LINE, name: node.name, label: node.name, node, dim: this.match !== null && !this.match(node.name),
        colour: node === this.all ? colours.line : undefined, ink: node === this.all ? colours.text : undefined,
        mark: node === this.focus && document.activeElement === this.canvas ? colours.text : null });
      let at = x;
      let [rest, narrow] = [0, 0];
      for (const kid of this.kids(node)) {
        const wide = (weigh(kid, this.by) / whole) * width;
        if (wide < NARROW) {
          narrow += wide;
          rest++;
          continue;
        }
        todo.push([kid, at, depth + 1]);
        at += wide;
      }
      if (narrow > 1) { // too many to see
        list.push({ x: at, y: y + LINE, w: narrow, h: LINE, name: "", label: number(rest) + " more", colour: colours.line, ink: colours.dim });
      }
    };
    const todo = [[this.top, 0, 0]];
    while (todo.length > 0) {
      place(...todo.pop());
    }
    this.list = list;
    this.space.style.height = Math.max(0, (deepest + 1) * LINE - height) + "px";
    rectangles(context, list.filter((one) => one.y > -LINE && one.y < height), colours);
    this.canvas.dataset.boxes = list.length;
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    return hit(this.list ?? [], event.clientX - box.left, event.clientY - box.top)?.node ?? null;
  }

  words(node) {
    const share = (100 * weigh(node, this.by)) / Math.max(1, weigh(this.all, this.by));
    return [cut(node.name, 120), number(node.calls) + " calls, total " + time(node.total, this.unit) + ", self " + time(node.self, this.unit),
      percent(share) + " of all"];
  }

  hover(event) {
    const node = this.at(event);
    this.tip.hidden = node === null;
    if (node) {
      const [first, ...rest] = this.words(node);
      this.tip.replaceChildren(h("b", {}, h("bdi", {}, first)), ...rest.map((text) => h("div", {}, text)));
      const box = this.tip.getBoundingClientRect();
      this.tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
      this.tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 8)) + "px";
    }
  }

  pick(node) {
    if (node) {
      this.focus = node;
      this.app.status(this.words(node).join(" · "));
      this.soon();
    }
  }

  zoom(node) {
    if (node) {
      this.top = node;
      this.pick(node);
    }
  }

  count() {
    if (!this.match) {
      this.found.textContent = "";
      return;
    }
    let [calls, nodes] = [0, 0];
    const stack = [this.all];
    while (stack.length > 0) {
      const node = stack.pop();
      if (node !== this.all && this.match(node.name)) {
        calls += node.calls;
        nodes++;
      }
      stack.push(...node.kids.values());
    }
    this.found.textContent = number(calls) + " calls in " + number(nodes) + " places";
  }

  key(event) {
    const beside = this.focus.parent ? this.kids(this.focus.parent) : [];
    const at = beside.indexOf(this.focus);
    const does = {
      ArrowDown: () => this.pick(this.kids(this.focus)[0]),
      ArrowUp: () => this.focus !== this.all && this.pick(this.focus.parent),
      ArrowRight: () => this.pick(beside[at + 1]),
      ArrowLeft: () => this.pick(beside[at - 1]),
      Enter: () => this.zoom(this.focus),
      Escape: () => this.zoom(this.all),
      Backspace: () => this.top.parent && this.zoom(this.top.parent),
      s: () => this.app.go({ page: "functions", open: this.focus.name, search: undefined }),
    }[event.key];
    if (does && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      does();
    }
  }
}

/** Call trees of what is chosen: of a core all, read again; of all cores those that the state keeps. */
async function trees(app, signal) {
  const chosen = app.window();
  const from = chosen.core && chosen.from === undefined && chosen.to === undefined ? { from: 0 } : {};
  return ask("/graph", { ...chosen, ...from, limit: 1000 }, signal);
}

export default {
  title: "Flame",
  keys: [["← → ↑ ↓", "the box beside, outside, inside"], ["Enter", "zoom to the box"], ["Backspace", "one level out"], ["Esc", "the whole"],
    ["S", "callers and callees of the function"], ["click, double-click", "choose, zoom"]],
  command({ core, session, from, to }) {
    const options = Object.entries({ core, session, from, to }).filter(([, value]) => value !== undefined);
    return ["export", ...options.flatMap(([key, value]) => ["--" + key, value]), "--format", "folded"];
  },
  async show(root, app, signal) {
    const cores = await app.cores(signal);
    const found = await trees(app, signal);
    const merged = merge(found);
    if (merged.root.kids.size === 0) {
      root.replaceChildren(about(app, "Flame", coreChoice(app, cores, "all cores")), notice("No call is in this time", "choose another time on the timeline, or all of it"));
      return;
    }
    const icicle = new Icicle(root, app, signal, merged, found[0]?.unit ?? "INSTRUCTIONS", cores);
    icicle.soon();
    app.status(number(merged.root.calls) + " outer calls"
      + (app.state.core || app.about().kind === "trace" ? "" : " in the first calls of each core, as the job keeps them: choose a core for all of its calls")
      + (merged.left ? "; the tree is cut: choose a shorter time" : ""));
  },
};
