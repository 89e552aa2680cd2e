import { t } from '../base/language.ts';
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

/** A page of the list, a page of its changes, or a record alone. */
type PageContent = Pick<ListPage<OaiRecord>, 'document' | 'items'> &
  Partial<Pick<ListPage<OaiRecord>, 'broken'>>;

/** Compares the records of a page with those that are stored; nothing is written. */
export function comparePage(state: HarvestState, pass: HarvestPass, page: PageContent): Sightings {
  const sightings = new Map<string, Sighting>();
  // A record that the service empties on purpose is not missing. Its earlier version stays in the
  // output.
  const reason = t`the service sent it without content`;
  const emptied = page.items
    .filter(({ lacksContent }) => lacksContent)
    .map(({ header: { identifier } }) => ({ identifier, reason }));
  for (const { identifier, reason: fault } of [...(page.broken ?? []), ...emptied]) {
    const before = state.findSeen(identifier);
    sightings.set(identifier, { before, now: makeUnstored(before, pass.scan, true), fault });
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
 * Writes new and changed records of a page to the sink, and commits all records of the page in one
 * transaction with the pass after it: after a kill, the page is either complete or read again.
 * @returns the new and changed records
 */
export async function storePage(
  { state, sink }: { readonly state: HarvestState; readonly sink: RecordSink },
  document: XmlDocument,
  sightings: Sightings,
  pass: HarvestPass,
): Promise<readonly OaiRecord[]> {
  const seenRecords: OaiRecord[] = [];
  const records: OaiRecord[] = [];
  for (const { before, now, record } of sightings.values()) {
    if (record === undefined) continue;
    seenRecords.push(record);
    const isSame = before?.datestampMs === now.datestampMs && before.digest === now.digest;
    if (!isSame) records.push(record);
  }
  const content = { document, records, seenRecords };
  await sink.write?.(content);
  state.change(() => {
    sink.notePage(content);
    for (const [identifier, { now }] of sightings) state.markSeen(identifier, now);
    state.savePass(pass);
  });
  return records;
}
