import { hasErrors, type Issue, makeErrorIssue } from '../../base/issue.ts';
import {
  formatTomlValue,
  isPlainObject,
  quoteTomlString,
  tryParseToml,
} from '../../base/json-and-toml.ts';
import { cmd, joinMessages, type Message, msg } from '../../base/message.ts';
import { joinWithOr } from '../../base/names.ts';
import type { LookupTerm } from '../../finds/find.ts';
import { DEPTH_UNITS, isDateForm } from '../../finds/parse-cell.ts';
import { decodeUtf8 } from '../input-file.ts';
import {
  type ColumnMap,
  type ColumnName,
  type ColumnRule,
  type ElementRule,
  findColumnByName,
  IDENTIFYING_COLUMNS,
  IGNORED_COLUMN,
  LABELLED_COLUMNS,
  makeTextKey,
  type Setting,
} from './column-meaning.ts';
import {
  checkFixedValues,
  explainUnknownElement,
  listRepeatedSettings,
  makeGivenTwiceMessage,
  makeNotSharedMessage,
} from './settings.ts';

/** Options of a column beside its element: the elements that have them, and what may be written. */
const OPTIONS: Readonly<
  Record<string, { readonly of: readonly ColumnName[]; readonly forms: readonly string[] }>
> = {
  unit: { of: ['hloubka'], forms: DEPTH_UNITS },
  date: { of: ['datum_nalezu'], forms: ['d.m.yyyy', 'yyyy/mm/dd'] },
  year_only: { of: ['datum_nalezu'], forms: ['note'] },
  sign: { of: ['geom_x', 'geom_y'], forms: ['minus'] },
  form: { of: ['wkt'], forms: ['position'] },
  label: { of: LABELLED_COLUMNS, forms: [] },
};

/** Tells if a value is one of the option's forms, of which a date has more, and a text any. */
function isOptionValue(name: string, value: unknown): value is string {
  if (typeof value !== 'string' || value === '') return false;
  const forms = OPTIONS[name]?.forms ?? [];
  return name === 'date' ? isDateForm(value) : forms.length === 0 || forms.includes(value);
}

const KEYS = ['version', 'fixed', 'columns'];
const MAP_VERSION = 1;

/** A column map, absent where it has an error, and its issues. */
type ColumnMapReading = { readonly map?: ColumnMap; readonly issues: readonly Issue[] };

/**
 * Parses a column map from the text of a TOML file. Where it has any fault there is no `map`, only
 * errors, with the line of a fault of TOML, or the column that a fault concerns.
 * @param file its name for the issues; nothing is read
 */
export function parseColumnMap(file: string, text: string): ColumnMapReading {
  const toml = tryParseToml(text);
  if (toml.kind === 'fault') {
    const message = msg`The file is not valid TOML: ${toml.message}. Put column names and texts in quotation marks, and each setting on its own line.`;
    return { issues: [makeErrorIssue('map-toml', message, { file, line: toml.line })] };
  }
  const issues: Issue[] = [];
  const report: ReportMapIssue = (rule, message, column) =>
    void issues.push(makeErrorIssue(rule, message, { file, column }));
  const { version, columns = {}, fixed = {} } = toml.table;
  for (const key of Object.keys(toml.table).filter((name) => !KEYS.includes(name)))
    report('map-key', makeUnknownKeyMessage(key, KEYS));
  if (version !== MAP_VERSION) report('map-version', makeFormMessage(`version = ${MAP_VERSION}`));
  for (const [section, value] of Object.entries({ columns, fixed }))
    if (!isPlainObject(value)) report('map-key', makeFormMessage(`[${section}]`));
  const map: ColumnMap = {
    file,
    columns: isPlainObject(columns) ? parseColumnRules(columns, report) : new Map(),
    fixed: isPlainObject(fixed) ? parseFixed(fixed, report) : [],
  };
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

function parseColumnRules(
  columns: Record<string, unknown>,
  report: ReportMapIssue,
): Map<string, ColumnRule> {
  const rules = new Map<string, ColumnRule>();
  const forms = new Set<string>();
  for (const [key, value] of Object.entries(columns)) {
    if (forms.has(makeTextKey(key))) report('map-column-twice', makeGivenTwiceMessage(key), key);
    forms.add(makeTextKey(key));
    const { element: named, ...options } = isPlainObject(value) ? value : { element: value };
    const element = typeof named === 'string' ? findColumnByName(named) : undefined;
    if (named === 'ignore') rules.set(key, IGNORED_COLUMN);
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
  { values, ...options }: Record<string, unknown>,
  report: (rule: string, message: Message) => void,
): ElementRule {
  const read: Record<string, string> = {};
  const known = Object.keys(OPTIONS).filter((name) => OPTIONS[name]?.of.includes(element));
  for (const [name, value] of Object.entries(options)) {
    if (!known.includes(name))
      report('map-option', makeUnknownKeyMessage(name, ['element', 'values', ...known]));
    else if (isOptionValue(name, value)) read[name] = value;
    else {
      const forms = (OPTIONS[name]?.forms ?? []).map((form) => `"${form}"`);
      const example = joinMessages([`${name} =`, joinWithOr(forms) || '"…"'], ' ');
      report(name === 'date' ? 'map-date' : 'map-option', makeFormMessage(example));
    }
  }
  const replacements = Object.entries(isPlainObject(values) ? values : {}).map(
    ([ownText, meant]) => [ownText, formatTomlValue(meant)] as const,
  );
  if (values === undefined) return { element, ...read };
  if (!isPlainObject(values) || replacements.some(([, meant]) => meant === undefined))
    report('map-values', makeFormMessage('values = { "a" = "ano" }'));
  return { element, ...read, values: Object.fromEntries(replacements) as ElementRule['values'] };
}

function parseFixed(fixed: Record<string, unknown>, report: ReportMapIssue): Setting[] {
  const settings: Setting[] = [];
  for (const [key, value] of Object.entries(fixed)) {
    const name = findColumnByName(key);
    const text = formatTomlValue(value)?.trim();
    if (name === undefined) report('map-element', explainUnknownElement(key), key);
    else if ([...IDENTIFYING_COLUMNS, 'photos'].includes(name))
      report('map-fixed', makeNotSharedMessage(name), key);
    else if (text === undefined || text === '')
      report('map-fixed', makeFormMessage(`${key} = "…"`), key);
    else settings.push({ name, givenName: key, value: text });
  }
  for (const { name } of listRepeatedSettings(settings))
    report('map-element-twice', makeGivenTwiceMessage(name), name);
  return settings;
}

/** Comments above the lines of a column map, for the person who edits it. */
type MapRemarks = {
  readonly table: string;
  /** By the key of the column. */
  readonly columns: ReadonlyMap<string, readonly Message[]>;
  /** Elements that still need a value for all finds. */
  readonly undecided: readonly string[];
};

/**
 * Formats a column map as TOML with comments, for a person to edit. {@link parseColumnMap} reads
 * the same map from it, unless a unit is still to be chosen.
 */
export function formatColumnMap(map: ColumnMap, { table, columns, undecided }: MapRemarks): string {
  const lines = [
    formatComment(
      msg`How pas reads the columns of ${table}: ${cmd`pas import`} FILE --map THIS-FILE`,
    ),
    formatComment(
      msg`Made by ${cmd`pas import --wizard`}. Correct what is wrong; pas ignores lines that start with #.`,
    ),
    `version = ${MAP_VERSION}`,
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
  const { element = 'ignore', values, ...rest } = rule;
  const parts = Object.entries(rest).flatMap(([name, text]) =>
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

/**
 * Parses a column map from the bytes of its file as {@link parseColumnMap} does, and checks its
 * values for all finds. There is no `map` where there is any issue.
 * @throws FileError where the bytes are empty or not UTF-8
 */
export function parseCheckedColumnMap(
  file: string,
  bytes: Buffer,
  lookupTerm: LookupTerm,
): ColumnMapReading {
  const { map, issues } = parseColumnMap(file, decodeUtf8(file, bytes));
  if (map === undefined) return { issues };
  const wrong = checkFixedValues(map.fixed, lookupTerm).map((issue) => issue.with({ file }));
  return wrong.length === 0 ? { map, issues } : { issues: wrong };
}
