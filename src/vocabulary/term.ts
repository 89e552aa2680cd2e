import type { Clock } from '../base/clock.ts';
import type { Statement } from '../store/database.ts';

/**
 * A vocabulary entry: a `heslo`, an organisation, a person, a region, a district, a cadastral area,
 * a project.
 */

/**
 * Kinds of records in the vocabulary, by the service's names, which are those of its sets: what
 * finds contain, and the areas and projects with which they are checked.
 */
export const TERM_KINDS = [
  'heslo',
  'organizace',
  'osoba',
  'ruian_kraj',
  'ruian_okres',
  'ruian_katastr',
  'projekt',
] as const;
export type TermKind = (typeof TERM_KINDS)[number];

/** Years, negative before our era. */
export type Dating = {
  readonly fromMin: number | null;
  readonly fromMax: number | null;
  readonly toMin: number | null;
  readonly toMax: number | null;
  readonly note: string | null;
};

export type TermLink = {
  readonly source: string;
  readonly codeName: string;
  readonly code: string;
  readonly uri: string | null;
  readonly relation: string;
};

export type TermDetails = {
  readonly dating?: Dating;
  readonly links?: readonly TermLink[];
  /** Further elements of the record, by the contract's name. */
  readonly facts?: Readonly<Record<string, string>>;
  /** True for a project that is a survey, into which finds may be imported. */
  readonly survey?: boolean;
  /** The record exists, but its content is hidden from this account. */
  readonly hidden?: true;
};

/** Returns the place and organisation of a project, which has no name; empty for other entries. */
export function describeProject({ facts = {} }: TermDetails): string {
  const { typ_projektu: type, okres, organizace } = facts;
  if (type === undefined) return '';
  return [okres, organizace].filter((part) => part !== undefined).join(', ');
}

/** A superior entry and the kind of the relation, from the record. */
export type Superior = { readonly ident: string; readonly kind: string };

type TermContent = {
  readonly ident: string;
  readonly setSpec: string;
  readonly label: string;
  readonly labelEn: string | null;
  readonly abbreviation: string | null;
  readonly description: string | null;
  readonly descriptionEn: string | null;
  readonly sortOrder: number | null;
  readonly details: TermDetails;
};

export type TermDraft = TermContent & {
  /** Further names, under which the entry is also found. */
  readonly otherNames: readonly string[];
  readonly superiors: readonly Superior[];
  /** WKT in WGS 84. */
  readonly boundary: string | null;
};

export type Term = TermContent & {
  readonly datestampMs: number;
  readonly gone: 'deleted' | 'vanished' | null;
  readonly goneAtMs: number | null;
};

/** One source of the vocabulary file; the other modules of this folder work on it. */
export type Vocabulary = {
  readonly path: string;
  readonly clock: Clock;
  readonly source: number;
  readonly oaiBase: string;
  /** Ids of the words that the transaction under way has met. */
  readonly wordIds: Map<string, number>;
  sql(text: string): Statement;
  /** Runs `work` in a transaction; a failure of the disk is thrown as DatabaseError. */
  change<T>(work: () => T): T;
};
