// Two cores by function and image: what one has more of than the other.
import { ask } from "./api.js";
import { choice, field, h, name, notice } from "./dom.js";
import { Icicle, leftOut, pair, stacks } from "./flame.js";
import { coreNames } from "./functions.js";
import { finder, number, plural, unitName } from "./format.js";
import { DataTable } from "./table.js";

const MIXED = "The cores count in different units: their times cannot be compared.";
const sign = (value) => (value > 0 ? "+" : "") + number(value);

/** Rows of two reports, by the names of the function and of the file that it is in: two builds have one name. */
export function differences(first, second) {
  const rows = new Map();
  const add = (report, side) => {
    for (const one of report.functions) {
      const key = JSON.stringify([one.name, one.image]);
      const row = rows.get(key) ?? { name: one.name, image: one.image, callsA: 0, callsB: 0, selfA: 0, selfB: 0 };
      row["calls" + side] += one.calls;
      row["self" + side] += one.self;
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
      root.replaceChildren(notice("There are not two cores to compare", "record two cores, or start a second one"));
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
        { key: "selfA", head: "Self A", num: true }, { key: "selfB", head: "Self B", num: true },
        { key: "calls", head: "Calls B − A", num: true, cell: (row) => sign(row.calls) },
        ...(new Set(rows.map((row) => row.image)).size > 1 ? [{ key: "image", head: "Image", cell: (row) => name(row.image ?? "", 40) }] : []),
        { key: "callsA", head: "Calls A", num: true }, { key: "callsB", head: "Calls B", num: true },
      ],
    });
    const fill = (text) => {
      const match = finder(text);
      table.show(match ? rows.filter((row) => match(row.name)) : rows);
    };
    root.replaceChildren(bar([field("Search functions", "", fill)]), table.element);
    fill("");
    const differ = rows.filter((row) => row.calls !== 0 || row.self !== 0).length;
    app.status(number(differ) + " of " + plural(rows.length, "function differs", "functions differ"));
    if (a.unit !== b.unit) {
      app.status(MIXED);
    }
  },
};
