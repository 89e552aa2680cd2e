import { editDistance } from './edit-distance.ts';

/** Folds a name to letters without accents, lower case, words joined by `_`: "Datum nálezu" becomes "datum_nalezu". */
export function foldName(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

/** Returns the folded words of a person's name: `Ľubomír  d'Este` becomes `lubomir`, `deste`. */
export function nameWords(text: string): string[] {
  const folded = foldName(text.normalize('NFKC').replace(/['’ʼ`]/g, ''))
    .replaceAll('ł', 'l')
    .replaceAll('ß', 'ss');
  return folded === '' ? [] : folded.split('_');
}

/** Returns the key of a person's name, independent of case, accents, punctuation and word order. */
export function nameKey(text: string): string {
  return nameWords(text).sort().join(' ');
}

/**
 * Tells if a name with abbreviated words may stand for a full one: `P. Kučera` for `Kučera, Pavel`. A word is abbreviated where
 * it is one letter, or ends with a dot.
 */
export function canAbbreviate(short: string, full: string): boolean {
  const words = short
    .replace(/\.(?=\p{L})/gu, '. ')
    .split(/[\s,]+/)
    .flatMap((word) => nameWords(word).map((text) => ({ text, isCut: text.length === 1 || word.endsWith('.') })));
  const left = nameWords(full);
  const take = (fits: (word: string) => boolean): boolean => {
    const index = left.findIndex(fits);
    if (index !== -1) left.splice(index, 1);
    return index !== -1;
  };
  const [cut, whole] = [words.filter(({ isCut }) => isCut), words.filter(({ isCut }) => !isCut)];
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

/** Returns at most three known names within a small edit distance of `name`, best first. */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const allowed = Math.max(1, Math.floor(name.length / 3));
  return known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate, allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
