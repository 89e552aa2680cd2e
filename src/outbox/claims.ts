import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { asServerMs, type ServerMs } from '../base/clock.ts';
import { ConfigError } from '../base/errors.ts';
import type { Issue } from '../base/issue.ts';
import { cmd, type Message, msg, serializeValue } from '../base/message.ts';
import type { AttemptOutcome } from '../base/outcomes.ts';
import { listEventsOfEntry, refreshState, schedule, scheduleEach } from './entries.ts';
import type { Entry, EntryId, ImportEntry } from './entry.ts';
import {
  type EntryScope,
  findEntryById,
  findImportOfFind,
  listEntriesInState,
  listQueuedOfScope,
  listQueuedTooFarAhead,
  listQueuedWithBackoff,
  makeRecordKey,
} from './entry-queries.ts';
import {
  type AnswerEffect,
  type AnsweredBody,
  type AttemptedBody,
  makeEventId,
  type SentFind,
  serializeIssues,
  serializeMessage,
  serializePhotograph,
} from './events.ts';
import { foldEvents } from './fold-events.ts';
import { type Outbox, readHeader } from './open-outbox.ts';
import { supersedeEarlierNumbers } from './ownership.ts';
import { assertJournal, getLastPosition, type NewEvent, recordEvents } from './record-events.ts';
import { findById } from './stored-finds.ts';

/** Facts about a request that are stored before its first byte is sent. */
export type Departure = {
  readonly method: string;
  readonly path: string;
  /** The service's identifier of the account. */
  readonly account: string;
  /** Current server time, as far as this process knows it. */
  readonly serverMs: ServerMs | null;
  /** Latest server time at which the request is completely sent. */
  readonly sentByMs: ServerMs | null;
  readonly settleMs: number;
};

/** An entry that is being sent, and the event of this attempt. */
export type Claim = {
  readonly entry: Entry;
  readonly attemptId: string;
  readonly departure: Departure;
};

/**
 * Marks the entry as `sending`. When this returns, the attempt is on disk in the journal and in the
 * outbox, before anything is sent. The caller sends the entry of the claim, since its content may
 * have changed since it was read.
 * @param getDeparture returns undefined for an entry that must not be sent now
 * @returns undefined where another process dropped or held it, or made it a draft
 * @throws DatabaseError where the journal or the outbox cannot be written: then nothing is sent
 */
export function claim(
  outbox: Outbox,
  id: EntryId,
  getDeparture: (entry: Entry) => Departure | undefined,
): Claim | undefined {
  const journal = assertJournal(outbox);
  const attemptId = makeEventId();
  let appended: Entry | undefined;
  try {
    return outbox.change(() => {
      assertFence(outbox, journal.id);
      // The row has a copy of the state, which follows from the events.
      refreshState(outbox, id);
      const entry = findEntryById(outbox, id);
      if (entry?.state !== 'queued' || entry.held !== null || !isOfItsRecord(outbox, entry))
        return undefined;
      const departure = getDeparture(entry);
      if (departure === undefined) return undefined;
      appended = entry;
      recordEvents(outbox, [
        {
          kind: 'attempted',
          entry,
          id: attemptId,
          body: makeAttemptedBody(outbox, entry, departure),
          reason: null,
        },
      ]);
      if (entry.kind === 'number') supersedeEarlierNumbers(outbox, entry.identCely ?? '');
      return { entry: { ...entry, state: 'sending' }, attemptId, departure };
    });
  } catch (thrown) {
    // The journal may have the attempt and the outbox not: nothing was sent, and an answer event
    // records this, as far as the disk allows.
    if (appended !== undefined) deleteAttempt(outbox, journal, appended, attemptId);
    throw thrown;
  }
}

/** @throws ConfigError where another machine has adopted this outbox since the push began */
function assertFence(outbox: Outbox, journal: string): void {
  if (readHeader(outbox).journal === journal) return;
  throw new ConfigError(
    msg`${outbox.path} has been adopted by another machine. Nothing more is sent from here.`,
    {
      hint: msg`\`${cmd`pas outbox show`}\` says where it belongs.`,
    },
  );
}

function deleteAttempt(
  outbox: Outbox,
  journal: ReturnType<typeof assertJournal>,
  entry: Entry,
  attemptId: string,
): void {
  try {
    const answer = makeAnsweredBody(
      attemptId,
      { outcome: 'not-sent', settles: 'queued', reason: null },
      Math.floor(outbox.clock.now()),
    );
    const { outbox: id } = readHeader(outbox);
    // The outbox rolled the attempt back, so its next event has the same position: this answer must
    // not sort behind later events.
    const position = getLastPosition(outbox, entry.uuid) + 2;
    journal.append([
      {
        id: makeEventId(),
        outbox: id,
        find: entry.findUuid,
        entry: entry.uuid,
        position,
        kind: 'answered',
        body: answer,
      },
    ]);
  } catch {
    // Safe to ignore: the next push looks the attempt up.
  }
}

/** Tells if the record to change is still that of the find. */
function isOfItsRecord(outbox: Outbox, entry: Entry): boolean {
  if (entry.kind === 'import') return true;
  if (entry.identCely === null) return false;
  const importEntry = entry.findId === null ? undefined : findImportOfFind(outbox, entry.findId);
  const isOfItsFind =
    importEntry?.state !== 'accepted' || importEntry.identCely === entry.identCely;
  return isOfItsFind && makeRecordKey(entry) === entry.recordKey;
}

function makeAttemptedBody(
  outbox: Outbox,
  entry: Entry,
  { method, path, account, serverMs: sentAt, sentByMs, settleMs }: Departure,
): AttemptedBody {
  return {
    entryKind: entry.kind,
    account,
    method,
    path,
    at: Math.floor(outbox.clock.now()),
    fromMs: sentAt === null ? null : asServerMs(Math.floor(sentAt)),
    sentByMs: sentByMs === null ? null : asServerMs(Math.ceil(sentByMs)),
    settleMs,
    localId: entry.localId,
    target: entry.kind === 'import' ? null : entry.identCely,
    project: entry.kind === 'import' ? entry.project : null,
    digest: entry.kind === 'import' ? entry.digest : null,
    content: entry.kind === 'import' ? packContent(outbox, entry) : null,
    value: entry.kind === 'number' ? entry.value : null,
    expects: entry.kind === 'number' ? entry.expects : null,
    photograph: entry.kind === 'photo' ? serializePhotograph(entry.photograph) : null,
  };
}

function packContent(outbox: Outbox, { document, findId }: ImportEntry): string | null {
  const find = findId === null ? undefined : findById(outbox, findId);
  if (document === null || find === undefined) return null;
  const { localId, elements, createdAt } = find;
  return deflateRawSync(
    JSON.stringify({ document: document.toString('utf8'), find: { localId, elements, createdAt } }),
  ).toString('base64');
}

export type SentContent = {
  readonly document: Buffer;
  readonly find: SentFind;
  readonly digest: string | null;
  readonly project: string | null;
};

/**
 * Returns the content of an attempt, as stored by {@link packContent}; undefined after thinning.
 */
export function unpackContent({
  content,
  digest,
  project,
}: AttemptedBody): SentContent | undefined {
  if (content === null) return undefined;
  const { document, find }: { document: string; find: SentFind } = JSON.parse(
    inflateRawSync(Buffer.from(content, 'base64')).toString('utf8'),
  );
  return { document: Buffer.from(document, 'utf8'), find, digest, project };
}

export type Settlement =
  | { readonly state: 'accepted'; readonly identCely: string; readonly reason?: Message }
  | { readonly state: 'refused'; readonly reason: Message; readonly issues: readonly Issue[] }
  | { readonly state: 'queued'; readonly reason: Message; readonly notBeforeAt: number }
  | { readonly state: 'uncertain'; readonly reason: Message };

export type AnswerFacts = {
  readonly outcome: AttemptOutcome;
  readonly status?: number;
  /** Date header of the answer. */
  readonly serverDateAt?: ServerMs;
  /** Server time at the end of the attempt, where it is known. */
  readonly endedAt?: ServerMs;
};

/**
 * Records the answer and changes the state. An accepted import unblocks entries that wait for its
 * identifier.
 */
export function settle(
  outbox: Outbox,
  { entry, attemptId }: Claim,
  settlement: Settlement,
  answer: AnswerFacts,
): void {
  outbox.change(() => {
    const body = makeAnsweredBody(
      attemptId,
      { ...answer, ...makeSettlementFacts(settlement) },
      Math.floor(outbox.clock.now()),
    );
    recordEvents(outbox, [{ kind: 'answered', entry, body, reason: settlement.reason ?? null }]);
    if (settlement.state === 'queued')
      schedule(outbox, entry.id, { notBeforeAt: Math.ceil(settlement.notBeforeAt) });
  });
}

type SettlementFacts = {
  readonly settles: AnswerEffect;
  readonly reason: Message | null;
  readonly identCely?: string;
  readonly notBeforeAt?: number;
  readonly issues?: readonly Issue[];
};

function makeSettlementFacts(settlement: Settlement): SettlementFacts {
  switch (settlement.state) {
    case 'accepted':
      return {
        settles: 'accepted',
        reason: settlement.reason ?? null,
        identCely: settlement.identCely,
      };
    case 'refused':
      return { settles: 'refused', reason: settlement.reason, issues: settlement.issues };
    case 'queued':
      return {
        settles: 'queued',
        reason: settlement.reason,
        notBeforeAt: Math.ceil(settlement.notBeforeAt),
      };
    case 'uncertain':
      return { settles: 'unknown', reason: settlement.reason };
  }
}

function makeAnsweredBody(
  attempt: string,
  answer: AnswerFacts & SettlementFacts,
  at: number,
): AnsweredBody {
  const {
    outcome,
    settles,
    status,
    serverDateAt,
    endedAt,
    identCely,
    notBeforeAt,
    reason,
    issues,
  } = answer;
  return {
    attempt,
    outcome,
    settles,
    at,
    status: status ?? null,
    identCely: identCely ?? null,
    notBeforeAt: notBeforeAt ?? 0,
    serverDateMs: serverDateAt ?? null,
    endedMs: endedAt ?? serverDateAt ?? null,
    reason: reason === null ? null : (serializeValue(reason) as AnsweredBody['reason']),
    issues: serializeIssues(issues ?? []),
  };
}

/** Queues an entry again. @param notBeforeAt by the wall clock; 0 for at once */
export function requeue(outbox: Outbox, entry: Entry, reason: Message, notBeforeAt = 0): void {
  outbox.change(() => {
    const { refusal } = foldEvents(listEventsOfEntry(outbox, entry.uuid));
    const reasons = { reason: serializeMessage(reason), issues: null };
    schedule(outbox, entry.id, {
      retryOf: refusal?.attempt ?? null,
      notBeforeAt: Math.ceil(notBeforeAt),
      ...reasons,
    });
  });
}

/** Clears backoff that lies further ahead than the maximum: a wrong clock set it. */
export function clampFutureBackoff(outbox: Outbox, maxBackoffMs: number): void {
  outbox.change(() =>
    scheduleEach(outbox, listQueuedTooFarAhead(outbox, maxBackoffMs), () => ({ notBeforeAt: 0 })),
  );
}

/** Moves the queued entries of a scope behind all others. */
export function moveToBack(outbox: Outbox, scope: EntryScope, reason: Message): void {
  const now = Math.floor(outbox.clock.now());
  const serialized = serializeMessage(reason);
  outbox.change(() =>
    scheduleEach(outbox, listQueuedOfScope(outbox, scope), ({ notBeforeAt }) => ({
      notBeforeAt: Math.max(notBeforeAt, now),
      reason: serialized,
    })),
  );
}

/** Clears the backoff of these records, which a person named. */
export function clearBackoff(outbox: Outbox, recordKeys: readonly string[]): void {
  outbox.change(() =>
    scheduleEach(outbox, listQueuedWithBackoff(outbox, recordKeys), () => ({ notBeforeAt: 0 })),
  );
}

/**
 * Records an unknown outcome for attempts of dead processes, under the push lock; returns the
 * entries that were `sending`.
 */
export function recoverInFlight(outbox: Outbox): Entry[] {
  return outbox.change(() => {
    const entries = listEntriesInState(outbox, 'sending');
    const reason = msg`pas stopped while the request was in progress, so it is unknown whether the service received it`;
    const now = Math.floor(outbox.clock.now());
    recordEvents(
      outbox,
      entries.flatMap((entry) =>
        [...foldEvents(listEventsOfEntry(outbox, entry.uuid)).open].map(
          (attempt): NewEvent => ({
            kind: 'answered',
            entry,
            body: makeAnsweredBody(
              attempt,
              { outcome: 'orphaned', settles: 'unknown', reason },
              now,
            ),
            reason,
          }),
        ),
      ),
    );
    return entries;
  });
}
