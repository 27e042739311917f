// The call tree of a place as text, as the terminal shows it; paged by time in both directions.
import { ask, askText, rowsOf } from "./api.js";
import { button, h, notice } from "./dom.js";
import { number, plural } from "./format.js";
import { about, byName, chosenCore, coreChoice, firstTime } from "./functions.js";

const FIRST = 4096;
const LINES = 4000;
const LINES_OF_CORE = 20; // in which the first call is looked for
const LINE = 4096; // characters: a name may have 262,144

export default {
  title: "Calls",
  keys: [["[ ]", "the time before, after"]],
  command({ core, session, from, to }) {
    const options = Object.entries({ core, session, from, to }).filter(([, value]) => value !== undefined);
    return ["graph", ...options.flatMap(([key, value]) => ["--" + key, value])];
  },
  async show(root, app, signal) {
    const cores = await app.cores(signal);
    if (cores.length === 0) {
      root.replaceChildren(notice("No core has sent a chunk yet", "start a fleet with retstack emulate"));
      return;
    }
    const core = chosenCore(app, cores) ?? byName(cores)[0];
    let from = Number(app.state.from ?? 0);
    let to = Number(app.state.to ?? NaN);
    if (!Number.isFinite(to)) {
      const drawn = app.state.from === undefined
        ? await ask("/timeline", { core: core.core, session: core.session, width: 4096, depth: LINES_OF_CORE, from: 0, to: core.time, detail: "tiles", as: "columns" }, signal).catch(() => null) : null;
      const rows = drawn && rowsOf(drawn.rows, drawn.lines.flatMap(({ rows: count, ...line }) => Array.from({ length: count }, () => ({ ...line }))));
      from = Math.max(from, drawn?.cores[0]?.from ?? 0, (rows && firstTime(rows.filter((row) => row.kind === "CALLS"))) ?? 0);
      to = from + FIRST;
    }
    app.keep({ core: core.core, session: core.session, from, to });
    const span = Math.max(1, to - from);
    const go = (begin) => app.go({ from: Math.max(0, begin), to: Math.max(0, begin) + span });
    const text = await askText("/graph", { core: core.core, session: core.session, from, to }, signal);
    const lines = text.split("\n");
    const shown = lines.slice(0, LINES).map((line) => (line.length > LINE ? line.slice(0, LINE) + "…" : line)).join("\n");
    const pre = h("pre", { class: "text", tabindex: "0", role: "region", "aria-label": "Calls" }, shown);
    root.replaceChildren(about(app, "Calls",
      coreChoice(app, cores),
      h("div", { class: "row" }, button("◀ Before", () => go(from - span), { "aria-keyshortcuts": "[" }),
        button("After ▶", () => go(to), { "aria-keyshortcuts": "]" }),
        button("Half the time", () => app.go({ to: from + Math.ceil(span / 2) })), button("Twice the time", () => app.go({ to: from + span * 2 })),
        button("On the timeline", () => app.go({ page: "timeline" })),
        button("Copy", async () => {
          try {
            await navigator.clipboard.writeText(shown);
            app.status("copied");
          } catch {
            getSelection().selectAllChildren(pre);
            app.status("the browser refuses to copy; the text is selected: press Ctrl+C");
          }
        }))), pre);
    addEventListener("keydown", (event) => {
      if (event.target.tagName !== "INPUT" && event.target.tagName !== "SELECT" && (event.key === "[" || event.key === "]")) {
        go(event.key === "[" ? from - span : to);
      }
    }, { signal });
    app.status(lines.length > LINES ? number(LINES) + " of " + number(lines.length) + " lines: choose half the time" : plural(lines.length, "line"));
  },
};
