import { makeIdKey, parseHtml } from '../../base/characters.ts';
import { once } from '../../base/collections.ts';
import { splitFileNames } from '../../base/csv.ts';
import {
  type Doubt,
  hasErrors,
  type Issue,
  isReadable,
  makeRuleProblem,
  type Reading,
  type RuleProblem,
  toIssue,
} from '../../base/issue.ts';
import { joinMessages, type Message, msg } from '../../base/message.ts';
import { isPictureName } from '../../base/names.ts';
import {
  type ElementName,
  FIELDS,
  type Field,
  type FindElements,
  isElementName,
  type Reference,
} from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import {
  findDayDoubt,
  hasConfirmationMark,
  parseBoolean,
  parseDateCell,
  parseDepth,
  parseTargetState,
} from '../../finds/parse-cell.ts';
import type { ResolvedFinder, ResolveReference } from '../../finds/resolve-references.ts';
import { PHOTO_MISSING, PHOTO_SPELLING, type ResolvePhoto } from '../../photos/photograph.ts';
import { getRowPlace, type TableRow } from '../table.ts';
import type { ColumnName } from './column-meaning.ts';
import type { Columns } from './columns.ts';
import { parsePointColumns } from './point-columns.ts';

/** Access to a row's photographs, and to what is stored of its find. */
export type TableContext = {
  /** Usually `makePhotoResolver(dirname(table))`. */
  readonly resolvePhoto: ResolvePhoto;
  /** Looks up a stored find; an exported table has the identifier of its record, else ''. */
  readonly findKnown?: (localId: string, identCely: string) => KnownFind | undefined;
  /** Local day, YYYY-MM-DD; without it no day is doubted. */
  readonly today?: string;
};

/** Access for the cells of a row. */
export type RowContext = TableContext & { readonly resolveReference: ResolveReference };

/** Stored data of a find that a row may be. */
export type KnownFind = {
  /** Identifier that the service gave to its import. */
  readonly identCely: string | undefined;
  /** File names of its stored photographs. */
  readonly photos: readonly string[];
  /** Its day, which an export repeats without the mark that confirmed it. */
  readonly day: string | undefined;
};

/** `find` is absent where a cell could not be read; `issues` then has at least one error. */
export type MappedRow = {
  readonly find?: Find;
  readonly issues: readonly Issue[];
};

type Value = string | number | boolean | Reference;

/** Records an issue of a cell. */
type Report = (doubt: Doubt, column: ColumnName, more?: Parameters<typeof toIssue>[1]) => void;

/**
 * Reads a row as a find, whose completeness and the service's rules are checked later. Where a cell
 * cannot be read there is no `find`, since it would be incomplete, and `issues` has an error. A
 * missing photograph is only a warning.
 * @param localId of the find: the text of its cell, or a digest of the row in a table without ids
 */
export function mapRowToFind(
  row: TableRow,
  localId: string,
  columns: Columns,
  context: RowContext,
): MappedRow {
  const { issues, point, ...read } = readRowCells(row, localId, columns, context);
  if (hasErrors(issues) || !isReadable(point)) return { issues };
  const { element: pointElement, columns: pointColumns } = point.value;
  const coversPoint = pointElement !== undefined || columns.tellsMissingPoints;
  const find: Find = {
    localId,
    ...read,
    covered: coversPoint ? columns.coveredWithPoint : columns.covered,
    coversPhotos: columns.has('photos'),
    source: getRowPlace(columns.place, row),
    getColumn: (element) =>
      element === pointElement
        ? pointColumns.map(columns.getHeader).join(', ')
        : columns.getHeader(element),
  };
  return { find, issues };
}

/**
 * Reads a row cell by cell, so that a cell that cannot be read does not affect the others: it is an
 * error among `issues`, and `elements` and `photos` have what could be read. `point` is the reading
 * of the point, `missingPhotos` the names of photographs without a file.
 * @param localId of the find, for issues and for the lookup of the stored find
 */
export function readRowCells(
  row: TableRow,
  localId: string,
  columns: Columns,
  context: RowContext,
) {
  const issues: Issue[] = [];
  const report: Report = (doubt, column, more) => {
    const where = {
      ...getRowPlace(columns.place, row),
      find: localId,
      element: isElementName(column) ? column : undefined,
      column: columns.getHeader(column),
    };
    issues.push(toIssue(doubt, { ...where, ...more }));
  };
  const unfit = reportDoubts(row, columns, report);
  const values = parseElements(row, columns, context.resolveReference, report, unfit);
  const identCely = columns.getCell(row, 'ident_cely');
  const getKnown = once(() => context.findKnown?.(localId, identCely));
  checkDay(values, columns.getCell(row, 'datum_nalezu'), context.today, getKnown, report);
  const point = parsePointColumns(row, columns);
  if (!isReadable(point)) report(point, point.column, { element: point.element });
  else if (point.value.remark !== undefined)
    report(asWarning(point.value.remark), 'wkt', { element: point.value.element });
  const names = splitPhotos(columns.getCell(row, 'photos'), context.resolvePhoto);
  const existing = names.length === 0 && identCely === '' ? undefined : getKnown();
  const { photos, missing } = parsePhotos(names, context, existing?.photos ?? [], report);
  checkRecorded(identCely, existing, report);
  const elements: FindElements = isReadable(point)
    ? Object.assign(values, point.value.elements)
    : values;
  return { elements, photos, missingPhotos: missing, issues, point };
}

/** Reports a row with the identifier of a record, unless that is the record of its stored find. */
function checkRecorded(identCely: string, existing: KnownFind | undefined, report: Report): void {
  if (identCely === '' || identCely === ':tba') return;
  if (makeIdKey(identCely) === makeIdKey(existing?.identCely ?? '')) return;
  const problem = msg`The row is already recorded as ${identCely}; importing it would create a second record. Remove the row, or clear this cell if that is the record of another find or another service.`;
  report(makeRuleProblem('already-recorded', problem), 'ident_cely');
}

/**
 * Reports the texts of a row that were hardly typed so.
 * @returns the columns of those with an error, whose text is not used
 */
function reportDoubts(row: TableRow, columns: Columns, report: Report): ReadonlySet<ColumnName> {
  const unfit = new Set<ColumnName>();
  for (const name of columns.names) {
    const doubt = columns.findDoubt(row, name);
    if (doubt === undefined) continue;
    report(doubt, name);
    if (doubt.severity !== 'warning') unfit.add(name);
  }
  return unfit;
}

/**
 * Parses the cells of all elements except the point and its system. Empty cells, those that cannot
 * be read, and those of `unfit` columns give no value; each fault and remark is reported.
 */
function parseElements(
  row: TableRow,
  columns: Columns,
  resolve: ResolveReference,
  report: Report,
  unfit: ReadonlySet<ColumnName>,
): FindElements {
  const values: { [name: string]: Value } = {};
  for (const field of FIELDS) {
    const cell = columns.getCell(row, field.name);
    if (cell === '' || field.kind === 'point' || field.kind === 'geom-system') continue;
    const reading = parseElement(
      field,
      field.kind === 'text' ? removeHtml(field.name, cell, report) : cell,
      resolve,
    );
    if (isReadable(reading) && !unfit.has(field.name)) values[field.name] = reading.value;
    const remark = isReadable(reading) ? getRemark(reading) : reading;
    if (remark === undefined) continue;
    const candidates = 'candidates' in reading ? reading.candidates : undefined;
    report(remark, field.name, { written: cell, candidates });
  }
  return values;
}

/** Asks about a doubtful day, unless its cell confirms it, or the find has it already. */
function checkDay(
  { datum_nalezu: day }: FindElements,
  cell: string,
  today: string | undefined,
  getKnown: () => KnownFind | undefined,
  report: Report,
): void {
  if (day === undefined || today === undefined || hasConfirmationMark(cell)) return;
  const doubt = findDayDoubt(day, today);
  if (doubt === undefined || getKnown()?.day === day) return;
  const confirm = msg`If ${day} is right, write ${day}! in the cell.`;
  const problem = joinMessages([doubt, confirm], ' ');
  report(makeRuleProblem('date-plausible', problem), 'datum_nalezu');
}

/** Removes HTML, which maps and devices write into descriptions. */
function removeHtml(name: ElementName, cell: string, report: Report): string {
  const { text, pictures } = parseHtml(cell);
  if (text === cell) return cell;
  const names = pictures.join(', ');
  const also = names === '' ? '' : msg` Its pictures are ignored: ${names}.`;
  const problem = msg`The text is HTML; pas reads only the plain text.${also}`;
  report({ severity: 'warning', rule: 'text-html', problem }, name);
  return text;
}

function getRemark(reading: ResolvedFinder | { readonly value: Value }): Doubt | undefined {
  return 'remark' in reading && reading.remark !== undefined
    ? asWarning(reading.remark)
    : undefined;
}

function asWarning(remark: RuleProblem): Doubt {
  return { ...remark, severity: 'warning' };
}

function parseElement(
  field: Field,
  cell: string,
  resolve: ResolveReference,
): Reading<Value> | ResolvedFinder {
  switch (field.kind) {
    case 'text':
    case 'point':
    case 'geom-system':
      // XML has one kind of line break, and a text must not change on its way through a document.
      return { value: cell.replace(/\r\n?/g, '\n') };
    case 'integer':
      return parseDepth(cell);
    case 'date':
      return parseDateCell(cell);
    case 'boolean':
      return parseBoolean(cell);
    case 'state':
      return parseTargetState(cell);
    case 'term':
    case 'reference':
      return resolve(field, cell);
  }
}

/**
 * Splits a cell of photographs at `;`. Pieces between `|`, `+`, `,` or line breaks become names of
 * their own only if each looks like a picture or is found, and the whole is no file. Empty for
 * ''.
 */
function splitPhotos(cell: string, resolvePhoto: ResolvePhoto): readonly string[] {
  return splitFileNames(cell).flatMap((name) => {
    const pieces = name.split(/[|+,\r\n]/).map((piece) => piece.trim());
    const parts = pieces.filter((piece) => piece !== '');
    const areNames = parts.every((part) => isPictureName(part) || isReadable(resolvePhoto(part)));
    return parts.length > 1 && areNames && !isReadable(resolvePhoto(name)) ? parts : [name];
  });
}

/**
 * Resolves the names of photographs to absolute paths, each once. A name without a file is among
 * `missing`, with a warning; one that leads out of the folder is an error.
 * @param previousPhotos names of photographs that are stored already, and so need not exist beside
 * the table: they are missing without a warning
 */
function parsePhotos(
  names: readonly string[],
  { resolvePhoto }: RowContext,
  previousPhotos: readonly string[],
  report: Report,
): { readonly photos: readonly string[]; readonly missing: readonly string[] } {
  const photos = new Set<string>();
  const missing: string[] = [];
  const warn = (rule: string, problem: Message): void =>
    report({ severity: 'warning', rule, problem }, 'photos');
  for (const name of names) {
    const path = resolvePhoto(name);
    if (isReadable(path)) {
      if (path.remark !== undefined) warn(PHOTO_SPELLING, path.remark);
      photos.add(path.value);
      continue;
    }
    missing.push(name);
    if (previousPhotos.includes(name)) continue;
    if (path.rule === PHOTO_MISSING) warn(PHOTO_MISSING, path.problem);
    else report(path, 'photos');
  }
  return { photos: [...photos], missing };
}
