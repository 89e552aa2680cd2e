import type { Clock } from '../base/clock.ts';
import { OaiError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type HarvestedFind, parseHarvestedFind } from '../finds/harvested-find.ts';
import { listAttempts } from '../outbox/attempts.ts';
import { deleteUnneededContents } from '../outbox/changes/undo-command.ts';
import { type Outbox, readHeader } from '../outbox/open-outbox.ts';
import {
  findPulledRecord,
  getPullWatermarkMs,
  getRemoteState,
  iterateSentFinds,
  type PulledRecord,
  type RemoteState,
  type SentFind,
  storePulledRecord,
  storePullWatermark,
  storeSeenTime,
} from '../outbox/views/records-at-service.ts';
import { isRefusedToken, type ListPage, LoopError, listPages, type OaiClient } from './client.ts';
import { type HarvestOptions, harvestList } from './harvest-list.ts';
import { computeOverlapMs, fetchServiceTraits } from './harvest-records.ts';
import { formatClockWentBack, openMemoryState } from './harvest-state.ts';
import { DAY_MS, findEntity, formatDatestamp, type OaiRecord, toIdent } from './protocol.ts';

type PullContext = FindHarvest & {
  readonly outbox: Outbox;
  /**
   * A training instance is not harvested: a record with the same identifier belongs to another
   * account.
   */
  readonly training: boolean;
  /** Looks up all finds, not only those changed since the last pull. */
  readonly full: boolean;
  /** Local ids of the finds to look up; the next pull of all still reads what changed. */
  readonly only?: ReadonlySet<string> | undefined;
};

export type PulledFind = RemoteState & {
  /** The record differs from the last pull, or at the first one from what was sent. */
  readonly isNews: boolean;
};

type Pull = {
  readonly finds: readonly PulledFind[];
  /** Finds whose records came without content; the stored state is kept. */
  readonly withoutContent: readonly SentFind[];
  /** Lower bound of the request, by the server's clock; undefined where no find was sent yet. */
  readonly fromMs: number | undefined;
};

/** Stored records of sent finds; undefined for one that no pull has found. */
type PulledRecords = ReadonlyMap<string, PulledRecord | undefined>;

/** The local clock may have been wrong by hours when the finds were sent. */
const LOOK_BACK_MS = 24 * 3600 * 1000;
/** Exceeds the time in which the service processes one request. */
const CREATION_MARGIN_MS = 30 * 60_000;

/**
 * Updates the stored state of sent finds from a harvest. All of it is stored in one transaction
 * after the last page, with the server time at which the next pull continues.
 * @throws UsageError on a training instance, which is not harvested; as {@link lookUpChanges}
 */
export async function pullFinds(context: PullContext): Promise<Pull> {
  const { outbox, only } = context;
  const sent = [...iterateSentFinds(outbox)].filter(({ find }) => only?.has(find) ?? true);
  if (sent.length === 0) return { finds: [], withoutContent: [], fromMs: undefined };
  const recordsByIdent = new Map(
    sent.map(({ identCely }) => [identCely, findPulledRecord(outbox, identCely)]),
  );
  const { lookups, beganMs, fromMs } =
    only === undefined
      ? await lookUpAll(context, sent, recordsByIdent)
      : { lookups: await lookUpEach(context, recordsByIdent.keys()) };
  const ownLookups = context.training ? filterOwn(context, sent, lookups, recordsByIdent) : lookups;
  outbox.change(() => {
    for (const { identCely } of sent) remember(outbox, identCely, ownLookups.get(identCely));
    if (beganMs !== undefined) storePullWatermark(outbox, beganMs);
  });
  deleteUnneededContents(outbox);
  const finds = sent.flatMap((find): PulledFind[] => {
    const now = getRemoteState(outbox, find);
    return now === undefined
      ? []
      : [{ ...now, isNews: isNews(recordsByIdent.get(find.identCely), now) }];
  });
  const withoutContent = sent.filter(
    ({ identCely }) => ownLookups.get(identCely)?.kind === 'empty',
  );
  return { finds, withoutContent, fromMs };
}

/** Looks up all sent finds: in the list of changes, those that it cannot show one by one. */
async function lookUpAll(
  context: PullContext,
  sent: readonly SentFind[],
  recordsByIdent: PulledRecords,
): Promise<{
  readonly lookups: ReadonlyMap<string, FindLookup>;
  readonly beganMs?: number;
  readonly fromMs?: number;
}> {
  const { outbox } = context;
  const allMs = getFirstSentMs(outbox, sent) - LOOK_BACK_MS;
  const { listed, beganMs, fromMs } = await lookUpSince(context, recordsByIdent, allMs);
  const unexplained = sent.filter(
    ({ identCely }) => !listed.has(identCely) && isOpen(recordsByIdent.get(identCely)),
  );
  const older = unexplained
    .filter((find) => !isAcceptedWithin(outbox, find, fromMs))
    .map(({ identCely }) => identCely);
  const silentMs = getSilentMs(recordsByIdent, listed);
  const lookups = new Map<string, FindLookup>([
    ...(silentMs.size === 0 ? [] : await lookUpUnlisted(context, silentMs, allMs)),
    ...unexplained.map(({ identCely }) => [identCely, { kind: 'missing' }] as const),
    ...listed,
    ...(await lookUpEach(context, older)),
  ]);
  return { lookups, beganMs, fromMs };
}

/**
 * Looks up what changed since the last pull; everything since the first sent find where the
 * service's clock went back.
 */
async function lookUpSince(context: PullContext, recordsByIdent: PulledRecords, allMs: number) {
  const idents = new Set(recordsByIdent.keys());
  const watermarkMs = context.full ? undefined : getPullWatermarkMs(context.outbox);
  if (watermarkMs !== undefined) {
    const overlapMs = computeOverlapMs(context.indexAllowanceMs);
    const fromMs = getSinceMs(watermarkMs - overlapMs, recordsByIdent.values());
    const { lookups, beganMs } = await lookUpChanges(context, idents, fromMs);
    if (beganMs >= watermarkMs) return { listed: lookups, beganMs, fromMs };
    context.onNote?.(formatClockWentBack(FIND_SET, watermarkMs, beganMs));
  }
  const { lookups, beganMs } = await lookUpChanges(context, idents, allMs);
  return { listed: lookups, beganMs, fromMs: allMs };
}

/**
 * Returns the datestamps of records that were not listed. A record that is gone without a tombstone
 * is in no list of changes, and while its index is rebuilt, a list lacks changes.
 */
function getSilentMs(
  recordsByIdent: PulledRecords,
  listed: ReadonlyMap<string, FindLookup>,
): ReadonlyMap<string, number | null> {
  const silentMs = new Map<string, number | null>();
  for (const [ident, record] of recordsByIdent)
    if (record !== undefined && !isOpen(record) && !listed.has(ident))
      silentMs.set(ident, record.datestampMs);
  return silentMs;
}

/**
 * Returns the lower bound of the request; of a service with datestamps in whole days, the start of
 * the day.
 */
function getSinceMs(fromMs: number, records: Iterable<PulledRecord | undefined>): number {
  const isByDay = [...records].some(
    (record) => record?.datestampMs != null && record.datestampMs % DAY_MS === 0,
  );
  return isByDay ? fromMs - (fromMs % DAY_MS) : fromMs;
}

/** Compares with the last pull; a record that is read for the first time, with what was sent. */
function isNews(before: PulledRecord | undefined, now: RemoteState): boolean {
  const { pulled, changes, sent } = now;
  if (before === undefined)
    return pulled.standing !== 'shown' || changes.length > 0 || pulled.stav !== sent.elements.stav;
  return (
    before.standing !== pulled.standing ||
    JSON.stringify(before.record) !== JSON.stringify(pulled.record)
  );
}

/**
 * Tells if a record must be looked up by itself, since no pull has found it: the list of changes
 * does not show if it exists.
 */
function isOpen(record: PulledRecord | undefined): boolean {
  return record === undefined || record.standing === 'missing';
}

/**
 * Tells if the find was accepted within a time, so that it must be on the list of that time. One
 * that a person settled may be older.
 */
function isAcceptedWithin(
  outbox: Outbox,
  { entry }: SentFind,
  fromMs: number,
  untilMs = Number.POSITIVE_INFINITY,
): boolean {
  return listAttempts(outbox, entry).some(({ outcome, serverDateAt, startedAt }) => {
    const sentMs = serverDateAt ?? startedAt;
    return outcome === 'accepted' && sentMs >= fromMs && sentMs <= untilMs;
  });
}

function getFirstSentMs(outbox: Outbox, sent: readonly SentFind[]): number {
  const attempts = sent.flatMap(({ entry }) => listAttempts(outbox, entry));
  return attempts.reduce<number>(
    (first, { bounds, startedAt }) => Math.min(first, bounds?.fromMs ?? startedAt),
    outbox.clock.now(),
  );
}

function remember(outbox: Outbox, identCely: string, lookup: FindLookup | undefined): void {
  if (lookup === undefined) storeSeenTime(outbox, identCely);
  else if (lookup.kind !== 'empty')
    storePulledRecord(outbox, {
      identCely,
      standing: lookup.kind,
      datestampMs: 'datestampMs' in lookup ? lookup.datestampMs : null,
      shown:
        lookup.kind === 'shown' ? { stav: lookup.record.stav, record: lookup.record } : undefined,
    });
}

/**
 * Selects lookups that are proven to be of own records: created by the sending account when the
 * find was sent, shown so before, or deleted since (A10).
 * @throws UsageError where there is none
 */
function filterOwn(
  context: PullContext,
  sent: readonly SentFind[],
  lookups: ReadonlyMap<string, FindLookup>,
  recordsByIdent: PulledRecords,
): Map<string, FindLookup> {
  const ownLookups = new Map<string, FindLookup>();
  let proven = 0;
  for (const find of sent) {
    const lookup = lookups.get(find.identCely);
    const wasOwn = (recordsByIdent.get(find.identCely)?.record ?? null) !== null;
    const isOwn =
      wasOwn ||
      (lookup?.kind === 'shown' && isCreatedByUs(context, find, lookup.record)) ||
      (lookup?.kind === 'deleted' && isAcceptedWithin(context.outbox, find, 0, lookup.datestampMs));
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
  const created = history.find(({ type }) => type === 'SN01');
  const createdMs = Date.parse(created?.at ?? '');
  return listAttempts(outbox, entry).some(
    ({ account, startedAt, serverDateAt }) =>
      account === created?.user &&
      Math.abs((serverDateAt ?? startedAt) - createdMs) <= CREATION_MARGIN_MS,
  );
}

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

const FIND_SET = 'samostatny_nalez';

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
function toListedFind(record: OaiRecord): ListedFind | undefined {
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
async function lookUpUnlisted(
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
