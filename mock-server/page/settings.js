import { element, getPart } from './element.js';

/** @import { Clock, Settings, State } from './control.js' */

/** @typedef {(method: 'PUT' | 'POST', path: string, body: unknown, done: string) => void} Act */

/** Settings that an operator may change: each field is sent as soon as it is changed. */
export class SettingsPanel {
  /** @type {Settings | undefined} */
  #settings;
  #form = getPart('settings-form', HTMLFormElement);

  /** @param {Act} act */
  constructor(act) {
    this.#form.addEventListener('submit', (event) => event.preventDefault());
    this.#form.addEventListener('change', (event) => {
      const field = event.target;
      if (
        !(field instanceof HTMLInputElement || field instanceof HTMLSelectElement) ||
        !field.reportValidity()
      )
        return;
      const path = field.dataset['setting'] ?? '';
      const value = readValue(field);
      const words = field.labels?.[0]?.childNodes ?? [];
      const label = [...words].map((node) => (node instanceof Text ? node.data : '')).join('');
      act(
        'PUT',
        '/settings',
        this.#patch(path, value),
        `${label.trim()}: ${value === true ? 'on' : value === false ? 'off' : value}.`,
      );
    });
  }

  /** Keeps the content of a field that is being filled. @param {Settings} settings */
  show(settings) {
    this.#settings = settings;
    for (const field of this.#form.querySelectorAll('[data-setting]')) {
      const value = getAt(settings, field.getAttribute('data-setting') ?? '');
      if (field instanceof HTMLInputElement && field.type === 'checkbox')
        field.checked = value === true;
      else if (
        (field instanceof HTMLInputElement || field instanceof HTMLSelectElement) &&
        field !== document.activeElement
      ) {
        field.value = String(value);
      }
    }
  }

  /** @param {string} path `name`, or `group.name`: a group is sent whole @param {unknown} value */
  #patch(path, value) {
    const [group = '', name] = path.split('.');
    return name === undefined
      ? { [group]: value }
      : { [group]: { .../** @type {object} */ (getAt(this.#settings, group)), [name]: value } };
  }
}

/** The mock's clock, ticking between the times that the server tells. */
export class ClockPanel {
  #freeze = getPart('clock-freeze', HTMLButtonElement);
  /** @type {Clock} */
  #clock = { now_ms: Date.now(), now: '', frozen: false };
  #toldAt = performance.now();

  /** @param {Act} act */
  constructor(act) {
    this.#freeze.addEventListener('click', () => {
      const frozen = !this.#clock.frozen;
      act('POST', '/clock', { frozen }, frozen ? 'The clock stands still.' : 'The clock runs.');
    });
    for (const button of document.querySelectorAll('[data-advance-hours]')) {
      const hours = Number(button.getAttribute('data-advance-hours'));
      button.addEventListener('click', () =>
        act(
          'POST',
          '/clock',
          { advance_ms: hours * 3_600_000 },
          `The clock moved on by ${hours} h.`,
        ),
      );
    }
    setInterval(() => this.#draw(), 250);
  }

  /** @param {Clock} clock */
  show(clock) {
    this.#clock = clock;
    this.#toldAt = performance.now();
    this.#freeze.setAttribute('aria-pressed', String(clock.frozen));
    this.#draw();
  }

  #draw() {
    const sinceMs = this.#clock.frozen ? 0 : performance.now() - this.#toldAt;
    const now = new Date(this.#clock.now_ms + sinceMs).toISOString();
    for (const time of document.querySelectorAll('time[data-clock]')) {
      time.setAttribute('datetime', now);
      time.textContent = `${now.slice(0, 10)} ${now.slice(11, 19)}`;
    }
  }
}

/** Shows the facts that do not change while the server runs. @param {State} state */
export function showServer(state) {
  const modes = [state.training ? 'training' : '', state.deployed ? 'as deployed' : ''].filter(
    (mode) => mode !== '',
  );
  getPart('badges', HTMLUListElement).replaceChildren(
    ...modes.map((mode) => element('li', { class: 'badge' }, mode)),
  );
  const addresses = Object.entries(state.addresses).flatMap(([name, address]) => [
    element('dt', {}, name),
    element('dd', {}, address ?? 'none in training mode'),
  ]);
  getPart('addresses', HTMLElement).replaceChildren(...addresses);
  const rows = state.accounts.map(({ username, role, organisation, active }) => {
    const projects = state.projects
      .filter((project) => project.importable_by.includes(username))
      .map(({ ident }) => ident);
    return element(
      'tr',
      {},
      element('th', { scope: 'row' }, username),
      element('td', {}, active ? role : `${role}, inactive`),
      element('td', {}, organisation),
      element('td', {}, projects.join(', ') || '–'),
    );
  });
  getPart('accounts', HTMLElement).replaceChildren(...rows);
}

/** @param {HTMLInputElement | HTMLSelectElement} field */
function readValue(field) {
  if (field instanceof HTMLSelectElement) return field.value;
  return field.type === 'checkbox' ? field.checked : Number(field.value);
}

/** @param {unknown} value @param {string} path @returns {unknown} */
function getAt(value, path) {
  return path
    .split('.')
    .reduce(
      (inner, name) =>
        typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined,
      value,
    );
}
