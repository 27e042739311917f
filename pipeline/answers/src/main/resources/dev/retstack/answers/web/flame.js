// The icicle of a window or of all: who called whom, outermost on top.
import { ask, rowsOf } from "./api.js";
import { fit, hit, palette, rectangles } from "./canvas.js";
import { button, choice, field, h, name, notice } from "./dom.js";
import { cut, functionFinder, number, percent, plural, time, unitName } from "./format.js";
import { about, coreChoice, source } from "./functions.js";
import { DataTable } from "./table.js";

const LINE = 20;
const NARROW = 0.5; // pixels

function leaf(name, parent, more) {
  return { name, calls: 0, total: 0, self: 0, kids: new Map(), parent, ...more };
}

function below(parent, name, more) {
  let node = parent.kids.get(name);
  if (!node) {
    node = leaf(name, parent, more);
    parent.kids.set(name, node);
  }
  return node;
}

/** Rows as nodes by name, each in its parent: {name, calls, total, self, kids}; gives the outermost one. */
function tree(columns, more) {
  const nodes = [];
  for (const row of rowsOf(columns)) {
    const parent = nodes[row.parent];
    const node = parent ? below(parent, row.function, more(row, parent)) : leaf(row.function, undefined, more(row));
    node.calls += row.calls;
    node.total += row.total;
    node.self += row.self ?? 0;
    nodes.push(node);
  }
  return nodes[0];
}

/**
 * The stacks of what is chosen. Tasks, ISAs or cores stand apart if they are asked for so. What is
 * no call itself, as all and a task, is a frame. Of a function: what it called, and its callers; a
 * recursion counts once, where it begins. No root: the box to look into is not there.
 */
export async function stacks(chosen, signal, { apart, of, inside } = {}) {
  const found = await ask("/stacks", { ...chosen, apart, function: of, in: inside }, signal);
  const whole = !of && !inside;
  const root = tree(found.stacks, (row, parent) => ({ frame: whole && (!parent || (apart && !parent.parent)), inside: row.in }));
  const callers = tree(found.callers, () => ({ via: true }));
  const frames = whole ? (apart ? [...root.kids.values(), root] : [root]) : [];
  for (const frame of frames) { // how often they were entered from outside
    frame.calls = [...frame.kids.values()].reduce((sum, kid) => sum + kid.calls, 0);
  }
  return { ...found, root, callers };
}

/** What a node weighs: calls below and in it, or time. */
function weigh(node, by) {
  if (by === "time" || node.via) {
    return by === "time" ? node.total : node.calls;
  }
  if (node.weight === undefined) {
    const order = [node];
    for (let i = 0; i < order.length; i++) {
      order.push(...order[i].kids.values());
    }
    for (const one of order.reverse()) {
      one.weight = (one.frame ? 0 : one.calls) + [...one.kids.values()].reduce((sum, kid) => sum + kid.weight, 0);
    }
  }
  return node.weight;
}

/** Two trees as one: each node has what it was in both as its pair. */
export function pair(first, second) {
  const nothing = leaf("");
  const root = leaf("all", undefined, { frame: true });
  const todo = [[first, second, root]];
  while (todo.length > 0) {
    const [a, b, node] = todo.pop();
    Object.assign(node, { pair: [a, b], calls: a.calls + b.calls, total: a.total + b.total, self: a.self + b.self });
    for (const key of new Set([...a.kids.keys(), ...b.kids.keys()])) {
      todo.push([a.kids.get(key) ?? nothing, b.kids.get(key) ?? nothing, below(node, key)]);
    }
  }
  return root;
}

/** Red for what the second has more of, blue for what it has less of. */
function shade([first, second], by, dark) {
  const [a, b] = by === "time" ? [first.total, second.total] : [first.calls, second.calls];
  const strength = Math.sqrt(Math.abs(b - a) / Math.max(1, a + b));
  return `hsl(${b > a ? 8 : 212} ${strength === 0 ? 6 : 62}% ${dark ? 24 + 18 * strength : 90 - 26 * strength}%)`;
}

/** The canvas of a tree, with its bar; of a tree of pairs the differences. */
export class Icicle {
  constructor(root, app, signal, { tree, unit, whole, callers, left, bar }) {
    Object.assign(this, { root, app, signal, unit, whole, callers, left, all: tree, by: app.state.by ?? "time", match: functionFinder(app.state.search) });
    const alone = !tree.pair;
    this.top = this.all;
    this.focus = this.top;
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Flame: callers above what they called. Press ? for its keys." });
    this.space = h("div", {});
    this.stage = h("div", { class: "stage" }, this.canvas, this.space);
    this.tip = h("div", { class: "tip", hidden: true });
    this.found = h("span", { class: "dim", role: "status" });
    const controls = [choice("By", [["time", "time"], ["calls", "calls"]], this.by, (value) => {
        this.by = value;
        app.keep({ by: value });
        this.soon();
      }),
      field("Search functions", app.state.search ?? "", (text) => {
        this.match = functionFinder(text);
        app.keep({ search: text || undefined });
        this.count();
        this.soon();
      }), this.found,
      alone && choice("Apart", [["", "all together"], ["task", "tasks"], ["isa", "ISAs"], ["core", "cores"]], app.state.apart ?? "",
        (value) => app.go({ apart: value || undefined, of: undefined, inside: undefined })),
      alone && button("Sandwich", () => this.around(this.focus), { title: "who called the chosen function, and what it calls" }),
      button("Whole", () => this.outermost())].filter(Boolean);
    root.replaceChildren(bar(controls), h("div", { class: "split" }, this.stage, this.callers ? this.tables() : null), this.tip);
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

  /** The sandwich as text. */
  tables() {
    const table = (head, side) => {
      const shown = new DataTable({
        label: head, sort: "-calls", more: "short", onopen: (node) => this.around(node),
        columns: [{ key: "name", head, cell: (node) => name(node.name, 60) }, { key: "calls", head: "Calls", num: true },
          { key: "total", head: "Total, " + unitName(this.unit), num: true }],
      });
      shown.show([...side.kids.values()].filter((node) => !node.frame));
      return shown.element;
    };
    const { callers, all: callees } = this;
    const begins = h("p", { class: "source" });
    source(begins, this.app, this.signal, callees.name);
    return h("section", { class: "side", "aria-label": "Sandwich" }, h("h2", {}, name(callees.name, 200)),
      h("p", { class: "dim" }, this.words(callees).slice(1).join(" · ")), begins,
      h("div", { class: "row end" }, button("Function", () => this.details(callees)), button("Whole", () => this.outermost())),
      h("h3", {}, "Called by"), table("Caller", callers), h("h3", {}, "Calls"), table("Callee", callees));
  }

  around(node) {
    if (node && !node.frame && !node.pair) {
      this.app.go({ of: node.name, inside: undefined });
    }
  }

  details(node) {
    this.app.go({ page: "functions", open: node.name, search: undefined, of: undefined, inside: undefined });
  }

  outermost() {
    if (this.app.state.of || this.app.state.inside) {
      this.app.go({ of: undefined, inside: undefined });
    } else {
      this.zoom(this.all);
    }
  }

  kids(node) {
    return [...node.kids.values()].sort((a, b) => weigh(b, this.by) - weigh(a, this.by));
  }

  /** Boxes below a node, as far as they are wide enough to see. */
  layout(top, width, colours) {
    const list = [];
    const whole = Math.max(1, weigh(top, this.by));
    let deepest = 0;
    const todo = [[top, 0, 0]];
    while (todo.length > 0) {
      const [node, x, depth] = todo.pop();
      deepest = Math.max(deepest, depth);
      list.push({ x, w: (weigh(node, this.by) / whole) * width, h: LINE, depth, name: node.name, label: node.name, node,
        dim: this.match !== null && !this.match(node.name), colour: node.pair ? shade(node.pair, this.by, colours.dark) : node.frame ? colours.line : undefined,
        ink: node.frame ? colours.text : undefined,
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
        list.push({ x: at, w: narrow, h: LINE, depth: depth + 1, name: "", label: number(rest) + " more", colour: colours.line, ink: colours.dim });
      }
    }
    return { list, deepest };
  }

  draw() {
    const colours = palette();
    const [width, height] = [this.stage.clientWidth, this.stage.clientHeight];
    const context = fit(this.canvas, width, height);
    context.fillStyle = colours.back;
    context.fillRect(0, 0, width, height);
    const up = this.callers ? this.layout(this.callers, width, colours) : { list: [], deepest: 0 };
    const down = this.layout(this.top, width, colours);
    const list = [...up.list.filter((one) => one.depth > 0).map((one) => ({ ...one, depth: up.deepest - one.depth })),
      ...down.list.map((one) => ({ ...one, depth: up.deepest + one.depth }))];
    for (const one of list) {
      one.y = one.depth * LINE - this.stage.scrollTop;
    }
    const deepest = up.deepest + down.deepest;
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
    const share = (100 * weigh(node, this.by)) / Math.max(1, this.by === "time" ? this.whole?.total : this.whole?.calls);
    if (node.pair) {
      const text = (one) => plural(one.calls, "call") + ", total " + time(one.total, this.unit) + ", self " + time(one.self, this.unit);
      const [a, b] = node.pair;
      return [cut(node.name, 120), "A: " + text(a), "B: " + text(b),
        "B − A: " + (b.calls > a.calls ? "+" : "") + plural(b.calls - a.calls, "call") + ", " + (b.total > a.total ? "+" : "") + time(b.total - a.total, this.unit)];
    }
    if (node.via) {
      return [cut(node.name, 120), "brings " + plural(node.calls, "call") + ", " + time(node.total, this.unit)];
    }
    return [cut(node.name, 120), plural(node.calls, "call") + ", total " + time(node.total, this.unit) + ", self " + time(node.self, this.unit),
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
    if (node?.inside) {
      this.app.go({ inside: node.inside });
    } else if (this.callers) {
      this.around(node);
    } else if (node) {
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
    this.found.textContent = plural(calls, "call") + " in " + plural(nodes, "place") + (this.left ? ", as far as shown" : "");
  }

  key(event) {
    const inward = () => (this.focus.via ? this.focus.parent ?? this.all : this.kids(this.focus)[0]);
    const outward = () => (this.callers && !this.focus.parent ? this.kids(this.callers)[0]
      : this.focus.via ? this.kids(this.focus)[0] : this.focus.parent);
    const beside = this.focus.parent ? this.kids(this.focus.parent) : [];
    const at = beside.indexOf(this.focus);
    const does = {
      ArrowDown: () => this.pick(inward()),
      ArrowUp: () => this.pick(outward()),
      ArrowRight: () => this.pick(beside[at + 1]),
      ArrowLeft: () => this.pick(beside[at - 1]),
      Enter: () => this.zoom(this.focus),
      Escape: () => this.outermost(),
      Backspace: () => this.top.parent && this.zoom(this.top.parent),
      s: () => this.around(this.focus),
      f: () => !this.focus.frame && this.details(this.focus),
    }[event.key];
    if (does && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      does();
    }
  }
}

/** What an answer leaves out, in words: of a running job all is the first calls of each core. */
export function leftOut({ calls, notKept, nodesLeftOut }) {
  if (notKept > 0) {
    return plural(calls, "call is shown", "calls are shown") + ", " + plural(notKept, "later one is", "later ones are") + " left out: choose a core, or a shorter time";
  }
  return nodesLeftOut > 0 ? plural(nodesLeftOut, "narrow box is", "narrow boxes are") + " shown as [left out]" : "";
}

export default {
  title: "Flame",
  keys: [["← → ↑ ↓", "the box beside, outside, inside"], ["Enter", "zoom to the box"], ["Backspace", "one level out"], ["Esc", "the whole"],
    ["S", "sandwich: callers and callees of the function"], ["F", "the function's row, with its durations"], ["click, double-click", "choose, zoom; [left out]: what is in it"]],
  command({ core, session, from, to, unit }) {
    const options = Object.entries({ core, session, from, to, unit }).filter(([, value]) => value !== undefined);
    return ["export", ...options.flatMap(([key, value]) => ["--" + key, value]), "--format", "folded"];
  },
  async show(root, app, signal) {
    const cores = await app.cores(signal);
    const chosen = { ...app.window(), unit: app.state.unit };
    let found = await stacks(chosen, signal, app.state);
    if (!found.root) { // the box is not in what is chosen now
      app.keep({ inside: undefined });
      found = await stacks(chosen, signal, app.state);
    }
    if (found.root.calls + found.root.kids.size === 0) {
      root.replaceChildren(about(app, "Flame", coreChoice(app, cores, "all cores")), app.state.of
        ? notice("No call of " + cut(app.state.of, 120) + " is here", "choose Whole", button("Whole", () => app.go({ of: undefined })))
        : notice("No call is in this time", "choose another time on the timeline, or all of it"));
      return;
    }
    const left = leftOut(found);
    const icicle = new Icicle(root, app, signal, { tree: found.root, unit: found.unit, whole: found, callers: found.callers, left,
      bar: (controls) => about(app, "Flame", coreChoice(app, cores, "all cores"), ...controls, left && h("span", { class: "left" }, left)) });
    icicle.soon();
    app.status(number(found.calls) + (found.calls === 1 ? " call" : " calls") + (left ? "; " + left : ""));
  },
};
