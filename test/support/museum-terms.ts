import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from './run-pas.ts';

/** A term of a made-up museum's list, with the entry of the demo seed that it stands for; `id` is empty where there is none. */
export type MuseumTerm = { readonly element: string; readonly term: string; readonly id: string; readonly label: string };

export const MUSEUM_TERMS = join(PROJECT, 'test', 'fixtures', 'museum-terms.csv');
/** Every third of the same list, which nobody looked at while the comparing was made better. */
export const UNSEEN_MUSEUM_TERMS = join(PROJECT, 'test', 'fixtures', 'museum-terms-unseen.csv');

export function readMuseumTerms(path: string): MuseumTerm[] {
  const [, ...lines] = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line) => {
    const [element = '', term = '', id = '', label = ''] = line.split(';');
    return { element, term, id, label };
  });
}
