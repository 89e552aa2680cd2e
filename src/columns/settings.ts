import { UsageError } from '../base/errors.ts';
import { type Issue, makeErrorIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import {
  COLUMN_NAMES,
  type ColumnName,
  FIELDS,
  type FindElements,
  findColumnMeant,
  isPointColumn,
  POINT_ELEMENTS,
} from '../find/fields.ts';
import { findNearestNames, foldName } from '../text/names.ts';
import type { Setting } from './column-rule.ts';
import { normalizeCell, OF_ONE_FIND, parseColumns } from './columns.ts';
import { type RowContext, readRow } from './map-row.ts';

/** Parses `element=value`; the value may contain `=`. */
export function parseSetting(text: string): Setting | Issue {
  const at = text.indexOf('=');
  if (at <= 0)
    return makeErrorIssue(
      'setting-form',
      msg`"${text}" is not element=value. Write for example depth_cm=35.`,
    );
  return parseColumnSetting(text.slice(0, at).trim(), text.slice(at + 1).trim());
}

/**
 * @throws UsageError where a text does not have this form, names no element, or an element is named
 * twice
 */
export function parseSettingsOrThrow(texts: readonly string[]): readonly Setting[] {
  const settings = texts.map((text) => {
    const parsed = parseSetting(text);
    if ('rule' in parsed) throw new UsageError(parsed.message);
    return parsed;
  });
  const [repeated] = findRepeated(settings);
  if (repeated !== undefined) throw new UsageError(repeated.message);
  return settings;
}

/**
 * Normalises a value for the column that the name means; an unknown name gives an error issue with
 * the nearest names.
 */
export function parseColumnSetting(givenName: string, value: string): Setting | Issue {
  const name = findColumnMeant(givenName);
  if (name !== undefined) return { name, givenName, value: normalizeCell(name, value) };
  return makeErrorIssue('element-unknown', explainUnknownElement(givenName), { column: givenName });
}

/** Explains that there is no element of this name, with the nearest names. */
export function explainUnknownElement(givenName: string): Message {
  const folded = foldName(givenName);
  const begun = folded.length > 1 ? COLUMN_NAMES.filter((name) => name.startsWith(folded)) : [];
  const nearest = (begun.length > 0 ? begun : findNearestNames(folded, COLUMN_NAMES)).join(', ');
  const names = COLUMN_NAMES.join(', ');
  const advice = nearest === '' ? msg`There are: ${names}.` : msg`Did you mean ${nearest}?`;
  return msg`There is no element ${givenName}. ${advice}`;
}

/** Parsed settings; those that cannot be read are among the issues. */
type ParsedSetting = {
  readonly elements: FindElements;
  readonly photos: readonly string[];
  readonly issues: readonly Issue[];
};

/** Reads each value separately, so that a faulty one does not affect the others. */
export function parseSettings(
  settings: readonly Setting[],
  localId: string,
  context: RowContext,
): ParsedSetting {
  const repeatIssues = findRepeated(settings);
  const repeated = new Set(repeatIssues.map(({ element }) => element));
  const single = settings.filter(({ name }) => !repeated.has(name));
  const row = { row: 1, line: 1, cells: [] };
  const table = { file: '', header: [], rows: [row], rowCount: 1, issues: [] };
  const { columns } = parseColumns(table, undefined, single);
  const { elements, photos, issues } = readRow(row, localId, columns, context);
  return {
    elements,
    photos,
    issues: [...repeatIssues, ...issues.map((issue) => issue.without('file', 'row'))],
  };
}

/** Tells if a column is of the point, whose columns are read together. */
export function isOfPoint(name: string): boolean {
  return name === 'geom_system' || isPointColumn(name);
}

function findRepeated(settings: readonly Setting[]): Issue[] {
  const seen = new Set<ColumnName>();
  return settings.flatMap(({ name, givenName }) => {
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      makeErrorIssue('setting-twice', msg`${name} is given twice. Keep one.`, {
        element: name,
        column: givenName,
      }),
    ];
  });
}

/**
 * Orders elements as a table's row does, so that the same find gives the same text whatever its
 * source.
 */
export function orderElements(elements: FindElements): FindElements {
  const names = FIELDS.map(({ name }) => name);
  const ordered = [...names.filter((name) => !isOfPoint(name)), ...POINT_ELEMENTS];
  return Object.fromEntries(
    ordered.flatMap((name) => (elements[name] === undefined ? [] : [[name, elements[name]]])),
  );
}

/**
 * Parses values for all finds, such as `stav=1`.
 * @throws UsageError for another form, or a column that differs for each find
 */
export function parseConstants(texts: readonly string[]): readonly Setting[] {
  const constants = parseSettingsOrThrow(texts);
  const single = constants.find(({ name }) => OF_ONE_FIND.includes(name));
  if (single !== undefined)
    throw new UsageError(msg`"${single.givenName}" cannot be set for all finds of a table.`);
  return constants;
}
