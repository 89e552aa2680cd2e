import type { Attempt } from './entry.ts';
import type { ServiceOutbox } from './open-outbox.ts';

/** When something happened, by the server's clock. */
export type Moment = {
  readonly fromMs: number;
  readonly untilMs: number;
  /** Where this machine's clock can be trusted to have said when. */
  readonly sure: boolean;
  /** Where it cannot have been earlier; otherwise `fromMs` is what this machine's clock said, and that may have been wrong. */
  readonly bounded: boolean;
};

export type ServerNow = {
  readonly nowMs: number;
  /** How far it is ahead of this machine's clock now. */
  readonly offsetMs: number;
};

/** An answer this near in time and in the journal was timed by the clock that timed the attempt. */
const NEAR_MS = 120_000;
/** No request takes longer. */
const MOST_TAKEN_MS = 600_000;

type Answered = { readonly id: number; readonly startedAt: number; readonly endedAt: number; readonly serverDateAt: number };

/**
 * When an attempt began, by the server's clock, from the answers that its service gave before and after it. The order
 * of the journal is certain; this machine's clock may have been wrong at the time, by years. Where no answer near it shows
 * how wrong, the attempt may have begun at any time between the answers around it.
 */
export function serverTimeOf(outbox: ServiceOutbox, attempt: Attempt, now: ServerNow): Moment {
  const { startedAt, endedAt, serverDateAt } = attempt;
  if (serverDateAt !== null)
    return {
      fromMs: beginOf({ startedAt, endedAt: endedAt ?? startedAt, serverDateAt }),
      untilMs: serverDateAt,
      sure: true,
      bounded: true,
    };
  const before = neighbour(outbox, attempt.id, 'before');
  const after = neighbour(outbox, attempt.id, 'after');
  const earliestMs = before === undefined ? undefined : beginOf(before);
  const latestMs = after?.serverDateAt ?? now.nowMs;
  for (const answer of [before, after]) {
    if (answer === undefined || !isNear(answer, startedAt)) continue;
    const atMs = startedAt + answer.serverDateAt - answer.endedAt;
    const isBetween = atMs <= latestMs + NEAR_MS && atMs >= (earliestMs ?? atMs) - NEAR_MS;
    if (isBetween) return { fromMs: atMs, untilMs: atMs, sure: true, bounded: true };
  }
  const guessMs = startedAt + now.offsetMs;
  const fromMs = Math.min(guessMs, earliestMs ?? guessMs, latestMs);
  return { fromMs, untilMs: latestMs, sure: after !== undefined, bounded: earliestMs !== undefined };
}

/** A clock that was set while the request was under way makes its duration meaningless. */
function beginOf({ startedAt, endedAt, serverDateAt }: Omit<Answered, 'id'>): number {
  return serverDateAt - Math.min(Math.max(0, endedAt - startedAt), MOST_TAKEN_MS);
}

function isNear({ startedAt, endedAt }: Answered, atMs: number): boolean {
  return Math.min(Math.abs(endedAt - atMs), Math.abs(startedAt - atMs)) <= NEAR_MS;
}

const SIDES = { before: ['attempts.id < :id', 'desc'], after: ['attempts.id > :id', 'asc'] } as const;

function neighbour(outbox: ServiceOutbox, id: number, side: keyof typeof SIDES): Answered | undefined {
  const [condition, order] = SIDES[side];
  return outbox
    .sql(
      `select attempts.id, started_at as startedAt, ended_at as endedAt, server_date_at as serverDateAt
       from attempts join entries on entries.id = attempts.entry_id
       where server_date_at is not null and ended_at is not null and service_id = :serviceId and ${condition}
       order by attempts.id ${order} limit 1`,
    )
    .get({ serviceId: outbox.serviceId, id }) as Answered | undefined;
}

/** The last answer of the service that says when it was given. */
export function lastAnswer(outbox: ServiceOutbox): Answered | undefined {
  return neighbour(outbox, Number.MAX_SAFE_INTEGER, 'before');
}

/** By the server's clock alone: when the attempt had been made at the latest. Undefined where it has said nothing since. */
export function madeBeforeMs(outbox: ServiceOutbox, { id, serverDateAt }: Attempt): number | undefined {
  return serverDateAt ?? neighbour(outbox, id, 'after')?.serverDateAt;
}
