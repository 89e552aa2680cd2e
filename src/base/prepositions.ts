/**
 * Czech prepositions before numbers get a vowel where the spoken number begins with certain consonants: `se 7` (sedmi), `s 8`,
 * `ze 100` (sta), `ve 3` (třech). The catalog has them without the vowel.
 */

/** First digit of the number → first letters of its spoken word. */
const BEGINNINGS: Readonly<Record<number, string>> = { 2: 'dv', 3: 'tř', 4: 'čt', 6: 'š', 7: 's' };
/** First letters before which each preposition gets the vowel: `v sedmi`, but `se sedmi`. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  s: ['dv', 'tř', 'čt', 'š', 's', 'st'],
  z: ['dv', 'tř', 'čt', 'š', 's', 'st'],
  v: ['dv', 'tř', 'čt', 'st'],
  k: ['dv', 'tř', 'čt', 'st'],
};

/** Returns the first letters of the spoken number: `17` → `s`, *sedmnáct*; empty where the preposition stays plain. */
function beginningOf(count: number): string {
  let group = count;
  while (group >= 1000) group = Math.floor(group / 1000);
  // The spoken forms of a thousand and a million have no one.
  if (group === 1 && count >= 1000) return '';
  if (group >= 100 && group < 200) return 'st';
  const digit = group >= 10 && group < 20 ? group - 10 : Number(String(group)[0]);
  return BEGINNINGS[digit] ?? '';
}

/** Adjusts the prepositions of a text with numbered placeholders to the values that follow them. */
export function withPrepositions(text: string, values: readonly string[]): string {
  return text.replace(/(?<!\p{L})([szvk]) (?=\$\{(\d+)\})/giu, (plain, preposition: string, index: string) => {
    const [count] = /^\d{1,12}(?![\w.:-])/.exec(values[Number(index)] ?? '') ?? [];
    const added = count !== undefined && ADDED[preposition.toLowerCase()]?.includes(beginningOf(Number(count))) === true;
    return added ? `${preposition}e ` : plain;
  });
}
