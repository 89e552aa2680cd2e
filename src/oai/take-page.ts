import { hash } from 'node:crypto';
import { t } from '../base/language.ts';
import { getSourceBytes, type XmlDocument } from '../xml/element.ts';
import type { ListPage } from './client.ts';
import type { HarvestState, SeenRecord } from './harvest-state.ts';
import type { HarvestPass } from './pass.ts';
import { isDay, type OaiRecord } from './protocol.ts';

type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** A destination for the records of a harvest. */
export type RecordSink = {
  /** Writes records, before they are committed. Must be repeatable after a crash. */
  write(page: RecordPage): Promise<void>;
  /**
   * Commits what was written as part of the output; runs in the transaction that commits its
   * records.
   */
  notePage(): void;
};

export type PageResult = {
  /** New or changed records that the sink has written. */
  readonly written: readonly OaiRecord[];
  /** Number of records that this scan had not seen before. */
  readonly newInScan: number;
  /** Reasons for which records were skipped, by identifier. */
  readonly faults: ReadonlyMap<string, string>;
  /** Identifiers of records of which this scan saw two versions with one datestamp. */
  readonly disputed: readonly string[];
};

/** A record as a page has it; several copies on one page count as one. */
type Occurrence = SeenRecord & {
  /** Undefined for a record that is not stored. */
  readonly record: OaiRecord | undefined;
  readonly knownRecord: SeenRecord | undefined;
  readonly isDisputed: boolean;
};

type Occurrences = Map<string, Occurrence>;

/**
 * Writes new and changed records of a page to the sink, and commits all records of the page in one
 * transaction with the progress of the pass: after a kill, the page is either complete or read
 * again.
 * @param advance gets the pass with the records counted, and the datestamps of those that the scan
 * had seen before
 */
export async function takePage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  pass: HarvestPass,
  page: ListPage<OaiRecord>,
  advance: (pass: HarvestPass, againMs: readonly number[]) => HarvestPass = (counted) => counted,
): Promise<PageResult> {
  const occurrences: Occurrences = new Map();
  const againMs = addReadable(occurrences, state, pass, page);
  const faults = addSkipped(occurrences, state, pass, page);
  const counted = countRecords(pass, occurrences);
  const kept = [...occurrences.values()].filter(({ record }) => record !== undefined);
  const written = listRecords(kept.filter(isNews));
  await sink.write({ document: page.document, records: written, seenRecords: listRecords(kept) });
  const isByDay = page.items.some(({ header }) => isDay(header.datestamp));
  state.change(() => {
    sink.notePage();
    if (isByDay && !state.isStampedByDay()) state.markDayGranularity();
    for (const [identifier, occurrence] of occurrences) state.markSeen(identifier, occurrence);
    state.savePass(advance(counted, againMs));
  });
  const disputed = [...occurrences].flatMap(([identifier, { isDisputed }]) =>
    isDisputed ? [identifier] : [],
  );
  return { written, newInScan: counted.seen - pass.seen, faults, disputed };
}

function listRecords(occurrences: readonly Occurrence[]): OaiRecord[] {
  return occurrences.flatMap(({ record }) => record ?? []);
}

function isNews({ knownRecord, datestampMs, digest }: Occurrence): boolean {
  return knownRecord?.datestampMs !== datestampMs || knownRecord.digest !== digest;
}

/** @returns datestamps of records that the scan had seen before */
function addReadable(
  occurrences: Occurrences,
  state: HarvestState,
  { scan, window: { untilMs } }: HarvestPass,
  page: ListPage<OaiRecord>,
): number[] {
  const againMs: number[] = [];
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = occurrences.get(identifier);
    const knownRecord = earlier === undefined ? state.findSeen(identifier) : earlier.knownRecord;
    const rival = earlier ?? (knownRecord?.scan === scan ? knownRecord : undefined);
    if (rival !== undefined) againMs.push(datestampMs);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs) continue;
    // A request has whole seconds, so an answer may exceed its window.
    if (untilMs !== null && datestampMs > untilMs) {
      occurrences.set(identifier, makeUnstored(knownRecord, scan, false));
      continue;
    }
    const digest = digestRecord(getSourceBytes(page.document, record.element));
    const isDisputed = rival?.datestampMs === datestampMs && rival.digest !== digest;
    const skipped = false;
    const version = { datestampMs, digest, scan, skipped };
    occurrences.set(identifier, { ...version, record, knownRecord, isDisputed });
  }
  return againMs;
}

/**
 * A record that the service empties on purpose is not missing. Its earlier version stays in the
 * output.
 * @returns the reasons
 */
function addSkipped(
  occurrences: Occurrences,
  state: HarvestState,
  { scan, pages }: HarvestPass,
  page: ListPage<OaiRecord>,
): Map<string, string> {
  const faults = new Map<string, string>();
  const emptied = page.items
    .filter(({ lacksContent }) => lacksContent)
    .map(({ header: { identifier } }) => ({
      identifier,
      reason: t`the service sent it without content`,
    }));
  [...page.broken, ...emptied].forEach(({ identifier, reason }, index) => {
    // The page may have the record with content, too.
    if (identifier !== undefined && occurrences.has(identifier)) return;
    const name = identifier ?? `${NAMELESS}${page.cursor ?? pages} ${index}`;
    occurrences.set(name, makeUnstored(state.findSeen(name), scan, true));
    faults.set(name, reason);
  });
  return faults;
}

function makeUnstored(
  knownRecord: SeenRecord | undefined,
  scan: number,
  skipped: boolean,
): Occurrence {
  const { datestampMs, digest } = knownRecord ?? { datestampMs: 0, digest: '' };
  const version = { datestampMs, digest, scan, skipped };
  return { ...version, record: undefined, knownRecord, isDisputed: false };
}

/** Returns the pass with the records of a page, compared with those of the scan before. */
function countRecords(pass: HarvestPass, occurrences: Occurrences): HarvestPass {
  let { seen: seenCount, unmet, overlooked } = pass;
  for (const { knownRecord, datestampMs } of occurrences.values()) {
    const lastScan = knownRecord?.scan ?? 0;
    if (lastScan === pass.scan) continue;
    seenCount++;
    if (unmet === null) continue;
    if (lastScan === pass.scan - 1) unmet--;
    else if (datestampMs < pass.beganMs) overlooked++;
  }
  return { ...pass, seen: seenCount, unmet, overlooked };
}

/** Prefix of the generated key of a skipped record without a readable identifier. */
const NAMELESS = 'broken ';

/** Tells if a key of the state is a skipped record without an identifier. */
export function isUnidentified(name: string): boolean {
  return name.startsWith(NAMELESS);
}

const DIGEST_CHARACTERS = 16;

/** Returns the digest that change detection compares. */
export function digestRecord(bytes: Buffer): string {
  return hash('sha256', bytes, 'base64').slice(0, DIGEST_CHARACTERS);
}
