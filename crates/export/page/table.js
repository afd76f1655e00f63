// Tables of any length: only the rows in sight are there.

const LINE = 22;

/** Below this width names stand above their numbers, as the style sheet has it. */
const PHONE = matchMedia("(width < 600px)");

/** How wide a column of names is at least. */
const NAME_WIDTH = 160;

/**
 * A table. `columns` have a title, an explanation, a width in pixels or "rest", and of a row its
 * `text`, its `number` or its `change` (a number with a sign), and perhaps `share` (from 0 to 1, a
 * bar), `fill` (puts something else into the cell) and `sort` (the key by which a click sorts the
 * rows). Where there is little room, numbers are short, and the whole ones are their titles. `rows`
 * are set by `show`.
 */
class Table {
  constructor(element, { columns, label, role = "grid", level, select, enter, key, sorted }) {
    Object.assign(this, { element, columns, level, select, enter, key, sorted });
    this.rows = [];
    this.current = -1;
    element.classList.add("table");
    element.tabIndex = 0;
    element.setAttribute("role", role);
    element.setAttribute("aria-label", label);
    this.head = make("div", { className: "line head", role: "row" });
    this.body = make("div", { className: "lines" });
    element.replaceChildren(this.head, this.body);
    element.addEventListener("scroll", () => this.draw());
    element.addEventListener("keydown", (event) => this.pressed(event));
    element.addEventListener("click", (event) => this.clicked(event));
    element.addEventListener("dblclick", (event) => {
      const row = this.rowOf(event);
      if (row !== undefined && !event.target.closest("button")) this.enter(row);
    });
    new ResizeObserver(() => {
      this.setColumns(this.columns, this.sortedBy);
      this.draw();
    }).observe(element);
    PHONE.addEventListener("change", () => this.show(this.rows, this.current, false));
  }

  /** The height of a row. */
  get line() {
    return PHONE.matches ? 2 * LINE : LINE;
  }

  /** Scrolls back to where it is now, when what is returned is called. */
  keep() {
    const { scrollTop } = this.element;
    return () => (this.element.scrollTop = scrollTop);
  }

  /** Other columns. */
  setColumns(columns, sortedBy) {
    this.columns = columns;
    this.sortedBy = sortedBy;
    const isNumber = (column) => column.number || column.change;
    const leastOf = (widthOf) => sumOf(columns, (column) => (column.width === "rest" ? NAME_WIDTH : widthOf(column)));
    // Whole numbers if there is room for them.
    this.isShort = PHONE.matches || leastOf(({ width }) => width) > this.element.clientWidth;
    const widthOf = (column) => (this.isShort && isNumber(column) ? Math.min(column.width, widthFor("+99.9 G", column.sort ? `${column.title} ▾` : column.title)) : column.width);
    // Each line is laid out by itself, so all must get the same width.
    const widths = columns.map((column) => (column.width === "rest" ? `minmax(${NAME_WIDTH}px, 1fr)` : `${widthOf(column)}px`));
    this.element.style.setProperty("--columns", widths.join(" "));
    this.element.style.setProperty("--least", `${leastOf(widthOf)}px`);
    const numbers = columns.filter((column) => !column.fill && column.kind !== "bars").length;
    this.element.style.setProperty("--numbers", `repeat(${numbers}, minmax(0, 1fr))`);
    this.head.style.height = `${this.line}px`;
    this.head.replaceChildren(
      ...columns.map((column) => {
        const cell = make("div", { className: `cell ${column.kind ?? "number"}`, role: "columnheader", title: column.explanation });
        if (!column.sort) {
          cell.textContent = column.title;
          if (column.spoken) cell.append(make("span", { className: "spoken", textContent: column.spoken }));
          return cell;
        }
        const button = make("button", { textContent: column.title, className: "plain" });
        button.tabIndex = -1;
        button.addEventListener("click", () => this.sorted(column.sort));
        cell.append(button);
        if (column.sort === sortedBy) cell.setAttribute("aria-sort", "descending");
        return cell;
      }),
    );
  }

  /** Shows rows, one of them selected; with `reveal` it is brought into sight. */
  show(rows, current, reveal) {
    this.rows = rows;
    this.current = current;
    this.element.setAttribute("aria-rowcount", rows.length + 1);
    this.body.style.height = `${rows.length * this.line}px`;
    if (reveal && current >= 0) {
      const top = current * this.line;
      const seen = this.element.clientHeight - this.line;
      const { scrollTop } = this.element;
      if (top < scrollTop) this.element.scrollTop = Math.max(0, top - 2 * this.line);
      else if (top + this.line > scrollTop + seen) this.element.scrollTop = top + 3 * this.line - seen;
    }
    this.draw();
  }

  draw() {
    const first = Math.max(0, Math.floor(this.element.scrollTop / this.line) - 4);
    const last = Math.min(this.rows.length, Math.ceil((this.element.scrollTop + this.element.clientHeight) / this.line) + 4);
    const lines = [];
    for (let at = first; at < last; at++) {
      const row = this.rows[at];
      const line = make("div", { className: "line", role: "row" });
      line.dataset.row = at;
      line.style.top = `${at * this.line}px`;
      line.style.height = `${this.line}px`;
      line.setAttribute("aria-rowindex", at + 2);
      for (const [name, value] of Object.entries(this.level?.(row) ?? {})) line.setAttribute(name, value);
      if (at === this.current) line.setAttribute("aria-selected", "true");
      for (const column of this.columns) {
        const cell = make("div", { className: `cell ${column.kind ?? "number"}`, role: "gridcell" });
        if (column.share) {
          const bar = make("div", { className: "bar" });
          bar.style.width = `${Math.max(0, Math.min(1, column.share(row))) * 100}%`;
          cell.append(bar);
        } else if (column.fill) {
          column.fill(cell, row);
        } else if (column.text) {
          cell.textContent = column.text(row);
        } else {
          const number = (column.number ?? column.change)(row);
          const text = column.change ? signed(number) : grouped(number);
          cell.textContent = !this.isShort ? text : column.change && number > 0 ? `+${short(number)}` : short(number);
          if (cell.textContent !== text) cell.title = text;
        }
        const tone = column.tone?.(row);
        if (tone) cell.classList.add(tone);
        line.append(cell);
      }
      lines.push(line);
    }
    this.body.replaceChildren(...lines);
  }

  rowOf(event) {
    const line = event.target.closest("[data-row]");
    return line ? this.rows[line.dataset.row] : undefined;
  }

  clicked(event) {
    const row = this.rowOf(event);
    if (row !== undefined) this.select(row, event.target);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.element.clientHeight / this.line) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -this.rows.length, End: this.rows.length };
    if (event.key in steps && this.rows.length > 0) {
      event.preventDefault();
      const at = this.current < 0 ? 0 : this.current + steps[event.key];
      this.select(this.rows[Math.max(0, Math.min(this.rows.length - 1, at))]);
    } else if (event.key === "Enter" && this.current >= 0) {
      event.preventDefault();
      this.enter(this.rows[this.current]);
    } else if (this.current >= 0 && this.key?.(event.key, this.rows[this.current])) {
      event.preventDefault();
    }
  }
}

/** An element with properties and children. Texts become text nodes, never markup. */
function make(kind, properties = {}, ...children) {
  const element = document.createElement(kind);
  const { role, ...others } = properties;
  if (role) element.setAttribute("role", role);
  Object.assign(element, others);
  element.append(...children);
  return element;
}
