import { type Issue, warningIssue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { type ColumnName, meaningOfColumn } from '../find/column-names.ts';
import { dayOfMoment } from '../find/read-date.ts';
import { joinNames } from '../text/file-names.ts';
import { isPictureName } from '../text/names.ts';

/** What a device or an app for maps writes about a place. */
type DeviceRecord = {
  /** The local id, unless a field is. */
  readonly name: string;
  readonly notes: readonly string[];
  /** When it was marked: the day of the find, unless a field is. */
  readonly time: string;
  /** To photographs, and to whatever else. */
  readonly links: readonly string[];
  /** Those that a form or a table has. */
  readonly fields: readonly (readonly [name: string, value: string])[];
};

/** What of a file was not read, by name; said once, however many records have it. */
export class UnreadNames {
  readonly #names = new Set<string>();

  add(name: string): void {
    if (this.#names.size < MOST_NAMES) this.#names.add(name);
  }

  issues(file: string): readonly Issue[] {
    if (this.#names.size === 0) return [];
    const names = [...this.#names].join(', ');
    const message = msg`Not read: ${names}. What of it belongs to the finds must stand in fields of their own or in the description.`;
    return [warningIssue('table-not-read', message, { file })];
  }
}

const MOST_NAMES = 100;

/** The columns of a record: its fields, and what it says beside them. What else it says is kept in the note. */
export function deviceValues({ name, notes, time, links, fields }: DeviceRecord, unread: UnreadNames): Map<string, string> {
  const values = new Map<string, string>();
  const again: string[] = [];
  for (const [field, value] of fields) {
    if ((values.get(field) ?? '') === '') values.set(field, value);
    else if (value !== '' && value !== values.get(field)) again.push(`${field}: ${value}`);
  }
  const columns = new Map([...values.keys()].map((field) => [meaningOfColumn(field), field] as const));
  /** @returns whether the column says it now */
  const fill = (column: ColumnName, text: string): boolean => {
    const field = columns.get(column) ?? column;
    const given = values.get(field)?.trim() ?? '';
    if (given === '' && text !== '') values.set(field, text);
    return given === '' || given === text;
  };
  const [photographs, others] = partedLinks(links);
  const more = [...(fill('local_id', name) ? [] : [name]), ...notes, ...again, ...others].filter((note) => note !== '');
  if (!fill('datum_nalezu', dayOf(time))) unread.add('time');
  append(values, columns.get('poznamka') ?? 'poznamka', more, '\n');
  append(
    values,
    columns.get('photos') ?? 'photos',
    photographs.map((each) => joinNames([each])),
    ';',
  );
  return values;
}

/** What is there already is not said again. */
function append(values: Map<string, string>, field: string, texts: readonly string[], between: string): void {
  const given = values.get(field) ?? '';
  const said = new Set(given.split(between)).add(given);
  const more = [...new Set(texts)].filter((text) => !said.has(text));
  if (more.length > 0) values.set(field, [given, ...more].filter((text) => text !== '').join(between));
}

/** Names of files of photographs, and everything else. */
function partedLinks(links: readonly string[]): readonly [photographs: string[], others: string[]] {
  const [photographs, others]: [string[], string[]] = [[], []];
  for (const link of links) {
    const name = fileOf(link);
    if (name !== undefined && isPictureName(name)) photographs.push(name);
    else if (!link.startsWith('data:')) others.push(link);
  }
  return [photographs, others];
}

/**
 * The file that a link means: a path from the table on, or the mere name where it is a place on the device that made it. Undefined for what
 * is on the web, from where nothing is fetched.
 */
function fileOf(link: string): string | undefined {
  const isLocal = /^file:/i.test(link);
  if (!isLocal && /^[a-z][a-z\d+.-]+:/i.test(link)) return undefined;
  const path = decoded(link.replace(/^file:(?:\/\/[^/]*)?/i, '').replace(/[?#].*$/, '')).replaceAll('\\', '/');
  return isLocal || /^(?:\/|[a-z]:)/i.test(path) ? path.slice(path.lastIndexOf('/') + 1) : path.replace(/^(?:\.\/)+/, '');
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** A time without a time zone is that of the place. What cannot be read stays as it is: the cell is reported then. */
function dayOf(time: string): string {
  return dayOfMoment(time) ?? time.replace(/^(\d{4}-\d{2}-\d{2})T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?$/, '$1');
}
