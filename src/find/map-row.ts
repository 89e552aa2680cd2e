import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import type { ColumnName, Columns } from './columns.ts';
import { FIELDS, type Field } from './fields.ts';
import type { ElementName, Find, FindElements, Reference } from './find.ts';
import type { LookupTerm } from './lookup.ts';
import type { ResolvePhoto } from './photo-path.ts';
import { readBoolean, readDate, readInteger, readTargetState } from './read-cell.ts';
import { readPoint } from './read-point.ts';
import { isReadable, type Reading } from './reading.ts';
import { resolveFinder, resolveProject, resolveTerm } from './resolve-reference.ts';
import type { TableRow } from './table.ts';

export type MapContext = {
  readonly lookupTerm: LookupTerm;
  /** Usually `photoResolver(dirname(table))`. */
  readonly resolvePhoto: ResolvePhoto;
};

/** `find` is absent where a cell could not be read; `issues` then has at least one error. */
export type MappedRow = { readonly find?: Find; readonly issues: readonly Issue[] };

type Value = string | number | boolean | Reference;

/**
 * One row as a find. What is read here is only what each cell says; whether the find is complete and true to the service's rules is
 * for {@link checkRules}. A cell that cannot be read leaves the row out, since a find without it would not be the one meant.
 */
export function mapRow(row: TableRow, localId: string, columns: Columns, context: MapContext): MappedRow {
  const issues: Issue[] = [];
  const report = (rule: string, message: string, element: ElementName | undefined, column: ColumnName, warn = false): void => {
    const header = columns.headerOf(column);
    const where = {
      file: columns.file,
      row: row.row,
      find: localId,
      ...(element && { element }),
      ...(header && { column: header }),
    };
    issues.push(warn ? warningIssue(rule, message, where) : errorIssue(rule, message, where));
  };

  const values = new Map<ElementName, Value>();
  for (const field of FIELDS) {
    const cell = columns.cell(row.cells, field.name);
    if (cell === '' || field.kind === 'point' || field.kind === 'geom-system') continue;
    const reading = readElement(field, cell, context.lookupTerm);
    if (isReadable(reading)) values.set(field.name, reading.value);
    else report(reading.rule, reading.problem, field.name, field.name);
  }

  const point = readPoint(row.cells, columns);
  if (!isReadable(point)) report(point.rule, point.problem, point.element, point.column);

  const photos = new Set<string>();
  for (const name of photoNames(columns.cell(row.cells, 'photos'))) {
    const path = context.resolvePhoto(name);
    if (!isReadable(path)) report(path.rule, path.problem, undefined, 'photos');
    else if (photos.has(path.value))
      report('photo-twice', `"${name}" stands twice; it is queued once.`, undefined, 'photos', true);
    else photos.add(path.value);
  }

  const identCely = columns.cell(row.cells, 'ident_cely');
  if (identCely !== '' && identCely !== ':tba') {
    report('already-recorded', alreadyRecordedMessage(identCely), undefined, 'ident_cely');
  }
  if (issues.some((issue) => issue.severity === 'error') || !isReadable(point)) return { issues };

  const elements: FindElements = { ...Object.fromEntries(values), ...point.value.elements };
  const source = { file: columns.file, row: row.row };
  const headers = columns.headersOf(point.value.element, point.value.columns);
  return { find: { localId, elements, photos: [...photos], source, columns: headers }, issues };
}

function readElement(field: Field, cell: string, lookupTerm: LookupTerm): Reading<Value> {
  switch (field.kind) {
    case 'text':
    case 'point':
    case 'geom-system':
      // XML knows one kind of line break only, and a text should not change on its way through it.
      return { value: cell.replace(/\r\n?/g, '\n') };
    case 'integer':
      return readInteger(cell);
    case 'date':
      return readDate(cell);
    case 'boolean':
      return readBoolean(cell);
    case 'state':
      return readTargetState(cell);
    case 'term':
      return resolveTerm(field.set ?? '', cell, lookupTerm);
    case 'reference':
      return field.name === 'nalezce' ? resolveFinder(cell, lookupTerm) : resolveProject(cell);
  }
}

function photoNames(cell: string): string[] {
  return cell
    .split(';')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function alreadyRecordedMessage(identCely: string): string {
  return `The row is already recorded as ${identCely}; importing it would make a second record. Take the row out, or clear this cell if it is another find.`;
}
