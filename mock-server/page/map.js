import { createDrawing, follow } from './element.js';
import { getStateName, stateShape } from './find-state.js';
import { MapWindow } from './map-window.js';

/** @import { Find, Outlines, Shape } from './control.js' */

/** One unit of the drawing is a thousandth of a degree of latitude. */
const UNITS_PER_DEGREE = 1000;
const METRES_PER_UNIT = 111.2;
/** The smallest part that is shown of itself: a single find with its surroundings. */
const MIN_UNITS = 10;
/** Longitudes are drawn narrower by the cosine of a latitude in the middle of the country. */
const SQUEEZE = Math.cos((49.8 * Math.PI) / 180);
/** Cadastral areas are drawn when one pixel shows less than this. */
const AREAS_BELOW_METRES = 150;
/** More finds than this are drawn smaller. */
const MANY_FINDS = 150;
const SMALLER = 0.6;
const LABEL_HEIGHT_PX = 14;
const LETTER_WIDTH_PX = 6.4;

/** @typedef {{ x: number, y: number }} Place */

/**
 * Finds on the outlines of the country. Marks and names keep their size, however close one looks.
 */
export class FindMap {
  #outlines = createDrawing('g', { class: 'outlines' });
  #names = createDrawing('g', { class: 'names' });
  #marks = createDrawing('g', { class: 'marks' });
  #chosenRing = createDrawing('circle', { class: 'chosen', r: 12, visibility: 'hidden' });
  /** @type {{ place: Place, text: string, node: SVGTextElement }[]} */
  #labels = [];
  /** @type {Map<string, Place>} */
  #places = new Map();
  #svg;
  #scale;
  #onChoose;
  #window;

  /**
   * @param {SVGSVGElement} svg
   * @param {HTMLElement} scale
   * @param {(ident: string) => void} onChoose
   */
  constructor(svg, scale, onChoose) {
    this.#svg = svg;
    this.#scale = scale;
    this.#onChoose = onChoose;
    svg.append(this.#outlines, this.#names, this.#chosenRing, this.#marks);
    this.#window = new MapWindow(svg, (unitsPerPixel) => this.#resize(unitsPerPixel));
  }

  /** @param {Outlines} outlines */
  draw({ areas, districts, regions }) {
    const layers = /** @type {const} */ ([
      ['districts', districts],
      ['areas', areas],
      ['borders', districts],
      ['regions', regions],
    ]);
    this.#outlines.replaceChildren(
      ...layers.map(([name, shapes]) =>
        createDrawing('g', { class: name }, ...shapes.map((shape) => makeOutline(shape))),
      ),
    );
    this.#labels = districts.flatMap(({ name, at }) =>
      at === null
        ? []
        : [{ place: projectPoint(at), text: name, node: createDrawing('text', { y: -6 }, name) }],
    );
    this.#names.replaceChildren(...this.#labels.map(({ node }) => node));
    const corners = [...districts, ...regions]
      .flatMap(({ rings }) => rings.flat())
      .map(projectPoint);
    this.#window.setEverything(
      makeBoxAround(
        corners.length > 0 ? corners : [projectPoint([12, 51.1]), projectPoint([19, 48.5])],
        0.02,
      ),
    );
  }

  /** @param {readonly Find[]} finds newest first */
  show(finds) {
    const placed = finds.filter((find) => find.point !== null).reverse();
    this.#places = new Map(placed.map((find) => [find.ident, projectPoint(find.point ?? [0, 0])]));
    follow(
      this.#marks,
      placed,
      (find) => `${find.ident} ${find.datestamp}`,
      (find) => this.#makeMark(find),
    );
    this.#resize(this.#window.unitsPerPixel);
  }

  get isEmpty() {
    return this.#places.size === 0;
  }

  /**
   * Rings one find and moves to where it is seen; without a find, none. @param {string | undefined}
   * ident
   */
  choose(ident) {
    const place = this.#places.get(ident ?? '');
    this.#chosenRing.setAttribute('visibility', place === undefined ? 'hidden' : 'visible');
    if (place === undefined) {
      this.#window.clearAnchor();
      return;
    }
    this.#chosenRing.setAttribute('transform', transformAt(place, this.#window.unitsPerPixel));
    this.#chosenRing.dataset['ident'] = ident;
    this.#window.reveal(place);
  }

  zoomIn() {
    this.#window.zoom(1.6);
  }

  zoomOut() {
    this.#window.zoom(1 / 1.6);
  }

  showEverything() {
    this.#window.showEverything();
  }

  fitFinds() {
    if (!this.isEmpty) this.#window.show(makeBoxAround([...this.#places.values()], 0.12));
  }

  /** Other finds so close to one that their marks cover each other. @param {string} ident */
  listBesides(ident) {
    const place = this.#places.get(ident);
    const reach = 8 * this.#window.unitsPerPixel;
    if (place === undefined) return [];
    return [...this.#places]
      .filter(
        ([other, { x, y }]) => other !== ident && Math.hypot(x - place.x, y - place.y) < reach,
      )
      .map(([other]) => other);
  }

  /** @param {Find} find */
  #makeMark(find) {
    const choose = () => {
      if (!this.#window.dragged) this.#onChoose(find.ident);
    };
    const title = `${find.ident}: ${find.label}${find.place === null ? '' : `, ${find.place}`} (${getStateName(find.state)})`;
    return createDrawing(
      'g',
      { click: choose, 'data-ident': find.ident },
      createDrawing('title', {}, title),
      stateShape(find.state),
    );
  }

  /** @param {number} unitsPerPixel */
  #resize(unitsPerPixel) {
    const markScale = unitsPerPixel * (this.#places.size > MANY_FINDS ? SMALLER : 1);
    for (const mark of this.#marks.children) this.#put(mark, markScale);
    this.#put(this.#chosenRing, unitsPerPixel);
    this.#svg.classList.toggle('with-areas', unitsPerPixel * METRES_PER_UNIT < AREAS_BELOW_METRES);
    this.#placeNames(unitsPerPixel);
    this.#drawScale(unitsPerPixel * METRES_PER_UNIT);
  }

  /** @param {Element} mark @param {number} scale */
  #put(mark, scale) {
    const place = this.#places.get(mark.getAttribute('data-ident') ?? '');
    if (place !== undefined) mark.setAttribute('transform', transformAt(place, scale));
  }

  /** Names that would cover an earlier one stay hidden. @param {number} unitsPerPixel */
  #placeNames(unitsPerPixel) {
    /** @type {{ x: number, y: number, half: number }[]} */
    const taken = [];
    for (const { place, text, node } of this.#labels) {
      const label = {
        x: place.x / unitsPerPixel,
        y: place.y / unitsPerPixel,
        half: (text.length * LETTER_WIDTH_PX) / 2 + 8,
      };
      const covers = taken.some(
        (other) =>
          Math.abs(other.x - label.x) < other.half + label.half &&
          Math.abs(other.y - label.y) < LABEL_HEIGHT_PX * 1.6,
      );
      if (!covers) taken.push(label);
      node.setAttribute('visibility', covers ? 'hidden' : 'visible');
      node.setAttribute('transform', transformAt(place, unitsPerPixel));
    }
  }

  /** @param {number} metresPerPixel */
  #drawScale(metresPerPixel) {
    const longest = metresPerPixel * 120;
    const power = 10 ** Math.floor(Math.log10(longest));
    const metres = power * ([5, 2, 1].find((step) => power * step <= longest) ?? 1);
    this.#scale.style.width = `${metres / metresPerPixel}px`;
    const label = this.#scale.firstElementChild;
    if (label !== null) label.textContent = metres >= 1000 ? `${metres / 1000} km` : `${metres} m`;
  }
}

/** @param {readonly [number, number]} point longitude and latitude @returns {Place} */
function projectPoint([longitude, latitude]) {
  return { x: longitude * SQUEEZE * UNITS_PER_DEGREE, y: -latitude * UNITS_PER_DEGREE };
}

/** @param {Shape} shape */
function makeOutline({ name, rings }) {
  const d = rings
    .map((ring) => `M${ring.map((point) => formatPlace(projectPoint(point))).join('L')}Z`)
    .join('');
  return createDrawing('path', { d, 'fill-rule': 'evenodd' }, createDrawing('title', {}, name));
}

/** @param {Place} place */
function formatPlace({ x, y }) {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}

/** @param {Place} place @param {number} unitsPerPixel */
function transformAt({ x, y }, unitsPerPixel) {
  return `translate(${x} ${y}) scale(${unitsPerPixel})`;
}

/** @param {readonly Place[]} places @param {number} margin share of the width and height */
function makeBoxAround(places, margin) {
  const [xs, ys] = [places.map(({ x }) => x), places.map(({ y }) => y)];
  const findLeast = (/** @type {number[]} */ values) => values.reduce((a, b) => Math.min(a, b));
  const findMost = (/** @type {number[]} */ values) => values.reduce((a, b) => Math.max(a, b));
  const centre = { x: (findLeast(xs) + findMost(xs)) / 2, y: (findLeast(ys) + findMost(ys)) / 2 };
  const width = Math.max(findMost(xs) - findLeast(xs), MIN_UNITS) * (1 + 2 * margin);
  const height = Math.max(findMost(ys) - findLeast(ys), MIN_UNITS) * (1 + 2 * margin);
  return { x: centre.x - width / 2, y: centre.y - height / 2, width, height };
}
