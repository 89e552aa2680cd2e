import { type ServerMs, serverMs } from '../base/clock.ts';
import { deserializeValue, type Message, msg, type StoredMessage } from '../base/message.ts';
import { ATTEMPT_OUTCOMES, type AttemptOutcome } from '../base/outcomes.ts';
import { entryBackoffMs, RETRY_POLICY } from '../base/retry-policy.ts';
import { createRowParser, isNumber, isText, orNull } from '../store/row.ts';
import { eventsOfEntry } from './entries.ts';
import type { Attempt, AttemptBounds, Entry, EntryId } from './entry.ts';
import {
  type AnsweredBody,
  type AttemptedBody,
  type EventOf,
  type OutboxEvent,
  parseStored,
  serializeMessage,
} from './events.ts';
import type { Outbox } from './open-outbox.ts';

export type EvidenceVerdict = 'found' | 'absent' | 'undecided' | 'person';

export type EvidenceBasis = {
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

export function listAttempts(outbox: Outbox, entry: Entry): Attempt[] {
  return selectAttempts(eventsOfEntry(outbox, entry.uuid), entry.id);
}

function selectAttempts(events: readonly OutboxEvent[], entryId: Entry['id']): Attempt[] {
  const answers = new Map(
    events.flatMap((event) => (event.kind === 'answered' ? [[event.body.attempt, event.body] as const] : [])),
  );
  return events
    .filter((event) => event.kind === 'attempted')
    .map(({ id, body }): Attempt => {
      const answer = answers.get(id);
      return {
        ...{ id, entryId, startedAt: body.at, method: body.method, path: body.path, account: body.account },
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
 * An answer of the service, even a 500, means that it has finished the attempt. After any other end it may still work on it for
 * `settleMs`: a status outside the contract may be a proxy's.
 */
function getBounds({ fromMs, sentByMs, settleMs }: AttemptedBody, answer: AnsweredBody | undefined): AttemptBounds | null {
  if (fromMs === null) return null;
  const endedMs = serverMs(Math.max(fromMs, answer?.endedMs ?? sentByMs ?? fromMs));
  const settledMs = serverMs(endedMs + settleMs);
  const hasEnded = answer !== undefined && answer.endedMs !== null && (answer.settles !== 'unknown' || answer.status === 500);
  return { fromMs, untilMs: hasEnded ? endedMs : settledMs, settledMs };
}

/** Counts the last consecutive attempts that ended with this outcome. */
export function attemptsInARow(outbox: Outbox, entry: Entry, outcome: AttemptOutcome): number {
  let count = 0;
  for (const attempt of listAttempts(outbox, entry).reverse()) {
    if (attempt.endedAt === null) continue;
    if (attempt.outcome !== outcome) break;
    count += 1;
  }
  return count;
}

const parseLook = createRowParser({
  ...{ foundAt: isNumber, serverAt: orNull(isNumber), basis: isText, reason: isText, candidates: isText },
});

/** Returns the conclusions about an entry in order; the last inconclusive lookup comes last. */
export function listEvidence(outbox: Outbox, { id, uuid }: Entry): AttemptEvidence[] {
  const settled = eventsOfEntry(outbox, uuid).flatMap((event): AttemptEvidence[] => {
    if (event.kind === 'found' || event.kind === 'absent') return [fromEvidence(event)];
    return event.kind === 'decided' && event.body.by === 'person' ? [fromDecision(event)] : [];
  });
  const row = outbox
    .sql('select looked_at as foundAt, server_at as serverAt, basis, reason, candidates from looks where entry_id = ?')
    .get(id);
  if (row === undefined) return settled;
  const open = parseLook(row);
  const what = msg`the last lookup of entry ${id}`;
  const undecided: AttemptEvidence = {
    ...{ foundAt: open.foundAt, basis: open.basis, serverAt: open.serverAt === null ? null : serverMs(open.serverAt) },
    verdict: 'undecided',
    reason: deserializeValue(parseStored(outbox.path, what, open.reason) as StoredMessage) as Message,
    candidates: parseStored(outbox.path, what, open.candidates) as string[],
  };
  return [...settled, undecided];
}

function fromEvidence({ kind, body }: EventOf<'found'> | EventOf<'absent'>): AttemptEvidence {
  const { at, serverMs, basis, candidates } = body;
  return { foundAt: at, serverAt: serverMs, verdict: kind, basis, reason: deserializeValue(body.reason) as Message, candidates };
}

const DECISION_BASIS = { created: 'created', send: 'resend', abandon: 'drop', release: 'release', undo: 'undo' } as const;

function fromDecision({ body }: EventOf<'decided'>): AttemptEvidence {
  const candidates = body.identCely === null ? body.candidates : [body.identCely];
  return {
    ...{ foundAt: body.at, serverAt: null, verdict: 'person', basis: DECISION_BASIS[body.answer], candidates },
    reason: deserializeValue(body.reason) as Message,
  };
}

/** Stores the reason of an inconclusive lookup in place of the previous one. */
export function recordLookup(outbox: Outbox, id: EntryId, look: EvidenceBasis): void {
  outbox
    .sql(
      `insert into looks (entry_id, looked_at, server_at, basis, reason, candidates)
       values (:id, :now, :serverAt, :basis, :reason, :candidates)
       on conflict (entry_id) do update set looked_at = excluded.looked_at, server_at = excluded.server_at, basis = excluded.basis,
         reason = excluded.reason, candidates = excluded.candidates`,
    )
    .run({
      ...{ id, now: Math.floor(outbox.clock.now()), basis: look.basis },
      serverAt: look.serverAt === null ? null : Math.floor(look.serverAt),
      reason: serializeMessage(look.reason),
      candidates: JSON.stringify(look.candidates),
    });
}

/** Counts the failures of an entry since its last clear answer. */
export function consecutiveFailures(attempts: readonly Attempt[]): number {
  return trailingFailures(attempts).length;
}

function trailingFailures(attempts: readonly Attempt[]): Attempt[] {
  const judged = attempts.filter(({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure !== 'neutral');
  const clear = judged.findLastIndex(({ outcome }) => outcome !== null && ATTEMPT_OUTCOMES[outcome].countsAsFailure === false);
  return judged.slice(clear + 1);
}

/** Returns when an entry with these attempts may be sent again: 0 until it has failed too often. */
export function getRetryAt(attempts: readonly Attempt[]): number {
  const failures = trailingFailures(attempts);
  return failures.length < RETRY_POLICY.entry.slowAfter ? 0 : (failures.at(-1)?.endedAt ?? 0) + entryBackoffMs(failures.length);
}
