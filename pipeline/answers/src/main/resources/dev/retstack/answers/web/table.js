// A table of any length: only the rows in sight are elements.
import { h } from "./dom.js";
import { cut, number } from "./format.js";

const ROW = 28;
const SPARE = 10;

/** Measures until what was begun is on the screen. */
export function seen(what, begun) {
  requestAnimationFrame(() => setTimeout(() => performance.measure(what, { start: begun })));
}

/**
 * Columns are {key, head, title, num, value(row), cell(row)}. Rows are sorted by a column; arrows
 * move between rows, Enter opens one.
 */
export class DataTable {
  constructor({ label, columns, sort, onsort, onopen, more }) {
    this.columns = columns;
    this.rows = [];
    this.active = -1;
    this.onopen = onopen;
    this.onsort = onsort;
    this.sort = sort ?? columns[0].key;
    this.head = h("tr", {});
    this.body = h("tbody", {});
    this.table = h("table", { "aria-label": label, class: onopen ? "open" : null }, h("thead", {}, this.head), this.body);
    this.element = h("div", { class: "table " + (more ?? ""), tabindex: "0", role: "region", "aria-label": label,
      onscroll: () => this.draw(), onkeydown: (event) => this.key(event) }, this.table);
    this.element.addEventListener("scroll", () => this.edges());
    this.observer = new ResizeObserver(() => this.draw());
    this.observer.observe(this.element);
    this.heads();
  }

  heads() {
    this.head.replaceChildren(...this.columns.map((column) => {
      const is = this.sort.replace(/^-/, "") === column.key;
      const order = this.sort.startsWith("-") ? "descending" : "ascending";
      return h("th", { scope: "col", class: column.num ? "num" : null, "aria-sort": is ? order : null },
        h("button", { type: "button", title: column.title ?? null, onclick: () => this.by(column) }, column.head,
          h("span", { class: "arrow", "aria-hidden": "true" }, is ? (order === "ascending" ? " ▲" : " ▼") : "")));
    }));
  }

  by(column) {
    const now = this.sort.replace(/^-/, "") === column.key;
    const begun = performance.now();
    const down = now ? !this.sort.startsWith("-") : Boolean(column.num);
    this.sort = (down ? "-" : "") + column.key;
    this.heads();
    const index = this.columns.indexOf(column);
    this.head.children[index].firstChild.focus();
    this.show(this.rows);
    this.onsort?.(this.sort);
    seen("rows-sorted", begun);
  }

  /** Shows these rows, sorted. */
  show(rows) {
    const column = this.columns.find((one) => one.key === this.sort.replace(/^-/, "")) ?? this.columns[0];
    const sign = this.sort.startsWith("-") ? -1 : 1;
    const value = column.value ?? ((row) => row[column.key]);
    const key = column.num ? (row) => Number(value(row) ?? -1) : (row) => String(value(row) ?? "");
    this.rows = rows.map((row) => ({ row, key: key(row) }))
      .sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : 0))
      .map((one) => one.row);
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.draw();
  }

  draw() {
    const top = Math.max(0, Math.floor(this.element.scrollTop / ROW) - SPARE);
    const seen = Math.ceil((this.element.clientHeight || 600) / ROW) + 2 * SPARE;
    const end = Math.min(this.rows.length, top + seen);
    const space = (rows) => {
      const cell = h("td", { colspan: this.columns.length });
      cell.style.height = rows * ROW + "px";
      return h("tr", { "aria-hidden": "true", class: "space" }, cell);
    };
    const shown = [];
    for (let i = top; i < end; i++) {
      shown.push(this.row(this.rows[i], i));
    }
    this.body.replaceChildren(...(top > 0 ? [space(top)] : []), ...shown,
      ...(end < this.rows.length ? [space(this.rows.length - end)] : []));
    this.edges();
  }

  /** A table that is cut at a side fades out there. */
  edges() {
    const { scrollLeft, scrollWidth, clientWidth } = this.element;
    this.element.classList.toggle("cut-right", scrollWidth - clientWidth - scrollLeft > 1);
    this.element.classList.toggle("cut-left", scrollLeft > 1);
  }

  row(row, i) {
    const cells = this.columns.map((column) => {
      const raw = column.cell ? column.cell(row) : column.value ? column.value(row) : row[column.key];
      const text = raw instanceof Node ? raw : column.num ? number(raw) : cut(String(raw ?? ""), 120);
      return h("td", { class: column.num ? "num" : null }, text);
    });
    return h("tr", { "aria-rowindex": i + 2, class: i === this.active ? "active" : null,
      onclick: () => this.open(i) }, cells);
  }

  open(i) {
    this.active = i;
    this.draw();
    this.onopen?.(this.rows[i]);
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.target !== this.element) {
      return;
    }
    if (event.key in steps && this.rows.length > 0) {
      event.preventDefault();
      this.active = Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key]));
      const y = this.active * ROW;
      const top = this.element.scrollTop;
      const inner = this.element.clientHeight - 2 * ROW;
      this.element.scrollTop = y < top ? y : y > top + inner ? y - inner : top;
      this.draw();
    } else if (event.key === "Enter" && this.active >= 0) {
      event.preventDefault();
      this.open(this.active);
    }
  }
}
