// The beginning: reads the data, makes the parts of the page, and ties switches and keys to them.

const byId = (id) => document.getElementById(id);

async function start() {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("this browser is too old: it has no DecompressionStream; Chrome 104, Firefox 113, Safari 16.4 and later ones can show it");
  }
  const head = JSON.parse(new TextDecoder().decode(await bytesOf("head")));
  const [contexts, methods] = await Promise.all([Contexts.read(head), Methods.read(head)]);
  const state = new State(head, contexts, methods);
  if (state.isDifference) document.documentElement.dataset.difference = "";
  state.readAddress();
  tieTheme(state);
  new AboutPanel(state);
  const graph = new Graph(state, new Colours(state));
  new SelectedPanel(state);
  new TreePanel(state);
  new MethodsPanel(state);
  tieTools(state, graph);
  tieThreads(state);
  tieKeys(state, graph);
  tieLayout();
  state.tell("shape");
  byId("loading").remove();
  byId("graph").focus({ preventScroll: true });
  /** For tests, and for whoever wants to look from the browser's console. */
  globalThis.cctrewrite = { state, graph };
}

/** Dark or light: as the system has it, until the button says otherwise. */
function tieTheme(state) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (state.theme === "" ? system.matches : state.theme === "dark");
  const show = () => {
    document.documentElement.dataset.theme = isDark() ? "dark" : "light";
    byId("theme").textContent = isDark() ? "Light" : "Dark";
  };
  byId("theme").addEventListener("click", () => {
    state.theme = isDark() ? "light" : "dark";
    show();
    state.tell("look");
  });
  system.addEventListener("change", () => {
    show();
    state.tell("look");
  });
  show();
}

function tieTools(state, graph) {
  const { head } = state;
  byId("metric").replaceChildren(...head.metrics.map((words, at) => make("option", { value: at, textContent: words })));
  const what = head.by === "class" ? "Classes" : `${head.by[0].toUpperCase()}${head.by.slice(1)}s`;
  byId("methods-title").textContent = what;
  byId("tab-methods").textContent = what;

  byId("view-callees").addEventListener("click", () => state.set({ view: "callees", focus: -1 }));
  byId("view-callers").addEventListener("click", () => state.set({ view: "callers", focus: -1 }));
  const select = (id, change) => byId(id).addEventListener("change", (event) => state.set(change(event.target.value)));
  select("metric", (value) => ({ metric: Number(value) }));
  select("side", (value) => ({ side: Number(value) }));
  select("colour", (value) => ({ colour: value }));
  select("order", (value) => ({ order: value }));
  const check = (id) => byId(id).addEventListener("change", (event) => state.set({ [id]: event.target.checked }));
  check("fold");
  check("library");
  byId("library-label").hidden = !head.library;
  if (head.library) byId("library-label").title = `Add the work of the library (${head.library.which}) to the frames that call it, as lines (library) (l)`;
  check("regex");
  byId("up").addEventListener("change", (event) => turn(state, graph, event.target.checked));
  byId("query").addEventListener("input", (event) => state.set({ query: event.target.value }));
  byId("reset").addEventListener("click", () => {
    state.set({ focus: -1, view: state.view === "sandwich" ? "callees" : state.view });
    state.set({ zoom: state.root });
  });

  state.listen(() => {
    byId("view-callees").setAttribute("aria-pressed", state.view === "callees");
    byId("view-callers").setAttribute("aria-pressed", state.view === "callers");
    byId("metric").value = state.metric;
    byId("side").value = state.side;
    byId("colour").value = state.colour;
    byId("order").value = state.order;
    byId("fold").checked = state.fold;
    byId("library").checked = state.library;
    byId("up").checked = state.up;
    byId("regex").checked = state.regex;
    if (byId("query").value !== state.query) byId("query").value = state.query;
    byId("query").setAttribute("aria-invalid", state.searchError !== "");
    byId("reset").hidden = state.zoom === state.root && state.focus < 0;
    const [chosen, all] = [grouped(state.threads.size), grouped(head.threads.length)];
    byId("threads").textContent = all === "1" ? "1 thread" : chosen === all ? `All ${all} threads` : `${chosen} of ${all} threads`;
    byId("found").textContent = foundText(state);
  });
}

function turn(state, graph, up) {
  graph.shownZoom = null;
  state.up = up;
  state.tell("shape");
}

function foundText(state) {
  if (state.searchError) return state.searchError;
  if (!state.matches) return "";
  const { methods, sum } = state.found();
  const words = state.head.by === "class" ? "classes" : `${state.head.by}s`;
  const what = methods === 1 ? `1 ${state.head.by}` : `${grouped(methods)} ${words}`;
  const unknown = state.totals.lost > 0 ? " (pruned left out)" : "";
  const match = state.walk?.at >= 0 ? `; match ${grouped(state.walk.at + 1)} of ${grouped(state.walk.length)}` : "";
  return `${what}; ${percent(sum, state.totals.sums[state.measure]) || "0 %"} of ${state.words} in and below${unknown}${match}`;
}

/** The dialog in which threads are chosen. */
function tieThreads(state) {
  const { head } = state;
  const boxes = head.threads.map((thread, number) => {
    const box = make("input", { type: "checkbox" });
    box.addEventListener("change", () => {
      const threads = new Set(state.threads);
      if (box.checked) threads.add(number);
      else threads.delete(number);
      // Nothing would be left to be shown.
      if (threads.size > 0) state.set({ threads });
      else box.checked = true;
    });
    return box;
  });
  const list = () => {
    const order = [...head.threads.keys()].sort((a, b) => head.threads[b].sums[state.metric] - head.threads[a].sums[state.metric]);
    byId("thread-list").replaceChildren(
      ...order.map((number) => {
        const thread = head.threads[number];
        boxes[number].checked = state.threads.has(number);
        const total = sumOf(head.threads, (one) => one.sums[state.metric]);
        return make(
          "label",
          {},
          boxes[number],
          make("span", { className: "name", textContent: state.threadName(number) }),
          make("span", { className: "number", textContent: `${counted(thread.sums[state.metric], state.words)}` }),
          make("span", { className: "number", textContent: percent(thread.sums[state.metric], total) || "0 %" }),
        );
      }),
    );
  };
  byId("threads").addEventListener("click", () => {
    list();
    byId("choose").showModal();
  });
  byId("threads-all").addEventListener("click", () => {
    state.set({ threads: new Set(head.threads.keys()) });
    list();
  });
  byId("threads-one").addEventListener("click", () => {
    const heaviest = [...head.threads.keys()].reduce((a, b) => (head.threads[b].sums[0] > head.threads[a].sums[0] ? b : a));
    state.set({ threads: new Set([heaviest]) });
    list();
  });
}

function tieKeys(state, graph) {
  byId("open-about").addEventListener("click", () => byId("about").showModal());
  byId("open-help").addEventListener("click", () => byId("help").showModal());
  const next = (list, now) => list[(list.indexOf(now) + 1) % list.length];
  const keys = {
    "/": () => byId("query").focus(),
    "?": () => byId("help").showModal(),
    a: () => byId("about").showModal(),
    t: () => byId("threads").click(),
    d: () => byId("theme").click(),
    c: () => state.set({ view: state.view === "callees" ? "callers" : "callees", focus: -1 }),
    m: () => state.set({ metric: (state.metric + 1) % state.head.metrics.length }),
    o: () => state.set({ order: next(["weight", "name"], state.order) }),
    r: () => state.set({ fold: !state.fold }),
    l: () => state.head.library && state.set({ library: !state.library }),
    i: () => turn(state, graph, !state.up),
    w: () => state.isDifference && state.set({ side: 1 - state.side }),
    k: () => state.isDifference && state.set({ colour: next(["own", "inclusive"], state.colour) }),
    s: () => state.method >= 0 && state.set({ view: "sandwich", focus: state.method }),
    f: () => state.method >= 0 && state.set({ view: "callees", focus: state.method }),
    b: () => state.method >= 0 && showCallers(state, state.method),
    n: () => nextMatch(state, graph, 1),
    N: () => nextMatch(state, graph, -1),
    Escape: () => back(state),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const isText = event.target.matches("input[type=search]");
    if (isText && event.key === "Enter") {
      event.preventDefault();
      byId("graph").focus({ preventScroll: true });
      nextMatch(state, graph, 1);
    } else if (event.key in keys && (!isText || event.key === "Escape") && !(event.target.matches("select") && event.key.length === 1)) {
      event.preventDefault();
      if (isText) byId("graph").focus({ preventScroll: true });
      keys[event.key]();
    }
  });
}

/** Undoes what was done last: search, zoom, the view of one method, the selection. */
function back(state) {
  if (state.query !== "") state.set({ query: "" });
  else if (state.zoom !== state.root) state.set({ zoom: state.root });
  else if (state.focus >= 0) state.set({ view: "callees", focus: -1 });
  else if (state.selected || state.method >= 0) state.select(null);
}

/**
 * Selects the heaviest of the boxes that are searched for, the next one by weight, or the one
 * before.
 */
function nextMatch(state, graph, step) {
  if (!state.matches) return;
  if (!state.walk) {
    const all = state.view === "callees" && state.focus < 0;
    const boxes = all ? state.matchingPaths().map((path) => () => state.forest.find(path())) : drawnMatches(state, graph);
    state.walk = { boxes, length: boxes.length, at: -1 };
  }
  const { walk } = state;
  if (walk.length === 0) return;
  walk.at = walk.at < 0 ? (step > 0 ? 0 : walk.length - 1) : (walk.at + step + walk.length) % walk.length;
  state.select(walk.boxes[walk.at]());
}

/**
 * The boxes in the graph that are searched for: in views of callers and of one method, boxes are
 * made when they are looked at.
 */
function drawnMatches(state, graph) {
  const found = graph.rows.flat().filter(({ box, isAbove }) => box && !isAbove && state.isMatch(box.label));
  return found.sort((a, b) => b.width - a.width).map(({ box }) => () => box);
}

/** The divider between graph and tables, and the tabs of small windows. */
function tieLayout() {
  const root = document.documentElement;
  const divider = byId("divider");
  const main = document.querySelector("main");
  const put = (height) => {
    const share = (Math.max(120, Math.min(main.clientHeight - 160, height)) / main.clientHeight) * 100;
    root.style.setProperty("--graph", `${share}%`);
    divider.setAttribute("aria-valuenow", Math.round(share));
  };
  divider.addEventListener("pointerdown", (event) => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", (event) => {
    if (divider.hasPointerCapture(event.pointerId)) put(event.clientY - main.getBoundingClientRect().top);
  });
  divider.addEventListener("keydown", (event) => {
    const step = { ArrowUp: -40, ArrowDown: 40 }[event.key];
    if (!step) return;
    event.preventDefault();
    put(byId("graph").offsetHeight + step);
  });
  const show = (tab) => {
    byId("tables").dataset.tab = tab;
    byId("tab-tree").setAttribute("aria-pressed", tab === "tree");
    byId("tab-methods").setAttribute("aria-pressed", tab === "methods");
  };
  byId("tab-tree").addEventListener("click", () => show("tree"));
  byId("tab-methods").addEventListener("click", () => show("methods"));
  show("tree");
}

byId("loading").append("Reading the profile …");
start().catch((error) => {
  const loading = byId("loading") ?? document.body.appendChild(make("div", { id: "loading" }));
  loading.className = "failed";
  loading.textContent = `This page cannot be shown: ${error.message}`;
  throw error;
});
