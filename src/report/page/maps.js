// Zooms the maps by pointer, fingers, wheel, keys and buttons. Marks and names keep their size.
(() => {
  const CLOSEST = 24;
  /** Distance of a stack's members, in units, at which it is opened. */
  const OPENS_AT = 12;

  /** @param {Element} element @param {string} name */
  const number = (element, name) => Number(element.getAttribute(name));

  /** @param {HTMLElement} figure */
  const enliven = (figure) => {
    const frame = /** @type {HTMLElement} */ (figure.querySelector('.map-window'));
    const svg = /** @type {SVGSVGElement} */ (frame.querySelector('svg'));
    const { width, height } = svg.viewBox.baseVal;
    const [west = 0, south = 0, east = 0, north = 0] = (svg.dataset['box'] ?? '').split(' ').map(Number);
    const base = /** @type {SVGGElement} */ (svg.querySelector('[data-base]'));
    const position = /** @type {HTMLElement} */ (figure.querySelector('.map-position'));
    const language = document.documentElement.lang;
    const moved = [...svg.querySelectorAll('[data-x][data-y]')].map((node) => ({
      node: /** @type {SVGElement} */ (node),
      x: number(node, 'data-x'),
      y: number(node, 'data-y'),
    }));
    const columns = [...svg.querySelectorAll('.grid g[data-x]')].map((node) => ({ node, x: number(node, 'data-x') }));
    const rows = [...svg.querySelectorAll('.grid g[data-y]')].map((node) => ({ node, y: number(node, 'data-y') }));
    const members = new Map(
      [...svg.querySelectorAll('.member')].map((node) => [
        node.getAttribute('data-find') ?? '',
        /** @type {SVGElement} */ (node),
      ]),
    );
    const stacks = [...svg.querySelectorAll('.stack')].map((node) => ({
      node,
      reach: number(node, 'data-reach'),
      numbers: (node.getAttribute('data-finds') ?? '').split(' '),
    }));
    const singles = [...svg.querySelectorAll('.mark:not(.stack)')];

    let zoom = 1;
    let [left, top] = [0, 0];
    /** @type {ReadonlySet<string> | undefined} */
    let shown;

    const draw = () => {
      zoom = Math.min(Math.max(zoom, 1), CLOSEST);
      left = Math.min(Math.max(left, 0), width - width / zoom);
      top = Math.min(Math.max(top, 0), height - height / zoom);
      /** @param {number} x */
      const across = (x) => (x - left) * zoom;
      /** @param {number} y */
      const down = (y) => (y - top) * zoom;
      base.setAttribute('transform', `scale(${zoom}) translate(${-left} ${-top})`);
      for (const { node, x, y } of moved) node.setAttribute('transform', `translate(${across(x)} ${down(y)})`);
      for (const { node, x } of columns) node.setAttribute('transform', `translate(${across(x) - x} 0)`);
      for (const { node, y } of rows) node.setAttribute('transform', `translate(0 ${down(y) - y})`);
      for (const { node, reach, numbers } of stacks) {
        const opened = zoom > 1 && members.size > 0 && reach * zoom >= OPENS_AT;
        node.classList.toggle('open', opened);
        for (const each of numbers) members.get(each)?.classList.toggle('open', opened);
      }
      frame.classList.toggle('closer', zoom > 1);
      drawScale();
      drawPosition();
      figure.dispatchEvent(new CustomEvent('map-drawn', { detail: zoom }));
    };

    const drawScale = () => {
      const scale = /** @type {SVGGElement} */ (svg.querySelector('.scale'));
      const metresPerUnit = Number(svg.dataset['metres']) / zoom;
      const most = width * 0.22 * metresPerUnit;
      const power = 10 ** Math.floor(Math.log10(most));
      const metres = ([5, 2, 1].find((digit) => digit * power <= most) ?? 1) * power;
      const length = metres / metresPerUnit;
      for (const path of scale.querySelectorAll('path')) path.setAttribute('d', `M0-5V0H${length}V-5`);
      const text = /** @type {SVGTextElement} */ (scale.querySelector('text'));
      text.setAttribute('x', String(length / 2));
      const [value, unit] = metres < 1000 ? [metres, 'm'] : [metres / 1000, 'km'];
      text.textContent = `${value.toLocaleString(language)} ${unit}`;
      scale.setAttribute(
        'transform',
        `translate(${scale.dataset['corner'] === 'left' ? 16 : width - 16 - length} ${height - 34})`,
      );
    };

    const drawPosition = () => {
      const [x, y] = [(left + width / zoom / 2) / width, (top + height / zoom / 2) / height];
      /** @param {number} degrees */
      const text = (degrees) => degrees.toLocaleString(language, { minimumFractionDigits: 5, maximumFractionDigits: 5 });
      const where = (svg.dataset['position'] ?? '')
        .replace('{latitude}', text(north - y * (north - south)))
        .replace('{longitude}', text(west + x * (east - west)));
      position.textContent = zoom > 1 ? where : '';
    };

    /** @param {number} factor @param {number} [x] units of the drawing as it is seen @param {number} [y] */
    const come = (factor, x = width / 2, y = height / 2) => {
      const [atX, atY] = [left + x / zoom, top + y / zoom];
      zoom = Math.min(Math.max(zoom * factor, 1), CLOSEST);
      [left, top] = [atX - x / zoom, atY - y / zoom];
      draw();
    };
    /** @param {number} x pixels @param {number} y */
    const drag = (x, y) => {
      const unit = width / svg.getBoundingClientRect().width / zoom;
      left -= x * unit;
      top -= y * unit;
      draw();
    };
    const all = () => {
      [zoom, left, top] = [1, 0, 0];
      draw();
    };
    /** @param {MouseEvent} event @returns {[number, number]} */
    const unitsAt = (event) => {
      const box = svg.getBoundingClientRect();
      return [((event.clientX - box.left) / box.width) * width, ((event.clientY - box.top) / box.height) * height];
    };

    /** @type {Record<string, () => void>} */
    const keys = {
      '+': () => come(1.6),
      '=': () => come(1.6),
      '-': () => come(1 / 1.6),
      0: all,
      ArrowLeft: () => drag(60, 0),
      ArrowRight: () => drag(-60, 0),
      ArrowUp: () => drag(0, 60),
      ArrowDown: () => drag(0, -60),
    };
    frame.tabIndex = 0;
    frame.classList.add('live');
    frame.addEventListener('keydown', (event) => {
      const act = keys[event.key];
      if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      // Arrows scroll the page where the map cannot move.
      if (zoom === 1 && event.key.startsWith('Arrow')) return;
      event.preventDefault();
      act();
    });
    svg.addEventListener(
      'wheel',
      (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        come(Math.exp(-event.deltaY / 300), ...unitsAt(event));
      },
      { passive: false },
    );
    svg.addEventListener('dblclick', (event) => {
      event.preventDefault();
      come(2, ...unitsAt(event));
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
        drag(x, y);
        return;
      }
      /** @param {PointerEvent} one */
      const apart = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      come(apart(event) / Math.max(apart(before), 1), ...unitsAt(event));
    });
    for (const end of /** @type {const} */ (['pointerup', 'pointercancel'])) {
      svg.addEventListener(end, (event) => pointers.delete(event.pointerId));
    }
    // A link must not be dragged itself, and the end of a drag is no click.
    svg.addEventListener('dragstart', (event) => event.preventDefault());
    svg.addEventListener(
      'click',
      (event) => {
        const stack = event.target instanceof Element ? event.target.closest('.stack') : null;
        const reach = stack === null || members.size === 0 ? 0 : number(stack, 'data-reach');
        const canOpen = reach * CLOSEST >= OPENS_AT;
        if (!wasDragged && !canOpen) return;
        event.preventDefault();
        event.stopPropagation();
        if (!wasDragged) come(Math.max(2, (OPENS_AT * 1.5) / (reach * zoom)), ...unitsAt(event));
      },
      { capture: true },
    );
    figure.querySelector('[data-map="in"]')?.addEventListener('click', () => come(1.6));
    figure.querySelector('[data-map="out"]')?.addEventListener('click', () => come(1 / 1.6));
    figure.querySelector('[data-map="all"]')?.addEventListener('click', all);

    const drawShown = () => {
      /** @param {string} each */
      const isShown = (each) => shown === undefined || shown.has(each);
      for (const node of singles) node.classList.toggle('left-out', !isShown(node.getAttribute('data-find') ?? ''));
      for (const { node, numbers } of stacks) {
        const left = numbers.filter(isShown);
        node.classList.toggle('left-out', left.length === 0);
        const count = node.querySelector('.count');
        if (count !== null) count.textContent = String(left.length);
        drawShares(node, left);
      }
      figure.dispatchEvent(new CustomEvent('map-drawn', { detail: zoom }));
    };
    draw();
    document.addEventListener('finds-shown', (event) => {
      shown = /** @type {CustomEvent<ReadonlySet<string> | null>} */ (event).detail ?? undefined;
      drawShown();
    });
  };

  /** Draws the ring of a stack by the states of its visible members. @param {Element} stack @param {readonly string[]} numbers */
  const drawShares = (stack, numbers) => {
    const states = numbers.map((each) => document.getElementById(`find-${each}`)?.dataset['state'] ?? '');
    let begun = 0;
    for (const circle of stack.querySelectorAll('.share')) {
      const share = (100 * states.filter((state) => circle.classList.contains(`state-${state}`)).length) / (states.length || 1);
      circle.setAttribute('stroke-dasharray', `${share} 100`);
      circle.setAttribute('stroke-dashoffset', String(-begun));
      begun += share;
    }
  };

  for (const figure of document.querySelectorAll('figure.map')) enliven(/** @type {HTMLElement} */ (figure));
})();
