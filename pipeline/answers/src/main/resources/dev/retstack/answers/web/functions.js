// The report as a table, and who called whom.
import { ask } from "./api.js";
import { button, choice, field, h, name, notice } from "./dom.js";
import { durations } from "./durations.js";
import { cut, functionFinder, number, otherNames, percent, plural, time, unitName } from "./format.js";
import { DataTable } from "./table.js";

const CHOICES = 2000;

/** Rows of images, not of programs. */
const APART = "by-image";

/** Characters of a file and line that are shown; the title has more. */
const SOURCE = 400;

/** Other names of a function that are shown. */
const NAMES = 20;

/** Which ISA a row is of, and which image: of several there is only the program. */
const isa = (row) => row.isa ?? number(row.isas) + " ISAs";
const image = (row) => row.image ?? row.program + ", " + number(row.images) + " images";

/** Columns of a report's functions; times are exact, in the unit of the cores. */
export function reportColumns({ unit, functions }) {
  const word = unitName(unit);
  const tookTurns = functions.some((row) => row.wall !== row.total);
  return [
    { key: "name", head: "Function", cell: (row) => name(row.name) },
    { key: "calls", head: "Calls", num: true },
    { key: "self", head: "Self, " + word, num: true, title: "time in the function alone" },
    { key: "total", head: "Total, " + word, num: true, title: "time in the function and what it called, while its task ran" },
    ...(tookTurns ? [{ key: "wall", head: "Wall, " + word, num: true, title: "from begin to end, with the time in which other tasks ran" }] : []),
    { key: "avg", head: "Average, " + word, num: true },
    { key: "min", head: "Least, " + word, num: true },
    { key: "max", head: "Most, " + word, num: true },
    { key: "isa", head: "ISA", value: isa },
    { key: "image", head: "Image", value: image, cell: (row) => name(image(row), 40) },
  ];
}

/** Whether a row of a timeline is one call: all that takes time in it is the longest. */
export function isOneCall(row) {
  return row.kind === "CALLS" && (row.function !== undefined || (row.calls <= 1 && row.exit > row.enter
    && row.busy === Math.min(row.exit, row.to) - Math.max(row.enter, row.from)));
}

/** When the first call of a timeline's rows begins, or the first of what is missing; undefined where there is nothing. */
export function firstTime(rows) {
  const times = rows.filter((row) => row.kind === "CALLS" || row.kind === "LOSSES").map((row) => (isOneCall(row) || row.calls === 1 ? Math.max(0, row.enter) : row.from));
  return times.length === 0 ? undefined : times.reduce((least, one) => Math.min(least, one));
}

/** In the order of their names. */
export function byName(cores) {
  return cores.sort((a, b) => (a.core < b.core ? -1 : a.core > b.core ? 1 : 0));
}

/** What cores are called: with their sessions, where there are several. */
export function coreNames(cores) {
  const several = new Set(cores.map((one) => one.session)).size > 1;
  return (one) => (several ? one.core + " · session " + one.session : one.core);
}

/** The core that the address names, if it is there. */
export function chosenCore(app, cores) {
  const { core, session } = app.state;
  return cores.find((one) => one.core === core && (!session || one.session === session));
}

/** Which core a page is about; another one is shown from its beginning. */
export function coreChoice(app, cores, all) {
  const key = (one) => JSON.stringify([one.core, one.session]);
  const chosen = chosenCore(app, cores);
  const shown = byName(cores).slice(0, CHOICES);
  const called = coreNames(cores);
  const options = [...(all ? [["", all]] : []), ...[...(chosen && !shown.includes(chosen) ? [chosen] : []), ...shown].map((one) => [key(one), called(one)])];
  return choice("Core", options, chosen ? key(chosen) : "", (value) => {
    const [core, session] = value ? JSON.parse(value) : [];
    app.go({ core, session, from: undefined, to: undefined });
  });
}

/** A bar over a table that says which time and core it is about, and leads back to all. */
export function about(app, title, ...more) {
  const { core, from, to } = app.state;
  const parts = [];
  if (core) {
    parts.push("core ", name(core, 40), " ");
  }
  if (from !== undefined || to !== undefined) {
    parts.push("time " + number(from ?? 0) + " to " + (to === undefined ? "the end" : number(to)) + " ");
  }
  const limited = parts.length > 0
    ? h("span", { class: "row" }, h("span", {}, "Of ", ...parts),
      button("All", () => app.go({ core: undefined, session: undefined, from: undefined, to: undefined }), { "aria-label": "Of all cores and times" }))
    : null;
  return h("div", { class: "bar" }, h("h1", {}, title), ...more, limited);
}

function edgeTable(label, edges, key, app, unit) {
  const table = new DataTable({
    label,
    sort: "-calls",
    more: "short",
    onopen: (row) => app.go({ search: row[key], page: "functions", open: row[key] }),
    columns: [
      { key, head: label, cell: (row) => name(row[key], 60) },
      { key: "calls", head: "Calls", num: true },
      { key: "total", head: "Total, " + unitName(unit), num: true },
    ],
  });
  table.show(edges);
  return table.element;
}

/** Where a function begins in its source, in a place that stays empty if its image has no lines. */
export async function source(place, app, signal, of) {
  try {
    const report = await ask("/report", { ...app.window(), unit: app.state.unit }, signal);
    const row = report.functions.find((one) => one.name === of && one.source);
    if (row) {
      place.replaceChildren("Source: ", name(row.source, SOURCE));
    }
  } catch (failure) {
    if (failure.name !== "AbortError") {
      place.replaceChildren("Its source line did not come: " + cut(failure.message, 200));
    }
  }
}

export default {
  title: "Functions",
  command(state) {
    const options = Object.entries({ core: state.core, session: state.session, from: state.from, to: state.to, unit: state.unit })
      .filter(([, value]) => value !== undefined);
    return ["report", ...options.flatMap(([key, value]) => ["--" + key, value]), ...(state.rows === APART ? ["--" + APART] : [])];
  },
  async show(root, app, signal) {
    const apart = app.state.rows === APART;
    const report = await ask("/report", { ...app.window(), unit: app.state.unit, rows: apart ? APART : undefined }, signal);
    const facts = h("div", { class: "facts" }, h("span", {}, h("b", {}, number(report.records)), " records"),
      h("span", {}, h("b", {}, number(report.lost)), " lost"),
      h("span", {}, h("b", {}, percent(report.completeness)), " complete"),
      h("span", {}, h("b", {}, number(report.functions.length)), report.functions.length === 1 ? " function" : " functions"),
      ...Object.entries(report.otherUnits ?? {}).map(([unit, cores]) => button(plural(cores, "core") + " in " + unit.toLowerCase(),
        () => app.go({ unit: unit.toLowerCase() }), { title: "not in these figures: shows them" })),
      h("span", {}, "hash ", h("b", { title: report.resultHash }, report.resultHash.slice(0, 12))));
    const count = h("span", { class: "dim", role: "status" });
    const side = h("section", { class: "side", hidden: true, "aria-label": "Function" });
    let opened = new AbortController();
    const open = (row) => {
      side.hidden = false;
      const edges = report.edges ?? [];
      const of = apart ? "image" : "program"; // a caller's is only there where it is another one
      const called = edges.filter((edge) => edge.callee === row.name && edge.session === row.session && edge[of] === row[of]);
      const calls = edges.filter((edge) => edge.caller === row.name && edge.session === row.session && (edge[apart ? "callerImage" : "callerProgram"] ?? edge[of]) === row[of]);
      opened.abort();
      opened = new AbortController();
      const took = h("div", {});
      const also = otherNames(row.name);
      side.replaceChildren(h("h2", {}, name(row.name, 200)),
        h("dl", {}, ...[...(row.address ? [["Address", row.address]] : []), ["Image", name(image(row))], ...(row.session ? [["Session", name(row.session)]] : []), ["ISA", isa(row)], ["Calls", number(row.calls)],
          ...(also.length > 0 ? [["Also named", name(also.slice(0, NAMES).join(", ") + (also.length > NAMES ? " and " + number(also.length - NAMES) + " more" : ""), SOURCE)]] : []),
          ...(row.source ? [["Source", name(row.source, SOURCE)]] : []), ["Self", time(row.self, report.unit)], ["Total", time(row.total, report.unit)],
          ...(row.wall === row.total ? [] : [["Wall", time(row.wall, report.unit)]]), ["Average", time(row.avg, report.unit)]]
          .flatMap(([key, value]) => [h("dt", {}, key), h("dd", {}, value)])),
        h("div", { class: "row end" }, button("On the timeline", () => app.go({ page: "timeline", search: row.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") })),
          button("Close", () => {
            side.hidden = true;
            table.element.focus();
          })),
        h("h3", {}, apart ? "Durations, in all images" : "Durations"), took,
        h("h3", {}, "Called by"), edgeTable("Caller", called, "caller", app, report.unit),
        h("h3", {}, "Calls"), edgeTable("Callee", calls, "callee", app, report.unit));
      durations(took, app, AbortSignal.any([signal, opened.signal]), row.name, row.session);
      app.keep({ open: row.name });
    };
    const table = new DataTable({
      label: "Functions", sort: app.state.sort ?? "-self", onopen: open,
      columns: [...reportColumns(report),
        ...(report.functions.some((row) => row.session) ? [{ key: "session", head: "Session", cell: (row) => name(row.session ?? "", 40) }] : []),
        ...(report.functions.some((row) => row.source) ? [{ key: "source", head: "Source", cell: (row) => name(row.source ?? "", 60) }] : [])],
      onsort: (sort) => app.keep({ sort }),
    });
    const fill = (text) => {
      const match = functionFinder(text);
      const rows = match ? report.functions.filter((row) => match(row.name)) : report.functions;
      table.show(rows);
      count.textContent = match ? number(rows.length) + " of " + plural(report.functions.length, "function") : "";
      app.keep({ search: text || undefined });
    };
    const body = report.functions.length === 0
      ? notice("No function was called in this time", "choose another time on the timeline, or all of it")
      : h("div", { class: "split" }, table.element, side);
    root.replaceChildren(about(app, "Functions",
      choice("Rows", [["", "functions"], [APART, "of each image"]], apart ? APART : "", (value) => app.go({ rows: value })),
      field("Search functions", app.state.search ?? "", fill), count), facts, body);
    fill(app.state.search ?? "");
    const first = report.functions.find((row) => row.name === app.state.open) ?? report.functions.find((row) => otherNames(row.name).includes(app.state.open));
    if (first) {
      open(first);
    }
    app.status(plural(report.functions.length, "function") + " of " + plural(report.records, "record"));
  },
};
