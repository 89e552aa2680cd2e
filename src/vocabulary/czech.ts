import { fold } from '../text/names.ts';

/** Stems of Czech words, which make inflected forms comparable. The result need not be a word. */

/** Removes the case ending and folds: `nádoby`, `nádobu` and `nádobami` give the same. */
export function getWordStem(word: string): string {
  return withoutFleetingE(withoutEnding(fold(shortenLongU(word)), CASE_ENDINGS));
}

/**
 * Removes also the suffixes of diminutives and adjectives and unifies the final consonant:
 * `nádobka` and `nádoba`, `kovový` and `kov`, `knižní` and `kniha` give the same.
 */
export function getWordRoot(word: string): string {
  const root = withoutEnding(getWordStem(word), DERIVATIONS);
  const short = root.length > 4 ? root.replace(/e(\p{L})$/u, '$1') : root;
  return short.replace(/ch$/, 's').replace(/h$/, 'z').replace(/k$/, 'c');
}

/** `nůž` has the genitive `nože`. */
function shortenLongU(word: string): string {
  return word.toLowerCase().replaceAll('ů', 'o').replaceAll('u\u030a', 'o');
}

const MIN_STEM_CHARACTERS = 3;

function withoutEnding(word: string, endings: readonly string[]): string {
  const ending = endings.find(
    (one) => word.endsWith(one) && word.length - one.length >= MIN_STEM_CHARACTERS,
  );
  return ending === undefined ? word : word.slice(0, -ending.length);
}

/** Longest first; nouns and adjectives together, since an isolated word does not show its class. */
const CASE_ENDINGS = [
  'atech',
  'etem',
  'atum',
  'ami',
  'emi',
  'imi',
  'ymi',
  'ech',
  'ich',
  'ych',
  'ach',
  'eho',
  'iho',
  'emu',
  'imu',
  'ove',
  'ovi',
  'ata',
  'aty',
  'om',
  'em',
  'im',
  'ym',
  'am',
  'ou',
  'um',
  'ej',
  'a',
  'e',
  'i',
  'o',
  'u',
  'y',
];

const DERIVATIONS = [
  'ovsk',
  'ovit',
  'icek',
  'ecek',
  'ynek',
  'inek',
  'ynk',
  'ink',
  'ick',
  'eck',
  'ock',
  'enn',
  'sk',
  'ov',
  'en',
  'in',
  'ik',
  'ek',
  'ec',
  'k',
  'n',
];

/** Removes a fleeting e: `opasek` and `opasku`, `hrnec` and `hrnce`, `lahev` and `lahve`. */
function withoutFleetingE(stem: string): string {
  return stem.length > 4 ? stem.replace(/e([kclnv])$/, '$1') : stem;
}
