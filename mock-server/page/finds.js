import { ask, Refusal } from './control.js';
import { element, follow, getPart } from './element.js';
import { renderFindDetails } from './find-details.js';
import { getStateName, stateIcon } from './find-state.js';
import { makeThumbnail } from './photographs.js';

/** @import { Find, Finds } from './control.js' */
/** @import { FindRecord } from './find-details.js' */

const LISTED = 200;
const PHOTOGRAPHS = 24;

/** The finds as a list, one find in full, and the newest photographs. */
export class FindPanel {
  #list = getPart('find-list', HTMLUListElement);
  #note = getPart('find-note', HTMLElement);
  #listView = getPart('find-list-view', HTMLElement);
  #view = getPart('find-view', HTMLElement);
  #photos = getPart('photos', HTMLUListElement);
  /** @type {Find[]} */
  #finds = [];
  #revision = 0;
  /** Find that was last requested in full: its identifier and a revision. */
  #wanted = '';
  /** Find that is shown in full: its identifier and datestamp. */
  #shown = '';
  #choose;
  #move;
  #besides;

  /**
   * @param {object} hands
   * @param {(ident: string | undefined) => void} hands.choose
   * @param {(ident: string, move: string) => void} hands.move
   * @param {(ident: string) => string[]} hands.besides finds at the same spot of the map
   */
  constructor({ choose, move, besides }) {
    this.#choose = choose;
    this.#move = move;
    this.#besides = besides;
  }

  /** @param {Finds} found */
  show({ finds, matching, revision }) {
    this.#finds = finds;
    this.#revision = revision;
    const listed = finds.slice(0, LISTED);
    follow(
      this.#list,
      listed,
      (find) => `${find.ident} ${find.datestamp}`,
      (find) => element('li', {}, this.#row(find)),
    );
    this.#note.textContent =
      matching === 0
        ? 'No find.'
        : matching > listed.length
          ? `The newest ${listed.length} of ${matching}; search for the others.`
          : '';
    const photos = finds
      .flatMap((find) => find.photos.map((photo) => ({ find, photo })))
      .slice(0, PHOTOGRAPHS);
    follow(
      this.#photos,
      photos,
      ({ photo }) => photo.id,
      ({ find, photo }) => this.#photograph(find, photo),
    );
    getPart('photos-none', HTMLElement).hidden = photos.length > 0;
  }

  /** Shows one find in full, or the list again. @param {string | undefined} ident */
  async open(ident) {
    const wasOpen = !this.#view.hidden;
    this.#listView.hidden = ident !== undefined;
    this.#view.hidden = ident === undefined;
    if (ident === undefined) {
      this.#wanted = '';
      this.#shown = '';
      if (wasOpen) this.#list.querySelector('button')?.focus({ preventScroll: true });
      return;
    }
    const query = `${ident} ${this.#revision}`;
    if (this.#wanted === query) return;
    this.#wanted = query;
    const [record, find] = await Promise.all([fetchRecord(ident), this.#find(ident)]).catch(
      (error) => {
        this.#wanted = '';
        throw error;
      },
    );
    const shown = `${ident} ${record?.datestamp}`;
    if (this.#wanted !== query || this.#shown === shown) return;
    const isAnother = !this.#shown.startsWith(`${ident} `);
    this.#shown = shown;
    const back = element(
      'button',
      { type: 'button', class: 'back', click: () => this.#choose(undefined) },
      '← All finds',
    );
    const content =
      record === undefined || find === undefined
        ? [element('p', {}, `There is no find ${ident}.`)]
        : renderFindDetails(record, find, (move) => this.#move(ident, move));
    this.#view.replaceChildren(back, ...this.#neighbours(ident), ...content);
    if (isAnother) this.#view.focus({ preventScroll: true });
  }

  /** A find in short, though it may not be among those on the list. @param {string} ident */
  async #find(ident) {
    const listed = this.#finds.find((find) => find.ident === ident);
    if (listed !== undefined) return listed;
    /** @type {Finds} */
    const { finds } = await ask(
      'GET',
      `/finds?${new URLSearchParams({ text: ident, limit: '1' })}`,
    );
    return finds.find((find) => find.ident === ident);
  }

  /** @param {string} ident */
  #neighbours(ident) {
    const neighbours = this.#besides(ident).slice(0, 12);
    if (neighbours.length === 0) return [];
    const links = neighbours.flatMap((other) => [' ', element('a', { href: `#${other}` }, other)]);
    return [element('p', { class: 'small muted' }, 'At the same spot:', ...links)];
  }

  /** @param {Find} find */
  #row({ ident, state, label, place, photos, registration_number }) {
    const more = [
      place,
      registration_number,
      photos.length === 0 ? null : `${photos.length} photo${photos.length === 1 ? '' : 's'}`,
    ];
    return element(
      'button',
      { type: 'button', click: () => this.#choose(ident), 'data-ident': ident },
      stateIcon(state),
      element('span', { class: 'ident' }, ident),
      element('span', {}, label),
      element(
        'span',
        { class: 'muted small' },
        [getStateName(state), ...more].filter((text) => text !== null).join(' · '),
      ),
    );
  }

  /** @param {Find} find @param {Find['photos'][number]} photo */
  #photograph(find, photo) {
    const name = element(
      'a',
      { href: `#${find.ident}`, title: `${find.label}, ${getStateName(find.state)}` },
      find.ident,
    );
    return element('li', {}, makeThumbnail(photo, find.ident), name);
  }
}

/**
 * @param {string} ident @returns {Promise<FindRecord | undefined>} undefined where it was deleted
 * or never was
 */
async function fetchRecord(ident) {
  try {
    const record = await ask('GET', `/records/${encodeURIComponent(ident)}`);
    return record.deleted ? undefined : record;
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
