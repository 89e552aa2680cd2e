import { createHash } from 'node:crypto';
import { errorIssue, hasErrors, type Issue, warningIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import type { LookupTerm } from '../find/lookup.ts';
import { rememberReferences } from '../find/remember-references.ts';
import { headerPlaceOf, rowPlaceOf, type Table, type TableRow } from '../tables/table.ts';
import { type Columns, parseColumns } from './columns.ts';
import { type MappedRow, mapRow, type RowContext } from './map-row.ts';

type MapContext = Omit<RowContext, 'resolveReference'> & {
  /** Undefined where no vocabulary was harvested. */
  readonly lookupTerm: LookupTerm | undefined;
  /** Prefix of each local id. */
  readonly idPrefix?: string | undefined;
};

type MappedTable = {
  /** Issues of the table, its header and its keys. */
  readonly issues: readonly Issue[];
  /** Rows with their own issues, read during iteration. */
  readonly rows: Iterable<MappedRow>;
  /** Local ids of all rows, including unreadable ones. */
  keys(): KeySet;
};

const MAX_LOCAL_ID_LENGTH = 200;

/** Reads the rows of a table as finds, one after another; an unreadable row has no find. An invalid header excludes all rows. */
export function mapTable(table: Table, { lookupTerm, idPrefix = '', ...context }: MapContext): MappedTable {
  const { columns, issues: headerIssues } = parseColumns(table);
  const issues: Issue[] = [...headerIssues, ...table.issues];
  if (hasErrors(headerIssues)) return { issues, rows: [], keys: () => new Set() };

  const { makeKeys, keys } = columns.has('local_id')
    ? givenKeys(table, columns, idPrefix, issues)
    : contentKeys(table, columns, idPrefix, issues);
  const rowContext = { resolveReference: rememberReferences(lookupTerm), ...context };
  const rows = function* (): Generator<MappedRow> {
    const keyOf = makeKeys();
    for (const row of table.rows) {
      const key = keyOf(row);
      if (key !== undefined) yield mapRow(row, key, columns, rowContext);
    }
  };
  return { issues, rows: { [Symbol.iterator]: rows }, keys };
}

/** Local id of each row, called in the order of the rows. */
type KeyOf = (row: TableRow) => string | undefined;

type KeySet = { has(localId: string): boolean };

type TableKeys = { readonly makeKeys: () => KeyOf; keys(): KeySet };

/** Uses the local ids of the table. A row without one, or with a duplicate, has no key, since its find is ambiguous. */
function givenKeys(table: Table, columns: Columns, idPrefix: string, issues: Issue[]): TableKeys {
  const firstRows = new Map<string, number>();
  const shared = new Set<string>();
  for (const row of table.rows) {
    const key = keyIn(row, columns, idPrefix);
    const problem = findKeyProblem(key);
    const first = firstRows.get(key);
    const where = { ...rowPlaceOf(table, row), column: columns.headerOf('local_id') ?? 'local_id' };
    if (problem !== undefined) issues.push(errorIssue('local-id', problem, where));
    else if (first === undefined) firstRows.set(key, row.row);
    else {
      shared.add(key);
      issues.push(errorIssue('local-id-twice', sharedMessage(table, first, row.row, key), { ...where, find: key }));
    }
  }
  const keyOf: KeyOf = (row) => {
    const key = keyIn(row, columns, idPrefix);
    return shared.has(key) || !firstRows.has(key) ? undefined : key;
  };
  return { makeKeys: () => keyOf, keys: () => firstRows };
}

function keyIn(row: TableRow, columns: Columns, idPrefix: string): string {
  const key = columns.cell(row, 'local_id');
  return key === '' ? '' : `${idPrefix}${key}`;
}

function sharedMessage({ unit }: Table, firstRow: number, row: number, key: string): Message {
  return unit === undefined
    ? msg`Rows ${firstRow} and ${row} have the same local_id "${key}". Give each find its own; neither row was read.`
    : msg`Numbers ${firstRow} and ${row} have the same local_id "${key}". Give each find its own; neither was read.`;
}

/** Explains why a text cannot be a local id. */
export function findKeyProblem(key: string): Message | undefined {
  if (key === '') return msg`The row has no local_id. Write a key that no other find has, such as the bag number.`;
  if (key.length > MAX_LOCAL_ID_LENGTH)
    return msg`The local_id has ${key.length} characters; at most ${MAX_LOCAL_ID_LENGTH} are allowed.`;
  return /[\r\n\t]/.test(key) ? msg`The local_id contains a line break or a tab. Write it in one line.` : undefined;
}

/** Uses a digest of the content as key: importing the file again changes nothing, but an edited row is a new find. */
function contentKeys(table: Table, columns: Columns, idPrefix: string, issues: Issue[]): TableKeys {
  const message = msg`The table has no column local_id, so a row that is edited later will count as another find. Add one.`;
  if (table.rowCount > 0) issues.push(warningIssue('local-id-missing', message, headerPlaceOf(table)));
  const makeKeys = (): KeyOf => {
    const seen = new Map<string, number>();
    return (row) => {
      const digest = `${idPrefix}${digestOf(row, columns)}`;
      const occurrence = (seen.get(digest) ?? 0) + 1;
      seen.set(digest, occurrence);
      return occurrence === 1 ? digest : `${digest}-${occurrence}`;
    };
  };
  let known: Set<string | undefined> | undefined;
  const keys = (): KeySet => {
    known ??= new Set(Array.from(table.rows, makeKeys()));
    return { has: (localId) => known?.has(localId) === true };
  };
  return { makeKeys, keys };
}

/** Returns the digest of the cells, independent of the order and spelling of the columns. */
function digestOf(row: TableRow, columns: Columns): string {
  const content: string[][] = columns.names.map((name) => [name, columns.cell(row, name)]).filter(([, text]) => text !== '');
  if (row.point !== undefined) content.push(['point', `${row.point.system} ${row.point.x} ${row.point.y}`]);
  return `row-${createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 16)}`;
}
