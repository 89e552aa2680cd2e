import { formatFinds, formatSJtsk, formatWgs84 } from './format.ts';
import { type Html, html } from './html.ts';
import type { Frame } from './map-frame.ts';
import { type LabelRequest, type Stack, stack } from './map-labels.ts';
import { type MappedFind, REPORT_STATES, type ReportState } from './report-model.ts';
import { getStateName, stateBadge } from './states.ts';

/** Marks closer than this would overlap. */
const DISTANCE = { overview: 30, detail: 15 };
/** Above this number of finds, marks are merged at larger distances. */
const MANY_FINDS = 300;
const MARK_RADIUS = 7;
/** A larger stack is named after its first find only. */
const MAX_NAMED = 2;

export type Marks = { readonly stacks: readonly Stack<MappedFind>[]; readonly requests: readonly LabelRequest[] };

export type MarkOptions = {
  readonly scale: keyof typeof DISTANCE;
  /** Target and title of a stack on an overview. */
  readonly getSheet?: (find: MappedFind) => { readonly anchor: string; readonly title: string } | undefined;
};

export function placeMarks(frame: Frame, finds: readonly MappedFind[], { scale, getSheet }: MarkOptions): Marks {
  const distance = finds.length > MANY_FINDS ? DISTANCE.overview : DISTANCE[scale];
  const stacks = stack(finds, ({ place }) => frame.place(place.wgs84), distance);
  const largestFirst = [...stacks].sort((a, b) => b.members.length - a.members.length);
  const namedKeys = new Set<string>();
  const requests = largestFirst.map(({ at, members }) => {
    const sheet = members[0] === undefined ? undefined : getSheet?.(members[0]);
    // The title of a detail map is shown once.
    const text = sheet === undefined ? listNames(members) : namedKeys.has(sheet.anchor) ? '' : sheet.title;
    if (sheet !== undefined) namedKeys.add(sheet.anchor);
    return { at, text, radius: getRadius(members.length) };
  });
  return { stacks, requests };
}

/** A larger stack has no name. */
const MAX_MEMBERS = 9;

function listNames(members: readonly MappedFind[]): string {
  if (members.length > MAX_MEMBERS) return '';
  const names = members.slice(0, members.length > MAX_NAMED ? 1 : MAX_NAMED).map(({ localId }) => shortenList(localId));
  const rest = members.length - names.length;
  return names.join(', ') + (rest > 0 ? ` +${rest}` : '');
}

function shortenList(text: string): string {
  const letters = [...text];
  return letters.length > 20 ? `${letters.slice(0, 19).join('')}…` : text;
}

function getRadius(count: number): number {
  if (count === 1) return MARK_RADIUS;
  return count < 10 ? 9 : count < 100 ? 11 : 14;
}

/** Renders all marks of a map, including the members of stacks, which are shown when the reader zooms in. */
export function renderMarks({ stacks }: Marks, options: MarkOptions): Html[] {
  return stacks.flatMap((each) => {
    const [first] = each.members;
    if (first === undefined) return [];
    if (each.members.length === 1) return [singleMark(first, each.at, '', options.getSheet?.(first)?.anchor)];
    return [stackMark(each, first, options)];
  });
}

/** Renders members of stacks, which are drawn only where the stack is opened. */
export function renderMembers({ stacks }: Marks, frame: Frame): Html[] {
  return stacks
    .filter(({ members }) => members.length > 1)
    .flatMap(({ members }) => members.map((find) => singleMark(find, frame.place(find.place.wgs84), ' member', undefined)));
}

function singleMark(find: MappedFind, [x, y]: readonly [number, number], more: string, anchor: string | undefined): Html {
  const title = `${find.localId}: ${getStateName(find.state)}\n${formatWgs84(find.place)}\n${formatSJtsk(find.place)}`;
  return html`<a class="mark${more}" href="#${anchor ?? `find-${find.number}`}" tabindex="-1" data-find="${find.number}" ${placeMark(x, y)}><title>${title}</title><use href="#mark-${find.state}"/></a>
`;
}

function stackMark({ at: [x, y], members, reach }: Stack<MappedFind>, first: MappedFind, { getSheet }: MarkOptions): Html {
  const count = members.length;
  const radius = getRadius(count);
  const anchor = getSheet?.(first)?.anchor ?? `find-${first.number}`;
  const some = members.slice(0, 12).map(({ localId, state }) => `${localId}: ${getStateName(state)}`);
  const lines = [formatFinds(count), ...some, ...(count > some.length ? ['…'] : [])].join('\n');
  const numbers = members.map(({ number }) => number).join(' ');
  return html`<a class="mark stack" href="#${anchor}" tabindex="-1" data-finds="${numbers}" data-reach="${roundToTenth(reach)}" ${placeMark(x, y)}><title>${lines}</title><g class="shape"><circle class="disc" r="${radius}"/>${shares(members, radius)}<text class="count" y="3.6" text-anchor="middle">${count}</text></g></a>
`;
}

function shares(members: readonly MappedFind[], radius: number): Html[] {
  let begun = 0;
  return REPORT_STATES.flatMap((state) => {
    const share = (100 * members.filter((find) => find.state === state).length) / members.length;
    if (share === 0) return [];
    const offset = -begun;
    begun += share;
    return [
      html`<circle class="share state-${state}" r="${radius - 1.5}" pathLength="100" stroke-dasharray="${roundToTenth(share)} 100" stroke-dashoffset="${roundToTenth(offset)}" transform="rotate(-90)"/>`,
    ];
  });
}

/** Returns the position attributes for the drawing and for the script that moves it. */
function placeMark(x: number, y: number): Html {
  const [remainingCount, top] = [roundToTenth(x), roundToTenth(y)];
  return html`data-x="${remainingCount}" data-y="${top}" transform="translate(${remainingCount} ${top})"`;
}

export function roundToTenth(value: number): number {
  return Math.round(value * 10) / 10;
}

export function formatMapSummary(finds: readonly MappedFind[]): string {
  const states = countStates(finds).map(([state, count]) => `${getStateName(state)} ${count}`);
  return [formatFinds(finds.length), ...states].join(', ');
}

/** Lists the counts by state with the shapes of the marks. */
export function stateCounts(finds: readonly MappedFind[]): Html {
  return html`<ul class="legend quiet">${countStates(finds).map(([state, count]) => html`<li>${stateBadge(state)} <b>${count}</b></li>`)}</ul>`;
}

function countStates(finds: readonly MappedFind[]): (readonly [ReportState, number])[] {
  const counts = REPORT_STATES.map((state) => [state, finds.filter((find) => find.state === state).length] as const);
  return counts.filter(([, count]) => count > 0);
}
