// The data of the page: columns of numbers, compressed, as base64 (see html/columns.rs).

/**
 * The bytes of one of the page's columns. The element is removed: it is large, and is needed once.
 */
async function bytesOf(name) {
  const element = document.getElementById(name);
  const text = element.textContent;
  element.remove();
  const compressed = Uint8Array.fromBase64
    ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([compressed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Decodes LEB128 numbers until the array is full. */
function decoded(bytes, into) {
  let at = 0;
  for (let i = 0; i < into.length; i++) {
    let byte = bytes[at++];
    if (byte < 128) {
      into[i] = byte;
      continue;
    }
    let value = byte & 127;
    let unit = 128;
    do {
      byte = bytes[at++];
      value += (byte & 127) * unit;
      unit *= 128;
    } while (byte >= 128);
    into[i] = value;
  }
  if (at !== bytes.length) throw new Error("the data in this page are damaged");
  return into;
}

const sumOf = (list, number) => list.reduce((sum, item) => sum + number(item), 0);

/**
 * The contexts of all threads, in preorder, thread after thread. The first of a thread is no
 * context but its root, with label -1. `end` is where the callees of a context and all below them
 * end.
 */
class Contexts {
  constructor(count, measures) {
    this.label = new Int32Array(count);
    this.caller = new Int32Array(count);
    this.end = new Int32Array(count);
    this.own = Array.from({ length: measures }, () => new Float64Array(count));
    this.inclusive = this.own;
    /** Of those that stand for pruned contexts, how many. */
    this.lost = new Map();
    /**
     * Of the same ones, what belongs to the library's line of the caller if the library is
     * collapsed: how many contexts, and their own counts.
     */
    this.lostLibrary = new Map();
    this.roots = [];
  }

  /** Adds up what is below each context. */
  addUp() {
    const { caller } = this;
    this.inclusive = this.own.map((own) => {
      const sums = own.slice();
      for (let node = sums.length - 1; node > 0; node--) {
        if (caller[node] >= 0) sums[caller[node]] += sums[node];
      }
      return sums;
    });
    return this;
  }

  static async read(head) {
    const count = sumOf(head.threads, (thread) => thread.nodes);
    const measures = head.metrics.length * head.sides;
    const column = async (name, array) => decoded(await bytesOf(name), array);
    const [left, label, ...own] = await Promise.all([
      column("contexts-left", new Int32Array(count)),
      column("contexts-label", new Int32Array(count)),
      ...Array.from({ length: measures }, (_, at) => column(`contexts-own-${at}`, new Float64Array(count))),
    ]);
    const pruned = head.labels.length;
    const prunedCount = label.reduce((n, l) => n + (l === pruned ? 1 : 0), 0);
    const [lostCounts, libraryCounts, ...libraryOwn] = await Promise.all(
      ["contexts-lost", "contexts-lost-library", ...Array.from({ length: measures }, (_, at) => `contexts-lost-library-own-${at}`)].map((name) =>
        column(name, new Float64Array(prunedCount)),
      ),
    );
    const contexts = new Contexts(count + head.threads.length, measures);
    const { caller, end } = contexts;
    let at = 0;
    let node = 0;
    let prunedSoFar = 0;
    for (const thread of head.threads) {
      const last = at + thread.nodes;
      contexts.roots.push(node);
      contexts.label[node] = -1;
      caller[node] = -1;
      let current = node++;
      contexts.label.set(label.subarray(at, last), node);
      own.forEach((column, measure) => contexts.own[measure].set(column.subarray(at, last), node));
      for (; at < last; at++, node++) {
        for (let steps = left[at]; steps > 0; steps--) {
          end[current] = node;
          current = caller[current];
        }
        if (label[at] === pruned) {
          contexts.lost.set(node, lostCounts[prunedSoFar]);
          contexts.lostLibrary.set(node, { contexts: libraryCounts[prunedSoFar], own: libraryOwn.map((column) => column[prunedSoFar]) });
          prunedSoFar++;
        }
        caller[node] = current;
        current = node;
      }
      for (; current >= 0; current = caller[current]) end[current] = node;
    }
    return contexts.addUp();
  }

  /**
   * The same with recursion folded: a call of what is on the stack already, from wherever it is
   * called, is a call in the context that it has there, and what is called from there hangs below
   * it. No count is lost. `methodOf` has the method of a label.
   */
  folded(methodOf) {
    const { label, caller } = this;
    const other = new OtherTree(this);
    for (let node = 0; node < label.length; node++) {
      if (caller[node] < 0) {
        other.place[node] = other.root();
        continue;
      }
      const above = other.place[caller[node]];
      const method = methodOf(label[node]);
      let found = above;
      while (found >= 0 && methodOf(other.label[found]) !== method) found = other.caller[found];
      other.place[node] = found < 0 ? other.child(above, label[node]) : found;
    }
    return other.contexts();
  }

  /**
   * The same with the work of the library added to the nearest frame of the program, as a line
   * below it, by the rules of crates/profile/src/library. `library` has the label of the lines, and
   * for each label its role. Call sites are added up. What groups of methods execute within
   * themselves is one context, as in the whole tree (`isByMethod` is false).
   */
  collapsed({ label: line, roles }, methodOf, isByMethod) {
    const { label, caller } = this;
    const pruned = roles.length;
    const other = new OtherTree(this);
    // For each context the nearest one of the program in the other tree, and whether it is of the
    // library.
    const program = new Int32Array(label.length);
    const isLibrary = new Uint8Array(label.length);
    for (let node = 0; node < label.length; node++) {
      const up = caller[node];
      if (up < 0) {
        program[node] = other.place[node] = other.root();
        continue;
      }
      const above = program[up];
      const role = label[node] === pruned ? "pruned" : roles[label[node]];
      if (role === "pruned") {
        const part = this.lostLibrary.get(node);
        const rest = this.lost.get(node) - part.contexts;
        if (part.contexts > 0) other.moved.push({ from: node, to: other.child(above, line), own: part.own });
        other.place[node] = rest > 0 ? other.child(above, pruned) : above;
        if (rest > 0) other.lost.set(other.place[node], (other.lost.get(other.place[node]) ?? 0) + rest);
      } else if (role === 1) {
        // A context that only leads to others would leave a line without a number.
        const counts = this.own.some((own) => own[node] > 0);
        other.place[node] = counts ? other.child(above, line) : above;
        program[node] = above;
        isLibrary[node] = 1;
      } else if (role === 2) {
        other.place[node] = other.child(isLibrary[up] ? other.child(above, line) : above, methodOf(label[node]));
        program[node] = above;
        isLibrary[node] = isLibrary[up];
      } else {
        const of = methodOf(label[node]);
        program[node] = other.place[node] = isByMethod || other.label[above] !== of ? other.child(above, of) : above;
      }
    }
    return other.contexts(true);
  }
}

/**
 * Another tree with the counts of some contexts. Contexts are added to it callers first, and each
 * of the old ones gets its place there.
 */
class OtherTree {
  constructor(old) {
    this.old = old;
    this.labels = old.label.reduce((most, one) => Math.max(most, one), 0) + 2;
    this.label = [];
    this.caller = [];
    this.known = new Map();
    this.place = new Int32Array(old.label.length);
    /** Counts of an old context that go elsewhere: `own` of `from` to the new context `to`. */
    this.moved = [];
    /** How many pruned contexts a new one stands for. */
    this.lost = new Map();
  }

  root() {
    this.caller.push(-1);
    return this.label.push(-1) - 1;
  }

  /** The context with this label below another. */
  child(above, label) {
    const key = above * this.labels + label;
    let found = this.known.get(key);
    if (found === undefined) {
      found = this.label.push(label) - 1;
      this.caller.push(above);
      this.known.set(key, found);
    }
    return found;
  }

  /** All contexts. With `hasLost`, `lost` says what was pruned; else it is as before. */
  contexts(hasLost = false) {
    const { old, label, caller, place } = this;
    // Their places in preorder, which the sizes of what is below them give: callers come before
    // callees, so sizes are summed backward.
    const count = label.length;
    const size = new Int32Array(count).fill(1);
    for (let at = count - 1; at > 0; at--) if (caller[at] >= 0) size[caller[at]] += size[at];
    const position = new Int32Array(count);
    const next = new Int32Array(count);
    const result = new Contexts(count, old.own.length);
    let nextRoot = 0;
    for (let at = 0; at < count; at++) {
      const above = caller[at];
      position[at] = above < 0 ? nextRoot : next[above];
      if (above < 0) {
        result.roots.push(position[at]);
        nextRoot += size[at];
      } else {
        next[above] += size[at];
      }
      next[at] = position[at] + 1;
      result.label[position[at]] = label[at];
      result.caller[position[at]] = above < 0 ? -1 : position[above];
      result.end[position[at]] = position[at] + size[at];
    }
    old.own.forEach((own, measure) => {
      const sums = result.own[measure];
      for (let node = 0; node < place.length; node++) sums[position[place[node]]] += own[node];
      for (const { from, to, own: part } of this.moved) {
        sums[position[place[from]]] -= part[measure];
        sums[position[to]] += part[measure];
      }
    });
    const lost = hasLost ? this.lost : Array.from(old.lost, ([node, many]) => [place[node], many]);
    for (const [at, many] of lost) result.lost.set(position[at], (result.lost.get(position[at]) ?? 0) + many);
    return result.addUp();
  }
}

/** The table of methods, which is exact over all contexts, thread by thread. */
class Methods {
  static async read(head) {
    const rows = sumOf(head.threads, (thread) => thread.rows);
    const measures = Array.from({ length: head.metrics.length * head.sides }, (_, at) => at);
    const column = async (name) => decoded(await bytesOf(name), new Float64Array(rows));
    const methods = new Methods();
    methods.head = head;
    [methods.label, methods.contexts] = await Promise.all([column("methods-label"), column("methods-contexts")]);
    methods.own = await Promise.all(measures.map((at) => column(`methods-own-${at}`)));
    methods.inclusive = await Promise.all(measures.map((at) => column(`methods-inclusive-${at}`)));
    return methods;
  }

  /**
   * The sums over some threads, given by their numbers: for each label how many contexts, and for
   * each measure own and inclusive.
   */
  of(threads) {
    const { head } = this;
    const sums = () => new Float64Array(head.labels.length);
    const table = { contexts: sums(), own: this.own.map(sums), inclusive: this.inclusive.map(sums) };
    let row = 0;
    head.threads.forEach((thread, number) => {
      let label = 0;
      const isIn = threads.has(number);
      for (const last = row + thread.rows; row < last; row++) {
        label += this.label[row];
        if (!isIn) continue;
        table.contexts[label] += this.contexts[row];
        this.own.forEach((own, measure) => (table.own[measure][label] += own[row]));
        this.inclusive.forEach((inclusive, measure) => (table.inclusive[measure][label] += inclusive[row]));
      }
    });
    return table;
  }

  /**
   * The same with all of the library in the row of its lines. The program's own and inclusive
   * counts are those of the whole tree.
   */
  ofCollapsed(threads) {
    const { library, threads: all } = this.head;
    const table = this.of(threads);
    library.roles.forEach((role, label) => {
      if (role !== 1 || label === library.label) return;
      for (const sums of [table.contexts, ...table.own]) {
        sums[library.label] += sums[label];
        sums[label] = 0;
      }
    });
    table.inclusive.forEach((sums, measure) => (sums[library.label] = sumOf([...threads], (thread) => all[thread].library[measure])));
    return table;
  }
}
