// Colours of boxes. Hues of a profile tell packages apart (cool ones are the class library's, warm
// ones the program's), those of a difference what has become more (red) and less (blue).

class Colours {
  constructor(state) {
    this.state = state;
    this.fills = new Map();
    this.hues = state.head.labels.map((_, label) => hueOf(state.head.labels[state.methodOf(label)], state.head.kinds[label]));
  }

  /** Looks up the colours of the page itself, as the style sheet has them now. */
  refresh() {
    const style = getComputedStyle(document.documentElement);
    const names = ["paper", "box-ink", "narrow", "root", "pruned", "pruned-ink", "mark"];
    this.page = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.isDark = document.documentElement.dataset.theme === "dark";
  }

  fill(box) {
    const { state, isDark } = this;
    if (box.label < 0 || box.isPruned) return box.isPruned ? this.page.pruned : this.page.root;
    if (state.matches !== null && state.isMatch(box.label)) return isDark ? "hsl(300 38% 36%)" : "hsl(300 70% 83%)";
    if (state.isDifference) return this.ofChange(box);
    const key = box.label * 2 + (isDark ? 1 : 0);
    let fill = this.fills.get(key);
    if (!fill) {
      const { hue, shade, isGrey } = this.hues[box.label];
      const saturation = isGrey ? 0 : isDark ? 28 + shade * 8 : 52 + shade * 14;
      const light = isDark ? 27 + shade * 7 : 74 + shade * 9;
      fill = `hsl(${hue} ${saturation}% ${light}%)`;
      this.fills.set(key, fill);
    }
    return fill;
  }

  ofChange(box) {
    const { state, isDark } = this;
    const kind = state.view === "callers" ? "inclusive" : state.colour;
    const [now, before] = [box[kind][state.metric], box[kind][state.base]];
    if (now === before) return isDark ? "hsl(220 5% 26%)" : "hsl(220 8% 88%)";
    // The root makes small changes visible: every change is a true one.
    const strength = Math.sqrt(Math.min(1, Math.abs(now - before) / Math.max(1, Math.min(now, before))));
    const hue = now > before ? 6 : 214;
    return isDark
      ? `hsl(${hue} ${30 + strength * 45}% ${31 + strength * 13}%)`
      : `hsl(${hue} ${60 + strength * 30}% ${87 - strength * 22}%)`;
  }
}

/** FNV-1a. */
function hashOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function hueOf(name, kind) {
  const { packageName, className } = partsOf(name);
  const hue = hashOf(packageName) % 1000 / 1000;
  const shade = (hashOf(className) % 1000) / 1000;
  return { hue: Math.round(kind === 1 ? 120 + hue * 110 : 8 + hue * 46), shade, isGrey: kind === 0 };
}

/** The parts of java.util.Map$Entry.getValue(Object). */
function partsOf(name) {
  const parameters = name.indexOf("(");
  const head = parameters > 0 ? name.slice(0, parameters) : name;
  const method = head.lastIndexOf(".");
  const type = parameters > 0 ? head.lastIndexOf(".", method - 1) : method;
  return {
    packageName: type > 0 ? head.slice(0, type) : "",
    className: parameters > 0 && method > 0 ? head.slice(type + 1, method) : head.slice(type + 1),
    methodName: parameters > 0 && method > 0 ? head.slice(method + 1) : "",
    parameters: parameters > 0 ? name.slice(parameters) : "",
  };
}

/** The longest form of a name that fits into so many characters; empty if none does. */
function fitted(name, characters) {
  if (name.length <= characters) return name;
  const { className, methodName, parameters } = partsOf(name);
  const full = methodName ? `${className}.${methodName}` : className;
  for (const form of [full + parameters, full, methodName]) {
    if (form && form.length <= characters) return form;
  }
  return characters < 4 ? "" : `${(methodName || className).slice(0, characters - 1)}…`;
}
