import { type Message, msg } from './message.ts';

/**
 * Folds a name to letters without accents, lower case, words joined by `_`: "Datum nálezu" becomes
 * "datum_nalezu".
 */
export function foldName(text: string): string {
  return splitWords(foldForSearch(text)).join('_');
}

/** Returns the folded words of a person's name: `Ľubomír  d'Este` becomes `lubomir`, `deste`. */
export function splitNameWords(text: string): string[] {
  return splitWords(foldForSearch(text.replace(/['’ʼ`]/g, '')));
}

/** Returns the key of a person's name, independent of case, accents, punctuation and word order. */
export function makePersonKey(text: string): string {
  return splitNameWords(text).sort().join(' ');
}

/**
 * Tells if a name with abbreviated words may stand for a full one: `P. Kučera` for `Kučera, Pavel`.
 * A word is abbreviated where it is one letter, or ends with a dot. False without an abbreviated
 * word and without a whole one; the full name may have further words.
 */
export function canAbbreviate(short: string, full: string): boolean {
  const words = short
    .replace(/\.(?=\p{L})/gu, '. ')
    .split(/[\s,]+/)
    .flatMap((word) =>
      splitNameWords(word).map((text) => ({
        text,
        isCut: text.length === 1 || word.endsWith('.'),
      })),
    );
  const remaining = splitNameWords(full);
  const take = (fits: (word: string) => boolean): boolean => {
    const index = remaining.findIndex(fits);
    if (index !== -1) remaining.splice(index, 1);
    return index !== -1;
  };
  const cut = words.filter(({ isCut }) => isCut);
  const whole = words.filter(({ isCut }) => !isCut);
  return (
    cut.length > 0 &&
    whole.length > 0 &&
    whole.every(({ text }) => take((word) => word === text)) &&
    cut.every(({ text }) => take((word) => word.startsWith(text)))
  );
}

/** Tells by its extension if a file is a picture, including types that the service refuses. */
export function isPictureName(name: string): boolean {
  return /\.(?:jpe?g|png|tiff?|heic|heif|webp)$/i.test(name);
}

/**
 * Returns at most three known names, best first, whose edit distance from `name` is at most a third
 * of its length, or 1 for a short name. Letter case counts.
 */
export function findNearestNames(name: string, names: readonly string[]): string[] {
  const allowed = Math.max(1, Math.floor(name.length / 3));
  return names
    .map((candidate) => ({ candidate, distance: computeEditDistance(name, candidate, allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}

/**
 * Returns the optimal string alignment distance (letters changed, added, left out, or swapped with
 * their neighbour), or `limit + 1` when it is larger than `limit`.
 */
export function computeEditDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    let least = i;
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let cost = Math.min(
        (last[j] ?? 0) + 1,
        (row[j - 1] ?? 0) + 1,
        (last[j - 1] ?? 0) + (same ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    if (least > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return Math.min(last[b.length] ?? 0, limit + 1);
}

/**
 * Compares by Czech collation, for lists that people read: `Čapek` behind `Cyril`, `ch` behind `h`,
 * `K-2` before `K-10`.
 */
export function compareCzech(one: string, other: string): number {
  compare ??= new Intl.Collator('cs', { numeric: true }).compare;
  return compare(one, other);
}

/** Compares by UTF-16 code units, for identifiers: the order does not depend on a language. */
export function compareTexts(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}

/** Created on first use, since that takes longer than sorting a short list. */
let compare: Intl.Collator['compare'] | undefined;

/** Joins names as in `a or b or c`; '' for none. */
export function joinWithOr(names: readonly Message[]): Message {
  return names.length === 0 ? '' : names.reduce((all, name) => msg`${all} or ${name}`);
}

/** Joins names as in `a and b and c`; '' for none. */
export function joinWithAnd(names: readonly Message[]): Message {
  return names.length === 0 ? '' : names.reduce((all, name) => msg`${all} and ${name}`);
}

/**
 * Normalises a text for comparison: no accents, lower case, single blanks, trimmed. `SPÓNA ` and
 * `spona` fold to the same. Punctuation stays.
 */
export function foldForSearch(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/ł/g, 'l')
    .replace(/ß/g, 'ss')
    .replace(/\s+/g, ' ')
    .trim();
}

/** Splits a folded text into words: runs of letters and digits. */
export function splitWords(folded: string): string[] {
  return folded.match(/[\p{L}\p{N}]+/gu) ?? [];
}

/**
 * Marks the edges of a word, `dub` as `^^dub$`, so that its first and last letters occur in as many
 * trigrams as the others, or nearly so.
 */
export function markWordEdges(word: string): string {
  return `^^${word}$`;
}

/**
 * Returns the different trigrams of a word with its edges marked: `^^d`, `^du`, `dub` and `ub$` of
 * `dub`.
 * @param word folded as the words of the index; see {@link foldForSearch}
 */
export function splitTrigrams(word: string): string[] {
  const letters = [...markWordEdges(word)];
  return [
    ...new Set(
      letters.slice(2).map((letter, index) => `${letters[index]}${letters[index + 1]}${letter}`),
    ),
  ];
}

/**
 * Returns the set that is most similar to the typed text, by the part behind the colon, or the
 * whole of a name without one; undefined where none is similar. The text may be in any letter case.
 */
export function findNearestSet(sets: readonly string[], typed: string): string | undefined {
  const getOwnPart = (set: string): string => set.slice(set.indexOf(':') + 1);
  const byOwnPart = new Map(sets.map((set) => [getOwnPart(set), set]));
  const [nearest] = findNearestNames(getOwnPart(typed).toLowerCase(), [...byOwnPart.keys()]);
  return nearest === undefined ? undefined : byOwnPart.get(nearest);
}
