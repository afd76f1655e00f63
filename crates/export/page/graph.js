// The flame graph. Each row has the boxes of one level; a box is as wide as its inclusive count.
// Boxes that are too narrow to draw are drawn together.

const ROW = 19;
const NARROWEST = 0.6;
/** The most levels of callers above a method. */
const MOST_CALLERS = 500;
const FONT = "12px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace";

class Graph {
  constructor(state, colours) {
    this.state = state;
    this.colours = colours;
    this.view = document.getElementById("graph");
    this.canvas = document.getElementById("canvas");
    this.space = document.getElementById("graph-space");
    this.outline = document.getElementById("outline");
    this.pointer = document.getElementById("pointer");
    this.tip = document.getElementById("tip");
    this.rows = [];
    this.isComplete = false;
    /**
     * How many times as wide as the window the zoomed box is, and how much of it is left of the
     * window.
     */
    this.scale = 1;
    this.left = 0;
    this.view.addEventListener("scroll", () => this.scrolled());
    this.view.addEventListener("pointermove", (event) => this.hover(event));
    this.view.addEventListener("pointerleave", () => this.hover(null));
    this.view.addEventListener("click", (event) => this.clicked(event));
    this.view.addEventListener("dblclick", () => state.selected && zoomInto(state, state.selected));
    this.view.addEventListener("keydown", (event) => this.pressed(event));
    this.view.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    this.tieDragging();
    state.keepers.push(() => {
      const top = this.view.scrollTop;
      return () => (this.view.scrollTop = top);
    });
    new ResizeObserver(() => this.shaped()).observe(this.view);
    state.listen((what) => (what === "shape" ? this.shaped() : this.draw()));
  }

  /** Other boxes are shown. */
  shaped() {
    this.width = this.view.clientWidth;
    this.height = this.view.clientHeight;
    if (this.width === 0) return;
    this.rows = [];
    this.isComplete = false;
    const { zoom } = this.state;
    if (zoom !== this.shownZoom) [this.scale, this.left] = [1, 0];
    this.left = Math.max(0, Math.min(this.left, this.width * (this.scale - 1)));
    const above = [];
    for (let box = zoom; box; box = box.above) above.push(box);
    for (const box of above.reverse()) this.rows.push([{ box, ...this.whole(), isAbove: box !== zoom }]);
    this.shift = 0;
    if (this.state.upper) this.addCallers();
    this.grow();
    // When stacks grow upward, their roots are at the bottom.
    if (this.state.up && zoom !== this.shownZoom) this.view.scrollTop = this.view.scrollHeight;
    if (!this.state.up && zoom !== this.shownZoom) this.view.scrollTop = Math.max(0, (this.level(zoom) - 2) * ROW - (this.state.upper ? this.height / 2 : 0));
    this.shownZoom = zoom;
    this.showSelected();
    this.draw();
  }

  /** In place of the first row: the callers of the method in focus, the outermost first. */
  addCallers() {
    const rows = [[{ box: this.state.upper.root, ...this.whole() }]];
    for (let row = rows[0]; row.length > 0 && rows.length <= MOST_CALLERS; rows.push(row)) row = this.below(row);
    // The method in focus is below the root of all.
    if (this.rows.length === 1) this.rows.push(this.below(this.rows[0]));
    const callers = rows.slice(1).filter((row) => row.length > 0);
    this.rows.splice(0, 1, ...callers.reverse());
    this.shift = callers.length - 1;
  }

  /** The row of a box. */
  level(box) {
    return box.forest === this.state.upper ? this.shift + 1 - box.level : box.level + this.shift;
  }

  /** Where the zoomed box is. */
  whole() {
    return { x: -this.left, width: this.width * this.scale };
  }

  /**
   * Shows a part of the zoomed box, `factor` times as wide as before; what is at `x` stays there.
   */
  stretch(factor, x) {
    const scale = Math.max(1, Math.min(1e9, this.scale * factor));
    this.left = (this.left + x) * (scale / this.scale) - x;
    this.scale = scale;
    this.shaped();
  }

  /** Moves what is shown, in pixels. */
  move(x, y) {
    this.left += x;
    this.view.scrollTop += y;
    this.shaped();
  }

  /**
   * The wheel scrolls; with Ctrl, as a pinch on a touchpad says it, it stretches; with Shift it
   * moves to the side.
   */
  wheeled(event) {
    const unit = event.deltaMode === 0 ? 1 : ROW;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const frame = this.view.getBoundingClientRect();
      this.stretch(Math.exp(-event.deltaY * unit * 0.005), event.clientX - frame.left);
      return;
    }
    const aside = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (aside === 0 || this.scale === 1) return;
    event.preventDefault();
    this.move(aside * unit, event.shiftKey ? 0 : event.deltaY * unit);
  }

  /** A pointer that is pressed and moved takes the graph along; two of them stretch it. */
  tieDragging() {
    const pointers = new Map();
    const end = (event) => pointers.delete(event.pointerId);
    this.view.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
      if (pointers.size === 1) this.isDragged = false;
    });
    this.view.addEventListener("pointermove", (event) => {
      const last = pointers.get(event.pointerId);
      if (!last) return;
      const now = { x: event.clientX, y: event.clientY };
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1];
      // Until it has moved a little, it is a click.
      if (!this.isDragged && !other && Math.hypot(now.x - last.x, now.y - last.y) < 5) return;
      if (!this.isDragged && event.pointerType === "mouse") this.view.setPointerCapture(event.pointerId);
      this.isDragged = true;
      pointers.set(event.pointerId, now);
      if (other) {
        const apart = (one) => Math.max(10, Math.abs(one.x - other.x));
        this.stretch(apart(now) / apart(last), (now.x + other.x) / 2 - this.view.getBoundingClientRect().left);
      } else {
        this.move(last.x - now.x, event.pointerType === "mouse" ? last.y - now.y : 0);
      }
      this.hover(null);
    });
    for (const kind of ["pointerup", "pointercancel"]) this.view.addEventListener(kind, end);
  }

  /** Adds rows until all that is in sight is there: those far below may be costly. */
  grow() {
    // Upward, the last row is the first to be seen.
    const wanted = this.state.up ? Infinity : (this.view.scrollTop + this.height) / ROW + 8;
    while (!this.isComplete && this.rows.length < wanted) {
      const row = this.below(this.rows[this.rows.length - 1]);
      if (row.length === 0) this.isComplete = true;
      else this.rows.push(row);
    }
    const rows = this.rows.length + (this.isComplete ? 1 : 40);
    this.space.style.height = `${Math.max(rows * ROW, this.height)}px`;
  }

  below(row) {
    const { measure } = this.state;
    const items = [];
    for (const { box, x, width } of row) {
      const whole = box?.inclusive[measure];
      if (!(whole > 0)) continue;
      const scale = width / whole;
      let at = x;
      let narrow = null;
      for (const next of box.below) {
        const nextWidth = next.inclusive[measure] * scale;
        if (at + nextWidth < 0 || at > this.width) {
          narrow = null;
        } else if (nextWidth >= NARROWEST) {
          narrow = null;
          items.push({ box: next, x: at, width: nextWidth });
        } else if (nextWidth > 0) {
          if (!narrow) items.push((narrow = { box: null, above: box, x: at, width: 0, boxes: 0, sum: 0 }));
          narrow.width += nextWidth;
          narrow.boxes++;
          narrow.sum += next.inclusive[measure];
        }
        at += nextWidth;
      }
    }
    return items.filter((item) => item.box || item.width >= 0.2);
  }

  scrolled() {
    const rows = this.rows.length;
    this.grow();
    if (this.rows.length !== rows) this.showSelected(false);
    this.draw();
    this.hover(null);
  }

  /** Where a row is, in the space that is scrolled. */
  top(level) {
    return this.state.up ? this.space.clientHeight - (level + 1) * ROW : level * ROW;
  }

  draw() {
    if (!this.width) return;
    const ratio = devicePixelRatio || 1;
    const { canvas, state, colours, view } = this;
    const [width, height] = [Math.round(this.width * ratio), Math.round(this.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
    canvas.style.width = `${this.width}px`;
    canvas.style.height = `${this.height}px`;
    const pen = canvas.getContext("2d", { alpha: false });
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    colours.refresh();
    const { page } = colours;
    pen.fillStyle = page.paper;
    pen.fillRect(0, 0, this.width, this.height);
    pen.font = FONT;
    pen.textBaseline = "middle";
    this.character ??= pen.measureText("0").width;
    this.rows.forEach((row, level) => {
      const y = this.top(level) - view.scrollTop;
      if (y > this.height || y < -ROW) return;
      for (const item of row) {
        const left = Math.max(0, Math.round(item.x * ratio) / ratio);
        const right = Math.min(this.width + 1, Math.round((item.x + item.width) * ratio) / ratio);
        const gap = right - left > 4 ? 1 : 0;
        const boxWidth = Math.max(right - left - gap, 1 / ratio);
        const { box } = item;
        pen.globalAlpha = item.isAbove ? 0.6 : state.matches && box && !state.isMatch(box.label) ? 0.45 : 1;
        pen.fillStyle = box ? colours.fill(box) : page.narrow;
        pen.fillRect(left, y, boxWidth, ROW - 1);
        pen.globalAlpha = 1;
        if (!box) continue;
        if (state.methodOf(box.label) === state.method && box.label >= 0 && boxWidth > 2) {
          pen.strokeStyle = page.mark;
          pen.lineWidth = 1;
          pen.setLineDash([3, 2]);
          pen.strokeRect(left + 0.5, y + 0.5, boxWidth - 1, ROW - 2);
          pen.setLineDash([]);
        }
        const characters = Math.floor((boxWidth - 6) / this.character);
        if (characters < 2) continue;
        const text = fitted(state.nameOf(box), characters);
        if (text === "") continue;
        pen.fillStyle = box.isPruned ? page["pruned-ink"] : page["box-ink"];
        const isWide = text.length * this.character > boxWidth;
        pen.fillText(text, left + 4, y + ROW / 2, isWide ? boxWidth - 6 : undefined);
      }
    });
  }

  /** What is at a place of the window. */
  at(event) {
    const frame = this.view.getBoundingClientRect();
    const [x, y] = [event.clientX - frame.left, event.clientY - frame.top + this.view.scrollTop];
    if (x < 0 || x >= this.width) return null;
    const level = this.state.up ? Math.floor((this.space.clientHeight - y) / ROW) : Math.floor(y / ROW);
    const item = (this.rows[level] ?? []).find((one) => x >= one.x && x < one.x + Math.max(one.width, 1));
    return item ? { ...item, level } : null;
  }

  /** Puts an outline around the place of an item. */
  surround(outline, item) {
    outline.hidden = !item;
    if (!item) return;
    const left = Math.max(-4, item.x);
    const right = Math.min(this.width + 4, item.x + Math.max(item.width, 2));
    Object.assign(outline.style, {
      left: `${left}px`,
      top: `${this.top(item.level)}px`,
      width: `${Math.max(right - left, 0)}px`,
      height: `${ROW - 1}px`,
    });
  }

  hover(event) {
    const item = event && this.at(event);
    this.surround(this.pointer, item);
    this.tip.hidden = !item;
    if (!item) return;
    fillTip(this.tip, this.state, item);
    const { width, height } = this.tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 12, innerWidth - width - 8);
    const below = event.clientY + 18;
    this.tip.style.left = `${Math.max(4, left)}px`;
    this.tip.style.top = `${below + height > innerHeight ? event.clientY - height - 10 : below}px`;
  }

  clicked(event) {
    if (this.isDragged) return;
    const item = this.at(event);
    if (item?.box) this.state.select(item.box);
    // Of boxes that are too narrow, what they are in is shown larger.
    else if (item) this.state.set({ zoom: item.above });
  }

  /**
   * Where a box is in the graph, also if it is too narrow to draw; null if it is not below what is
   * zoomed.
   */
  place(box) {
    const { zoom, measure } = this.state;
    const level = this.level(box);
    if (box.forest === this.state.upper) {
      const item = this.rows[level]?.find((one) => one.box === box);
      return item ? { x: item.x, width: item.width, level } : null;
    }
    const place = { ...this.whole(), level };
    if (zoom.isWithin(box)) return place;
    if (!box.isWithin(zoom)) return null;
    const inner = [];
    for (let one = box; one !== zoom; one = one.above) inner.push(one);
    for (const one of inner.reverse()) {
      const whole = one.above.inclusive[measure];
      if (!(whole > 0)) return null;
      for (const beside of one.above.below) {
        if (beside === one) break;
        place.x += (beside.inclusive[measure] / whole) * place.width;
      }
      place.width *= one.inclusive[measure] / whole;
    }
    return place;
  }

  showSelected(scroll = true) {
    const { selected } = this.state;
    const place = selected && this.place(selected);
    this.surround(this.outline, place);
    if (!place || !scroll || selected === this.shownSelected) return;
    this.shownSelected = selected;
    if (place.x > this.width || place.x + place.width < 0) {
      this.left += place.x + place.width / 2 - this.width / 2;
      this.shaped();
    }
    this.reveal(place.level);
  }

  reveal(level) {
    const top = this.top(level);
    if (top < this.view.scrollTop) this.view.scrollTop = top - ROW;
    else if (top + 2 * ROW > this.view.scrollTop + this.height) this.view.scrollTop = top + 2 * ROW - this.height;
    this.surround(this.outline, this.state.selected && this.place(this.state.selected));
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { state } = this;
    const box = state.selected ?? state.zoom;
    // Callers grow the other way.
    const isUp = state.up !== (box.forest === state.upper);
    const deeper = isUp ? "ArrowUp" : "ArrowDown";
    const outward = isUp ? "ArrowDown" : "ArrowUp";
    const beside = (step) => {
      const siblings = (box.above?.below ?? [box]).filter((one) => one.inclusive[state.measure] > 0);
      return siblings[siblings.indexOf(box) + step];
    };
    const target = {
      [deeper]: () => box.below.find((one) => one.inclusive[state.measure] > 0),
      [outward]: () => box.above,
      ArrowRight: () => beside(1),
      ArrowLeft: () => beside(-1),
    }[event.key];
    const stretched = { "+": 1.5, "=": 1.5, "-": 1 / 1.5, 0: 1 / this.scale }[event.key];
    const aside = { ArrowRight: 0.2, ArrowLeft: -0.2 }[event.key];
    if (stretched) {
      event.preventDefault();
      const place = state.selected && this.place(state.selected);
      const middle = place ? place.x + place.width / 2 : -1;
      this.stretch(stretched, middle >= 0 && middle <= this.width ? middle : this.width / 2);
    } else if (event.shiftKey && aside) {
      event.preventDefault();
      this.move(aside * this.width, 0);
    } else if (target) {
      event.preventDefault();
      const next = state.selected ? target() : box;
      if (next) state.select(next);
    } else if (event.key === "Enter" && state.selected) {
      event.preventDefault();
      zoomInto(state, state.selected);
    } else if (event.key === "Backspace" && state.zoom.above) {
      event.preventDefault();
      state.set({ zoom: state.zoom.above });
    } else if (event.key === "Home") {
      event.preventDefault();
      state.set({ zoom: state.root });
    }
  }
}

/** Shows a box and what is below it; of a caller above a method, its own callers and callees. */
function zoomInto(state, box) {
  if (box.forest === state.forest) state.set({ zoom: box });
  else if (!box.isPruned) state.set({ focus: box.label, method: box.label });
}
