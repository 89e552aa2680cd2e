import { ConfigError, UsageError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue } from '../../base/issue.ts';
import { joinMessages, type Message, msg } from '../../base/message.ts';
import { findNearestNames, foldName } from '../../base/names.ts';
import {
  COLUMN_NAMES,
  FIELDS,
  type FindElements,
  findColumnMeant,
  getField,
  isElementName,
  isPointColumn,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import { rememberReferences } from '../../finds/resolve-references.ts';
import type { Table, TableRow } from '../table.ts';
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
  if (repeated !== undefined) throw new UsageError(makeRepeatIssue(repeated).message);
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

const ONE: TableRow = { row: 1, line: 1, cells: [] };

/** A find that has only the values for all finds. */
export const TABLE_OF_ONE: Table = {
  file: '',
  header: [],
  rows: [ONE],
  rowCount: 1,
  issues: [],
};

/**
 * Reads each value separately, so that a faulty one, which is among the issues, does not affect the
 * others.
 */
export function parseSettings(settings: readonly Setting[], localId: string, context: RowContext) {
  const twice = findRepeated(settings);
  const repeated = new Set(twice.map(({ name }) => name));
  const single = settings.filter(({ name }) => !repeated.has(name));
  const { columns } = parseColumns(TABLE_OF_ONE, undefined, single);
  const { elements, photos, issues } = readRow(ONE, localId, columns, context);
  return {
    elements,
    photos,
    issues: [...twice.map(makeRepeatIssue), ...issues.map((issue) => issue.without('file', 'row'))],
  };
}

/** Tells if a column is of the point, whose columns are read together. */
export function isOfPoint(name: string): boolean {
  return name === 'geom_system' || isPointColumn(name);
}

/** Returns the second values of columns that have two. */
export function findRepeated(settings: readonly Setting[]): Setting[] {
  const names = settings.map(({ name }) => name);
  return settings.filter(({ name }, index) => names.indexOf(name) < index);
}

function makeRepeatIssue({ name, givenName }: Setting): Issue {
  const message = msg`${name} is given twice. Keep one.`;
  return makeErrorIssue('setting-twice', message, { element: name, column: givenName });
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

/** Defaults of config.toml for new finds of a profile or a project. */
export type FindDefaults = readonly Setting[];

export type DefaultsFile = {
  /** Under `[profiles.NAME.defaults]`. */
  readonly profiles: ReadonlyMap<string, FindDefaults>;
  /** Under `[projects."C-…"]`. */
  readonly projects: ReadonlyMap<string, FindDefaults>;
};

/**
 * Validates the defaults of new finds. Vocabulary entries are looked up when a find is made;
 * everything else is checked here.
 * @param where named in errors, such as "config.toml, project C-202400101"
 * @throws ConfigError for an unknown element, one that cannot have a default, or an invalid value
 */
export function checkDefaults(where: Message, value: unknown): FindDefaults {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(msg`${where}: must be a table.`);
  return Object.entries(value).map(([key, value]) => {
    if (!['string', 'number', 'bigint', 'boolean'].includes(typeof value)) {
      throw new ConfigError(msg`${where}: ${key} must be a text, a number, true or false.`);
    }
    const setting = parseColumnSetting(key, String(value).trim());
    if ('rule' in setting) throw new ConfigError(joinMessages([where, setting.says], ': '));
    if (!mayBeDefault(setting)) {
      throw new ConfigError(
        msg`${where}: ${key} belongs to a single find and cannot be a default.`,
      );
    }
    const [issue] = parseSettings([setting], '', WITHOUT_LOOKUPS).issues;
    if (issue !== undefined && !OF_LOOKUPS.includes(issue.rule)) {
      throw new ConfigError(joinMessages([where, key, issue.says], ': '));
    }
    return setting;
  });
}

/**
 * @param file the tables of config.toml
 * @throws ConfigError as {@link checkDefaults} does
 */
export function parseDefaults(
  path: string,
  tables?: {
    readonly profiles: ReadonlyMap<string, unknown>;
    readonly projects: Readonly<Record<string, unknown>>;
  },
): DefaultsFile {
  const check = (tables: Iterable<readonly [string, unknown]>, name: (key: string) => Message) =>
    new Map([...tables].map(([key, value]) => [key, checkDefaults(name(key), value)]));
  return {
    profiles: check(
      tables?.profiles ?? [],
      (profile) => msg`${path}, defaults of profile ${profile}`,
    ),
    projects: check(
      Object.entries(tables?.projects ?? {}),
      (project) => msg`${path}, project ${project}`,
    ),
  };
}

/** Merges the defaults; those of the project override those of the profile. */
export function mergeDefaults(
  file: DefaultsFile,
  profile: string,
  project: string | undefined,
): FindDefaults {
  const ofProject = project === undefined ? [] : (file.projects.get(project) ?? []);
  const ofProfile = file.profiles.get(profile) ?? [];
  return [
    ...ofProject,
    ...ofProfile.filter(({ name }) => !ofProject.some((ownSetting) => ownSetting.name === name)),
  ];
}

function mayBeDefault({ name }: Setting): boolean {
  return isElementName(name) && getField(name).kind !== 'point' && name !== 'evidencni_cislo';
}

/** Issues that can be decided only with vocabularies and the user's own mapping. */
const OF_LOOKUPS: readonly string[] = ['term-not-harvested', 'finder-name', 'finder-unknown'];

/** Vocabulary entries are resolved later, when vocabularies are available. */
const WITHOUT_LOOKUPS = {
  resolveReference: rememberReferences(),
  resolvePhoto: () => ({ value: '' }),
};
