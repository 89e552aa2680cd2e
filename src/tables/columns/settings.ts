import {
  formatTomlValue,
  isTomlTable,
  quoteTomlString,
  type TomlTable,
  tryParseToml,
} from '../../base/disk/toml.ts';
import { ConfigError, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue, makeErrorIssue } from '../../base/issue.ts';
import { cmd, joinMessages, type Message, msg } from '../../base/message.ts';
import { findNearestNames, foldName, joinWithOr } from '../../base/names.ts';
import {
  COLUMN_NAMES,
  type ColumnName,
  FIELDS,
  type FindElements,
  findColumnByName,
  getField,
  isElementName,
  isPointColumn,
  POINT_ELEMENTS,
} from '../../finds/fields.ts';
import { DAY_NUMBER, DEPTH_UNITS, isDateForm } from '../../finds/parse-cell.ts';
import { NAME_ORDERS } from '../../finds/person-name.ts';
import { makeReferenceResolver } from '../../finds/resolve-references.ts';
import type { Table, TableRow } from '../table.ts';
import {
  type ColumnMap,
  type ColumnRule,
  IGNORED,
  JOINED,
  LABELLED,
  normalizeColumnKey,
  OF_ONE_FIND,
  type ReadColumn,
  type Setting,
} from './column-rule.ts';
import { normalizeCell, parseColumns } from './columns.ts';
import { type RowContext, readRow } from './map-row.ts';

/** Parses `element=value`, no other comparison; the value may contain `=`. */
export function parseSettingText(text: string): Setting | Issue {
  const [, name, value] = /^([^=!<>~]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    return makeErrorIssue(
      'setting-form',
      msg`"${text}" is not element=value. Write for example depth_cm=35.`,
    );
  return makeSetting(name.trim(), value.trim());
}

/** @throws UsageError for another form, an unknown element, or one that is named twice */
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
 * Normalises a value for the column that the name means; an unknown name gives an error issue with
 * the nearest names.
 */
export function makeSetting(givenName: string, value: string): Setting | Issue {
  const name = findColumnByName(givenName);
  if (name !== undefined) return { name, givenName, value: normalizeCell(name, value) };
  return makeErrorIssue('element-unknown', explainUnknownElement(givenName), { column: givenName });
}

/** Explains that there is no element of this name, with the nearest names. */
function explainUnknownElement(givenName: string): Message {
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
  const twice = listRepeatedSettings(settings);
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
export function isPointOrSystemColumn(name: string): boolean {
  return name === 'geom_system' || isPointColumn(name);
}

/** Returns the settings whose column is named before them; empty where each is named once. */
function listRepeatedSettings(settings: readonly Setting[]): Setting[] {
  const names = settings.map(({ name }) => name);
  return settings.filter(({ name }, index) => names.indexOf(name) < index);
}

function makeTwiceMessage(name: string): Message {
  return msg`${name} is given twice. Keep one.`;
}

function makeRepeatIssue({ name, givenName }: Setting): Issue {
  return makeErrorIssue('setting-twice', makeTwiceMessage(name), {
    element: name,
    column: givenName,
  });
}

/**
 * Orders elements as a table's row does, so that the same find gives the same text whatever its
 * source.
 */
export function orderElements(elements: FindElements): FindElements {
  const names = FIELDS.map(({ name }) => name).filter((name) => !isPointOrSystemColumn(name));
  return Object.fromEntries(
    [...names, ...POINT_ELEMENTS].flatMap((name) =>
      elements[name] === undefined ? [] : [[name, elements[name]]],
    ),
  );
}

/**
 * Parses values for all finds, such as `stav=1`.
 * @throws UsageError for another form, or a column that differs for each find
 */
export function parseConstants(texts: readonly string[]): readonly Setting[] {
  const constants = parseSettingTexts(texts);
  const single = constants.find(({ name }) => OF_ONE_FIND.includes(name));
  if (single !== undefined) throw new UsageError(makeOfOneFindMessage(single.givenName));
  return constants;
}

function makeOfOneFindMessage(name: string): Message {
  return msg`${name} belongs to a single find, so all finds cannot share one value.`;
}

/** Defaults of config.toml for new finds of a profile or a project. */
export type FindDefaults = readonly Setting[];

type DefaultsFile = {
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
export function parseFindDefaults(where: Message, value: unknown): FindDefaults {
  if (!isTomlTable(value)) throw new ConfigError(msg`${where}: must be a table.`);
  return Object.entries(value).map(([key, value]) => {
    const text = formatTomlValue(value);
    if (text === undefined)
      throw new ConfigError(msg`${where}: ${key} must be a text, a number, true or false.`);
    const setting = makeSetting(key, text.trim());
    if ('rule' in setting) throw new ConfigError(joinMessages([where, setting.says], ': '));
    if (!mayBeDefault(setting))
      throw new ConfigError(joinMessages([where, makeOfOneFindMessage(key)], ': '));
    const [issue] = parseSettings([setting], '', WITHOUT_LOOKUPS).issues;
    if (issue !== undefined && !OF_LOOKUPS.includes(issue.rule))
      throw new ConfigError(joinMessages([where, key, issue.says], ': '));
    return setting;
  });
}

/**
 * @param file the tables of config.toml
 * @throws ConfigError as {@link parseFindDefaults} does
 */
export function parseDefaults(
  path: string,
  tables?: {
    readonly profiles: ReadonlyMap<string, unknown>;
    readonly projects: Readonly<Record<string, unknown>>;
  },
): DefaultsFile {
  const check = (tables: Iterable<readonly [string, unknown]>, name: (key: string) => Message) =>
    new Map([...tables].map(([key, value]) => [key, parseFindDefaults(name(key), value)]));
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

/** Vocabulary entries are resolved later, when vocabularies are available. */
const WITHOUT_LOOKUPS = {
  resolveReference: makeReferenceResolver(),
  resolvePhoto: () => ({ value: '' }),
};

/** Options of a column beside its element: the elements that have them, and what may be written. */
const OPTIONS: Readonly<
  Record<string, { readonly of: readonly ColumnName[]; readonly forms: readonly string[] }>
> = {
  unit: { of: ['hloubka'], forms: DEPTH_UNITS },
  date: { of: ['datum_nalezu'], forms: ['d.m.yyyy', 'yyyy/mm/dd', DAY_NUMBER] },
  year_only: { of: ['datum_nalezu'], forms: ['note'] },
  name: { of: ['nalezce'], forms: NAME_ORDERS },
  sign: { of: ['geom_x', 'geom_y'], forms: ['minus'] },
  form: { of: ['wkt'], forms: ['position'] },
  label: { of: LABELLED, forms: [] },
  separator: { of: ['photos'], forms: [] },
};

/** Tells if a value is one of the option's forms, of which a date has more, and a text any. */
function isOptionValue(name: string, value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false;
  const forms = OPTIONS[name]?.forms ?? [];
  return name === 'date' ? isDateForm(value) : forms.length === 0 || forms.includes(value);
}

const KEYS = ['version', 'local_id', 'fixed', 'columns'];
const MAP_VERSION = 1;

export type ColumnMapReading = { readonly map?: ColumnMap; readonly issues: readonly Issue[] };

/** Parses a column map; on a fault it returns only issues, with their positions in the file. */
export function parseColumnMap(file: string, text: string): ColumnMapReading {
  const toml = tryParseToml(text.replace(/^\uFEFF/, ''));
  if (toml.kind === 'fault') {
    const message = msg`The file is not valid TOML: ${toml.message}. Put column names and texts in quotation marks, and each setting on its own line.`;
    return { issues: [makeErrorIssue('map-toml', message, { file, line: toml.line })] };
  }
  const issues: Issue[] = [];
  const report: ReportMapIssue = (rule, message, column) =>
    void issues.push(makeErrorIssue(rule, message, { file, column }));
  const { version, columns = {}, fixed = {}, local_id: localId } = toml.table;
  for (const key of Object.keys(toml.table).filter((name) => !KEYS.includes(name)))
    report('map-key', makeUnknownKeyMessage(key, KEYS));
  if (version !== MAP_VERSION) report('map-version', makeFormMessage(`version = ${MAP_VERSION}`));
  if (localId !== undefined && (typeof localId !== 'string' || !/\{[^{}]+\}/.test(localId)))
    report('map-local-id', makeFormMessage('local_id = "{rok}/{inv. č.}"'));
  for (const [section, value] of Object.entries({ columns, fixed }))
    if (!isTomlTable(value)) report('map-key', makeFormMessage(`[${section}]`));
  const map: ColumnMap = {
    file,
    columns: isTomlTable(columns) ? parseColumnRules(columns, report) : new Map(),
    fixed: isTomlTable(fixed) ? parseFixed(fixed, report) : [],
    localId: typeof localId === 'string' ? localId : undefined,
  };
  checkRepeats(map, report);
  return hasErrors(issues) ? { issues } : { map, issues };
}

function makeUnknownKeyMessage(key: string, known: readonly string[]): Message {
  const keyNames = known.join(', ');
  return msg`"${key}" is unknown here. Known keys: ${keyNames}.`;
}

/** Explains how a setting is written. */
function makeFormMessage(example: Message): Message {
  return msg`This cannot be read. Write it as in ${example}.`;
}

type ReportMapIssue = (rule: string, message: Message, column?: string) => void;

function parseColumnRules(columns: TomlTable, report: ReportMapIssue): Map<string, ColumnRule> {
  const rules = new Map<string, ColumnRule>();
  const forms = new Set<string>();
  for (const [key, value] of Object.entries(columns)) {
    if (forms.has(normalizeColumnKey(key))) report('map-column-twice', makeTwiceMessage(key), key);
    forms.add(normalizeColumnKey(key));
    const { element: named, ...options } = isTomlTable(value) ? value : { element: value };
    const element = typeof named === 'string' ? findColumnByName(named) : undefined;
    if (named === 'ignore') rules.set(key, IGNORED);
    else if (element !== undefined)
      rules.set(
        key,
        parseOptions(element, options, (...issue) => report(...issue, key)),
      );
    else
      report(
        'map-element',
        typeof named === 'string' ? explainUnknownElement(named) : makeFormMessage('"hloubka"'),
        key,
      );
  }
  return rules;
}

function parseOptions(
  element: ColumnName,
  { values, ...options }: TomlTable,
  report: (rule: string, message: Message) => void,
): ReadColumn {
  const read: Record<string, string> = {};
  const known = Object.keys(OPTIONS).filter((name) => OPTIONS[name]?.of.includes(element));
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name))
      report('map-option', makeUnknownKeyMessage(name, ['element', 'values', ...known]));
    else if (isOptionValue(name, value)) read[name === 'year_only' ? 'yearOnly' : name] = value;
    else {
      const forms = (OPTIONS[name]?.forms ?? []).map((form) => `"${form}"`);
      const example = joinMessages([`${name} =`, joinWithOr(forms) || '"…"'], ' ');
      report(name === 'date' ? 'map-date' : 'map-option', makeFormMessage(example));
    }
  }
  const replacements = Object.entries(isTomlTable(values) ? values : {}).map(
    ([ownText, meant]) => [ownText, formatTomlValue(meant)] as const,
  );
  if (values === undefined) return { element, ...read };
  if (!isTomlTable(values) || replacements.some(([, meant]) => meant === undefined))
    report('map-values', makeFormMessage('values = { "a" = "ano" }'));
  return { element, ...read, values: Object.fromEntries(replacements) as ReadColumn['values'] };
}

function parseFixed(fixed: TomlTable, report: ReportMapIssue): Setting[] {
  const settings: Setting[] = [];
  for (const [key, value] of Object.entries(fixed)) {
    const name = findColumnByName(key);
    const text = formatTomlValue(value)?.trim();
    if (name === undefined) report('map-element', explainUnknownElement(key), key);
    else if ([...OF_ONE_FIND, 'photos'].includes(name))
      report('map-fixed', makeOfOneFindMessage(name), key);
    else if (text === undefined || text === '')
      report('map-fixed', makeFormMessage(`${key} = "…"`), key);
    else settings.push({ name, givenName: key, value: text });
  }
  return settings;
}

/** Reports two columns with one meaning, of which one would be lost. */
function checkRepeats({ columns, fixed, localId }: ColumnMap, report: ReportMapIssue): void {
  const first = new Map<string, string>(localId === undefined ? [] : [['local_id', 'local_id']]);
  const joined = JOINED.join(', ');
  for (const [key, rule] of columns) {
    const { element } = rule;
    if (element === undefined || JOINED.includes(element)) continue;
    const other = first.get(element);
    first.set(element, other ?? key);
    if (other === undefined) continue;
    const message = msg`"${other}" and "${key}" both mean ${element}. Only ${joined} may be combined from several columns; write "ignore" for one of them.`;
    report('map-element-twice', message, key);
  }
  for (const { name } of listRepeatedSettings(fixed))
    report('map-element-twice', makeTwiceMessage(name), name);
}

/** Comments above the lines of a column map, for the person who edits it. */
type MapRemarks = {
  readonly table: string;
  /** By the key of the column. */
  readonly columns: ReadonlyMap<string, readonly Message[]>;
  /** Elements that still need a value for all finds. */
  readonly undecided: readonly string[];
};

/** Writes a column map as a file to edit. Reading it gives the same map. */
export function formatColumnMap(map: ColumnMap, { table, columns, undecided }: MapRemarks): string {
  const lines = [
    formatComment(
      msg`How pas reads the columns of ${table}: ${cmd`pas import`} FILE --map THIS-FILE`,
    ),
    formatComment(
      msg`Made by ${cmd`pas import --wizard`}. Correct what is wrong; pas ignores lines that start with #.`,
    ),
    `version = ${MAP_VERSION}`,
    ...(map.localId === undefined ? [] : [`local_id = ${quoteTomlString(map.localId)}`]),
    '',
    formatComment(msg`Values for finds whose own cell is empty.`),
    '[fixed]',
    ...undecided.map((element) => `# ${element} = ""`),
    ...map.fixed.map(({ name, value }) => `${name} = ${quoteTomlString(value)}`),
    '',
    formatComment(msg`Columns of the table and their elements; "ignore" skips a column.`),
    '[columns]',
  ];
  for (const [key, rule] of map.columns) {
    lines.push(
      ...(columns.get(key) ?? []).map(formatComment),
      `${quoteTomlString(key)} = ${formatRule(rule)}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function formatRule(rule: ColumnRule): string {
  const { element = 'ignore', yearOnly, values, ...rest } = rule;
  const parts = Object.entries({ ...rest, year_only: yearOnly }).flatMap(([name, text]) =>
    text === undefined ? [] : [`${name} = ${quoteTomlString(text)}`],
  );
  if (values !== undefined) {
    const pairs = Object.entries(values).map(
      ([ownText, meant]) => `${quoteTomlString(ownText)} = ${quoteTomlString(meant)}`,
    );
    parts.push(`values = { ${pairs.join(', ')} }`);
  }
  return parts.length === 0
    ? quoteTomlString(element)
    : `{ element = ${quoteTomlString(element)}, ${parts.join(', ')} }`;
}

/** Formats a comment as one line without control characters, whatever a cell contains. */
function formatComment(text: Message): string {
  return `# ${String(text)
    .replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim()}`;
}
