import { t } from '../../base/language.ts';
import type { LookupTerm } from '../lookup.ts';
import type { ColumnProfile } from './column-profile.ts';

/** How much of a column is in a vocabulary. */
type TermShape = { readonly share: number; readonly looked: number; readonly found: number };

/** The most frequent terms say enough of a column; looking for what is not there takes time. */
const MOST_LOOKED_UP = 24;
/** Of a column that knows none of so many, the rest is not looked up. */
const ENOUGH_MISSES = 8;

/** Undefined where nothing can be said: the vocabulary was not harvested, or the column is empty. */
export function termShape({ values }: ColumnProfile, set: string, lookupTerm: LookupTerm): TermShape | undefined {
  const frequent = [...values].sort(([, a], [, b]) => b - a).slice(0, MOST_LOOKED_UP);
  let [rows, foundRows, looked, found] = [0, 0, 0, 0];
  for (const [text, count] of frequent) {
    const { kind } = lookupTerm(set, text);
    if (kind === 'not-harvested') return undefined;
    looked += 1;
    rows += count;
    if (kind === 'found') {
      found += 1;
      foundRows += count;
    } else if (found === 0 && looked === ENOUGH_MISSES) break;
  }
  return looked === 0 ? undefined : { share: foundRows / rows, looked, found };
}

export function termReason({ looked, found }: TermShape, set: string): string {
  return t`${found} of ${looked} different terms are in ${set}`;
}
