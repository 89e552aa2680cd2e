/** @typedef {{ x: number, y: number, width: number, height: number }} Box */

const CLOSEST_UNITS = 2;

/** The part of a drawing that an SVG shows, moved by pointer, wheel and keys. */
export class MapWindow {
  /** @type {Box} */
  #everything = { x: 0, y: 0, width: 1, height: 1 };
  /** @type {Box} */
  #view = this.#everything;
  /** Point to which buttons and keys zoom in. @type {{ x: number, y: number } | undefined} */
  #anchor;
  #moved = false;
  /**
   * Fingers and mouse buttons that are down, by pointer. @type {Map<number, { x: number, y: number
   * }>}
   */
  #pointers = new Map();
  #svg;
  #onChange;

  /** @param {SVGSVGElement} svg @param {(unitsPerPixel: number) => void} onChange */
  constructor(svg, onChange) {
    this.#svg = svg;
    this.#onChange = onChange;
    svg.tabIndex = 0;
    svg.addEventListener('keydown', (event) => this.#onKey(event));
    svg.addEventListener('wheel', (event) => this.#onWheel(event), { passive: false });
    svg.addEventListener('dblclick', (event) => this.zoom(2, this.#toPlace(event)));
    svg.addEventListener('pointerdown', (event) => this.#onDown(event));
    svg.addEventListener('pointermove', (event) => this.#drag(event));
    for (const end of ['pointerup', 'pointercancel'])
      svg.addEventListener(end, (event) => this.#onUp(event));
    new ResizeObserver(() => this.#apply()).observe(svg);
  }

  /** How many units of the drawing one pixel shows. */
  get unitsPerPixel() {
    const { width, height } = this.#svg.getBoundingClientRect();
    return Math.max(this.#view.width / (width || 1), this.#view.height / (height || 1));
  }

  /** True after the pointer has dragged: the click that follows means nothing. */
  get dragged() {
    return this.#moved;
  }

  /** @param {Box} box what {@link showEverything} shows */
  setEverything(box) {
    this.#everything = box;
    this.showEverything();
  }

  showEverything() {
    this.show(this.#everything);
  }

  /** @param {Box} box */
  show(box) {
    this.#view = box;
    this.#apply();
  }

  /**
   * @param {number} factor above 1: closer @param {{ x: number, y: number }} [at] stays where it is
   */
  zoom(factor, at = this.#anchor ?? this.#centre) {
    const width = Math.min(
      Math.max(this.#view.width / factor, CLOSEST_UNITS),
      this.#everything.width * 1.5,
    );
    const ratio = width / this.#view.width;
    const { x, y, height } = this.#view;
    this.show({
      x: at.x - (at.x - x) * ratio,
      y: at.y - (at.y - y) * ratio,
      width,
      height: height * ratio,
    });
  }

  /**
   * Moves, if need be, to where a place is seen; from now on it is what one comes closer to. @param
   * {{ x: number, y: number }} at
   */
  reveal(at) {
    this.#anchor = at;
    const { x, y, width, height } = this.#view;
    const margin = 0.05;
    const inside = (
      /** @type {number} */ value,
      /** @type {number} */ from,
      /** @type {number} */ size,
    ) => value > from + size * margin && value < from + size * (1 - margin);
    if (inside(at.x, x, width) && inside(at.y, y, height)) return;
    this.show({ x: at.x - width / 2, y: at.y - height / 2, width, height });
  }

  clearAnchor() {
    this.#anchor = undefined;
  }

  get #centre() {
    return { x: this.#view.x + this.#view.width / 2, y: this.#view.y + this.#view.height / 2 };
  }

  #apply() {
    const { x, y, width, height } = this.#view;
    this.#svg.setAttribute('viewBox', `${x} ${y} ${width} ${height}`);
    // One finger scrolls the page as long as there is nothing to move to.
    this.#svg.classList.toggle('close', width < this.#everything.width * 0.95);
    this.#onChange(this.unitsPerPixel);
  }

  /** @param {number} dx pixels @param {number} dy pixels */
  #pan(dx, dy) {
    const units = this.unitsPerPixel;
    this.clearAnchor();
    this.show({ ...this.#view, x: this.#view.x - dx * units, y: this.#view.y - dy * units });
  }

  /** @param {MouseEvent} event */
  #toPlace(event) {
    const matrix = this.#svg.getScreenCTM();
    const point = new DOMPoint(event.clientX, event.clientY);
    return matrix === null ? point : point.matrixTransform(matrix.inverse());
  }

  /** @param {KeyboardEvent} event */
  #onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 60;
    /** @type {Record<string, () => void>} */
    const moves = {
      ArrowLeft: () => this.#pan(step, 0),
      ArrowRight: () => this.#pan(-step, 0),
      ArrowUp: () => this.#pan(0, step),
      ArrowDown: () => this.#pan(0, -step),
      '+': () => this.zoom(1.5),
      '=': () => this.zoom(1.5),
      '-': () => this.zoom(1 / 1.5),
      0: () => this.showEverything(),
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    move();
  }

  /** A bare wheel scrolls the page. @param {WheelEvent} event */
  #onWheel(event) {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), this.#toPlace(event));
  }

  /** @param {PointerEvent} event */
  #onDown(event) {
    if (event.button !== 0) return;
    this.#moved = false;
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** One pointer moves the map, two also bring it closer. @param {PointerEvent} event */
  #drag(event) {
    const last = this.#pointers.get(event.pointerId);
    if (last === undefined) return;
    const [dx, dy] = [event.clientX - last.x, event.clientY - last.y];
    if (!this.#moved && Math.hypot(dx, dy) < 4) return;
    // Captured only now: a captured click would not reach the mark under the pointer.
    this.#svg.setPointerCapture(event.pointerId);
    this.#moved = true;
    const other = [...this.#pointers].find(([id]) => id !== event.pointerId)?.[1];
    if (other !== undefined) {
      const before = Math.hypot(last.x - other.x, last.y - other.y);
      const now = Math.hypot(event.clientX - other.x, event.clientY - other.y);
      this.zoom(now / Math.max(before, 1), this.#toPlace(event));
    }
    this.#pan(dx / this.#pointers.size, dy / this.#pointers.size);
    this.#pointers.set(event.pointerId, { x: event.clientX, y: event.clientY });
  }

  /** @param {Event} event */
  #onUp(event) {
    if (event instanceof PointerEvent) this.#pointers.delete(event.pointerId);
  }
}
