// The frame of all pages: which page is shown, its state in the address, theme, keys, commands.
import { first } from "./about.js";
import { Refused, ask, askCores, setToken } from "./api.js";
import { button, dialog, h, name, notice } from "./dom.js";
import { cut, number, shell } from "./format.js";
import anomalies from "./anomalies.js";
import calls from "./calls.js";
import compare from "./compare.js";
import control from "./control.js";
import flame from "./flame.js";
import fleet from "./fleet.js";
import functions from "./functions.js";
import timeline from "./timeline.js";

const PAGES = { timeline, functions, anomalies, calls, fleet, flame, compare, control };
const OF_JOBS = ["fleet", "control"]; // a recorded trace has neither
const THEMES = { "": "Theme: system", light: "Theme: light", dark: "Theme: dark" };
const KEYS = [["?", "this help"], ["1 to 8", "pages in their order"], ["c", "command for the same answer"], ["/", "search"],
  ["Tab", "next control"], ["↑ ↓ PgUp PgDn Home End", "rows of a table; Enter opens one"]];
const AGAIN_MS = 2000;
const COMMON = ["core", "session", "from", "to", "search", "fold"];

const main = document.getElementById("main");
const nav = document.getElementById("nav");
const status = document.getElementById("status");
const wide = matchMedia("(prefers-color-scheme: dark)");
let shown = new AbortController();
let about = { kind: "job", name: "" };

/** What each page is given. */
const app = {
  state: {},
  about: () => about,

  /** All cores; the index of a trace has them at once, however long the trace is. */
  async cores(signal) {
    return about.kind === "trace" && about.cores?.length > 0
      ? about.cores.map((core) => ({ ...core, time: core.to }))
      : (await askCores(signal)).cores;
  },

  /** A word for those who see and those who hear. */
  status(text) {
    const shortened = cut(text, 300);
    if (status.textContent !== shortened) {
      status.textContent = shortened;
    }
  },

  /** Changes the state in the address, without showing the page again. */
  keep(changes) {
    Object.assign(app.state, changes);
    history.replaceState(null, "", address(app.state));
    links();
  },

  /** Shows a page, with changes of the state. */
  go(changes) {
    app.state = clean({ ...app.state, ...changes });
    history.pushState(null, "", address(app.state));
    show();
  },

  /** Parameters of a question about what is chosen. */
  window() {
    const { core, session, from, to } = app.state;
    return clean({ core, session, from, to });
  },

  /** Shows why something is not there, with a way to try again. */
  failed(root, failure) {
    if (failure.name === "AbortError") {
      return;
    }
    if (failure.status === 401) {
      askToken();
    }
    if (failure.status === 503) { // a trace is being read, or a partition moves
      const again = setTimeout(show, AGAIN_MS);
      shown.signal.addEventListener("abort", () => clearTimeout(again));
    }
    const known = failure instanceof Refused;
    app.status(failure.message);
    root.replaceChildren(notice(known ? failure.message : "this page met a defect: " + failure.message,
      failure.status === 503 ? "this page asks again by itself" : known ? failure.cure : "load the page again; report it if it stays", button("Try again", show, { class: "main" })));
    if (!known) {
      console.error(failure);
    }
  },
};

function clean(state) {
  return Object.fromEntries(Object.entries(state).filter(([, value]) => value !== undefined && value !== null && value !== ""));
}

function address(state) {
  const query = new URLSearchParams(clean(state)).toString();
  return "/" + (query ? "?" + query : "");
}

function read() {
  app.state = Object.fromEntries(new URLSearchParams(location.search));
  if (!Object.hasOwn(PAGES, app.state.page)) {
    app.state.page = "timeline";
  }
}

function isThere(page) {
  return about.kind !== "trace" || !OF_JOBS.includes(page);
}

/** The pages that are offered, in their order. */
function offered() {
  return Object.keys(PAGES).filter(isThere);
}

function links() {
  const common = Object.fromEntries(COMMON.map((key) => [key, app.state[key]]));
  offered().forEach((page, i) => {
    const link = nav.children[i];
    link.href = address({ page, ...common });
    link.toggleAttribute("aria-current", page === app.state.page);
    if (page === app.state.page) {
      link.setAttribute("aria-current", "page");
    }
  });
}

function follow(event) {
  if (!event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
    event.preventDefault();
    app.state = Object.fromEntries(new URL(event.currentTarget.href).searchParams);
    history.pushState(null, "", address(app.state));
    show();
  }
}

async function show() {
  shown.abort();
  shown = new AbortController();
  const page = PAGES[app.state.page];
  document.title = page.title + " · retstack";
  links();
  openTools(false);
  const current = nav.querySelector("[aria-current]");
  if (current && matchMedia("(max-width: 700px)").matches) { // the pages do not fit
    nav.scrollLeft = current.offsetLeft - nav.offsetLeft - 60;
  }
  const root = h("div", { class: "fill" }, h("div", { class: "notice loading" }, "Loading " + page.title.toLowerCase() + " …"));
  main.replaceChildren(root);
  const signal = shown.signal;
  if (!isThere(app.state.page)) {
    const back = offered()[0];
    const fact = "A recorded trace has no page " + page.title;
    app.status(fact);
    root.replaceChildren(notice(fact, "this page is of a running job",
      h("a", { href: address({ page: back }), onclick: follow }, PAGES[back].title)));
    return;
  }
  try {
    await page.show(root, app, signal);
  } catch (failure) {
    if (!signal.aborted) {
      app.failed(root, failure);
    }
  }
}

/** How far the trace was read for the question that the page waits for. */
function progress({ phase, chunks, of }) {
  const share = of > 0 ? Math.floor((100 * chunks) / of) : 0;
  app.status("the trace is being read (" + phase + "): " + number(chunks) + " of " + number(of) + " chunks, " + share + " %");
  const waiting = main.querySelector(".loading");
  if (waiting) {
    const bar = waiting.querySelector("progress") ?? h("progress", { max: 100, "aria-label": "The trace is being read" });
    bar.value = share;
    waiting.append(bar);
  }
}

/** The command line that gives the same answer. */
function command() {
  const page = PAGES[app.state.page];
  const [verb, ...more] = page.command(app.state);
  const source = about.kind === "trace" ? [about.name] : ["--live", "--http", location.origin];
  const line = page.line?.(app.state, app) ?? ["retstack", verb, ...source, ...more].map(shell).join(" ");
  const said = h("p", { role: "status" });
  const copy = button("Copy", async () => {
    try {
      await navigator.clipboard.writeText(line);
      said.textContent = "Copied.";
    } catch {
      getSelection().selectAllChildren(text);
      said.textContent = "The browser refuses to copy. The line is selected: press Ctrl+C.";
    }
  }, { class: "main", autofocus: true });
  const text = h("pre", { class: "code wrap", tabindex: "0", id: "line" }, line);
  dialog("The same answer in a terminal", text, said, h("div", { class: "row" }, copy));
}

function help() {
  const page = PAGES[app.state.page];
  const list = h("dl", {}, [...KEYS, ...(page.keys ?? [])].flatMap(([key, what]) =>
    [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]));
  dialog("Keys", list);
}

/** On a phone the tools are a menu. */
function openTools(open) {
  document.getElementById("tools").classList.toggle("open", open);
  document.getElementById("more").setAttribute("aria-expanded", String(open));
}

function askToken() {
  if (document.querySelector("dialog")) {
    return;
  }
  const input = h("input", { type: "password", id: "token", autocomplete: "off", "aria-label": "Token" });
  const use = () => {
    setToken(input.value);
    box.close();
    start(ask("/about"));
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && use());
  const box = dialog("This server needs a token", h("p", {}, "It is in the file of --http-token-file. It stays in this tab."),
    h("div", { class: "row" }, input, button("Use it", use, { class: "main" })));
  input.focus();
}

function theme(choice) {
  const dark = choice ? choice === "dark" : wide.matches;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  document.getElementById("theme").textContent = THEMES[choice];
  dispatchEvent(new Event("retstack-theme"));
}

function nextTheme() {
  const all = Object.keys(THEMES);
  const next = all[(all.indexOf(localStorage.getItem("retstack-theme") ?? "") + 1) % all.length];
  localStorage.setItem("retstack-theme", next);
  theme(next);
}

function key(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog")) {
    return;
  }
  const page = offered()[Number(event.key) - 1];
  if (page) {
    app.go({ page });
  } else if (event.key === "?") {
    help();
  } else if (event.key === "c") {
    command();
  } else if (event.key === "/") {
    event.preventDefault();
    main.querySelector("input[type=search]")?.focus();
  }
}

/** What is asked here; a server that does not say is a job. */
async function learn(answer) {
  try {
    about = await answer;
  } catch (failure) {
    if (failure.status === 401) {
      askToken();
      return false;
    }
    about = { kind: "job", name: "" };
  }
  const isTrace = about.kind === "trace";
  nav.replaceChildren(...offered().map((page) => h("a", { href: "/", onclick: follow }, PAGES[page].title)));
  links();
  const at = document.getElementById("about");
  at.replaceChildren(isTrace ? "Trace " : "Running job ", name(isTrace ? about.name.slice(about.name.lastIndexOf("/") + 1) : about.name, 40));
  at.title = cut(about.name);
  return true;
}

async function start(answer) {
  if (await learn(answer)) {
    await show();
  }
}

document.getElementById("command").addEventListener("click", command);
document.getElementById("help").addEventListener("click", help);
document.getElementById("more").addEventListener("click", () => openTools(!document.getElementById("tools").classList.contains("open")));
document.getElementById("theme").addEventListener("click", nextTheme);
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
wide.addEventListener("change", () => theme(localStorage.getItem("retstack-theme") ?? ""));
addEventListener("retstack-waits", (event) => progress(event.detail));
addEventListener("keydown", key);
addEventListener("popstate", () => {
  read();
  show();
});
theme(localStorage.getItem("retstack-theme") ?? "");
read();
start(first);
