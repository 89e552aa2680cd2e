import type { Reading } from '../text/reading.ts';
import type { Reference } from './field.ts';
import type { Field } from './fields.ts';
import type { LookupTerm } from './lookup.ts';
import { type ResolvedFinder, resolveFinder } from './resolve-finder.ts';
import { resolveProject, resolveTerm } from './resolve-reference.ts';

/** A cell of an element that refers to something. */
export type ResolveReference = (field: Field, cell: string) => Reading<Reference> | ResolvedFinder;

/** Resolves each different cell once: a season has a few dozen, in however many rows, and they share their references. */
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

/** Hyphens that show only where a line breaks, and characters without width: they come with copying and belong to no name. */
function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200f\u2060\ufeff]/g, '').trim();
}

function resolveReference({ name, set }: Field, cell: string, lookupTerm: LookupTerm): ReturnType<ResolveReference> {
  if (set === undefined) return resolveProject(cell);
  return name === 'nalezce' ? resolveFinder(cell, lookupTerm) : resolveTerm(set, cell, lookupTerm);
}
