// Two cores by function and image: what one has more of than the other.
import { ask } from "./api.js";
import { choice, field, h, name, notice } from "./dom.js";
import { Icicle, leftOut, pair, stacks } from "./flame.js";
import { coreNames } from "./functions.js";
import { functionFinder, number, percent, plural, time, unitName } from "./format.js";
import { DataTable } from "./table.js";

const MIXED = "The cores count in different units: their times cannot be compared.";
const MERGE = "retstack merge old.avro new.avro -o both.avro";
const VIEW = "retstack view both.avro";
const sign = (value) => (value > 0 ? "+" : "") + number(value);

/** How much more of something there is, as a share of what there was. */
function more(a, b) {
  return a === b ? "0 %" : a === 0 ? "only B" : b === 0 ? "only A" : (b > a ? "+" : "−") + percent(Math.abs((100 * (b - a)) / a));
}

/** What is to be sorted by: of what only B has, the most. */
const shareOf = (a, b) => (a === b ? 0 : a === 0 ? Number.MAX_VALUE : (b - a) / a);

/** All rows of both sides together. */
function sums(rows, unit, hint) {
  const sum = (key) => rows.reduce((all, row) => all + row[key], 0);
  const side = (one) => [h("b", {}, time(sum("self" + one), unit)), " in ", h("b", {}, number(sum("calls" + one))), " calls"];
  return h("div", { class: "facts" }, h("span", {}, "A: ", ...side("A")), h("span", {}, "B: ", ...side("B")),
    h("span", {}, "B − A: ", h("b", {}, more(sum("selfA"), sum("selfB"))), " time, ", h("b", {}, more(sum("callsA"), sum("callsB"))), " calls"), hint ?? "");
}

/** Rows of two reports, by the names of the function and of the file that it is in: two builds have one name. */
export function differences(first, second) {
  const rows = new Map();
  const add = (report, side) => {
    for (const one of report.functions) {
      const key = JSON.stringify([one.name, one.image]);
      const row = rows.get(key) ?? { name: one.name, image: one.image, callsA: 0, callsB: 0, selfA: 0, selfB: 0, totalA: 0, totalB: 0 };
      row["calls" + side] += one.calls;
      row["self" + side] += one.self;
      row["total" + side] += one.total;
      rows.set(key, row);
    }
  };
  add(first, "A");
  add(second, "B");
  return [...rows.values()].map((row) => ({ ...row, calls: row.callsB - row.callsA, self: row.selfB - row.selfA, size: Math.abs(row.selfB - row.selfA) }));
}

export default {
  title: "Compare",
  keys: [["← → ↑ ↓, Enter, Esc", "in the icicle: as in Flame"]],
  command(state) {
    return ["report", ...(state.core ? ["--core", state.core] : [])];
  },
  async show(root, app, signal) {
    const cores = await app.cores(signal);
    if (cores.length < 2) {
      root.replaceChildren(notice("There is one core, and two are compared",
        app.about().kind === "trace" ? "put two traces into one file, and view that: the cores of both are in it" : "start a second core",
        app.about().kind === "trace" ? h("pre", { class: "code" }, MERGE + "\n" + VIEW) : null));
      return;
    }
    cores.sort((a, b) => (a.core < b.core ? -1 : a.core > b.core ? 1 : 0));
    const called = coreNames(cores);
    const keyOf = (core) => JSON.stringify([core.core, core.session]);
    const options = cores.slice(0, 2000).map((core) => [keyOf(core), called(core)]);
    const find = (core, session, otherwise) => keyOf(cores.find((one) => one.core === core && (!session || one.session === session)) ?? otherwise);
    const first = find(app.state.core, app.state.session, cores[0]);
    const second = find(app.state.core2, app.state.session2, cores.find((core) => keyOf(core) !== first));
    const chosen = (key) => {
      const [core, session] = JSON.parse(key);
      return { core, session };
    };
    const choose = (value, suffix) => {
      const { core, session } = chosen(value);
      app.go({ ["core" + suffix]: core, ["session" + suffix]: session });
    };
    const bar = (controls) => h("div", { class: "bar" }, h("h1", {}, "Compare"),
      choice("A", options, first, (value) => choose(value, "")), choice("B", options, second, (value) => choose(value, "2")),
      choice("As", [["", "table"], ["icicle", "icicle"]], app.state.as ?? "", (value) => app.go({ as: value || undefined })), ...controls);
    if (app.state.as === "icicle") {
      const found = await Promise.all([first, second].map((one) => stacks(chosen(one), signal)));
      const left = found.map(leftOut).map((text, i) => text && h("span", { class: "left" }, "AB"[i] + ": " + text));
      const units = new Set(found.map((one) => one.unit));
      new Icicle(root, app, signal, { tree: pair(found[0].root, found[1].root), unit: found[0].unit,
        bar: (controls) => bar([...controls, ...left]) }).soon();
      app.status(units.size > 1 ? MIXED : "Red: B has more. Blue: B has less. A width is the sum of both.");
      return;
    }
    const ofTraces = app.about().kind === "trace" ? h("span", {}, "Two traces are compared as one: " + MERGE) : null;
    const of = (key) => ask("/report", chosen(key), signal);
    const a = await of(first);
    const b = await of(second);
    const rows = differences(a, b);
    const word = unitName(a.unit);
    const table = new DataTable({
      label: "Differences", sort: app.state.sort ?? "-size", onsort: (sort) => app.keep({ sort }),
      columns: [
        { key: "name", head: "Function", cell: (row) => name(row.name) },
        { key: "size", head: "Self B − A, " + word, num: true, cell: (row) => h("span", { class: row.self > 0 ? "bad" : row.self < 0 ? "good" : "dim" }, sign(row.self)) },
        { key: "share", head: "B − A, %", num: true, value: (row) => shareOf(row.selfA, row.selfB), cell: (row) => h("span", {}, more(row.selfA, row.selfB)), title: "in percent of A" },
        { key: "selfA", head: "Self A", num: true }, { key: "selfB", head: "Self B", num: true },
        { key: "totalA", head: "Total A", num: true, title: "time in the function and what it called" }, { key: "totalB", head: "Total B", num: true },
        { key: "calls", head: "Calls B − A", num: true, cell: (row) => sign(row.calls) },
        ...(new Set(rows.map((row) => row.image)).size > 1 ? [{ key: "image", head: "Image", cell: (row) => name(row.image ?? "", 40) }] : []),
        { key: "callsA", head: "Calls A", num: true }, { key: "callsB", head: "Calls B", num: true },
      ],
    });
    const fill = (text) => {
      const match = functionFinder(text);
      table.show(match ? rows.filter((row) => match(row.name)) : rows);
    };
    root.replaceChildren(bar([field("Search functions", "", fill)]), sums(rows, a.unit, ofTraces), table.element);
    fill("");
    const differ = rows.filter((row) => row.calls !== 0 || row.self !== 0).length;
    app.status(number(differ) + " of " + plural(rows.length, "function differs", "functions differ"));
    if (a.unit !== b.unit) {
      app.status(MIXED);
    }
  },
};
