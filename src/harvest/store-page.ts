import { createHash } from 'node:crypto';
import { t } from '../base/language.ts';
import { getSourceBytes, type XmlDocument } from '../base/xml/element.ts';
import type { ListPage } from './client.ts';
import {
  digestRecord,
  formatSetName,
  type HarvestPass,
  type HarvestState,
  type SeenRecord,
  type UnconfirmedLosses,
} from './harvest-state.ts';
import type { OaiRecord } from './protocol.ts';

export type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** A destination for the records of a harvest. */
export type RecordSink = {
  /** Writes records, before they are committed. Must be repeatable after a crash. */
  write?(page: RecordPage): Promise<void>;
  /**
   * Commits records as part of the output; runs in the transaction that commits the page.
   */
  notePage(page: RecordPage): void;
};

type StoredPage = {
  readonly pass: HarvestPass;
  /** New or changed records that the sink has written. */
  readonly written: readonly OaiRecord[];
  /** Reasons for which records were skipped, by identifier. */
  readonly faults: ReadonlyMap<string, string>;
};

/** Parts of a page that are stored. */
export type PageContent = Pick<ListPage<OaiRecord>, 'document' | 'items'> &
  Partial<Pick<ListPage<OaiRecord>, 'broken' | 'cursor'>>;

/**
 * Returns the pass after a page.
 * @param counted the pass with the records of the page
 * @param againMs datestamps of records that the scan had seen before
 */
export type Advance = (counted: HarvestPass, againMs: readonly number[]) => HarvestPass;

/** A record as a page has it; several copies on one page count as one. */
type Occurrence = {
  readonly before: SeenRecord | undefined;
  readonly now: SeenRecord;
  /** Undefined for a record that is not stored. */
  readonly record?: OaiRecord;
};

/**
 * Writes new and changed records of a page to the sink, and commits all records of the page in one
 * transaction with the progress of the pass: after a kill, the page is either complete or read
 * again.
 */
export async function storePage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  pass: HarvestPass,
  page: PageContent,
  advance: Advance,
): Promise<StoredPage> {
  const occurrences = new Map<string, Occurrence>();
  const againMs = addReadable(occurrences, state, pass, page);
  const faults = addSkipped(occurrences, state, pass, page);
  const advanced = advance(countRecords(pass, occurrences), againMs);
  const stored = [...occurrences.values()];
  const written = listRecords(stored.filter(isNews));
  const content = { document: page.document, records: written, seenRecords: listRecords(stored) };
  await sink.write?.(content);
  state.change(() => {
    sink.notePage(content);
    for (const [identifier, { now }] of occurrences) state.markSeen(identifier, now);
    state.savePass(advanced);
  });
  return { pass: advanced, written, faults };
}

function listRecords(occurrences: readonly Occurrence[]): OaiRecord[] {
  return occurrences.flatMap(({ record }) => record ?? []);
}

function isNews({ before, now }: Occurrence): boolean {
  return before?.datestampMs !== now.datestampMs || before.digest !== now.digest;
}

/** @returns datestamps of records that the scan had seen before */
function addReadable(
  occurrences: Map<string, Occurrence>,
  state: HarvestState,
  { scan, window: { untilMs } }: HarvestPass,
  page: PageContent,
): number[] {
  const againMs: number[] = [];
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = occurrences.get(identifier);
    const before = earlier === undefined ? state.findSeen(identifier) : earlier.before;
    const rival = earlier?.now ?? (before?.scan === scan ? before : undefined);
    if (rival !== undefined) againMs.push(datestampMs);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs) continue;
    // A request has whole seconds, so an answer may exceed its window.
    if (untilMs !== null && datestampMs > untilMs) {
      occurrences.set(identifier, makeUnstored(before, scan, false));
      continue;
    }
    const digest = digestRecord(getSourceBytes(page.document, record.element));
    // The answer for the record alone decides between two versions of one datestamp in one scan.
    const isDisputed =
      rival?.skipped === false && rival.datestampMs === datestampMs && rival.digest !== digest;
    const now = { datestampMs, digest, scan, skipped: isDisputed };
    occurrences.set(identifier, { before, now, record });
  }
  return againMs;
}

/**
 * A record that the service empties on purpose is not missing. Its earlier version stays in the
 * output.
 * @returns the reasons
 */
function addSkipped(
  occurrences: Map<string, Occurrence>,
  state: HarvestState,
  { scan, pages }: HarvestPass,
  page: PageContent,
): Map<string, string> {
  const faults = new Map<string, string>();
  const reason = t`the service sent it without content`;
  const emptied = page.items
    .filter(({ lacksContent }) => lacksContent)
    .map(({ header }) => ({ identifier: header.identifier, reason }));
  for (const [index, skipped] of [...(page.broken ?? []), ...emptied].entries()) {
    const name = skipped.identifier ?? `${NAMELESS}${page.cursor ?? pages} ${index}`;
    // The page may have the record with content, too.
    if (occurrences.has(name)) continue;
    occurrences.set(name, makeUnstored(state.findSeen(name), scan, true));
    faults.set(name, skipped.reason);
  }
  return faults;
}

function makeUnstored(before: SeenRecord | undefined, scan: number, skipped: boolean): Occurrence {
  const { datestampMs, digest } = before ?? { datestampMs: 0, digest: '' };
  return { before, now: { datestampMs, digest, scan, skipped } };
}

/** Returns the pass with the records of a page, compared with those of the scan before. */
function countRecords(
  pass: HarvestPass,
  occurrences: ReadonlyMap<string, Occurrence>,
): HarvestPass {
  let { seen: seenCount, agreed } = pass;
  for (const { before, now } of occurrences.values()) {
    if (before?.scan === pass.scan) continue;
    seenCount++;
    // The scan before did not see it, although it is older than the pass.
    if (before?.scan !== pass.scan - 1 && now.datestampMs < pass.beganMs) agreed = null;
  }
  return { ...pass, seen: seenCount, agreed };
}

/** Prefix of the generated key of a skipped record without a readable identifier. */
const NAMELESS = 'broken ';

/** Tells if a key of the state is a skipped record without an identifier. */
export function isUnidentified(name: string): boolean {
  return name.startsWith(NAMELESS);
}

/** Held records that a scan did not see. */
type Losses = {
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

export type LossOptions = {
  readonly state: HarvestState;
  /** Empty: all records of the service. */
  readonly setSpec: string;
  /** Server time in the answer to Identify. */
  readonly serverNowMs: number;
  /** Records of the list that the caller holds; without them, only the count is compared. */
  readonly holdings?: {
    findLost(scan: number): Promise<Losses>;
    /**
     * Stores that records do not exist any more. Must be repeatable after a crash.
     * @returns the number of tombstones
     */
    deleteLost(lost: readonly string[], pass: HarvestPass): Promise<number>;
  };
  /** Treats losses as deletions at once. */
  readonly acceptLosses?: boolean;
  /** Called with messages for the user that are no failures. */
  readonly onNote?: (text: string) => void;
};

/** Either the number of records that were deleted, or losses that do not count yet. */
export type LossSettlement = {
  readonly vanished?: number;
  readonly unconfirmed?: UnconfirmedLosses;
};

const MAX_LOST = 50;
const MAX_LOST_SHARE = 0.1;
/** Exceeds the time in which a service rebuilds its index. */
const CONFIRM_AFTER_MS = 3_600_000;

/**
 * Writes tombstones for held records that a complete full pass did not see. While an index is
 * rebuilt, a list may be empty or short: many losses, one that finds or own terms use, or an empty
 * list count only if a second scan, at least an hour later, lacks the same records, or the caller
 * accepts them.
 */
export async function confirmLosses(
  options: LossOptions,
  pass: HarvestPass,
): Promise<LossSettlement> {
  const { state, holdings, serverNowMs: nowMs, acceptLosses = false } = options;
  if (pass.kind === 'changes' || holdings === undefined) return {};
  const { lost, inUse } = await holdings.findLost(pass.scan);
  const held = pass.seen + lost.length;
  const isEmpty = held === 0 && pass.window.fromMs === null && pass.window.untilMs === null;
  if (!isEmpty && (lost.length === 0 || !canInferDeletion(options, pass))) return {};
  const areFew = lost.length <= Math.min(MAX_LOST, held * MAX_LOST_SHARE);
  const digest = createHash('sha256').update(lost.toSorted().join('\n')).digest('base64');
  const before = state.getUnconfirmedLosses();
  // After a step back of the clock, the hour begins again.
  const isSame = before?.digest === digest && before.sinceMs <= nowMs;
  const sinceMs = isSame ? before.sinceMs : nowMs;
  const isConfirmed = acceptLosses || nowMs - sinceMs >= CONFIRM_AFTER_MS;
  if (!isEmpty && (isConfirmed || (areFew && pass.seen > 0 && inUse.length === 0)))
    return { vanished: await holdings.deleteLost(lost, pass) };
  return { unconfirmed: { lost: lost.length, held, inUse, sinceMs, digest } };
}

function canInferDeletion(
  { state, setSpec, onNote }: LossOptions,
  { window, scan }: HarvestPass,
): boolean {
  // A changed record may have left a window with an end; a skipped record without an identifier may
  // be any of them.
  if (window.untilMs !== null || state.listSkipped().some(isUnidentified)) return false;
  const identifier = state.listSeenIn(scan).find((each) => !each.includes('/id/'));
  if (identifier === undefined) return true;
  const list = formatSetName(setSpec);
  onNote?.(
    t`${list}: the service writes its identifiers in another form (${identifier}), so no record is marked as vanished.`,
  );
  return false;
}
