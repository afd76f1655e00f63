// The data of the page: columns of numbers, compressed, as base64 (see html/columns.rs).

/** The bytes of one of the page's columns. The element is removed: it is large, and is needed once. */
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
 * The contexts of all threads, in preorder, thread after thread. The first of a thread is no context but its root, with label -1.
 * `end` is where the callees of a context and all below them end.
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
    const [left, label, lost, ...own] = await Promise.all([
      column("contexts-left", new Int32Array(count)),
      column("contexts-label", new Int32Array(count)),
      bytesOf("contexts-lost"),
      ...Array.from({ length: measures }, (_, at) => column(`contexts-own-${at}`, new Float64Array(count))),
    ]);
    const pruned = head.labels.length;
    const lostCounts = decoded(lost, new Float64Array(label.reduce((n, l) => n + (l === pruned ? 1 : 0), 0)));
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
        if (label[at] === pruned) contexts.lost.set(node, lostCounts[prunedSoFar++]);
        caller[node] = current;
        current = node;
      }
      for (; current >= 0; current = caller[current]) end[current] = node;
    }
    return contexts.addUp();
  }

  /**
   * The same with recursion folded: a call of what is on the stack already, from wherever it is called, is a call in the context that it has
   * there, and what is called from there hangs below it. No count is lost. `methodOf` has the method of a label.
   */
  folded(methodOf) {
    const { label, caller, own } = this;
    const labels = label.reduce((most, one) => Math.max(most, one), 0) + 1;
    // The folded contexts in the order in which they are met: callers before callees.
    const newLabel = [];
    const newCaller = [];
    const place = new Int32Array(label.length);
    const known = new Map();
    for (let node = 0; node < label.length; node++) {
      if (caller[node] < 0) {
        place[node] = newLabel.push(-1) - 1;
        newCaller.push(-1);
        continue;
      }
      const above = place[caller[node]];
      let found = above;
      const method = methodOf(label[node]);
      while (found >= 0 && methodOf(newLabel[found]) !== method) found = newCaller[found];
      if (found < 0) {
        const key = above * labels + label[node];
        found = known.get(key);
        if (found === undefined) {
          found = newLabel.push(label[node]) - 1;
          newCaller.push(above);
          known.set(key, found);
        }
      }
      place[node] = found;
    }
    // Their places in preorder, which the sizes of what is below them give: callers come before callees, so sizes are summed backward.
    const count = newLabel.length;
    const size = new Int32Array(count).fill(1);
    for (let at = count - 1; at > 0; at--) if (newCaller[at] >= 0) size[newCaller[at]] += size[at];
    const position = new Int32Array(count);
    const next = new Int32Array(count);
    const result = new Contexts(count, own.length);
    let nextRoot = 0;
    for (let at = 0; at < count; at++) {
      const above = newCaller[at];
      position[at] = above < 0 ? nextRoot : next[above];
      if (above < 0) {
        result.roots.push(position[at]);
        nextRoot += size[at];
      } else {
        next[above] += size[at];
      }
      next[at] = position[at] + 1;
      result.label[position[at]] = newLabel[at];
      result.caller[position[at]] = above < 0 ? -1 : position[above];
      result.end[position[at]] = position[at] + size[at];
    }
    for (let measure = 0; measure < own.length; measure++) {
      for (let node = 0; node < label.length; node++) result.own[measure][position[place[node]]] += own[measure][node];
    }
    for (const [node, lost] of this.lost) {
      const folded = position[place[node]];
      result.lost.set(folded, (result.lost.get(folded) ?? 0) + lost);
    }
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

  /** The sums over some threads, given by their numbers: for each label how many contexts, and for each measure own and inclusive. */
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
}
