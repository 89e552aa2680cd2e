import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Issue } from '../../base/issue.ts';
import type { Knowledge } from '../../columns/candidates.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { asFinds } from '../../columns/form-return.ts';
import { leaveOutOtherRows } from '../../columns/other-rows.ts';
import { previewImport, type StrangeTerm, strangeTerms } from '../../columns/preview.ts';
import {
  isOpen,
  mapOfProposal,
  proposeColumns,
  proposeNumberColumns,
  type TableProposal,
} from '../../columns/propose-columns.ts';
import { type ColumnMapReading, columnMapText, readColumnMap } from '../../columns/read-column-map.ts';
import { readSettings } from '../../columns/settings.ts';
import { readConstants } from '../../columns/with-constants.ts';
import type { Find } from '../../find/find.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { rememberReferences } from '../../find/remember-references.ts';
import type { RuleContext } from '../../find/rule.ts';
import { checkRules } from '../../find/rules.ts';
import { photoResolver } from '../../photo/photo-path.ts';
import { writeOutputFile } from '../../store/output-file.ts';
import type { Table } from '../../tables/table.ts';
import { requireUtf8 } from '../../tables/table-text.ts';
import { BYTE_ORDER_MARK, csvCell } from '../../text/csv.ts';
import { printable } from '../../text/printable.ts';

/** A column map that somebody wrote, if nothing is wrong with it. */
export function readMap(file: string, bytes: Buffer, lookupTerm: LookupTerm): ColumnMapReading {
  const { map, issues } = readColumnMap(file, requireUtf8(file, bytes).toString('utf8'));
  if (map === undefined) return { issues };
  const all = [...issues, ...fixedProblems(map.fixed, lookupTerm).map((issue) => issue.with({ file }))];
  return all.length === 0 ? { map, issues } : { issues: all };
}

/** What is wrong with values that every find would have: said once, not for every row. */
export function fixedProblems(fixed: ColumnMap['fixed'], lookupTerm: LookupTerm): readonly Issue[] {
  const resolvePhoto = () => ({ rule: 'photo-path', problem: '' });
  const { issues } = readSettings(fixed, '', { resolveReference: rememberReferences(lookupTerm), resolvePhoto });
  return issues.filter(({ severity }) => severity === 'error');
}

/** What the columns of a table of registration numbers seem to be, and the map that says it. */
export function lookAtNumbers(table: Table, mapFile: string, known: Knowledge) {
  const proposed = proposeNumberColumns(table, known);
  return {
    proposed,
    async write(overwrite: boolean): Promise<void> {
      const map = mapOfProposal(mapFile, proposed);
      await writeOutputFile(mapFile, [mapText(table.file, map, { ...proposed, undecided: [] })], { overwrite });
    },
  };
}

type LookOptions = {
  readonly mapFile: string;
  /** `element=value`, said of every find. */
  readonly set: readonly string[];
  readonly photoFolder: string;
  readonly strict: boolean;
  readonly known: RuleContext & Knowledge;
};

export type TableLook = Awaited<ReturnType<typeof lookAtTable>>;

/** A strange table that is looked at: what its columns seem to be, what reading it so comes to, and the map that says it. */
export async function lookAtTable(read: Table, { mapFile, set, photoFolder, strict, known }: LookOptions) {
  const table = leaveOutOtherRows(await asFinds(read, true));
  const { lookupTerm } = known;
  const check = (find: Find) => checkRules(find, known);
  const context = {
    lookupTerm,
    resolvePhoto: photoResolver(table.formExport?.attachments.folder ?? photoFolder),
    photosMayMiss: !strict,
    check,
  };
  return {
    table,
    lookupTerm,
    proposed: proposeColumns(table, readConstants(set), known),
    preview(proposal: TableProposal) {
      const map = mapOfProposal(mapFile, proposal);
      return previewImport(leaveOutOtherRows(table, map), map, context);
    },
    /** Terms that have to be mapped before their rows can be read are listed in a file of their own. */
    async write(proposal: TableProposal, termsFile: string, overwrite: boolean) {
      const map = mapOfProposal(mapFile, proposal);
      const strange = strangeTerms(proposal.columns, lookupTerm);
      // Somebody may be working on the list that is there.
      const termsKept = strange.length > 0 && existsSync(termsFile) && !overwrite;
      await writeOutputFile(mapFile, [mapText(table.file, map, proposal)], { overwrite });
      if (strange.length > 0 && !termsKept) await writeOutputFile(termsFile, [termsText(strange)], { overwrite: true });
      return { strange, termsKept, problems: fixedProblems(map.fixed, lookupTerm), open: proposal.columns.filter(isOpen) };
    },
  };
}

function mapText(file: string, map: ColumnMap, { columns, fixed, undecided }: TableProposal): string {
  return columnMapText(map, {
    table: basename(file),
    columns: new Map(
      columns.map(({ profile, reasons, doubt }) => {
        const why = [...reasons, ...(doubt === undefined ? [] : [`? ${doubt}`])].join('; ');
        return [profile.key, [profile.examples.join(' · '), why].filter((text) => text !== '')];
      }),
    ),
    fixed: new Map(fixed.map(({ element, reasons }) => [element, reasons])),
    undecided,
  });
}

/** As `pas vocab map suggest` reads it. */
function termsText(terms: readonly StrangeTerm[]): string {
  const lines = terms.map(({ element, term }) => [element, csvCell(printable(term), ';')].join(';'));
  return `${BYTE_ORDER_MARK}${['element;term', ...lines].join('\n')}\n`;
}
