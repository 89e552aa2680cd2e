import { element, follow, getPart } from './element.js';
import { ALL_STATES, getStateName, stateIcon } from './find-state.js';

/**
 * @typedef {object} Tile
 * @property {string} key
 * @property {number} count
 * @property {string} words
 * @property {number | null} [state] which finds it chooses; null: all; absent: it chooses nothing
 */

/** The counts; those of finds are also the map's legend and the filter by state. */
export class CountTiles {
  #list = getPart('counts', HTMLUListElement);
  #onChoose;

  /** @param {(state: number | null) => void} onChoose */
  constructor(onChoose) {
    this.#onChoose = onChoose;
  }

  /**
   * @param {object} counts
   * @param {Record<string, number>} counts.byState
   * @param {number} counts.photos
   * @param {number} counts.requests
   * @param {number} counts.faults how many rules are on
   * @param {number | null} chosen
   */
  show({ byState, photos, requests, faults }, chosen) {
    const all = Object.values(byState).reduce((sum, count) => sum + count, 0);
    /** @type {Tile[]} */
    const tiles = [
      { key: 'all', count: all, words: all === 1 ? 'find' : 'finds', state: null },
      ...ALL_STATES.map((state) => ({
        key: `state-${state}`,
        count: byState[state] ?? 0,
        words: `${state} ${getStateName(state)}`,
        state,
      })),
      { key: 'photos', count: photos, words: photos === 1 ? 'photograph' : 'photographs' },
      { key: 'requests', count: requests, words: requests === 1 ? 'request' : 'requests' },
      { key: 'faults', count: faults, words: faults === 1 ? 'fault on' : 'faults on' },
    ];
    follow(
      this.#list,
      tiles,
      ({ key }) => key,
      (tile) => element('li', { id: `count-${tile.key}` }, this.#makeTile(tile)),
    );
    for (const { key, count, words, state } of tiles) {
      const item = getPart(`count-${key}`, HTMLLIElement);
      item.querySelector('.figure')?.replaceChildren(count.toLocaleString('en'));
      item.querySelector('.words')?.replaceChildren(` ${words}`);
      if (state !== undefined)
        item.querySelector('button')?.setAttribute('aria-pressed', String(state === chosen));
    }
    getPart('count-faults', HTMLLIElement).classList.toggle('alarming', faults > 0);
  }

  /** @param {Tile} tile */
  #makeTile({ state }) {
    const texts = [element('span', { class: 'figure' }), element('span', { class: 'words' })];
    if (state === undefined) return element('span', { class: 'tile' }, ...texts);
    const icon = state === null ? [] : [stateIcon(state)];
    return element(
      'button',
      { type: 'button', class: 'tile', click: () => this.#onChoose(state) },
      ...icon,
      ...texts,
    );
  }
}
