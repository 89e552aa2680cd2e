import { ConfigError, UsageError } from '../../base/errors.ts';
import { type Issue, makeErrorIssue } from '../../base/issue.ts';
import { formatTomlValue, isPlainObject } from '../../base/json-and-toml.ts';
import { joinMessages, type Message, msg } from '../../base/message.ts';
import { findNearestNames, foldName, joinWithOr } from '../../base/names.ts';
import {
  FIELDS,
  type FindElements,
  getField,
  isElementName,
  isPointElement,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import { checkCells, type Table, type TableRow } from '../table.ts';
import {
  COLUMN_NAMES,
  type ColumnMap,
  findColumnByName,
  IDENTIFYING_COLUMNS,
  type Setting,
} from './column-meaning.ts';
import { normalizeCell, parseColumns } from './columns.ts';
import { type RowContext, readRowCells } from './map-row.ts';

/**
 * Parses a text `element=value` as {@link makeSetting} does; blanks around both parts are removed,
 * and the value may contain `=`. Returns an error issue for a text of another form, also with
 * another comparison such as `!=`, and for an unknown element.
 */
export function parseSettingText(text: string): Setting | Issue {
  const [, name, value] = /^([^=!<>~]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    return makeErrorIssue(
      'setting-form',
      msg`"${text}" is not element=value. Write for example depth_cm=35.`,
    );
  return makeSetting(name.trim(), value.trim());
}

/**
 * Parses the texts of a flag, such as `depth_cm=35`, in their order.
 * @throws UsageError for a text of another form, an unknown element, or one that is named twice
 */
export function parseSettingTexts(texts: readonly string[]): readonly Setting[] {
  const settings = texts.map((text) => {
    const parsed = parseSettingText(text);
    if ('rule' in parsed) throw new UsageError(parsed.message);
    return parsed;
  });
  const [repeated] = listRepeatedSettings(settings);
  if (repeated !== undefined) throw new UsageError(makeRepeatIssue(repeated).message);
  return settings;
}

/**
 * Makes the setting of a value for the column that a Czech or English name means. The value is
 * normalised for storage, and need not be valid. Returns an error issue, with the nearest names,
 * for an unknown name.
 */
function makeSetting(givenName: string, value: string): Setting | Issue {
  const name = findColumnByName(givenName);
  if (name !== undefined) return { name, givenName, value: normalizeCell(name, value) };
  return makeErrorIssue('element-unknown', explainUnknownElement(givenName), { column: givenName });
}

/**
 * Explains that there is no element of this name, with the nearest names, or all if none is near.
 */
export function explainUnknownElement(givenName: string): Message {
  const nearest = joinWithOr(findNearestNames(foldName(givenName), COLUMN_NAMES));
  const names = COLUMN_NAMES.join(', ');
  const advice = nearest === '' ? msg`There are: ${names}.` : msg`Did you mean ${nearest}?`;
  return msg`There is no element ${givenName}. ${advice}`;
}

const ONE: TableRow = { row: 1, line: 1, cells: [] };

/** A table of one find without columns: it has only the values that are given for all finds. */
const FIND_WITHOUT_COLUMNS: Table = {
  file: '',
  header: [],
  rows: [ONE],
  rowCount: 1,
  issues: [],
};

/**
 * Parses the values of one find: `elements` and `photos` have what could be read, `issues` the
 * errors and warnings. An element that is given twice is left out, with an error. A faulty value
 * does not affect the others.
 * @param localId for the issues, and for the lookup of the stored find; '' for values of no find
 * @param context without `resolvePhoto`, photographs are not looked for, and keep their names
 */
export function parseSettings(
  settings: readonly Setting[],
  localId: string,
  context: Partial<RowContext> & Pick<RowContext, 'resolveReference'>,
) {
  const twice = listRepeatedSettings(settings);
  const repeated = new Set(twice.map(({ name }) => name));
  const single = settings.filter(({ name }) => !repeated.has(name));
  const { columns } = parseColumns(FIND_WITHOUT_COLUMNS, undefined, single);
  const { elements, photos, issues } = readRowCells(ONE, localId, columns, {
    resolvePhoto: (name) => ({ value: name }),
    ...context,
  });
  // A value that no table may have would be lost on the way out and in again.
  const unfit = checkCells(
    single.map(({ value }) => value),
    single.map(({ givenName }) => givenName),
  );
  const all = [...unfit, ...issues].map((issue) => issue.without('file', 'row'));
  return { elements, photos, issues: [...twice.map(makeRepeatIssue), ...all] };
}

/** Returns the settings whose column an earlier setting names; empty where each is named once. */
export function listRepeatedSettings(settings: readonly Setting[]): Setting[] {
  const names = settings.map(({ name }) => name);
  return settings.filter(({ name }, index) => names.indexOf(name) < index);
}

/** Explains that the name of an element or a column is given twice, with two values or rules. */
export function makeGivenTwiceMessage(name: string): Message {
  return msg`${name} is given twice. Keep one.`;
}

function makeRepeatIssue({ name, givenName }: Setting): Issue {
  return makeErrorIssue('setting-twice', makeGivenTwiceMessage(name), {
    element: name,
    column: givenName,
  });
}

/**
 * Returns the elements that have a value, ordered as a row of a table gives them, the point last:
 * so the same find is stored as the same text, whatever its source.
 */
export function orderElements(elements: FindElements): FindElements {
  const names = FIELDS.map(({ name }) => name).filter((name) => !isPointElement(name));
  return Object.fromEntries(
    [...names, ...POINT_ELEMENTS].flatMap((name) =>
      elements[name] === undefined ? [] : [[name, elements[name]]],
    ),
  );
}

/**
 * Parses the texts of values for all finds, such as `stav=1`. Only {@link checkFixedValues} checks
 * if the values are valid.
 * @throws UsageError as {@link parseSettingTexts} does, and for a local id or identifier
 */
export function parseFixedValues(texts: readonly string[]): readonly Setting[] {
  const fixed = parseSettingTexts(texts);
  const single = fixed.find(({ name }) => IDENTIFYING_COLUMNS.includes(name));
  if (single !== undefined) throw new UsageError(makeNotSharedMessage(single.givenName));
  return fixed;
}

/** Explains that all finds cannot share a value of this element, which differs for each. */
export function makeNotSharedMessage(name: string): Message {
  return msg`${name} belongs to a single find, so all finds cannot share one value.`;
}

/** Defaults of config.toml for new finds of a profile or a project. */
export type FindDefaults = readonly Setting[];

/** Of config.toml, unchecked: by the name of a profile, and by the identifier of a project. */
export type DefaultsTables = {
  readonly profiles: ReadonlyMap<string, unknown>;
  readonly projects: Readonly<Record<string, unknown>>;
};

type DefaultsFile = {
  /** Under `[profiles.NAME.defaults]`. */
  readonly profiles: ReadonlyMap<string, FindDefaults>;
  /** Under `[projects."C-…"]`. */
  readonly projects: ReadonlyMap<string, FindDefaults>;
};

/**
 * Parses and checks the defaults for new finds; only vocabulary entries and finders are looked up
 * later, when a find is made.
 * @param where place for errors, such as "config.toml, project C-202400101"
 * @param values table of TOML with a value for each element
 * @throws ConfigError where `values` is no table; for an unknown element, one that cannot have a
 * default (point, number), and a value that is invalid, or gives a warning in a table
 */
export function parseFindDefaults(where: Message, values: unknown): FindDefaults {
  if (!isPlainObject(values)) throw new ConfigError(msg`${where}: must be a table.`);
  return Object.entries(values).map(([key, value]) => {
    const text = formatTomlValue(value);
    if (text === undefined)
      throw new ConfigError(msg`${where}: ${key} must be a text, a number, true or false.`);
    const setting = makeSetting(key, text.trim());
    if ('rule' in setting) throw new ConfigError(joinMessages([where, setting.says], ': '));
    if (!mayBeDefault(setting))
      throw new ConfigError(joinMessages([where, makeNotSharedMessage(key)], ': '));
    const withoutLookups = { resolveReference: makeReferenceResolver() };
    const [issue] = parseSettings([setting], '', withoutLookups).issues;
    if (issue !== undefined && !OF_LOOKUPS.includes(issue.rule))
      throw new ConfigError(joinMessages([where, key, issue.says], ': '));
    return setting;
  });
}

/**
 * Parses the defaults of all profiles and projects in config.toml.
 * @param path of config.toml, for errors
 * @throws ConfigError as {@link parseFindDefaults} does
 */
export function parseDefaults(path: string, tables: DefaultsTables): DefaultsFile {
  const parseAll = (all: Iterable<[string, unknown]>, describe: (name: string) => Message) =>
    new Map([...all].map(([name, values]) => [name, parseFindDefaults(describe(name), values)]));
  return {
    profiles: parseAll(tables.profiles, (name) => msg`${path}, defaults of profile ${name}`),
    projects: parseAll(Object.entries(tables.projects), (name) => msg`${path}, project ${name}`),
  };
}

/**
 * Returns the defaults for a new find: those of its project, and those of its profile for other
 * elements. Empty where neither has any.
 */
export function mergeDefaults(
  file: DefaultsFile,
  profile: string,
  project: string | undefined,
): FindDefaults {
  const ofProject = file.projects.get(project ?? '') ?? [];
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

/**
 * Returns the errors of values for all finds, so that they are reported once instead of in every
 * row; empty where there are none. Warnings are left out, and photographs are not looked for.
 */
export function checkFixedValues(
  fixed: ColumnMap['fixed'],
  lookupTerm: LookupTerm,
): readonly Issue[] {
  const { issues } = parseSettings(fixed, '', {
    resolveReference: makeReferenceResolver(lookupTerm),
  });
  return issues.filter(({ severity }) => severity === 'error');
}
