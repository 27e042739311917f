// Elements are made of text nodes only: nothing that was asked for is ever read as markup.
import { cut } from "./format.js";

/** An element; attributes that begin with "on" are listeners, those that are null are left out. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name.startsWith("on")) {
      element.addEventListener(name.slice(2), value);
    } else if (value !== null && value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : value);
    }
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** A name of an image, core or task: on its own line of writing, cut, and whole in its title. */
export function name(text, most = 96) {
  const shown = cut(text, most);
  return h("bdi", { class: "name", title: shown.length < text.length ? cut(text) : null }, shown);
}

/** A text field with a label. */
export function field(label, value, onchange, more = {}) {
  const input = h("input", { type: "search", value, autocomplete: "off", spellcheck: "false", ...more });
  let waiting = 0;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => onchange(input.value), 150);
  });
  return h("label", { class: "field" }, h("span", {}, label), input);
}

/** A choice of [value, text]. */
export function choice(label, options, value, onchange) {
  const select = h("select", { onchange: () => onchange(select.value) },
    options.map(([key, text]) => h("option", { value: key, selected: key === value }, cut(text, 60))));
  return h("label", { class: "field" }, h("span", {}, label), select);
}

export function button(text, onclick, more = {}) {
  return h("button", { type: "button", onclick, ...more }, text);
}

/** What is shown where there is nothing else: what is so, and what to do. */
export function notice(fact, cure, more) {
  return h("div", { class: "notice" }, h("p", { class: "fact" }, cut(fact, 600)),
    h("p", {}, cut(cure ?? "", 600)), more ?? null);
}

/** A dialog that closes with Escape and gives the focus back. */
export function dialog(title, ...content) {
  const before = document.activeElement;
  const close = button("Close", () => shown.close());
  const shown = h("dialog", { "aria-label": title }, h("h2", {}, title), ...content,
    h("div", { class: "row end" }, close));
  shown.addEventListener("close", () => {
    shown.remove();
    before?.focus?.();
  });
  document.body.append(shown);
  shown.showModal();
  return shown;
}
