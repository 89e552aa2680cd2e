import { isReadable } from '../../base/issue.ts';
import { foldName } from '../../base/names.ts';
import { type ElementName, FIELDS, getField } from '../../finds/fields.ts';
import { type DepthUnit, parseDateInForm, parseDepth } from '../../finds/parse-cell.ts';

/** Columns that fill no element alone. */
const OWN_COLUMNS = [
  'local_id',
  'photos',
  'lon',
  'lat',
  'geom_x',
  'geom_y',
  'wkt',
  'ident_cely',
] as const;

/**
 * Canonical name of a table column: an element, `local_id`, `photos`, `ident_cely`, or one of the
 * columns that only hold a point (`lon`, `lat`, `geom_x`, `geom_y`, `wkt`).
 */
export type ColumnName = ElementName | (typeof OWN_COLUMNS)[number];

/** Names that GIS programs and devices give to columns of the point. */
const CALLED_POINT: Readonly<Record<string, ColumnName>> = {
  geometry: 'wkt',
  geom: 'wkt',
  the_geom: 'wkt',
  wkt_geom: 'wkt',
  longitude: 'lon',
  lng: 'lon',
  latitude: 'lat',
};

const meanings = new Map<string, ColumnName>([
  ...OWN_COLUMNS.map((name) => [name, name] as const),
  ...Object.entries(CALLED_POINT),
  ...FIELDS.flatMap(({ name, alias = name }) => [[name, name] as const, [alias, name] as const]),
]);

/** Every name by which {@link findColumnByName} finds a column, folded. */
export const COLUMN_NAMES: readonly string[] = [...meanings.keys()];

/**
 * Finds a column by its name in any letter case, with or without accents: the canonical name, the
 * English alias of an element, or a name that GIS programs give to a point, such as `geometry`.
 * Undefined for any other name.
 */
export function findColumnByName(name: string): ColumnName | undefined {
  return meanings.get(foldName(name));
}

/** Columns with coordinates. */
export const POINT_COLUMNS: readonly ColumnName[] = [
  'lon',
  'lat',
  'geom_x',
  'geom_y',
  'wkt',
  'geom_wkt',
  'geom_sjtsk_wkt',
];

/** Tells if a column is one of {@link POINT_COLUMNS}; `geom_system` is not. */
export function isPointColumn(name: string): boolean {
  return POINT_COLUMNS.some((column) => column === name);
}

const STORED_COLUMNS = new Set([
  ...POINT_COLUMNS,
  ...FIELDS.filter(({ kind }) => !['text', 'reference', 'term'].includes(kind)).map(
    ({ name }) => name,
  ),
]);

/**
 * Tells if the stored value of a cell in this column is read, not its displayed text: numbers,
 * states, days, truth values, points and their systems.
 */
export function isStoredValueRead(name: ColumnName): boolean {
  return STORED_COLUMNS.has(name);
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

/** Columns of a table that a header may mean, in the order in which one may mean several. */
export const NAMED_COLUMNS: readonly ColumnName[] = [...NAMES.keys()];

function splitList(names: string): string[] {
  return names === '' ? [] : names.split(', ');
}

/** Units of length in a header, also by their names in Czech and English in any form. */
const UNITS: readonly (readonly [DepthUnit, RegExp])[] = [
  ['mm', /^(?:mm|mill?imet.*)$/],
  ['cm', /^(?:cm|centimet.*)$/],
  ['dm', /^(?:dm|decimet.*)$/],
  ['m', /^(?:m|met(?:r|er).*)$/],
];

/**
 * Finds the unit of length that a header names after its first word, as in `hl. (cm)` or
 * `hloubka v metrech`; undefined where it names none.
 */
export function findUnitOfHeader(header: string): DepthUnit | undefined {
  return foldName(header)
    .split('_')
    .slice(1)
    .map(findUnit)
    .find((unit) => unit !== undefined);
}

function findUnit(word: string): DepthUnit | undefined {
  return UNITS.find(([, pattern]) => pattern.test(word))?.[0];
}

/** Words before a unit. */
const UNIT_LINKS: readonly string[] = ['v', 've', 'in'];

/** `like`: an abbreviation of a name, a name with more words, or a name of many things. */
export type NameMatch = 'exact' | 'like';

/**
 * Finds the columns of pas that a header may name, in Czech or English, in full or abbreviated;
 * empty where it names none. If it is exactly a name of some, those that it only resembles do not
 * count. A header that only says that it is a number, or that it is a museum's number, may also
 * mean `local_id`.
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

/**
 * Tells if words are a name, its abbreviation, or a name with as many more words as it has, at most
 * two; a short name of one word allows none, except {@link COUNT_WORDS}.
 */
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

/** Placeholder for a unit that a person must choose; a map that contains it is refused. */
export const OPEN_UNIT = '?';

/**
 * How a column of a table is read: the element that it fills, undefined for one that is ignored.
 */
export type ColumnRule = ReadingOptions & { readonly element: ColumnName | undefined };
/** How a column is read that fills an element. */
export type ElementRule = ReadingOptions & { readonly element: ColumnName };

/** Rule of a column that is not read; a column map says `ignore`. */
export const IGNORED_COLUMN: ColumnRule = { element: undefined };

type ReadingOptions = {
  readonly unit?: DepthUnit | typeof OPEN_UNIT;
  /** Date form such as `d.m.yyyy`; see finds/parse-cell.ts. */
  readonly date?: string;
  /** A year alone goes into the note, and the date stays empty. */
  readonly year_only?: 'note';
  /** A coordinate of S-JTSK that is written without its minus sign. */
  readonly sign?: 'minus';
  /** Both coordinates in one cell, in any usual notation. */
  readonly form?: 'position';
  /** Label before the text where several columns are joined. */
  readonly label?: string;
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
};

/** Elements that may be joined from several columns, whose parts may have a label. */
export const LABELLED_COLUMNS: readonly ColumnName[] = ['lokalizace', 'poznamka', 'presna_datace'];

/** Columns that may be joined from several. */
export const JOINABLE_COLUMNS: readonly ColumnName[] = [...LABELLED_COLUMNS, 'photos'];

/** Columns that name a find, and so differ for each. */
export const IDENTIFYING_COLUMNS: readonly ColumnName[] = ['local_id', 'ident_cely'];

/** Columns with the number of a find: its own, the service's and the museum's. */
export const NUMBER_COLUMNS: readonly ColumnName[] = [...IDENTIFYING_COLUMNS, 'evidencni_cislo'];

/**
 * Returns the keys by which a column map names the columns of a table: the header of a column,
 * `header #2` for the second column of a header, `#5` for the fifth column if it has none.
 */
export function makeColumnKeys(header: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return header.map((name, index) => {
    const key = name.trim() === '' ? `#${index + 1}` : name.trim();
    const count = (seen.get(makeTextKey(key)) ?? 0) + 1;
    seen.set(makeTextKey(key), count);
    return count === 1 ? key : `${key} #${count}`;
  });
}

/**
 * Returns the key by which a museum's texts are compared, such as headers and own terms: letter
 * case, the amount of white space and the composition of accents do not count, accents do.
 */
export function makeTextKey(text: string): string {
  return text.normalize('NFC').trim().replace(/\s+/g, ' ').toLowerCase();
}

/**
 * Converts the text of a cell to a form that pas reads: first by the rule's replacements, then by
 * its unit (`35` → `35 cm`), its date form (→ YYYY-MM-DD) or its sign (`35` → `-35`). A text that
 * does not fit the rule is only trimmed, so that an issue quotes the museum's text; '' stays ''.
 */
export function applyColumnRule(cell: string, rule: ColumnRule): string {
  const text = replaceText(cell.trim(), rule.values);
  if (text === '') return '';
  if (rule.unit !== undefined) return addUnit(text, rule.unit);
  if (rule.date !== undefined) return parseDateInForm(text, rule.date) ?? text;
  return rule.sign === 'minus' ? withMinus(text) : text;
}

function replaceText(text: string, values: ElementRule['values']): string {
  if (values === undefined) return text;
  const key = makeTextKey(text);
  const replacement = Object.entries(values).find(([from]) => makeTextKey(from) === key);
  return replacement?.[1] ?? text;
}

/** Adds the unit of the column to a depth without one of its own. */
function addUnit(text: string, unit: DepthUnit | typeof OPEN_UNIT): string {
  return /^[+-]?\d+(?:[.,]\d+)?$/.test(text) ? `${text} ${unit}` : text;
}

/** Tells if a text is a depth in whole centimetres: by the unit in the text, else by `unit`. */
export function isWholeDepth(text: string, unit: DepthUnit): boolean {
  return isReadable(parseDepth(addUnit(text, unit)));
}

function withMinus(text: string): string {
  return /^\d/.test(text) && Number.parseFloat(text.replace(/\s/g, '').replace(',', '.')) !== 0
    ? `-${text}`
    : text;
}
