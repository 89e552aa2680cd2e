import { errorIssue, type Issue, warningIssue } from '../base/issue.ts';
import { cmd, joined, type Message, msg } from '../base/message.ts';
import type { ColumnName } from '../find/column-names.ts';
import type { Reference } from '../find/field.ts';
import { type ElementName, FIELDS, type Field, type FindElements, isElementName } from '../find/fields.ts';
import type { Find } from '../find/find.ts';
import { readBoolean, readInteger, readTargetState } from '../find/read-cell.ts';
import { readDate } from '../find/read-date.ts';
import type { ResolveReference } from '../find/remember-references.ts';
import type { ResolvedFinder } from '../find/resolve-finder.ts';
import { MISSING, OTHER_SPELLING, type ResolvePhoto } from '../photo/photo-path.ts';
import { rowPlaceOf, type TableRow } from '../tables/table.ts';
import { splitNames } from '../text/file-names.ts';
import { readHtml } from '../text/html-text.ts';
import { isReadable, type Reading, type Unreadable } from '../text/reading.ts';
import type { Columns } from './columns.ts';
import { readPoint } from './read-point.ts';

export type RowContext = {
  readonly resolveReference: ResolveReference;
  /** Usually `photoResolver(dirname(table))`. */
  readonly resolvePhoto: ResolvePhoto;
  /** A find is taken without a photograph that is not there, and its row says so. */
  readonly photosMayMiss?: boolean;
  /** What is known of a find that is kept already: a table that was exported names it. */
  readonly known?: (localId: string) => KnownFind | undefined;
  /** Which other service, and no record of this one, is known to have given an identifier. */
  readonly issuedElsewhere?: (identCely: string) => Elsewhere | undefined;
};

export type KnownFind = {
  /** The identifier that the service gave to its import. */
  readonly identCely: string | undefined;
  /** File names of the photographs that are kept with it. */
  readonly photos: readonly string[];
};

/** Whose identifier it is, and the command that sends such finds to this service as well. */
export type Elsewhere = { readonly localId: string; readonly address: string; readonly command: Message };

/** `find` is absent where a cell could not be read; `issues` then has at least one error. */
export type MappedRow = { readonly find?: Find; readonly issues: readonly Issue[] };

type Value = string | number | boolean | Reference;

/** Notes what is wrong with a cell. Photographs and keys are no elements, so `element` may be absent. */
type Report = (
  severity: Issue['severity'],
  rule: string,
  message: Message,
  column: ColumnName,
  element?: ElementName,
  more?: Pick<Issue, 'written' | 'candidates'>,
) => void;

/**
 * One row as a find. What is read here is only what each cell says; whether the find is complete and true to the service's rules is
 * for {@link checkRules}. A cell that cannot be read leaves the row out, since a find without it would not be the one meant.
 */
export function mapRow(row: TableRow, localId: string, columns: Columns, context: RowContext): MappedRow {
  const issues: Issue[] = [];
  const report: Report = (severity, rule, message, column, element, more) => {
    const header = columns.headerOf(column);
    const place = { ...rowPlaceOf(columns.place, row), find: localId };
    const where = { ...place, ...(element && { element }), ...(header && { column: header }), ...more };
    issues.push(severity === 'warning' ? warningIssue(rule, message, where) : errorIssue(rule, message, where));
  };
  for (const name of columns.names) {
    const doubt = columns.doubt(row, name);
    if (doubt !== undefined) report(doubt.severity, doubt.rule, doubt.problem, name, isElementName(name) ? name : undefined);
  }
  const values = readElements(row, columns, context.resolveReference, report);
  const point = readPoint(row, columns);
  if (!isReadable(point)) report('error', point.rule, point.problem, point.column, point.element);
  const named = row.photos ?? photosIn(columns.cell(row, 'photos'));
  const identCely = columns.cell(row, 'ident_cely');
  const known = named.length === 0 && identCely === '' ? undefined : context.known?.(localId);
  const photos = readPhotos(named, localId, context, known?.photos ?? NO_PHOTOS, report);
  const isRecorded = identCely !== '' && identCely !== ':tba';
  // A find that is kept here is no other service's.
  const elsewhere = known === undefined && isRecorded ? context.issuedElsewhere?.(identCely) : undefined;
  if (isRecorded && identCely !== known?.identCely) refuseRecorded(identCely, elsewhere, report);
  if (issues.some((issue) => issue.severity === 'error') || !isReadable(point)) return { issues };

  const find: Find = {
    localId,
    elements: Object.assign(values, point.value.elements),
    photos,
    source: rowPlaceOf(columns.place, row),
    columns: columns.headersOf(point.value.element, point.value.columns),
  };
  return { find, issues };
}

function readElements(row: TableRow, columns: Columns, resolve: ResolveReference, report: Report): FindElements {
  const values: { [name: string]: Value } = {};
  for (const field of FIELDS) {
    const cell = columns.cell(row, field.name);
    if (cell === '' || field.kind === 'point' || field.kind === 'geom-system') continue;
    const reading = readElement(field, field.kind === 'text' ? textWithoutHtml(field.name, cell, report) : cell, resolve);
    if (isReadable(reading)) values[field.name] = reading.value;
    const [severity, said] = isReadable(reading) ? (['warning', remarkOf(reading)] as const) : (['error', reading] as const);
    if (said === undefined) continue;
    const candidates = 'candidates' in said ? { candidates: said.candidates } : {};
    report(severity, said.rule, said.problem, field.name, field.name, { written: cell, ...candidates });
  }
  return values;
}

/** Maps and devices keep descriptions as pages; a document has room for the words only. */
function textWithoutHtml(name: ElementName, cell: string, report: Report): string {
  const { text, pictures } = readHtml(cell);
  if (text === cell) return cell;
  const names = pictures.join(', ');
  const also = names === '' ? '' : msg` Pictures in it are not taken: ${names}.`;
  report('warning', 'text-html', msg`The text is HTML; only its words are taken.${also}`, name, name);
  return text;
}

function remarkOf(reading: ResolvedFinder | { readonly value: Value }): Unreadable | undefined {
  return 'remark' in reading ? reading.remark : undefined;
}

function readElement(field: Field, cell: string, resolve: ResolveReference): Reading<Value> | ResolvedFinder {
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
    case 'reference':
      return resolve(field, cell);
  }
}

function photosIn(cell: string): readonly string[] {
  return cell === '' ? NO_PHOTOS : splitNames(cell);
}

/** @param kept names of photographs that are kept already, and so need not lie beside the table */
function readPhotos(
  named: readonly string[],
  localId: string,
  { resolvePhoto, photosMayMiss = false }: RowContext,
  kept: readonly string[],
  report: Report,
): readonly string[] {
  if (named.length === 0) return NO_PHOTOS;
  const photos = new Set<string>();
  for (const name of named) {
    const path = resolvePhoto(name);
    if (isReadable(path) && path.remark !== undefined) report('warning', OTHER_SPELLING, path.remark, 'photos');
    if (!isReadable(path) && kept.includes(name)) continue;
    if (!isReadable(path) && path.rule === MISSING && photosMayMiss) {
      const later = msg`The find is taken without it. Put it there and import again, or attach it: ${cmd`pas photo add ${localId}`} FILE`;
      report('warning', path.rule, joined([path.problem, later], ' '), 'photos');
    } else if (!isReadable(path)) report('error', path.rule, path.problem, 'photos');
    else if (photos.has(path.value)) report('warning', 'photo-twice', msg`"${name}" stands twice; it is queued once.`, 'photos');
    else photos.add(path.value);
  }
  return [...photos];
}

const NO_PHOTOS: readonly string[] = [];

/** A row that came from the service would be recorded there once more. */
function refuseRecorded(identCely: string, elsewhere: Elsewhere | undefined, report: Report): void {
  if (elsewhere !== undefined) {
    const message = msg`${identCely} was given to ${elsewhere.localId} by ${elsewhere.address}, not by this service. To send such finds here, too: ${elsewhere.command}`;
    report('error', 'other-service', message, 'ident_cely');
    return;
  }
  const message = msg`The row is already recorded as ${identCely}; importing it would make a second record. Take the row out, or clear this cell if it is another find.`;
  report('error', 'already-recorded', message, 'ident_cely');
}
