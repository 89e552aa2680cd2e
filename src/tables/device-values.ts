import { joinFileNames } from '../base/csv.ts';
import { isPictureName } from '../base/names.ts';
import type { XmlElement } from '../base/xml/element.ts';
import { type ColumnName, findColumnByName } from '../finds/fields.ts';
import { parseDayOfMoment } from '../finds/parse-cell.ts';
import { makeNotReadIssue, type Table } from './table.ts';

/** Data of a point from a device or a map app. */
type DeviceRecord = {
  /** Local id, unless a field has one. */
  readonly name: string;
  readonly notes: readonly string[];
  /** Time of marking: the day of the find, unless a field has one. */
  readonly time: string;
  /** Links to photographs and other targets. */
  readonly links: readonly string[];
  readonly fields: readonly (readonly [name: string, value: string])[];
};

/** Names of parts that were not read, each reported once for all records. */
export type UnreadNames = Set<string>;

const MAX_NAMES = 100;

/** Returns the table with one warning that lists the names; unchanged without any. */
export function addUnreadWarning(table: Table, unread: UnreadNames): Table {
  if (unread.size === 0) return table;
  const names = [...unread].slice(0, MAX_NAMES).join(', ');
  return { ...table, issues: [...table.issues, makeNotReadIssue(table.file, names)] };
}

/**
 * Adds an element of another program to one of the lists: to `fields` if it has the name of a
 * column, an attachment to `links`, else its name to `unread`. One without a text is ignored.
 */
export function collectOtherElement(
  { name, text }: XmlElement,
  fields: [name: string, value: string][],
  links: string[],
  unread: UnreadNames,
): void {
  const value = text.trim();
  if (value === '') return;
  if (name === 'attachment') links.push(value);
  else if (findColumnByName(name) !== undefined) fields.push([name, value]);
  else unread.add(name);
}

/**
 * Returns the texts of a record by column: its own fields, then its name, day and photographs
 * where the column is empty. What finds no column (further names, notes, links, repeated fields)
 * is appended to the note; the time is added to `unread` where a field has another day.
 */
export function collectDeviceValues(
  { name, notes, time, links, fields }: DeviceRecord,
  unread: UnreadNames,
): Map<string, string> {
  const values = new Map<string, string>();
  const again: string[] = [];
  for (const [field, value] of fields) {
    if ((values.get(field) ?? '') === '') values.set(field, value);
    else if (value !== '' && value !== values.get(field)) again.push(`${field}: ${value}`);
  }
  const columns = new Map(
    [...values.keys()].map((field) => [findColumnByName(field), field] as const),
  );
  const fill = (column: ColumnName, text: string): boolean => {
    const field = columns.get(column) ?? column;
    const existing = values.get(field)?.trim() ?? '';
    if (existing === '' && text !== '') values.set(field, text);
    return text === '' || existing === '' || existing === text;
  };
  const isPicture = (link: string): boolean => isPictureName(getLinkedFile(link) ?? '');
  const otherLinks = links.filter((link) => !isPicture(link) && !link.startsWith('data:'));
  const more = [...(fill('local_id', name) ? [] : [name]), ...notes, ...again, ...otherLinks];
  if (!fill('datum_nalezu', parseDay(time))) unread.add('time');
  append(values, columns.get('poznamka') ?? 'poznamka', more, '\n');
  const photographs = links
    .filter(isPicture)
    .map((link) => joinFileNames([getLinkedFile(link) ?? '']));
  append(values, columns.get('photos') ?? 'photos', photographs, ';');
  return values;
}

function append(
  values: Map<string, string>,
  field: string,
  texts: readonly string[],
  between: string,
): void {
  const existing = values.get(field) ?? '';
  const already = [...existing.split(between), existing, ''];
  const more = [...new Set(texts)].filter((text) => !already.includes(text));
  if (more.length > 0)
    values.set(field, [existing, ...more].filter((text) => text !== '').join(between));
}

/**
 * Returns the file of a link: a path relative to the table, or the name of a file on the device.
 * Undefined for the web.
 */
function getLinkedFile(link: string): string | undefined {
  const isLocal = /^file:/i.test(link);
  if (!isLocal && /^[a-z][a-z\d+.-]+:/i.test(link)) return undefined;
  const path = decodeLink(
    link.replace(/^file:(?:\/\/[^/]*)?/i, '').replace(/[?#].*$/s, ''),
  ).replaceAll('\\', '/');
  return isLocal || /^(?:\/|[a-z]:)/i.test(path)
    ? path.slice(path.lastIndexOf('/') + 1)
    : path.replace(/^(?:\.\/)+/, '');
}

function decodeLink(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/**
 * Returns the day; a time without a zone is local at the site. An unreadable time stays, so that
 * the cell is reported.
 */
function parseDay(time: string): string {
  return (
    parseDayOfMoment(time) ??
    time.replace(/^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '$1')
  );
}
