import { formatIso } from '../../base/clock.ts';
import { formatCsvTable } from '../../base/csv.ts';
import { UsageError } from '../../base/errors.ts';
import type { Issue } from '../../base/issue.ts';
import { cmd, t } from '../../base/message.ts';
import { findNearestSet } from '../../base/names.ts';
import { FIELDS } from '../../finds/fields.ts';
import type { LookupTerm, TermCandidate } from '../../finds/find.ts';
import { explainFailedLookup } from '../../finds/resolve-references.ts';
import { type SearchHit, searchTerms } from '../../finds/vocabulary/search.ts';
import type { Term, Vocabulary } from '../../finds/vocabulary/term.ts';
import {
  countTermsBySet,
  findTermByTypedIdent,
  isInSet,
  isSetHarvested,
  listDirectSuperiors,
  listInferiors,
  listTermsAbove,
  listTermsOfSet,
} from '../../finds/vocabulary/terms.ts';
import type { Table } from '../table.ts';
import {
  checkMappedTerm,
  findSetOfElement,
  getMappingKey,
  indexRowsByTerm,
  lookUpMappedTerm,
  type MappedTerm,
  type Mapping,
  type MappingRow,
  makeUnknownSetMessage,
  type OwnTerm,
  parseMapping,
  parseOwnTerms,
} from './mapping.ts';

/**
 * Returns a harvested term, also one that is gone, with its path, direct superiors and direct
 * inferiors; the lists are empty where there are none.
 * @param ident identifier of the term, in any letter case
 * @throws UsageError where the term was not harvested
 */
export function getTermWithNeighbours(vocabulary: Vocabulary, ident: string) {
  const term = findTermByTypedIdent(vocabulary, ident);
  if (term === undefined) {
    throw new UsageError(t`${ident} is not among the harvested entries.`, {
      hint: t`Find it by name with \`${cmd`pas vocab search`}\`, or harvest again with \`${cmd`pas harvest-vocab`}\`.`,
    });
  }
  return {
    term,
    /** From the topmost entry down to the direct superior. */
    path: listTermsAbove(vocabulary, term.ident),
    above: listDirectSuperiors(vocabulary, term.ident),
    below: listInferiors(vocabulary, term.ident),
  };
}

/** Family of the sets of vocabularies. */
const ALL_VOCABULARIES = 'heslo';

/**
 * Renders the present terms of sets as a CSV table or one line of JSON, each with the identifiers
 * of its direct superiors. Nothing is written.
 * @param sets names in full, such as `heslo:obdobi`; all vocabularies if empty
 * @throws UsageError as {@link assertHarvested} does
 */
export function renderTerms(
  vocabulary: Vocabulary,
  sets: readonly string[],
  form: 'csv' | 'json',
): string {
  const requested = sets.length === 0 ? [ALL_VOCABULARIES] : sets;
  for (const set of requested) assertHarvested(vocabulary, set);
  const terms = requested
    .flatMap((set) => listTermsOfSet(vocabulary, set))
    .map((term) => ({
      ...toTermJson(term),
      superiors: listDirectSuperiors(vocabulary, term.ident).map(({ ident }) => ident),
    }));
  return form === 'json' ? `${JSON.stringify(terms)}\n` : formatTermsCsv(terms);
}

const CSV_HEADER = [
  'id',
  'set',
  'label',
  'label_en',
  'abbreviation',
  'description',
  'description_en',
  'order',
  'superiors',
  'year_from_min',
  'year_from_max',
  'year_to_min',
  'year_to_max',
  'changed_at',
  'gone',
] as const;

type ExportedTerm = ReturnType<typeof toTermJson> & { readonly superiors: readonly string[] };

function formatTermsCsv(terms: readonly ExportedTerm[]): string {
  const rows = terms.map((term) => {
    const { dating } = term;
    const cells = {
      ...term,
      superiors: term.superiors.join(' '),
      year_from_min: dating?.fromMin,
      year_from_max: dating?.fromMax,
      year_to_min: dating?.toMin,
      year_to_max: dating?.toMax,
    };
    return CSV_HEADER.map((name) => cells[name]);
  });
  return formatCsvTable([CSV_HEADER, ...rows]);
}

/**
 * Converts a term to JSON for programs, with stable keys and ISO 8601 times; absent values are
 * null. Its details (dating, facts, survey, hidden) are keys of their own where it has them.
 */
export function toTermJson(term: Term) {
  return {
    id: term.ident,
    set: term.setSpec,
    label: term.label,
    label_en: term.labelEn,
    abbreviation: term.abbreviation,
    description: term.description,
    description_en: term.descriptionEn,
    order: term.sortOrder,
    ...term.details,
    changed_at: formatIso(term.datestampMs),
    gone: term.gone,
    gone_at: formatIso(term.goneAtMs),
  };
}

/**
 * Returns the full name of a set, such as `heslo:obdobi` for `obdobi` or for the element `period`
 * that takes its terms, also of `heslo:period`; any other name as it is.
 */
export function expandSetName(name: string): string {
  return findSetOfElement(name) ?? name;
}

/**
 * Asserts that a set was harvested as a whole once and has terms: otherwise it would seem to be
 * empty.
 * @param set name in full
 * @throws UsageError where it was not or has none; its hint has the nearest set, if the name may be
 * mistyped
 */
export function assertHarvested(vocabulary: Vocabulary, set: string): void {
  const counts = countTermsBySet(vocabulary);
  if (isSetHarvested(vocabulary, set) && counts.some(({ setSpec }) => isInSet(setSpec, set)))
    return;
  const nearest = findNearestSet(
    counts.map(({ setSpec }) => setSpec),
    set,
  );
  throw new UsageError(t`Nothing of the set ${set} was harvested.`, {
    hint:
      nearest === undefined
        ? t`\`${cmd`pas vocab list`}\` lists what is here; \`${cmd`pas harvest-vocab`}\` harvests the rest.`
        : t`Did you mean ${nearest}?`,
  });
}

type OneTerm = {
  readonly set: string;
  readonly term: string;
  readonly entry: string;
};

/** Harvested vocabularies, with their lookup without the mapping. */
type HarvestedTerms = { readonly vocabulary: Vocabulary; readonly lookupTerm: LookupTerm };

/**
 * Maps one own term to the entry that a person chose; nothing is written. `row` is the new row,
 * which keeps the note of an earlier one, `rows` the whole new mapping, and `replaced` the
 * identifier to which the term was mapped before, null where to none.
 * @throws UsageError where no element has the set, the term is empty, or the entry is none of the
 * set, ambiguous, deleted or not harvested
 */
export function mapOwnTerm({ rows }: Mapping, oneTerm: OneTerm, harvested: HarvestedTerms) {
  const set = findSetOfElement(oneTerm.set);
  if (set === undefined) throw new UsageError(makeUnknownSetMessage(oneTerm.set));
  const term = oneTerm.term.trim();
  if (term === '') throw new UsageError(t`The term is empty.`);
  const { id, label } = findEntry(harvested, set, oneTerm.entry.trim());
  const byTerm = indexRowsByTerm(rows);
  const key = getMappingKey(set, term);
  const before = byTerm.get(key);
  const row: MappedTerm = { set, term, id, label, note: before?.note ?? '' };
  byTerm.set(key, row);
  return { row, replaced: before?.id ?? null, rows: [...byTerm.values()] };
}

function findEntry(
  { vocabulary, lookupTerm }: HarvestedTerms,
  set: string,
  text: string,
): TermCandidate {
  const lookup = lookupTerm(set, text);
  if (lookup.kind === 'found') return lookup.term;
  assertHarvested(vocabulary, set);
  throw new UsageError(explainFailedLookup(lookup, set, text));
}

/**
 * Merges the confirmed rows of a table into the mapping; nothing is written. `rows` is the whole
 * new mapping; `added`, `changed` and `unchanged` count the own terms that the table confirms,
 * `unconfirmed` the rows that are passed over. A row without a note keeps that of the mapping. Rows
 * that contradict each other, or whose entry cannot be used, are left out with errors.
 */
export function mergeMapping(stored: Mapping, table: Table, lookupTerm: LookupTerm) {
  const { file, rows: read, unconfirmed, issues: readIssues } = parseMapping(table);
  const issues = [...readIssues];
  const usable = read.flatMap((each) => {
    const { row, issue } = useEntryNames(each, lookupTerm);
    if (issue !== undefined) issues.push(issue.with({ file, row: each.row }));
    return row ?? [];
  });
  const merged = indexRowsByTerm(stored.rows);
  const tally = { added: 0, changed: 0, unchanged: 0, unconfirmed };
  for (const [key, row] of indexRowsByTerm(usable)) {
    const before = merged.get(key);
    const note = row.note === '' ? (before?.note ?? '') : row.note;
    merged.set(key, { ...row, note });
    if (before === undefined) tally.added++;
    else if (before.id === row.id && before.note === note) tally.unchanged++;
    else tally.changed++;
  }
  return { rows: [...merged.values()], ...tally, issues };
}

/**
 * Returns the row with the identifier and label that its entry has now; a row whose set was not
 * harvested as it is, with a warning; otherwise an error alone.
 */
function useEntryNames(
  row: MappingRow,
  lookupTerm: LookupTerm,
): { readonly row?: MappingRow; readonly issue?: Issue | undefined } {
  const lookup = lookUpMappedTerm(row, lookupTerm);
  const [issue] = checkMappedTerm(row, lookup);
  if (lookup.kind === 'found' && issue === undefined) {
    const { id, label } = lookup.term;
    return { row: { ...row, id, label } };
  }
  return lookup.kind === 'not-harvested'
    ? { row, issue }
    : { issue: issue?.with({ severity: 'error' }) };
}

/**
 * An own term with at most {@link CANDIDATES} entries that it may mean, best first; none where no
 * entry is similar.
 */
export type TermProposal = OwnTerm & { readonly candidates: readonly SearchHit[] };

type SuggestMappingOptions = {
  readonly vocabulary: Vocabulary;
  /** Terms that are mapped already are skipped. */
  readonly mapping: Mapping;
  readonly onProgress: (doneCount: number, total: number) => void;
};

/** Proposals for the terms that are not mapped, with counts and issues of the list. */
export type MappingProposals = {
  readonly proposals: readonly TermProposal[];
  readonly alreadyMapped: number;
  /** Sets that are needed, but were never harvested. */
  readonly notHarvested: readonly string[];
  readonly issues: readonly Issue[];
};

/** Vocabularies of a find's elements. */
const SETS_OF_FINDS = FIELDS.flatMap(({ kind, set }) =>
  kind === 'term' && set !== undefined ? [set] : [],
);

const CANDIDATES = 4;

/**
 * Proposes entries of the vocabularies for a museum's list of own terms, without those that the
 * mapping has already; a person then confirms the proposals. `onProgress` is called before the
 * search for each term.
 * @param list table with the columns that {@link parseOwnTerms} reads
 * @throws UsageError where no term has a proposal, and a set that may have one was not harvested
 */
export function proposeEntries(list: Table, options: SuggestMappingOptions): MappingProposals {
  const { vocabulary, mapping, onProgress } = options;
  const { terms, issues } = parseOwnTerms(list);
  const open = listOpenTerms(terms, mapping);
  const proposals = open.map((ownTerm, doneCount) => {
    onProgress(doneCount, open.length);
    return { ...ownTerm, candidates: searchCandidates(vocabulary, ownTerm) };
  });
  const notHarvested = [...new Set(open.flatMap(listSets))].filter(
    (set) => !isSetHarvested(vocabulary, set),
  );
  if (!proposals.some(({ candidates }) => candidates.length > 0))
    for (const set of notHarvested) assertHarvested(vocabulary, set);
  return { proposals, alreadyMapped: terms.length - open.length, notHarvested, issues };
}

/** Lists the own terms that the mapping lacks. */
function listOpenTerms(terms: readonly OwnTerm[], { rows }: Mapping): readonly OwnTerm[] {
  const mapped = indexRowsByTerm(rows);
  return terms.filter(
    (own) => !listSets(own).some((set) => mapped.has(getMappingKey(set, own.term))),
  );
}

/** Returns the sets in which an own term may have its entry. */
function listSets({ set }: OwnTerm): readonly string[] {
  return set === undefined ? SETS_OF_FINDS : [set];
}

function searchCandidates(vocabulary: Vocabulary, own: OwnTerm): SearchHit[] {
  const setSpec = own.set ?? ALL_VOCABULARIES;
  return searchTerms(vocabulary, own.term, { setSpec, limit: 20 })
    .filter(({ term }) => listSets(own).some((set) => isInSet(term.setSpec, set)))
    .slice(0, CANDIDATES);
}
