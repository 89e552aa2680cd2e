import { createRowParser, isNumber, isText } from '../../base/disk/database.ts';
import {
  compareCzech,
  compareTexts,
  computeEditDistance,
  foldForSearch,
  splitTrigrams,
  splitWords,
} from '../../base/names.ts';
import { listOtherWordings } from './suggest.ts';
import type { Term, Vocabulary } from './term.ts';
import { findTermByTypedIdent, findTermsByRowId } from './terms.ts';

export type SearchOptions = {
  /** A set, or a family of sets such as `heslo`. */
  readonly setSpec?: string;
  readonly limit: number;
};

export type SearchHit = {
  readonly term: Term;
  /** 1 is the name itself. */
  readonly score: number;
};

/** Closeness of vocabulary words to a typed one, by their ids; 1 is the same word. */
type WordMatches = ReadonlyMap<number, number>;

const MAX_PREFIXED = 200;
const MAX_SIMILAR = 300;
/** Limit of the terms that are scored in full. */
const MAX_RANKED = 300;
/** Hits below this score, or below half of the best, are dropped. */
const MIN_SCORE = 0.2;

/** Factor for a term that has a synonym of the typed word. */
const TRUST_OF_OTHER_WORDS = 0.95;

/**
 * Searches terms, best first; ignores accents and case, and accepts prefixes, typing errors and
 * domain synonyms.
 */
export function searchTerms(
  vocabulary: Vocabulary,
  typed: string,
  options: SearchOptions,
): SearchHit[] {
  const exact = findTermByTypedIdent(vocabulary, typed);
  if (exact !== undefined) return [{ term: exact, score: 1 }];
  const otherHits = listOtherWordings(typed)
    .flatMap((wording) => searchWords(vocabulary, wording, options))
    .map(({ term, score }) => ({ term, score: TRUST_OF_OTHER_WORDS * score }));
  const hits = [...searchWords(vocabulary, typed, options), ...otherHits];
  const best = new Map(
    hits.sort((a, b) => a.score - b.score).map((hit) => [hit.term.ident, hit] as const),
  );
  return takeBest([...best.values()], options.limit);
}

function takeBest(hits: readonly SearchHit[], limit: number): SearchHit[] {
  const least = Math.max(MIN_SCORE, ...hits.map(({ score }) => score / 2));
  return hits
    .filter(({ score }) => score >= least)
    .sort(
      (a, b) =>
        b.score - a.score ||
        compareCzech(a.term.label, b.term.label) ||
        compareTexts(a.term.ident, b.term.ident),
    )
    .slice(0, limit);
}

function searchWords(vocabulary: Vocabulary, typed: string, options: SearchOptions): SearchHit[] {
  const query = foldForSearch(typed);
  const words = [...new Set(splitWords(query))];
  const matches = words.map((word) => findMatches(vocabulary, word));
  const shared = new Map(
    findHolders(vocabulary, matches, options.setSpec).map((holder) => [holder.id, holder.shared]),
  );
  return [...findTermsByRowId(vocabulary, [...shared.keys()])].map(([id, term]) => ({
    term,
    score: scoreTerm(term, shared.get(id) ?? 0, query, words.length),
  }));
}

/**
 * Returns words that equal the typed one, begin with it, contain it, or are within the allowed
 * errors.
 */
function findMatches(vocabulary: Vocabulary, typed: string): WordMatches {
  const matches = new Map<number, number>();
  const take = (id: number, closeness: number): void => {
    if (closeness > (matches.get(id) ?? 0)) matches.set(id, closeness);
  };
  const begun = vocabulary
    .sql('select id, text from words where text >= :from and text < :to order by text limit :limit')
    .all({ from: typed, to: `${typed}\u{10ffff}`, limit: MAX_PREFIXED });
  for (const { id, text } of begun.map(parseWord))
    take(id, text === typed ? 1 : 0.75 + (0.15 * typed.length) / text.length);
  const limit = getAllowedErrors(typed);
  for (const { id, text } of findSimilarWords(vocabulary, typed, MAX_SIMILAR)) {
    const errors = computeEditDistance(typed, text, limit);
    if (errors <= limit) take(id, 0.8 - (0.25 * errors) / limit - errors / (4 * typed.length));
    else if (typed.length > 3 && text.includes(typed)) take(id, 0.6);
  }
  return matches;
}

const parseWord = createRowParser({ id: isNumber, text: isText });
type StoredWord = ReturnType<typeof parseWord>;

/**
 * Returns the `most` words of all sources that share the most grams with the typed one, most first;
 * of equals, the one stored last. Each gram has a list of its words.
 */
export function findSimilarWords(
  vocabulary: Vocabulary,
  typed: string,
  most: number,
): StoredWord[] {
  const grams = splitTrigrams(typed).map((gram) => `"${gram}"`);
  // Texts are read only of the words in the result.
  return vocabulary
    .sql(
      `select words.id, words.text from (
         select word_grams.rowid as id, count(*) as shared
         from json_each(:grams) as wanted cross join word_grams on word_grams match wanted.value
         group by word_grams.rowid order by shared desc, word_grams.rowid desc limit :most
       ) as alike cross join words on words.id = alike.id order by alike.shared desc, alike.id desc`,
    )
    .all({ grams: JSON.stringify(grams), most })
    .map(parseWord);
}

/** A single wrong letter turns a short word into another. */
function getAllowedErrors(word: string): number {
  if (word.length < 4) return word.length < 3 ? 0 : 1;
  return word.length < 8 ? 2 : 3;
}

const parseHolder = createRowParser({ id: isNumber, shared: isNumber });

/**
 * Returns the terms that share most with the typed words: the mean of the closest word for each. A
 * word of the label counts fully, one of another name or of the description less.
 */
function findHolders(
  vocabulary: Vocabulary,
  matches: readonly WordMatches[],
  setSpec: string | undefined,
): ReturnType<typeof parseHolder>[] {
  const words = matches.flatMap((list, typed) => [...list].map((match) => [typed, ...match]));
  return vocabulary
    .sql(
      `select term as id, sum(best) / :typed as shared from (
         select term_words.term, max(
           (wanted.value ->> 2) * case term_words.weight when 3 then 1 when 2 then 0.85 else 0.35 end
         ) as best
         from json_each(:words) as wanted cross join term_words on term_words.word = wanted.value ->> 1
         cross join terms on terms.id = term_words.term
         where terms.source = :source and terms.gone is null
           and (:set is null or terms.set_spec = :set or terms.set_spec glob :set || ':*')
         group by term_words.term, wanted.value ->> 0
       ) group by term order by shared desc, term limit :most`,
    )
    .all({
      typed: matches.length,
      words: JSON.stringify(words),
      source: vocabulary.source,
      set: setSpec ?? null,
      most: MAX_RANKED,
    })
    .map(parseHolder);
}

/**
 * Scores a term: the share of matched words decides; of equal shares, a name with few further words
 * ranks above a longer one.
 * @param shared see {@link findHolders}
 */
function scoreTerm(
  { label, labelEn, abbreviation }: Term,
  shared: number,
  query: string,
  typedWords: number,
): number {
  const names = [label, labelEn, abbreviation].map((name) => foldForSearch(name ?? ''));
  if (names.includes(query)) return 1;
  const extra = Math.max(0, splitWords(foldForSearch(label)).length - typedWords);
  return (0.9 * shared) / (1 + 0.05 * extra);
}
