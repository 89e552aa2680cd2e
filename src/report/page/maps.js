// Zooms the maps by pointer, fingers, wheel, keys and buttons. Marks and names keep their size.
(() => {
  const CLOSEST = 24;
  /** Distance of a stack's members, in units, at which it is opened. */
  const OPENS_AT = 12;

  /** @param {Element} element @param {string} name */
  const getNumber = (element, name) => Number(element.getAttribute(name));

  class ZoomedMap {
    #zoom = 1;
    #left = 0;
    #top = 0;
    /** Finds that the filters show; undefined for all. @type {ReadonlySet<string> | undefined} */
    #shown;

    /** @param {HTMLElement} figure */
    constructor(figure) {
      this.figure = figure;
      this.frame = /** @type {HTMLElement} */ (figure.querySelector('.map-window'));
      this.svg = /** @type {SVGSVGElement} */ (this.frame.querySelector('svg'));
      this.base = /** @type {SVGGElement} */ (this.svg.querySelector('[data-base]'));
      const selectAll = (/** @type {string} */ selector) => [
        ...this.svg.querySelectorAll(selector),
      ];
      this.moved = selectAll('[data-x][data-y]').map((node) => ({
        node,
        x: getNumber(node, 'data-x'),
        y: getNumber(node, 'data-y'),
      }));
      this.members = new Map(
        selectAll('.member').map((node) => [node.getAttribute('data-find') ?? '', node]),
      );
      this.stacks = selectAll('.stack').map((node) => ({
        node,
        reach: getNumber(node, 'data-reach'),
        numbers: (node.getAttribute('data-finds') ?? '').split(' '),
      }));
      this.singles = selectAll('.mark:not(.stack)');
      const { width, height } = this.svg.viewBox.baseVal;
      this.width = width;
      this.height = height;
    }

    draw() {
      const { width, height, members } = this;
      const zoom = Math.min(Math.max(this.#zoom, 1), CLOSEST);
      this.#zoom = zoom;
      this.#left = Math.min(Math.max(this.#left, 0), width - width / zoom);
      this.#top = Math.min(Math.max(this.#top, 0), height - height / zoom);
      /** @param {number} x */
      const toAcross = (x) => (x - this.#left) * zoom;
      /** @param {number} y */
      const toDown = (y) => (y - this.#top) * zoom;
      this.base.setAttribute('transform', `scale(${zoom}) translate(${-this.#left} ${-this.#top})`);
      for (const { node, x, y } of this.moved)
        node.setAttribute('transform', `translate(${toAcross(x)} ${toDown(y)})`);
      for (const { node, reach, numbers } of this.stacks) {
        const opened = zoom > 1 && members.size > 0 && reach * zoom >= OPENS_AT;
        node.classList.toggle('open', opened);
        for (const each of numbers) members.get(each)?.classList.toggle('open', opened);
      }
      this.frame.classList.toggle('closer', zoom > 1);
      this.#drawScale();
      this.#announceDrawn();
    }

    #drawScale() {
      const { svg, width, height } = this;
      const scale = /** @type {SVGGElement} */ (svg.querySelector('.scale'));
      const metresPerUnit = Number(svg.dataset['metres']) / this.#zoom;
      const most = width * 0.22 * metresPerUnit;
      const power = 10 ** Math.floor(Math.log10(most));
      const metres = ([5, 2, 1].find((digit) => digit * power <= most) ?? 1) * power;
      const length = metres / metresPerUnit;
      for (const path of scale.querySelectorAll('path'))
        path.setAttribute('d', `M0-5V0H${length}V-5`);
      const text = /** @type {SVGTextElement} */ (scale.querySelector('text'));
      text.setAttribute('x', String(length / 2));
      text.textContent = metres < 1000 ? `${metres} m` : `${metres / 1000} km`;
      scale.setAttribute('transform', `translate(${width - 16 - length} ${height - 34})`);
    }

    #announceDrawn() {
      this.figure.dispatchEvent(new Event('map-drawn'));
    }

    /**
     * @param {number} factor @param {number} [x] units of the drawing as it is seen @param {number}
     * [y]
     */
    come(factor, x = this.width / 2, y = this.height / 2) {
      const [atX, atY] = [this.#left + x / this.#zoom, this.#top + y / this.#zoom];
      this.#zoom = Math.min(Math.max(this.#zoom * factor, 1), CLOSEST);
      [this.#left, this.#top] = [atX - x / this.#zoom, atY - y / this.#zoom];
      this.draw();
    }

    /** @param {number} x pixels @param {number} y */
    drag(x, y) {
      const unit = this.width / this.svg.getBoundingClientRect().width / this.#zoom;
      this.#left -= x * unit;
      this.#top -= y * unit;
      this.draw();
    }

    showAll() {
      [this.#zoom, this.#left, this.#top] = [1, 0, 0];
      this.draw();
    }

    get isWhole() {
      return this.#zoom === 1;
    }

    /** Opens a stack of marks so far apart. @param {number} reach @param {MouseEvent} event */
    open(reach, event) {
      this.come(Math.max(2, (OPENS_AT * 1.5) / (reach * this.#zoom)), ...this.getUnitsAt(event));
    }

    /** @param {MouseEvent} event @returns {[number, number]} */
    getUnitsAt(event) {
      const box = this.svg.getBoundingClientRect();
      return [
        ((event.clientX - box.left) / box.width) * this.width,
        ((event.clientY - box.top) / box.height) * this.height,
      ];
    }

    /** @param {ReadonlySet<string> | undefined} shown */
    show(shown) {
      this.#shown = shown;
      /** @param {string} each */
      const isShown = (each) => this.#shown === undefined || this.#shown.has(each);
      for (const node of this.singles)
        node.classList.toggle('left-out', !isShown(node.getAttribute('data-find') ?? ''));
      for (const { node, numbers } of this.stacks) {
        const left = numbers.filter(isShown);
        node.classList.toggle('left-out', left.length === 0);
        const count = node.querySelector('.count');
        if (count !== null) count.textContent = String(left.length);
        drawShares(node, left);
      }
      this.#announceDrawn();
    }
  }

  /** @param {ZoomedMap} map */
  const takeKeys = (map) => {
    /** @type {Record<string, () => void>} */
    const keys = {
      '+': () => map.come(1.6),
      '=': () => map.come(1.6),
      '-': () => map.come(1 / 1.6),
      0: () => map.showAll(),
      ArrowLeft: () => map.drag(60, 0),
      ArrowRight: () => map.drag(-60, 0),
      ArrowUp: () => map.drag(0, 60),
      ArrowDown: () => map.drag(0, -60),
    };
    const { frame, figure } = map;
    frame.tabIndex = 0;
    frame.classList.add('live');
    frame.addEventListener('keydown', (event) => {
      const act = keys[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      // Arrows scroll the page where the map cannot move.
      if (map.isWhole && event.key.startsWith('Arrow')) return;
      event.preventDefault();
      act();
    });
    figure.querySelector('[data-map="in"]')?.addEventListener('click', () => map.come(1.6));
    figure.querySelector('[data-map="out"]')?.addEventListener('click', () => map.come(1 / 1.6));
    figure.querySelector('[data-map="all"]')?.addEventListener('click', () => map.showAll());
  };

  /** @param {ZoomedMap} map */
  const takePointers = (map) => {
    const { svg } = map;
    svg.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        map.come(Math.exp(-event.deltaY / 300), ...map.getUnitsAt(event));
      },
      { passive: false },
    );
    svg.addEventListener('dblclick', (event) => {
      event.preventDefault();
      map.come(2, ...map.getUnitsAt(event));
    });
    /** Fingers and buttons that are pressed. @type {Map<number, PointerEvent>} */
    const pointers = new Map();
    let wasDragged = false;
    svg.addEventListener('pointerdown', (event) => {
      if (pointers.size === 0) wasDragged = false;
      pointers.set(event.pointerId, event);
    });
    svg.addEventListener('pointermove', (event) => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const [x, y] = [event.clientX - before.clientX, event.clientY - before.clientY];
      if (!wasDragged && Math.hypot(x, y) < 4) return;
      if (!wasDragged) svg.setPointerCapture(event.pointerId);
      wasDragged = true;
      const other = [...pointers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
      pointers.set(event.pointerId, event);
      if (other === undefined) {
        map.drag(x, y);
        return;
      }
      /** @param {PointerEvent} one */
      const measureDistance = (one) =>
        Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      map.come(
        measureDistance(event) / Math.max(measureDistance(before), 1),
        ...map.getUnitsAt(event),
      );
    });
    for (const end of /** @type {const} */ (['pointerup', 'pointercancel'])) {
      svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
    }
    takeClicks(map, () => wasDragged);
  };

  /**
   * A link must not be dragged itself, and the end of a drag is no click. @param {ZoomedMap} map
   * @param {() => boolean} wasDragged
   */
  const takeClicks = (map, wasDragged) => {
    map.svg.addEventListener('dragstart', (event) => event.preventDefault());
    map.svg.addEventListener(
      'click',
      (event) => {
        const stack = event.target instanceof Element ? event.target.closest('.stack') : null;
        const reach = stack === null || map.members.size === 0 ? 0 : getNumber(stack, 'data-reach');
        if (!wasDragged() && reach * CLOSEST < OPENS_AT) return;
        event.preventDefault();
        event.stopPropagation();
        if (!wasDragged()) map.open(reach, event);
      },
      { capture: true },
    );
  };

  /**
   * Draws the ring of a stack by the states of its visible members. @param {Element} stack @param
   * {readonly string[]} numbers
   */
  const drawShares = (stack, numbers) => {
    const states = numbers.map(
      (each) => document.getElementById(`find-${each}`)?.dataset['state'] ?? '',
    );
    let begun = 0;
    for (const circle of stack.querySelectorAll('.share')) {
      const share =
        (100 * states.filter((state) => circle.classList.contains(`state-${state}`)).length) /
        (states.length || 1);
      circle.setAttribute('stroke-dasharray', `${share} 100`);
      circle.setAttribute('stroke-dashoffset', String(-begun));
      begun += share;
    }
  };

  for (const figure of document.querySelectorAll('figure.map')) {
    const map = new ZoomedMap(/** @type {HTMLElement} */ (figure));
    takeKeys(map);
    takePointers(map);
    map.draw();
    document.addEventListener('finds-shown', (event) => {
      map.show(/** @type {CustomEvent<ReadonlySet<string> | null>} */ (event).detail ?? undefined);
    });
  }
})();
