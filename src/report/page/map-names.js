// Places the names on a zoomed map: no name covers a mark or another name, or leaves the map.
(() => {
  const SVG = 'http://www.w3.org/2000/svg';
  /** Sizes of a letter, of the gap beside a mark, and of the labels along the edges, in units; map-labels.ts has the same. */
  const LETTER = { width: 7, height: 13, inAreas: 8.2 };
  const GAP = 4;
  const EDGES = { left: 58, right: 78, top: 20, bottom: 20 };
  const MAX_NAMED = 400;
  const narrow = matchMedia('(max-width: 36rem)');

  /** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */
  /** @param {number} x @param {number} y @param {number} halfWidth @param {number} halfHeight @returns {Box} */
  const boxOf = (x, y, halfWidth, halfHeight) => ({
    left: x - halfWidth,
    right: x + halfWidth,
    top: y - halfHeight,
    bottom: y + halfHeight,
  });
  /** @param {Box} a @param {Box} b */
  const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
  /** Returns the current position of a drawing. @param {Element} node */
  const placeOf = (node) => {
    const [x = 0, y = 0] =
      /translate\(([-\d.e]+) ([-\d.e]+)\)/
        .exec(node.getAttribute('transform') ?? '')
        ?.slice(1)
        .map(Number) ?? [];
    return { x, y };
  };
  /** Returns the name of a mark: its find, or the first of several. @param {Element} mark */
  const nameOf = (mark) => {
    const lines = (mark.querySelector('title')?.textContent ?? '').split('\n');
    const others = (mark.getAttribute('data-finds') ?? '').split(' ').length - 1;
    const [name = ''] = /^.*(?=: )/.exec(lines[mark.matches('.stack') ? 1 : 0] ?? '') ?? [];
    const short = [...name].length > 20 ? `${[...name].slice(0, 19).join('')}…` : name;
    if (!mark.matches('.stack')) return short;
    return others < 9 ? `${short} +${others}` : '';
  };

  /** @param {SVGSVGElement} svg */
  const placer = (svg) => {
    const { width, height } = svg.viewBox.baseVal;
    const labels = /** @type {SVGGElement} */ (svg.querySelector('.labels'));
    const drawn = [...labels.children];
    const areas = [...svg.querySelectorAll('.names > *')];
    const bar = /** @type {SVGGElement} */ (svg.querySelector('.scale'));
    const edgeNames = [...svg.querySelectorAll('.grid :is(text)')];

    /** Moves the scale bar to the other corner where marks are in its way. @param {readonly Box[]} marks @param {number} scale */
    const placeBar = (marks, scale) => {
      const { x: now, y } = placeOf(bar);
      const { x: from, width: length } = bar.getBBox();
      /** @param {number} x @returns {Box} */
      const boxAt = (x) => ({ left: x + from, right: x + from + length, top: y - (LETTER.height + 5) * scale, bottom: y + 3 });
      const free = [now, width - now - length].find((x) => !marks.some((mark) => overlap(boxAt(x), mark))) ?? now;
      bar.setAttribute('transform', `translate(${free} ${y})`);
      return boxAt(free);
    };
    /** Hides labels at the edges that overlap marks, the scale bar or earlier labels, or that would be cut. */
    const clearEdges = () => {
      const frame = /** @type {Element} */ (svg.parentElement).getBoundingClientRect();
      const taken = [...svg.querySelectorAll('use, .disc, .scale')]
        .map((node) => node.getBoundingClientRect())
        .filter(({ width }) => width > 0);
      for (const name of edgeNames) {
        name.classList.remove('left-out');
        const box = name.getBoundingClientRect();
        const isInside =
          box.left >= frame.left - 1 &&
          box.right <= frame.right + 1 &&
          box.top >= frame.top - 1 &&
          box.bottom <= frame.bottom + 1;
        const isLeftOut = !isInside || taken.some((other) => overlap(box, other));
        name.classList.toggle('left-out', isLeftOut);
        if (!isLeftOut) taken.push(box);
      }
    };

    /** @param {number} zoom */
    return (zoom) => {
      const scale = narrow.matches ? 1.75 : 1;
      if (zoom === 1 && svg.querySelector('.mark.left-out') === null) {
        labels.replaceChildren(...drawn);
        for (const area of areas) area.classList.toggle('left-out', area.matches('.when-closer'));
        clearEdges();
        return;
      }
      const marks = [...svg.querySelectorAll('.mark:not(.left-out, .stack.open), .member.open:not(.left-out)')]
        .filter((mark) => !mark.matches('.member:not(.open)'))
        .map((mark) => ({ mark, ...placeOf(mark), radius: (mark.matches('.stack') ? 11 : 7) * scale }))
        .filter(({ x, y }) => x > 0 && x < width && y > 0 && y < height);
      const taken = marks.map(({ x, y, radius }) => boxOf(x, y, radius, radius));
      taken.push(placeBar(taken, scale));
      clearEdges();
      /** @param {Box} box */
      const isFree = (box) =>
        box.left > EDGES.left * scale &&
        box.top > EDGES.top * scale &&
        box.right < width - EDGES.right * scale &&
        box.bottom < height - EDGES.bottom * scale &&
        !taken.some((other) => overlap(box, other));
      const named = marks.length > MAX_NAMED ? [] : marks;
      labels.replaceChildren(
        ...named.flatMap(({ mark, x, y, radius }) => {
          const text = nameOf(mark);
          if (text === '') return [];
          const [halfWidth, halfHeight] = [([...text].length * LETTER.width * scale) / 2, (LETTER.height * scale) / 2];
          const away = radius + GAP * scale;
          const centre = [
            [1, 0],
            [-1, 0],
            [0, -1],
            [0, 1],
          ]
            .map(([aside = 0, down = 0]) => ({ x: x + aside * (away + halfWidth), y: y + down * (away + halfHeight) }))
            .find((at) => isFree(boxOf(at.x, at.y, halfWidth, halfHeight)));
          if (centre === undefined) return [];
          taken.push(boxOf(centre.x, centre.y, halfWidth, halfHeight));
          const label = document.createElementNS(SVG, 'text');
          label.setAttribute('transform', `translate(${centre.x} ${centre.y})`);
          label.setAttribute('dy', '0.35em');
          label.setAttribute('text-anchor', 'middle');
          label.textContent = text;
          return [label];
        }),
      );
      for (const area of areas) {
        const { x, y } = placeOf(area);
        const letters = [...(area.textContent ?? '')].length;
        const box = boxOf(x, y, (letters * LETTER.inAreas * scale) / 2, (LETTER.height * scale) / 2);
        const fits = isFree(box);
        if (fits) taken.push(box);
        area.classList.toggle('left-out', !fits);
      }
    };
  };

  for (const figure of document.querySelectorAll('figure.map')) {
    const place = placer(/** @type {SVGSVGElement} */ (figure.querySelector('.map-window > *')));
    let zoom = 1;
    /** @type {number | undefined} */
    let waiting;
    // While a map is dragged, one update per frame suffices.
    const soon = () => {
      if (waiting !== undefined) cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(() => place(zoom));
    };
    figure.addEventListener('map-drawn', (event) => {
      zoom = /** @type {CustomEvent<number>} */ (event).detail;
      soon();
    });
    new ResizeObserver(soon).observe(figure);
  }
})();
