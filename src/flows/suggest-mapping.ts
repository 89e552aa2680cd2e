import { FIELDS } from '../find/fields.ts';
import { keyOf, type Mapping } from '../find/mapping.ts';
import type { OwnTerm } from '../find/own-terms.ts';
import { isHarvested } from '../vocabulary/harvests.ts';
import { makeSuggest, type Suggest, type Suggestion } from '../vocabulary/suggest.ts';
import type { Vocabulary } from '../vocabulary/vocabulary.ts';

/** What a term of the museum may stand for; best first, and none where nothing resembles it. */
export type Proposal = OwnTerm & { readonly candidates: readonly Suggestion[] };

type SuggestMappingOptions = {
  readonly vocabulary: Vocabulary;
  /** What is mapped already is not proposed again. */
  readonly mapping: Mapping;
  readonly candidates: number;
  readonly onProgress?: (done: number, total: number) => void;
};

export type Proposals = {
  readonly proposals: readonly Proposal[];
  readonly alreadyMapped: number;
  /** Named or needed, and never harvested: nothing can be proposed from them. */
  readonly notHarvested: readonly string[];
};

/** The vocabularies that a find takes its entries from. */
const SETS_OF_FINDS = FIELDS.flatMap(({ kind, set }) => (kind === 'term' && set !== undefined ? [set] : []));

/** Own terms → entries that they may stand for. Nothing is taken: what is right, a person says. */
export function suggestMapping(terms: readonly OwnTerm[], options: SuggestMappingOptions): Proposals {
  const { vocabulary, mapping, candidates, onProgress } = options;
  const mapped = new Set(mapping.rows.filter(({ confirmed }) => confirmed).map(({ set, term }) => keyOf(set, term)));
  const isMapped = ({ set, term }: OwnTerm): boolean =>
    (set === undefined ? SETS_OF_FINDS : [set]).some((one) => mapped.has(keyOf(one, term)));
  const open = terms.filter((term) => !isMapped(term));
  const known = new Map<string, Suggest>();
  const suggestFrom = (set: string): Suggest => {
    const suggest = known.get(set) ?? makeSuggest(vocabulary, set);
    known.set(set, suggest);
    return suggest;
  };
  const proposals = open.map((own, done) => {
    onProgress?.(done, open.length);
    const sets = own.set === undefined ? SETS_OF_FINDS : [own.set];
    const found = sets.flatMap((set) => suggestFrom(set)(own.term, candidates));
    return { ...own, candidates: found.sort((a, b) => b.score - a.score).slice(0, candidates) };
  });
  const notHarvested = [...new Set(open.flatMap(({ set }) => set ?? SETS_OF_FINDS))].filter(
    (set) => !isHarvested(vocabulary, set),
  );
  return { proposals, alreadyMapped: terms.length - open.length, notHarvested };
}
