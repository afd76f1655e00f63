// What stands around the flame graph: the tree, the methods, what is selected, what the profile is.

/** A name, and behind it its package in a lighter colour: so columns may be narrow. */
function fillName(cell, name, isMatch) {
  const { packageName } = partsOf(name);
  cell.title = name;
  const hasPackage = packageName !== "" && name.startsWith(`${packageName}.`);
  const short = hasPackage ? name.slice(packageName.length + 1) : name;
  cell.append(make("span", { className: isMatch ? "name found" : "name", textContent: short }));
  if (hasPackage) cell.append(make("span", { className: "package", textContent: packageName }));
}

const toneOf = (change) => (change > 0 ? "more" : change < 0 ? "less" : "same");

/** The numbers of a box or method in lines: a name and a text each. */
function numbersOf(state, of) {
  const { head, totals } = state;
  const lines = [];
  head.metrics.forEach((words, metric) => {
    const name = words[0].toUpperCase() + words.slice(1);
    const line = (what, numbers) => {
      if (!state.isDifference) {
        lines.push([`${name}, ${what}`, `${grouped(numbers[metric])} (${percent(numbers[metric], totals.sums[metric])})`]);
        return;
      }
      const [now, before] = [numbers[metric], numbers[metric + head.metrics.length]];
      lines.push([`${name}, ${what}`, `${grouped(before)} → ${grouped(now)}: ${signed(now - before)} (${relative(now, before)})`]);
    };
    const isCaller = state.view === "callers" || of.forest === state.upper;
    line(isCaller ? "of this method" : "inclusive", of.inclusive);
    if (of.forest !== state.upper && state.view !== "callers") line("own", of.own);
  });
  const calls = head.metrics.indexOf("calls");
  const own = of.own[calls];
  if (calls >= 0 && own > 0 && of.above && !of.isPruned && !state.isDifference) {
    const each = head.metrics.map((words, metric) => `${decimal((of.inclusive[metric] - (metric === calls ? own : 0)) / own)} ${words}`);
    lines.push(["Per call, with callees", each.join(", ")]);
    const above = of.above.own[calls];
    if (above > 0) lines.push(["Per call of its caller", `${decimal(own / above)} calls`]);
  }
  return lines;
}

/** How many frames of the stack a tip shows. */
const TIP_FRAMES = 6;

function fillTip(tip, state, item) {
  if (!item.box) {
    const words = counted(item.boxes, state.view === "callers" ? "callers" : "callees");
    tip.replaceChildren(make("b", { textContent: `${words}, too narrow to draw` }), `${counted(item.sum, state.words)} in all. A click shows them larger.`);
    return;
  }
  const lines = numbersOf(state, item.box).flatMap(([name, text]) => [make("dt", { textContent: name }), make("dd", { textContent: text })]);
  const { above } = item.box;
  if (above?.above && !state.isDifference) {
    const { measure } = state;
    const whose = state.view === "callers" || item.box.forest === state.upper ? "Of what it calls" : "Of its caller";
    lines.push(make("dt", { textContent: whose }), make("dd", { textContent: `${percent(item.box.inclusive[measure], above.inclusive[measure]) || "0 %"} of ${state.words}` }));
  }
  const path = [];
  for (let box = above; box?.above; box = box.above) path.push(state.nameOf(box));
  const rest = path.length > TIP_FRAMES ? [make("li", { textContent: `… ${counted(path.length - TIP_FRAMES, "more frames")}` })] : [];
  const frames = path.slice(0, TIP_FRAMES).map((textContent) => make("li", { textContent }));
  tip.replaceChildren(make("b", { textContent: state.nameOf(item.box) }), make("dl", {}, ...lines), make("ul", {}, ...frames, ...rest));
}

/** Levels that are indented; the number of those below stands before the name. */
const DEEPEST_INDENT = 14;

/** The tree, as rows that can be opened. */
class TreePanel {
  constructor(state) {
    this.state = state;
    this.table = new Table(document.getElementById("tree"), {
      columns: [],
      label: "Calling contexts",
      role: "treegrid",
      level: (box) => ({ "aria-level": box.level + 1, ...(box.below.length > 0 ? { "aria-expanded": box.isOpen } : {}) }),
      select: (box, target) => {
        if (target?.closest("button")) box.isOpen = !box.isOpen;
        state.select(box);
      },
      enter: (box) => state.set({ zoom: box }),
      key: (key, box) => this.key(key, box),
      sorted: () => {},
    });
    state.keepers.push(() => this.table.keep());
    state.listen((what) => this.refresh(what));
  }

  key(key, box) {
    if (key === "ArrowRight" || key === "+") {
      if (box.isOpen && box.below.length > 0 && key === "ArrowRight") this.state.select(box.below[0]);
      else {
        box.isOpen = true;
        this.state.tell("look");
      }
    } else if (key === "ArrowLeft" || key === "-") {
      if (box.isOpen && box.above) {
        box.isOpen = false;
        this.state.tell("look");
      } else if (box.above) this.state.select(box.above);
    } else return false;
    return true;
  }

  columns() {
    const { state } = this;
    const { measure, metric, base, isDifference, totals, table } = state;
    const total = totals.sums[measure];
    const isCallers = state.view === "callers";
    const name = {
      title: isCallers ? "Method, and its callers" : "Context",
      kind: "text",
      width: "rest",
      fill: (cell, box) => this.fillName(cell, box),
    };
    if (isDifference) {
      const change = (kind) => (box) => state.change(box, kind);
      const tone = (kind) => (box) => toneOf(state.change(box, kind));
      const widest = Math.max(state.root.inclusive[base], state.root.inclusive[metric]);
      const wide = (title) => widthFor(signed(widest), title);
      const columns = [
        { title: "Change", explanation: `How many more inclusive ${state.words} in NEW`, width: wide("Change"), change: change("inclusive"), tone: tone("inclusive") },
        { title: "%", explanation: "The change relative to BASE", width: 96, text: (box) => relative(box.inclusive[metric], box.inclusive[base]), tone: tone("inclusive") },
        { title: "Own change", explanation: `How many more own ${state.words} in NEW`, width: wide("Own change"), change: change("own"), tone: tone("own") },
        name,
        { title: "BASE", explanation: `Inclusive ${state.words} in BASE`, width: wide("BASE"), number: (box) => box.inclusive[base] },
        { title: "NEW", explanation: `Inclusive ${state.words} in NEW`, width: wide("NEW"), number: (box) => box.inclusive[metric] },
      ];
      return isCallers ? columns.filter((column) => column.title !== "Own change") : columns;
    }
    const columns = [
      { title: "Share", explanation: `Share of the inclusive ${state.words}`, width: 76, text: (box) => percent(box.inclusive[measure], total) },
      { title: "", spoken: "Bar", explanation: "The share as a bar", kind: "bars", width: 36, share: (box) => box.inclusive[measure] / total },
      { title: isCallers ? "Of the method" : "Inclusive", explanation: `${state.words} of the context and its callees`, width: widthFor(grouped(total), isCallers ? "Of the method" : "Inclusive"), number: (box) => box.inclusive[measure] },
      { title: "Own", explanation: `${state.words} of the context, without its callees`, width: widthFor(grouped(largestOf(table.own[measure])), "Own"), number: (box) => box.own[measure] },
      name,
    ];
    return isCallers ? columns.filter((column) => column.title !== "Own") : columns;
  }

  fillName(cell, box) {
    const { state } = this;
    const toggle = make("button", { className: "toggle", textContent: box.below.length === 0 ? "" : box.isOpen ? "▾" : "▸" });
    toggle.tabIndex = -1;
    toggle.disabled = box.below.length === 0;
    toggle.setAttribute("aria-label", box.isOpen ? "close" : "open");
    // Stacks may be deeper than a screen is wide.
    const indent = make("span", { className: "indent" });
    indent.style.width = `${Math.min(box.level, DEEPEST_INDENT) * 9}px`;
    cell.append(indent, toggle);
    if (box.level > DEEPEST_INDENT) cell.append(make("span", { className: "level", textContent: `${box.level} ` }));
    fillName(cell, state.nameOf(box), state.isMatch(box.label));
  }

  refresh(what) {
    const { state } = this;
    const rows = [];
    const toLookAt = [state.root];
    for (let box = toLookAt.pop(); box; box = toLookAt.pop()) {
      rows.push(box);
      if (!box.isOpen) continue;
      for (let at = box.below.length - 1; at >= 0; at--) toLookAt.push(box.below[at]);
    }
    this.table.setColumns(this.columns(), "");
    this.table.show(rows, rows.indexOf(state.selected), what === "shape");
  }
}

/** The table of methods: sums over all contexts. */
class MethodsPanel {
  constructor(state) {
    this.state = state;
    this.order = state.isDifference ? "change" : "own";
    this.table = new Table(document.getElementById("methods"), {
      columns: [],
      label: "Methods",
      select: (label) => state.selectMethod(label),
      enter: (label) => state.set({ view: "callees", focus: label, method: label }),
      sorted: (order) => {
        this.order = order;
        this.refresh("look");
      },
    });
    state.keepers.push(() => this.table.keep());
    state.listen((what) => this.refresh(what));
  }

  columns() {
    const { state } = this;
    const { table, metric, measure, base, totals, head } = state;
    const total = totals.sums[measure];
    const [own, inclusive] = [table.own[measure], table.inclusive[measure]];
    const largest = Math.max(1, largestOf(own));
    const what = head.by;
    const name = {
      title: what[0].toUpperCase() + what.slice(1),
      kind: "text",
      width: "rest",
      fill: (cell, label) => fillName(cell, head.labels[label], state.isMatch(label)),
    };
    if (state.isDifference) {
      const change = (sums) => (label) => sums[metric][label] - sums[base][label];
      const part = (sums) => (label) => relative(sums[metric][label], sums[base][label]);
      const wide = (sums, title) => widthFor(signed(Math.max(largestOf(sums[base]), largestOf(sums[metric]))), title);
      return [
        { title: "Own change", sort: "change", explanation: `How many more own ${state.words} in NEW`, width: wide(table.own, "Own change ▾"), change: change(table.own), tone: (label) => toneOf(change(table.own)(label)) },
        { title: "%", explanation: "The own change relative to BASE", width: 96, text: part(table.own), tone: (label) => toneOf(change(table.own)(label)) },
        { title: "Inclusive", sort: "inclusive", explanation: "The inclusive change", width: wide(table.inclusive, "Inclusive ▾"), change: change(table.inclusive), tone: (label) => toneOf(change(table.inclusive)(label)) },
        name,
        { title: "BASE", explanation: `Own ${state.words} of the ${what} in BASE`, width: wide(table.own, "BASE"), number: (label) => table.own[base][label] },
        { title: "NEW", sort: "own", explanation: `Own ${state.words} of the ${what} in NEW`, width: wide(table.own, "NEW ▾"), number: (label) => table.own[metric][label] },
      ];
    }
    const columns = [
      { title: "Share", explanation: `Share of the own ${state.words}`, width: 76, text: (label) => percent(own[label], total) },
      { title: "", spoken: "Bar", explanation: "The share as a bar, the largest being full", kind: "bars", width: 36, share: (label) => own[label] / largest },
      { title: "Own", sort: "own", explanation: `${state.words} of the ${what} without its callees, over all contexts`, width: widthFor(grouped(largest), "Own ▾"), number: (label) => own[label] },
      { title: "Inclusive", sort: "inclusive", explanation: `${state.words} with all callees; recursion counts once`, width: widthFor(grouped(total), "Inclusive ▾"), number: (label) => inclusive[label] },
      name,
    ];
    head.metrics.forEach((words, at) => {
      if (at === metric) return;
      const title = words[0].toUpperCase() + words.slice(1);
      columns.push({ title, sort: `metric ${at}`, explanation: `Own ${words} of the ${what}`, width: widthFor(grouped(largestOf(table.own[at])), `${title} ▾`), number: (label) => table.own[at][label] });
    });
    columns.push({ title: "Contexts", sort: "contexts", explanation: `How many contexts the ${what} has, with nothing folded or collapsed`, width: widthFor(grouped(largestOf(table.contexts)), "Contexts ▾"), number: (label) => table.contexts[label] });
    return columns;
  }

  key() {
    const { state, order } = this;
    const { table, measure, metric, base, isDifference } = state;
    if (order === "contexts") return (label) => table.contexts[label];
    if (order.startsWith("metric ")) return (label) => table.own[order.slice(7)][label];
    const sums = order === "inclusive" ? table.inclusive : table.own;
    if (isDifference && order !== "own") return (label) => Math.abs(sums[metric][label] - sums[base][label]);
    return (label) => sums[isDifference ? metric : measure][label];
  }

  refresh(what) {
    const { state } = this;
    const { table } = state;
    const rows = [];
    table.contexts.forEach((contexts, label) => {
      if (contexts > 0 && (state.matches === null || state.isMatch(label))) rows.push(label);
    });
    const key = this.key();
    rows.sort((a, b) => key(b) - key(a) || a - b);
    document.getElementById("methods-count").textContent =
      state.matches === null ? grouped(rows.length) : `${grouped(rows.length)} found`;
    this.table.setColumns(this.columns(), this.order);
    this.table.show(rows, rows.indexOf(state.method), what === "shape");
  }
}

/** What is selected: its name, its numbers, what can be done with it. */
class SelectedPanel {
  constructor(state) {
    this.state = state;
    this.element = document.getElementById("selected");
    state.listen(() => this.refresh());
  }

  refresh() {
    const { state } = this;
    const { selected, method } = state;
    if (!selected && method < 0) {
      const colours = state.isDifference ? "Red has more than BASE, blue less, grey exactly as much. " : "";
      const whole = state.focus >= 0 ? `${state.name(state.focus)} and its callees. Escape goes back.` : `${colours}Click a box, or use the arrow keys; ? shows all keys.`;
      this.element.replaceChildren(make("p", { className: "hint", textContent: whole }));
      return;
    }
    const { table } = state;
    const name = selected ? state.nameOf(selected) : state.name(method);
    const button = (text, title, action) => {
      const made = make("button", { textContent: text, title });
      made.addEventListener("click", action);
      return made;
    };
    const actions = [];
    if (selected && selected !== state.zoom) actions.push(button("Zoom in", "Enter", () => zoomInto(state, selected)));
    if (method >= 0) {
      if (state.focus !== method || state.view !== "callees") actions.push(button("All its callees", "Its callees, over all of its contexts (f)", () => state.set({ view: "callees", focus: method })));
      if (state.focus !== method || state.view !== "sandwich") actions.push(button("Both", "Its callers above it, its callees below, over all of its contexts (s)", () => state.set({ view: "sandwich", focus: method })));
      actions.push(button("All its callers", "Its callers, over all of its contexts (b)", () => showCallers(state, method)));
    }
    if (selected?.above) actions.push(button("Copy the stack", "The frames of the stack, the outermost first", () => copyStack(state, selected)));
    const numbers = selected ? numbersOf(state, selected) : [];
    if (method >= 0) {
      const at = state.measure;
      const all = `${state.isDifference ? `${state.side === 0 ? "NEW" : "BASE"}: ` : ""}${counted(table.own[at][method], state.words)} own, ${grouped(table.inclusive[at][method])} inclusive, in ${counted(table.contexts[method], "contexts")}`;
      numbers.push([`All contexts of the ${state.head.by}`, all]);
      if (!selected) numbers.push(["In this view", "none: all of its contexts are pruned or in other threads"]);
    } else if (selected?.isPruned) {
      numbers.push(["Pruned", "contexts that are not in this page (--max-contexts), added up; the table of methods has them"]);
    }
    const lines = numbers.map(([what, text]) => make("div", {}, make("dt", { textContent: what }), make("dd", { textContent: text })));
    this.element.replaceChildren(
      make("div", { className: "title" }, make("b", { textContent: name, title: name }), make("span", { className: "actions" }, ...actions)),
      make("dl", {}, ...lines),
    );
  }
}

function showCallers(state, method) {
  state.method = method;
  state.set({ view: "callers", focus: -1, method });
  const box = state.forest.heaviest(method);
  if (box) state.set({ zoom: box, selected: box });
}

function copyStack(state, box) {
  const names = [];
  for (let one = box; one.above; one = one.above) names.push(state.nameOf(one));
  if (box.forest === state.forest && state.view !== "callers") names.reverse();
  navigator.clipboard?.writeText(names.join("\n"));
}

/** The line below the title, the remarks, and the dialog that says what the profile is. */
class AboutPanel {
  constructor(state) {
    this.state = state;
    const { head } = state;
    document.getElementById("program").textContent = head.program;
    const remarks = head.remarks.map((text) => make("li", { textContent: text, className: text.startsWith("INCOMPLETE") ? "bad" : "" }));
    document.getElementById("remarks").replaceChildren(...remarks);
    document.getElementById("remarks").hidden = remarks.length === 0;
    document.getElementById("creator").textContent = head.creator;
    document.getElementById("about-text").replaceChildren(this.pruningSection(), ...head.about.flatMap((about) => this.sections(about)));
    const notes = sumOf(head.about, (about) => about.facts.filter(([key]) => key === "Note" || key === "INCOMPLETE").length);
    document.getElementById("notes-count").textContent = notes > 0 ? ` (${counted(notes, "notes")})` : "";
    state.listen(() => this.refresh());
  }

  sections({ name, facts, head, trees }) {
    const rows = facts.map(([key, text]) => {
      const row = make("tr", {}, make("th", { textContent: key, scope: "row" }), make("td", { textContent: text }));
      if (key === "INCOMPLETE") row.className = "bad";
      return row;
    });
    const cells = (kind, texts) => texts.map((text, at) => make(text === "" ? "td" : kind, { textContent: text, className: at < texts.length - 2 ? "number" : "" }));
    const most = 1000;
    const lines = trees.slice(0, most).map((texts) => make("tr", {}, ...cells("td", texts)));
    const more = trees.length > most ? [make("p", { textContent: `… and ${counted(trees.length - most, "more trees")}` })] : [];
    return [
      make("h3", { textContent: name }),
      make("table", { className: "facts" }, make("tbody", {}, ...rows)),
      make("table", { className: "trees" }, make("thead", {}, make("tr", {}, ...cells("th", head))), make("tbody", {}, ...lines)),
      ...more,
    ];
  }

  pruningSection() {
    return make("p", { id: "about-pruned" });
  }

  /** How much of the chosen threads this page lacks, exactly. */
  pruned() {
    const { totals, head, isDifference } = this.state;
    if (totals.lost === 0) return "";
    const parts = head.metrics.map((words, at) => `${counted(totals.lostSums[at], words)} (${percent(totals.lostSums[at], totals.sums[at])})`);
    const whose = isDifference ? " in NEW" : "";
    return `Pruned: ${counted(totals.lost, "contexts")} (${percent(totals.lost, totals.contexts)}) with ${parts.join(" and ")} of their own${whose}.`;
  }

  refresh() {
    const { state } = this;
    const { totals, head } = state;
    const sums = head.metrics.map((words, at) => {
      const text = grouped(totals.sums[at]);
      const exact = state.threads.size === head.threads.length ? head.sums[at] : text;
      if (!state.isDifference) return `${exact} ${wordFor(totals.sums[at], words)}`;
      const before = totals.sums[at + head.metrics.length];
      return `${grouped(before)} → ${text} ${wordFor(totals.sums[at], words)} (${relative(totals.sums[at], before)})`;
    });
    const pruned = this.pruned();
    document.getElementById("sums").textContent = [...sums, counted(totals.contexts, "contexts")].join(" · ");
    if (state.isDifference) document.getElementById("sums").textContent = `BASE → NEW: ${document.getElementById("sums").textContent} in either`;
    const element = document.getElementById("pruned");
    element.textContent = pruned;
    element.hidden = pruned === "";
    element.title = "The lightest contexts are not in this page. Their counts are in the boxes named (pruned), so sums of callers and the table of methods are exact. cctrewrite report --html --max-contexts N keeps more.";
    document.getElementById("about-pruned").textContent = pruned
      ? `${pruned} ${element.title}`
      : "This page has all contexts; nothing is pruned.";
  }
}
