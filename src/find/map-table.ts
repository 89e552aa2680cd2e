import { createHash } from 'node:crypto';
import { errorIssue, hasErrors, type Issue, warningIssue } from '../base/issue.ts';
import { t } from '../base/language.ts';
import { type Columns, readColumns } from './columns.ts';
import type { Find } from './find.ts';
import type { LookupTerm } from './lookup.ts';
import { mapRow } from './map-row.ts';
import type { ResolvePhoto } from './photo-path.ts';
import { rememberReferences } from './resolve-reference.ts';
import type { Table, TableRow } from './table.ts';

export type MapContext = {
  readonly lookupTerm: LookupTerm;
  /** Usually `photoResolver(dirname(table))`. */
  readonly resolvePhoto: ResolvePhoto;
};

export type MappedTable = {
  readonly finds: readonly Find[];
  /** The table's own issues, those of its header and those of the rows that were left out. */
  readonly issues: readonly Issue[];
};

const MAX_LOCAL_ID_LENGTH = 200;

/** All rows of a table as finds; rows that cannot be read are left out and reported. A header that cannot be trusted leaves all out. */
export function mapTable(table: Table, context: MapContext): MappedTable {
  const { columns, issues: headerIssues } = readColumns(table);
  const issues: Issue[] = [...headerIssues, ...table.issues];
  if (hasErrors(headerIssues)) return { finds: [], issues };

  const keys = columns.has('local_id') ? givenKeys(table, columns, issues) : contentKeys(table, columns, issues);
  const rowContext = { resolveReference: rememberReferences(context.lookupTerm), resolvePhoto: context.resolvePhoto };
  const finds: Find[] = [];
  for (const row of table.rows) {
    const key = keys.get(row.row);
    if (key === undefined) continue;
    const mapped = mapRow(row, key, columns, rowContext);
    if (mapped.find !== undefined) finds.push(mapped.find);
    issues.push(...mapped.issues);
  }
  return { finds, issues };
}

/** Row number -> local id. A row without one, or that shares one, has none: which of the two is meant is not for pas to say. */
function givenKeys(table: Table, columns: Columns, issues: Issue[]): Map<number, string> {
  const where = { file: table.file, column: columns.headerOf('local_id') ?? 'local_id' };
  const keys = new Map<number, string>();
  const firstRows = new Map<string, number>();
  for (const { row, cells } of table.rows) {
    const key = columns.cell(cells, 'local_id');
    const problem = findKeyProblem(key);
    const firstRow = firstRows.get(key);
    if (problem !== undefined) {
      issues.push(errorIssue('local-id', problem, { ...where, row }));
    } else if (firstRow !== undefined) {
      keys.delete(firstRow);
      const message = t`Rows ${firstRow} and ${row} have the same local_id "${key}". Give each find its own; neither was read.`;
      issues.push(errorIssue('local-id-twice', message, { ...where, row, find: key }));
    } else {
      firstRows.set(key, row);
      keys.set(row, key);
    }
  }
  return keys;
}

function findKeyProblem(key: string): string | undefined {
  if (key === '') return t`The row has no local_id. Write a key of your own that no other find has, such as the bag number.`;
  if (key.length > MAX_LOCAL_ID_LENGTH)
    return t`The local_id has ${key.length} characters; at most ${MAX_LOCAL_ID_LENGTH} are kept.`;
  return /[\r\n\t]/.test(key) ? t`The local_id has a line break or a tab in it. Write it in one line.` : undefined;
}

/** Without a column of keys the content is the key: importing the file again changes nothing, but an edited row is a new find. */
function contentKeys(table: Table, columns: Columns, issues: Issue[]): Map<number, string> {
  const message = t`The table has no column local_id: a row that is edited later will count as another find. Add one.`;
  issues.push(warningIssue('local-id-missing', message, { file: table.file, row: 1 }));
  const keys = new Map<number, string>();
  const seen = new Map<string, number>();
  for (const row of table.rows) {
    const digest = digestOf(row, columns);
    const twin = (seen.get(digest) ?? 0) + 1;
    seen.set(digest, twin);
    keys.set(row.row, twin === 1 ? digest : `${digest}-${twin}`);
  }
  return keys;
}

/** Of what the cells say, whatever the order and the spelling of the columns. */
function digestOf(row: TableRow, columns: Columns): string {
  const content = columns.names.map((name) => [name, columns.cell(row.cells, name)]).filter(([, text]) => text !== '');
  return `row-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`;
}
