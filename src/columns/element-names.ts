import { type ColumnName, FIELDS } from '../find/fields.ts';
import { editDistance, foldName } from '../text/names.ts';
import { DEPTH_UNITS, type DepthUnit } from './column-rule.ts';

/**
 * Museums' names of the columns that are no single element; the names of elements are in {@link
 * FIELDS}.
 */
const NAMES: Readonly<Partial<Record<ColumnName, string>>> = {
  local_id:
    'inventarni cislo, inv cislo, inv c, ic, i c, inv, cislo nalezu, c nalezu, nalez cislo, nalez c, cislo, c, poradove cislo, por c, ' +
    'prirustkove cislo, prir c, pr c, cislo sacku, c sacku, sacek, id, id nalezu, kod, oznaceni, signatura, ' +
    'inventory number, inv no, inventory no, catalogue number, catalog no, cat no, accession no, ' +
    'accession number, object id, object number, find id, find no, find number, bag no, number, no, nr, name',
  wkt:
    'wkt, gps, souradnice, souradnice gps, gps souradnice, coordinates, position, geometrie, geometry, point, ' +
    'bod',
  photos:
    'foto, fotografie, fotky, fotka, fotodokumentace, snimek, snimky, obr, obrazek, photo, photos, image, ' +
    'picture',
  ...Object.fromEntries(
    FIELDS.map(({ name, called }) => [name, called ?? name.replaceAll('_', ' ')]),
  ),
};

/** Prefixes of "metr" and "metre". */
const UNIT_PREFIXES: Readonly<Record<string, DepthUnit>> = {
  mili: 'mm',
  milli: 'mm',
  centi: 'cm',
  deci: 'dm',
  '': 'm',
};

/** Returns the unit that a word of a header names: `cm`, `metrech`, `millimetres`. */
export function findUnit(word: string): DepthUnit | undefined {
  const [, prefix] =
    /^(|mili|milli|centi|deci)met(?:r(?:y|u|em|ech|ove)?|(?:er|re)s?)$/.exec(word) ?? [];
  return prefix === undefined ? DEPTH_UNITS.find((unit) => unit === word) : UNIT_PREFIXES[prefix];
}

/** Words before a unit. */
const UNIT_LINKS = new Set(['v', 've', 'in']);

export type NameScore = { readonly score: number; readonly like: string };

/**
 * Scores how well a header names an element: 1 is an exact name; undefined where none is similar.
 */
export function scoreName(header: string, element: ColumnName): NameScore | undefined {
  const words = splitHeader(header);
  if (words.length === 0) return undefined;
  if (foldName(header) === element) return { score: 1, like: element };
  let best: NameScore | undefined;
  for (const name of NAMES[element]?.split(', ') ?? []) {
    const score = scoreWords(words, name.split(' '));
    if (score > (best?.score ?? 0)) best = { score, like: name };
  }
  return best;
}

/** Splits a header into words: `hl. (m)` → `hl`, `inv. č.` → `inv c`. */
function splitHeader(header: string): string[] {
  const all = foldName(header)
    .split('_')
    .filter((word) => word !== '');
  const meaningful = all.filter(
    (word, index) => index === 0 || !(UNIT_LINKS.has(word) || findUnit(word) !== undefined),
  );
  return meaningful.length === 0 ? all : meaningful;
}

/**
 * Scores words; an abbreviation matches the beginning of a word, and surplus words lower the score.
 */
function scoreWords(headerWords: readonly string[], name: readonly string[]): number {
  if (headerWords.join(' ') === name.join(' ')) return 1;
  // A single letter begins too many words.
  const begins =
    headerWords.join('').length > 1 &&
    headerWords.length === name.length &&
    headerWords.every((word, index) => isBeginning(word, name[index] ?? ''));
  if (begins) return 0.85;
  const shared = name.filter((word) => headerWords.includes(word)).length;
  // `datum zápisu` names a date, but not that of the find.
  if (shared === name.length && ((name[0]?.length ?? 0) > 2 || COUNT_WORDS.includes(name[0] ?? '')))
    return Math.max(0.5, 0.85 - 0.15 * (headerWords.length - shared));
  const [first = ''] = headerWords;
  return headerWords.length === 1 && name.length === 1 && isTypingError(first, name[0] ?? '')
    ? 0.75
    : 0;
}

/** Short words that are unambiguous. */
const COUNT_WORDS = ['ks', 'pcs'];

function isBeginning(word: string, whole: string): boolean {
  return word === whole || (word !== '' && whole.startsWith(word));
}

function isTypingError(word: string, name: string): boolean {
  return Math.min(word.length, name.length) >= 5 && editDistance(word, name, 1) <= 1;
}
