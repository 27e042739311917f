// What cores did when. The server answers for any window; nothing else is kept here.
import { ask, rowsOf } from "./api.js";
import { fit, fitText, hatch, hit, palette, rectangles, ticks } from "./canvas.js";
import { button, field, h, name, notice } from "./dom.js";
import { cut, functionFinder, number, percent, plural, time, unitName } from "./format.js";
import { byName, coreChoice, coreNames, firstTime, isOneCall, reportColumns } from "./functions.js";
import { Hits } from "./hits.js";
import { Minimap } from "./minimap.js";
import { DataTable } from "./table.js";

const LINE = 18;
const THIN = 4; // a line whose calls are too short to be read, or less:
const THIN_ALL = 48; // so tall are all of a track together, at most
const READABLE = 26; // pixels that calls of a line take, or it is thin
const HEAD = 24;
const RULER = 26;
const GUTTER = 8;
const GAP = 6;
const CORES_MAX = 16; // of one question
const FIRST = 4; // shown of more cores than that
const DEPTH = 128; // lines of a core that stands alone
const LINES_MAX = 12; // anomalies that have a line down through the calls
const SHALLOW = 20; // of each of several
const FINE = 4; // cores that have a stretch for each pixel; of more, all have as many stretches as these
const SHADES = 16; // of how busy a stretch is: those that look alike are drawn at once
const POLL_MS = 2000;
const REST_MS = 120; // a view that is left alone so long gets its finer rows
const STAY_MS = 150; // a pointer that stays so long on a call is shown its arguments
const SEEN = 6; // pixels that a call takes which was searched for
const FAR = 20; // such calls fit into the view that is made for one
const DETAILS = 200; // calls whose arguments are kept

const keys = [["W S", "zoom in, out"], ["A D", "pan"], ["0", "the whole time"], ["← → ↑ ↓", "the call before, after, outside, inside"],
  ["Enter", "report of the call's time"], ["F", "zoom to the call"], ["Shift+← Shift+→", "move the end of the selection"],
  ["N Shift+N", "next, last call that the search finds; in its field Enter, Shift+Enter"],
  ["O Shift+O", "fold or unfold the task of the call, its core"], ["M", "next anomaly"], ["L", "follow"], ["Esc", "no selection"],
  ["drag, Shift+drag", "pan, select"], ["wheel, Ctrl+wheel", "scroll or zoom, zoom"]];

/** An answer whose rows came column by column: each row with what its line says, each line with its rows. */
function unfold({ cores, lines, rows: columns }) {
  const whole = lines.map(({ rows: count, ...line }) => ({ ...line, rows: Array.from({ length: count }, () => ({ ...line })) }));
  return { cores, lines: whole, rows: rowsOf(columns, whole.flatMap((line) => line.rows)) };
}

/** A short mark for a long name, in the address. */
function markOf(text) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash.toString(36);
}

/** How tall each line is that cannot be read. */
function thinOf({ depth, full }) {
  return Math.min(THIN, THIN_ALL / Math.max(1, depth - full));
}

/** Where a line of a track is, from its top, and how tall: thin below the deepest one that can be read. */
function place(track, depth) {
  const thin = thinOf(track);
  return depth <= track.full ? [depth * LINE, LINE] : [(track.full + 1) * LINE + (depth - track.full - 1) * thin, thin];
}

/** What lines of a track are called. */
function trackName(row) {
  return (row.interrupts > 0 ? "interrupt " + row.interrupts + " in " : "") + cut(row.taskName || row.task, 60);
}

class Timeline {
  constructor(root, app, signal, cores) {
    this.root = root;
    this.app = app;
    this.signal = signal;
    this.cores = cores;
    this.answer = null;
    this.deepest = new Map();
    this.match = functionFinder(app.state.search);
    this.view = null;
    this.selection = null;
    this.focus = null;
    this.list = [];
    this.heads = [];
    this.details = new Map();
    this.folded = new Set((app.state.fold ?? "").split(",").filter(Boolean));
    this.hits = new Hits(signal, () => this.sight(), () => this.foundOthers());
    this.build();
  }

  build() {
    const { app } = this;
    this.found = h("span", { class: "dim", role: "status" });
    this.followBox = button("Follow", () => this.setFollow(!this.following), { "aria-pressed": "false", "aria-keyshortcuts": "L" });
    const bar = h("div", { class: "bar" }, h("h1", {}, "Timeline"),
      coreChoice(app, this.cores, this.cores.length > CORES_MAX ? "first " + FIRST + " of " + number(this.cores.length) : "all cores"),
      field("Search functions", app.state.search ?? "", (text) => this.search(text), { onkeydown: (event) => this.searchKey(event) }),
      h("div", { class: "row" }, button("▲", () => this.nextHit(-1), { "aria-label": "Previous hit", title: "Shift+Enter" }),
        button("▼", () => this.nextHit(1), { "aria-label": "Next hit", title: "Enter" })), this.found,
      h("div", { class: "row" },
        button("−", () => this.zoom(2), { "aria-label": "Zoom out" }), button("+", () => this.zoom(0.5), { "aria-label": "Zoom in" }),
        button("Whole", () => this.whole()), app.about().kind === "trace" ? null : this.followBox));
    this.canvas = h("canvas", { tabindex: "0", role: "img", "aria-label": "Timeline: calls of cores over time. Press ? for its keys." });
    this.space = h("div", {});
    this.stage = h("div", { class: "stage" }, this.canvas, this.space);
    this.tip = h("div", { class: "tip", hidden: true });
    this.panel = h("section", { class: "panel", hidden: true, "aria-label": "Selection" });
    this.map = new Minimap(this.signal, GUTTER, (from, to) => this.look(from, to));
    this.root.replaceChildren(bar, this.map.element, this.stage, this.panel, this.tip);
    const on = (target, event, does, more) => target.addEventListener(event, does.bind(this), { signal: this.signal, ...more });
    on(this.canvas, "keydown", this.key);
    on(this.canvas, "pointerdown", this.down);
    on(this.canvas, "pointermove", this.move);
    on(this.canvas, "pointerup", this.up);
    on(this.canvas, "pointerleave", () => this.hover(null));
    on(this.canvas, "dblclick", (event) => this.zoomTo(this.at(event)));
    on(this.canvas, "wheel", this.wheel, { passive: false });
    on(this.canvas, "focus", () => this.draw());
    on(this.canvas, "blur", () => this.draw());
    on(this.stage, "scroll", () => {
      this.top = this.stage.scrollTop;
      this.soon();
    });
    on(window, "retstack-theme", () => this.soon());
    const sized = new ResizeObserver(() => {
      this.measure();
      this.soon();
    });
    sized.observe(this.stage);
    this.signal.addEventListener("abort", () => sized.disconnect());
    this.measure();
  }

  /**
   * Reads the size of the stage, only when it changed: reading makes the browser lay out all of the
   * page.
   */
  measure() {
    this.width = Math.max(200, this.stage.clientWidth);
    this.height = this.stage.clientHeight;
    this.top = this.stage.scrollTop;
  }

  /** Which core the questions are about. */
  chosen() {
    const { core, session } = this.app.state;
    return core ? { core, session } : {};
  }

  /** The cores that are drawn. */
  drawn() {
    const { core, session } = this.app.state;
    return core ? this.cores.filter((one) => one.core === core && (!session || one.session === session))
      : this.cores.slice(0, this.cores.length > CORES_MAX ? FIRST : CORES_MAX);
  }

  /** The last time of them. */
  last() {
    return this.drawn().reduce((most, core) => Math.max(most, core.time), 1);
  }

  /** Rows of a time; detail "tiles" is for an answer at once, which may be coarse. */
  fetchRows(from, to, detail, signal = this.signal) {
    const cores = this.drawn().length;
    const width = Math.min(4096, Math.max(64, Math.round(this.width / Math.max(1, cores / FINE))));
    return this.fetch({ width, depth: cores > 1 ? SHALLOW : DEPTH, from, to, detail }, signal);
  }

  /** What the cores that are drawn did. */
  async fetch(question, signal) {
    const span = { ...question, as: "columns" };
    if (this.app.state.core || this.cores.length <= CORES_MAX) {
      return unfold(await ask("/timeline", { ...this.chosen(), ...span }, signal));
    }
    const answers = await Promise.all(this.cores.slice(0, FIRST).map((core) =>
      ask("/timeline", { core: core.core, session: core.session, ...span }, signal)));
    const all = answers.map(unfold);
    return { cores: all.flatMap((one) => one.cores), lines: all.flatMap((one) => one.lines), rows: all.flatMap((one) => one.rows) };
  }

  /** How far cores have come, as an answer says. */
  learn(cores) {
    for (const { core, session, last } of cores) {
      const known = this.cores.find((one) => one.core === core && one.session === session);
      if (known) {
        known.time = Math.max(known.time, last);
      } else {
        this.cores = byName([...this.cores, { core, session, time: last }]);
      }
    }
  }

  /** The first picture: what the address says, else as much as the server answers for. */
  async first() {
    const { from, to } = this.app.state;
    const last = this.last();
    if (from !== undefined && to !== undefined) {
      this.bounds = { from: 0, to: Math.max(last, Number(to)) }; // until the first call is known
      this.view = { from: Number(from), to: Math.max(Number(from) + 1, Number(to)) };
      this.take(await this.fetchRows(Math.floor(this.view.from), Math.ceil(this.view.to), "tiles"));
      return;
    }
    let start;
    let answer;
    while (!answer) {
      try {
        answer = await this.fetchRows(start, undefined, "tiles");
      } catch (refused) {
        if (refused.status !== 413 || (start ?? 0) >= last - 1) {
          throw refused;
        }
        start = Math.floor(((start ?? 0) + last) / 2); // the later half
      }
    }
    const begins = Math.min(...answer.cores.map((core) => core.from));
    const first = firstTime(answer.rows) ?? begins;
    this.bounds = { from: start ? 0 : first, to: last };
    this.view = { from: first, to: last + 1 };
    this.take(answer);
    this.pending = { rows: answer.rows, from: begins, to: last + 1 };
    this.isBlurred = first - begins > (last - begins) / 50;
    if (start) {
      this.app.status("The whole time is more than one answer holds: this is the end of it.");
    }
  }

  /** What comes behind the first picture: finer rows, the map, the search. */
  begin() {
    const failed = (failure) => failure.name !== "AbortError" && this.app.status(failure.message);
    if (this.isBlurred) {
      this.refresh();
    } else {
      this.refine().catch(failed);
    }
    if (this.pending) {
      this.map.take(this.pending.rows, this.pending.from, this.pending.to);
      this.pending = null;
      this.soon();
    }
    this.overview().catch(failed);
    if (this.match) {
      this.search(this.app.state.search);
    }
  }

  take(answer) {
    this.answer = answer;
    this.unit = answer.cores[0]?.unit ?? "INSTRUCTIONS";
    const tracks = new Map();
    const of = (row) => JSON.stringify([row.session, row.core]);
    for (const core of answer.cores) {
      tracks.set(of(core), { core, calls: new Map(), away: new Map(), losses: [], anomalies: [], events: [] });
    }
    for (const line of answer.lines) {
      const track = tracks.get(of(line));
      if (line.kind === "LOSSES" || line.kind === "ANOMALIES" || line.kind === "EVENTS") {
        track[line.kind.toLowerCase()] = line.rows;
        continue;
      }
      if (line.kind === "AWAY") {
        track.away.set([line.task, line.instance].join("/"), line.rows);
        continue;
      }
      const key = [line.task, line.instance, line.interrupts].join("/");
      const lines = track.calls.get(key) ?? { key, sample: line, depth: 0, rows: [] };
      lines.rows = lines.rows.concat(line.rows);
      lines.depth = Math.max(lines.depth, line.depth);
      track.calls.set(key, lines);
    }
    this.tracks = tracks;
    for (const [core, track] of tracks) {
      for (const [key, lines] of track.calls) {
        const id = core + key;
        const known = this.deepest.get(id);
        const depth = lines.depth;
        const full = Math.min(depth, this.fullDepth(lines));
        const keep = this.isDragged() ? known : null; // what is dragged stays where it is held
        this.deepest.set(id, { core, key, sample: lines.sample, depth: Math.max(depth, keep?.depth ?? 0), full: Math.max(full, keep?.full ?? 0) });
      }
    }
    for (const one of this.deepest.values()) {
      if (!this.isDragged() && !tracks.get(one.core)?.calls.has(one.key)) {
        one.depth = 0;
        one.full = 0;
      }
    }
    this.soon();
  }

  isDragged() {
    return this.drag?.moved || this.map.drag;
  }

  /** The deepest line of a track in which calls can be read. */
  fullDepth({ rows }) {
    const { view } = this;
    const least = (READABLE * (view.to - view.from)) / (this.width - 2 * GUTTER);
    const took = [];
    let full = 0;
    for (const row of rows) {
      took[row.depth] = (took[row.depth] ?? 0) + Math.min(row.busy, Math.max(0, Math.min(row.to, view.to) - Math.max(row.from, view.from)));
      if (row.depth > full && took[row.depth] >= least) {
        full = row.depth;
      }
    }
    return full;
  }

  /** Asks once for all the time, for the map, where that is not known. */
  async overview() {
    if (!this.map.isOld(this.bounds) || this.overviews) {
      return;
    }
    this.overviews = true;
    try {
      const answer = await this.fetch({ width: 512, depth: SHALLOW, from: 0, to: Math.ceil(this.bounds.to), detail: "tiles" }, this.signal);
      const begins = Math.min(...answer.cores.map((core) => core.from));
      this.bounds.from = Math.min(Math.max(0, this.view.from), firstTime(answer.rows) ?? begins);
      this.map.take(answer.rows, begins, this.bounds.to);
      this.soon();
    } catch (failure) {
      if (failure.name !== "AbortError" && failure.status !== 413) { // of what is too much for an answer there is no map
        throw failure;
      }
    } finally {
      this.overviews = false;
    }
  }

  /** Asks for what is in sight, once what is on the way has come. */
  async refresh() {
    this.wanted = true;
    this.finer?.abort();
    if (this.asking) {
      return;
    }
    this.asking = true;
    try {
      while (this.wanted && !this.signal.aborted) {
        this.wanted = false;
        const begun = performance.now();
        const answer = await this.fetchRows(...this.sight(), "tiles");
        this.learn(answer.cores);
        this.show(answer);
        this.keepUp();
        this.overview().catch((failure) => this.app.status(failure.message));
        requestAnimationFrame(() => performance.measure("step", { start: begun }));
        await this.refine();
      }
    } catch (failure) {
      if (failure.name !== "AbortError") {
        this.app.status(failure.message + (failure.cure ? ": " + failure.cure : ""));
      }
    } finally {
      this.asking = false;
    }
  }

  /** Whole times around what is in sight. */
  sight() {
    return [Math.max(0, Math.floor(this.view.from)), Math.max(0, Math.ceil(this.view.to))];
  }

  /**
   * Looks at the last time that is known. The answer for it shows how far the cores have come
   * since.
   */
  follow() {
    const end = this.last() + 1;
    this.bounds.to = end - 1;
    this.view = { from: end - (this.view.to - this.view.from), to: end };
    this.app.keep({ from: this.sight()[0], to: this.sight()[1] });
    this.refresh();
  }

  /** Follows at once where most of what was in sight is over; else at the next turn. */
  keepUp() {
    const late = this.last() + 1 - this.view.to;
    if (this.following && this.mayHurry && late > (this.view.to - this.view.from) / 2) {
      this.mayHurry = false;
      this.follow();
    }
  }

  /** Where the answer is coarse, and nobody moves for a moment, asks for the same from chunks. */
  async refine() {
    if (!this.isCoarse() || this.wanted) {
      return;
    }
    this.finer = new AbortController();
    const { signal } = this.finer;
    const begun = performance.now();
    try {
      await new Promise((go) => {
        setTimeout(go, REST_MS);
        signal.addEventListener("abort", go);
      });
      const answer = await this.fetchRows(...this.sight(), "chunks", AbortSignal.any([this.signal, signal]));
      this.show(answer);
      requestAnimationFrame(() => performance.measure("step-fine", { start: begun }));
    } catch (failure) {
      if (!signal.aborted) {
        throw failure;
      }
    }
  }

  isCoarse() {
    return this.answer.cores.some((core) => core.detail === "COARSE");
  }

  show(answer) {
    const came = performance.now();
    this.take(answer);
    this.told();
    performance.measure("step-take", { start: came });
  }

  /**
   * Publishes what is in sight. Tiles that are coarse reach beyond it, so that their calls are
   * too many.
   */
  told() {
    const span = this.view.to - this.view.from;
    this.canvas.dataset.from = Math.floor(this.view.from);
    this.canvas.dataset.to = Math.ceil(this.view.to);
    delete this.canvas.dataset.calls;
    if (this.isCoarse()) {
      this.app.status(time(span, this.unit) + " in sight, in coarse tiles: the calls are being read");
      return;
    }
    const calls = this.inSight();
    const left = this.answer.cores.reduce((sum, core) => sum + core.callsLeftOut, 0);
    const lines = this.answer.cores.reduce((sum, core) => sum + core.linesLeftOut, 0);
    this.app.status(plural(this.answer.cores.length, "core") + ", "
      + time(span, this.unit) + " in sight, " + plural(calls, "call begins", "calls begin") + " in it"
      + (lines > 0 ? "; " + plural(lines, "deeper line is", "deeper lines are") + " not shown" : "")
      + (left > 0 ? "; the core has " + plural(left, "call") + " too deep to draw" : ""));
    this.canvas.dataset.calls = calls;
  }

  inSight() {
    return this.answer.rows.reduce((sum, row) => sum + (row.kind === "CALLS" ? row.calls : 0), 0);
  }

  /** Moves what is in sight, within what there is. */
  look(from, to) {
    const whole = this.bounds.to - this.bounds.from + 1;
    const span = Math.min(Math.max(8, to - from), whole * 1.05);
    const middle = (from + to) / 2;
    let begin = Math.max(this.bounds.from - span * 0.02, middle - span / 2);
    begin = Math.min(begin, Math.max(this.bounds.from - span * 0.02, this.bounds.to + span * 0.02 - span));
    this.view = { from: begin, to: begin + span };
    this.app.keep({ from: Math.max(0, Math.floor(this.view.from)), to: Math.ceil(this.view.to) });
    if (this.following) {
      this.setFollow(false);
    }
    this.soon();
    this.refresh();
  }

  zoom(factor, around) {
    const { from, to } = this.view;
    const at = around ?? (this.focus && this.focus.enter < to && this.focus.exit > from
      ? Math.min(to, Math.max(from, (this.focus.enter + this.focus.exit) / 2)) : (from + to) / 2);
    this.look(at - (at - from) * factor, at + (to - at) * factor);
  }

  pan(share) {
    const step = (this.view.to - this.view.from) * share;
    this.look(this.view.from + step, this.view.to + step);
  }

  whole() {
    this.look(this.bounds.from, this.bounds.to + 1);
  }

  x(at) {
    return GUTTER + ((at - this.view.from) / (this.view.to - this.view.from)) * (this.width - 2 * GUTTER);
  }

  timeAt(x) {
    return this.view.from + ((x - GUTTER) / (this.width - 2 * GUTTER)) * (this.view.to - this.view.from);
  }

  soon() {
    if (!this.drawing && this.answer && this.view) {
      this.drawing = requestAnimationFrame(() => {
        this.drawing = 0;
        this.draw();
      });
    }
  }

  /** Where each core and track stands, from top to bottom. */
  layout() {
    const rows = [];
    let y = RULER;
    for (const [id, track] of this.tracks) {
      const begin = y;
      y += HEAD;
      const lines = [];
      const mark = markOf(id);
      const isFolded = this.folded.has(mark);
      for (const one of isFolded ? [] : this.deepest.values()) {
        if (one.core === id) {
          const labelled = one.sample.taskName !== "task 0" || one.sample.interrupts > 0 || one.sample.instance > 1;
          const ofTask = labelled ? markOf(id + one.key) : null;
          const isShort = labelled && this.folded.has(ofTask);
          y += labelled ? LINE : 0;
          const tall = isShort ? THIN : (one.full + 1) * LINE + (one.depth - one.full) * thinOf(one);
          lines.push({ ...one, y, tall, labelled, mark: ofTask, isFolded: isShort, calls: track.calls.get(one.key) });
          y += tall + GAP;
        }
      }
      if (lines.length === 0 && !isFolded) {
        y += LINE;
      }
      rows.push({ id, track, mark, isFolded, y: begin, end: y, lines });
      y += GAP;
    }
    return { rows, height: y };
  }

  draw() {
    const begun = performance.now();
    const colours = palette();
    const { rows, height } = this.layout();
    const seen = this.height;
    this.space.style.height = Math.max(0, height - seen) + "px";
    this.rows = rows;
    this.uncover(rows, seen);
    const context = fit(this.canvas, this.width, seen);
    const { top } = this;
    context.fillStyle = colours.back;
    context.fillRect(0, 0, this.width, seen);
    this.grid(context, colours, seen);
    this.list = [];
    this.heads = [];
    for (const row of rows) {
      if (row.end - top >= RULER && row.y - top <= seen) {
        this.core(context, colours, row, top, seen);
      }
    }
    this.chosenTime(context, colours, seen);
    this.ruler(context, colours);
    this.drawHits(context, colours, top, seen);
    this.map.draw(this.width, { from: this.bounds.from, to: this.bounds.to + 1 }, this.view, this.hits.list, this.hits.current);
    this.canvas.dataset.tall = height;
    this.canvas.dataset.drawn = Number(this.canvas.dataset.drawn ?? 0) + 1;
    performance.measure("step-draw", { start: begun });
  }

  core(context, colours, row, top, seen) {
    const list = [];
    for (const lines of row.lines) {
      if (lines.labelled) {
        context.fillStyle = colours.dim;
        context.fillText((lines.isFolded ? "▸ " : "▾ ") + trackName(lines.sample), GUTTER + 4, lines.y - top - LINE / 2);
        this.heads.push({ x: 0, y: lines.y - top - LINE, w: this.width, h: LINE, mark: lines.mark });
      }
      if (lines.calls) {
        this.calls(lines, top, seen, list);
      }
    }
    rectangles(context, list, colours);
    for (const lines of row.lines) {
      this.away(context, colours, lines, row.track.away.get([lines.sample.task, lines.sample.instance].join("/")) ?? [], top);
    }
    this.list.push(...list);
    for (const loss of row.track.losses) {
      const [x, end] = [this.x(loss.from), this.x(loss.to)];
      const one = { x, y: row.y - top, w: Math.max(3, end - x), h: row.end - row.y, row: loss, name: "lost" };
      hatch(context, one.x, one.y, one.w, one.h, colours.bad);
      this.list.unshift(one);
    }
    const head = Math.max(RULER, Math.min(row.y - top, row.end - top - HEAD));
    context.fillStyle = colours.panel;
    context.fillRect(0, head, this.width, HEAD - 2);
    for (const event of row.track.events) {
      const x = Math.max(GUTTER, (this.x(event.from) + this.x(event.to)) / 2);
      context.fillStyle = colours.dim;
      context.fillRect(x - 0.5, head + HEAD - 9, 1.5, 6);
      this.list.push({ x: x - 3, y: head + HEAD - 10, w: 6, h: 8, row: event, name: "event" });
    }
    for (const anomaly of row.track.anomalies) {
      const x = Math.max(GUTTER, (this.x(anomaly.from) + this.x(anomaly.to)) / 2);
      context.fillStyle = colours.bad;
      context.beginPath();
      context.moveTo(x, head + 3);
      context.lineTo(x + 6, head + HEAD - 6);
      context.lineTo(x - 6, head + HEAD - 6);
      context.fill();
      if (row.track.anomalies.length <= LINES_MAX || (this.focus && this.same(this.focus, anomaly))) {
        context.globalAlpha = 0.5;
        context.fillRect(x - 0.5, head + HEAD - 6, 1, row.end - top - head - HEAD + 6);
        context.globalAlpha = 1;
      }
      this.list.push({ x: x - 7, y: head, w: 14, h: HEAD, row: anomaly, name: "anomaly" });
    }
    context.font = "600 12px system-ui, sans-serif";
    this.heads.push({ x: 0, y: head, w: this.width, h: HEAD, mark: row.mark });
    const title = fitText(context, (row.isFolded ? "▸ " : "▾ ") + coreNames(this.answer.cores)(row.track.core), Math.min(420, this.width * 0.6));
    context.fillStyle = colours.panel;
    const wide = context.measureText(title).width + GUTTER + 12;
    context.fillRect(0, head, wide, HEAD - 2);
    this.heads.push({ x: 0, y: head, w: wide, h: HEAD, mark: row.mark, isTitle: true }); // what is below it is not in sight
    context.fillStyle = colours.text;
    context.fillText(title, GUTTER + 4, head + HEAD / 2 - 1);
    context.font = "12px system-ui, sans-serif";
  }

  /** While its task is switched out a call is open, and does not run: it is paler, and striped. */
  away(context, colours, lines, rows, top) {
    for (const row of rows) {
      const [x, end] = [Math.max(0, this.x(row.from)), Math.min(this.width, this.x(row.to))];
      if (end <= x) {
        continue;
      }
      const [y, height] = [lines.y - top, lines.tall - 1];
      context.globalAlpha = 0.7 * Math.min(1, row.busy / Math.max(1, row.to - row.from));
      context.fillStyle = colours.back;
      context.fillRect(x, y, end - x, height);
      context.globalAlpha = 1;
      if (end - x > 6) {
        hatch(context, x, y, end - x, height, colours.line);
      }
    }
  }

  /** Rectangles of a track: a call each, or a stretch of many with their number. */
  calls(lines, top, seen, list) {
    let run = null;
    let last = null;
    for (const row of lines.calls.rows) {
      const [down, tall] = lines.isFolded ? [0, THIN] : place(lines, row.depth);
      const y = lines.y + down - top;
      if (y < -LINE || y > seen || (lines.isFolded && row.depth > 0)) {
        continue;
      }
      const text = row.function ?? row.longest ?? "";
      const dim = this.match !== null && !this.match(text);
      const isOne = isOneCall(row);
      if (isOne && last && last.depth === row.depth && last.enter === row.enter && last.exit === row.exit) {
        continue; // the call continues
      }
      last = isOne ? row : last;
      const from = isOne ? Math.max(row.enter, this.view.from) : row.from;
      const to = isOne ? Math.min(row.exit, this.view.to) : row.to;
      const [x, end] = [this.x(from), this.x(to)];
      if (end < 0 || x > this.width) {
        continue;
      }
      const mark = this.focus && this.same(this.focus, row) ? this.ring : null;
      if (isOne) {
        list.push({ x, y, w: end - x, h: tall, name: text, label: tall === LINE ? text : undefined, row, dim, mark });
        run = null;
        continue;
      }
      const share = Math.min(1, row.busy / Math.max(1, row.to - row.from));
      const tile = { x, y, w: Math.max(1, end - x), h: tall, name: text, alpha: 0.35 + 0.65 * Math.round(SHADES * share) / SHADES, row, dim, mark };
      list.push(tile);
      if (tall < LINE) {
        run = null;
      } else if (run && run.depth === row.depth && run.to === row.from) {
        run.to = row.to;
        run.calls += row.calls;
        run.w = end - run.x;
      } else {
        run = { depth: row.depth, to: row.to, calls: row.calls, x, y, w: end - x, h: LINE, name: "", dim, tile: true };
        list.push(run);
      }
    }
  }

  /** The calls that the search found, each with a mark below it; and where the one at hand is. */
  drawHits(context, colours, top, seen) {
    const { list, current } = this.hits;
    context.fillStyle = colours.hit;
    const ends = new Map(); // of the last mark on each line
    for (const hit of list) {
      if (hit.enter > this.view.to) {
        break;
      }
      if (hit.exit < this.view.from) {
        continue;
      }
      const x = Math.max(this.x(hit.enter), 0);
      const end = Math.min(this.width, Math.max(x + 2, this.x(hit.exit)));
      const at = this.lineOf(hit);
      const key = at?.y ?? 0;
      if (end <= (ends.get(key) ?? -1)) {
        continue;
      }
      ends.set(key, end);
      if (hit.enter >= this.view.from) {
        context.fillRect(x, RULER - 6, 2, 5);
      }
      if (at && at.y - top >= RULER && at.y - top <= seen) {
        const thick = Math.min(3, at.h);
        context.fillRect(x, at.y - top + at.h - thick, end - x, thick);
      }
    }
    if (current && current.exit >= this.view.from && current.enter <= this.view.to) {
      const x = this.x(current.enter);
      context.beginPath();
      context.moveTo(x - 6, RULER - 10);
      context.lineTo(x + 6, RULER - 10);
      context.lineTo(x, RULER - 1);
      context.fill();
      const at = this.lineOf(current);
      if (at && at.y - top >= RULER && at.y - top <= seen) {
        context.strokeStyle = colours.hit;
        context.lineWidth = 2;
        context.strokeRect(x - 1, at.y - top - 1, Math.max(4, this.x(current.exit) - x + 2), at.h + 1);
      }
    }
  }

  /** Where the line of a call is, in the picture as it would be without scrolling; null where it is not drawn. */
  lineOf(row) {
    const id = JSON.stringify([row.session, row.core]);
    const key = [row.task, row.instance, row.interrupts].join("/");
    const lines = this.rows?.find((one) => one.id === id)?.lines.find((one) => one.key === key);
    if (!lines || row.depth > lines.depth || (lines.isFolded && row.depth > 0)) {
      return null;
    }
    const [down, tall] = lines.isFolded ? [0, THIN] : place(lines, row.depth);
    return { y: lines.y + down, h: tall };
  }

  /** Scrolls to the call that is to be seen, where it is not. */
  uncover(rows, seen) {
    const at = this.wished && this.lineOf(this.wished);
    if (at) {
      this.wished = null;
      if (at.y - this.top < RULER + HEAD || at.y - this.top > seen - LINE) {
        this.stage.scrollTop = at.y - seen / 2;
        this.top = this.stage.scrollTop;
      }
    }
  }

  /** Folds a core or a task, or unfolds it; the address remembers it. */
  fold(mark) {
    if (!this.folded.delete(mark)) {
      this.folded.add(mark);
    }
    this.app.keep({ fold: [...this.folded].join(",") || undefined });
    this.soon();
  }

  /** Folds what a call is in: its task, or its core; without a call the first core. */
  foldAround(core) {
    const id = this.focus ? JSON.stringify([this.focus.session, this.focus.core]) : this.rows?.[0]?.id;
    const key = this.focus && [this.focus.task, this.focus.instance, this.focus.interrupts].join("/");
    if (id) {
      this.fold(core || !key ? markOf(id) : markOf(id + key));
    }
  }

  get ring() {
    return palette().text;
  }

  same(a, b) {
    return a.core === b.core && a.session === b.session && a.kind === b.kind && a.task === b.task && a.instance === b.instance
      && a.interrupts === b.interrupts && a.depth === b.depth && (isOneCall(a) ? isOneCall(b) && a.enter === b.enter && a.exit === b.exit : a.from === b.from);
  }

  grid(context, colours, seen) {
    context.fillStyle = colours.line;
    context.globalAlpha = 0.6;
    for (const at of ticks(this.view.from, this.view.to, this.width / 130).at) {
      context.fillRect(Math.round(this.x(at)), RULER, 1, seen);
    }
    context.globalAlpha = 1;
  }

  ruler(context, colours) {
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, this.width, RULER - 2);
    context.fillStyle = colours.line;
    context.fillRect(0, RULER - 2, this.width, 1);
    const { step, at } = ticks(this.view.from, this.view.to, this.width / 130);
    for (const one of at) {
      context.fillStyle = colours.line;
      context.fillRect(Math.round(this.x(one)), RULER - 9, 1, 8);
      context.fillStyle = colours.dim;
      const text = step < 1000 && this.unit !== "NANOSECONDS" ? number(one) + " " + unitName(this.unit)
        : step < 1 ? number(one) : time(one, this.unit);
      context.fillText(text, this.x(one) + 4, RULER / 2 - 1);
    }
  }

  chosenTime(context, colours, seen) {
    if (!this.selection) {
      return;
    }
    const [x, end] = [this.x(this.selection.from), this.x(this.selection.to)];
    context.fillStyle = colours.accent;
    context.globalAlpha = 0.13;
    context.fillRect(x, RULER, Math.max(2, end - x), seen);
    context.globalAlpha = 1;
    context.fillRect(x, RULER, 1, seen);
    context.fillRect(end, RULER, 1, seen);
  }

  at(event) {
    const box = this.canvas.getBoundingClientRect();
    if (this.headAt(event)?.isTitle) {
      return null;
    }
    return hit(this.list.filter((one) => !one.tile), event.clientX - box.left, event.clientY - box.top)?.row ?? null;
  }

  /** The head of a core or task at a place. */
  headAt(event) {
    const box = this.canvas.getBoundingClientRect();
    const y = event.clientY - box.top;
    return y < RULER ? null : hit(this.heads, event.clientX - box.left, y);
  }

  timeOf(event) {
    return this.timeAt(event.clientX - this.canvas.getBoundingClientRect().left);
  }

  down(event) {
    if (event.button !== 0) {
      return;
    }
    this.canvas.focus();
    this.canvas.setPointerCapture(event.pointerId);
    const y = event.clientY - this.canvas.getBoundingClientRect().top;
    this.drag = { x: event.clientX, view: this.view, at: this.timeOf(event), selects: event.shiftKey || y < RULER, moved: false,
      y: event.clientY, top: this.stage.scrollTop };
  }

  move(event) {
    if (!this.drag) {
      this.hover(event);
      return;
    }
    const by = event.clientX - this.drag.x;
    this.drag.moved ||= Math.abs(by) > 3 || Math.abs(event.clientY - this.drag.y) > 3;
    if (!this.drag.moved) {
      return;
    }
    this.tip.hidden = true;
    if (this.drag.selects) {
      const now = this.timeOf(event);
      this.selection = { from: Math.max(0, Math.floor(Math.min(this.drag.at, now))), to: Math.max(1, Math.ceil(Math.max(this.drag.at, now))) };
      this.soon();
      return;
    }
    this.stage.scrollTop = this.drag.top - (event.clientY - this.drag.y);
    const span = this.drag.view.to - this.drag.view.from;
    const step = (by / (this.width - 2 * GUTTER)) * span;
    this.look(this.drag.view.from - step, this.drag.view.to - step);
  }

  up(event) {
    const { drag } = this;
    this.drag = null;
    if (!drag) {
      return;
    }
    if (!drag.moved) {
      const row = this.at(event);
      const head = row ? null : this.headAt(event);
      if (head) {
        this.fold(head.mark);
        return;
      }
      this.choose(row, drag.at);
    } else if (drag.selects) {
      this.report();
    }
  }

  wheel(event) {
    const scrolls = this.stage.scrollHeight > this.stage.clientHeight + 4;
    if (event.ctrlKey || (!event.shiftKey && !scrolls && Math.abs(event.deltaY) >= Math.abs(event.deltaX))) {
      event.preventDefault();
      this.zoom(Math.exp(Math.max(-60, Math.min(60, event.deltaY)) * 0.005), this.timeOf(event));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.pan((event.deltaX || event.deltaY) / this.width);
    }
  }

  /** Describes what the pointer is on; null where it has left. */
  hover(event) {
    const row = event && this.at(event);
    clearTimeout(this.staying);
    this.tip.hidden = !row;
    this.canvas.style.cursor = event && !row && this.headAt(event) ? "pointer" : "";
    if (!row) {
      return;
    }
    const show = (more) => {
      this.tip.replaceChildren(...this.describe(row), ...more.map((text) => h("div", {}, h("bdi", {}, text))));
      const box = this.tip.getBoundingClientRect();
      this.tip.style.left = Math.max(4, Math.min(event.clientX + 14, innerWidth - box.width - 8)) + "px";
      this.tip.style.top = Math.max(4, Math.min(event.clientY + 16, innerHeight - box.height - 8)) + "px";
    };
    const known = this.details.get(this.nameOf(row));
    show(known?.lines ?? []);
    if (isOneCall(row) && !known?.lines) {
      const asked = {};
      this.tipFor = asked;
      this.staying = setTimeout(async () => {
        const more = await this.moreOf(row);
        if (this.tipFor === asked && !this.tip.hidden) {
          show(more);
        }
      }, STAY_MS);
    }
  }

  nameOf(row) {
    return JSON.stringify([row.session, row.core, row.task, row.instance, row.interrupts, row.depth, row.enter, row.exit]);
  }

  /** The arguments and the result of a call, and where its function begins in its source, as far as the trace has them. */
  async moreOf(row) {
    const key = this.nameOf(row);
    const known = this.details.get(key) ?? { asked: this.askMore(row) };
    if (!this.details.has(key)) {
      if (this.details.size >= DETAILS) {
        this.details.delete(this.details.keys().next().value);
      }
      this.details.set(key, known);
    }
    try {
      known.lines = await known.asked;
    } catch (failure) {
      this.details.delete(key);
      known.lines = failure.name === "AbortError" ? [] : ["its arguments did not come: " + cut(failure.message, 120)];
    }
    return known.lines;
  }

  async askMore(row) {
    const called = row.function ?? row.longest;
    const at = { core: row.core, session: row.session, from: row.enter, to: row.enter };
    const [trees, report] = await Promise.all([ask("/graph", { ...at, task: row.task }, this.signal), ask("/report", at, this.signal)]);
    const todo = trees.flatMap((tree) => tree.calls);
    const found = [];
    while (todo.length > 0) {
      const call = todo.pop();
      todo.push(...call.children);
      if (call.function === called && call.enter === row.enter && (call.shownArguments || call.shownReturns)) {
        found.push(cut(called, 60) + "(" + cut(call.shownArguments ?? "…", 200) + ")" + (call.shownReturns ? " = " + cut(call.shownReturns, 100) : ""));
      }
    }
    const source = report.functions.find((one) => one.name === called && one.source)?.source;
    return [...found.slice(0, 1), ...(source ? [cut(source, 200)] : [])];
  }

  /** A row in words. */
  words(row) {
    if (row.kind === "LOSSES") {
      return ["Records are missing", plural(row.calls, "record") + " from " + number(row.from) + " to " + number(row.to)];
    }
    if (row.kind === "ANOMALIES") {
      return [plural(row.calls, "anomaly", "anomalies"),
        "from " + number(row.from) + " to " + number(row.to) + (row.longest ? ", in " + cut(row.longest, 80) : "")];
    }
    if (row.kind === "EVENTS") {
      return [number(row.calls) + (row.calls === 1 ? " exception or longjmp ends calls" : " exceptions or longjmps end calls"),
        "from " + number(row.from) + " to " + number(row.to) + (row.longest ? ", in " + cut(row.longest, 80) : "")];
    }
    const named = cut(row.function ?? row.longest ?? "", 90);
    const lasts = row.exit - row.enter;
    const when = "from " + number(row.enter) + " to " + number(row.exit) + " " + unitName(this.unit) + ", " + time(lasts, this.unit);
    const known = this.deepest.get(JSON.stringify([row.session, row.core]) + [row.task, row.instance, row.interrupts].join("/"));
    return isOneCall(row) ? [named, when, trackName(known?.sample ?? row) + ", depth " + row.depth]
      : [plural(row.calls, "call begins", "calls begin") + " from " + number(row.from) + " to " + number(row.to) + " " + unitName(this.unit),
        "calls are open in " + percent((100 * row.busy) / Math.max(1, row.to - row.from)) + " of that time",
        "the longest: " + named + ", " + time(lasts, this.unit)];
  }

  describe(row) {
    const [first, ...rest] = this.words(row);
    return [h("b", {}, h("bdi", {}, first)), ...rest.map((text) => h("div", {}, h("bdi", {}, text)))];
  }

  /** Chooses a row: its time becomes the selection. */
  choose(row, at) {
    if (!row) {
      this.focus = null;
      this.clear();
      return;
    }
    if (row.kind === "ANOMALIES") {
      this.app.go({ page: "anomalies", core: row.core, session: row.session, from: row.from, to: row.to });
      return;
    }
    this.focus = row;
    this.selection = isOneCall(row) ? { from: row.enter, to: Math.max(row.enter, row.exit) } : { from: row.from, to: row.to };
    this.app.status(this.words(row).join(" · "));
    this.soon();
    this.report(row);
  }

  clear() {
    this.selection = null;
    this.panel.hidden = true;
    this.panel.replaceChildren();
    this.soon();
  }

  /** The report of the selection. */
  async report(row) {
    const { from, to } = this.selection;
    const of = row ? { core: row.core, session: row.session } : this.chosen();
    this.asked?.abort();
    const asked = new AbortController();
    this.asked = asked;
    this.panel.hidden = false;
    const state = { ...of, from, to };
    const title = h("h2", {}, number(from) + " to " + number(to) + " · " + time(to - from, this.unit) + (row?.core ? " · " : ""),
      row?.core ? name(row.core, 40) : "");
    const head = h("div", { class: "head" }, title,
      button("Zoom", () => this.look(from, to)),
      button("Functions", () => this.app.go({ ...state, page: "functions" })),
      button("Calls", () => this.app.go({ ...state, page: "calls" })),
      button("Flame", () => this.app.go({ ...state, page: "flame" })),
      button("Close", () => {
        this.clear();
        this.canvas.focus();
      }));
    const body = h("div", { class: "notice loading" }, "Counting …");
    this.panel.replaceChildren(head, body);
    try {
      const report = await ask("/report", state, AbortSignal.any([asked.signal, this.signal]));
      const table = new DataTable({ label: "Functions of the selection", sort: "-self", columns: reportColumns(report) });
      body.replaceWith(table.element);
      table.show(report.functions);
      this.panel.dataset.functions = report.functions.length;
    } catch (failure) {
      if (failure.name !== "AbortError") {
        body.replaceWith(notice(failure.message, failure.cure));
      }
    }
  }

  search(text) {
    if (text === this.text) {
      return; // Enter did not wait for the text to be left alone
    }
    this.text = text;
    this.match = functionFinder(text);
    this.app.keep({ search: text || undefined });
    this.hits.look(text ? { ...this.chosen(), match: text } : null);
    this.soon();
  }

  /** The search says something else, or found something. */
  foundOthers() {
    this.found.textContent = this.hits.words;
    this.soon();
  }

  searchKey(event) {
    if (event.key === "Enter") {
      event.preventDefault();
      this.search(event.target.value);
      this.nextHit(event.shiftKey ? -1 : 1);
    }
  }

  /** Shows the next call that the search finds, wherever it is. */
  async nextHit(sign) {
    if (!this.match) {
      this.app.status("nothing is searched for: press / and type a part of a name");
      return;
    }
    await this.hits.begin();
    const hit = this.hits.next(sign, sign > 0 ? this.view.from : this.view.to);
    if (hit) {
      this.goTo(hit);
    }
  }

  /** Shows a call: nothing around it is folded, and it is wide enough to be seen. */
  goTo(row) {
    const id = JSON.stringify([row.session, row.core]);
    for (const mark of [markOf(id), markOf(id + [row.task, row.instance, row.interrupts].join("/"))]) {
      if (this.folded.has(mark)) {
        this.fold(mark);
      }
    }
    const lasts = Math.max(1, row.exit - row.enter);
    const { from, to } = this.view;
    const wide = (lasts / (to - from)) * (this.width - 2 * GUTTER);
    const span = wide < SEEN ? lasts * FAR : Math.max(to - from, lasts * 1.1);
    if (wide < SEEN || row.enter < from || row.exit > to) {
      const middle = (row.enter + row.exit) / 2;
      this.look(middle - span / 2, middle + span / 2);
    }
    this.setFocus(row);
  }

  setFollow(follows) {
    this.following = follows;
    this.followBox.setAttribute("aria-pressed", String(follows));
    clearInterval(this.poll);
    if (follows) {
      const turn = () => {
        this.mayHurry = true;
        this.follow();
      };
      turn();
      this.poll = setInterval(turn, POLL_MS);
      this.signal.addEventListener("abort", () => clearInterval(this.poll));
    }
  }

  zoomTo(row) {
    if (row) {
      const [from, to] = isOneCall(row) ? [row.enter, row.exit] : [row.from, row.to];
      const spare = Math.max(4, (to - from) * 0.05);
      this.look(from - spare, to + spare);
    }
  }

  /** Rows in reading order of one line each. */
  callRows() {
    return this.answer.rows.filter((row) => row.kind === "CALLS" && row.to > this.view.from && row.from < this.view.to);
  }

  /** Moves from call to call. */
  step(key) {
    const rows = this.callRows();
    const line = (a, b) => a.core === b.core && a.session === b.session && a.task === b.task && a.instance === b.instance
      && a.interrupts === b.interrupts;
    const now = this.focus && rows.find((row) => this.same(row, this.focus));
    let next = null;
    if (!now) {
      next = rows[0];
    } else if (key === "ArrowRight" || key === "ArrowLeft") {
      const beside = rows.filter((row) => line(row, now) && row.depth === now.depth);
      next = beside[beside.indexOf(now) + (key === "ArrowRight" ? 1 : -1)];
    } else {
      const depth = now.depth + (key === "ArrowDown" ? 1 : -1);
      const others = rows.filter((row) => line(row, now) && row.depth === depth);
      next = others.find((row) => row.to > now.from && row.from < now.to);
      if (!next) { // the track below or above
        const firsts = rows.filter((row, i) => i === 0 || !line(row, rows[i - 1]));
        const own = firsts.findIndex((row) => line(row, now));
        next = firsts[own + (key === "ArrowDown" ? 1 : -1)];
      }
    }
    if (next) {
      this.setFocus(next);
    }
  }

  setFocus(row) {
    this.focus = row;
    this.wished = row.kind === "CALLS" ? row : null;
    const words = this.words(row);
    this.app.status(words.join(" · "));
    this.soon();
    if (isOneCall(row)) {
      clearTimeout(this.staying);
      this.staying = setTimeout(async () => {
        const more = await this.moreOf(row);
        if (this.focus === row && more.length > 0) {
          this.app.status([...words, ...more].join(" · "));
        }
      }, STAY_MS);
    }
  }

  nextAnomaly() {
    const rows = this.answer.rows.filter((row) => row.kind === "ANOMALIES");
    if (rows.length > 0) {
      const at = rows.findIndex((row) => this.focus && row.kind === this.focus.kind && row.from === this.focus.from && row.core === this.focus.core);
      const row = rows[(at + 1) % rows.length];
      this.setFocus(row);
    } else {
      this.app.status("no anomaly in sight");
    }
  }

  extend(sign) {
    const step = (this.view.to - this.view.from) / 40;
    const now = this.selection ?? { from: Math.floor((this.view.from + this.view.to) / 2), to: Math.ceil((this.view.from + this.view.to) / 2) };
    this.selection = { from: now.from, to: Math.max(now.from + 1, Math.round(now.to + sign * step)) };
    this.soon();
    clearTimeout(this.extending);
    this.extending = setTimeout(() => this.report(), 300);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const does = {
      w: () => this.zoom(0.66), s: () => this.zoom(1.5), a: () => this.pan(-0.2), d: () => this.pan(0.2),
      0: () => this.whole(), f: () => this.zoomTo(this.focus), n: () => this.nextHit(event.shiftKey ? -1 : 1), o: () => this.foldAround(event.shiftKey),
      m: () => this.nextAnomaly(), l: () => this.app.about().kind !== "trace" && this.setFollow(!this.following),
      enter: () => this.focus && this.choose(this.focus), escape: () => this.choose(null),
      arrowleft: () => (event.shiftKey ? this.extend(-1) : this.step("ArrowLeft")),
      arrowright: () => (event.shiftKey ? this.extend(1) : this.step("ArrowRight")),
      arrowup: () => this.step("ArrowUp"), arrowdown: () => this.step("ArrowDown"),
    }[event.key.toLowerCase()];
    if (does) {
      event.preventDefault();
      event.stopPropagation();
      does();
    }
  }
}

export default {
  title: "Timeline",
  keys,
  command({ core, session, from, to }) {
    const options = Object.entries({ core, session, from, to }).filter(([, value]) => value !== undefined);
    return ["graph", "--timeline", ...options.flatMap(([key, value]) => ["--" + key, value])];
  },
  async show(root, app, signal) {
    const cores = await app.cores(signal);
    if (cores.length === 0) {
      root.replaceChildren(notice("No core has sent a chunk yet", "start a fleet with retstack emulate; this page looks again by itself"));
      const again = setTimeout(() => app.go({}), POLL_MS);
      signal.addEventListener("abort", () => clearTimeout(again));
      return;
    }
    const timeline = new Timeline(root, app, signal, byName(cores));
    await timeline.first();
    timeline.told();
    timeline.draw();
    requestAnimationFrame(() => {
      performance.mark("picture");
      timeline.begin();
    });
  },
};
