import { msgid, ngettext, t } from '../base/language.ts';
import { msg } from '../base/message.ts';
import { compareCzech, editDistance, fold } from '../text/names.ts';
import {
  type Reading,
  splitCompound,
  splitNameIntoWords,
  splitOwnTerm,
  type TermToken,
  type Word,
} from './own-term.ts';
import type { Term, Vocabulary } from './term.ts';
import { iterateTermsOfSet } from './terms.ts';

/**
 * A candidate entry for a museum's own term; `score` is 1 for the entry's own name, `why` lists the
 * evidence.
 */
export type Suggestion = MatchScore & { readonly term: Term };

/** Returns the entries of one set that fit a term, best first. A person decides which is meant. */
export type Suggest = (ownTerm: string, limit: number) => Suggestion[];

const MIN_SCORE = 0.45;

/** Loads the set once, so that many terms can be matched fast. */
export function makeSuggest(vocabulary: Vocabulary, setSpec: string): Suggest {
  const entries = [...iterateTermsOfSet(vocabulary, setSpec)].map((term) => ({
    term,
    names: listNames(term),
  }));
  const words = collectWords(entries.flatMap(({ names }) => names));
  return (text, limit) => {
    const ownTerm: OwnTerm = { text, letters: reduceToLetters(text), tokens: splitOwnTerm(text) };
    return entries
      .flatMap(({ term, names }) => {
        const fit = findBestFit(ownTerm, names, words);
        return fit === undefined || fit.score < MIN_SCORE ? [] : [{ term, ...fit }];
      })
      .sort((a, b) => b.score - a.score || compareCzech(a.term.label, b.term.label))
      .slice(0, limit);
  };
}

function findBestFit(
  ownTerm: OwnTerm,
  names: readonly Name[],
  words: Words,
): MatchScore | undefined {
  let best: MatchScore | undefined;
  for (const name of names) {
    const fit = scoreMatch(ownTerm, name, words);
    if (fit !== undefined && fit.score > (best?.score ?? 0)) best = fit;
  }
  return best;
}

function listNames({ label, labelEn, abbreviation }: Term): Name[] {
  const texts: readonly (readonly [string | null, Name['kind']])[] = [
    [label, 'cs'],
    [labelEn, 'en'],
    [abbreviation, 'abbreviation'],
  ];
  return texts.flatMap(([text, kind]) =>
    text === null
      ? []
      : [{ text, kind, letters: reduceToLetters(text), words: splitNameIntoWords(text) }],
  );
}

/** Removes accents, case, spaces, dots and hyphens. */
function reduceToLetters(text: string): string {
  return fold(text).replace(/[^\p{L}\p{N}]+/gu, '');
}

function collectWords(names: readonly Name[]): Words {
  const words = new Map<string, Word>();
  const holders = new Map<string, number>();
  for (const word of names.flatMap((name) => name.words)) {
    words.set(word.folded, word);
    holders.set(word.stem, (holders.get(word.stem) ?? 0) + 1);
  }
  const getWeight = ({ stem }: Word): number =>
    Math.log(1 + names.length / (holders.get(stem) ?? 1));
  const weights = [...words.values()].map(getWeight);
  const similaritiesByWord = new Map<string, ReadonlyMap<string, Similarity>>();
  return {
    getWeight,
    meanWeight: weights.reduce((sum, weight) => sum + weight, 0) / Math.max(1, weights.length),
    findAlike: (ownWord) => {
      const key = `${ownWord.text}${ownWord.cut ? '.' : ''}`;
      const similarities = similaritiesByWord.get(key) ?? compareWithWords(ownWord, words.values());
      similaritiesByWord.set(key, similarities);
      return similarities;
    },
  };
}

function compareWithWords(ownWord: Word, words: Iterable<Word>): Map<string, Similarity> {
  const alike = new Map<string, Similarity>();
  for (const word of words) {
    const like = measureSimilarity(ownWord, word);
    if (like !== undefined) alike.set(word.folded, like);
  }
  return alike;
}

/** Score of a museum's own term against one name of an entry. */
type MatchScore = { readonly score: number; readonly why: readonly string[] };

type Name = {
  readonly text: string;
  readonly kind: keyof typeof KIND_WORDS;
  /** Letters and digits only, folded. */
  readonly letters: string;
  readonly words: readonly Word[];
};

/** Kinds of an entry's names, for people. */
const KIND_WORDS = {
  cs: msg`Czech label`,
  en: msg`English label`,
  abbreviation: msg`abbreviation`,
} as const;

type OwnTerm = {
  readonly text: string;
  readonly letters: string;
  readonly tokens: readonly TermToken[];
};

type Words = {
  /** Rare words distinguish entries; `kultura` and `doba` hardly do. */
  getWeight(entry: Word): number;
  /** Weight of an average word. */
  readonly meanWeight: number;
  /** Similar words of the set, by folded form. */
  findAlike(ownWord: Word): ReadonlyMap<string, Similarity>;
};

const NOT_QUITE_THE_SAME = 0.99;
/** An entry that is wholly in the term fits better than a term that is wholly in an entry. */
const SHARE_OF_ENTRY = 0.62;
/** Weight of a word that no entry of the set has. */
const WEIGHT_OF_UNKNOWN = 0.25;
/** Factor for a word that was read as another. */
const TRUST: Readonly<Record<Reading['by'], number>> = {
  itself: 1,
  abbreviation: 0.97,
  'other-word': 0.97,
  compound: 0.75,
};

/** Scores a term; undefined where no word is similar. */
function scoreMatch(ownTerm: OwnTerm, name: Name, words: Words): MatchScore | undefined {
  if (ownTerm.letters === name.letters) {
    const kind = KIND_WORDS[name.kind];
    return {
      score: ownTerm.text.trim() === name.text ? 1 : NOT_QUITE_THE_SAME,
      why: [t`the same as its ${kind}`],
    };
  }
  const matches = name.words.map((entry) => findBestMatch(entry, ownTerm.tokens, words));
  const wordMatches = matches.filter((match) => match !== undefined);
  const whole = scoreMistypedWhole(ownTerm, name);
  if (wordMatches.length === 0) return whole;
  const remaining = ownTerm.tokens.map((token) => ({
    token,
    closeness: getCloseness(token, name, words),
  }));
  const ofEntry = computeShare(
    name.words.map((entry, index) => ({
      weight: words.getWeight(entry),
      value: matches[index]?.closeness ?? 0,
    })),
  );
  const ofTerm = computeShare(
    remaining.map(({ token, closeness }) => ({
      weight: getTokenWeight(token, words),
      value: closeness,
    })),
  );
  const score = NOT_QUITE_THE_SAME * (SHARE_OF_ENTRY * ofEntry + (1 - SHARE_OF_ENTRY) * ofTerm);
  if (whole !== undefined && whole.score > score) return whole;
  const leftOver = remaining
    .filter(({ closeness }) => closeness === 0)
    .map(({ token }) => quoteWord(token.word.text))
    .join(', ');
  const lacking = name.words
    .filter((_, index) => matches[index] === undefined)
    .map(({ text }) => quoteWord(text))
    .join(', ');
  return {
    score,
    why: [
      ...explain(wordMatches, name),
      ...(lacking === '' ? [] : [t`${lacking} not in the term`]),
      ...(leftOver === '' ? [] : [t`${leftOver} left over`]),
    ],
  };
}

/** Scores the whole text: words joined or separated, or with typing errors across them. */
function scoreMistypedWhole({ letters }: OwnTerm, name: Name): MatchScore | undefined {
  const limit = [6, 11].filter((length) => letters.length >= length).length;
  const errors = editDistance(letters, name.letters, limit);
  if (errors === 0 || errors > limit) return undefined;
  const difference = formatErrors(errors);
  const kind = KIND_WORDS[name.kind];
  return { score: 0.92 - 0.1 * errors, why: [t`${difference} away from its ${kind}`] };
}

type Match = {
  readonly closeness: number;
  readonly token: TermToken;
  readonly ownWord: Word;
  readonly entry: Word;
  readonly readAs: Reading;
  readonly by: Similarity['by'];
};

function findBestMatch(entry: Word, tokens: readonly TermToken[], words: Words): Match | undefined {
  let best: Match | undefined;
  for (const token of tokens) {
    for (const readAs of token.readings) {
      for (const ownWord of readAs.words) {
        const like = compareWords(ownWord, readAs, entry, words);
        const closeness = (like?.closeness ?? 0) * TRUST[readAs.by];
        if (like !== undefined && closeness > (best?.closeness ?? 0))
          best = { closeness, token, ownWord, entry, readAs, by: like.by };
      }
    }
  }
  return best;
}

/**
 * The expansion of an abbreviation was not typed, so it has no typing errors: `zl.` is no `dláto`.
 */
function compareWords(
  ownWord: Word,
  readAs: Reading,
  entry: Word,
  words: Words,
): Similarity | undefined {
  const like = words.findAlike(ownWord).get(entry.folded);
  return like?.by === 'typing-error' && readAs.by !== 'itself' ? undefined : like;
}

/**
 * Returns how much of a word of the term the name covers, with the best reading; each of a
 * reading's words counts.
 */
function getCloseness(token: TermToken, name: Name, words: Words): number {
  const measureReading = (readAs: Reading): number => {
    const best = readAs.words.map((ownWord) =>
      Math.max(
        0,
        ...name.words.map((entry) => compareWords(ownWord, readAs, entry, words)?.closeness ?? 0),
      ),
    );
    return (TRUST[readAs.by] * best.reduce((sum, one) => sum + one, 0)) / Math.max(1, best.length);
  };
  return Math.max(...token.readings.map(measureReading));
}

function getTokenWeight(token: TermToken, words: Words): number {
  const isKnown = token.readings.some((reading) =>
    reading.words.some((word) => words.findAlike(word).size > 0),
  );
  return token.emphasis * words.meanWeight * (isKnown ? 1 : WEIGHT_OF_UNKNOWN);
}

function computeShare(
  parts: readonly { readonly weight: number; readonly value: number }[],
): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return total === 0
    ? 0
    : parts.reduce((sum, { weight, value }) => sum + weight * value, 0) / total;
}

function explain(matches: readonly Match[], name: Name): string[] {
  const parts = matches.flatMap((match) => [...explainReading(match), ...explainLikeness(match)]);
  const kind = KIND_WORDS[name.kind];
  if (name.kind !== 'cs') parts.push(t`its ${kind} is "${name.text}"`);
  return [...new Set(parts)];
}

function explainReading({ token, readAs: { by, text } }: Match): string[] {
  if (by === 'itself') return [];
  const ownText = quoteWord(token.word.cut ? `${token.word.text}.` : token.word.text);
  const texts = {
    abbreviation: t`${ownText} stands for "${text}"`,
    'other-word': t`${ownText} is another word for "${text}"`,
    compound: t`${ownText} is read as ${text}`,
  };
  return [texts[by]];
}

function explainLikeness({ ownWord, entry, readAs, by }: Match): string[] {
  // The expansion was explained already; its case ending needs no remark.
  if (readAs.by !== 'itself') return [];
  const texts = {
    same: t`"${ownWord.text}" is the same word`,
    related: t`"${ownWord.text}" is related to "${entry.text}"`,
    'typing-error': t`"${ownWord.text}" may be "${entry.text}" mistyped`,
  };
  return [texts[by]];
}

function quoteWord(text: string): string {
  return t`"${text}"`;
}

function formatErrors(errors: number): string {
  return errors === 1
    ? t`one letter`
    : ngettext(msgid`${errors} letter`, `${errors} letters`, errors);
}

/** Similarity of a museum's word to a word of the vocabulary. */
type Similarity = {
  /** 1 is the same word. */
  readonly closeness: number;
  readonly by: 'same' | 'related' | 'typing-error';
};

/** Similarities below are ignored. */
const MIN_CLOSENESS = 0.5;

const MIN_PREFIX_STEM_CHARACTERS = 4;

/** Returns the best of several kinds of similarity; undefined where there is none. */
function measureSimilarity(ownWord: Word, entry: Word): Similarity | undefined {
  if (ownWord.folded === entry.folded) return { closeness: 1, by: 'same' };
  if (ownWord.stem === entry.stem && ownWord.stem.length > 2)
    return { closeness: 0.96, by: 'related' };
  const best = [
    compareBeginnings(ownWord, entry),
    compareRoots(ownWord, entry),
    compareParts(ownWord, entry),
    compareMistyped(ownWord, entry),
  ].reduce((a, b) => ((b?.closeness ?? 0) > (a?.closeness ?? 0) ? b : a));
  return best !== undefined && best.closeness >= MIN_CLOSENESS ? best : undefined;
}

/** Compares prefixes: `náram.`; and `laten`, which a longer word continues. */
function compareBeginnings(ownWord: Word, entry: Word): Similarity | undefined {
  if (ownWord.cut && entry.folded.startsWith(ownWord.folded)) {
    return {
      closeness:
        ownWord.folded.length === 1 ? 0.6 : Math.min(0.94, 0.78 + 0.04 * ownWord.folded.length),
      by: 'related',
    };
  }
  const pairs = [
    [ownWord.stem, entry.stem],
    [ownWord.folded, entry.folded],
    [entry.stem, ownWord.stem],
  ];
  const ratios = pairs.map(([short = '', long = '']) =>
    short.length >= MIN_PREFIX_STEM_CHARACTERS && long.startsWith(short)
      ? short.length / long.length
      : 0,
  );
  const ratio = Math.max(...ratios);
  return ratio === 0 ? undefined : { closeness: 0.55 + 0.35 * ratio, by: 'related' };
}

/** Compares roots: `kovový` and `kov`, `nádobka` and `nádoba`. */
function compareRoots(ownWord: Word, entry: Word): Similarity | undefined {
  if (ownWord.root !== entry.root || ownWord.root.length < 3) return undefined;
  return { closeness: ownWord.root.length === 3 ? 0.74 : 0.86, by: 'related' };
}

/** Compares parts of compounds: `mlat` in `sekeromlat`. */
function compareParts(ownWord: Word, entry: Word): Similarity | undefined {
  const whole = splitCompound(entry).some(
    ([head = '', tail = '']) =>
      ownWord.folded === tail || ownWord.stem === head || ownWord.stem === tail,
  );
  const begun = splitCompound(entry).some(
    ([head = '', tail = '']) =>
      ownWord.stem.length >= MIN_PREFIX_STEM_CHARACTERS &&
      (head.startsWith(ownWord.stem) || tail.startsWith(ownWord.stem)),
  );
  return whole || begun ? { closeness: whole ? 0.78 : 0.7, by: 'related' } : undefined;
}

function compareMistyped(ownWord: Word, entry: Word): Similarity | undefined {
  const { length } = ownWord.folded;
  const limit = [4, 7, 11].filter((from) => length >= from).length;
  if (ownWord.cut || limit === 0) return undefined;
  const errors = editDistance(ownWord.folded, entry.folded, limit);
  if (errors <= limit)
    return { closeness: 0.92 - 0.08 * errors - (0.4 * errors) / length, by: 'typing-error' };
  // A typing error in an inflected form.
  const stemErrors = ownWord.stem.length < 5 ? 2 : editDistance(ownWord.stem, entry.stem, 1);
  return stemErrors <= 1 ? { closeness: 0.66, by: 'typing-error' } : undefined;
}
