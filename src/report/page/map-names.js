// Places the names on the maps; letters are larger on a narrow screen. No name covers a mark or another name, or leaves the map.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  /** Sizes of a letter, of the gap beside a mark, and of the margin along the edges, in units. */
  const LETTER = { width: 7, height: 13, inAreas: 8.2 };
  const GAP = 4;
  const EDGE = 5;
  const MAX_NAMED = 400;
  const narrow = matchMedia('(max-width: 36rem)');

  /** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */
  /**
   * @param {number} x @param {number} y @param {number} halfWidth @param {number} halfHeight
   * @returns {Box}
   */
  const makeBox = (x, y, halfWidth, halfHeight) => ({
    left: x - halfWidth,
    right: x + halfWidth,
    top: y - halfHeight,
    bottom: y + halfHeight,
  });
  /** @param {Box} a @param {Box} b */
  const isOverlapping = (a, b) =>
    a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  /** Returns the current position of a drawing. @param {Element} node */
  const getPosition = (node) => {
    const [x = 0, y = 0] =
      /translate\(([-\d.e]+) ([-\d.e]+)\)/
        .exec(node.getAttribute('transform') ?? '')
        ?.slice(1)
        .map(Number) ?? [];
    return { x, y };
  };
  class NamePlacer {
    /** @param {SVGSVGElement} svg */
    constructor(svg) {
      this.svg = svg;
      this.labels = /** @type {SVGGElement} */ (svg.querySelector('.labels'));
      this.areas = [...svg.querySelectorAll('.names > *')];
    }

    place() {
      const scale = narrow.matches ? 1.75 : 1;
      const { width, height } = this.svg.viewBox.baseVal;
      const marks = [
        ...this.svg.querySelectorAll(
          '.mark:not(.left-out, .stack.open), .member.open:not(.left-out)',
        ),
      ]
        .filter((mark) => !mark.matches('.member:not(.open)'))
        .map((mark) => ({
          mark,
          ...getPosition(mark),
          radius: (mark.matches('.stack') ? 11 : 7) * scale,
        }))
        .filter(({ x, y }) => x > 0 && x < width && y > 0 && y < height);
      const taken = marks.map(({ x, y, radius }) => makeBox(x, y, radius, radius));
      taken.push(this.#placeBar(taken, scale));
      /** Takes the place of a name if it is free. @param {Box} box */
      const take = (box) => {
        const isFree =
          box.left > EDGE &&
          box.top > EDGE &&
          box.right < width - EDGE &&
          box.bottom < height - EDGE &&
          !taken.some((other) => isOverlapping(box, other));
        if (isFree) taken.push(box);
        return isFree;
      };
      const named = marks.length > MAX_NAMED ? [] : marks;
      this.labels.replaceChildren(
        ...named.flatMap((each) =>
          labelBeside(each, each.mark.getAttribute('data-name') ?? '', scale, take),
        ),
      );
      for (const area of this.areas) {
        const { x, y } = getPosition(area);
        const letters = [...(area.textContent ?? '')].length;
        const halfWidth = (letters * LETTER.inAreas * scale) / 2;
        const halfHeight = (LETTER.height * scale) / 2;
        const lines = [0, -1, 1, -2, 2].find((each) =>
          take(makeBox(x, y + each * 2 * halfHeight, halfWidth, halfHeight)),
        );
        area.classList.toggle('left-out', lines === undefined);
        area.setAttribute('dy', `${0.35 + (lines ?? 0) * 1.15}em`);
      }
    }

    /**
     * Moves the scale bar to the other corner where marks are in its way. @param {readonly Box[]}
     * marks @param {number} scale
     */
    #placeBar(marks, scale) {
      const bar = /** @type {SVGGElement} */ (this.svg.querySelector('.scale'));
      const { x: now, y } = getPosition(bar);
      const { x: from, width: length } = bar.getBBox();
      /** @param {number} x @returns {Box} */
      const makeBox = (x) => ({
        left: x + from,
        right: x + from + length,
        top: y - (LETTER.height + 5) * scale,
        bottom: y + 3,
      });
      const places = [now, this.svg.viewBox.baseVal.width - now - length];
      const free =
        places.find((x) => !marks.some((mark) => isOverlapping(makeBox(x), mark))) ?? now;
      bar.setAttribute('transform', `translate(${free} ${y})`);
      return makeBox(free);
    }
  }

  /**
   * Returns the label of a mark at the first free side.
   * @param {{ x: number, y: number, radius: number }} mark @param {string} text @param {number}
   * scale @param {(box: Box) => boolean} take
   */
  const labelBeside = ({ x, y, radius }, text, scale, take) => {
    if (text === '') return [];
    const [halfWidth, halfHeight] = [
      ([...text].length * LETTER.width * scale) / 2,
      (LETTER.height * scale) / 2,
    ];
    const away = radius + GAP * scale;
    const centre = [
      [1, 0],
      [-1, 0],
      [0, -1],
      [0, 1],
    ]
      .map(([aside = 0, down = 0]) => ({
        x: x + aside * (away + halfWidth),
        y: y + down * (away + halfHeight),
      }))
      .find((at) => take(makeBox(at.x, at.y, halfWidth, halfHeight)));
    if (centre === undefined) return [];
    const label = document.createElementNS(SVG, 'text');
    label.setAttribute('transform', `translate(${centre.x} ${centre.y})`);
    label.setAttribute('dy', '0.35em');
    label.setAttribute('text-anchor', 'middle');
    label.textContent = text;
    return [label];
  };

  for (const figure of document.querySelectorAll('figure.map')) {
    const names = new NamePlacer(
      /** @type {SVGSVGElement} */ (figure.querySelector('.map-window > *')),
    );
    /** @type {number | undefined} */
    let waiting;
    // While a map is dragged, one update per frame suffices.
    const updateSoon = () => {
      if (waiting !== undefined) cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => names.place());
    };
    figure.addEventListener('map-drawn', updateSoon);
    new ResizeObserver(updateSoon).observe(figure);
  }
})();
