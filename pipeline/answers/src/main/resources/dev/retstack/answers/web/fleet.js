// Cores, members and partitions of a job, looked at again while the page is open.
import { again, ask, askCores, coresRest } from "./api.js";
import { choice, field, h, name, notice } from "./dom.js";
import { cut, finder, number } from "./format.js";
import { DataTable, seen } from "./table.js";

const PAST_MS = 5000;
const BAD = /DEAD|BROKEN|FAULT|FAILED/;

/** Which cores are listed. */
const ONLY = {
  "": ["all", () => true],
  running: ["that run", (row) => row.end === "RUNNING"],
  failed: ["that failed or are dead", (row) => BAD.test(row.end)],
  anomalies: ["with anomalies", (row) => row.anomalies > 0],
  losses: ["with losses", (row) => row.lost > 0],
};

export default {
  title: "Fleet",
  command: () => ["cores"],
  async show(root, app, signal) {
    const rates = new Map();
    let lags = new Map();
    let before = null;
    let cores = [];
    const state = (row) => {
      const end = String(row.end);
      const look = end === "RUNNING" ? "good" : BAD.test(end) ? "bad" : "dim";
      const since = row.deadSince ? " since " + new Date(row.deadSince).toLocaleTimeString() : "";
      return h("span", { class: look }, end + since);
    };
    const key = (row) => JSON.stringify([row.session, row.core]);
    const table = new DataTable({
      label: "Cores", sort: app.state.sort ?? "core", more: "narrow", onsort: (sort) => app.keep({ sort }),
      onopen: (row) => app.go({ page: "timeline", core: row.core, session: row.session, from: undefined, to: undefined }),
      columns: [
        { key: "core", head: "Core", cell: (row) => name(row.core, 60) },
        { key: "end", head: "State", cell: state },
        { key: "rate", head: "Records/s", num: true, value: (row) => rates.get(key(row)) },
        { key: "anomalies", head: "Anomalies", num: true, title: "warnings and errors" },
        { key: "lost", head: "Lost", num: true },
        { key: "open", head: "Depth", num: true, title: "calls that are open, of all its tasks" },
        { key: "records", head: "Records", num: true },
        { key: "untraced", head: "Untraced", num: true },
        { key: "time", head: "Time", num: true, title: "in the unit of the core" },
        { key: "chunks", head: "Chunks", num: true },
        { key: "isa", head: "ISA" },
        { key: "imageName", head: "Image", cell: (row) => name(row.imageName ?? "", 40) },
        { key: "lag", head: "Lag", num: true, title: "Kafka records of its partition that are not counted yet",
          value: (row) => lags.get(row.partition), cell: (row) => h("span", {}, number(lags.get(row.partition)) || "unknown") },
        { key: "partition", head: "Partition", num: true },
        { key: "exitCode", head: "Exit", num: true },
        { key: "endDetail", head: "How it ended", cell: (row) => name(row.endDetail ?? "", 80) },
        { key: "session", head: "Session", cell: (row) => name(row.session, 40) },
      ],
    });
    const facts = h("div", { class: "facts" });
    const members = h("div", { class: "facts" });
    const past = (await import("./curves.js")).curves(signal);
    let untold = [];
    let match = finder(app.state.search);
    let only = Object.hasOwn(ONLY, app.state.only ?? "") ? app.state.only ?? "" : "";
    const fill = () => {
      const listed = cores.filter((row) => ONLY[only][1](row) && (!match || [row.core, row.end, row.isa, row.imageName].some((text) => match(text ?? ""))));
      table.show(listed);
      app.status(number(listed.length) + (listed.length < cores.length ? " of " + number(cores.length) : "") + (cores.length === 1 ? " core" : " cores"));
    };
    const filter = (changes) => {
      const begun = performance.now();
      app.keep(changes);
      fill();
      seen("rows-filtered", begun);
    };
    root.replaceChildren(h("div", { class: "bar" }, h("h1", {}, "Fleet"),
      field("Search cores, states, ISAs, images", app.state.search ?? "", (text) => {
        match = finder(text);
        filter({ search: text || undefined });
      }),
      choice("Cores", Object.entries(ONLY).map(([key, [text]]) => [key, text]), only, (key) => {
        only = key;
        filter({ only: key || undefined });
      })), facts, past.element, members, table.element);

    const look = async () => {
      const answer = await askCores(signal);
      const now = performance.now();
      cores = answer.cores;
      lags = new Map((answer.parts ?? []).map((part) => [part.partition, part.lag]));
      const sum = (field) => cores.reduce((all, row) => all + (row[field] ?? 0), 0);
      const counts = new Map(cores.map((row) => [key(row), row.records]));
      if (before) {
        const seconds = (now - before.at) / 1000;
        for (const [core, count] of counts) {
          rates.set(core, Math.max(0, Math.round((count - (before.counts.get(core) ?? count)) / seconds)));
        }
      }
      before = { at: now, counts };
      const running = cores.filter((row) => row.end === "RUNNING").length;
      const dead = cores.filter((row) => row.end === "DEAD").length;
      facts.replaceChildren(...[[cores.length, " cores"], [running, " running"], [dead, " dead"], [sum("records"), " records"], [sum("lost"), " lost"]]
        .map(([count, what]) => h("span", {}, h("b", {}, number(count)), what)));
      if (cores.length === 0) {
        table.element.replaceChildren(notice("No core has sent a chunk yet", "start a fleet with retstack emulate"));
      } else {
        if (!table.table.isConnected) {
          table.element.replaceChildren(table.table);
        }
        fill();
      }
    };
    const people = async () => {
      const { nodes, parts } = await ask("/parts", {}, signal);
      members.replaceChildren(...nodes.map((node) => h("span", {}, "member ", h("b", {}, name(node.node, 40)), " ",
        h("span", { class: node.state === "up" ? "good" : "bad" }, node.state + (node.reason ? ": " + node.reason : "")),
        " · partitions " + (parts.filter((part) => part.node === node.node).map((part) => part.partition).join(", ") || "none"))),
      ...parts.filter((part) => part.missing).map((part) => h("span", { class: "bad" }, "partition " + part.partition + " is missing: " + part.missing)),
      ...untold.map((why) => h("span", { class: "bad" }, "the curves lack member " + cut(why, 200))));
    };
    await look();
    if (cores.length === 0) {
      app.status("0 cores");
    }
    untold = await past.look();
    await people();
    let looked = performance.now();
    again(async () => {
      await look();
      if (performance.now() - looked > PAST_MS) {
        looked = performance.now();
        untold = await past.look();
      }
      await people();
    }, () => coresRest(cores.length), signal, (failure) => app.status(failure.message));
  },
};
