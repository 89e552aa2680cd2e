import { t } from '../base/message.ts';
import { getSourceBytes, type XmlDocument } from '../base/xml/element.ts';
import type { ListPage } from './client.ts';
import {
  digestRecord,
  type HarvestPass,
  type HarvestState,
  type SeenRecord,
  type Sighting,
  type Sightings,
} from './harvest-state.ts';
import type { OaiRecord } from './protocol.ts';

/** Records of a page, without those that are skipped. */
export type RecordPage = {
  readonly document: XmlDocument;
  /** New or changed records. */
  readonly records: readonly OaiRecord[];
  /** All records, including unchanged ones. */
  readonly seenRecords: readonly OaiRecord[];
};

/** Reasons by the identifier of the record that cannot be used. */
type RecordFaults = ReadonlyMap<string, string>;

export const NO_FAULTS: RecordFaults = new Map();

/** Where the records of a list are stored: a file, the vocabulary, or the memory of one pull. */
export type RecordStore = {
  readonly state: HarvestState;
  /** Writes records outside the database of the state. Must be repeatable after a crash. */
  write?(page: RecordPage): Promise<void>;
  /**
   * Stores records, or that those written belong to the output; runs in the transaction that
   * commits the page.
   * @returns the faults of records that are seen again in each run until they can be used
   */
  commit(page: RecordPage): RecordFaults;
  /** Records of the list that are held; without it, only the count is compared. */
  readonly holdings?: {
    findLost(scan: number): Promise<Losses>;
    /**
     * Stores that records do not exist any more. Must be repeatable after a crash.
     * @returns the number of tombstones
     */
    deleteLost(lost: readonly string[], pass: HarvestPass): Promise<number>;
  };
};

/** Held records that a scan did not see. */
type Losses = {
  readonly lost: readonly string[];
  /** Identifiers among them that finds or the mapping use. */
  readonly inUse: readonly string[];
};

/** A page of the list, a page of its changes, or a record alone. */
type PageContent = Pick<ListPage<OaiRecord>, 'document' | 'items'>;

/** Compares the records of a page with those that are stored; nothing is written. */
export function comparePage(state: HarvestState, pass: HarvestPass, page: PageContent): Sightings {
  const sightings = new Map<string, Sighting>();
  // A record that the service empties on purpose is not missing. Its earlier version stays in the
  // output.
  const fault = t`the service sent it without content`;
  for (const { header, lacksContent } of page.items) {
    if (!lacksContent) continue;
    const before = state.findSeen(header.identifier);
    const now = makeUnstored(before, pass.scan, true);
    sightings.set(header.identifier, { before, now, fault });
  }
  for (const record of page.items) {
    if (record.lacksContent) continue;
    const { identifier, datestampMs } = record.header;
    const earlier = sightings.get(identifier);
    const before = earlier === undefined ? state.findSeen(identifier) : earlier.before;
    const rival = earlier?.now ?? (before?.scan === pass.scan ? before : undefined);
    // The newer of two versions in one scan wins; an older version than in an earlier scan may be a
    // restored one.
    if (rival !== undefined && rival.datestampMs > datestampMs)
      sightings.set(identifier, earlier ?? { before, now: rival });
    // A request has whole seconds, so an answer may exceed its window.
    else if (datestampMs > (pass.window.untilMs ?? datestampMs))
      sightings.set(identifier, { before, now: makeUnstored(before, pass.scan, false) });
    else {
      const digest = digestRecord(getSourceBytes(page.document, record.element));
      const now = { datestampMs, digest, scan: pass.scan, skipped: false };
      sightings.set(identifier, { before, now, record });
    }
  }
  return sightings;
}

function makeUnstored(before: SeenRecord | undefined, scan: number, skipped: boolean): SeenRecord {
  const { datestampMs, digest } = before ?? { datestampMs: 0, digest: '' };
  return { datestampMs, digest, scan, skipped };
}

/**
 * Stores new and changed records of a page, and commits all its records in one transaction with the
 * pass after it: after a kill, the page is either complete or read again.
 * @returns the new and changed records, and the faults of those that the store cannot use
 */
export async function storePage(
  store: RecordStore,
  document: XmlDocument,
  sightings: Sightings,
  pass: HarvestPass,
): Promise<{ readonly records: readonly OaiRecord[]; readonly faults: RecordFaults }> {
  const { state } = store;
  const seenRecords: OaiRecord[] = [];
  const records: OaiRecord[] = [];
  for (const { before, now, record } of sightings.values()) {
    if (record === undefined) continue;
    seenRecords.push(record);
    const isSame = before?.datestampMs === now.datestampMs && before.digest === now.digest;
    if (!isSame) records.push(record);
  }
  const page = { document, records, seenRecords };
  await store.write?.(page);
  const faults = state.change(() => {
    const found = store.commit(page);
    for (const [identifier, { now }] of sightings)
      state.markSeen(identifier, found.has(identifier) ? { ...now, skipped: true } : now);
    state.savePass(pass);
    return found;
  });
  return { records, faults };
}
