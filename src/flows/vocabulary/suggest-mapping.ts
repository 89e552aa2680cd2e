import { UsageError } from '../../base/errors.ts';
import type { Issue } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { keyOf, type Mapping, type OwnTerm, parseOwnTerms } from '../../columns/mapping.ts';
import { FIELDS } from '../../find/fields.ts';
import type { Table } from '../../tables/table.ts';
import { isHarvested } from '../../vocabulary/harvests.ts';
import { makeSuggest, type Suggest, type Suggestion } from '../../vocabulary/suggest.ts';
import type { Vocabulary } from '../../vocabulary/vocabulary.ts';
import { setOfName } from './map-terms.ts';

/** Candidates for a term of the museum; best first, empty without a similar entry. */
export type Proposal = OwnTerm & { readonly candidates: readonly Suggestion[] };

type SuggestMappingOptions = {
  readonly vocabulary: Vocabulary;
  /** Set, or element of a find, of terms without one. */
  readonly set: string | undefined;
  /** Terms that are mapped already are skipped. */
  readonly mapping: Mapping;
  readonly onProgress: (done: number, total: number) => void;
};

export type Proposals = {
  readonly proposals: readonly Proposal[];
  readonly alreadyMapped: number;
  /** Sets that are needed, but were never harvested. */
  readonly notHarvested: readonly string[];
  readonly issues: readonly Issue[];
};

/** Vocabularies of a find's elements. */
const SETS_OF_FINDS = FIELDS.flatMap(({ kind, set }) => (kind === 'term' && set !== undefined ? [set] : []));

const CANDIDATES = 4;

/**
 * Proposes entries for a list of own terms; a person confirms them.
 * @throws UsageError where nothing could be proposed, since nothing was harvested
 */
export function suggestMapping(list: Table, options: SuggestMappingOptions): Proposals {
  const { vocabulary, mapping, onProgress } = options;
  const { terms: listed, issues } = parseOwnTerms(list);
  const given = options.set === undefined ? undefined : setOfName(options.set);
  const terms = given === undefined ? listed : listed.map((term) => ({ set: given, ...term }));
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
    onProgress(done, open.length);
    const sets = own.set === undefined ? SETS_OF_FINDS : [own.set];
    const found = sets.flatMap((set) => suggestFrom(set)(own.term, CANDIDATES));
    return { ...own, candidates: found.sort((a, b) => b.score - a.score).slice(0, CANDIDATES) };
  });
  const notHarvested = [...new Set(open.flatMap(({ set }) => set ?? SETS_OF_FINDS))].filter(
    (set) => !isHarvested(vocabulary, set),
  );
  if (notHarvested.length > 0 && !proposals.some(({ candidates }) => candidates.length > 0)) {
    const sets = notHarvested.join(', ');
    throw new UsageError(t`Nothing was harvested of ${sets}.`, { hint: t`Run \`${cmd`pas harvest-vocab`}\` first.` });
  }
  return { proposals, alreadyMapped: terms.length - open.length, notHarvested, issues };
}
