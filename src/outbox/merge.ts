import { createHash } from 'node:crypto';
import { msg } from '../base/message.ts';
import { createRowParser, isNumber, isText, parseTexts } from '../store/database.ts';
import { type SentContent, unpackContent } from './claims.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  assignEntryUuid,
  assignRecord,
  assignSentContent,
  type ImportContent,
  listEventsOfEntry,
  refreshState,
  removeEntry,
  schedule,
} from './entries.ts';
import type { Entry, HeldQuestion, ImportEntry } from './entry.ts';
import {
  findEntryByUuid,
  findImportOfFind,
  findUntriedAlike,
  listUntriedNumbers,
  makeRecordKey,
  type Target,
} from './entry-queries.ts';
import {
  type EventOf,
  type OutboxEvent,
  parseEvent,
  parsePhotograph,
  serializeEvent,
} from './events.ts';
import { foldEvents } from './fold-events.ts';
import type { Journal } from './journal.ts';
import { type Outbox, readHeader, updateHeader } from './open-outbox.ts';
import { exportEvents, insertEvents, MAX_EVENTS_AT_ONCE } from './record-events.ts';
import {
  assignFindUuid,
  findByLocalId,
  findByUuid,
  freeLocalId,
  insertFind,
} from './stored-finds.ts';

export type MergeResult = {
  readonly events: number;
  /** Finds that only the journal had. */
  readonly restoredFinds: number;
};

export const NOTHING_MERGED: MergeResult = { events: 0, restoredFinds: 0 };

/**
 * Merges the events of the outbox and of the journal both ways. This completes an older copy, a
 * restored backup, a second copy on this machine and a rebuilt journal.
 * @param withOpen includes attempts without an answer; only under the push lock, since another
 * process may be waiting for the answer
 */
export function mergeJournal(
  outbox: Outbox,
  { withOpen }: { readonly withOpen: boolean },
): MergeResult {
  const { journal } = outbox;
  if (journal === undefined) return NOTHING_MERGED;
  resetWatermark(outbox, journal);
  exportEvents(outbox);
  const { outbox: id, mergedSeq } = readHeader(outbox);
  const isOpen = (event: OutboxEvent): boolean =>
    !withOpen &&
    event.kind === 'attempted' &&
    !isHere(outbox, event.id) &&
    !journal.isAnswered(event);
  const readSince = (seq: number) => journal.listEventsSince(id, seq, MAX_EVENTS_AT_ONCE);
  let isBroken = false;
  let hasMore = false;
  let events = 0;
  let last: ReturnType<typeof readSince>[number] | undefined;
  for (let page = readSince(mergedSeq); page.length > 0; page = readSince(page.at(-1)?.seq ?? 0)) {
    const taken = page.flatMap(({ event }) => (isOpen(event) ? [] : [event]));
    if (taken.length > 0) events += outbox.change(() => applyEvents(outbox, taken));
    hasMore ||= taken.length > 0;
    // The next merge reads again from the first open attempt on.
    const firstOpen =
      taken.length === page.length ? -1 : page.findIndex(({ event }) => isOpen(event));
    if (!isBroken) last = firstOpen === -1 ? page.at(-1) : (page[firstOpen - 1] ?? last);
    isBroken ||= firstOpen !== -1;
  }
  const restoredFinds = hasMore || withOpen ? restoreEntries(outbox) : 0;
  if (last !== undefined)
    outbox.change(() => updateHeader(outbox, { mergedSeq: last.seq, mergedEvent: last.event.id }));
  return { events, restoredFinds };
}

function isHere(outbox: Outbox, id: string): boolean {
  return outbox.sql('select 1 from events where id = ?').get(id) !== undefined;
}

/**
 * Resets the watermark of a rebuilt, restored or replaced journal: its events differ at the
 * watermark, or lack the last.
 */
function resetWatermark(outbox: Outbox, journal: Journal): void {
  const { mergedSeq, mergedEvent } = readHeader(outbox);
  const lastWritten = outbox
    .sql('select id from events where in_journal = 1 order by seq desc limit 1')
    .pluck()
    .get();
  const isSame =
    mergedSeq === 0 ? lastWritten === undefined : journal.findEventAt(mergedSeq) === mergedEvent;
  if (isSame && (typeof lastWritten !== 'string' || journal.has(lastWritten))) return;
  outbox.change(() => restartMerge(outbox));
}

/** Makes the next merge write all events into the journal, and read all of its events. */
export function restartMerge(outbox: Outbox): void {
  outbox.sql('update events set in_journal = 0').run();
  updateHeader(outbox, { mergedSeq: 0, mergedEvent: '' });
}

/** @returns the number of new events */
function applyEvents(outbox: Outbox, events: readonly OutboxEvent[]): number {
  const added = insertEvents(outbox, events, true);
  for (const event of added)
    if (event.kind === 'bound' && readHeader(outbox).account === null)
      updateHeader(outbox, { account: event.body.account });
  for (const uuid of new Set(added.flatMap(({ entry }) => entry ?? []))) {
    const entry = findEntryByUuid(outbox, uuid);
    if (entry !== undefined) followEvents(outbox, entry);
  }
  return added.length;
}

/**
 * Takes over the sent content of an import where this file has another one. The find stays as it
 * is.
 */
function followEvents(outbox: Outbox, { id, uuid }: Entry): void {
  refreshState(outbox, id);
  const entry = findEntryByUuid(outbox, uuid);
  if (entry?.kind !== 'import' || !['accepted', 'uncertain', 'sending'].includes(entry.state))
    return;
  const sent = findLastContent(listEventsOfEntry(outbox, uuid));
  if (sent === undefined || entry.document?.equals(sent.document) === true) return;
  assignSentContent(outbox, id, toContent(sent));
}

/** Returns the content that was sent last; undefined after thinning. */
function findLastContent(events: readonly OutboxEvent[]): SentContent | undefined {
  const last = events.findLast((event) => event.kind === 'attempted');
  return last === undefined ? undefined : unpackContent(last.body);
}

function toContent(sent: SentContent | undefined): ImportContent {
  if (sent === undefined)
    return { document: null, documentSha512: null, digest: null, project: null, issues: [] };
  const { document, digest, project } = sent;
  return {
    document,
    documentSha512: createHash('sha512').update(document).digest(),
    digest,
    project,
    issues: [],
  };
}

/**
 * Restores entries that only events name, including events of earlier merges: a find whose document
 * was thinned is known again once it is imported again.
 * @returns the number of restored finds
 */
export function restoreEntries(outbox: Outbox): number {
  // Both indexes are walked once, side by side: nearly always nothing is missing.
  const unordered = outbox
    .sql(
      'select entry from events where entry is not null except select uuid from entries order by 1',
    )
    .pluck()
    .all();
  if (unordered.length === 0) return 0;
  const missing = parseTexts(
    outbox
      .sql(
        'select entry from events where entry in (select value from json_each(?)) group by entry order by min(seq)',
      )
      .pluck()
      .all(JSON.stringify(unordered)),
  );
  let restoredFinds = 0;
  for (let at = 0; at < missing.length; at += MAX_EVENTS_AT_ONCE) {
    const some = missing.slice(at, at + MAX_EVENTS_AT_ONCE);
    restoredFinds += outbox.change(() =>
      some.reduce((sum, uuid) => sum + restoreEntry(outbox, uuid), 0),
    );
  }
  return restoredFinds;
}

/** @returns the number of finds restored for it */
function restoreEntry(outbox: Outbox, uuid: string): number {
  const events = listEventsOfEntry(outbox, uuid);
  // The content that was sent last is the intended one.
  const attempted = events.findLast((event) => event.kind === 'attempted');
  if (attempted === undefined) return 0;
  const restored =
    attempted.body.entryKind === 'import'
      ? restoreImport(outbox, attempted, uuid, events)
      : restoreChange(outbox, attempted, uuid);
  const entry = findEntryByUuid(outbox, uuid);
  if (entry !== undefined) followEvents(outbox, entry);
  return restored;
}

/**
 * Restores the find of an import. An equal find with the same local id that was never attempted is
 * used for it; a different one keeps its local id, and is held with a question.
 */
function restoreImport(
  outbox: Outbox,
  { find, body }: EventOf<'attempted'>,
  uuid: string,
  events: readonly OutboxEvent[],
): number {
  const sent = findLastContent(events);
  const localId = sent?.find.localId ?? body.localId;
  if (find === null || localId === null) return 0;
  const byUuid = findByUuid(outbox, find);
  const same = byUuid ?? findByLocalId(outbox, localId);
  const entry = same === undefined ? undefined : findImportOfFind(outbox, same.id);
  const reads = new Set(
    events.flatMap((event) => (event.kind === 'attempted' ? [event.body.digest] : [])),
  );
  if (same !== undefined && entry?.attempts === 0 && reads.has(entry.digest)) {
    assignEntryUuid(outbox, entry.id, uuid);
    if (byUuid === undefined) {
      assignFindUuid(outbox, same, find);
      restoreChanges(outbox, find);
    }
    return 0;
  }
  if (byUuid !== undefined && entry === undefined)
    addImport(outbox, byUuid.id, toContent(sent), uuid);
  if (byUuid === undefined && entry !== undefined) holdNamesake(outbox, entry, localId);
  if (sent === undefined || byUuid !== undefined) return 0;
  const findId = insertFind(outbox, {
    ...sent.find,
    uuid: find,
    localId: same === undefined ? localId : freeLocalId(outbox, localId),
  });
  addImport(outbox, findId, toContent(sent), uuid);
  return 1;
}

/** Attaches numbers and photographs that had only the record to the restored find. */
function restoreChanges(outbox: Outbox, find: string): void {
  const uuids = outbox
    .sql(
      'select distinct uuid from entries join events on events.entry = entries.uuid where events.find = ? and entries.find_id is null',
    )
    .pluck()
    .all(find);
  for (const uuid of parseTexts(uuids)) {
    outbox.sql('delete from entries where uuid = ?').run(uuid);
    restoreEntry(outbox, uuid);
  }
}

function holdNamesake(outbox: Outbox, entry: ImportEntry, localId: string): void {
  if (entry.state !== 'queued' && entry.state !== 'draft') return;
  if (foldEvents(listEventsOfEntry(outbox, entry.uuid)).rejected.has(localId)) return;
  schedule(outbox, entry.id, { held: makeLocalIdQuestion(localId) });
}

/** Makes the question about a find whose local id was sent for another one. */
export function makeLocalIdQuestion(localId: string): HeldQuestion {
  const question = msg`a find with other values was sent from this machine as ${localId}: is this one a different find?`;
  return { basis: 'local-id-in-use', question, candidates: [localId] };
}

/**
 * Restores a number or a photograph. An equal entry that was queued again and never attempted is
 * used for it.
 */
function restoreChange(outbox: Outbox, { find, body }: EventOf<'attempted'>, uuid: string): number {
  const stored = find === null ? undefined : findByUuid(outbox, find);
  const target: Target = { findId: stored?.id ?? null, identCely: body.target };
  if (target.findId === null && target.identCely === null) return 0;
  const sha512 = body.photograph === null ? undefined : Buffer.from(body.photograph.sha512, 'hex');
  const same = findUntriedAlike(outbox, makeRecordKey(target), { value: body.value, sha512 });
  if (same !== undefined) {
    assignEntryUuid(outbox, same.id, uuid);
    if (same.identCely === null) assignRecord(outbox, same.id, body.target);
  } else if (body.value !== null) {
    addNumber(outbox, target, body.value, body.expects, uuid);
    queueUnsentBehind(outbox, makeRecordKey(target), uuid);
  } else if (body.photograph !== null)
    addPhoto(outbox, target, parsePhotograph(body.photograph), uuid);
  return 0;
}

/**
 * Numbers are ordered by row: an unsent one must come behind a sent one, so that it does not count
 * as superseded.
 */
function queueUnsentBehind(outbox: Outbox, key: string, sent: string): void {
  for (const { id, uuid, findId, identCely, value, expects, held } of listUntriedNumbers(
    outbox,
    key,
    sent,
  )) {
    removeEntry(outbox, id);
    const behind = addNumber(outbox, { findId, identCely }, value, expects, uuid);
    schedule(outbox, behind, { held });
  }
}

/**
 * Removes documents, not digests, of attempts whose records the service shows.
 * @returns the number of documents
 */
export function thinDocuments(outbox: Outbox): number {
  const rows = outbox
    .sql(
      `select * from events
       where kind = 'attempted' and body ->> 'content' is not null and entry in (
         select uuid from entries join pulled using (ident_cely)
         where kind = 'import' and state = 'accepted' and standing = 'shown')`,
    )
    .all();
  const thinned = rows.map((row) => withoutContent(parseEvent(outbox.path, row)));
  if (thinned.length === 0) return 0;
  outbox.journal?.replaceBodies(thinned);
  outbox.change(() => {
    const replace = outbox.sql('update events set body = :body, crc = :crc where id = :id');
    for (const event of thinned) replace.run(serializeEvent(event));
  });
  return thinned.length;
}

const parseNamed = createRowParser({ id: isNumber, uuid: isText });

/**
 * Compares the stored states with the events, and corrects them.
 * @returns the local ids or identifiers of corrected entries
 */
export function rebuildStates(outbox: Outbox): string[] {
  return outbox.change(() => {
    const eventsByEntry = readAllEvents(outbox);
    // Uses no index, since that may be damaged.
    const all = outbox.sql('select id, uuid from entries not indexed order by id').all();
    return all.map(parseNamed).flatMap(({ id, uuid }) => {
      if (!refreshState(outbox, id, eventsByEntry.get(uuid) ?? [])) return [];
      const row = outbox
        .sql(
          'select coalesce(local_id, ident_cely) from entries left join finds on finds.id = find_id where entries.id = ?',
        )
        .pluck()
        .get(id);
      return [typeof row === 'string' ? row : `${id}`];
    });
  });
}

function withoutContent(event: OutboxEvent): OutboxEvent {
  return event.kind === 'attempted' ? { ...event, body: { ...event.body, content: null } } : event;
}

function readAllEvents(outbox: Outbox): Map<string, OutboxEvent[]> {
  const eventsByEntry = new Map<string, OutboxEvent[]>();
  for (const row of outbox.sql(`select * from events not indexed order by seq`).iterate()) {
    const slim = withoutContent(parseEvent(outbox.path, row));
    if (slim.entry === null) continue;
    const eventsBefore = eventsByEntry.get(slim.entry);
    if (eventsBefore === undefined) eventsByEntry.set(slim.entry, [slim]);
    else eventsBefore.push(slim);
  }
  return eventsByEntry;
}
