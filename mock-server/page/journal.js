import { element, follow, getPart } from './element.js';
import { exchangeView } from './exchange.js';

/** @import { JournalEntry, Settings } from './control.js' */

const MAX_ROWS = 500;

/** The requests that the mock got, newest first. */
export class JournalTable {
  #rows = getPart('journal-rows', HTMLElement);
  #filter = getPart('journal-filter', HTMLSelectElement);
  #pause = getPart('journal-pause', HTMLButtonElement);
  #note = getPart('journal-note', HTMLElement);
  #none = getPart('journal-none', HTMLElement);
  /** @type {Map<number, JournalEntry>} */
  #entries = new Map();
  /** @type {Set<number>} */
  #open = new Set();
  #oldestEntry = 0;
  #intervals = { user_ms: 0, ip_ms: 0 };

  constructor() {
    this.#filter.addEventListener('change', () => this.#draw());
    this.#pause.addEventListener('click', () => {
      this.#pause.setAttribute('aria-pressed', String(!this.isPaused));
      this.#draw();
    });
  }

  get isPaused() {
    return this.#pause.getAttribute('aria-pressed') === 'true';
  }

  /**
   * The path of what is not known yet: what came later, and what had no answer when it was last
   * seen.
   */
  get newEntries() {
    const unanswered = [...this.#entries.values()].find(
      (entry) => entry.status === null || entry.ms === null,
    );
    const after =
      unanswered === undefined ? Math.max(0, ...this.#entries.keys()) : unanswered.id - 1;
    return `/journal?after=${after}&limit=${MAX_ROWS}`;
  }

  forget() {
    this.#entries.clear();
    this.#open.clear();
  }

  /**
   * @param {readonly JournalEntry[]} entries
   * @param {number} oldestEntry what is older is no longer kept by the server
   * @param {Settings['min_request_intervals']} intervals
   */
  add(entries, oldestEntry, intervals) {
    for (const entry of entries) this.#entries.set(entry.id, entry);
    for (const id of this.#entries.keys()) {
      if (id < oldestEntry || this.#entries.size > MAX_ROWS) this.#entries.delete(id);
    }
    this.#oldestEntry = oldestEntry;
    this.#intervals = intervals;
    if (!this.isPaused) this.#draw();
  }

  /** How many requests the server has kept. */
  get size() {
    const newest = Math.max(0, ...this.#entries.keys());
    return newest === 0 ? 0 : newest - this.#oldestEntry + 1;
  }

  #draw() {
    const all = [...this.#entries.values()].reverse();
    const shown = all.filter((entry) => this.#isShown(entry));
    follow(
      this.#rows,
      shown.flatMap((entry) =>
        this.#open.has(entry.id) ? [{ entry }, { entry, whole: true }] : [{ entry }],
      ),
      ({ entry, whole }) =>
        `${entry.id} ${entry.status} ${entry.ms} ${whole ?? this.#isTooSoon(entry)}`,
      ({ entry, whole }) => (whole ? this.#wholeRow(entry) : this.#row(entry)),
    );
    this.#none.hidden = all.length > 0;
    const early = all.filter((entry) => this.#isTooSoon(entry)).length;
    const notes = [
      this.size > all.length
        ? `the newest ${all.length} of ${this.size}`
        : `${all.length} request${all.length === 1 ? '' : 's'}`,
      shown.length === all.length ? '' : `${shown.length} shown`,
      early === 0 ? '' : `${early} under the interval`,
      this.isPaused ? 'paused' : '',
    ];
    this.#note.textContent = notes.filter((note) => note !== '').join(' · ');
  }

  /** @param {JournalEntry} entry */
  #isShown(entry) {
    switch (this.#filter.value) {
      case 'work':
        return !/^\/api\/(?:token-auth|uzivatel-info)\b/.test(entry.path);
      case 'writes':
        return entry.method !== 'GET' && entry.path.startsWith('/api/pas/');
      case 'trouble':
        return (
          (entry.status !== null && (entry.status >= 400 || entry.status === 0)) ||
          entry.fault !== null ||
          this.#isTooSoon(entry)
        );
      default:
        return true;
    }
  }

  /** @param {JournalEntry} entry */
  #isTooSoon({ user_gap_ms, address_gap_ms }) {
    const { user_ms, ip_ms } = this.#intervals;
    return (
      (user_gap_ms !== null && user_gap_ms < user_ms) ||
      (address_gap_ms !== null && address_gap_ms < ip_ms)
    );
  }

  /** @param {JournalEntry} entry */
  #row(entry) {
    const tooSoon = this.#isTooSoon(entry);
    const gaps = `since the user's last: ${formatMs(entry.user_gap_ms)}, since the address's last: ${formatMs(entry.address_gap_ms)}`;
    const gap = [entry.user_gap_ms, entry.address_gap_ms].filter((ms) => ms !== null);
    const cells = [
      element('td', { class: 'time' }, new Date(entry.at_ms).toISOString().slice(11, 23)),
      element('td', { class: 'method' }, entry.method),
      element('td', { class: 'path' }, this.#opener(entry)),
      element('td', { class: 'user', title: entry.address }, entry.user ?? '–'),
      element(
        'td',
        { class: 'status' },
        element('span', { class: getStatusClass(entry.status) }, formatStatus(entry.status)),
        ...renderFault(entry),
      ),
      element(
        'td',
        { class: 'number gap', title: gap.length === 0 ? undefined : gaps },
        ...(tooSoon
          ? [element('strong', {}, 'too soon '), formatMs(Math.min(...gap))]
          : [gap.length === 0 ? '–' : formatMs(Math.min(...gap))]),
      ),
      element('td', { class: 'number took' }, formatMs(entry.ms)),
    ];
    return element('tr', { class: tooSoon ? 'too-soon' : undefined }, ...cells);
  }

  /** @param {JournalEntry} entry */
  #opener({ id, path }) {
    const button = element(
      'button',
      { type: 'button', class: 'opener', 'aria-expanded': String(this.#open.has(id)) },
      path,
    );
    button.addEventListener('click', () => {
      if (!this.#open.delete(id)) this.#open.add(id);
      button.setAttribute('aria-expanded', String(this.#open.has(id)));
      this.#draw();
    });
    return button;
  }

  /** @param {JournalEntry} entry */
  #wholeRow(entry) {
    return element('tr', { class: 'whole' }, element('td', { colspan: 7 }, exchangeView(entry)));
  }
}

/** @param {JournalEntry} entry */
function renderFault({ fault }) {
  return fault === null ? [] : [' ', element('span', { class: 'fault-tag' }, fault)];
}

/** @param {number | null} status */
function formatStatus(status) {
  if (status === null) return 'at work';
  return status === 0 ? 'no answer' : String(status);
}

/** @param {number | null} status */
function getStatusClass(status) {
  if (status === null) return 'badge at-work';
  return status === 0 || status >= 500
    ? 'badge failed'
    : status >= 400
      ? 'badge refused'
      : 'badge fine';
}

/** @param {number | null} ms */
function formatMs(ms) {
  if (ms === null) return '–';
  return ms >= 10_000
    ? `${(ms / 1000).toFixed(1)} s`
    : `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
}
