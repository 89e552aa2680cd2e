/** Compares by Czech collation: `Čapek` behind `Cyril`, `ch` behind `h`. */
export function compareCzech(one: string, other: string): number {
  compare ??= new Intl.Collator('cs', { numeric: true }).compare;
  return compare(one, other);
}

/** Created on first use, since that takes longer than sorting a short list. */
let compare: Intl.Collator['compare'] | undefined;
