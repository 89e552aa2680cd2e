import { formatDecimal, type Message, msg, msgid, ngettext } from '../base/message.ts';
import type { BoundingBox, Polygon } from '../finds/place/areas.ts';
import type { Point, PointInBothSystems } from '../finds/place/geometry.ts';
import { STATE_WORDS } from '../outbox/views/entry-words.ts';
import type { Thumbnail } from '../photos/photograph.ts';
import { type Html, html } from './html.ts';

/**
 * State of a find: that of its import, after sending that of the service. In the order of the page.
 */
const REPORT_STATES = [
  'draft',
  'refused',
  'uncertain',
  'queued',
  'registered',
  'submitted',
  'confirmed',
  'archived',
  'gone',
  'dropped',
  'unsent',
] as const;
export type ReportState = (typeof REPORT_STATES)[number];

/** A vocabulary entry in the language of the report. */
export type Label = { readonly id: string; readonly text: string };

/** Issue of a find or one of its changes, in words. */
export type Problem = {
  readonly severity: 'error' | 'warning';
  readonly element?: string;
  readonly message: string;
};

/** A photograph in the page; its name is left out with the places, which it may reveal. */
export type ReportPhotograph = {
  readonly name: string | undefined;
  readonly picture: Thumbnail;
};

/** `at` is the position among the facts of a find; `shape` is the required space. */
export type ReportedFact = {
  readonly at: number;
  readonly label: string;
  readonly text: string;
  readonly shape?: 'double' | 'first' | 'wide';
};

/**
 * Where a find was made. Place and area are undefined where places are left out; the district is
 * not protected.
 */
export type Findspot = {
  readonly place: PointInBothSystems | undefined;
  readonly area: string | undefined;
  readonly district: string | undefined;
};

/**
 * Content of a find in the report, in the language of the report. Undefined: not known, or left
 * out with the places.
 */
export type ReportFind = Pick<Findspot, 'place' | 'area'> & {
  /** From 1, in the order of entry; part of the page's anchor. */
  readonly number: number;
  readonly localId: string;
  readonly identCely: string | undefined;
  readonly recordUrl: string | undefined;
  readonly state: ReportState;
  /** Addition to the state, such as that the record is hidden from this account. */
  readonly stateNote: string | undefined;
  readonly period: Label | undefined;
  readonly objectType: Label | undefined;
  /** In any order; without a text they are not shown. */
  readonly facts: readonly ReportedFact[];
  readonly problems: readonly Problem[];
};

/** The window of a map: converts degrees to drawing units, x to the right and y down. */
export type MapFrame = {
  readonly metresPerUnit: number;
  /** Degrees. */
  readonly box: BoundingBox;
  place(lonLat: Point): Point;
};

/** One map: its finds, and the boundaries that may be in it. */
export type MapSheet = {
  readonly kind: 'overview' | 'detail';
  readonly title: string;
  readonly frame: MapFrame;
  readonly finds: readonly MappedFind[];
  readonly districts: readonly LabelledArea[];
  /** Empty where the scale is too small for them. */
  readonly areas: readonly LabelledArea[];
};

/** A find with a point, as a map draws it. */
export type MappedFind = Pick<ReportFind, 'number' | 'localId' | 'state' | 'area'> & {
  readonly place: PointInBothSystems;
};
/** A district or cadastral area, in degrees. */
export type LabelledArea = { readonly label: string; readonly polygon: Polygon };

/** Number of finds with one state or term; `key` is '' for finds without it. */
export type LabelledCount = {
  readonly key: string;
  readonly label: string;
  readonly count: number;
};
type StateCount = LabelledCount & { readonly key: ReportState };

/** Choices for the report; `madeMs` is milliseconds since 1970 UTC. */
export type ReportSettings = {
  readonly madeMs: number;
  readonly profile: {
    readonly name: string;
    readonly kind: 'production' | 'training';
    readonly host: string;
  };
  /**
   * The page has all protected elements (B-MASK-6) and those that may reveal the location, or none
   * of them: facts, findspots and problems in report-find.ts, names of photographs in
   * write-report.ts.
   */
  readonly places: 'shown' | 'left-out';
};

/** Content of the report apart from its finds: totals and maps. */
export type Report = ReportSettings & {
  readonly version: string;
  /** Name and organisation; undefined where the account is not known. */
  readonly account: string | undefined;
  /** Number of finds. */
  readonly finds: number;
  /** Number of photographs that are not dropped. */
  readonly photographs: number;
  /** Number of finds on no map; all of them where places are left out. */
  readonly withoutPlace: number;
  readonly byState: readonly StateCount[];
  readonly byPeriod: readonly LabelledCount[];
  readonly byObjectType: readonly LabelledCount[];
  readonly maps: readonly MapSheet[];
};

// Numbers and coordinates in the report's language.

/** Formats a number of finds in the language of the report: `1 find`, `5 finds`. */
export function formatReportedFindCount(count: number): string {
  return ngettext(msgid`${count} find`, `${count} finds`, count);
}

/** Formats a place as `49.840500 N 15.171200 E`: six decimals of a degree are a decimetre. */
export function formatWgs84({ wgs84: [longitude, latitude] }: PointInBothSystems): string {
  return `${formatDecimal(latitude, 6)} N ${formatDecimal(longitude, 6)} E`;
}

/** Formats a place as `x -693174.81 y -1077354.27`, in metres of EPSG:5514. */
export function formatSJtsk({ sJtsk: [x, y] }: PointInBothSystems): string {
  return `x ${formatDecimal(x, 2)} y ${formatDecimal(y, 2)}`;
}

const NAMES: Readonly<Record<ReportState, Message>> = {
  ...STATE_WORDS,
  registered: msg`registered`,
  submitted: msg`submitted`,
  confirmed: msg`confirmed`,
  archived: msg`archived`,
  gone: msg`no longer in the service`,
  unsent: msg`not queued`,
};

/** Returns the name of a state of a find, in the language of the report. */
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
  uncertain: html`<path d="M0-7.2L7.2 0 0 7.2-7.2 0z" class="full"/>${renderNumeral('?')}`,
  queued: html`<circle r="5.5" class="hollow"/><circle r="2" class="dot"/>`,
  registered: html`<circle r="6.5" class="full"/>${renderNumeral('1')}`,
  submitted: html`<circle r="6.5" class="full"/>${renderNumeral('2')}`,
  confirmed: html`<circle r="6.5" class="full"/>${renderNumeral('3')}`,
  archived: html`<circle r="6.5" class="full"/>${renderNumeral('4')}`,
  gone: html`<path d="M-5-5h10v10h-10z" class="hollow"/><path d="M-5-5l10 10" class="line"/>`,
  dropped: html`<path d="M-4.5-4.5l9 9m0-9l-9 9" class="line"/>`,
  unsent: html`<circle r="4" class="hollow"/>`,
};

function renderNumeral(text: string): Html {
  return html`<text class="on-text" y="3.2" text-anchor="middle">${text}</text>`;
}

/**
 * Renders the hidden drawing that defines the shapes of all states, for {@link renderStateBadge}
 * and the marks of maps; the page must have it once, before them.
 */
export function renderStateShapes(): Html {
  const shapes = REPORT_STATES.map(
    (state) => html`<g id="mark-${state}" class="mark-shape state-${state}">${SHAPES[state]}</g>`,
  );
  return html`<svg class="shapes" width="0" height="0" aria-hidden="true"><defs>${shapes}</defs></svg>`;
}

/**
 * Counts finds by state, in the order of {@link REPORT_STATES}; states without finds are left out.
 */
export function countFindsByState(finds: readonly { readonly state: ReportState }[]): StateCount[] {
  return REPORT_STATES.flatMap((key) => {
    const count = finds.filter(({ state }) => state === key).length;
    return count === 0 ? [] : [{ key, label: getStateName(key), count }];
  });
}

/**
 * Renders the counts as a list: shape, name and number of finds of each state.
 * @param more further class names for the list, with a leading blank
 */
export function renderStateLegend(counts: readonly StateCount[], more = ''): Html {
  return html`<ul class="legend${more}">${counts.map(({ key, count }) => html`<li>${renderStateBadge(key)} <b>${count}</b></li>`)}</ul>`;
}

/** Renders shape and name of a state. The page must have {@link renderStateShapes} before it. */
export function renderStateBadge(state: ReportState): Html {
  return html`<span class="badge state-${state}"><svg class="symbol" viewBox="-8 -8 16 16" aria-hidden="true"><use href="#mark-${state}"/></svg><span>${getStateName(state)}</span></span>`;
}
