import { element } from './element.js';
import { getStateName, stateIcon } from './find-state.js';
import { makeThumbnail } from './photographs.js';

/** @import { Find } from './control.js' */

/**
 * @typedef {string | { [name: string]: Value } | Value[]} Value a child of a record in the notation
 * of `GET /records/{ident}`
 */
/**
 * @typedef {{ ident: string, stav: number | null, datestamp: string, body: { [name: string]: Value
 * } }} FindRecord
 */

/** Meanings of the service's history codes. */
const CHANGES = new Map([
  ['SN01', 'registered'],
  ['SN12', 'submitted'],
  ['SN23', 'confirmed'],
  ['SN34', 'archived'],
  ['SN-1', 'returned'],
  ['SN-UPD', 'changed'],
  ['SBR0', 'photograph uploaded'],
]);

/** The moves that people make outside the write interface, by state. */
const MOVES = new Map([
  [1, ['submit']],
  [2, ['confirm', 'return']],
  [3, ['archive', 'return']],
  [4, ['return']],
]);

/**
 * One find in full: its photographs, its elements as the contract names them, its history.
 * @param {FindRecord} record
 * @param {Find} find the same find in short
 * @param {(move: string) => void} onMove
 * @returns {HTMLElement[]}
 */
export function renderFindDetails(record, find, onMove) {
  const { ident, stav, body } = record;
  const moves = (MOVES.get(stav ?? 0) ?? []).map((move) =>
    element(
      'button',
      { type: 'button', title: 'as a person would', click: () => onMove(move) },
      `${move.slice(0, 1).toUpperCase()}${move.slice(1)}`,
    ),
  );
  const photos = find.photos.map((photo) => element('li', {}, makeThumbnail(photo, ident)));
  return [
    element(
      'header',
      { class: 'find-head' },
      element('h3', {}, ident),
      element('p', {}, stateIcon(stav), ` ${find.label}, ${stav ?? ''} ${getStateName(stav)}`),
      element('div', { class: 'buttons' }, ...moves),
    ),
    ...(photos.length === 0
      ? []
      : [element('ul', { class: 'photos', 'aria-label': 'Photographs' }, ...photos)]),
    element(
      'dl',
      { class: 'elements' },
      ...elementRows(body),
      ...pair('datestamp', record.datestamp),
    ),
    element('h4', {}, 'History'),
    element('ol', { class: 'history' }, ...collectHistory(body).map(historyItem)),
  ];
}

/** @param {{ [name: string]: Value }} body @returns {HTMLElement[]} */
function elementRows(body) {
  return Object.entries(body).flatMap(([name, value]) => {
    if (name === 'historie' || name === 'soubor' || name === 'ident_cely' || name.endsWith('_gml'))
      return [];
    if (name === 'chranene_udaje' && isGroup(value)) return elementRows(value);
    return pair(
      name,
      toText(value),
      isGroup(value) && typeof value['@id'] === 'string' ? value['@id'] : undefined,
    );
  });
}

/** @param {string} name @param {string} text @param {string} [id] */
function pair(name, text, id) {
  const shown =
    id === undefined || id === text ? [text] : [text, ' ', element('span', { class: 'muted' }, id)];
  return [element('dt', {}, name), element('dd', {}, ...shown)];
}

/**
 * The find's own changes and its photographs', in order of time. @param {{ [name: string]: Value }}
 * body
 */
function collectHistory(body) {
  const files = listGroups(body['soubor']).flatMap((file) =>
    listGroups(file['historie']).map(
      (change) =>
        /** @type {{ [name: string]: Value }} */ ({ ...change, about: file['nazev'] ?? '' }),
    ),
  );
  const changes = [...listGroups(body['historie']), ...files].map((change) => ({
    at: toText(change['datum_zmeny'] ?? ''),
    code: toText(change['typ_zmeny'] ?? ''),
    user: toText(change['uzivatel'] ?? ''),
    note: [toText(change['about'] ?? ''), toText(change['poznamka'] ?? '')]
      .filter((text) => text !== '')
      .join(', from '),
  }));
  return changes.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
}

/** @param {{ at: string, code: string, user: string, note: string }} change */
function historyItem({ at, code, user, note }) {
  const when = element(
    'time',
    { datetime: at, title: at },
    `${new Date(at).toISOString().slice(0, 19).replace('T', ' ')}`,
  );
  const what = ` ${CHANGES.get(code) ?? 'changed'} `;
  return element(
    'li',
    {},
    when,
    what,
    element(
      'span',
      { class: 'muted' },
      [code, user, note].filter((text) => text !== '').join(' · '),
    ),
  );
}

/** @param {Value | undefined} value @returns {{ [name: string]: Value }[]} */
function listGroups(value) {
  return (Array.isArray(value) ? value : [value])
    .filter((item) => item !== undefined)
    .filter(isGroup);
}

/** @param {Value} value @returns {value is { [name: string]: Value }} */
function isGroup(value) {
  return typeof value === 'object' && !Array.isArray(value);
}

/** @param {Value} value @returns {string} */
function toText(value) {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(toText).join('; ');
  return toText(value['#'] ?? value['@id'] ?? '');
}
