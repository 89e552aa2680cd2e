import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { toPrintable } from '../../base/characters.ts';
import { formatCsvTable } from '../../base/csv.ts';
import { writeOutputFile } from '../../base/disk/output-file.ts';
import { getField, isElementName } from '../../finds/fields.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { makeFindLookup, parseTypedIdent } from '../../outbox/changes/resolve-finds.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { Table } from '../table.ts';
import { formatColumnMap } from './column-map.ts';
import { applyColumnRule, type ColumnMap, type ColumnName } from './column-meaning.ts';
import { omitRowsWithoutFinds } from './map-table.ts';
import {
  type ColumnProposal,
  type KnownNames,
  makeColumnMap,
  makeColumnProposer,
  type TableAnswers,
  type TableProposal,
} from './propose-columns.ts';
import { checkFixedValues, parseFixedValues } from './settings.ts';

type WizardOptions = {
  readonly outbox: Outbox;
  readonly mapFile: string;
  /** `element=value`, for every find. */
  readonly set: readonly string[];
  readonly lookupTerm: LookupTerm;
};

/** Result of {@link proposeTableColumns}. */
export type ProposedTable = ReturnType<typeof proposeTableColumns>;

/**
 * Proposes the meanings of a foreign table's columns, for a person to confirm. Returns the proposal
 * by the flags alone (`proposed`), their `answers`, the function that proposes again after further
 * answers (`propose`), the table without the rows that are no finds, and the function that writes
 * the map of a proposal and the terms that it lacks (`write`). Nothing is stored in the outbox.
 * @throws UsageError for an invalid `set`
 */
export function proposeTableColumns(
  rows: Table,
  { outbox, mapFile, set, lookupTerm }: WizardOptions,
) {
  const propose = makeColumnProposer(
    omitRowsWithoutFinds(rows),
    lookupTerm,
    makeKnownNames(outbox),
  );
  const answers: TableAnswers = { rules: new Map(), settings: parseFixedValues(set) };
  const proposed = propose(answers);
  const table = omitRowsWithoutFinds(rows, makeColumnMap(mapFile, proposed));
  return {
    table,
    lookupTerm,
    propose,
    answers,
    proposed,
    write: (proposal: TableProposal, termsFile: string) =>
      writeColumnMap(table.file, makeColumnMap(mapFile, proposal), proposal, lookupTerm, termsFile),
  };
}

/**
 * Writes a column map and then, if there are any, the terms that must be mapped before their rows
 * can be read, to a file of their own. Such a file is not replaced (`termsKept`). Where it cannot
 * be written, the map stays written.
 * @returns `strange`: those terms; `problems`: errors of the values for all finds
 * @throws UsageError where the map exists; FileError where a path is not writable; DatabaseError
 * where the disk is full
 */
async function writeColumnMap(
  tableFile: string,
  map: ColumnMap,
  proposal: TableProposal,
  lookupTerm: LookupTerm,
  termsFile: string,
) {
  const strange = listUnmappedTerms(proposal.columns, lookupTerm);
  // An existing list is not replaced, since a person may be editing it.
  const termsKept = strange.length > 0 && existsSync(termsFile);
  await writeOutputFile(map.file, [formatMap(tableFile, map, proposal)], { overwrite: false });
  if (strange.length > 0 && !termsKept)
    await writeOutputFile(termsFile, [formatUnmappedTable(strange)], { overwrite: false });
  return { strange, termsKept, problems: checkFixedValues(map.fixed, lookupTerm) };
}

function formatMap(file: string, map: ColumnMap, { columns, undecided }: TableProposal): string {
  const remarks = columns.map(({ profile, doubt }) => {
    const lines = [profile.examples.join(' · '), doubt === undefined ? '' : `? ${doubt}`];
    return [profile.key, lines.filter((line) => line !== '')] as const;
  });
  return formatColumnMap(map, { table: basename(file), columns: new Map(remarks), undecided });
}

/** Formats the list as a CSV table that `pas vocab map suggest` reads. */
function formatUnmappedTable(terms: readonly UnmappedTerm[]): string {
  const rows = terms.map(({ element, term }) => [element, toPrintable(term)]);
  return formatCsvTable([['element', 'term'], ...rows]);
}

/**
 * Makes the tests of what a text names, by the finds that the outbox has now; an identifier of the
 * service never names a find.
 */
export function makeKnownNames(outbox: Outbox): KnownNames {
  const lookUp = makeFindLookup(outbox);
  const isIdent = (text: string): boolean => parseTypedIdent(text) !== undefined;
  return { isIdent, isFind: (text) => !isIdent(text) && lookUp(text) !== undefined };
}

/** A museum's term that matches no entry, or several. */
export type UnmappedTerm = {
  readonly element: ColumnName;
  readonly term: string;
  readonly rows: number;
  readonly kind: 'unknown' | 'ambiguous';
};

/**
 * Returns the terms of the columns that are unknown or ambiguous, and so must be mapped before
 * their rows can be read, most frequent first. People, projects, texts that the profile of a column
 * lacks, and terms of vocabularies that were not harvested are not among them.
 */
export function listUnmappedTerms(
  columns: readonly ColumnProposal[],
  lookupTerm: LookupTerm,
): UnmappedTerm[] {
  const unmapped = columns.flatMap(({ profile, rule }): UnmappedTerm[] => {
    const { element } = rule;
    if (element === undefined || !isElementName(element)) return [];
    const { kind: ofTerms, set = '' } = getField(element);
    if (ofTerms !== 'term') return [];
    return [...profile.values].flatMap(([text, rows]) => {
      const term = applyColumnRule(text, rule);
      const { kind } = lookupTerm(set, term);
      return kind === 'unknown' || kind === 'ambiguous' ? [{ element, term, rows, kind }] : [];
    });
  });
  return unmapped.sort((a, b) => b.rows - a.rows);
}
