import { type Message, msg } from './message.ts';

/**
 * Folds a name to words of lower-case letters and digits without accents, joined by `_`: "Datum
 * nálezu" becomes "datum_nalezu".
 */
export function foldName(text: string): string {
  return splitWords(foldForSearch(text)).join('_');
}

/**
 * Splits a person's name into words without accents, apostrophes and capitals: `Ľubomír  d'Este`
 * into `lubomir` and `deste`.
 */
export function splitNameWords(text: string): string[] {
  return splitWords(foldForSearch(text.replace(/['’ʼ`]/g, '')));
}

/**
 * Makes the key of a person's name, which is the same in any case, word order and punctuation, and
 * without accents.
 */
export function makePersonKey(text: string): string {
  return splitNameWords(text).sort().join(' ');
}

/**
 * Tells if a person's name with abbreviated words may stand for a full one: `P. Kučera` for
 * `Kučera, Pavel`. A word is abbreviated if it is one letter or ends with a dot. `short` must have
 * such a word and a whole one; `full` may have further words.
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
  /** Takes the first remaining word that fits; false where none does. */
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

/** Tells by a file's extension if it is a picture, also of a type that the service refuses. */
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
 * Returns the optimal string alignment distance of two texts (characters changed, added, left out,
 * or swapped with their neighbour), or `limit + 1` where that is larger than `limit`.
 */
export function computeEditDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  // A row has, for a beginning of `a`, the distance from each beginning of `b`.
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
      // The last two characters are swapped.
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
      least = Math.min(least, cost);
    }
    // No later row has a smaller distance.
    if (least > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return Math.min(last[b.length] ?? 0, limit + 1);
}

/**
 * Compares two texts by Czech collation, to sort lists that people read: `Čapek` behind `Cyril`,
 * `ch` behind `h`, `K-2` before `K-10`.
 */
export function compareCzech(one: string, other: string): number {
  compare ??= new Intl.Collator('cs', { numeric: true }).compare;
  return compare(one, other);
}

/**
 * Compares two texts by UTF-16 code units, to sort identifiers in the same order in any language.
 */
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
 * Marks the edges of a word, `dub` as `^^dub$`, so that its first letter occurs in as many trigrams
 * as those in its middle, and its last one in nearly as many.
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
  const trigrams = letters
    .slice(2)
    .map((letter, index) => `${letters[index]}${letters[index + 1]}${letter}`);
  return [...new Set(trigrams)];
}

/**
 * Returns the harvesting set whose name is most similar to a typed one, of which only the part
 * behind the first colon is compared; undefined where none is similar ({@link findNearestNames}).
 * The typed name may be in any letter case.
 */
export function findNearestSet(sets: readonly string[], typed: string): string | undefined {
  const getOwnPart = (set: string): string => set.slice(set.indexOf(':') + 1);
  const byOwnPart = new Map(sets.map((set) => [getOwnPart(set), set]));
  const [nearest] = findNearestNames(getOwnPart(typed).toLowerCase(), [...byOwnPart.keys()]);
  return nearest === undefined ? undefined : byOwnPart.get(nearest);
}
