import { fold } from '../text/names.ts';
import { getWordRoot, getWordStem } from './czech.ts';
import { ABBREVIATIONS, SYNONYMS } from './domain-synonyms.ts';

/** Parsing of a museum's own term: its words, and the readings of each. */

export type Word = {
  readonly text: string;
  readonly folded: string;
  readonly stem: string;
  readonly root: string;
  /** The word is abbreviated: it ends with a dot. */
  readonly cut: boolean;
};

/** A word of a term itself, or one of those that it stands for; `meaning` has all of these. */
export type Reading = { readonly word: Word; readonly meaning?: string };

export type TermToken = { readonly word: Word; readonly readings: readonly Reading[] };

/** Czech and English words that link others. */
const LINKS = new Set([
  'a',
  'do',
  'ke',
  'na',
  'nebo',
  'o',
  'od',
  'po',
  'pod',
  'pri',
  'pro',
  's',
  'se',
  'u',
  'v',
  've',
  'z',
  'ze',
  'and',
  'for',
  'of',
  'the',
  'with',
]);

/** A longer text is a description, which begins with the object. */
const MAX_LETTERS = 120;

/** Returns the meaningful words of a text, each with its readings. */
export function splitOwnTerm(text: string): TermToken[] {
  return splitIntoWords(text.slice(0, MAX_LETTERS)).map((word) => {
    const readings = listMeanings(word).flatMap((meaning) =>
      splitIntoWords(meaning).map((other): Reading => ({ word: other, meaning })),
    );
    return { word, readings: [{ word }, ...readings] };
  });
}

/** Splits a text into words and drops linking words, unless it has no others. */
export function splitIntoWords(text: string): Word[] {
  const words = (text.match(/[\p{L}\p{N}\p{M}]+\.?/gu) ?? []).map(makeWord);
  const meaningful = words.filter(({ cut, folded }) => cut || !LINKS.has(folded));
  return meaningful.length === 0 ? words : meaningful;
}

function makeWord(written: string): Word {
  const text = written.replace('.', '');
  return {
    text,
    folded: fold(text),
    stem: getWordStem(text),
    root: getWordRoot(text),
    cut: written !== text,
  };
}

function listMeanings({ folded, stem }: Word): string[] {
  const synonym = findMeaningOfStem(stem);
  return [...expandAbbreviation(folded), ...(synonym === undefined ? [] : [synonym])];
}

/** By stem, since a list may have any inflected form. */
function findMeaningOfStem(stem: string): string | undefined {
  alternatives ??= new Map(
    Object.entries(SYNONYMS).map(([word, meaning]) => [getWordStem(word), meaning]),
  );
  return alternatives.get(stem);
}

/** Made on first use, since most commands look up no word. */
let alternatives: ReadonlyMap<string, string> | undefined;

/** Each wording is searched; the words behind these are details. */
const MAX_REPLACED = 3;

/** Returns a typed text with one word each replaced by what it may stand for. */
export function listOtherWordings(typed: string): string[] {
  const folded = fold(typed);
  return splitIntoWords(folded)
    .slice(0, MAX_REPLACED)
    .flatMap((word) => listMeanings(word).map((meaning) => folded.replace(word.text, meaning)));
}

function expandAbbreviation(folded: string): string[] {
  return Object.hasOwn(ABBREVIATIONS, folded) ? (ABBREVIATIONS[folded] ?? '').split('|') : [];
}
