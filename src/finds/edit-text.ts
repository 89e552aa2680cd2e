import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { formatReferenceCell, NEW_PERSON } from './field.ts';
import { FIELDS, type Field, type FindElements, isPointColumn, POINT_COLUMNS } from './fields.ts';
import type { LookupTerm } from './find.ts';

/** Column name → text, as in a row of a table. */
export type Cells = ReadonlyMap<string, string>;

/** One line represents both elements of the point; `geom_system` selects the element. */
const POINT_LINE = 'wkt';

/**
 * Returns the cells of a find, with labels for vocabulary entries where a label resolves to the
 * same entry.
 */
export function getFindCells(elements: FindElements, lookupTerm: LookupTerm): Map<string, string> {
  const cells = new Map<string, string>();
  for (const field of FIELDS) {
    const text = formatCell(field, elements, lookupTerm);
    if (text !== '') cells.set(getLineName(field), text);
  }
  return cells;
}

function getLineName(field: Field): string {
  return field.kind === 'point' ? POINT_LINE : field.name;
}

function formatCell(field: Field, elements: FindElements, lookupTerm: LookupTerm): string {
  const value = elements[field.name];
  if (value === undefined || (field.kind === 'point' && field.epsg !== elements.geom_system))
    return '';
  if (typeof value !== 'object') return String(value);
  if (value.id === NEW_PERSON || field.set === undefined || value.text === '')
    return formatReferenceCell(value);
  const lookup = lookupTerm(field.set, value.text);
  return lookup.kind === 'found' && lookup.term.id === value.id ? value.text : value.id;
}

/**
 * Returns the cells with the changes; an empty text removes a cell. If a changed column belongs
 * to the point, all other columns of the point are removed, so that two points are never mixed.
 */
export function applyCellChanges(cells: Cells, changes: Cells): Map<string, string> {
  const changed = new Map(cells);
  if ([...changes.keys()].some(isPointColumn))
    for (const name of POINT_COLUMNS) changed.delete(name);
  for (const [name, text] of changes) changed.set(name, text);
  return new Map([...changed].filter(([, text]) => text !== ''));
}

/**
 * Returns the names of the columns whose texts differ, those of `before` first. An absent cell
 * equals an empty one.
 */
export function listDifferingCells(before: Cells, after: Cells): string[] {
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].filter((name) => (before.get(name) ?? '') !== (after.get(name) ?? ''));
}

/**
 * Formats a find as a text to edit: for each element its meaning as a comment, its issues, and a
 * line `name = value`; issues of no element come first. Cells of unknown columns are at the end.
 * {@link parseEditText} reads it.
 */
export function formatEditText(localId: string, cells: Cells, issues: readonly Issue[]): string {
  const glosses = new Map<string, Message>(
    FIELDS.map((field) => [
      getLineName(field),
      field.kind === 'point'
        ? msg`point, such as POINT (14.4208 50.0871), in the order of geom_system`
        : field.gloss,
    ]),
  );
  const getIssueLine = ({ element = '' }: Issue): string =>
    isPointColumn(element) ? POINT_LINE : element;
  const formatLine = (name: string): string => `${name} = ${encodeLine(cells.get(name) ?? '')}`;
  const lines = [
    formatComment(
      msg`Find ${localId}. Write a value after each "="; leave it empty to leave the element out. A line break in a text is \\n.`,
    ),
    formatComment(
      msg`Save the file and close the editor to continue. pas ignores lines that start with #; an empty file changes nothing.`,
    ),
    ...issues.filter((issue) => !glosses.has(getIssueLine(issue))).map(formatMark),
    ...[...glosses].flatMap(([name, gloss]) => [
      '',
      formatComment(gloss),
      ...issues.filter((issue) => getIssueLine(issue) === name).map(formatMark),
      formatLine(name),
    ]),
    ...[...cells.keys()].filter((name) => !glosses.has(name)).map(formatLine),
  ];
  return `${lines.join('\n')}\n`;
}

function formatComment(text: Message): string {
  return `# ${String(text).replaceAll('\n', ' ')}`;
}

function formatMark({ severity, message }: Issue): string {
  return formatComment(`${severity === 'error' ? '✗' : '!'} ${message}`);
}

function encodeLine(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll(/\r\n?|\n/g, '\\n');
}

function decodeLine(text: string): string {
  return text.replaceAll(/\\([n\\])/g, (_, letter: string) => (letter === 'n' ? '\n' : letter));
}

/**
 * Parses the edited text: empty values are left out of `cells`. A line that is not
 * `name = value`, or whose name appeared before, gives an error with its line. Undefined where no
 * line has a value or a fault, which means no change.
 */
export function parseEditText(
  text: string,
): { readonly cells: Map<string, string>; readonly issues: readonly Issue[] } | undefined {
  const cells = new Map<string, string>();
  const issues: Issue[] = [];
  for (const [index, line] of text
    .replace(/^\uFEFF/, '')
    .split(/\r\n?|\n/)
    .entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name = '', value = ''] =
      /^([\p{L}\p{N}_\s]+)=(.*)$/u.exec(line)?.map((part) => part.trim()) ?? [];
    const where = { line: index + 1 };
    if (name === '')
      issues.push(
        makeErrorIssue(
          'edit-line',
          msg`This line is not "element = value". Correct it, or write # before it.`,
          where,
        ),
      );
    else if (cells.has(name))
      issues.push(
        makeErrorIssue(
          'edit-line-twice',
          msg`${name} appears twice. Keep one of the lines.`,
          where,
        ),
      );
    else cells.set(name, decodeLine(value));
  }
  if (cells.size === 0 && issues.length === 0) return undefined;
  return { cells: new Map([...cells].filter(([, value]) => value !== '')), issues };
}
