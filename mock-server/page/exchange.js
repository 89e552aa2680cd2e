import { ask, Refusal } from './control.js';
import { element } from './element.js';

/** @import { Exchange, JournalEntry, Message } from './control.js' */

/**
 * Shows a row of the journal in full: the request, its answer, and why it was refused. @param
 * {JournalEntry} entry
 */
export function exchangeView(entry) {
  const view = element('div', { class: 'exchange' }, 'asking …');
  void fill(view, entry);
  return view;
}

/** @param {HTMLElement} view @param {JournalEntry} entry */
async function fill(view, entry) {
  try {
    /** @type {Exchange} */
    const exchange = await ask('GET', `/journal/${entry.id}`);
    view.replaceChildren(
      ...renderOutcome(exchange),
      message('Request', exchange.request),
      message('Answer', exchange.answer),
    );
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    view.replaceChildren(element('p', { class: 'muted' }, thrown.message));
  }
}

/** @param {Exchange} exchange */
function renderOutcome({ rules, change, fault }) {
  const refusals = rules.map(({ rule, clause_id }) =>
    element(
      'li',
      {},
      'Refused by ',
      element('strong', {}, rule),
      clause_id === null ? '' : ` (contract: ${clause_id})`,
    ),
  );
  if (fault !== null)
    refusals.push(
      element('li', {}, 'The fault ', element('strong', {}, fault), ' was set for it.'),
    );
  if (change !== null) refusals.push(element('li', {}, formatChange(change)));
  return refusals.length === 0 ? [] : [element('ul', { class: 'outcome' }, ...refusals)];
}

/** @param {NonNullable<Exchange['change']>} change */
function formatChange({ kind, ident, name }) {
  const words = {
    'find-created': `Made the find ${ident}.`,
    'number-changed': `Changed the registration number of ${ident}.`,
    'photograph-added': `Added the photograph ${name} to ${ident}.`,
  };
  return words[kind];
}

/** @param {string} title @param {Message | null} shown */
function message(title, shown) {
  const part = element('section', {}, element('h3', {}, title));
  if (shown === null) {
    part.append(
      element(
        'p',
        { class: 'muted' },
        title === 'Request' ? 'No longer kept.' : 'None was sent, or it is no longer kept.',
      ),
    );
    return part;
  }
  const headers = Object.entries(shown.headers).flatMap(([name, value]) => [
    element('dt', {}, name),
    element('dd', {}, value),
  ]);
  part.append(element('dl', {}, ...headers));
  if (shown.size_bytes === 0) return part;
  const size = `${shown.size_bytes.toLocaleString('en')} bytes`;
  if (shown.body === null)
    part.append(
      element('p', { class: 'muted' }, `${size}, not kept: they hold a password or a token.`),
    );
  else
    part.append(
      element('p', { class: 'muted' }, shown.cut ? `${size}; the beginning:` : size),
      element('pre', { tabindex: 0 }, shown.body),
    );
  return part;
}
