import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import { BYTE_ORDER_MARK, csvCell } from '../base/csv.ts';
import type { Issue } from '../base/issue.ts';
import type { ColumnMap } from '../find/column-map/column-rule.ts';
import { type ColumnMapReading, columnMapText, readColumnMap } from '../find/column-map/read-column-map.ts';
import type { Find } from '../find/find.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { photoResolver } from '../find/photo-path.ts';
import type { Knowledge } from '../find/propose/candidates.ts';
import { previewImport, type StrangeTerm, strangeTerms } from '../find/propose/preview.ts';
import { mapOfProposal, proposeColumns, type TableProposal } from '../find/propose/propose-columns.ts';
import { rememberReferences } from '../find/resolve-reference.ts';
import type { RuleContext } from '../find/rule.ts';
import { checkRules } from '../find/rules.ts';
import { readSettings } from '../find/settings.ts';
import type { Table } from '../find/table.ts';
import { requireUtf8 } from '../find/table-text.ts';
import { readConstants } from '../find/with-constants.ts';
import { writeOutputFile } from '../store/output-file.ts';
import { printable } from '../ui/printable.ts';

/** A column map that somebody wrote, if nothing is wrong with it. */
export function readMap(file: string, bytes: Buffer, lookupTerm: LookupTerm): ColumnMapReading {
  const { map, issues } = readColumnMap(file, requireUtf8(file, bytes).toString('utf8'));
  if (map === undefined) return { issues };
  const all = [...issues, ...fixedProblems(map.fixed, lookupTerm).map((issue) => ({ ...issue, file }))];
  return all.length === 0 ? { map, issues } : { issues: all };
}

/** What is wrong with values that every find would have: said once, not for every row. */
export function fixedProblems(fixed: ColumnMap['fixed'], lookupTerm: LookupTerm): readonly Issue[] {
  const resolvePhoto = () => ({ rule: 'photo-path', problem: '' });
  return readSettings(fixed, '', { resolveReference: rememberReferences(lookupTerm), resolvePhoto }).issues;
}

type LookOptions = {
  readonly mapFile: string;
  /** `element=value`, said of every find. */
  readonly set: readonly string[];
  readonly photoFolder: string;
  readonly known: RuleContext & Knowledge;
};

export type TableLook = ReturnType<typeof lookAtTable>;

/** A strange table that is looked at: what its columns seem to be, what reading it so comes to, and the map that says it. */
export function lookAtTable(table: Table, { mapFile, set, photoFolder, known }: LookOptions) {
  const { lookupTerm } = known;
  const context = { lookupTerm, resolvePhoto: photoResolver(photoFolder), check: (find: Find) => checkRules(find, known) };
  return {
    table,
    lookupTerm,
    proposed: proposeColumns(table, readConstants(set), known),
    preview: (proposal: TableProposal) => previewImport(table, mapOfProposal(mapFile, proposal), context),
    /** Terms that have to be mapped before their rows can be read are listed in a file of their own. */
    async write(proposal: TableProposal, termsFile: string, overwrite: boolean) {
      const map = mapOfProposal(mapFile, proposal);
      const strange = strangeTerms(proposal.columns, lookupTerm);
      // Somebody may be working on the list that is there.
      const termsKept = strange.length > 0 && existsSync(termsFile) && !overwrite;
      await writeOutputFile(mapFile, [mapText(table.file, map, proposal)], { overwrite });
      if (strange.length > 0 && !termsKept) await writeOutputFile(termsFile, [termsText(strange)], { overwrite: true });
      return { strange, termsKept, problems: fixedProblems(map.fixed, lookupTerm) };
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
