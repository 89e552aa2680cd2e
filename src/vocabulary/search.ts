import { editDistance, fold, gramsOf, wordsOf } from './fold.ts';
import type { Term } from './term.ts';
import { termByIdent, termsById } from './terms.ts';
import type { Vocabulary } from './vocabulary.ts';

export type SearchOptions = {
  /** A set, or a family of them such as `heslo`. */
  readonly setSpec?: string;
  readonly limit: number;
};

export type SearchHit = {
  readonly term: Term;
  /** 1 is the name itself; less the further away. */
  readonly score: number;
};

/** How well a word of the vocabulary stands for a word that was typed. */
type WordMatch = { readonly id: number; readonly closeness: number };

const MOST_PREFIXED = 200;
const MOST_SIMILAR = 60;
const MOST_TERMS_OF_A_WORD = 2000;
/** Of the terms that share the most, this many are looked at in full. */
const MOST_RANKED = 300;

/**
 * Finds terms by what a person types: accents and case do not matter, words may be begun only, and a letter or two may
 * be wrong. Best first.
 */
export function searchTerms(vocabulary: Vocabulary, typed: string, options: SearchOptions): SearchHit[] {
  const exact = termByIdent(vocabulary, typed.trim());
  if (exact !== undefined) return [{ term: exact, score: 1 }];
  const query = fold(typed);
  const words = [...new Set(wordsOf(query))];
  if (words.length === 0) return [];
  const shared = new Map<number, number>();
  for (const word of words) {
    for (const [term, closeness] of termsWith(vocabulary, matchesOf(vocabulary, word), options.setSpec)) {
      shared.set(term, (shared.get(term) ?? 0) + closeness / words.length);
    }
  }
  const best = [...shared].sort(([, a], [, b]) => b - a).slice(0, MOST_RANKED);
  const terms = termsById(
    vocabulary,
    best.map(([id]) => id),
  );
  return best
    .flatMap(([id, closeness]) => {
      const term = terms.get(id);
      return term === undefined ? [] : [{ term, score: scoreOf(term, query, words, closeness) }];
    })
    .sort((a, b) => b.score - a.score || a.term.label.localeCompare(b.term.label, 'cs') || compare(a.term.ident, b.term.ident))
    .slice(0, options.limit);
}

/** Words that are the typed one, begin with it, contain it, or are a typing error away. */
function matchesOf(vocabulary: Vocabulary, typed: string): WordMatch[] {
  const matches = new Map<number, number>();
  const take = (id: number, closeness: number): void => {
    if (closeness > (matches.get(id) ?? 0)) matches.set(id, closeness);
  };
  const begun = vocabulary
    .sql('select id, text from words where text >= :from and text < :to order by text limit :limit')
    .all({ from: typed, to: `${typed}\u{10ffff}`, limit: MOST_PREFIXED }) as { id: number; text: string }[];
  for (const { id, text } of begun) take(id, text === typed ? 1 : 0.75 + (0.15 * typed.length) / text.length);
  const similar = vocabulary
    .sql(
      `select words.id, words.text from (
         select word, count(*) as shared from word_grams where gram in (select value from json_each(:grams))
         group by word order by shared desc limit :limit
       ) join words on words.id = word`,
    )
    .all({ grams: JSON.stringify(gramsOf(typed)), limit: MOST_SIMILAR }) as { id: number; text: string }[];
  const limit = errorsAllowed(typed);
  for (const { id, text } of similar) {
    const errors = editDistance(typed, text, limit);
    if (errors <= limit) take(id, 0.8 - (0.25 * errors) / limit - errors / (4 * typed.length));
    else if (typed.length > 3 && text.includes(typed)) take(id, 0.6);
  }
  return [...matches].map(([id, closeness]) => ({ id, closeness }));
}

/** Short words become other words by a single letter. */
function errorsAllowed(word: string): number {
  if (word.length < 4) return word.length < 3 ? 0 : 1;
  return word.length < 8 ? 2 : 3;
}

/** Terms that hold one of the words, each with the best closeness. Words of a description count for less. */
function termsWith(vocabulary: Vocabulary, words: readonly WordMatch[], setSpec: string | undefined): Map<number, number> {
  const terms = new Map<number, number>();
  const holders = vocabulary
    .sql(
      `select term_words.term, term_words.weight from term_words join terms on terms.id = term_words.term
       where term_words.word = :word and terms.source = :source and terms.gone is null
         and (:set is null or terms.set_spec = :set or terms.set_spec glob :set || ':*')
       limit :limit`,
    )
    .raw();
  for (const { id, closeness } of words) {
    const rows = holders.all({ word: id, source: vocabulary.source, set: setSpec ?? null, limit: MOST_TERMS_OF_A_WORD }) as [
      number,
      number,
    ][];
    for (const [term, weight] of rows) {
      const value = closeness * (WEIGHT[weight] ?? 0);
      if (value > (terms.get(term) ?? 0)) terms.set(term, value);
    }
  }
  return terms;
}

/** By the column `weight`: description, other name, label. */
const WEIGHT: readonly number[] = [0, 0.35, 0.85, 1];

/** The words decide; a name that is little more than what was typed comes before one that merely holds it. */
function scoreOf(term: Term, query: string, words: readonly string[], closeness: number): number {
  const names = [term.label, term.labelEn ?? ''].map(fold).filter((name) => name !== '');
  if (names.includes(query)) return 1;
  const fits = names.map((name) => {
    const extra = Math.max(0, wordsOf(name).length - words.length);
    return (name.startsWith(query) ? 0.1 : 0) - 0.03 * Math.min(extra, 6);
  });
  return Math.min(0.99, Math.max(0, closeness * 0.88 + Math.max(...fits)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
