// Findings, most severe first, each with both values, cause, cure and its place.
import { ask, follow } from "./api.js";
import { button, choice, field, h, name, notice } from "./dom.js";
import { cut, finder, functionFinder, noteNames, number, plural } from "./format.js";
import { about } from "./functions.js";

const SHOWN = 200;
const MISMATCH = /MISMATCH|EXIT|SMASHED/;

function card(row, app) {
  const place = h("div", { class: "row" });
  if (row.core) {
    const near = Math.max(64, Math.round(row.time * 0.0005));
    const at = { core: row.core, session: row.session, from: Math.max(0, row.time - near), to: row.time + near };
    place.append(button("On the timeline", () => app.go({ ...at, page: "timeline" })),
      button("Calls there", () => app.go({ ...at, page: "calls" })));
  }
  const facts = [["Times", number(row.times) + (row.count === row.times ? "" : " (count " + number(row.count) + ")")],
    ["Cores", number(row.cores) + (row.images > 1 ? " of " + number(row.images) + " images" : "")],
    ...(row.groups > 1 ? [["Places", number(row.groups)]] : [])];
  if (row.core) {
    facts.push(["First kept", h("span", {}, "core ", name(row.core, 60), row.taskName?.startsWith("task ") ? ", " : ", task ", name(row.taskName || row.task, 40), ", time " + number(row.time))]);
  }
  if (MISMATCH.test(row.kind) && row.core) {
    facts.push(["Expected", row.expected], ["Received", row.received]);
  }
  return h("article", { class: "card " + row.severity, "aria-label": row.kind },
    h("h2", {}, h("span", { class: "badge " + (row.severity === "ERROR" ? "bad" : row.severity === "WARNING" ? "warn" : "dim") }, row.severity.toLowerCase()),
      row.kind, row.function ? " in " : "", row.function ? name(row.function, 120) : ""),
    h("p", {}, h("bdi", {}, cut(row.message ?? "", 500))),
    h("dl", {}, facts.flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
    row.stack?.length > 0 ? h("pre", { class: "code", tabindex: "0", role: "region", "aria-label": "Stack" },
      row.stack.slice(0, 64).map((frame) => cut(frame, 200)).join("\n")) : null,
    h("p", {}, h("b", {}, "Likely: "), row.cause), h("p", {}, h("b", {}, "To do: "), row.cure), place);
}

export default {
  title: "Anomalies",
  command(state) {
    const options = Object.entries({ core: state.core, session: state.session, from: state.from, to: state.to })
      .filter(([, value]) => value !== undefined);
    return ["anomalies", ...options.flatMap(([key, value]) => ["--" + key, value]),
      ...(state.severity ? ["--severity", state.severity] : []), ...(state.rows && state.rows !== "groups" ? ["--" + state.rows] : [])];
  },
  async show(root, app, signal) {
    const question = app.window();
    if (question.from === undefined && question.to === undefined) {
      delete question.session; // the server takes a session with a time only
    }
    const { severity, rows } = app.state;
    const found = await ask("/anomalies", { ...question, severity, rows, limit: 5000 }, signal);
    found.forEach((row) => noteNames({ [row.function]: row.otherNames ?? [] }));
    const list = h("div", { class: "groups", tabindex: "0", role: "region", "aria-label": "Anomalies" });
    const live = h("span", { role: "status" });
    const fill = (text) => {
      const match = finder(text);
      const matches = functionFinder(text);
      const chosen = found.filter((row) => !match || match(row.kind) || matches(row.function ?? "") || match(row.core ?? ""));
      list.replaceChildren(...chosen.slice(0, SHOWN).map((row) => card(row, app)));
      if (chosen.length === 0) {
        list.append(found.length === 0
          ? notice("No anomalies", "each return went where it should, and no record is missing")
          : notice("No anomaly matches", "change the search"));
      } else if (chosen.length > SHOWN) {
        list.append(notice("and " + number(chosen.length - SHOWN) + " more", "search for a kind, a function or a core"));
      }
      app.status(rows === "each" ? plural(chosen.length, "anomaly", "anomalies") : plural(chosen.length, "group of anomalies", "groups of anomalies"));
      app.keep({ search: text || undefined });
    };
    root.replaceChildren(about(app, "Anomalies",
      choice("Least severity", [["warning", "warning"], ["error", "error"]], severity ?? "warning", (value) => app.go({ severity: value })),
      choice("Rows", [["", "groups"], ["by-image", "of each image"], ["by-task", "of each task"], ["each", "each kept one"]], rows ?? "", (value) => app.go({ rows: value })),
      field("Search kinds, functions, cores", app.state.search ?? "", fill), live), list);
    fill(app.state.search ?? "");
    if (app.about().kind !== "trace") {
      let more = 0;
      follow("/anomalies/events", { core: question.core }, signal, () => {
        more++;
        live.replaceChildren(button(number(more) + " new: show them", () => app.go({}), { class: "main" }));
      }).catch(() => {});
    }
  },
};
