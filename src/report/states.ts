import { type Message, msg } from '../base/message.ts';
import { formatWholeNumber } from './format.ts';
import { type Html, html } from './html.ts';
import { REPORT_STATES, type ReportState, type StateCount } from './report-model.ts';

const NAMES: Readonly<Record<ReportState, Message>> = {
  draft: msg`not complete`,
  refused: msg`refused by the service`,
  uncertain: msg`uncertain`,
  queued: msg`waiting to be sent`,
  registered: msg`registered`,
  submitted: msg`submitted`,
  confirmed: msg`confirmed`,
  archived: msg`archived`,
  gone: msg`no longer in the service`,
  dropped: msg`dropped`,
  unsent: msg`not queued`,
};

export function getStateName(state: ReportState): string {
  return String(NAMES[state]);
}

/**
 * Shapes that distinguish states without colours; those of the service have their number. Drawn
 * around 0 0, 14 units wide.
 */
const SHAPES: Readonly<Record<ReportState, Html>> = {
  draft: html`<circle r="5.5" class="hollow dashed"/>`,
  refused: html`<path d="M-5.5-5.5h11v11h-11z" class="full"/><path d="M-2.5-2.5l5 5m0-5l-5 5" class="on"/>`,
  uncertain: html`<path d="M0-7.2L7.2 0 0 7.2-7.2 0z" class="full"/>${numeral('?')}`,
  queued: html`<circle r="5.5" class="hollow"/><circle r="2" class="dot"/>`,
  registered: html`<circle r="6.5" class="full"/>${numeral('1')}`,
  submitted: html`<circle r="6.5" class="full"/>${numeral('2')}`,
  confirmed: html`<circle r="6.5" class="full"/>${numeral('3')}`,
  archived: html`<circle r="6.5" class="full"/>${numeral('4')}`,
  gone: html`<path d="M-5-5h10v10h-10z" class="hollow"/><path d="M-5-5l10 10" class="line"/>`,
  dropped: html`<path d="M-4.5-4.5l9 9m0-9l-9 9" class="line"/>`,
  unsent: html`<circle r="4" class="hollow"/>`,
};

function numeral(text: string): Html {
  return html`<text class="on-text" y="3.2" text-anchor="middle">${text}</text>`;
}

/** Defines the shapes of all states, to be drawn by reference. */
export function stateShapes(): Html {
  const shapes = REPORT_STATES.map(
    (state) => html`<g id="mark-${state}" class="mark-shape state-${state}">${SHAPES[state]}</g>`,
  );
  return html`<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>${shapes}</defs></svg>`;
}

/** Counts finds by state, in the order of the page. */
export function countStates(finds: readonly { readonly state: ReportState }[]): StateCount[] {
  return REPORT_STATES.flatMap((key) => {
    const count = finds.filter(({ state }) => state === key).length;
    return count === 0 ? [] : [{ key, label: getStateName(key), count }];
  });
}

/** Lists the counts with the shapes of the marks. */
export function stateLegend(counts: readonly StateCount[], more = ''): Html {
  return html`<ul class="legend${more}">${counts.map(({ key, count }) => html`<li>${stateBadge(key)} <b>${formatWholeNumber(count)}</b></li>`)}</ul>`;
}

export function stateBadge(state: ReportState): Html {
  return html`<span class="badge state-${state}">${stateSymbol(state)}<span>${getStateName(state)}</span></span>`;
}

function stateSymbol(state: ReportState): Html {
  return html`<svg class="symbol" viewBox="-8 -8 16 16" aria-hidden="true"><use href="#mark-${state}"/></svg>`;
}
