import { foldName } from '../../base/names.ts';
import { FIELDS, getField } from '../../finds/fields.ts';
import type { DepthUnit } from '../../finds/parse-cell.ts';
import type { ColumnName } from './column-names.ts';

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
