import type { JournalEntry } from '../journal.ts';
import type { Mock } from '../mock.ts';
import { wholeNumber } from './query.ts';

/**
 * The requests as seen, oldest first: `?after=` an entry's id, `?limit=` to the newest so many.
 * @throws ShapeError
 */
export function journalView(mock: Mock, query: URLSearchParams): readonly JournalEntry[] {
  const entries = mock.journal.entries(wholeNumber(query, 'after', { default: 0, max: Number.MAX_SAFE_INTEGER }));
  const limit = wholeNumber(query, 'limit', { default: entries.length, max: Number.MAX_SAFE_INTEGER });
  return limit < entries.length ? entries.slice(entries.length - limit) : entries;
}
