/** One entry of a vocabulary: a `heslo`, an organisation, a person, a region, a district, a cadastral area, a project. */

/** What kinds of record the vocabulary keeps, as the service names them. */
export const TERM_KINDS = ['heslo', 'organizace', 'osoba', 'ruian_kraj', 'ruian_okres', 'ruian_katastr', 'projekt'] as const;
export type TermKind = (typeof TERM_KINDS)[number];

/** Years, negative before our era. */
export type Dating = {
  readonly fromMin: number | null;
  readonly fromMax: number | null;
  readonly toMin: number | null;
  readonly toMax: number | null;
  readonly note: string | null;
};

/** The same thing in another vocabulary. */
export type TermLink = {
  readonly source: string;
  readonly codeName: string;
  readonly code: string;
  readonly uri: string | null;
  /** Such as `skos:exactMatch`. */
  readonly relation: string;
};

export type TermDetails = {
  readonly dating?: Dating;
  readonly links?: readonly TermLink[];
  /** Other facts of the record, by the contract's element name. */
  readonly facts?: Readonly<Record<string, string>>;
  /** Of a project: whether it is a survey, into which finds may be imported. */
  readonly survey?: boolean;
  /** The service says that the record is there, and shows none of it to this account. */
  readonly hidden?: true;
};

/** A superior entry and what makes it one, as the record says. */
export type Superior = { readonly ident: string; readonly kind: string };

export type TermDraft = {
  readonly ident: string;
  readonly setSpec: string;
  readonly label: string;
  readonly labelEn: string | null;
  /** Names besides the labels under which it is known on its own. */
  readonly otherNames: readonly string[];
  readonly abbreviation: string | null;
  readonly description: string | null;
  readonly descriptionEn: string | null;
  readonly sortOrder: number | null;
  readonly superiors: readonly Superior[];
  readonly details: TermDetails;
  /** WKT in WGS 84. */
  readonly boundary: string | null;
};

export type Term = Omit<TermDraft, 'otherNames' | 'superiors' | 'boundary'> & {
  readonly datestampMs: number;
  readonly gone: 'deleted' | 'vanished' | null;
  readonly goneAtMs: number | null;
};

/** Whether a term of `setSpec` belongs to `wanted`, which may be a whole family such as `heslo`. */
export function isInSet(setSpec: string, wanted: string): boolean {
  return setSpec === wanted || setSpec.startsWith(`${wanted}:`);
}
