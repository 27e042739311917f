// What each core traces, as far as HTTP says it. Commands are given in a terminal.
import { ask } from "./api.js";
import { h, name, notice } from "./dom.js";
import { number } from "./format.js";
import { DataTable } from "./table.js";

export default {
  title: "Control",
  command: () => ["cores"],
  async show(root, app, signal) {
    const { cores } = await ask("/cores", { limit: 50000 }, signal);
    if (cores.length === 0) {
      root.replaceChildren(notice("No core has sent a chunk yet", "start a fleet with retstack emulate"));
      return;
    }
    const table = new DataTable({
      label: "What cores trace",
      sort: "-untraced",
      columns: [
        { key: "core", head: "Core", cell: (row) => name(row.core) },
        { key: "end", head: "State" },
        { key: "records", head: "Records", num: true },
        { key: "untraced", head: "Calls untraced", num: true, title: "calls that are known to have made no records" },
        { key: "session", head: "Session", cell: (row) => name(row.session, 40) },
      ],
    });
    root.replaceChildren(h("div", { class: "bar" }, h("h1", {}, "Control")),
      h("p", { class: "facts" }, "These pages only read. Filters, tracers and triggers are set in a terminal:"),
      h("div", { class: "facts" }, h("pre", { class: "code wrap" }, "retstack trace --help")), table.element);
    table.show(cores);
    app.status(number(cores.length) + " cores");
  },
};
