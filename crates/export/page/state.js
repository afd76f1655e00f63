// What is looked at, and how. Parts of the page change it here, and hear of changes of any other.

/** What stands in the page's address, so that a view can be kept and handed on. */
const ADDRESS = ["view", "focus", "metric", "side", "fold", "library", "threads", "order", "up", "query", "regex", "colour", "theme", "zoom"];

class State {
  constructor(head, contexts, methods) {
    this.head = head;
    /** The contexts as they were read, and those that were made of them. */
    this.whole = contexts;
    this.trees = new Map();
    this.methods = methods;
    this.listeners = [];
    this.isDifference = head.sides === 2;

    /**
     * "callees", "callers", or "sandwich": the callers of the method in focus above it, its callees
     * below.
     */
    this.view = "callees";
    /** The label of the method below which is looked; -1 for all. */
    this.focus = -1;
    /** The number of the metric. */
    this.metric = Math.max(0, head.metrics.indexOf(head.metric));
    /** Whose counts are widths: 0 the profile's, 1 those of what it is held against. */
    this.side = 0;
    this.fold = head.fold;
    /** Whether the library is collapsed. */
    this.library = head.library?.collapsed ?? false;
    this.threads = new Set(head.threads.keys());
    /** "weight" or "name". */
    this.order = "weight";
    /** Whether stacks grow upward. */
    this.up = false;
    this.query = "";
    this.regex = false;
    /** Of a difference: whose change colours show, "own" or "inclusive". */
    this.colour = "own";
    this.theme = "";

    this.zoom = null;
    this.selected = null;
    /** The label that is selected, also where none of its contexts is shown. */
    this.method = -1;
    /** For each label whether it is searched for; null if nothing is. */
    this.matches = null;
    this.searchError = "";
    this.totals = null;
    /** Of parts that scroll: each returns a function that scrolls back to where it is now. */
    this.keepers = [];
    this.scrollBack = [];
    /** What a search goes through, and where it is; made when it is first asked for. */
    this.walk = null;
  }

  get measure() {
    return this.side * this.head.metrics.length + this.metric;
  }

  /** The measure of the base that belongs to this one; only for differences. */
  get base() {
    return this.head.metrics.length + this.metric;
  }

  get words() {
    return this.head.metrics[this.metric];
  }

  /**
   * The label of the method that a label is a call site of; itself if call sites are not
   * distinguished.
   */
  methodOf(label) {
    return this.head.methods?.[label] ?? label;
  }

  /** The contexts, with recursion folded or not, and the library collapsed or not. */
  tree(fold, library) {
    const key = `${fold} ${library}`;
    let tree = this.trees.get(key);
    if (!tree) {
      const methodOf = (label) => this.methodOf(label);
      if (fold) tree = this.tree(false, library).folded(methodOf);
      else tree = library ? this.whole.collapsed(this.head.library, methodOf, this.head.by === "method") : this.whole;
      this.trees.set(key, tree);
    }
    return tree;
  }

  /** What a label is called. */
  name(label) {
    if (label < 0) return this.rootName;
    return label === this.head.labels.length ? "(pruned)" : this.head.labels[label];
  }

  get rootName() {
    if (this.focus >= 0 && this.view !== "callers") return "(all contexts)";
    if (this.threads.size === 1) return `[${this.threadName([...this.threads][0])}]`;
    return this.threads.size === this.head.threads.length ? "(all threads)" : `(${counted(this.threads.size, "threads")})`;
  }

  threadName(number) {
    const { name, others } = this.head.threads[number];
    return others === null ? name || "(thread without a name)" : `(threads of ${counted(others, "other names")})`;
  }

  /** What a box is called. */
  nameOf(box) {
    if (!box.isPruned) return this.name(box.label);
    return box.lost === null ? "(pruned contexts)" : `(pruned: ${counted(box.lost, "contexts")})`;
  }

  /** Changes some properties; `change` has their new values. */
  set(change) {
    const rebuild = ["view", "focus", "metric", "side", "fold", "library", "threads", "order"].some((key) => key in change);
    const wasSearching = this.query !== "";
    if (!wasSearching && change.query) this.scrollBack = this.keepers.map((keep) => keep());
    Object.assign(this, change);
    if (rebuild || "query" in change || "regex" in change) this.walk = null;
    if ("query" in change || "regex" in change) this.search();
    if ("library" in change) this.switchLibrary();
    else if (rebuild) this.build("view" in change || "focus" in change);
    this.tell(rebuild || "zoom" in change ? "shape" : "look");
    if (wasSearching && this.query === "") this.scrollBack.splice(0).forEach((scroll) => scroll());
  }

  /**
   * Makes the boxes anew after the library was collapsed or opened. What was zoomed and selected
   * stays so, as far as it is there.
   */
  switchLibrary() {
    const { head, library, zoom } = this;
    const isHidden = (label) => library && head.library.roles[label] === 1 && label !== head.library.label;
    if (isHidden(this.focus)) this.focus = -1;
    if (isHidden(this.method) || this.method === head.library.label) this.method = -1;
    const path = zoom.path.filter((label) => !isHidden(label)).map((label) => (library ? this.methodOf(label) : label));
    this.build(true);
    this.zoom = this.forest.find(path);
  }

  /** Makes the boxes anew. What was zoomed, selected and open stays so, as far as it is there. */
  build(isOtherTree) {
    const { root, zoom, selected } = this;
    const threads = [...this.threads].sort((a, b) => a - b);
    this.table = this.library ? this.methods.ofCollapsed(this.threads) : this.methods.of(this.threads);
    this.totals = this.sumsOf(threads);
    const contexts = this.tree(this.fold, this.library);
    const data = { contexts, table: this.table, pruned: this.head.labels.length, threads, sums: this.totals.sums, methodOf: (label) => this.methodOf(label) };
    const byName = this.order === "name";
    if (this.focus < 0 && this.view === "sandwich") this.view = "callees";
    this.forest = this.view === "callers" ? new Callers(data, this.measure, byName) : new Callees(data, this.measure, byName, this.focus);
    /** What is drawn above the method in focus. */
    this.upper = this.view === "sandwich" ? new CallersOf(data, this.measure, byName, this.focus, this.forest) : null;
    this.root = this.forest.root;
    this.zoom = this.root;
    this.selected = null;
    if (root && !isOtherTree) {
      this.zoom = this.forest.find(zoom.path);
      const found = selected && this.forest.find(selected.path);
      this.selected = found && found.level === selected.level ? found : null;
      this.openAs(root);
    } else {
      this.openHeaviest();
      if (this.method >= 0) this.selected = this.forest.heaviest(this.method);
    }
    this.root.isOpen = true;
  }

  sumsOf(threads) {
    const of = threads.map((thread) => this.head.threads[thread]);
    const sums = (list) => this.whole.own.map((_, at) => sumOf(of, (thread) => thread[list][at]));
    return {
      contexts: sumOf(of, (thread) => thread.contexts),
      lost: sumOf(of, (thread) => thread.lost),
      sums: sums("sums"),
      lostSums: sums("lost_sums"),
    };
  }

  /** Opens the boxes that were open in another tree. */
  openAs(other) {
    const pairs = [[other, this.root]];
    for (let pair = pairs.pop(); pair; pair = pairs.pop()) {
      const [before, now] = pair;
      now.isOpen = true;
      for (const below of before.known ?? []) {
        const same = below.isOpen && now.below.find((box) => box.label === below.label);
        if (same) pairs.push([below, same]);
      }
    }
  }

  /** Opens the tree along the heaviest boxes, as long as one has nearly all of its caller's. */
  openHeaviest() {
    let box = this.root;
    while (box.level < 100) {
      box.isOpen = true;
      const next = box.below[0];
      if (!next || next.isPruned || this.view === "callers") return;
      if (next.inclusive[this.measure] < 0.8 * box.inclusive[this.measure]) return;
      box = next;
    }
  }

  select(box) {
    this.selected = box;
    this.method = box && !box.isPruned ? this.methodOf(box.label) : -1;
    if (box && !box.isWithin(this.zoom) && !this.zoom.isWithin(box)) this.zoom = this.root;
    for (let above = box?.above; above; above = above.above) above.isOpen = true;
    this.tell("shape");
  }

  /** Selects a method, and the heaviest of its contexts. */
  selectMethod(label) {
    const box = this.forest.heaviest(label);
    this.select(box);
    this.method = label;
    this.tell("shape");
  }

  search() {
    const { query, head } = this;
    this.searchError = "";
    this.matches = null;
    if (query === "") return;
    let isMatch;
    if (this.regex) {
      try {
        const pattern = new RegExp(query, /[A-Z]/.test(query) ? "u" : "iu");
        isMatch = (name) => pattern.test(name);
      } catch {
        this.searchError = "not a regular expression";
        return;
      }
    } else if (/[A-Z]/.test(query)) {
      isMatch = (name) => name.includes(query);
    } else {
      isMatch = (name) => name.toLowerCase().includes(query);
    }
    // Whoever looks for a method looks for all of its call sites.
    const isFound = (name, label) => isMatch(name) || isMatch(head.labels[this.methodOf(label)]);
    this.matches = Uint8Array.from(head.labels, (name, label) => (isFound(name, label) ? 1 : 0));
  }

  isMatch(label) {
    return this.matches !== null && this.matches[label] === 1;
  }

  /**
   * How much is in and below what is searched for: number of methods, and the sum of the measure, a
   * stack counted once.
   */
  found() {
    const { label, end, inclusive, roots } = this.tree(false, this.library);
    let sum = 0;
    for (const thread of this.threads) {
      for (let node = roots[thread] + 1; node < end[roots[thread]]; ) {
        if (this.matches[label[node]] === 1) {
          sum += inclusive[this.measure][node];
          node = end[node];
        } else {
          node++;
        }
      }
    }
    const methods = this.table.contexts.reduce((n, contexts, of) => n + (contexts > 0 && this.matches[of] === 1 ? 1 : 0), 0);
    return { methods, sum };
  }

  /**
   * The paths of all that is searched for, the heaviest first; threads are added up. Only of the
   * tree of all callees.
   */
  matchingPaths() {
    const { label, caller, end, inclusive, roots } = this.tree(this.fold, this.library);
    const weights = inclusive[this.measure];
    const labels = this.head.labels.length + 1;
    const known = new Map();
    const found = new Map();
    const place = new Int32Array(label.length);
    const several = this.threads.size > 1;
    let next = 1;
    for (const thread of this.threads) {
      place[roots[thread]] = 0;
      for (let node = roots[thread] + 1; node < end[roots[thread]]; node++) {
        place[node] = node;
        if (several) {
          // Contexts of several threads with one stack are one box.
          const key = place[caller[node]] * labels + label[node];
          place[node] = known.get(key) ?? next;
          if (place[node] === next) known.set(key, next++);
        }
        if (!this.isMatch(label[node])) continue;
        const match = found.get(place[node]);
        if (match) match.weight += weights[node];
        else found.set(place[node], { node, weight: weights[node] });
      }
    }
    const path = (node) => {
      const path = [];
      for (; caller[node] >= 0; node = caller[node]) path.push(label[node]);
      return path.reverse();
    };
    const matches = [...found.values()].sort((a, b) => b.weight - a.weight || a.node - b.node);
    return matches.map(({ node }) => () => path(node));
  }

  /** How much a box has changed; `kind` is "own" or "inclusive". */
  change(box, kind) {
    return box[kind][this.metric] - box[kind][this.base];
  }

  listen(listener) {
    this.listeners.push(listener);
  }

  /** "shape" if other boxes are shown, "look" if only how. */
  tell(what) {
    for (const listener of this.listeners) listener(what);
    this.writeAddress();
  }

  writeAddress() {
    const all = this.head.threads.length;
    const values = {
      view: this.view === "callees" ? "" : this.view,
      focus: this.focus < 0 ? "" : String(this.focus),
      metric: this.head.metrics[this.metric] === this.head.metric ? "" : this.head.metrics[this.metric],
      side: this.side === 0 ? "" : "base",
      fold: this.fold === this.head.fold ? "" : String(this.fold),
      library: this.library === (this.head.library?.collapsed ?? false) ? "" : String(this.library),
      threads: this.threads.size === all ? "" : [...this.threads].join("."),
      order: this.order === "weight" ? "" : this.order,
      up: this.up ? "true" : "",
      query: this.query,
      regex: this.regex ? "true" : "",
      colour: this.colour === "own" ? "" : this.colour,
      theme: this.theme,
      // Of very deep stacks the address would be too long.
      zoom: this.zoom.level <= 500 ? this.zoom.path.join(".") : "",
    };
    const address = new URLSearchParams(ADDRESS.filter((key) => values[key] !== "").map((key) => [key, values[key]]));
    try {
      history.replaceState(null, "", `#${address}`);
    } catch {
      // Where a page may not change its address, it is without.
    }
  }

  /** Takes what the address says, as far as it makes sense. */
  readAddress() {
    const address = new URLSearchParams(location.hash.slice(1));
    const numbers = (key, below) =>
      (address.get(key) ?? "").split(".").filter((text) => /^\d+$/.test(text)).map(Number).filter((number) => number < below);
    if (["callers", "sandwich"].includes(address.get("view"))) this.view = address.get("view");
    [this.focus = -1] = numbers("focus", this.head.labels.length).map((label) => this.methodOf(label));
    const metric = this.head.metrics.indexOf(address.get("metric"));
    if (metric >= 0) this.metric = metric;
    if (this.isDifference && address.get("side") === "base") this.side = 1;
    if (address.has("fold")) this.fold = address.get("fold") === "true";
    if (address.has("library") && this.head.library) this.library = address.get("library") === "true";
    const threads = numbers("threads", this.head.threads.length);
    if (threads.length > 0) this.threads = new Set(threads);
    if (address.get("order") === "name") this.order = "name";
    this.up = address.get("up") === "true";
    this.query = address.get("query") ?? "";
    this.regex = address.get("regex") === "true";
    if (address.get("colour") === "inclusive") this.colour = "inclusive";
    if (["dark", "light"].includes(address.get("theme"))) this.theme = address.get("theme");
    const zoom = numbers("zoom", this.head.labels.length + 1);
    if (this.library && this.head.library.roles[this.focus] === 1) this.focus = this.head.library.label;
    this.search();
    this.build(true);
    this.zoom = this.forest.find(zoom);
  }
}
