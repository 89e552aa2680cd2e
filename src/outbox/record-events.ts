import { asServerMs, type ServerMs } from '../base/clock.ts';
import { DatabaseError, PasError } from '../base/errors.ts';
import {
  deserializeValue,
  type Message,
  msg,
  type StoredMessage,
  serializeValue,
} from '../base/message.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../base/outcomes.ts';
import { computeEntryBackoffMs, RETRY_POLICY } from '../base/retry-policy.ts';
import { createRowParser, isNumber, isText, orNull } from '../store/database.ts';
import { listEventsOfEntry, refreshState, setReason } from './entries.ts';
import type { Attempt, AttemptBounds, Entry, EntryId } from './entry.ts';
import { findEntryByUuid } from './entry-queries.ts';
import { serializeHeld } from './entry-row.ts';
import {
  type AnsweredBody,
  type AttemptedBody,
  type DecidedBody,
  type EventOf,
  type EvidenceBody,
  makeEventId,
  type OutboxEvent,
  parseNumberedEvent,
  parseStored,
  serializeEvent,
  serializeMessage,
} from './events.ts';
import { foldEvents } from './fold-events.ts';
import { type Outbox, readHeader } from './open-outbox.ts';

export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

type EvidenceBasis = {
  /** Stable code. */
  readonly basis: string;
  readonly reason: Message;
  readonly candidates: readonly string[];
  readonly serverAt: ServerMs | null;
};

/** A conclusion about an entry of unknown outcome. */
export type AttemptEvidence = EvidenceBasis & {
  /** Wall clock; only displayed. */
  readonly foundAt: number;
  readonly verdict: EvidenceVerdict;
};

/**
 * Returns the attempts of an entry, oldest first.
 * @throws DatabaseError where an event is damaged
 */
export function listAttempts(outbox: Outbox, entry: Entry): Attempt[] {
  return selectAttempts(listEventsOfEntry(outbox, entry.uuid), entry.id);
}

function selectAttempts(events: readonly OutboxEvent[], entryId: Entry['id']): Attempt[] {
  const answers = new Map(
    events.flatMap((event) =>
      event.kind === 'answered' ? [[event.body.attempt, event.body] as const] : [],
    ),
  );
  return events
    .filter((event) => event.kind === 'attempted')
    .map(({ id, body }): Attempt => {
      const answer = answers.get(id);
      return {
        id,
        entryId,
        startedAt: body.at,
        method: body.method,
        path: body.path,
        account: body.account,
        bounds: getBounds(body, answer),
        endedAt: answer?.at ?? null,
        serverDateAt: answer?.serverDateMs ?? null,
        status: answer?.status ?? null,
        outcome: answer?.outcome ?? null,
        reason: answer?.reason == null ? null : (deserializeValue(answer.reason) as Message),
      };
    });
}

/**
 * An answer of the service, even a 500, means that it has finished the attempt. After any other end
 * it may still work on it for `settleMs`: a status outside the contract may be a proxy's.
 */
function getBounds(
  { fromMs, sentByMs, settleMs }: AttemptedBody,
  answer: AnsweredBody | undefined,
): AttemptBounds | null {
  if (fromMs === null) return null;
  const endedMs = asServerMs(Math.max(fromMs, answer?.endedMs ?? sentByMs ?? fromMs));
  const settledMs = asServerMs(endedMs + settleMs);
  const hasEnded =
    answer !== undefined &&
    answer.endedMs !== null &&
    (answer.settles !== 'unknown' || answer.status === 500);
  return { fromMs, untilMs: hasEnded ? endedMs : settledMs, settledMs };
}

/** Counts the last consecutive attempts that ended with this outcome. */
export function countAttemptsInARow(outbox: Outbox, entry: Entry, outcome: AttemptOutcome): number {
  let count = 0;
  for (const attempt of listAttempts(outbox, entry).reverse()) {
    if (attempt.endedAt === null) continue;
    if (attempt.outcome !== outcome) break;
    count += 1;
  }
  return count;
}

const parseLookup = createRowParser({
  foundAt: isNumber,
  serverAt: orNull(isNumber),
  basis: isText,
  reason: isText,
  candidates: isText,
});

/** Returns the conclusions about an entry in order; the last inconclusive lookup comes last. */
export function listEvidence(outbox: Outbox, { id, uuid }: Entry): AttemptEvidence[] {
  const settled = listEventsOfEntry(outbox, uuid).flatMap((event): AttemptEvidence[] => {
    if (event.kind === 'found' || event.kind === 'absent') return [fromEvidence(event)];
    return event.kind === 'decided' && event.body.by === 'person' ? [fromDecision(event)] : [];
  });
  const row = outbox
    .sql(
      'select looked_at as foundAt, server_at as serverAt, basis, reason, candidates from lookups where entry_id = ?',
    )
    .get(id);
  if (row === undefined) return settled;
  const open = parseLookup(row);
  const what = msg`the last lookup of entry ${id}`;
  const undecided: AttemptEvidence = {
    foundAt: open.foundAt,
    basis: open.basis,
    serverAt: open.serverAt === null ? null : asServerMs(open.serverAt),
    verdict: 'undecided',
    reason: deserializeValue(
      parseStored(outbox.path, what, open.reason) as StoredMessage,
    ) as Message,
    candidates: parseStored(outbox.path, what, open.candidates) as string[],
  };
  return [...settled, undecided];
}

function fromEvidence({ kind, body }: EventOf<'found'> | EventOf<'absent'>): AttemptEvidence {
  const { at, serverMs, basis, candidates } = body;
  return {
    foundAt: at,
    serverAt: serverMs,
    verdict: kind,
    basis,
    reason: deserializeValue(body.reason) as Message,
    candidates,
  };
}

const DECISION_BASIS = {
  created: 'created',
  send: 'resend',
  abandon: 'drop',
  release: 'release',
  undo: 'undo',
} as const;

function fromDecision({ body }: EventOf<'decided'>): AttemptEvidence {
  const candidates = body.identCely === null ? body.candidates : [body.identCely];
  return {
    foundAt: body.at,
    serverAt: null,
    verdict: 'person',
    basis: DECISION_BASIS[body.answer],
    candidates,
    reason: deserializeValue(body.reason) as Message,
  };
}

/** Stores the reason of an inconclusive lookup in place of the previous one. */
export function recordLookup(outbox: Outbox, id: EntryId, lookup: EvidenceBasis): void {
  outbox
    .sql(
      `insert into lookups (entry_id, looked_at, server_at, basis, reason, candidates)
       values (:id, :now, :serverAt, :basis, :reason, :candidates)
       on conflict (entry_id) do update set looked_at = excluded.looked_at, server_at = excluded.server_at, basis = excluded.basis,
         reason = excluded.reason, candidates = excluded.candidates`,
    )
    .run({
      id,
      now: Math.floor(outbox.clock.now()),
      basis: lookup.basis,
      serverAt: lookup.serverAt === null ? null : Math.floor(lookup.serverAt),
      reason: serializeMessage(lookup.reason),
      candidates: JSON.stringify(lookup.candidates),
    });
}

/** Counts the failures of an entry since its last clear answer. */
export function countConsecutiveFailures(attempts: readonly Attempt[]): number {
  return listTrailingFailures(attempts).length;
}

function listTrailingFailures(attempts: readonly Attempt[]): Attempt[] {
  const judged = attempts.filter(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure !== 'neutral',
  );
  const clear = judged.findLastIndex(
    ({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure === false,
  );
  return judged.slice(clear + 1);
}

/** Returns when an entry with these attempts may be sent again: 0 until it has failed too often. */
export function getRetryAt(attempts: readonly Attempt[]): number {
  const failures = listTrailingFailures(attempts);
  return failures.length < RETRY_POLICY.entry.slowAfter
    ? 0
    : (failures.at(-1)?.endedAt ?? 0) + computeEntryBackoffMs(failures.length);
}

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

/**
 * Kinds that concern the service: they stay true even if the outbox's transaction is rolled back.
 */
const JOURNAL_FIRST: readonly string[] = ['attempted', 'answered'] satisfies OutboxEvent['kind'][];

/**
 * Records events, and updates the states of their entries. Attempts and answers are on disk in the
 * journal before they are in the outbox. Decisions and evidence are written to the journal after
 * the outbox: those of a rolled back transaction must not return with the next merge. Without a
 * usable journal that merge adds them.
 */
export function recordEvents(outbox: Outbox, drafts: readonly NewEvent[]): OutboxEvent[] {
  return outbox.change(() => {
    const { outbox: id } = readHeader(outbox);
    const positions = new Map<string, number>();
    const events = drafts.map((draft): OutboxEvent => {
      const uuid = draft.entry?.uuid ?? null;
      const position = (positions.get(uuid ?? '') ?? getLastPosition(outbox, uuid)) + 1;
      positions.set(uuid ?? '', position);
      const head = {
        id: draft.id ?? makeEventId(),
        outbox: id,
        find: draft.entry?.findUuid ?? null,
        entry: uuid,
        position,
      };
      return { ...head, kind: draft.kind, body: draft.body } as OutboxEvent;
    });
    const early = events.filter(({ kind }) => JOURNAL_FIRST.includes(kind));
    const late = events.filter((event) => !early.includes(event));
    outbox.journal?.append(early);
    insertEvents(outbox, early, outbox.journal !== undefined);
    insertEvents(outbox, late, false);
    if (late.length > 0) outbox.runAfterCommit(() => exportIfPossible(outbox));
    for (const [uuid, reason] of collectLastReasons(drafts)) {
      const entry = findEntryByUuid(outbox, uuid);
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

/**
 * Copies events that only the outbox has to the journal.
 * @throws DatabaseError where it cannot be written
 */
export function exportEvents(outbox: Outbox): void {
  const { journal } = outbox;
  if (journal === undefined) return;
  const query = outbox.sql(
    `select * from events where in_journal = 0 order by seq limit ${MAX_EVENTS_AT_ONCE}`,
  );
  for (let rows = query.all(); rows.length > 0; rows = query.all()) {
    const events = rows.map((row) => parseNumberedEvent(outbox.path, row));
    journal.append(events.map(({ event }) => event));
    outbox.change(() =>
      outbox
        .sql('update events set in_journal = 1 where in_journal = 0 and seq <= ?')
        .run(events.at(-1)?.seq),
    );
  }
}

/** Returns the new reason of each entry; undefined where it stays. */
function collectLastReasons(drafts: readonly NewEvent[]): Map<string, Message | null | undefined> {
  const reasons = new Map<string, Message | null | undefined>();
  for (const { entry, reason } of drafts)
    if (entry !== null)
      reasons.set(entry.uuid, reason === undefined ? reasons.get(entry.uuid) : reason);
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
export function insertEvents(
  outbox: Outbox,
  events: readonly OutboxEvent[],
  inJournal: boolean,
): OutboxEvent[] {
  const insert = outbox.sql(
    `insert into events (id, outbox, find, entry, position, kind, body, crc, in_journal)
     values (:id, :outbox, :find, :entry, :position, :kind, :body, :crc, :inJournal) on conflict (id) do nothing`,
  );
  return events.filter(
    (event) => insert.run({ ...serializeEvent(event), inJournal: inJournal ? 1 : 0 }).changes === 1,
  );
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
    basis,
    candidates,
    identCely,
    account,
    serverMs: serverAt,
    attempts: listUnsettledAttempts(outbox, entry),
    at: Math.floor(outbox.clock.now()),
    reason: serializeValue(reason) as EvidenceBody['reason'],
  };
  outbox.change(() => {
    recordEvents(outbox, [{ kind: verdict.kind, entry, body, reason }]);
    outbox.sql('delete from lookups where entry_id = ?').run(entry.id);
  });
}

interface NewDecision extends Partial<DecidedBody> {
  readonly answer: DecidedBody['answer'];
  readonly by: DecidedBody['by'];
  readonly group: string;
}

/** Makes a decision about an entry and all its attempts of unknown outcome. */
export function makeDecision(
  outbox: Outbox,
  entry: Entry,
  decided: NewDecision,
  reason: Message,
): NewEvent {
  const body: DecidedBody = {
    identCely: null,
    candidates: [],
    of: null,
    attempts: listUnsettledAttempts(outbox, entry),
    held: serializeHeld(entry.held),
    ...decided,
    at: Math.floor(outbox.clock.now()),
    reason: serializeValue(reason) as DecidedBody['reason'],
  };
  return { kind: 'decided', entry, body, reason };
}

/**
 * Returns attempts without a conclusive answer, and those whose record the service gave to another
 * find.
 */
function listUnsettledAttempts(outbox: Outbox, { uuid }: Entry): string[] {
  const events = listEventsOfEntry(outbox, uuid);
  const { open, unknown } = foldEvents(events);
  const answered = new Set(
    events.flatMap((event) =>
      event.kind === 'answered' && event.body.settles !== 'unknown' ? [event.body.attempt] : [],
    ),
  );
  const unanswered = events.flatMap(({ kind, id }) =>
    kind === 'attempted' && !answered.has(id) ? [id] : [],
  );
  return [...new Set([...unanswered, ...open, ...unknown])];
}

/**
 * @throws DatabaseError or DatabaseTooNewError where the journal is unusable: nothing may be sent
 * without it
 */
export function assertJournal(outbox: Outbox): NonNullable<Outbox['journal']> {
  if (outbox.journal !== undefined) return outbox.journal;
  throw (
    outbox.journalProblem ??
    new DatabaseError(msg`${outbox.path}: there is no journal, so nothing can be sent.`)
  );
}
