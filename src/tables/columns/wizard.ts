import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { toPrintable } from '../../base/characters.ts';
import { formatCsvTable } from '../../base/csv.ts';
import { writeOutputFile } from '../../base/disk/output-file.ts';
import { getField, isElementName } from '../../finds/fields.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { createFindLookup, parseTypedIdent } from '../../outbox/changes/resolve-finds.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { Table } from '../table.ts';
import { formatColumnMap } from './column-map.ts';
import type { ColumnName } from './column-names.ts';
import { applyColumnRule, type ColumnMap } from './column-rule.ts';
import { omitOtherRows } from './map-table.ts';
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

/** Result of {@link proposeForTable}. */
export type ProposedTable = ReturnType<typeof proposeForTable>;

/**
 * Proposes the columns of a foreign table. Returns the proposal, the function that proposes again
 * after an answer, and `write`. `table` lacks the rows that are no finds. Nothing is stored in the
 * outbox.
 * @throws UsageError for an invalid `set`
 */
export function proposeForTable(rows: Table, { outbox, mapFile, set, lookupTerm }: WizardOptions) {
  const propose = makeColumnProposer(omitOtherRows(rows), lookupTerm, makeKnownNames(outbox));
  const answers: TableAnswers = { rules: new Map(), settings: parseFixedValues(set) };
  const proposed = propose(answers);
  const table = omitOtherRows(rows, makeColumnMap(mapFile, proposed));
  return {
    table,
    lookupTerm,
    propose,
    answers,
    proposed,
    /**
     * Writes the column map and then, to a file of their own, the terms that must be mapped before
     * their rows can be read; without any, none. An existing list stays (`termsKept`), and so does
     * the map where the list cannot be written.
     * @returns `strange`: those terms; `problems`: errors of the values for all finds
     * @throws UsageError where the map exists; FileError where a path is not writable;
     * DatabaseError where the disk is full
     */
    async write(proposal: TableProposal, termsFile: string) {
      const map = makeColumnMap(mapFile, proposal);
      const strange = listUnmappedTerms(proposal.columns, lookupTerm);
      // An existing list is not replaced, since a person may be editing it.
      const termsKept = strange.length > 0 && existsSync(termsFile);
      await writeOutputFile(mapFile, [formatMap(table.file, map, proposal)], {
        overwrite: false,
      });
      if (strange.length > 0 && !termsKept)
        await writeOutputFile(termsFile, [formatUnmappedTable(strange)], { overwrite: false });
      return {
        strange,
        termsKept,
        problems: checkFixedValues(map.fixed, lookupTerm),
      };
    },
  };
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
 * Makes the tests if a text names a find of the outbox, or several, or is an identifier of the
 * service; the latter is never the number of a find. The names are those of now.
 */
export function makeKnownNames(outbox: Outbox): KnownNames {
  const lookUp = createFindLookup(outbox);
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
 * Returns the terms of each column that are unknown or ambiguous and must be mapped before their
 * rows can be read, most frequent first. Not among them: people, projects, texts beyond those in
 * the column's profile, and terms of vocabularies that were not harvested.
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
