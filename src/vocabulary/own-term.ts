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

/** One reading of a word; an abbreviation may stand for several words at once. */
export type Reading = {
  readonly words: readonly Word[];
  readonly text: string;
  readonly isItself: boolean;
};

export type TermToken = {
  readonly word: Word;
  readonly readings: readonly Reading[];
  /** Weight: the object itself counts more than details behind a preposition or in brackets. */
  readonly emphasis: number;
};

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

const FIRST_WORD = 1.25;
const DETAIL = 0.5;

/** Returns the meaningful words of a text, each with its weight. */
export function splitOwnTerm(text: string): TermToken[] {
  const tokens: TermToken[] = [];
  let detail = false;
  for (const [part = ''] of text.slice(0, MAX_LETTERS).matchAll(/[([]|[\p{L}\p{N}\p{M}]+\.?/gu)) {
    if (part === '(' || part === '[') {
      detail = true;
      continue;
    }
    const word = makeWord(part.replace(/\.$/, ''), part.endsWith('.'));
    if (isLink(word)) {
      detail = tokens.length > 0;
      continue;
    }
    const first = tokens.length === 0 ? FIRST_WORD : 1;
    tokens.push({
      word,
      readings: listReadings(word),
      emphasis: detail ? DETAIL : first,
    });
  }
  return tokens;
}

/** Splits a name into words and drops linking words, unless it has no others. */
export function splitNameIntoWords(name: string): Word[] {
  const words = (name.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).map((text) => makeWord(text, false));
  const meaningful = words.filter((word) => !isLink(word));
  return meaningful.length === 0 ? words : meaningful;
}

/** Splits compounds with a linking `o`: `sekeromlat` → `seker`, `mlat`. */
export function splitCompound({ folded }: Word): string[][] {
  return [...folded.matchAll(/o/g)]
    .map(({ index }) => [folded.slice(0, index), folded.slice(index + 1)])
    .filter(
      ([head = '', tail = '']) =>
        head.length >= MIN_PART_CHARACTERS && tail.length >= MIN_PART_CHARACTERS,
    );
}

const MIN_PART_CHARACTERS = 4;

function isLink({ folded, cut }: Word): boolean {
  return !cut && LINKS.has(folded);
}

function makeWord(text: string, cut: boolean): Word {
  return { text, folded: fold(text), stem: getWordStem(text), root: getWordRoot(text), cut };
}

function listReadings(word: Word): Reading[] {
  const synonym = findMeaningOfStem(word.stem);
  const meanings = [
    ...expandAbbreviation(word.folded),
    ...(synonym === undefined ? [] : [synonym]),
  ];
  return [
    { words: [word], text: word.text, isItself: true },
    ...meanings.map((text) => ({ words: splitNameIntoWords(text), text, isItself: false })),
    ...splitCompound(word).map(
      (parts): Reading => ({
        words: parts.map((part) => makeWord(part, true)),
        text: parts.join(' + '),
        isItself: false,
      }),
    ),
  ];
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

/** A shorter prefix matches too many words. */
const MIN_PREFIX_CHARACTERS = 4;

/** Returns a typed text with domain synonyms replaced, and with a single abbreviation expanded. */
export function listOtherWordings(typed: string): string[] {
  const folded = fold(typed).replace(/\.$/, '');
  const findMeaning = (word: string): string | undefined =>
    findMeaningOfStem(getWordStem(word)) ??
    (word.length < MIN_PREFIX_CHARACTERS
      ? undefined
      : Object.entries(SYNONYMS).find(([meaning]) => meaning.startsWith(word))?.[1]);
  const replaced = folded.replace(/[\p{L}\p{N}]+/gu, (word) => findMeaning(word) ?? word);
  const wordings = new Set([replaced, ...expandAbbreviation(folded)]);
  wordings.delete(folded);
  return [...wordings];
}

function expandAbbreviation(folded: string): string[] {
  return Object.hasOwn(ABBREVIATIONS, folded) ? (ABBREVIATIONS[folded] ?? '').split('|') : [];
}
