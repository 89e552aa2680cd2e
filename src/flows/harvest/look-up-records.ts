import { OaiError } from '../../base/errors.ts';
import { CircleError, isRefusedToken, type ListPage, listPages } from '../../oai/client.ts';
import { formatDatestamp, type OaiRecord, toIdent } from '../../oai/protocol.ts';
import {
  FIND_SET,
  type FindHarvest,
  harvestFinds,
  type ListedFind,
  toListedFind,
} from './harvest-finds.ts';
import { fetchServiceClock } from './service-lists.ts';

/**
 * Result for one requested record. `missing`: the service does not know it; `empty`: it came
 * without content.
 */
export type FindLookup = ListedFind | { readonly kind: 'missing' | 'empty' };

type FindLookups = { readonly beganMs: number; readonly lookups: ReadonlyMap<string, FindLookup> };

/** Thrown where requesting each record by itself takes fewer requests than the list. */
class LongList extends Error {
  readonly beganMs: number;
  constructor(beganMs: number) {
    super();
    this.beganMs = beganMs;
  }
}

/**
 * Looks up records among all that changed since `fromMs`; unchanged ones are absent from the
 * result. Where the list has more pages than there are records to look up, each record is requested
 * by itself, and the result has all of them.
 * @throws as {@link harvestFinds}
 */
export async function lookUpChanges(
  options: FindHarvest,
  wantedIdents: ReadonlySet<string>,
  fromMs: number,
): Promise<FindLookups> {
  const { client } = options;
  const listRecords: typeof client.listRecords = async (...request) => {
    const page = await client.listRecords(...request);
    if (countPagesAfter(page) > wantedIdents.size) throw new LongList(page.responseDateMs);
    return page;
  };
  try {
    const { lookups, withoutContent, beganMs } = await harvestFinds(
      { ...options, client: { ...client, listRecords } },
      fromMs,
    );
    const empty = withoutContent.map((ident): [string, FindLookup] => [ident, { kind: 'empty' }]);
    return {
      lookups: new Map<string, FindLookup>(
        [...empty, ...lookups].filter(([ident]) => wantedIdents.has(ident)),
      ),
      beganMs,
    };
  } catch (thrown) {
    if (thrown instanceof LongList)
      return { lookups: await lookUpEach(options, wantedIdents), beganMs: thrown.beganMs };
    throw thrown;
  }
}

/** Estimates the requests for the rest of a list; 0 where the service does not count. */
function countPagesAfter({ items, next, cursor, completeListSize }: ListPage<OaiRecord>): number {
  if (next === undefined || completeListSize === undefined || items.length === 0) return 0;
  return Math.ceil((completeListSize - (cursor ?? 0) - items.length) / items.length);
}

/**
 * Looks up records with one request each, except those that the list of changes since `fromMs` has
 * with their known datestamp.
 * @param knownMs datestamps by identifier
 */
export async function lookUpUnlisted(
  options: FindHarvest,
  knownMs: ReadonlyMap<string, number | null>,
  fromMs: number,
): Promise<Map<string, FindLookup>> {
  const { client, clock, format: metadataPrefix, signal } = options;
  const unlisted = new Set(knownMs.keys());
  const from = formatDatestamp(fromMs, (await fetchServiceClock(options)).granularity);
  const pages = listPages({
    fetchPage: client.listHeaders,
    clock,
    start: { metadataPrefix, set: FIND_SET, from },
    signal,
  });
  try {
    for await (const page of pages) {
      for (const { header } of page.items) {
        const ident = toIdent(header.identifier);
        if (knownMs.get(ident) === header.datestampMs) unlisted.delete(ident);
      }
      if (unlisted.size === 0 || countPagesAfter(page) > unlisted.size) break;
    }
  } catch (thrown) {
    // Records on the rest of the list are requested one by one.
    if (!isRefusedToken(thrown) && !(thrown instanceof CircleError)) throw thrown;
  }
  return lookUpEach(options, unlisted);
}

/** Looks up each record with one request. */
export async function lookUpEach(
  options: FindHarvest,
  idents: Iterable<string>,
): Promise<Map<string, FindLookup>> {
  const { client, format, signal, onProgress } = options;
  const all = [...idents];
  const lookups = new Map<string, FindLookup>();
  for (const ident of all) {
    try {
      const { record } = await client.getRecord(ident, format, signal);
      const lookup = record.lacksContent ? ({ kind: 'empty' } as const) : toListedFind(record);
      if (lookup !== undefined) lookups.set(ident, lookup);
    } catch (thrown) {
      if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
      lookups.set(ident, { kind: 'missing' });
    }
    onProgress?.(lookups.size, all.length);
  }
  return lookups;
}
