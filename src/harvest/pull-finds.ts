import type { Clock } from '../base/clock.ts';
import { OaiError, UsageError } from '../base/errors.ts';
import { t } from '../base/message.ts';
import { CREATION, type HarvestedFind, parseHarvestedFind } from '../finds/harvested-find.ts';
import { listAttempts, listEffectiveAttempts } from '../outbox/attempts.ts';
import { deleteUnneededIntentContents } from '../outbox/intents.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';
import {
  findPulledRecord,
  findStateAtService,
  iterateSentFinds,
  type PulledRecord,
  type SentFind,
  type StateAtService,
  storePulledRecord,
  storeSeenTime,
} from '../outbox/views/records-at-service.ts';
import { isPossibleEndOfList, type ListPage, listPages, type OaiClient } from './client.ts';
import { type HarvestOptions, harvestList } from './harvest-list.ts';
import { fetchServiceTraits, type ServiceTraits } from './harvest-records.ts';
import { openStateInMemory } from './harvest-state.ts';
import {
  DAY_MS,
  findNativeContent,
  formatDatestamp,
  getEndOfDatestampMs,
  getShortIdentifier,
  type OaiRecord,
  RUN_AGAIN,
} from './protocol.ts';

type PullContext = FindHarvest & {
  readonly outbox: Outbox;
  /**
   * The finds were sent to a training instance, whose records the harvest does not show: one of the
   * same identifier may be another's, so a find whose record is not proven to be own is missing.
   */
  readonly training: boolean;
  /** Requests all of them, not only those whose datestamps changed since the last pull. */
  readonly full: boolean;
  /** Local ids of the finds to look up; undefined: all. */
  readonly only?: ReadonlySet<string> | undefined;
};

/** A sent find with its state at the service. */
export type PulledFind = StateAtService & {
  /** The record differs from the last pull, or at the first one from what was sent. */
  readonly isNews: boolean;
};

type Pull = {
  readonly finds: readonly PulledFind[];
  /** Finds whose records came without content that is a find; the stored state is kept. */
  readonly unreadable: readonly SentFind[];
  /** Lower bound of the request, by the server's clock; undefined where no list was requested. */
  readonly fromMs: number | undefined;
};

/** Stored records of sent finds; undefined for one that no pull has found. */
type PulledRecords = ReadonlyMap<string, PulledRecord | undefined>;

/** The local clock may have been wrong by hours when the finds were sent. */
const LOOK_BACK_MS = DAY_MS;
/** Exceeds the time in which the service processes one request. */
const CREATION_MARGIN_MS = 30 * 60_000;

/**
 * Requests the records of sent finds, stores what they show in one transaction after the last
 * answer, and then deletes contents that nothing needs any more. Without sent finds nothing is
 * requested.
 * @returns the finds as they are at the service now, without those that no pull has ever found;
 * those whose record cannot be read; and since when records were requested
 * @throws UsageError where the finds were sent to a training instance, and no record of the harvest
 * is proven to be theirs; OaiError, UnavailableError, AuthError, InterruptedError, DatabaseError
 */
export async function pullFinds(context: PullContext): Promise<Pull> {
  const { outbox, only } = context;
  const sent = [...iterateSentFinds(outbox)].filter(({ find }) => only?.has(find) ?? true);
  if (sent.length === 0) return { finds: [], unreadable: [], fromMs: undefined };
  const recordsByIdent = new Map(
    sent.map(({ identCely }) => [identCely, findPulledRecord(outbox, identCely)]),
  );
  const service = await fetchServiceTraits(context);
  const fromMs = only === undefined ? getFirstSentMs(outbox, sent) - LOOK_BACK_MS : undefined;
  const lookups =
    fromMs === undefined
      ? await fetchEachRecord(context, recordsByIdent.keys())
      : await fetchChangedRecords(context, service, recordsByIdent, fromMs);
  const ownLookups = context.training
    ? replaceUnproven(context, sent, lookups, recordsByIdent)
    : lookups;
  outbox.change(() => {
    for (const { identCely } of sent)
      storeLookup(outbox, identCely, ownLookups.get(identCely), service.serverNowMs);
  });
  deleteUnneededIntentContents(outbox);
  const finds = sent.flatMap((find): PulledFind[] => {
    const now = findStateAtService(outbox, find);
    return now === undefined
      ? []
      : [{ ...now, isNews: isNews(recordsByIdent.get(find.identCely), now) }];
  });
  const unreadable = sent.filter(
    ({ identCely }) => ownLookups.get(identCely)?.kind === 'unreadable',
  );
  return { finds, unreadable, fromMs };
}

/**
 * Requests the records whose headers are not listed as they were at the last pull, in the list
 * where that takes fewer requests, else one by one. Headers show a change at any time, whatever the
 * clocks were, and a record that is gone without a tombstone.
 */
async function fetchChangedRecords(
  context: PullContext,
  service: ServiceTraits,
  recordsByIdent: PulledRecords,
  fromMs: number,
): Promise<ReadonlyMap<string, FindLookup>> {
  const { granularity, overlapMs } = service;
  const from = formatDatestamp(fromMs, granularity);
  const { listedMs, pages } = await fetchDatestamps(context, from, recordsByIdent.size);
  const isUnchanged = (ident: string, record: PulledRecord | undefined): boolean =>
    record?.datestampMs != null &&
    record.datestampMs === listedMs.get(ident) &&
    // A later change may have the same datestamp.
    getEndOfDatestampMs(record.datestampMs) < record.seenMs - overlapMs;
  const changed = [...recordsByIdent]
    .filter(([ident, record]) => context.full || !isUnchanged(ident, record))
    .map(([ident]) => ident);
  const listed: ReadonlyMap<string, ListedFind> =
    pages < changed.length ? (await fetchListedFinds(context, service, fromMs)).lookups : new Map();
  const rest = changed.filter((ident) => !listed.has(ident));
  return new Map([...listed, ...(await fetchEachRecord(context, rest))]);
}

/**
 * Requests the datestamps of all finds that changed since `from`, until the whole list would take
 * more than `maxRequests` requests, or breaks off: it may lack finds.
 * @returns datestamps by identifier, and the number of requests that the whole list takes
 */
async function fetchDatestamps(
  context: PullContext,
  from: string,
  maxRequests: number,
): Promise<{ readonly listedMs: ReadonlyMap<string, number>; readonly pages: number }> {
  const { client, clock, format: metadataPrefix, signal } = context;
  const listedMs = new Map<string, number>();
  const start = { metadataPrefix, set: FIND_SET, from };
  let pages = 0;
  try {
    for await (const page of listPages({ fetchPage: client.listHeaders, clock, start, signal })) {
      for (const { header } of page.items)
        listedMs.set(getShortIdentifier(header.identifier), header.datestampMs);
      pages++;
      const rest = countPagesAfter(page);
      if (pages + rest > maxRequests) return { listedMs, pages: pages + rest };
    }
  } catch (thrown) {
    // Records on the rest of the list are requested one by one.
    if (!isPossibleEndOfList(thrown)) throw thrown;
  }
  return { listedMs, pages };
}

/** Compares with the last pull; a record that is read for the first time, with what was sent. */
function isNews(before: PulledRecord | undefined, now: StateAtService): boolean {
  const { pulled, changes, sent } = now;
  if (before === undefined)
    return pulled.standing !== 'shown' || changes.length > 0 || pulled.stav !== sent.elements.stav;
  return (
    before.standing !== pulled.standing ||
    JSON.stringify(before.record) !== JSON.stringify(pulled.record)
  );
}

/** Tells if the find was accepted until a time of the server. */
function isAcceptedUntil(outbox: Outbox, { entry }: SentFind, untilMs: number): boolean {
  return listEffectiveAttempts(outbox, entry).some(
    ({ serverDateAt, startedAt }) => (serverDateAt ?? startedAt) <= untilMs,
  );
}

function getFirstSentMs(outbox: Outbox, sent: readonly SentFind[]): number {
  const attempts = sent.flatMap(({ entry }) => listAttempts(outbox, entry));
  return attempts.reduce<number>(
    (first, { bounds, startedAt }) => Math.min(first, bounds?.fromMs ?? startedAt),
    outbox.clock.now(),
  );
}

/**
 * Stores the result of a lookup; undefined: only its time. `unreadable` changes nothing.
 * @param seenMs server time before the lookup, so that a change since then is another one
 */
function storeLookup(
  outbox: Outbox,
  identCely: string,
  lookup: FindLookup | undefined,
  seenMs: number,
): void {
  if (lookup === undefined) storeSeenTime(outbox, identCely, seenMs);
  else if (lookup.kind !== 'unreadable')
    storePulledRecord(outbox, {
      identCely,
      standing: lookup.kind,
      datestampMs: 'datestampMs' in lookup ? lookup.datestampMs : null,
      seenMs,
      record: lookup.kind === 'shown' ? lookup.record : undefined,
    });
}

/**
 * Returns the lookups with `missing` in place of each that is not proven to be of an own record:
 * created by the sending account when the find was sent, shown so before, or deleted since (A10).
 * @throws UsageError where none is proven
 */
function replaceUnproven(
  context: PullContext,
  sent: readonly SentFind[],
  lookups: ReadonlyMap<string, FindLookup>,
  recordsByIdent: PulledRecords,
): Map<string, FindLookup> {
  const ownLookups = new Map<string, FindLookup>();
  let proven = 0;
  for (const find of sent) {
    const lookup = lookups.get(find.identCely);
    const wasOwn = recordsByIdent.get(find.identCely)?.record !== undefined;
    const isOwn =
      wasOwn ||
      (lookup?.kind === 'shown' && isCreatedByUs(context, find, lookup.record)) ||
      (lookup?.kind === 'deleted' && isAcceptedUntil(context.outbox, find, lookup.datestampMs));
    if (isOwn) proven++;
    if (isOwn && lookup !== undefined) ownLookups.set(find.identCely, lookup);
    if (!isOwn) ownLookups.set(find.identCely, { kind: 'missing' });
  }
  if (proven > 0) return ownLookups;
  const { address } = readHeader(context.outbox);
  throw new UsageError(
    t`Harvesting shows none of the ${sent.length} finds that were sent to ${address}.`,
    {
      hint: t`A training instance has no harvesting, so what was sent to it cannot be read back. Check its own website.`,
    },
  );
}

function isCreatedByUs(
  { outbox }: PullContext,
  { entry }: SentFind,
  { history }: HarvestedFind,
): boolean {
  const created = history.find(({ type }) => type === CREATION);
  const createdMs = Date.parse(created?.at ?? '');
  return listEffectiveAttempts(outbox, entry).some(
    ({ account, startedAt, serverDateAt }) =>
      account === created?.user &&
      Math.abs((serverDateAt ?? startedAt) - createdMs) <= CREATION_MARGIN_MS,
  );
}

/** Where records are requested one by one. */
export type RecordSource = {
  readonly client: OaiClient;
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  readonly signal?: AbortSignal;
};

/** How a list of finds is harvested. */
export type FindHarvest = RecordSource & {
  readonly clock: Clock;
  /** Maximum time until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
} & Pick<HarvestOptions, 'onProgress' | 'onNote'>;

const FIND_SET = 'samostatny_nalez';

/** A find as the harvest lists it now. */
export type ListedFind =
  | { readonly kind: 'shown'; readonly datestampMs: number; readonly record: HarvestedFind }
  | { readonly kind: 'withheld' | 'deleted'; readonly datestampMs: number };

/** The finds that a harvest lists. */
export type HarvestedFinds = {
  /** Listed finds by identifier. */
  readonly lookups: ReadonlyMap<string, ListedFind>;
  /** The server's clock at its first answer: later changes belong to the next harvest. */
  readonly beganMs: number;
};

/**
 * Harvests all finds that the service lists for the account and that changed at `fromMs` or later.
 * Nothing is stored.
 * @param fromMs lower bound of the last change, by the server's clock; null for all
 * @throws OaiError, `incomplete` where the service sends fewer records than it counts, or one that
 * cannot be read; UnavailableError, AuthError, InterruptedError
 */
export async function harvestFinds(
  options: FindHarvest,
  fromMs: number | null,
): Promise<HarvestedFinds> {
  const service = await fetchServiceTraits(options);
  const { lookups, beganMs, unreadable } = await fetchListedFinds(options, service, fromMs);
  const [first] = unreadable;
  if (first === undefined) return { lookups, beganMs };
  throw new OaiError(
    'incomplete',
    t`Harvesting lists ${first} without content that pas can read, and that may be any find.`,
    { hint: RUN_AGAIN },
  );
}

/** Harvests the finds of a list, with the identifiers of those that cannot be read. */
async function fetchListedFinds(
  options: FindHarvest,
  service: ServiceTraits,
  fromMs: number | null,
): Promise<HarvestedFinds & { readonly unreadable: readonly string[] }> {
  const lookups = new Map<string, ListedFind>();
  const state = openStateInMemory();
  const { pass, broken } = await harvestList({
    ...options,
    ...service,
    setSpec: FIND_SET,
    metadataPrefix: options.format,
    window: { fromMs, untilMs: null },
    store: {
      state,
      commit: ({ seenRecords }) => {
        const unreadable: string[] = [];
        for (const record of seenRecords) {
          const { identifier } = record.header;
          const lookup = toListedFind(record);
          if (lookup === undefined) unreadable.push(identifier);
          else lookups.set(getShortIdentifier(identifier), lookup);
        }
        return unreadable;
      },
    },
  });
  const listed = new Set(state.listSeenIn(pass.scan).map(getShortIdentifier));
  return {
    // A record of an earlier scan may be gone since.
    lookups: new Map([...lookups].filter(([ident]) => listed.has(ident))),
    beganMs: pass.beganMs,
    unreadable: broken,
  };
}

/** Converts a record; undefined where it is no readable find. */
function toListedFind(record: OaiRecord): ListedFind | undefined {
  const { datestampMs, deleted } = record.header;
  if (deleted) return { kind: 'deleted', datestampMs };
  if (record.refused) return { kind: 'withheld', datestampMs };
  const entity = findNativeContent(record);
  const find = entity === undefined ? undefined : parseHarvestedFind(entity);
  return find === undefined ? undefined : { kind: 'shown', datestampMs, record: find };
}

/**
 * Result for one requested record. `missing`: the service does not know it; `unreadable`: it came
 * without content that is a find.
 */
export type FindLookup = ListedFind | { readonly kind: 'missing' | 'unreadable' };

/** Estimates the requests for the rest of a list; 0 where the service does not count. */
function countPagesAfter({ items, next, cursor, completeListSize }: ListPage<OaiRecord>): number {
  if (next === undefined || completeListSize === undefined || items.length === 0) return 0;
  return Math.ceil((completeListSize - (cursor ?? 0) - items.length) / items.length);
}

/**
 * Requests the record of a find by its identifier; `unreadable` where the answer has no find.
 * @throws as {@link SendRequest}, except for `idDoesNotExist`, which is the result `missing`
 */
export async function fetchFindRecord(
  { client, format, signal }: RecordSource,
  ident: string,
): Promise<FindLookup> {
  try {
    const record = await client.getRecord(ident, format, signal);
    return toListedFind(record) ?? { kind: 'unreadable' };
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'idDoesNotExist') throw thrown;
    return { kind: 'missing' };
  }
}

/** Requests each record alone; throws as {@link fetchFindRecord}. */
async function fetchEachRecord(
  options: FindHarvest,
  idents: Iterable<string>,
): Promise<Map<string, FindLookup>> {
  const all = [...idents];
  const lookups = new Map<string, FindLookup>();
  for (const ident of all) {
    lookups.set(ident, await fetchFindRecord(options, ident));
    options.onProgress?.(lookups.size, all.length);
  }
  return lookups;
}
