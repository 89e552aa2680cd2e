import { DatabaseError } from '../base/errors.ts';
import { cmd, msg } from '../base/message.ts';

type ColumnGuard<T> = (value: unknown) => value is T;
type Columns = Readonly<Record<string, ColumnGuard<unknown>>>;
export type Guarded<G> = G extends ColumnGuard<infer T> ? T : never;
export type RowOf<C extends Columns> = { readonly [Name in keyof C]: Guarded<C[Name]> };

export const isText: ColumnGuard<string> = (value) => typeof value === 'string';
export const isNumber: ColumnGuard<number> = (value) => typeof value === 'number';
export const isBytes: ColumnGuard<Buffer> = (value) => Buffer.isBuffer(value);

export function orNull<T>(isValue: ColumnGuard<T>): ColumnGuard<T | null> {
  return (value): value is T | null => value === null || isValue(value);
}

export function makeMemberGuard<T>(values: readonly T[]): ColumnGuard<T> {
  return (value): value is T => values.some((each) => each === value);
}

/** Makes the type guard for rows of a query: each of these columns must have a value of its type. */
export function createRowGuard<C extends Columns>(columns: C): ColumnGuard<RowOf<C>> {
  const checks = Object.entries(columns);
  return (row): row is RowOf<C> => {
    if (!isAnyRow(row)) return false;
    for (const [name, isValue] of checks) if (!isValue(row[name])) return false;
    return true;
  };
}

/** Tells if a value is a row of a table with columns that are only known when it is read. */
export function isAnyRow(row: unknown): row is Readonly<Record<string, unknown>> {
  return typeof row === 'object' && row !== null;
}

/**
 * Makes the parser for rows of a query.
 * @returns a function that throws DatabaseError where a column has a value of another type
 */
export function createRowParser<C extends Columns>(columns: C): (row: unknown) => RowOf<C> {
  const isRow = createRowGuard(columns);
  return (row) => parseValue(isRow, row);
}

/** @throws DatabaseError where a value of a query with one column has another type */
export function parseValue<T>(isValue: ColumnGuard<T>, value: unknown): T {
  if (isValue(value)) return value;
  throw new DatabaseError(msg`The database is damaged: a row has a value of the wrong type.`, {
    damaged: true,
    hint: msg`Restore the last backup: ${cmd`pas restore`} FILE --replace moves the damaged file aside.`,
  });
}

export function parseTexts(values: readonly unknown[]): string[] {
  return values.map((value) => parseValue(isText, value));
}
