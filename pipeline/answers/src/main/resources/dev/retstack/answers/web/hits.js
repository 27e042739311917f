// Where the calls are that a search finds, over all the time of the cores that are shown, and which of them is at hand.
import { ask, rowsOf } from "./api.js";
import { number, plural } from "./format.js";

const REST_MS = 250; // a text that is left alone so long is searched for
const NONE = { calls: 0, functions: 0, stretch: 1, list: [] };

export class Hits {
  /** @param sight gives the time in sight; @param changed is called whenever the words or the list are others */
  constructor(signal, sight, changed) {
    this.signal = signal;
    this.sight = sight;
    this.changed = changed;
    this.forget();
  }

  forget() {
    Object.assign(this, NONE, { at: -1, words: "" });
  }

  /** Searches soon for what is asked of the server; nothing where it is null. */
  look(question) {
    clearTimeout(this.waiting);
    this.asked?.abort();
    this.forget();
    this.ready = null;
    if (question === null) {
      this.changed();
      return;
    }
    this.say("searching …");
    this.question = question;
    this.waiting = setTimeout(() => this.begin(), REST_MS);
  }

  /** Searches now for what was to be searched for; gives what is on the way, where it is. */
  begin() {
    clearTimeout(this.waiting);
    this.ready ??= this.search();
    return this.ready;
  }

  async search() {
    this.asked = new AbortController();
    const signal = AbortSignal.any([this.signal, this.asked.signal]);
    try {
      const { calls, functions, stretch, hits } = await this.found(signal);
      let before = 0;
      const list = rowsOf(hits).map((hit) => {
        const row = { ...hit, kind: "CALLS", from: hit.enter, to: hit.exit, busy: hit.exit - hit.enter, stands: hit.calls, calls: 1, number: before + 1 };
        before += hit.calls;
        return row;
      });
      Object.assign(this, { calls, functions, stretch, list });
      this.say(this.all());
    } catch (failure) {
      if (!signal.aborted) {
        this.say(failure.message + (failure.cure ? ": " + failure.cure : ""));
      }
    }
  }

  /** Over all the time; where a running job cannot read so much again, of what is in sight. */
  async found(signal) {
    const question = { ...this.question, as: "columns" };
    this.where = "";
    try {
      return await ask("/hits", question, signal);
    } catch (refused) {
      if (refused.status !== 413) {
        throw refused;
      }
      const [from, to] = this.sight();
      this.where = " in sight";
      return ask("/hits", { ...question, from, to }, signal);
    }
  }

  say(words) {
    this.words = words;
    this.changed();
  }

  all() {
    return this.calls === 0 ? "no call" + this.where + " matches"
      : plural(this.calls, "call") + " of " + plural(this.functions, "function") + this.where;
  }

  /** The hit at hand, or null. */
  get current() {
    return this.list[this.at] ?? null;
  }

  /** The next one, or with -1 the one before: of that at hand, else of a time. Behind the last one comes the first. */
  next(sign, time) {
    const { list } = this;
    if (list.length === 0) {
      return null;
    }
    const later = list.findIndex((hit) => hit.enter >= time);
    const first = sign > 0 ? (later < 0 ? 0 : later) : (later < 0 ? list.length : later) - 1;
    this.at = ((this.at < 0 ? first : this.at + sign) + list.length) % list.length;
    const hit = this.current;
    const behind = hit.stands > 1 ? " to " + number(hit.number + hit.stands - 1) : "";
    this.say(number(hit.number) + behind + " of " + number(this.calls) + this.where + " · at " + number(hit.enter));
    return hit;
  }
}
