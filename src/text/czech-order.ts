/** Compares by Czech collation: `Čapek` behind `Cyril`, `ch` behind `h`. */
export const compareCzech: (one: string, other: string) => number = new Intl.Collator('cs', { numeric: true }).compare;
