import type { Reading } from '../text/reading.ts';
import type { Reference } from './field.ts';
import type { Field } from './fields.ts';
import type { LookupTerm } from './lookup.ts';
import { type ResolvedFinder, resolveFinder } from './resolve-finder.ts';
import { resolveProject, resolveTerm } from './resolve-reference.ts';

/** Resolves a cell of an element that holds a reference. */
export type ResolveReference = (field: Field, cell: string) => Reading<Reference> | ResolvedFinder;

/** Caches the resolution of each distinct cell: a season has a few dozen in all its rows, and the rows share the references. */
export function rememberReferences(lookupTerm: LookupTerm = () => ({ kind: 'not-harvested' })): ResolveReference {
  const known = new Map<string, ReturnType<ResolveReference>>();
  return (field, written) => {
    const cell = withoutInvisible(written);
    const key = `${field.name} ${cell}`;
    const reading = known.get(key) ?? resolveReference(field, cell, lookupTerm);
    known.set(key, reading);
    return reading;
  };
}

/** Removes soft hyphens and characters without width, which come with copied text. */
function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
}

function resolveReference({ name, set }: Field, cell: string, lookupTerm: LookupTerm): ReturnType<ResolveReference> {
  if (set === undefined) return resolveProject(cell);
  return name === 'nalezce' ? resolveFinder(cell, lookupTerm) : resolveTerm(set, cell, lookupTerm);
}
