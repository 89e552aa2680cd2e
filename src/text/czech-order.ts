/** The order of Czech lists: `Čapek` behind `Cyril`, `ch` behind `h`. */
export function compareCzech(one: string, other: string): number {
  compare ??= new Intl.Collator('cs', { numeric: true }).compare;
  return compare(one, other);
}

/** Made when it is first asked for: that takes longer than a short list. */
let compare: Intl.Collator['compare'] | undefined;
