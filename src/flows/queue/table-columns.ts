import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type { Issue } from '../../base/issue.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import { convertFormRows } from '../../columns/form-return.ts';
import {
  listUnmappedTerms,
  previewImport,
  type UnmappedTerm,
  withoutOtherRows,
} from '../../columns/map-table.ts';
import { makeNumberProposer } from '../../columns/number-rows.ts';
import {
  type KnownNames,
  makeColumnProposer,
  makeMapOfProposal,
  NO_ANSWERS,
  type TableAnswers,
  type TableProposal,
} from '../../columns/propose-columns.ts';
import {
  type ColumnMapReading,
  formatColumnMap,
  parseColumnMap,
} from '../../columns/read-column-map.ts';
import { parseConstants, parseSettings } from '../../columns/settings.ts';
import type { Find } from '../../find/find.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { rememberReferences } from '../../find/resolve-references.ts';
import { checkRules } from '../../find/rules.ts';
import type { RuleContext } from '../../find/value-rules.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { makePhotoResolver } from '../../photo/photograph.ts';
import { writeOutputFile } from '../../store/output-file.ts';
import type { Table } from '../../tables/table.ts';
import { requireUtf8 } from '../../tables/text-encoding.ts';
import { toPrintable } from '../../text/characters.ts';
import { BYTE_ORDER_MARK, formatCsvCell } from '../../text/csv.ts';
import { asIdent, createFindLookup } from './resolve-finds.ts';

/** Parses a column map; only issues where it has an error. */
export function parseMap(file: string, bytes: Buffer, lookupTerm: LookupTerm): ColumnMapReading {
  const { map, issues } = parseColumnMap(file, requireUtf8(file, bytes).toString('utf8'));
  if (map === undefined) return { issues };
  const all = [
    ...issues,
    ...checkFixedValues(map.fixed, lookupTerm).map((issue) => issue.with({ file })),
  ];
  return all.length === 0 ? { map, issues } : { issues: all };
}

/** Returns the issues of values for all finds, once instead of in every row. */
export function checkFixedValues(
  fixed: ColumnMap['fixed'],
  lookupTerm: LookupTerm,
): readonly Issue[] {
  const resolvePhoto = () => ({ rule: 'photo-path', problem: '' });
  const { issues } = parseSettings(fixed, '', {
    resolveReference: rememberReferences(lookupTerm),
    resolvePhoto,
  });
  return issues.filter(({ severity }) => severity === 'error');
}

/** A table of registration numbers, with the given column map. */
export type NumberTable = Pick<PreviewedTable, 'table' | 'propose' | 'proposed'> & {
  readonly map: ColumnMap | undefined;
};

/** Finds the columns of a table of registration numbers by the finds that are here. */
export function openNumberTable(outbox: Outbox, read: Table, map?: ColumnMap): NumberTable {
  const table = withoutOtherRows(read, map);
  const propose = makeNumberProposer(table, getKnownNames(outbox), map);
  return { table, map, propose, proposed: propose(NO_ANSWERS) };
}

/** Returns the tests of names; the lookup of finds also finds identifiers, which are no numbers. */
function getKnownNames(outbox: Outbox): KnownNames {
  const lookUp = createFindLookup(outbox);
  const isIdent = (text: string): boolean => asIdent(text) !== undefined;
  return { isIdent, isFind: (text) => !isIdent(text) && lookUp(text) !== undefined };
}

export async function writeNumberMap(
  { file }: Table,
  mapFile: string,
  proposal: TableProposal,
): Promise<void> {
  const map = makeMapOfProposal(mapFile, proposal);
  const text = formatMap(file, map, { ...proposal, undecided: [] });
  await writeOutputFile(mapFile, [text], { overwrite: false });
}

type LookOptions = {
  readonly outbox: Outbox;
  readonly mapFile: string;
  /** `element=value`, for every find. */
  readonly set: readonly string[];
  readonly photoFolder: string;
  readonly knowledge: RuleContext & { readonly lookupTerm: LookupTerm };
};

export type PreviewedTable = Awaited<ReturnType<typeof previewTable>>;

/** Proposes the columns of a foreign table, with a preview, and a function that writes the map. */
export async function previewTable(
  read: Table,
  { outbox, mapFile, set, photoFolder, knowledge }: LookOptions,
) {
  const rows = await convertFormRows(read, true);
  const { lookupTerm } = knowledge;
  const check = (find: Find) => checkRules(find, knowledge);
  const context = {
    lookupTerm,
    resolvePhoto: makePhotoResolver(rows.attachments?.folder ?? photoFolder),
    check,
  };
  const propose = makeColumnProposer(withoutOtherRows(rows), lookupTerm, getKnownNames(outbox));
  const answers: TableAnswers = { rules: new Map(), settings: parseConstants(set) };
  const proposed = propose(answers);
  const table = withoutOtherRows(rows, makeMapOfProposal(mapFile, proposed));
  return {
    table,
    lookupTerm,
    propose,
    answers,
    proposed,
    preview(proposal: TableProposal) {
      const map = makeMapOfProposal(mapFile, proposal);
      return previewImport(withoutOtherRows(rows, map), map, context);
    },
    /**
     * Terms that must be mapped before their rows can be read are written to a file of their own.
     */
    async write(proposal: TableProposal, termsFile: string) {
      const map = makeMapOfProposal(mapFile, proposal);
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

/** Writes the list in the form of `pas vocab map suggest`. */
function formatUnmappedTable(terms: readonly UnmappedTerm[]): string {
  const lines = terms.map(({ element, term }) =>
    [element, formatCsvCell(toPrintable(term), ';')].join(';'),
  );
  return `${BYTE_ORDER_MARK}${['element;term', ...lines].join('\n')}\n`;
}
