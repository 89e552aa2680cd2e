import { createHash } from 'node:crypto';
import { msg } from '../base/message.ts';
import { unpackContent } from './claims.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  assignEntryUuid,
  assignRecord,
  assignSentContent,
  entryByUuid,
  eventsOfEntry,
  type ImportContent,
  importOfFind,
  recordKey,
  refreshState,
  schedule,
  selectEntries,
  type Target,
} from './entries.ts';
import type { Entry, Held, ImportEntry, Photograph } from './entry.ts';
import {
  type AttemptedBody,
  EVENT_COLUMNS,
  type EventOf,
  type EventRow,
  type OutboxEvent,
  parseEvent,
  type SentPhotograph,
  serializeEvent,
} from './events.ts';
import { foldEvents } from './fold-events.ts';
import type { Journal } from './journal.ts';
import { headerOf, type Outbox, updateHeader } from './open-outbox.ts';
import { exportEvents, insertEvents, MAX_EVENTS_AT_ONCE } from './record-events.ts';
import { assignFindUuid, findByLocalId, findByUuid, freeLocalId, insertFind } from './stored-finds.ts';

/** Result of a merge. */
export type Merged = {
  readonly events: number;
  /** Finds that only the journal knew. */
  readonly restoredFinds: number;
};

/** The result where there is no journal. */
export const NOTHING_MERGED: Merged = { events: 0, restoredFinds: 0 };

/**
 * Merges the events of the outbox and of the journal both ways. An older copy, a restored backup, a second copy on this machine and a
 * journal that was rebuilt all become complete by it.
 * @param withOpen also attempts without an answer; only under the push lock, since another process may be waiting for the answer
 */
export function mergeJournal(outbox: Outbox, { withOpen }: { readonly withOpen: boolean }): Merged {
  const { journal } = outbox;
  if (journal === undefined) return NOTHING_MERGED;
  resetWatermark(outbox, journal);
  exportEvents(outbox);
  const { outbox: id, mergedSeq } = headerOf(outbox);
  const found = journal.eventsSince(id, mergedSeq);
  const answered = new Set(found.flatMap(({ event }) => (event.kind === 'answered' ? [event.body.attempt] : [])));
  const isOpen = ({ event }: (typeof found)[number]): boolean =>
    !withOpen && event.kind === 'attempted' && !answered.has(event.id) && !isHere(outbox, event.id);
  const firstOpen = found.findIndex(isOpen);
  const taken = found.filter((each) => !isOpen(each)).map(({ event }) => event);
  let events = 0;
  for (let at = 0; at < taken.length; at += MAX_EVENTS_AT_ONCE)
    events += outbox.change(() => takeEvents(outbox, taken.slice(at, at + MAX_EVENTS_AT_ONCE)));
  const restoredFinds = restoreEntries(outbox);
  const last = firstOpen === -1 ? found.at(-1) : found[firstOpen - 1];
  if (last !== undefined) outbox.change(() => updateHeader(outbox, { mergedSeq: last.seq, mergedEvent: last.event.id }));
  return { events, restoredFinds };
}

function isHere(outbox: Outbox, id: string): boolean {
  return outbox.sql('select 1 from events where id = ?').get(id) !== undefined;
}

/**
 * A journal that has another event at the watermark, or not the last one that this outbox wrote into it, was rebuilt, put back, or is
 * another one: everything is merged anew.
 */
function resetWatermark(outbox: Outbox, journal: Journal): void {
  const { mergedSeq, mergedEvent } = headerOf(outbox);
  const lastWritten = outbox.sql('select id from events where in_journal = 1 order by seq desc limit 1').pluck().get();
  const isSame = mergedSeq === 0 ? lastWritten === undefined : journal.eventAt(mergedSeq) === mergedEvent;
  if (isSame && (typeof lastWritten !== 'string' || journal.has(lastWritten))) return;
  outbox.change(() => restartMerge(outbox));
}

/** Has the next merge write all events into the journal, and read all of that. */
export function restartMerge(outbox: Outbox): void {
  outbox.sql('update events set in_journal = 0').run();
  updateHeader(outbox, { mergedSeq: 0, mergedEvent: '' });
}

/** @returns how many were not here */
function takeEvents(outbox: Outbox, events: readonly OutboxEvent[]): number {
  const added = insertEvents(outbox, events, true);
  for (const event of added)
    if (event.kind === 'bound' && headerOf(outbox).account === null) updateHeader(outbox, { account: event.body.account });
  for (const uuid of new Set(added.flatMap(({ entry }) => entry ?? []))) {
    const entry = entryByUuid(outbox, uuid);
    if (entry !== undefined) followEvents(outbox, entry);
  }
  return added.length;
}

/** An import that was sent with content that this file does not have, says what was sent. The find stays as it is here. */
function followEvents(outbox: Outbox, { id, uuid }: Entry): void {
  refreshState(outbox, id);
  const entry = entryByUuid(outbox, uuid);
  if (entry?.kind !== 'import' || !['accepted', 'uncertain', 'sending'].includes(entry.state)) return;
  const sent = lastContent(eventsOfEntry(outbox, uuid));
  if (sent === undefined || entry.document?.equals(sent.document) === true) return;
  assignSentContent(outbox, id, contentOf(sent));
}

type Sent = NonNullable<ReturnType<typeof unpackContent>> & Pick<AttemptedBody, 'digest' | 'project'>;

/** Content that was sent last; undefined where it was thinned away. */
function lastContent(events: readonly OutboxEvent[]): Sent | undefined {
  const last = events.findLast((event) => event.kind === 'attempted');
  const content = last === undefined ? undefined : unpackContent(last.body);
  return last === undefined || content === undefined
    ? undefined
    : { ...content, digest: last.body.digest, project: last.body.project };
}

function contentOf(sent: Sent | undefined): Omit<ImportContent, 'issues'> {
  if (sent === undefined) return { document: null, documentSha512: null, digest: null, project: null };
  const { document, digest, project } = sent;
  return { document, documentSha512: createHash('sha512').update(document).digest(), digest, project };
}

/**
 * Makes the entries that events name and that are not here. Also for events that came before: a find of which the document was thinned
 * away is known again once it is imported again.
 * @returns how many finds were made
 */
function restoreEntries(outbox: Outbox): number {
  // Both indexes are walked once, side by side: nearly always nothing is missing.
  const unordered = outbox
    .sql('select entry from events where entry is not null except select uuid from entries order by 1')
    .pluck()
    .all();
  if (unordered.length === 0) return 0;
  const missing = outbox
    .sql('select entry from events where entry in (select value from json_each(?)) group by entry order by min(seq)')
    .pluck()
    .all(JSON.stringify(unordered)) as string[];
  let restoredFinds = 0;
  for (let at = 0; at < missing.length; at += MAX_EVENTS_AT_ONCE) {
    const some = missing.slice(at, at + MAX_EVENTS_AT_ONCE);
    restoredFinds += outbox.change(() => some.reduce((sum, uuid) => sum + restoreEntry(outbox, uuid), 0));
  }
  return restoredFinds;
}

/** @returns how many finds were made for it */
function restoreEntry(outbox: Outbox, uuid: string): number {
  const events = eventsOfEntry(outbox, uuid);
  // What was sent last is what is wanted.
  const attempted = events.findLast((event) => event.kind === 'attempted');
  if (attempted === undefined) return 0;
  const restored =
    attempted.body.entryKind === 'import'
      ? restoreImport(outbox, attempted, uuid, events)
      : restoreChange(outbox, attempted, uuid);
  const entry = entryByUuid(outbox, uuid);
  if (entry !== undefined) followEvents(outbox, entry);
  return restored;
}

/**
 * The find of an import that is not here. A find of the same local id that reads alike and was never attempted is that find; one that
 * reads otherwise keeps its local id, and a person is asked before it is sent.
 */
function restoreImport(
  outbox: Outbox,
  { find, body }: EventOf<'attempted'>,
  uuid: string,
  events: readonly OutboxEvent[],
): number {
  const sent = lastContent(events);
  const localId = sent?.find.localId ?? body.localId;
  if (find === null || localId === null) return 0;
  const byUuid = findByUuid(outbox, find);
  const same = byUuid ?? findByLocalId(outbox, localId);
  const entry = same === undefined ? undefined : importOfFind(outbox, same.id);
  const reads = new Set(events.flatMap((event) => (event.kind === 'attempted' ? [event.body.digest] : [])));
  if (same !== undefined && entry?.attempts === 0 && reads.has(entry.digest)) {
    assignEntryUuid(outbox, entry.id, uuid);
    if (byUuid === undefined) {
      assignFindUuid(outbox, same, find);
      restoreChangesOf(outbox, find);
    }
    return 0;
  }
  if (byUuid !== undefined && entry === undefined) addImport(outbox, byUuid.id, { ...contentOf(sent), issues: [] }, uuid);
  if (byUuid === undefined && entry !== undefined) holdNamesake(outbox, entry, localId);
  if (sent === undefined || byUuid !== undefined) return 0;
  const findId = insertFind(outbox, {
    ...sent.find,
    uuid: find,
    localId: same === undefined ? localId : freeLocalId(outbox, localId),
  });
  addImport(outbox, findId, { ...contentOf(sent), issues: [] }, uuid);
  return 1;
}

/** Numbers and photographs that hung on the record alone, since their find was not here, are those of the find from now on. */
function restoreChangesOf(outbox: Outbox, find: string): void {
  const uuids = outbox
    .sql(
      'select distinct uuid from entries join events on events.entry = entries.uuid where events.find = ? and entries.find_id is null',
    )
    .pluck()
    .all(find) as string[];
  for (const uuid of uuids) {
    outbox.sql('delete from entries where uuid = ?').run(uuid);
    restoreEntry(outbox, uuid);
  }
}

function holdNamesake(outbox: Outbox, entry: ImportEntry, localId: string): void {
  if (entry.state !== 'queued' && entry.state !== 'draft') return;
  if (foldEvents(eventsOfEntry(outbox, entry.uuid)).rejected.has(localId)) return;
  schedule(outbox, entry.id, { held: localIdQuestion(localId) });
}

/** The question about a find whose local id another one was sent under. */
export function localIdQuestion(localId: string): Held {
  const question = msg`another find was sent from this machine as ${localId}, and reads otherwise: is this one another find?`;
  return { basis: 'local-id-in-use', question, candidates: [localId] };
}

/** A number or a photograph that is not here. What was queued again for the same, and never attempted, is that entry. */
function restoreChange(outbox: Outbox, { find, body }: EventOf<'attempted'>, uuid: string): number {
  const stored = find === null ? undefined : findByUuid(outbox, find);
  const target: Target = { findId: stored?.id ?? null, identCely: body.target };
  if (target.findId === null && target.identCely === null) return 0;
  const same = unsentAlike(outbox, recordKey(target), body);
  if (same !== undefined) {
    assignEntryUuid(outbox, same.id, uuid);
    if (same.identCely === null) assignRecord(outbox, same.id, body.target);
  } else if (body.value !== null) {
    addNumber(outbox, target, body.value, body.expects, uuid);
    queueUnsentBehind(outbox, recordKey(target), uuid);
  } else if (body.photograph !== null) addPhoto(outbox, target, photographOf(body.photograph), uuid);
  return 0;
}

/** Numbers follow one another in the order of their rows: one that was not sent yet must not seem to be replaced by one that was. */
function queueUnsentBehind(outbox: Outbox, key: string, sent: string): void {
  const unsent = selectEntries(
    outbox,
    `record_key = :key and attempts = 0 and entries.kind = 'number' and state = 'queued' and entries.uuid <> :sent`,
    { key, sent },
  );
  for (const entry of unsent) {
    if (entry.kind !== 'number') continue;
    const { id, uuid, findId, identCely, value, expects, held } = entry;
    outbox.sql('delete from entries where id = ?').run(id);
    const behind = addNumber(outbox, { findId, identCely }, value, expects, uuid);
    schedule(outbox, behind, { held });
  }
}

function unsentAlike(outbox: Outbox, key: string, { value, photograph }: AttemptedBody): Entry | undefined {
  const alike =
    photograph === null
      ? selectEntries(outbox, `record_key = :key and attempts = 0 and entries.kind = 'number' and value = :value`, { key, value })
      : selectEntries(outbox, `photo_sha512 = :sha512 and record_key = :key and attempts = 0 and entries.kind = 'photo'`, {
          ...{ key, sha512: Buffer.from(photograph.sha512, 'hex') },
        });
  return alike.at(0);
}

function photographOf({ name, mediaType, sizeBytes, sha512, original, link }: SentPhotograph): Photograph {
  return {
    ...{ name, mediaType, sizeBytes, sha512: Buffer.from(sha512, 'hex') },
    ...(original === null ? {} : { originalSha512: Buffer.from(original, 'hex') }),
    ...(link === null ? {} : { link }),
  };
}

/**
 * Removes the documents of attempts whose records the service shows. Rows and digests stay.
 * @returns how many were removed
 */
export function thinDocuments(outbox: Outbox): number {
  const rows = outbox
    .sql(
      `select ${EVENT_COLUMNS} from events
       where kind = 'attempted' and body ->> 'content' is not null and entry in (
         select uuid from entries join pulled using (ident_cely)
         where kind = 'import' and state = 'accepted' and standing = 'shown')`,
    )
    .all() as EventRow[];
  const thinned = rows.map((row): OutboxEvent => {
    const event = parseEvent(outbox.path, row) as EventOf<'attempted'>;
    return { ...event, body: { ...event.body, content: null } };
  });
  if (thinned.length === 0) return 0;
  outbox.journal?.replaceBodies(thinned);
  outbox.change(() => {
    const replace = outbox.sql('update events set body = :body, crc = :crc where id = :id');
    for (const event of thinned) replace.run(serializeEvent(event));
  });
  return thinned.length;
}

/** Compares the stored states with the events, and corrects them. @returns the local ids or identifiers of what was wrong */
export function rebuildStates(outbox: Outbox): string[] {
  return outbox.change(() => {
    const eventsOf = allEvents(outbox);
    // Not by an index, which may be what is wrong.
    const all = outbox.sql('select id, uuid from entries not indexed order by id').all() as { id: number; uuid: string }[];
    return all.flatMap(({ id, uuid }) => {
      if (!refreshState(outbox, id, eventsOf.get(uuid) ?? [])) return [];
      const row = outbox
        .sql('select coalesce(local_id, ident_cely) from entries left join finds on finds.id = find_id where entries.id = ?')
        .pluck()
        .get(id);
      return [typeof row === 'string' ? row : `${id}`];
    });
  });
}

function allEvents(outbox: Outbox): Map<string, OutboxEvent[]> {
  const eventsOf = new Map<string, OutboxEvent[]>();
  for (const row of outbox.sql(`select ${EVENT_COLUMNS} from events not indexed order by seq`).iterate()) {
    const event = parseEvent(outbox.path, row as EventRow);
    if (event.entry === null) continue;
    const slim = event.kind === 'attempted' ? { ...event, body: { ...event.body, content: null } } : event;
    const known = eventsOf.get(event.entry);
    if (known === undefined) eventsOf.set(event.entry, [slim]);
    else known.push(slim);
  }
  return eventsOf;
}
