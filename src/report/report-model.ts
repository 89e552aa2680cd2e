import type { Command } from '../base/message.ts';
import type { Place } from '../place/geometry.ts';
import type { BoundingBox, Polygon } from '../place/polygon.ts';

/**
 * State of a find: that of its import, after sending that of the service. In the order of the page.
 */
export const REPORT_STATES = [
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

/** Next action for a person, with its command where there is one. */
export type NextStep = { readonly text: string; readonly command?: Command };

export type Picture =
  | {
      readonly kind: 'image';
      readonly jpeg: Buffer;
      readonly widthPx: number;
      readonly heightPx: number;
      /** EXIF orientation, 1 to 8, which the page applies. */
      readonly orientation: number;
    }
  /** Reason why there is no picture. */
  | { readonly kind: 'none'; readonly why: string };

export type ReportPhotograph = { readonly name: string | undefined; readonly picture: Picture };

/** `at` is the position among the facts of a find; `shape` is the required space. */
export type Fact = {
  readonly at: number;
  readonly label: string;
  readonly text: string;
  readonly shape?: 'double' | 'wide';
};

export type Findspot = {
  readonly place: Place | undefined;
  readonly area: string | undefined;
  readonly district: string | undefined;
};

export type ReportFind = Findspot & {
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
  /** Elements without a field of their own here. */
  readonly facts: readonly Fact[];
  /** Time of acceptance by the service; milliseconds since 1970 UTC. */
  readonly acceptedMs: number | undefined;
  readonly accessibility: (Label & { readonly letter: string | undefined }) | undefined;
  readonly problems: readonly Problem[];
  readonly next: readonly NextStep[];
  /** Further search words: its terms in the other language, and the museum's own. */
  readonly otherWords: readonly string[];
};

/** Tells if a find waits for an action of a person. */
export function isForPerson({ state, problems }: ReportFind): boolean {
  return (
    ['draft', 'refused', 'uncertain', 'gone'].includes(state) ||
    problems.some(({ severity }) => severity === 'error')
  );
}

/** One map: its extent, and the boundaries that may be in it. */
export type MapSheet = {
  readonly kind: 'overview' | 'detail';
  readonly title: string;
  readonly box: BoundingBox;
  readonly finds: readonly MappedFind[];
  readonly districts: readonly Outline[];
  /** Empty where the scale is too small for them. */
  readonly areas: readonly Outline[];
};

export type MappedFind = {
  readonly number: number;
  readonly localId: string;
  readonly state: ReportState;
  readonly place: Place;
};
export type Outline = { readonly label: string; readonly polygon: Polygon };

export type Count = { readonly key: string; readonly label: string; readonly count: number };
export type StateCount = Count & { readonly key: ReportState };

export type ReportSettings = {
  readonly madeMs: number;
  readonly profile: {
    readonly name: string;
    readonly kind: 'production' | 'training';
    readonly host: string;
  };
  /**
   * The page has all protected elements (B-MASK-6) and those that may reveal the location, or none
   * of them.
   */
  readonly places: 'shown' | 'left-out';
  readonly pictures: 'shown' | 'left-out';
};

export type Report = ReportSettings & {
  /** Projects and years of the finds, for the title; empty where there is none. */
  readonly subject: string;
  readonly version: string;
  readonly account: string | undefined;
  readonly finds: number;
  readonly photographs: number;
  readonly withProblems: number;
  readonly withoutPlace: number;
  readonly byState: readonly StateCount[];
  readonly byPeriod: readonly Count[];
  readonly byObjectType: readonly Count[];
  readonly byAccessibility: readonly Count[];
  readonly maps: readonly MapSheet[];
};
