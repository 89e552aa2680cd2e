import { joinFileNames } from '../../base/csv.ts';
import { isReadable } from '../../base/issue.ts';
import { foldName } from '../../base/names.ts';
import { type ColumnName, FIELDS, getField } from '../../finds/fields.ts';
import { DEPTH_UNITS, type DepthUnit, parseDateForm, parseDepth } from '../../finds/parse-cell.ts';
import {
  detectNameOrder,
  type NameOrder,
  parsePersonName,
  splitNameByOrder,
} from '../../finds/person-name.ts';

/** Placeholder for a unit that a person must choose; a map that contains it is refused. */
export const OPEN_UNIT = '?';

/** Meaning of a column of a table; undefined for one that is ignored. */
export type ColumnRule = ReadingOptions & { readonly element: ColumnName | undefined };
export type ReadColumn = ReadingOptions & { readonly element: ColumnName };

export const IGNORED: ColumnRule = { element: undefined };

type ReadingOptions = {
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Date form such as `d.m.yyyy`; see finds/parse-cell.ts. */
  readonly date?: string;
  /** A year alone goes into the note, and the date stays empty. */
  readonly yearOnly?: 'note';
  /** Order of names without a comma, where the words do not show it. */
  readonly name?: NameOrder;
  /** A coordinate of S-JTSK that is written without its minus sign. */
  readonly sign?: 'minus';
  /** Both coordinates in one cell, in any usual notation. */
  readonly form?: 'position';
  /** Label before the text where several columns are joined. */
  readonly label?: string;
  /** Separator of names of photographs; `;` by default. */
  readonly separator?: string;
  /** Text in the table → value. */
  readonly values?: Readonly<Record<string, string>>;
};

/**
 * A value under an element's Czech or English name: `--set period=bronz`, a line of config.toml, an
 * answer.
 */
export type Setting = {
  readonly name: ColumnName;
  readonly givenName: string;
  readonly value: string;
};

/** A person's description of the columns of a foreign table, from a file. */
export type ColumnMap = {
  readonly file: string;
  /** Rules by key of the column; see {@link makeColumnKeys}. */
  readonly columns: ReadonlyMap<string, ColumnRule>;
  /** Values for every find whose own cell is empty. */
  readonly fixed: readonly Setting[];
  /** Template of a composed local id, such as `{rok}/{č.}`. */
  readonly localId?: string;
};

/** Elements that may be joined from several columns, whose parts may have a label. */
export const LABELLED: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace'];

/** Columns that may be joined from several. */
export const JOINED: readonly ColumnName[] = [...LABELLED, 'photos'];

/** Columns that name a find, and so differ for each. */
export const OF_ONE_FIND: readonly ColumnName[] = ['local_id', 'ident_cely'];

/** Columns with the number of a find: its own, the service's and the museum's. */
export const NUMBER_COLUMNS: readonly ColumnName[] = [...OF_ONE_FIND, 'evidencni_cislo'];

/** Column in the template of a local id. */
export const TEMPLATE_PART = /\{([^{}]+)\}/g;

/** Returns the columns of a composed local id. */
export function listTemplateColumns(template: string): string[] {
  return [...template.matchAll(TEMPLATE_PART)].map(([, key = '']) => key);
}

/**
 * Returns the keys of columns in a map: the header; `name #2` for the second of a name; `#5` for
 * the fifth without one.
 */
export function makeColumnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(normalizeColumnKey(key)) ?? 0) + 1;
    seen.set(normalizeColumnKey(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/** Normalises a key: case and white space do not count. */
export function normalizeColumnKey(key: string): string {
  return key.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/**
 * Converts a cell to the form that pas reads: centimetres, YYYY-MM-DD, surname first and others. A
 * cell that does not have the form of the rule stays unchanged, so that the report quotes the
 * museum's text.
 */
export function applyColumnRule(cell: string, rule: ColumnRule): string {
  const text = replaceText(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.unit !== undefined) return addUnit(text, rule.unit);
  if (rule.date !== undefined) return parseDateForm(text, rule.date) ?? text;
  if (rule.name !== undefined) return reorderName(text, rule.name);
  if (rule.sign === 'minus') return withMinus(text);
  return rule.separator === undefined
    ? text
    : joinFileNames(text.split(rule.separator).map((name) => name.trim()));
}

function replaceText(text: string, values: ReadColumn['values']): string {
  if (values === undefined) return text;
  const key = normalizeColumnKey(text);
  const replacement = Object.entries(values).find(([from]) => normalizeColumnKey(from) === key);
  return replacement === undefined ? text : replacement[1];
}

/** Adds the unit of the column to a depth without one of its own. */
function addUnit(text: string, unit: DepthUnit | typeof OPEN_UNIT): string {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(text) ? `${text} ${unit}` : text;
}

/** Tells if a text is a depth that gives whole centimetres: with its own unit, else in `unit`. */
export function isWholeDepth(text: string, unit: DepthUnit): boolean {
  return isReadable(parseDepth(addUnit(text, unit)));
}

/**
 * Converts a name of ambiguous order to `Surname, Given name`; any other text is left to the
 * reader.
 */
function reorderName(text: string, order: NameOrder): string {
  const { parts, suffix = '' } = parsePersonName(text);
  const [name = ''] = parts;
  const read =
    parts.length > 1 || detectNameOrder(name) !== undefined
      ? undefined
      : splitNameByOrder(name, order);
  return read === undefined ? text : `${read.surname}, ${read.givenName} ${suffix}`.trim();
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0
    ? `-${text}`
    : text;
}

/** Names that a register of a museum gives to the number of a find, or to its own number. */
const MUSEUM_NUMBERS =
  'inventarni cislo, inv cislo, inv c, ic, i c, inv, prirustkove cislo, prir c, pr c, signatura, ' +
  'inventory number, inv no, inventory no, catalogue number, catalog no, cat no, accession no, ' +
  'accession number';

/** Names of a find's number where the table has no column with a name of its own for it. */
const COMMON_NUMBERS = splitList(
  'cislo, c, poradove cislo, por c, id, kod, oznaceni, number, no, nr, name',
);

/** Names of the columns that are no element; those of elements are in {@link FIELDS}. */
const OWN_NAMES = {
  local_id:
    'cislo nalezu, c nalezu, nalez cislo, nalez c, id nalezu, terenni cislo, ter c, polni cislo, ' +
    'cislo sacku, c sacku, sacek, object id, object number, find id, find no, find number, bag no, bag',
  ident_cely: '',
  photos:
    'foto, fotografie, fotky, fotka, fotodokumentace, snimek, snimky, obr, obrazek, photo, ' +
    'photos, image, picture',
  wkt:
    'gps, souradnice, souradnice gps, gps souradnice, coordinates, position, geometrie, geometry, ' +
    'point, bod',
  lon: '',
  lat: '',
  geom_x: '',
  geom_y: '',
} as const;

/** Normalised names of each column, in the order in which one column may mean several. */
const NAMES: ReadonlyMap<ColumnName, readonly string[]> = new Map<ColumnName, string[]>([
  ...(Object.entries(OWN_NAMES) as [ColumnName, string][]).map(
    ([name, names]) => [name, splitList(names)] as const,
  ),
  ...FIELDS.map(({ name, called = '' }) => [name, splitList(called)] as const),
  [
    'evidencni_cislo',
    [...splitList(getField('evidencni_cislo').called ?? ''), ...splitList(MUSEUM_NUMBERS)],
  ],
]);

export const NAMED_COLUMNS: readonly ColumnName[] = [...NAMES.keys()];

function splitList(names: string): string[] {
  return names === '' ? [] : names.split(', ');
}

/** Prefixes of "metr" and "metre". */
const UNIT_PREFIXES: Readonly<Record<string, DepthUnit>> = {
  mili: 'mm',
  milli: 'mm',
  centi: 'cm',
  deci: 'dm',
  '': 'm',
};

/**
 * Finds the unit of length that a header names behind its first word: `hl. (cm)`,
 * `hloubka v metrech`. Undefined where it names none.
 */
export function findUnitOfHeader(header: string): DepthUnit | undefined {
  return foldName(header)
    .split('_')
    .slice(1)
    .map(findUnit)
    .find((unit) => unit !== undefined);
}

function findUnit(word: string): DepthUnit | undefined {
  const [, prefix] =
    /^(|mili|milli|centi|deci)met(?:r(?:y|u|em|ech|ove)?|(?:er|re)s?)$/.exec(word) ?? [];
  return prefix === undefined ? DEPTH_UNITS.find((unit) => unit === word) : UNIT_PREFIXES[prefix];
}

/** Words before a unit. */
const UNIT_LINKS: readonly string[] = ['v', 've', 'in'];

/** `like`: an abbreviation of a name, a name with more words, or a name of many things. */
export type NameMatch = 'exact' | 'like';

/**
 * Finds what a header may name, in Czech or English, full or abbreviated; empty where it names
 * nothing known. Where it is exactly a name, likenesses to others do not count, except that
 * common words for a number may also be `local_id`.
 */
export function findColumnsOfHeader(header: string): ReadonlyMap<ColumnName, NameMatch> {
  const words = splitHeader(header);
  const name = words.join(' ');
  const all = [...NAMES];
  const exact = all.filter(
    ([column, names]) => foldName(header) === column || names.includes(name),
  );
  const like = all.filter(([, names]) => names.some((each) => isNamedSo(words, each)));
  const matches = new Map<ColumnName, NameMatch>(
    exact.length > 0
      ? exact.map(([column]) => [column, 'exact'])
      : like.map(([column]) => [column, 'like']),
  );
  const isOfMuseum = splitList(MUSEUM_NUMBERS).some((each) => isNamedSo(words, each));
  if (!matches.has('local_id') && (isOfMuseum || COMMON_NUMBERS.includes(name)))
    matches.set('local_id', 'like');
  return matches;
}

/** Splits a header into words without remarks in brackets and units: `hl. (m)` → `hl`. */
function splitHeader(header: string): string[] {
  const plain = foldName(header.replace(/\([^()]*\)|\[[^[\]]*\]/g, ' '));
  const words = (plain === '' ? foldName(header) : plain).split('_').filter((word) => word !== '');
  return words.filter(
    (word, index) => index === 0 || !(UNIT_LINKS.includes(word) || findUnit(word) !== undefined),
  );
}

/** Short words that are unambiguous within a longer header. */
const COUNT_WORDS: readonly string[] = ['ks', 'pcs'];

/** Tells if words are a name, its abbreviation, or a name with one more word for each of its own. */
function isNamedSo(words: readonly string[], name: string): boolean {
  const parts = name.split(' ');
  const [first = ''] = parts;
  const more = words.length - parts.length;
  const isAbbreviated =
    words.join('').length > 1 && words.every((word, index) => parts[index]?.startsWith(word));
  const isLonger =
    more <= Math.min(2, parts.length) &&
    parts.every((part) => words.includes(part)) &&
    (first.length > 2 || parts.length > 1 || COUNT_WORDS.includes(first));
  return more === 0 ? isAbbreviated : isLonger;
}
