import { DatabaseError, PasError } from '../base/errors.ts';
import { type Message, msg, serializeValue } from '../base/message.ts';
import type { EvidenceBasis } from './attempts.ts';
import { eventsOfEntry, refreshState, setReason } from './entries.ts';
import type { Entry } from './entry.ts';
import { entryByUuid } from './entry-queries.ts';
import {
  type DecidedBody,
  type EvidenceBody,
  newEventId,
  type OutboxEvent,
  parseNumberedEvent,
  serializeEvent,
  serializeMessage,
} from './events.ts';
import { foldEvents } from './fold-events.ts';
import { type Outbox, readHeader } from './open-outbox.ts';

/** An event without the fields that are set when it is recorded. */
export type NewEvent = {
  readonly [Kind in OutboxEvent['kind']]: {
    readonly kind: Kind;
    readonly entry: Entry | null;
    readonly body: Extract<OutboxEvent, { kind: Kind }>['body'];
    readonly id?: string;
    /** New reason of the entry; undefined leaves it unchanged. */
    readonly reason?: Message | null;
  };
}[OutboxEvent['kind']];

/** Events per transaction, so that other writers wait only briefly. */
export const MAX_EVENTS_AT_ONCE = 500;

/** Kinds that concern the service: they stay true even if the outbox's transaction is rolled back. */
const JOURNAL_FIRST: readonly string[] = ['attempted', 'answered'] satisfies OutboxEvent['kind'][];

/**
 * Records events, and updates the states of their entries. Attempts and answers are on disk in the journal before they are in the
 * outbox. Decisions and evidence are written to the journal after the outbox: those of a rolled back transaction must not return
 * with the next merge. Without a usable journal that merge adds them.
 */
export function recordEvents(outbox: Outbox, drafts: readonly NewEvent[]): OutboxEvent[] {
  return outbox.change(() => {
    const { outbox: id } = readHeader(outbox);
    const positions = new Map<string, number>();
    const events = drafts.map((draft): OutboxEvent => {
      const uuid = draft.entry?.uuid ?? null;
      const position = (positions.get(uuid ?? '') ?? getLastPosition(outbox, uuid)) + 1;
      positions.set(uuid ?? '', position);
      const head = { id: draft.id ?? newEventId(), outbox: id, find: draft.entry?.findUuid ?? null, entry: uuid, position };
      return { ...head, kind: draft.kind, body: draft.body } as OutboxEvent;
    });
    const early = events.filter(({ kind }) => JOURNAL_FIRST.includes(kind));
    const late = events.filter((event) => !early.includes(event));
    outbox.journal?.append(early);
    insertEvents(outbox, early, outbox.journal !== undefined);
    insertEvents(outbox, late, false);
    if (late.length > 0) outbox.afterCommit(() => exportIfPossible(outbox));
    for (const [uuid, reason] of collectLastReasons(drafts)) {
      const entry = entryByUuid(outbox, uuid);
      if (entry === undefined) continue;
      refreshState(outbox, entry.id);
      if (reason !== undefined) setReason(outbox, entry.id, serializeMessage(reason));
    }
    return events;
  });
}

/** Ignores a busy or read-only journal; the next merge adds the events. */
function exportIfPossible(outbox: Outbox): void {
  try {
    exportEvents(outbox);
  } catch (thrown) {
    if (!(thrown instanceof PasError)) throw thrown;
  }
}

export function exportEvents(outbox: Outbox): void {
  const { journal } = outbox;
  if (journal === undefined) return;
  const query = outbox.sql(`select * from events where in_journal = 0 order by seq limit ${MAX_EVENTS_AT_ONCE}`);
  for (let rows = query.all(); rows.length > 0; rows = query.all()) {
    const events = rows.map((row) => parseNumberedEvent(outbox.path, row));
    journal.append(events.map(({ event }) => event));
    outbox.change(() => outbox.sql('update events set in_journal = 1 where in_journal = 0 and seq <= ?').run(events.at(-1)?.seq));
  }
}

/** Returns the new reason of each entry; undefined where it stays. */
function collectLastReasons(drafts: readonly NewEvent[]): Map<string, Message | null | undefined> {
  const reasons = new Map<string, Message | null | undefined>();
  for (const { entry, reason } of drafts)
    if (entry !== null) reasons.set(entry.uuid, reason === undefined ? reasons.get(entry.uuid) : reason);
  return reasons;
}

/** Returns the position of the last event of an entry; 0 where there is none. */
export function getLastPosition(outbox: Outbox, entry: string | null): number {
  const query = entry === null ? 'entry is null' : 'entry = :entry';
  const position = outbox
    .sql(`select max(position) from events where ${query}`)
    .pluck()
    .get(entry === null ? {} : { entry });
  return typeof position === 'number' ? position : 0;
}

/** Adds missing events. @returns those that were added */
export function insertEvents(outbox: Outbox, events: readonly OutboxEvent[], inJournal: boolean): OutboxEvent[] {
  const insert = outbox.sql(
    `insert into events (id, outbox, find, entry, position, kind, body, crc, in_journal)
     values (:id, :outbox, :find, :entry, :position, :kind, :body, :crc, :inJournal) on conflict (id) do nothing`,
  );
  return events.filter((event) => insert.run({ ...serializeEvent(event), inJournal: inJournal ? 1 : 0 }).changes === 1);
}

/** Records evidence about all attempts of an entry with unknown outcome. */
export function recordEvidence(
  outbox: Outbox,
  entry: Entry,
  verdict: { readonly kind: 'found'; readonly identCely: string } | { readonly kind: 'absent' },
  { basis, reason, candidates, serverAt }: EvidenceBasis,
  account: string | null,
): void {
  const identCely = verdict.kind === 'found' ? verdict.identCely : null;
  const body = {
    ...{ basis, candidates, identCely, account, serverMs: serverAt },
    attempts: unsettledAttempts(outbox, entry),
    at: Math.floor(outbox.clock.now()),
    reason: serializeValue(reason) as EvidenceBody['reason'],
  };
  outbox.change(() => {
    recordEvents(outbox, [{ kind: verdict.kind, entry, body, reason }]);
    outbox.sql('delete from looks where entry_id = ?').run(entry.id);
  });
}

interface NewDecision extends Partial<DecidedBody> {
  readonly answer: DecidedBody['answer'];
  readonly by: DecidedBody['by'];
  readonly group: string;
}

/** Makes a decision about an entry and all its attempts of unknown outcome. */
export function decisionAbout(outbox: Outbox, entry: Entry, decided: NewDecision, reason: Message): NewEvent {
  const body: DecidedBody = {
    ...{ identCely: null, candidates: [], of: null, attempts: unsettledAttempts(outbox, entry) },
    ...decided,
    at: Math.floor(outbox.clock.now()),
    reason: serializeValue(reason) as DecidedBody['reason'],
  };
  return { kind: 'decided', entry, body, reason };
}

/** Returns attempts without a conclusive answer, and those whose record the service gave to another find. */
function unsettledAttempts(outbox: Outbox, { uuid }: Entry): string[] {
  const events = eventsOfEntry(outbox, uuid);
  const { open, unknown } = foldEvents(events);
  const answered = new Set(
    events.flatMap((event) => (event.kind === 'answered' && event.body.settles !== 'unknown' ? [event.body.attempt] : [])),
  );
  const unanswered = events.flatMap(({ kind, id }) => (kind === 'attempted' && !answered.has(id) ? [id] : []));
  return [...new Set([...unanswered, ...open, ...unknown])];
}

/** @throws DatabaseError or DatabaseTooNewError where the journal is unusable: nothing may be sent without it */
export function assertJournal(outbox: Outbox): NonNullable<Outbox['journal']> {
  if (outbox.journal !== undefined) return outbox.journal;
  throw outbox.journalProblem ?? new DatabaseError(msg`${outbox.path}: there is no journal, so nothing can be sent.`);
}
