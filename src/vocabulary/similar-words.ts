import { createRowParser, isNumber, isText, parseValue } from '../store/database.ts';
import { splitTrigrams } from '../text/names.ts';
import type { Vocabulary } from './term.ts';

export const parseWord = createRowParser({ id: isNumber, text: isText });
type StoredWord = ReturnType<typeof parseWord>;

/**
 * Reading a text and computing its grams takes as long as counting about this many words of a list.
 */
const LISTED_PER_READ = 30;

/**
 * Returns the `most` words of all sources that share the most grams with the typed one, most first;
 * of equals, the one stored last. Each gram has a list of its words. Short lists are counted first,
 * and long ones are skipped once only a few words can still be in the result.
 */
export function findSimilarWords(
  vocabulary: Vocabulary,
  typed: string,
  most: number,
): StoredWord[] {
  const lists = listGramLists(vocabulary, typed);
  const lastId = Number(vocabulary.sql('select coalesce(max(id), 0) from words').pluck().get());
  const shared = new Uint16Array(lastId + 1);
  const holders = new Array<number>(lists.length + 1).fill(0);
  let uncounted = lists.reduce((sum, { words }) => sum + words, 0);
  for (const [index, { gram, words }] of lists.entries()) {
    const least = countSharedByLast(holders, most) - (lists.length - index);
    // A word that shares fewer cannot reach the result, whatever the remaining lists contain.
    if (
      least > 0 &&
      holders.slice(least).reduce((sum, one) => sum + one) * LISTED_PER_READ < uncounted
    ) {
      return rankByText(vocabulary, listIdsSharing(shared, least), lists).slice(0, most);
    }
    for (const id of readHolders(vocabulary, gram)) {
      const count = (shared[id] ?? 0) + 1;
      shared[id] = count;
      holders[count] = (holders[count] ?? 0) + 1;
      holders[count - 1] = (holders[count - 1] ?? 0) - 1;
    }
    uncounted -= words;
  }
  const ids = listIdsSharing(shared, Math.max(1, countSharedByLast(holders, most)));
  return readTexts(
    vocabulary,
    ids.sort((a, b) => (shared[b] ?? 0) - (shared[a] ?? 0)).slice(0, most),
  );
}

type GramList = { readonly gram: string; readonly words: number };

/** Shortest first. */
function listGramLists(vocabulary: Vocabulary, typed: string): GramList[] {
  const count = vocabulary.sql('select count(*) from word_grams where word_grams match ?').pluck();
  return splitTrigrams(typed)
    .map((gram) => ({ gram, words: Number(count.get(`"${gram}"`)) }))
    .sort((a, b) => a.words - b.words);
}

/** One JSON text transfers in about half the time of as many rows. */
function readHolders(vocabulary: Vocabulary, gram: string): number[] {
  const list = vocabulary
    .sql('select json_group_array(rowid) from word_grams where word_grams match ?')
    .pluck();
  return JSON.parse(parseValue(isText, list.get(`"${gram}"`)));
}

function readTexts(vocabulary: Vocabulary, ids: readonly number[]): StoredWord[] {
  return vocabulary
    .sql(
      'select words.id, words.text from json_each(?) as wanted cross join words on words.id = wanted.value order by wanted.key',
    )
    .all(JSON.stringify(ids))
    .map(parseWord);
}

function rankByText(
  vocabulary: Vocabulary,
  ids: readonly number[],
  lists: readonly GramList[],
): StoredWord[] {
  const grams = new Set(lists.map(({ gram }) => gram));
  return readTexts(vocabulary, ids)
    .map((word) => ({
      word,
      shared: splitTrigrams(word.text).filter((gram) => grams.has(gram)).length,
    }))
    .sort((a, b) => b.shared - a.shared)
    .map(({ word }) => word);
}

/**
 * Returns how many grams the last of the first `most` words shares; 0 where fewer words share any.
 */
function countSharedByLast(holders: readonly number[], most: number): number {
  let before = 0;
  for (let count = holders.length - 1; count > 0; count--) {
    before += holders[count] ?? 0;
    if (before >= most) return count;
  }
  return 0;
}

/** The word stored last comes first. */
function listIdsSharing(shared: Uint16Array, least: number): number[] {
  const ids: number[] = [];
  for (let id = shared.length - 1; id > 0; id--) if ((shared[id] ?? 0) >= least) ids.push(id);
  return ids;
}
