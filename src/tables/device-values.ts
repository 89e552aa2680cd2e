import { makeWarningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { parseDayOfMoment } from '../find/date-form.ts';
import { type ColumnName, findColumnMeant } from '../find/fields.ts';
import { joinNames } from '../text/csv.ts';
import { isPictureName } from '../text/names.ts';
import type { Table } from './table.ts';

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
export class UnreadNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    if (this.#names.size < MAX_NAMES) this.#names.add(name);
  }

  /** Adds a warning with the names to the table. */
  addTo(table: Table): Table {
    if (this.#names.size === 0) return table;
    const { file } = table;
    const names = [...this.#names].join(', ');
    const message = msg`Not read: ${names}. What belongs to the finds must be in fields of their own or in the description.`;
    const issue = makeWarningIssue('table-not-read', message, { file });
    return { ...table, issues: [...table.issues, issue] };
  }
}

const MAX_NAMES = 100;

/**
 * Returns the columns of a record: its fields, then its other data where the column is empty. The
 * rest goes into the note.
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
    [...values.keys()].map((field) => [findColumnMeant(field), field] as const),
  );
  const fill = (column: ColumnName, text: string): boolean => {
    const field = columns.get(column) ?? column;
    const existing = values.get(field)?.trim() ?? '';
    if (existing === '' && text !== '') values.set(field, text);
    return existing === '' || existing === text;
  };
  const [photographs, otherLinks] = separateLinks(links);
  const more = [
    ...(fill('local_id', name) ? [] : [name]),
    ...notes,
    ...again,
    ...otherLinks,
  ].filter((note) => note !== '');
  if (!fill('datum_nalezu', parseDay(time))) unread.add('time');
  append(values, columns.get('poznamka') ?? 'poznamka', more, '\n');
  append(
    values,
    columns.get('photos') ?? 'photos',
    photographs.map((each) => joinNames([each])),
    ';',
  );
  return values;
}

function append(
  values: Map<string, string>,
  field: string,
  texts: readonly string[],
  between: string,
): void {
  const existing = values.get(field) ?? '';
  const distinctValues = new Set(existing.split(between)).add(existing);
  const more = [...new Set(texts)].filter((text) => !distinctValues.has(text));
  if (more.length > 0)
    values.set(field, [existing, ...more].filter((text) => text !== '').join(between));
}

/** Separates the file names of photographs from other links. */
function separateLinks(
  links: readonly string[],
): readonly [photographs: string[], others: string[]] {
  const photographs: string[] = [];
  const otherLinks: string[] = [];
  for (const link of links) {
    const name = getLinkedFile(link);
    if (name !== undefined && isPictureName(name)) photographs.push(name);
    else if (!link.startsWith('data:')) otherLinks.push(link);
  }
  return [photographs, otherLinks];
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
