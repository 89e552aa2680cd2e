import type { Term } from './term.ts';

export type Candidate = {
  readonly id: string;
  readonly label: string;
  readonly labelEn?: string;
  readonly setSpec: string;
  /** What tells people of one name apart. */
  readonly about?: string;
};

/** What a cell of a table means in one set. */
export type TermAnswer =
  | { readonly kind: 'found'; readonly term: Candidate }
  | { readonly kind: 'ambiguous'; readonly candidates: readonly Candidate[] }
  | {
      readonly kind: 'unknown';
      readonly nearest: readonly Candidate[];
      /** The set is so small that `nearest` is all of it. */
      readonly isAll?: true;
      /** Entries of other sets that are called so. */
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
