import { type Body, childOf, listOf, textOf } from '../records/record.ts';
import { ShapeError } from '../shape.ts';

/** The oldest datestamp of the deployed service: its whole archive was moved on that evening. */
const ARCHIVE_MOVED_MS = Date.UTC(2024, 6, 14, 21, 39, 10, 988);
const SPREAD_MS = 400 * 86_400_000;

/**
 * When a seed's record was last changed: as the row says, else its latest history entry, else a time that depends on
 * nothing but the identifier, so that datestamps spread over more than a year and never differ between two starts.
 * @throws ShapeError
 */
export function datestampOf(
  given: { readonly datestamp?: unknown; readonly deleted?: unknown },
  ident: string,
  body: Body,
): number {
  if (given.deleted !== undefined) return timeOf(given.deleted, 'deleted');
  if (given.datestamp !== undefined) return timeOf(given.datestamp, 'datestamp');
  const changes = listOf(body['historie']).map((entry) => timeOf(textOf(childOf(entry)?.['datum_zmeny']), 'historie'));
  return changes.length === 0 ? spread(ident) : Math.max(...changes);
}

function timeOf(text: unknown, place: string): number {
  const ms = typeof text === 'string' && /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) throw new ShapeError(place, 'must be a time such as 2024-07-11T12:27:13.968Z');
  return ms;
}

/** Whole seconds for most identifiers, milliseconds for every fourth. */
function spread(ident: string): number {
  let hash = 0x811c9dc5;
  for (const character of ident) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  const ms = ARCHIVE_MOVED_MS + Math.floor((hash / 0x1_0000_0000) * SPREAD_MS);
  return hash % 4 === 0 ? ms : Math.ceil(ms / 1000) * 1000;
}
