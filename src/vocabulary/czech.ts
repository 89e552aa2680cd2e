import { fold } from './fold.ts';

/**
 * What is left of a Czech word without its endings, so that its forms can be told to be one word. Made for comparing, not
 * for reading: what it returns need be no word at all.
 */

/** A word without its case ending, folded: `nádoby`, `nádobu` and `nádobami` give the same. */
export function stemOf(word: string): string {
  return withoutFleetingE(withoutEnding(fold(longUAsO(word)), CASE_ENDINGS));
}

/** The stem without what makes a diminutive or an adjective of it: `kamínek`, `kámen` no, but `kovový` and `kov` give the same. */
export function rootOf(word: string): string {
  return withoutEnding(stemOf(word), DERIVATIONS);
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
  ...['ovsk', 'icek', 'ecek', 'ynek', 'inek', 'ynk', 'ink', 'ick', 'eck', 'ick', 'ock', 'ovit'],
  ...['enn', 'ick', 'sk', 'ov', 'en', 'ik', 'ek', 'ec', 'in', 'k', 'n'],
];

/** `opasek` and `opasku`, `hrnec` and `hrnce`. */
function withoutFleetingE(stem: string): string {
  return stem.length > 4 ? stem.replace(/e([kcln])$/, '$1') : stem;
}
