import type { Term } from './term.ts';

export type Candidate = {
  readonly id: string;
  readonly label: string;
  readonly labelEn?: string;
  readonly setSpec: string;
  /** Distinguishes people of one name. */
  readonly about?: string;
};

/** Meaning of a cell in one set. */
export type TermAnswer =
  | { readonly kind: 'found'; readonly term: Candidate }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: 'unknown';
      readonly nearest: readonly Candidate[];
      /** `nearest` has all entries of the set, which is small. */
      readonly isAll?: true;
      /** Entries of other sets with this label. */
      readonly elsewhere?: readonly Candidate[];
    }
  | { readonly kind: 'wrong-set'; readonly term: Candidate }
  | { readonly kind: 'deleted'; readonly term: Candidate }
  | { readonly kind: 'not-harvested' };

export function candidateOf(term: Term): Candidate {
  return {
    id: term.ident,
    label: term.label,
    setSpec: term.setSpec,
    ...(term.labelEn === null ? {} : { labelEn: term.labelEn }),
  };
}
