/**
 * Czech prepositions before numbers: with `e` where the number, as it is spoken, begins hard to say after them: `se 7` (sedmi),
 * `s 8`, `ze 100` (sta), `ve 3` (třech). The catalog has them without it.
 */

/** The digit that the spoken number begins with → how its word begins. */
const BEGINNINGS: Readonly<Record<number, string>> = { 2: 'dv', 3: 'tř', 4: 'čt', 6: 'š', 7: 's' };
/** After which of them the vowel is added. `v sedmi`, but `se sedmi`. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  s: ['dv', 'tř', 'čt', 'š', 's', 'st'],
  z: ['dv', 'tř', 'čt', 'š', 's', 'st'],
  v: ['dv', 'tř', 'čt', 'st'],
  k: ['dv', 'tř', 'čt', 'st'],
};

/** `17` → `s`, of *sedmnáct*; empty where nothing is hard to say: *jeden*, *osm*, *tisíc*. */
function beginningOf(count: number): string {
  let group = count;
  while (group >= 1000) group = Math.floor(group / 1000);
  // A thousand and a million are spoken without their one.
  if (group === 1 && count >= 1000) return '';
  if (group >= 100 && group < 200) return 'st';
  const digit = group >= 10 && group < 20 ? group - 10 : Number(String(group)[0]);
  return BEGINNINGS[digit] ?? '';
}

/** A numbered Czech text with its prepositions as they are before these values. */
export function withPrepositions(text: string, values: readonly string[]): string {
  return text.replace(/(?<!\p{L})([szvk]) (?=\$\{(\d+)\})/giu, (plain, preposition: string, index: string) => {
    const [count] = /^\d{1,12}(?![\w.:-])/.exec(values[Number(index)] ?? '') ?? [];
    const added = count !== undefined && ADDED[preposition.toLowerCase()]?.includes(beginningOf(Number(count))) === true;
    return added ? `${preposition}e ` : plain;
  });
}
