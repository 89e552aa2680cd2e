/**
 * Where the deployed service departs from its contract. The contract holds by default; `--deployed` switches these on.
 * Keys are stable: tests and documentation cite them. Add at the end.
 */
export const QUIRKS = {
  'import-repeated-file-part': 'A repeated part `file` on import is not refused; the last one is used.',
} as const satisfies Record<string, string>;

export type Quirk = keyof typeof QUIRKS;
