import { msgid, ngettext, t } from '../base/language.ts';
import { msg } from '../base/message.ts';
import { compareCzech, editDistance, fold } from '../text/names.ts';
import { compoundParts, type Reading, type TermToken, tokensOf, type Word, wordsOfName } from './own-term.ts';
import type { Term, Vocabulary } from './term.ts';
import { termsOfSet } from './terms.ts';

/** A candidate entry for a museum's own term; `score` is 1 for the entry's own name, `why` lists the evidence. */
export type Suggestion = MatchScore & { readonly term: Term };

/** Returns the entries of one set that fit a term, best first. A person decides which is meant. */
export type Suggest = (own: string, limit: number) => Suggestion[];

const MIN_SCORE = 0.45;

/** Loads the set once, so that many terms can be matched fast. */
export function makeSuggest(vocabulary: Vocabulary, setSpec: string): Suggest {
  const entries = [...termsOfSet(vocabulary, setSpec)].map((term) => ({ term, names: namesOf(term) }));
  const words = wordsOf(entries.flatMap(({ names }) => names));
  return (text, limit) => {
    const own: OwnTerm = { text, letters: lettersOf(text), tokens: tokensOf(text) };
    return entries
      .flatMap(({ term, names }) => {
        const fit = bestFit(own, names, words);
        return fit === undefined || fit.score < MIN_SCORE ? [] : [{ term, ...fit }];
      })
      .sort((a, b) => b.score - a.score || compareCzech(a.term.label, b.term.label))
      .slice(0, limit);
  };
}

function bestFit(own: OwnTerm, names: readonly Name[], words: Words): MatchScore | undefined {
  let best: MatchScore | undefined;
  for (const name of names) {
    const fit = scoreMatch(own, name, words);
    if (fit !== undefined && fit.score > (best?.score ?? 0)) best = fit;
  }
  return best;
}

function namesOf({ label, labelEn, abbreviation }: Term): Name[] {
  const texts: readonly (readonly [string | null, Name['kind']])[] = [
    [label, 'cs'],
    [labelEn, 'en'],
    [abbreviation, 'abbreviation'],
  ];
  return texts.flatMap(([text, kind]) =>
    text === null ? [] : [{ text, kind, letters: lettersOf(text), words: wordsOfName(text) }],
  );
}

/** Removes accents, case, spaces, dots and hyphens. */
function lettersOf(text: string): string {
  return fold(text).replace(/[^\p{L}\p{N}]+/gu, '');
}

function wordsOf(names: readonly Name[]): Words {
  const words = new Map<string, Word>();
  const holders = new Map<string, number>();
  for (const word of names.flatMap((name) => name.words)) {
    words.set(word.folded, word);
    holders.set(word.stem, (holders.get(word.stem) ?? 0) + 1);
  }
  const weightOf = ({ stem }: Word): number => Math.log(1 + names.length / (holders.get(stem) ?? 1));
  const weights = [...words.values()].map(weightOf);
  const known = new Map<string, ReadonlyMap<string, Similarity>>();
  return {
    weightOf,
    meanWeight: weights.reduce((sum, weight) => sum + weight, 0) / Math.max(1, weights.length),
    alike: (own) => {
      const key = `${own.text}${own.cut ? '.' : ''}`;
      const found = known.get(key) ?? likenesses(own, words.values());
      known.set(key, found);
      return found;
    },
  };
}

function likenesses(own: Word, words: Iterable<Word>): Map<string, Similarity> {
  const alike = new Map<string, Similarity>();
  for (const word of words) {
    const like = similarity(own, word);
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
const KIND_WORDS = { cs: msg`Czech label`, en: msg`English label`, abbreviation: msg`abbreviation` } as const;

type OwnTerm = { readonly text: string; readonly letters: string; readonly tokens: readonly TermToken[] };

type Words = {
  /** Rare words distinguish entries; `kultura` and `doba` hardly do. */
  weightOf(entry: Word): number;
  /** Weight of an average word. */
  readonly meanWeight: number;
  /** Similar words of the set, by folded form. */
  alike(own: Word): ReadonlyMap<string, Similarity>;
};

const NOT_QUITE_THE_SAME = 0.99;
/** An entry that is wholly in the term fits better than a term that is wholly in an entry. */
const SHARE_OF_ENTRY = 0.62;
/** Weight of a word that no entry of the set has. */
const WEIGHT_OF_UNKNOWN = 0.25;
/** Factor for a word that was read as another. */
const TRUST: Readonly<Record<Reading['by'], number>> = { itself: 1, abbreviation: 0.97, 'other-word': 0.97, compound: 0.75 };

/** Scores a term; undefined where no word is similar. */
function scoreMatch(own: OwnTerm, name: Name, words: Words): MatchScore | undefined {
  if (own.letters === name.letters) {
    const kind = KIND_WORDS[name.kind];
    return { score: own.text.trim() === name.text ? 1 : NOT_QUITE_THE_SAME, why: [t`the same as its ${kind}`] };
  }
  const matches = name.words.map((entry) => bestMatch(entry, own.tokens, words));
  const found = matches.filter((match) => match !== undefined);
  const whole = mistypedWhole(own, name);
  if (found.length === 0) return whole;
  const left = own.tokens.map((token) => ({ token, closeness: closenessOf(token, name, words) }));
  const ofEntry = share(
    name.words.map((entry, index) => ({ weight: words.weightOf(entry), value: matches[index]?.closeness ?? 0 })),
  );
  const ofTerm = share(left.map(({ token, closeness }) => ({ weight: weightOf(token, words), value: closeness })));
  const score = NOT_QUITE_THE_SAME * (SHARE_OF_ENTRY * ofEntry + (1 - SHARE_OF_ENTRY) * ofTerm);
  if (whole !== undefined && whole.score > score) return whole;
  const leftOver = left
    .filter(({ closeness }) => closeness === 0)
    .map(({ token }) => quoted(token.word.text))
    .join(', ');
  const lacking = name.words
    .filter((_, index) => matches[index] === undefined)
    .map(({ text }) => quoted(text))
    .join(', ');
  return {
    score,
    why: [
      ...explain(found, name),
      ...(lacking === '' ? [] : [t`${lacking} not in the term`]),
      ...(leftOver === '' ? [] : [t`${leftOver} left over`]),
    ],
  };
}

/** Scores the whole text: words joined or separated, or with typing errors across them. */
function mistypedWhole({ letters }: OwnTerm, name: Name): MatchScore | undefined {
  const limit = letters.length < 6 ? 0 : letters.length < 11 ? 1 : 2;
  const errors = editDistance(letters, name.letters, limit);
  if (errors === 0 || errors > limit) return undefined;
  const [difference, kind] = [errorsText(errors), KIND_WORDS[name.kind]];
  return { score: 0.92 - 0.1 * errors, why: [t`${difference} away from its ${kind}`] };
}

type Match = {
  readonly closeness: number;
  readonly token: TermToken;
  readonly own: Word;
  readonly entry: Word;
  readonly readAs: Reading;
  readonly by: Similarity['by'];
};

function bestMatch(entry: Word, tokens: readonly TermToken[], words: Words): Match | undefined {
  let best: Match | undefined;
  for (const token of tokens) {
    for (const readAs of token.readings) {
      for (const own of readAs.words) {
        const like = likenessOf(own, readAs, entry, words);
        const closeness = (like?.closeness ?? 0) * TRUST[readAs.by];
        if (like !== undefined && closeness > (best?.closeness ?? 0))
          best = { closeness, token, own, entry, readAs, by: like.by };
      }
    }
  }
  return best;
}

/** The expansion of an abbreviation was not typed, so it has no typing errors: `zl.` is no `dláto`. */
function likenessOf(own: Word, readAs: Reading, entry: Word, words: Words): Similarity | undefined {
  const like = words.alike(own).get(entry.folded);
  return like?.by === 'typing-error' && readAs.by !== 'itself' ? undefined : like;
}

/** Returns how much of a word of the term the name covers, with the best reading; each of a reading's words counts. */
function closenessOf(token: TermToken, name: Name, words: Words): number {
  const ofReading = (readAs: Reading): number => {
    const best = readAs.words.map((own) =>
      Math.max(0, ...name.words.map((entry) => likenessOf(own, readAs, entry, words)?.closeness ?? 0)),
    );
    return (TRUST[readAs.by] * best.reduce((sum, one) => sum + one, 0)) / Math.max(1, best.length);
  };
  return Math.max(...token.readings.map(ofReading));
}

function weightOf(token: TermToken, words: Words): number {
  const known = token.readings.some((reading) => reading.words.some((word) => words.alike(word).size > 0));
  return token.emphasis * words.meanWeight * (known ? 1 : WEIGHT_OF_UNKNOWN);
}

function share(parts: readonly { readonly weight: number; readonly value: number }[]): number {
  const total = parts.reduce((sum, { weight }) => sum + weight, 0);
  return total === 0 ? 0 : parts.reduce((sum, { weight, value }) => sum + weight * value, 0) / total;
}

function explain(matches: readonly Match[], name: Name): string[] {
  const said = matches.flatMap((match) => [...readingText(match), ...likenessText(match)]);
  const kind = KIND_WORDS[name.kind];
  if (name.kind !== 'cs') said.push(t`its ${kind} is "${name.text}"`);
  return [...new Set(said)];
}

function readingText({ token, readAs: { by, text } }: Match): string[] {
  if (by === 'itself') return [];
  const own = quoted(token.word.cut ? `${token.word.text}.` : token.word.text);
  const said = {
    abbreviation: t`${own} stands for "${text}"`,
    'other-word': t`${own} is another word for "${text}"`,
    compound: t`${own} is read as ${text}`,
  };
  return [said[by]];
}

function likenessText({ own, entry, readAs, by }: Match): string[] {
  // The expansion was explained already; its case ending needs no remark.
  if (readAs.by !== 'itself') return [];
  const said = {
    same: t`"${own.text}" is the same word`,
    form: t`"${own.text}" is a form of "${entry.text}"`,
    related: t`"${own.text}" is related to "${entry.text}"`,
    beginning: t`"${own.text}" and "${entry.text}" begin alike`,
    part: t`"${own.text}" is a part of "${entry.text}"`,
    'typing-error': t`"${own.text}" may be "${entry.text}" mistyped`,
  };
  return [said[by]];
}

function quoted(text: string): string {
  return t`"${text}"`;
}

function errorsText(errors: number): string {
  return errors === 1 ? t`one letter` : ngettext(msgid`${errors} letter`, `${errors} letters`, errors);
}

/** Similarity of a museum's word to a word of the vocabulary. */
type Similarity = {
  /** 1 is the same word. */
  readonly closeness: number;
  readonly by: 'same' | 'form' | 'beginning' | 'related' | 'part' | 'typing-error';
};

/** Similarities below are ignored. */
const MIN_CLOSENESS = 0.5;

const MIN_PREFIX_STEM_CHARACTERS = 4;

/** Returns the best of several kinds of similarity; undefined where there is none. */
function similarity(own: Word, entry: Word): Similarity | undefined {
  if (own.folded === entry.folded) return { closeness: 1, by: 'same' };
  if (own.stem === entry.stem && own.stem.length > 2) return { closeness: 0.96, by: 'form' };
  const best = [begun(own, entry), related(own, entry), part(own, entry), mistyped(own, entry)].reduce((a, b) =>
    (b?.closeness ?? 0) > (a?.closeness ?? 0) ? b : a,
  );
  return best !== undefined && best.closeness >= MIN_CLOSENESS ? best : undefined;
}

/** Compares prefixes: `náram.`; and `laten`, which a longer word continues. */
function begun(own: Word, entry: Word): Similarity | undefined {
  if (own.cut && entry.folded.startsWith(own.folded)) {
    return { closeness: own.folded.length === 1 ? 0.6 : Math.min(0.94, 0.78 + 0.04 * own.folded.length), by: 'beginning' };
  }
  const pairs = [
    [own.stem, entry.stem],
    [own.folded, entry.folded],
    [entry.stem, own.stem],
  ];
  const ratios = pairs.map(([short = '', long = '']) =>
    short.length >= MIN_PREFIX_STEM_CHARACTERS && long.startsWith(short) ? short.length / long.length : 0,
  );
  const ratio = Math.max(...ratios);
  return ratio === 0 ? undefined : { closeness: 0.55 + 0.35 * ratio, by: 'beginning' };
}

/** Compares roots: `kovový` and `kov`, `nádobka` and `nádoba`. */
function related(own: Word, entry: Word): Similarity | undefined {
  if (own.root !== entry.root || own.root.length < 3) return undefined;
  return { closeness: own.root.length === 3 ? 0.74 : 0.86, by: 'related' };
}

/** Compares parts of compounds: `mlat` in `sekeromlat`. */
function part(own: Word, entry: Word): Similarity | undefined {
  const whole = compoundParts(entry).some(
    ([head = '', tail = '']) => own.folded === tail || own.stem === head || own.stem === tail,
  );
  const begun = compoundParts(entry).some(
    ([head = '', tail = '']) =>
      own.stem.length >= MIN_PREFIX_STEM_CHARACTERS && (head.startsWith(own.stem) || tail.startsWith(own.stem)),
  );
  return whole || begun ? { closeness: whole ? 0.78 : 0.7, by: 'part' } : undefined;
}

function mistyped(own: Word, entry: Word): Similarity | undefined {
  const { length } = own.folded;
  const limit = length < 4 ? 0 : length < 7 ? 1 : length < 11 ? 2 : 3;
  if (own.cut || limit === 0) return undefined;
  const errors = editDistance(own.folded, entry.folded, limit);
  if (errors <= limit) return { closeness: 0.92 - 0.08 * errors - (0.4 * errors) / length, by: 'typing-error' };
  // A typing error in an inflected form.
  const stemErrors = own.stem.length < 5 ? 2 : editDistance(own.stem, entry.stem, 1);
  return stemErrors <= 1 ? { closeness: 0.66, by: 'typing-error' } : undefined;
}
