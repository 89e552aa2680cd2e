import { ControlRefusal, decodeSegment } from '../base/http-message.ts';
import { readRule } from '../state/contract-references.ts';
import type { JournalEntry } from '../state/journal.ts';
import type { Mock } from '../state/mock.ts';
import { assertKnownParameters, parseWholeNumber } from './query.ts';

const ANY = { default: 0, max: Number.MAX_SAFE_INTEGER };

/**
 * Returns the requests, oldest first. Filters: `?after=` id of an entry, `?find=`, `?method=`,
 * `?user=`, `?status=`, `?rule=` of a refusal, `?limit=` newest entries.
 * @throws ShapeError
 */
export function viewJournal(mock: Mock, query: URLSearchParams): readonly JournalEntry[] {
  assertKnownParameters(query, 'after', 'find', 'limit', 'method', 'rule', 'status', 'user');
  const method = query.get('method')?.toUpperCase();
  const user = query.get('user');
  const find = query.get('find');
  const rule = query.has('rule') ? readRule(query.get('rule'), 'rule') : null;
  const status = query.has('status') ? parseWholeNumber(query, 'status', ANY) : undefined;
  const entries = mock.journal
    .listEntries(parseWholeNumber(query, 'after', ANY))
    .filter((entry) => find === null || isAbout(entry, find))
    .filter((entry) => method === undefined || entry.method === method)
    .filter((entry) => user === null || entry.user === user)
    .filter((entry) => status === undefined || entry.status === status)
    .filter((entry) => rule === null || entry.rules.includes(rule));
  const limit = parseWholeNumber(query, 'limit', { ...ANY, default: entries.length });
  return limit < entries.length ? entries.slice(entries.length - limit) : entries;
}

/**
 * Tells if a request changed the find, or has its identifier as a whole part of the path or query.
 */
export function isAbout({ change, path }: JournalEntry, find: string): boolean {
  return (
    change?.ident === find ||
    decodeSegment(path)
      .split(/[/?&=]/)
      .includes(find)
  );
}

/**
 * Returns one request with its answer.
 * @throws ControlRefusal where it is not kept
 */
export async function viewWholeEntry(mock: Mock, id: string): Promise<unknown> {
  await mock.journal.waitUntilSettled();
  const entry = mock.journal.viewWhole(Number(id));
  if (entry === undefined) throw new ControlRefusal(404, `there is no entry ${id} in the journal`);
  return entry;
}
