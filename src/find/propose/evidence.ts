import type { ReadColumn } from '../column-map/column-rule.ts';
import type { LookupArea, LookupTerm } from '../lookup.ts';

/** What is known of the world when a table is looked at. */
export type Knowledge = { readonly lookupTerm: LookupTerm; readonly lookupArea: LookupArea };

/** What speaks for a column beside its name. */
export type Evidence = {
  readonly score: number;
  readonly rule?: Partial<ReadColumn>;
  readonly reasons: readonly string[];
  readonly doubt?: string;
};
