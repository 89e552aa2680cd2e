import type { Issue } from '../base/issue.ts';
import type { Find } from './find.ts';
import type { LookupTerm } from './lookup.ts';
import type { ResolvePhoto } from './photo-path.ts';

export type MapContext = {
  readonly lookupTerm: LookupTerm;
  /** Usually `photoResolver(dirname(table))`. */
  readonly resolvePhoto: ResolvePhoto;
};

/** `find` is absent where a cell could not be read; `issues` then has at least one error. */
export type MappedRow = { readonly find?: Find; readonly issues: readonly Issue[] };
