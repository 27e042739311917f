// What each core traces; commands with a preview, each core's answer as it comes, and the audit log.
import { again, ask, askCores, command, coresRest } from "./api.js";
import { button, choice, field, h, name, notice } from "./dom.js";
import { cut, number, plural, shell } from "./format.js";
import { DataTable } from "./table.js";

const ROW = 28;
const ROWS = 10;
const LOG_ROWS = 100;
const SEVERAL = "Names or patterns, one a line; none: all as at first";
const WHO = "retstack-issuer";

/** Commands: what they do, and what their texts are; those without take none. */
const ORDERS = {
  "set-filter": ["only these functions", SEVERAL],
  "set-notrace": ["not these functions", SEVERAL],
  "set-graph-function": ["only these and what they call", SEVERAL],
  "set-graph-notrace": ["neither these nor what they call", SEVERAL],
  "set-tracer": ["tracer", "Name: nop, function or function_graph"],
  "set-trigger": ["triggers", "Triggers FUNCTION:ACTION[:LIMIT], one a line"],
  "set-max-depth": ["depth of calls", "Levels; 0: any"],
  "set-min-duration": ["shortest call", "Time in the unit of the core; 0: any"],
  "set-arguments": ["record arguments", "Arguments NAME@arg1,arg2/x, one a line"],
  "set-returns": ["record results", "Results NAME/d, one a line"],
  "set-events": ["events", "Events syscalls[:NAME,...]"],
  "set-tasks": ["only these tasks", SEVERAL],
  "set-notasks": ["not these tasks", SEVERAL],
  "set-flight-recorder": ["keep the last records only", "Records; 0: all are sent"],
  on: ["record"],
  off: ["do not record"],
  snapshot: ["send what flight recorders hold"],
  reset: ["first settings"],
  status: ["ask what is traced"],
};

const lines = (text) => (text ?? "").split("\n").map((line) => line.trim()).filter(Boolean);
const keyOf = (row) => JSON.stringify([row.session, row.core]);
const settingsOf = (row) => (row.settings.length > 0 ? row.settings.join("; ") : "everything");

/** The command that is chosen, as its body. */
function chosen(state) {
  const order = Object.hasOwn(ORDERS, state.order ?? "") ? state.order : "set-filter";
  return { name: order, arguments: ORDERS[order].length > 1 ? lines(state.args) : [], target: state.target || "all" };
}

/** A table that is as high as its rows, up to ten. */
function show(table, rows) {
  table.element.style.height = ROW * (Math.min(ROWS, Math.max(1, rows.length)) + 1.5) + "px";
  table.show(rows);
}

function section(title, ...content) {
  return h("section", { "aria-label": title }, h("h2", {}, title), ...content);
}

const coresTable = (traced) => new DataTable({
  label: "What cores trace",
  sort: "core",
  columns: [
    { key: "core", head: "Core", cell: (row) => name(row.core, 60) },
    { key: "end", head: "State" },
    { key: "isa", head: "ISA" },
    { key: "traces", head: "Traces", title: "what the core said last", value: (row) => traced.get(keyOf(row)) ?? "", cell: (row) => name(traced.get(keyOf(row)) ?? "not asked yet", 120) },
    { key: "records", head: "Records", num: true },
    { key: "untraced", head: "Calls untraced", num: true, title: "calls that are known to have made no records" },
    { key: "session", head: "Session", cell: (row) => name(row.session, 40) },
  ],
});

const previewTable = () => new DataTable({
  label: "Preview",
  sort: "imageName",
  columns: [
    { key: "argument", head: "Pattern", cell: (row) => (row.argument ? name(row.argument, 60) : "all of them together") },
    { key: "functions", head: "Functions", num: true, title: "functions that match", value: (row) => (row.functions < 0 ? undefined : row.functions) },
    { key: "functionsAll", head: "Of", num: true, title: "functions that can be traced" },
    { key: "imageName", head: "Image", cell: (row) => name(row.imageName, 40) },
    { key: "isa", head: "ISA" },
    { key: "cores", head: "Cores", num: true, title: "running cores of this image that are meant" },
    { key: "examples", head: "Such as", value: (row) => (row.functions < 0 ? "unknown here: the cores will say" : row.examples.join(", ")), cell: (row) => name(row.functions < 0 ? "unknown here: the cores will say" : row.examples.join(", "), 100) },
  ],
});

const answersTable = () => new DataTable({
  label: "Answers",
  sort: "core",
  columns: [
    { key: "core", head: "Core", cell: (row) => name(row.core, 60) },
    { key: "status", head: "Answer", cell: (row) => h("span", { class: row.status === "applied" ? "good" : "bad" }, row.status) },
    { key: "sitesOn", head: "On", num: true, title: "call sites that were switched on" },
    { key: "sitesOff", head: "Off", num: true, title: "call sites that were switched off" },
    { key: "sites", head: "Sites", num: true, title: "call sites that are on now" },
    { key: "sitesAll", head: "Of", num: true },
    { key: "time", head: "Time", num: true, title: "the core's clock, in its unit" },
    { key: "why", head: "Reasons, or what it traces now", value: (row) => row.reasons.join("; ") || settingsOf(row), cell: (row) => name(row.reasons.join("; ") || settingsOf(row), 160) },
    { key: "isa", head: "ISA" },
    { key: "imageName", head: "Image", cell: (row) => name(row.imageName, 40) },
    { key: "session", head: "Session", cell: (row) => name(row.session, 40) },
  ],
});

const logTable = () => new DataTable({
  label: "Audit log",
  sort: "-issued",
  columns: [
    { key: "issued", head: "When" },
    { key: "issuer", head: "Who", cell: (row) => name(row.issuer, 40) },
    { key: "name", head: "Command", cell: (row) => name([row.name, ...row.arguments].join(" "), 100) },
    { key: "target", head: "Target", cell: (row) => name(row.target, 40) },
    { key: "applied", head: "Applied", num: true, title: "cores that did it" },
    { key: "refused", head: "Refused", num: true, title: "cores and fleets that did not" },
  ],
});

/** The page of a member that takes no commands. */
async function readOnly(root, app, signal) {
  const { cores } = await askCores(signal);
  const table = coresTable(new Map());
  table.columns = table.columns.filter((column) => column.key !== "traces");
  table.heads();
  root.replaceChildren(h("div", { class: "bar" }, h("h1", {}, "Control")),
    h("p", { class: "facts" }, "This server takes no commands. In a terminal, retstack trace gives them."), table.element);
  table.show(cores);
  app.status(plural(cores.length, "core"));
}

/** The form, the preview and the answers of a job. */
class Desk {
  constructor(app, signal) {
    this.app = app;
    this.signal = signal;
    this.asked = 0;
    this.allowed = false; // commands are taken here
    this.busy = false; // one is under way
    this.clear = false; // the one that is chosen makes sense
    this.traced = new Map();
    this.tables = { preview: previewTable(), answers: answersTable(), cores: coresTable(this.traced), log: logTable() };
    this.cores = [];
    this.none = notice("No core has sent a chunk yet", "start a fleet with retstack emulate; this page looks again by itself");
    this.said = h("p", { class: "facts", role: "status", id: "meant" });
    this.heard = h("p", { class: "facts", role: "status", id: "heard" }, "None yet.");
    this.logged = h("p", { class: "facts" });
    this.notes = h("p", { class: "facts" });
    this.give = button("Give the command", () => this.clear && this.command(chosen(app.state)), { class: "main" });
    this.ask = button("Ask what is traced", () => this.command({ name: "status", arguments: [], target: app.state.target || "all" }));
    this.hint = h("span", {});
    this.text = h("textarea", { rows: 3, cols: 34, spellcheck: "false", autocomplete: "off", oninput: () => this.later() });
    this.text.value = app.state.args ?? "";
    this.texts = h("label", { class: "field" }, this.hint, this.text);
  }

  bar() {
    const { app } = this;
    return h("div", { class: "bar", onkeydown: (event) => event.ctrlKey && event.key === "Enter" && this.give.click() },
      h("h1", {}, "Control"),
      choice("Command", Object.entries(ORDERS).map(([key, [what]]) => [key, key + ": " + what]), chosen(app.state).name, (order) => this.change({ order })),
      this.texts,
      field("Target: all, core=, isa=, image=, label.KEY=", app.state.target ?? "all", (target) => this.change({ target })),
      field("Your name, for the log", localStorage.getItem(WHO) ?? "", (who) => localStorage.setItem(WHO, who), { maxlength: 100, id: "issuer" }),
      h("div", { class: "row" }, this.give, this.ask));
  }

  /** Says what can be pressed; the focus stays where it is. */
  buttons(changes) {
    Object.assign(this, changes);
    this.give.setAttribute("aria-disabled", String(!this.allowed || this.busy || !this.clear));
    this.ask.setAttribute("aria-disabled", String(!this.allowed || this.busy));
  }

  later() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => this.change({ args: this.text.value || undefined }), 200);
  }

  change(changes) {
    this.app.keep(changes);
    this.preview().catch((failure) => this.failed(this.said, failure));
  }

  failed(at, failure) {
    if (failure.name !== "AbortError") {
      at.replaceChildren(h("span", { class: "bad" }, cut(failure.message, 600)), h("span", {}, cut(failure.cure ?? "", 300)));
    }
  }

  /** What the command would mean now; an answer that comes late is not shown. */
  async preview() {
    const body = chosen(this.app.state);
    const [, texts] = ORDERS[body.name];
    this.texts.hidden = texts === undefined;
    this.hint.textContent = texts ?? "";
    const mine = ++this.asked;
    this.buttons({ clear: false });
    try {
      const found = await ask("/control/preview", { command: body.name, target: body.target, arguments: body.arguments.join("\n") }, this.signal);
      if (mine !== this.asked) {
        return;
      }
      this.said.replaceChildren(
        h("span", {}, "It reaches ", h("b", {}, number(found.cores)), " of " + plural(found.running, "running core") + "."),
        found.ignoresLabels ? h("span", {}, "Labels are known to fleets only: fewer may be reached.") : "",
        found.imagesLeftOut > 0 ? plural(found.imagesLeftOut, "further image") + " not looked at." : "",
        found.imagesMissing.length > 0 ? plural(found.imagesMissing.length, "image") + " missing in Kafka." : "");
      this.tables.preview.element.hidden = found.rows.length === 0;
      show(this.tables.preview, found.rows);
      this.buttons({ clear: true });
    } catch (failure) {
      if (mine === this.asked) {
        this.tables.preview.element.hidden = true;
        this.failed(this.said, failure);
      }
    }
  }

  /** Gives a command, and shows each answer as it comes. */
  async command(body) {
    if (!this.allowed || this.busy) {
      return;
    }
    const answers = [];
    let expected = 0;
    let done = false;
    const count = () => number(answers.length) + " of " + plural(Math.max(expected, answers.length), "core") + " answered";
    this.buttons({ busy: true });
    this.heard.textContent = "Sending " + body.name + " …";
    show(this.tables.answers, []);
    this.tables.answers.element.hidden = false;
    try {
      const who = localStorage.getItem(WHO) ?? "";
      await command(who ? { ...body, issuer: who } : body, this.token, this.signal, (event) => {
        if (event.kind === "answers") {
          answers.push(...event.answers);
          expected += event.expected;
          show(this.tables.answers, answers);
          this.heard.textContent = body.name + ": " + count() + " …";
        } else if (event.kind === "done") {
          done = true;
          const refused = answers.filter((row) => row.status !== "applied").length;
          const said = event.fleets === 0 ? "no fleet answered: is one running?"
            : answers.length === 0 && event.refusals.length > 0 ? event.refusals.join("; ")
              : count() + (refused > 0 ? ", " + number(refused) + " refused" : "") + (event.missing > 0 ? ", " + number(event.missing) + " did not answer in time" : "") + ".";
          this.heard.textContent = body.name + ": " + cut(said, 600);
          this.app.status(body.name + ": " + said);
        }
      });
      if (!done) {
        this.heard.textContent = body.name + " was given, but the answers broke off: the audit log counts them.";
      }
      await this.look();
    } catch (failure) {
      this.failed(this.heard, failure);
    } finally {
      this.buttons({ busy: false });
    }
  }

  /** What cores trace, and the log. */
  async look() {
    const [about, log, { cores }] = await Promise.all([ask("/control", {}, this.signal),
      ask("/control/log", { limit: LOG_ROWS }, this.signal), askCores(this.signal)]);
    this.token = about.token;
    this.app.kafka = about;
    this.traced.clear();
    about.cores.forEach((row) => this.traced.set(keyOf(row), settingsOf(row)));
    this.know(cores);
    show(this.tables.log, log.commands);
    this.notes.replaceChildren(about.allowed ? "" : h("span", { id: "readonly" },
      "This member only reads. Give the command in a terminal (the button Command has the line), or start the member with --commands."));
    this.logged.replaceChildren(
      log.commands.length === 0 ? "No command was ever given." : "",
      log.allCommands ? "" : "The last " + plural(log.commands.length, "command") + "; retstack trace log has all.",
      log.allAnswers ? "" : "Of the answers only the last are counted.");
    this.tables.log.element.hidden = log.commands.length === 0;
    this.buttons({ allowed: about.allowed });
  }

  know(cores) {
    this.cores = cores;
    this.none.hidden = cores.length > 0;
    this.tables.cores.element.hidden = cores.length === 0;
    show(this.tables.cores, cores);
  }

  /** Cores come and go while the page is open; what is chosen reaches others then. */
  async lookAgain() {
    const running = () => this.cores.filter((row) => row.end === "RUNNING").length;
    const before = running();
    const count = this.cores.length;
    this.know((await askCores(this.signal)).cores);
    if (this.cores.length !== count) {
      this.app.status(plural(this.cores.length, "core"));
    }
    if (running() !== before) {
      await this.preview();
    }
  }
}

export default {
  title: "Control",
  keys: [["Ctrl Enter", "in the form: give the command"]],
  command: () => ["cores"],

  /** The command line that does the same; another verb than those that ask a member. */
  line(state, app) {
    const body = chosen(state);
    if (!app.about().control) {
      return null;
    }
    return ["retstack", "trace", body.name, ...body.arguments, "--target", body.target,
      "--bootstrap", app.kafka?.kafka ?? "HOST:PORT", "--prefix", app.kafka?.prefix ?? "retstack"].map(shell).join(" ");
  },

  async show(root, app, signal) {
    if (!app.about().control) {
      await readOnly(root, app, signal);
      return;
    }
    const desk = new Desk(app, signal);
    await desk.look();
    const { preview, answers, cores, log } = desk.tables;
    answers.element.hidden = true;
    root.replaceChildren(desk.bar(), h("div", { class: "scroll" }, desk.notes,
      section("Preview", desk.said, preview.element),
      section("Answers", desk.heard, answers.element),
      section("What cores trace", desk.none, cores.element),
      section("Audit log", desk.logged, log.element)));
    await desk.preview();
    app.status(plural(desk.cores.length, "core"));
    again(() => desk.lookAgain(), () => coresRest(desk.cores.length), signal, (failure) => app.status(failure.message));
  },
};
