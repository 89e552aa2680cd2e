import type { Command } from '../base/message.ts';
import type { BoundingBox, Polygon } from '../place/polygon.ts';
import type { Point } from '../place/project.ts';

/**
 * How a find stands, as one word: before it is sent by its import, afterwards by the state that the service has it in.
 * In the order in which a reader should meet them: what needs somebody comes first.
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

export type Place = {
  /** Longitude and latitude, degrees. */
  readonly wgs84: Point;
  /** x and y, metres. */
  readonly sJtsk: Point;
  /** In which of the two it was measured; the other is computed. */
  readonly measuredIn: '4326' | '5514';
};

/** What is wrong with a find or one of its changes, in words. */
export type Problem = { readonly severity: 'error' | 'warning'; readonly element?: string; readonly message: string };

/** What somebody can do now: in words, with the command where there is one. */
export type NextStep = { readonly text: string; readonly command?: Command };

export type Picture =
  | {
      readonly kind: 'image';
      readonly jpeg: Buffer;
      readonly widthPx: number;
      readonly heightPx: number;
      /** EXIF 1 to 8: how the page has to turn it. */
      readonly orientation: number;
    }
  /** Why there is nothing to be seen. */
  | { readonly kind: 'none'; readonly why: string };

export type ReportPhotograph = { readonly name: string | undefined; readonly picture: Picture };

/** `at` orders all facts of a find; a shape says how much room it takes. */
export type Fact = { readonly at: number; readonly label: string; readonly text: string; readonly shape?: 'double' | 'wide' };

export type ReportFind = {
  /** From 1, in the order in which they were entered; the page's anchor is made of it. */
  readonly number: number;
  readonly localId: string;
  readonly identCely: string | undefined;
  /** Persistent URL of the record. */
  readonly recordUrl: string | undefined;
  readonly state: ReportState;
  /** What the word leaves out, such as that the record is not shown to this account. */
  readonly stateNote: string | undefined;
  readonly period: Label | undefined;
  readonly objectType: Label | undefined;
  /** What its elements say, but for what has a place of its own here. */
  readonly facts: readonly Fact[];
  /** When the service accepted it; milliseconds since 1970 UTC. */
  readonly acceptedMs: number | undefined;
  readonly accessibility: (Label & { readonly letter: string | undefined }) | undefined;
  readonly place: Place | undefined;
  /** Cadastral area. */
  readonly area: string | undefined;
  readonly district: string | undefined;
  readonly problems: readonly Problem[];
  readonly next: readonly NextStep[];
  /** What else people may search for: the names of its terms in the other language, and the museum's own for them. */
  readonly otherWords: readonly string[];
};

/** It stays as it is until a person does something. */
export function needsSomebody({ state, problems }: Pick<ReportFind, 'state' | 'problems'>): boolean {
  return ['draft', 'refused', 'uncertain', 'gone'].includes(state) || problems.some(({ severity }) => severity === 'error');
}

/** One map: what it frames, and the boundaries that may lie in it. */
export type MapSheet = {
  readonly kind: 'overview' | 'detail';
  readonly title: string;
  readonly box: BoundingBox;
  readonly finds: readonly MappedFind[];
  readonly districts: readonly Outline[];
  /** Empty where the sheet shows too much of the country for them. */
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

export type Report = {
  readonly madeMs: number;
  readonly version: string;
  readonly profile: { readonly name: string; readonly kind: 'production' | 'training'; readonly host: string };
  readonly account: string | undefined;
  /** Everything that the service guards is on the page, or none of it. */
  readonly places: 'shown' | 'left-out';
  readonly pictures: 'shown' | 'left-out';
  readonly finds: number;
  readonly photographs: number;
  readonly withProblems: number;
  readonly withoutPlace: number;
  readonly byState: readonly (Count & { readonly key: ReportState })[];
  readonly byPeriod: readonly Count[];
  readonly byObjectType: readonly Count[];
  readonly byAccessibility: readonly Count[];
  readonly maps: readonly MapSheet[];
};
