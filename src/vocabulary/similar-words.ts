import { createRowParser, isNumber, isText } from '../store/database.ts';
import { splitTrigrams } from '../text/names.ts';
import type { Vocabulary } from './term.ts';

export const parseWord = createRowParser({ id: isNumber, text: isText });
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
