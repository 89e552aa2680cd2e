import type { Clock } from '../base/clock.ts';
import { OaiError } from '../base/errors.ts';
import { type HarvestedFind, parseHarvestedFind } from '../finds/harvested-find.ts';
import { isRefusedToken, type ListPage, LoopError, listPages, type OaiClient } from './client.ts';
import { type HarvestOptions, harvestList } from './harvest-list.ts';
import { openMemoryState } from './harvest-state.ts';
import { findEntity, formatDatestamp, type OaiRecord, toIdent } from './protocol.ts';
import { fetchServiceTraits } from './service-lists.ts';

export type RecordSource = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly signal?: AbortSignal;
};

export type FindHarvest = RecordSource & {
  readonly clock: Clock;
  /** Maximum time until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
} & Pick<HarvestOptions, 'onProgress' | 'onNote'>;

export const FIND_SET = 'samostatny_nalez';

/** A find as the harvest lists it now. */
export type ListedFind =
  | { readonly kind: 'shown'; readonly datestampMs: number; readonly record: HarvestedFind }
  | { readonly kind: 'withheld' | 'deleted'; readonly datestampMs: number };

export type HarvestedFinds = {
  /** Listed finds by identifier, without those that cannot be read. */
  readonly lookups: ReadonlyMap<string, ListedFind>;
  /** Identifiers of records that came without content, so it is unknown if they changed. */
  readonly withoutContent: readonly string[];
  /** The server's clock at its first answer: later changes belong to the next harvest. */
  readonly beganMs: number;
};

/**
 * Harvests the finds that are listed for the account.
 * @param fromMs lower bound of the last change, by the server's clock; null for all
 * @throws OaiError, `incomplete` where the service sends fewer records than it counts;
 * UnavailableError, AuthError, InterruptedError
 */
export async function harvestFinds(
  options: FindHarvest,
  fromMs: number | null,
): Promise<HarvestedFinds> {
  const lookups = new Map<string, ListedFind>();
  const state = openMemoryState();
  const { pass, broken } = await harvestList({
    ...options,
    state,
    setSpec: FIND_SET,
    metadataPrefix: options.format,
    ...(await fetchServiceTraits(options)),
    window: { fromMs, untilMs: null },
    sink: {
      notePage: ({ records }) => {
        for (const record of records) {
          const lookup = toListedFind(record);
          if (lookup !== undefined) lookups.set(toIdent(record.header.identifier), lookup);
        }
      },
    },
  });
  const listed = new Set(state.listSeenIn(pass.scan).map(toIdent));
  // A record of an earlier scan may be gone since.
  return {
    lookups: new Map([...lookups].filter(([ident]) => listed.has(ident))),
    withoutContent: broken.flatMap(({ identifier }) =>
      identifier === undefined ? [] : [toIdent(identifier)],
    ),
    beganMs: pass.beganMs,
  };
}

/** Converts a record; undefined where it is no readable find. */
export function toListedFind(record: OaiRecord): ListedFind | undefined {
  const { datestampMs, deleted } = record.header;
  if (deleted) return { kind: 'deleted', datestampMs };
  if (record.refused) return { kind: 'withheld', datestampMs };
  const entity = findEntity(record);
  const find = entity === undefined ? undefined : parseHarvestedFind(entity);
  return find === undefined ? undefined : { kind: 'shown', datestampMs, record: find };
}

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
  const from = formatDatestamp(fromMs, (await fetchServiceTraits(options)).granularity);
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
    if (!isRefusedToken(thrown) && !(thrown instanceof LoopError)) throw thrown;
  }
  return lookUpEach(options, unlisted);
}

/**
 * Looks up a record with one request; undefined for one that is no readable find.
 * @throws as the client
 */
export async function lookUpRecord(
  { client, format, signal }: RecordSource,
  ident: string,
): Promise<FindLookup | undefined> {
  try {
    const { record } = await client.getRecord(ident, format, signal);
    return record.lacksContent ? { kind: 'empty' } : toListedFind(record);
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
    return { kind: 'missing' };
  }
}

/**
 * Looks up each record with one request; one that is no readable find is left out.
 * @throws as the client
 */
export async function lookUpEach(
  options: FindHarvest,
  idents: Iterable<string>,
): Promise<Map<string, FindLookup>> {
  const all = [...idents];
  const lookups = new Map<string, FindLookup>();
  for (const ident of all) {
    const lookup = await lookUpRecord(options, ident);
    if (lookup !== undefined) lookups.set(ident, lookup);
    options.onProgress?.(lookups.size, all.length);
  }
  return lookups;
}
