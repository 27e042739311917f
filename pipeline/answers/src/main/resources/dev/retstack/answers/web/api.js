// Questions to the server that these pages came from. The token stays in this tab.

import { noteNames } from "./format.js";

const KEY = "retstack-token";
const TRIES = 3;
const PROGRESS_MS = 1000; // a question that takes longer says how far it is

/** A question that was refused: what is wrong, and what to do. */
export class Refused extends Error {
  constructor(status, fact, cure) {
    super(fact);
    this.status = status;
    this.cure = cure;
  }
}

export function setToken(token) {
  sessionStorage.setItem(KEY, token);
}

async function answer(path, parameters, signal, more = {}) {
  const query = new URLSearchParams(
    Object.entries(parameters ?? {}).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  const text = query.toString();
  const token = sessionStorage.getItem(KEY);
  const response = await fetch(path + (text ? "?" + text : ""), {
    signal,
    ...more,
    headers: { ...more.headers, ...(token ? { Authorization: "Bearer " + token } : {}) },
    credentials: "same-origin",
    redirect: "error",
  }).catch((failure) => {
    if (failure.name === "AbortError") {
      throw failure;
    }
    throw new Refused(0, "the server does not answer", "see whether it still runs, then try again");
  });
  if (response.ok) {
    return response;
  }
  const said = await response.json().catch(() => ({}));
  const refused = new Refused(response.status, said.error ?? "the answer is " + response.status, said.cure ?? "try again");
  refused.wait = Number(response.headers.get("Retry-After") ?? 0);
  throw refused;
}

/** Says how far a long reading of a trace is, for as long as a question about it waits. */
function tellProgress() {
  let timer;
  const look = async () => {
    const about = await answer("/about").then((one) => one.json()).catch(() => null);
    const now = about?.readings?.at(-1) ?? (about?.kind === "trace" && about.phase !== "ready" ? about : null);
    if (timer !== null && now) {
      dispatchEvent(new CustomEvent("retstack-waits", { detail: now }));
    }
    timer = timer === null ? null : setTimeout(look, PROGRESS_MS);
  };
  timer = setTimeout(look, PROGRESS_MS);
  return () => {
    clearTimeout(timer);
    timer = null;
  };
}

/** Asks, and asks again where the server is busy; as long as it takes where it still reads its trace. */
async function patient(path, parameters, signal) {
  const told = tellProgress();
  try {
    return await repeated(path, parameters, signal);
  } finally {
    told();
  }
}

async function repeated(path, parameters, signal) {
  for (let left = TRIES; ; left--) {
    try {
      return await answer(path, parameters, signal);
    } catch (refused) {
      const reads = refused.status === 503 && refused.message.startsWith("the trace is being read");
      if (!reads && (refused.status !== 429 || left <= 1)) {
        throw refused;
      }
      await new Promise((go) => setTimeout(go, 1000 * Math.min(5, Math.max(1, refused.wait))));
      signal?.throwIfAborted();
    }
  }
}

export async function ask(path, parameters, signal) {
  const said = await (await patient(path, parameters, signal)).json();
  noteNames(said.otherNames ?? {});
  return said;
}

export async function askText(path, parameters, signal) {
  return (await patient(path, { ...parameters, format: "text" }, signal)).text();
}

/** Puts a column into rows. It came in steps, as Json.Steps of the server writes them; of words come their places in texts. */
function fill(rows, key, column, texts) {
  let last = 0;
  let at = 0;
  for (const one of column) {
    const [step, times] = Array.isArray(one) ? one : [one, 1];
    for (let i = 0; i < times; i++) {
      last += typeof step === "number" ? step : 0;
      rows[at++][key] = step === null ? undefined : texts ? texts[last] : typeof step === "string" ? Number(step) : last;
    }
  }
}

/** Rows that came column by column, as objects; or put into those that are there. */
export function rowsOf({ count, numbers, words, texts }, rows = Array.from({ length: count }, () => ({}))) {
  Object.entries(numbers).forEach(([key, column]) => fill(rows, key, column));
  Object.entries(words).forEach(([key, column]) => fill(rows, key, column, texts));
  return rows;
}

/** The cores, all of them, and of which partitions they are. */
export async function askCores(signal) {
  const answer = await ask("/cores", { limit: 50000, as: "columns" }, signal);
  return { ...answer, cores: rowsOf(answer.cores) };
}

/** Does something again and again, at the earliest after a rest, while the page is in sight and until it is left. */
export function again(what, rest, signal, failed) {
  let timer;
  const turn = async () => {
    try {
      if (!document.hidden) {
        await what();
      }
    } catch (failure) {
      if (signal.aborted) {
        return;
      }
      failed(failure);
    }
    timer = setTimeout(turn, rest());
  };
  timer = setTimeout(turn, rest());
  signal.addEventListener("abort", () => clearTimeout(timer));
}

/** Time from one look at the cores to the next, in milliseconds. */
export const coresRest = (cores) => (cores > 2000 ? 10_000 : 2000);

/** Follows server-sent events until the signal; each event's data is JSON. */
export async function follow(path, parameters, signal, onevent, more) {
  const response = await answer(path, parameters, signal, more);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5));
      if (data.length > 0) {
        onevent(JSON.parse(data.join("\n")));
      }
    }
  }
}

/** Gives a command to fleets, with the token of this start of the server; each event is an answer. */
export function command(body, token, signal, onevent) {
  return follow("/control/commands", {}, signal, onevent, {
    method: "POST",
    body: JSON.stringify(body),
    headers: { "Content-Type": "application/json", "Retstack-Page-Token": token },
  });
}
