import { editDistance } from './edit-distance.ts';

/** Letters without accents, in lower case, words joined by `_`: "Datum nálezu" becomes "datum_nalezu". */
export function foldName(text: string): string {
  return text
    .normalize('NFD')
    .replace(/\p{Mn}/gu, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '_')
    .replace(/^_+|_+$/g, '');
}

/** Whether a name is that of a picture, by its ending: all that phones and cameras make, also what the service refuses. */
export function isPictureName(name: string): boolean {
  return /\.(?:jpe?g|png|tiff?|heic|heif|webp)$/i.test(name);
}

/** The known names that differ from `name` by little enough to be meant, best first, at most three. */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const allowed = Math.max(1, Math.floor(name.length / 3));
  return known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate, allowed) }))
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ candidate }) => candidate);
}
