// What is drawn and listed: boxes, made when they are looked at. A box stands for the contexts of
// one stack in all chosen threads, or, in the view of callers, for those whose stacks have the same
// innermost frames.

/** Both views: a root, and the callees (or callers) of each box. */
class Box {
  constructor(forest, label, above) {
    this.forest = forest;
    this.label = label;
    this.above = above;
    this.level = above ? above.level + 1 : 0;
    /** For each measure: of the box itself, and with all that is below it. */
    this.own = null;
    this.inclusive = null;
    /**
     * How many pruned contexts it stands for; null if it stands for none, or how many is not known.
     */
    this.lost = null;
    this.isOpen = false;
    this.known = null;
  }

  /** The boxes below, sorted. */
  get below() {
    this.known ??= this.forest.sorted(this.forest.below(this));
    return this.known;
  }

  get isPruned() {
    return this.label === this.forest.data.pruned;
  }

  /** The labels from the root to this box. */
  get path() {
    const path = [];
    for (let box = this; box.above; box = box.above) path.push(box.label);
    return path.reverse();
  }

  isWithin(other) {
    let box = this;
    while (box && box !== other) box = box.above;
    return box === other;
  }
}

/**
 * What the views have in common. `data` has contexts, table, pruned (the label), threads, for each
 * measure the sum, and `methodOf`: of a label the one of its method, which is another if call sites
 * are distinguished.
 */
class Forest {
  constructor(data, measure, byName) {
    this.data = data;
    this.measure = measure;
    this.byName = byName;
    this.root = null;
  }

  zeros() {
    return new Array(this.data.contexts.own.length).fill(0);
  }

  /** By weight or by name; what was pruned is the last. Labels are sorted by name. */
  sorted(boxes) {
    const { measure, byName } = this;
    const weight = (box) => (box.isPruned || byName ? 0 : box.inclusive[measure]);
    return boxes.sort((a, b) => a.isPruned - b.isPruned || weight(b) - weight(a) || a.label - b.label);
  }

  /** The box with these labels below the root; of those that are not there the last that is. */
  find(path) {
    let box = this.root;
    for (const label of path) {
      const next = box.below.find((below) => below.label === label);
      if (!next) return box;
      box = next;
    }
    return box;
  }

  /** What `whole` has more than the boxes: contexts that were pruned. */
  remainder(above, whole, boxes) {
    const rest = whole.map((sum, at) => Math.max(0, sum - sumOf(boxes, (box) => box.inclusive[at])));
    if (!rest.some((number) => number > 0)) return [];
    const box = new Box(this, this.data.pruned, above);
    box.own = rest;
    box.inclusive = rest;
    box.nodes = [];
    box.at = box.from = new Int32Array(0);
    return [box];
  }
}

/**
 * Callees below callers: the calling-context tree. With a label, what is at and below that method,
 * all of its contexts added up.
 */
class Callees extends Forest {
  constructor(data, measure, byName, label = -1) {
    super(data, measure, byName);
    this.focus = label;
    const roots = data.threads.map((thread) => data.contexts.roots[thread]);
    this.root = this.box(-1, null, roots);
    if (label >= 0) {
      this.root.inclusive = data.table.inclusive.map((sums) => sums[label]);
      this.root.own = this.zeros();
    }
  }

  box(label, above, nodes) {
    const { contexts } = this.data;
    const box = new Box(this, label, above);
    box.nodes = nodes;
    const sum = (column) => sumOf(nodes, (node) => column[node]);
    box.own = contexts.own.map(sum);
    box.inclusive = contexts.inclusive.map(sum);
    if (box.isPruned) box.lost = sumOf(nodes, (node) => contexts.lost.get(node));
    return box;
  }

  below(box) {
    if (this.focus >= 0 && box === this.root) {
      const top = this.box(this.focus, box, this.outermost(this.focus));
      const rest = this.remainder(top, box.inclusive, [top]);
      if (rest.length > 0) {
        const callees = this.sorted(this.below(top).concat(rest));
        top.known = callees;
        top.inclusive = box.inclusive;
      }
      return [top];
    }
    const { label, end } = this.data.contexts;
    const groups = new Map();
    for (const node of box.nodes) {
      for (let callee = node + 1; callee < end[node]; callee = end[callee]) {
        const group = groups.get(label[callee]);
        if (group) group.push(callee);
        else groups.set(label[callee], [callee]);
      }
    }
    return Array.from(groups, ([of, nodes]) => this.box(of, box, nodes));
  }

  /** The contexts of a method below which it is not on the stack further out. */
  outermost(method) {
    const { methodOf } = this.data;
    const { label, end } = this.data.contexts;
    const found = [];
    for (const root of this.root.nodes) {
      for (let node = root + 1; node < end[root]; ) {
        if (methodOf(label[node]) === method) {
          found.push(node);
          node = end[node];
        } else {
          node++;
        }
      }
    }
    return found;
  }

  /** The heaviest box of a method; null if no context of it was kept. */
  heaviest(method) {
    const { contexts, methodOf } = this.data;
    let best = -1;
    for (const node of this.outermost(method)) {
      if (best < 0 || contexts.inclusive[this.measure][node] > contexts.inclusive[this.measure][best]) best = node;
    }
    if (best < 0) return null;
    const path = [];
    for (let node = best; contexts.caller[node] >= 0; node = contexts.caller[node]) path.push(contexts.label[node]);
    if (this.focus >= 0) {
      const outermost = path.map(methodOf).lastIndexOf(this.focus);
      path.splice(outermost + 1);
      // All contexts of the method in focus are one box, whatever their call sites.
      if (outermost >= 0) path[outermost] = this.focus;
    }
    const box = this.find(path.reverse());
    return methodOf(box.label) === method ? box : null;
  }
}

/**
 * The callers of one method, and theirs: what the method causes in all, divided by who calls it. In
 * recursion the outermost call counts.
 */
class CallersOf extends Forest {
  constructor(data, measure, byName, method, callees) {
    super(data, measure, byName);
    const nodes = callees.outermost(method);
    this.root = this.box(method, null, nodes, nodes);
    this.kept = this.root.inclusive;
    this.root.inclusive = callees.root.inclusive;
  }

  /** `from` are contexts of the method, `at` those on their stacks that the box is about. */
  box(label, above, from, at) {
    const box = new Box(this, label, above);
    Object.assign(box, { from, at, own: this.zeros() });
    box.inclusive = this.data.contexts.inclusive.map((sums) => sumOf(from, (node) => sums[node]));
    return box;
  }

  below(box) {
    const { contexts, methodOf } = this.data;
    const groups = new Map();
    box.at.forEach((node, i) => {
      const above = contexts.caller[node];
      if (contexts.label[above] < 0) return;
      const of = methodOf(contexts.label[above]);
      if (!groups.has(of)) groups.set(of, { from: [], at: [] });
      groups.get(of).from.push(box.from[i]);
      groups.get(of).at.push(above);
    });
    const boxes = Array.from(groups, ([of, { from, at }]) => this.box(of, box, from, at));
    if (box !== this.root) return boxes;
    // What the method has more is of contexts that were pruned.
    const pruned = box.inclusive.map((sum, at) => sum - this.kept[at]);
    if (!pruned.some((number) => number > 0)) return boxes;
    const rest = this.box(this.data.pruned, box, [], []);
    rest.inclusive = pruned;
    return [...boxes, rest];
  }
}

/**
 * Callers below callees: each method with what it executed itself, divided by the methods that
 * called it, from whatever call sites.
 */
class Callers extends Forest {
  constructor(data, measure, byName) {
    super(data, measure, byName);
    this.root = new Box(this, -1, null);
    this.root.inclusive = data.sums.slice();
    this.root.own = this.zeros();
    this.counts = new Int32Array(data.pruned + 1);
    /** For each label where its contexts start in `order`. */
    this.start = new Int32Array(data.pruned + 2);
    const { label, roots, end } = data.contexts;
    this.method = data.methodOf;
    const each = (look) => {
      for (const thread of data.threads) {
        for (let node = roots[thread] + 1; node < end[roots[thread]]; node++) look(this.method(label[node]), node);
      }
    };
    each((of) => this.start[of + 1]++);
    for (let at = 1; at < this.start.length; at++) this.start[at] += this.start[at - 1];
    this.order = new Int32Array(this.start[data.pruned + 1]);
    this.above = new Int32Array(this.order.length);
    const next = this.start.slice();
    each((of, node) => (this.order[next[of]++] = node));
  }

  /** `from` are contexts of a method, `at` those on their stacks that the box is about. */
  box(label, above, from, at) {
    const box = new Box(this, label, above);
    box.from = from;
    box.at = at;
    box.own = this.zeros();
    box.inclusive = this.data.contexts.own.map((own) => {
      let sum = 0;
      for (let i = 0; i < from.length; i++) sum += own[from[i]];
      return sum;
    });
    return box;
  }

  below(box) {
    const { table, pruned, contexts } = this.data;
    if (box === this.root) {
      const boxes = [];
      for (let label = 0; label < pruned; label++) {
        if (table.contexts[label] === 0) continue;
        const from = this.order.subarray(this.start[label], this.start[label + 1]);
        const method = this.box(label, box, from, from);
        // The table is exact; what it has more is of contexts that were pruned.
        method.kept = method.inclusive;
        method.inclusive = table.own.map((own) => own[label]);
        boxes.push(method);
      }
      return boxes;
    }
    const { label, caller } = contexts;
    // For each label how many contexts, then which of the groups; only those that are met are
    // touched.
    const { counts, above } = this;
    const met = [];
    for (let i = 0; i < box.at.length; i++) {
      above[i] = caller[box.at[i]];
      const of = this.method(label[above[i]]);
      if (of >= 0 && counts[of]++ === 0) met.push(of);
    }
    const groups = met.map((of, group) => {
      const count = counts[of];
      counts[of] = group;
      return { of, from: new Int32Array(count), at: new Int32Array(count), length: 0 };
    });
    for (let i = 0; i < box.at.length; i++) {
      const of = this.method(label[above[i]]);
      if (of < 0) continue;
      const group = groups[counts[of]];
      group.from[group.length] = box.from[i];
      group.at[group.length++] = above[i];
    }
    for (const of of met) counts[of] = 0;
    const boxes = groups.map(({ of, from, at }) => this.box(of, box, from, at));
    if (!box.kept) return boxes;
    const outermost = this.zeros().map((_, at) => box.kept[at] - sumOf(boxes, (one) => one.inclusive[at]));
    return boxes.concat(this.remainder(box, box.inclusive.map((sum, at) => sum - outermost[at]), boxes));
  }

  heaviest(method) {
    return this.root.below.find((box) => box.label === method) ?? null;
  }
}
