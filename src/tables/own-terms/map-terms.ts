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
  isHarvested,
  isInSet,
  listInferiors,
  listSuperiors,
  listTermPath,
  listTermsOfSet,
} from '../../finds/vocabulary/terms.ts';
import type { Table } from '../table.ts';
import {
  checkEntry,
  findSetSpec,
  getMappingKey,
  lookUpEntry,
  type MappedTerm,
  type Mapping,
  type MappingRow,
  makeUnknownSetMessage,
  type OwnTerm,
  parseMapping,
  parseOwnTerms,
} from './mapping.ts';

/**
 * Returns a term, also a deleted one, with its path, direct superiors and direct inferiors.
 * @param ident in any letter case
 * @throws UsageError where it was not harvested
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
    path: listTermPath(vocabulary, term.ident),
    above: listSuperiors(vocabulary, term.ident),
    below: listInferiors(vocabulary, term.ident),
  };
}

/** Family of the sets of vocabularies. */
const ALL_VOCABULARIES = 'heslo';

type ExportForm = 'csv' | 'json';

/**
 * Renders the present terms of the given sets as JSON or CSV, with their direct superiors; without
 * any set, those of all vocabularies (`heslo`). Nothing is written.
 * @param sets names of sets in full, such as `heslo:obdobi`
 * @throws UsageError for a set of which nothing was harvested
 */
export function renderTerms(
  vocabulary: Vocabulary,
  sets: readonly string[],
  form: ExportForm,
): string {
  const requested = sets.length === 0 ? [ALL_VOCABULARIES] : sets;
  for (const set of requested) assertHarvested(vocabulary, set);
  const terms = requested
    .flatMap((set) => listTermsOfSet(vocabulary, set))
    .map((term) => ({
      ...toTermJson(term),
      superiors: listSuperiors(vocabulary, term.ident).map(({ ident }) => ident),
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
 * null. Its details (dating, links, facts, survey, hidden) are keys of their own where it has them.
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
 * Returns the set that a name means, such as `heslo:obdobi` for its element `obdobi` or `period`;
 * the name of a set may lack `heslo:`. Any other name stays.
 */
export function expandSetName(name: string): string {
  return findSetSpec(name) ?? name;
}

/**
 * Checks that a set has entries: one that does not would look empty.
 * @throws UsageError where nothing of the set was harvested, with the nearest set where the name
 * may be mistyped
 */
export function assertHarvested(vocabulary: Vocabulary, set: string): void {
  const counts = countTermsBySet(vocabulary);
  if (isHarvested(vocabulary, set) && counts.some(({ setSpec }) => isInSet(setSpec, set))) return;
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

/** @throws UsageError for a name that is neither a set nor an element with one */
function getSetOfName(text: string): string {
  const set = findSetSpec(text);
  if (set !== undefined) return set;
  throw new UsageError(makeUnknownSetMessage(text));
}

type OneTerm = {
  readonly set: string;
  readonly term: string;
  readonly entry: string;
};

/** Harvested vocabularies, with their lookup without the mapping. */
type HarvestedTerms = { readonly vocabulary: Vocabulary; readonly lookupTerm: LookupTerm };

/**
 * Maps one term by a person's choice. Nothing is written: `rows` is the new mapping, `replaced` the
 * identifier to which the term was mapped before, null where to none. Its note stays.
 * @throws UsageError where no element has the set, the term is empty, or the entry is not a usable
 * one of the set
 */
export function mapTerm({ rows }: Mapping, oneTerm: OneTerm, harvested: HarvestedTerms) {
  const set = getSetOfName(oneTerm.set);
  const term = oneTerm.term.trim();
  if (term === '') throw new UsageError(t`The term is empty.`);
  const { id, label } = findEntry(harvested, set, oneTerm.entry.trim());
  const key = getMappingKey(set, term);
  const keptRows = rows.filter((row) => getMappingKey(row.set, row.term) === key);
  const before = keptRows.find(({ confirmed }) => confirmed);
  const note = keptRows.find((kept) => kept.note !== '')?.note ?? '';
  const row: MappedTerm = { set, term, id, label, note, confirmed: true };
  return {
    row,
    replaced: before?.id ?? null,
    rows: [...rows.filter((other) => getMappingKey(other.set, other.term) !== key), row],
  };
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
 * Merges the confirmed rows of a table into the mapping; nothing is written. `rows` is the new
 * mapping, `added`, `changed` and `unchanged` count its terms from the table, `unconfirmed` the
 * rows that are passed over; a row without a note keeps the earlier one. Rows that contradict each
 * other, or whose entry cannot be used, are left out with errors.
 */
export function mergeMapping(stored: Mapping, table: Table, lookupTerm: LookupTerm) {
  const { file, rows: read, issues: readIssues } = parseMapping(table);
  const confirmed = read.filter((row) => row.confirmed);
  const issues = [...readIssues];
  const settled = confirmed.flatMap((each) => {
    const { row, issue } = settleRow(each, lookupTerm);
    if (issue !== undefined) issues.push(issue.with({ file, row: each.row }));
    return row ?? [];
  });
  const merged = new Map<string, MappedTerm>(
    stored.rows.map((row) => [getMappingKey(row.set, row.term), row]),
  );
  const tally = { added: 0, changed: 0, unchanged: 0, unconfirmed: read.length - confirmed.length };
  const settledByKey = new Map(settled.map((row) => [getMappingKey(row.set, row.term), row]));
  for (const [key, row] of settledByKey) {
    const before = merged.get(key);
    const note = row.note === '' ? (before?.note ?? '') : row.note;
    merged.set(key, { ...row, note });
    if (before === undefined || !before.confirmed) tally.added++;
    else if (before.id === row.id && before.note === note) tally.unchanged++;
    else tally.changed++;
  }
  return { rows: [...merged.values()], ...tally, issues };
}

/**
 * Returns the row with the entry's own identifier and label; otherwise an error. A row whose set
 * was not harvested is kept with a warning.
 */
function settleRow(
  row: MappingRow,
  lookupTerm: LookupTerm,
): { readonly row?: MappingRow; readonly issue?: Issue | undefined } {
  const lookup = lookUpEntry(row, lookupTerm);
  const [issue] = checkEntry(row, lookup);
  if (lookup.kind === 'found' && issue === undefined) {
    const { id, label } = lookup.term;
    return { row: { ...row, id, label } };
  }
  return lookup.kind === 'not-harvested'
    ? { row, issue }
    : { issue: issue?.with({ severity: 'error' }) };
}

/**
 * At most {@link CANDIDATES} for a term of the museum, best first; empty without a similar entry.
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
 * Proposes entries for own terms that are not mapped yet, for a person to confirm. `onProgress` is
 * called before each of them is searched.
 * @throws UsageError where none has a proposal, and one of their sets was not harvested
 */
export function proposeMapping(list: Table, options: SuggestMappingOptions): MappingProposals {
  const { vocabulary, mapping, onProgress } = options;
  const { terms, issues } = parseOwnTerms(list);
  const mapped = new Set(
    mapping.rows
      .filter(({ confirmed }) => confirmed)
      .map(({ set, term }) => getMappingKey(set, term)),
  );
  const listSets = ({ set }: OwnTerm): readonly string[] =>
    set === undefined ? SETS_OF_FINDS : [set];
  const open = terms.filter(
    (own) => !listSets(own).some((set) => mapped.has(getMappingKey(set, own.term))),
  );
  const proposals = open.map((ownTerm, doneCount) => {
    onProgress(doneCount, open.length);
    const sets = listSets(ownTerm);
    const hits = searchTerms(vocabulary, ownTerm.term, {
      setSpec: ownTerm.set ?? ALL_VOCABULARIES,
      limit: 20,
    });
    return {
      ...ownTerm,
      candidates: hits
        .filter(({ term }) => sets.some((set) => isInSet(term.setSpec, set)))
        .slice(0, CANDIDATES),
    };
  });
  const notHarvested = [...new Set(open.flatMap(listSets))].filter(
    (set) => !isHarvested(vocabulary, set),
  );
  if (!proposals.some(({ candidates }) => candidates.length > 0))
    for (const set of notHarvested) assertHarvested(vocabulary, set);
  return { proposals, alreadyMapped: terms.length - open.length, notHarvested, issues };
}
