import { compareCzech, fold } from '../text/names.ts';
import { type MatchScore, type Name, type OwnTerm, type Similarity, scoreMatch, similarity, type Words } from './match-score.ts';
import { tokensOf, type Word, wordsOfName } from './own-term.ts';
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
