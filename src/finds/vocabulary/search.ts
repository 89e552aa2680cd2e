import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addToGroup, once } from '../../base/collections.ts';
import { createRowParser, isNumber, isText } from '../../base/disk/database.ts';
import {
  compareCzech,
  compareTexts,
  computeEditDistance,
  foldForSearch,
  splitTrigrams,
  splitWords,
} from '../../base/names.ts';
import { packageRoot } from '../../base/own-files.ts';
import type { Term, Vocabulary } from './term.ts';
import { findTermByTypedIdent, findTermsByRowId } from './terms.ts';

/** Bounds of a search. */
export type SearchOptions = {
  /** A set, or a family of sets such as `heslo`; absent: all. */
  readonly setSpec?: string;
  /** Maximum number of hits. */
  readonly limit: number;
};

/** A found term, and how near it is to the typed text. */
export type SearchHit = {
  readonly term: Term;
  /** From 0 to 1, which is the name itself. */
  readonly score: number;
};

/** Closeness of vocabulary words to a typed one, by their ids; 1 is the same word. */
type WordMatches = ReadonlyMap<number, number>;

const MAX_PREFIXED = 200;
/** A shorter word begins too many others. */
const MIN_BEGINNING = 4;
const MAX_WORD = 40;
const MAX_SIMILAR = 300;
/** Limit of the terms that are scored in full. */
const MAX_RANKED = 300;
/** Hits below this score, or below half of the best, are dropped. */
const MIN_SCORE = 0.2;

/** Factor for a term that has a synonym of the typed word. */
const TRUST_OF_OTHER_WORDS = 0.95;

/**
 * Searches present terms by their names, abbreviations and descriptions. Returns the best hits,
 * best first, each term once; empty where nothing is near enough. Accents and case do not count;
 * beginnings, inflected forms, typing errors and synonyms of the domain are accepted. A typed
 * identifier gives that term alone, of any set, also one that is gone.
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
  // The map keeps the last hit of each term, which has the highest score.
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
 * Returns words that equal the typed one, begin with it or with its stem, are its beginning,
 * contain it, or are within the allowed errors.
 */
function findMatches(vocabulary: Vocabulary, typed: string): WordMatches {
  const matches = new Map<number, number>();
  const take = (id: number, closeness: number): void => {
    if (closeness > (matches.get(id) ?? 0)) matches.set(id, closeness);
  };
  for (const { id, text } of listWordsFrom(vocabulary, typed))
    take(id, text === typed ? 1 : 0.75 + (0.15 * typed.length) / text.length);
  const stem = getStem(typed);
  if (stem !== typed)
    for (const { id, text } of listWordsFrom(vocabulary, stem))
      take(id, getStem(text) === stem ? 0.88 : 0.5 + (0.3 * stem.length) / text.length);
  for (const { id, text } of listBeginningsOf(vocabulary, typed))
    take(id, (0.6 * text.length) / typed.length);
  const limit = getAllowedErrors(typed);
  for (const { id, text } of findSimilarWords(vocabulary, typed, MAX_SIMILAR)) {
    const errors = computeEditDistance(typed, text, limit);
    if (errors <= limit) take(id, 0.8 - (0.25 * errors) / limit - errors / (4 * typed.length));
    else if (typed.length > 3 && text.includes(typed)) take(id, 0.6);
  }
  return matches;
}

function listWordsFrom({ sql }: Vocabulary, begin: string): StoredWord[] {
  return sql(
    'select id, text from words where text >= :from and text < :to order by text limit :limit',
  )
    .all({ from: begin, to: `${begin}\u{10ffff}`, limit: MAX_PREFIXED })
    .map(parseWord);
}

/** Returns words such as `kost` for `kosteny`. */
function listBeginningsOf({ sql }: Vocabulary, typed: string): StoredWord[] {
  const beginnings = Array.from({ length: Math.min(typed.length, MAX_WORD) }, (_, length) =>
    typed.slice(0, length),
  ).slice(MIN_BEGINNING);
  return sql('select id, text from words where text in (select value from json_each(?))')
    .all(JSON.stringify(beginnings))
    .map(parseWord);
}

const parseWord = createRowParser({ id: isNumber, text: isText });
type StoredWord = ReturnType<typeof parseWord>;

/**
 * Returns vocabulary words of all sources, at most `most`, that share trigrams (groups of three
 * letters) with the typed one: those that share most first, of equals the one that was stored last.
 * @param typed a folded word
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

/** Removes the case ending and a fleeting e of a folded word: `hrnec`, `hrnce` and `hrncem`. */
function getStem(word: string): string {
  const stem = word.replace(CASE_ENDING, '');
  return stem.length > MIN_BEGINNING ? stem.replace(/e([kclnv])$/, '$1') : stem;
}

/**
 * The longest ending that leaves three letters; of nouns and adjectives together, since an isolated
 * word does not show its class.
 */
const CASE_ENDING =
  /(?<=.{3})(?:atech|etem|atum|[aeiy]mi|[eiya]ch|[ei]ho|emu|imu|ov[ei]|at[ay]|[oeiya]m|ou|um|ej|[aeiouy])$/;

/** Each wording is searched; the words behind these are details. */
const MAX_REPLACED = 3;

/**
 * Returns a typed text with one word at a time replaced by what it may stand for; empty where no
 * word has another meaning. Only the first {@link MAX_REPLACED} words are replaced.
 */
function listOtherWordings(typed: string): string[] {
  const folded = foldForSearch(typed);
  const meanings = getMeaningsByStem();
  return splitWords(folded)
    .slice(0, MAX_REPLACED)
    .flatMap((word) =>
      (meanings.get(getStem(word)) ?? []).map((meaning) => folded.replace(word, meaning)),
    );
}

/**
 * Domain synonyms in other-words.json, by what they mean (names are separated by `|`):
 * abbreviations of Czech archaeology, symbols of chemical elements, and words of museums. They are
 * folded and have no dot. The set decides between several meanings of a word (`stř.` is a sherd
 * among objects, silver among materials).
 */
type OtherWords = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** A text may have any inflected form of a word. */
const getMeaningsByStem = once((): ReadonlyMap<string, readonly string[]> => {
  const file = join(packageRoot, 'schemas', 'vocabulary', 'other-words.json');
  const subjects = JSON.parse(readFileSync(file, 'utf8')) as OtherWords;
  const meanings = new Map<string, string[]>();
  for (const [names, words] of Object.values(subjects).flatMap((each) => Object.entries(each)))
    for (const word of words.split(' '))
      for (const name of names.split('|')) addToGroup(meanings, getStem(word), name);
  return meanings;
});
