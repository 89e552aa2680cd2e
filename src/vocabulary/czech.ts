import { fold } from './fold.ts';

/**
 * What is left of a Czech word without its endings, so that its forms can be told to be one word. Made for comparing, not
 * for reading: what it returns need be no word at all.
 */

/** A word without its case ending, folded: `nádoby`, `nádobu` and `nádobami` give the same. */
export function stemOf(word: string): string {
  return withoutFleetingE(withoutEnding(fold(longUAsO(word)), CASE_ENDINGS));
}

/**
 * The stem without what makes a diminutive or an adjective of it, and with the consonant that such words end in: `nádobka`
 * and `nádoba`, `kovový` and `kov`, `knižní` and `kniha` give the same.
 */
export function rootOf(word: string): string {
  const root = withoutEnding(stemOf(word), DERIVATIONS);
  const short = root.length > 4 ? root.replace(/e(\p{L})$/u, '$1') : root;
  return short.replace(/ch$/, 's').replace(/h$/, 'z').replace(/k$/, 'c');
}

/** `nůž` has the genitive `nože`. */
function longUAsO(word: string): string {
  return word.toLowerCase().replaceAll('ů', 'o').replaceAll('u\u030a', 'o');
}

const LEAST_STEM = 3;

function withoutEnding(word: string, endings: readonly string[]): string {
  const ending = endings.find((one) => word.endsWith(one) && word.length - one.length >= LEAST_STEM);
  return ending === undefined ? word : word.slice(0, -ending.length);
}

/** Longest first; nouns and adjectives together, since in a list of terms a word alone does not tell which it is. */
const CASE_ENDINGS = [
  ...['atech', 'etem'],
  ...['atum', 'ami', 'emi', 'imi', 'ymi', 'ech', 'ich', 'ych', 'ach', 'eho', 'iho', 'emu', 'imu', 'ove', 'ovi', 'ata', 'aty'],
  ...['om', 'em', 'im', 'ym', 'am', 'ou', 'um', 'ej'],
  ...['a', 'e', 'i', 'o', 'u', 'y'],
];

const DERIVATIONS = [
  ...['ovsk', 'ovit', 'icek', 'ecek', 'ynek', 'inek'],
  ...['ynk', 'ink', 'ick', 'eck', 'ock', 'enn'],
  ...['sk', 'ov', 'en', 'in', 'ik', 'ek', 'ec'],
  ...['k', 'n'],
];

/** `opasek` and `opasku`, `hrnec` and `hrnce`, `lahev` and `lahve`. */
function withoutFleetingE(stem: string): string {
  return stem.length > 4 ? stem.replace(/e([kclnv])$/, '$1') : stem;
}
