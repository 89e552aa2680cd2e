import { type Message, msg } from '../base/message.ts';
import type { Attempt } from './entry.ts';
import { readReason, reasonText } from './kept-messages.ts';
import type { Outbox } from './open-outbox.ts';

export type RequestLine = {
  readonly method: string;
  readonly path: string;
  /** Row of the account that it is made with. */
  readonly accountId: number;
};

/** Writes down that a request is about to leave. Rows are closed once and never changed after. */
export function openAttempt(outbox: Outbox, entryId: number, { method, path, accountId }: RequestLine): number {
  const row = outbox
    .sql(
      `insert into attempts (entry_id, started_at, method, path, account_id)
       values (:entryId, :now, :method, :path, :accountId) returning id`,
    )
    .get({ entryId, now: Math.floor(outbox.clock.now()), method, path, accountId }) as { id: number };
  return row.id;
}

export function closeAttempt(
  outbox: Outbox,
  attemptId: number,
  answer: { readonly outcome: string; readonly status?: number; readonly serverDateAt?: number; readonly reason: Message | null },
): void {
  outbox
    .sql(
      `update attempts set ended_at = :now, outcome = :outcome, status = :status, server_date_at = :serverDateAt, reason = :reason
       where id = :attemptId and ended_at is null`,
    )
    .run({
      attemptId,
      now: Math.floor(outbox.clock.now()),
      outcome: answer.outcome,
      status: answer.status ?? null,
      serverDateAt: answer.serverDateAt ?? null,
      reason: reasonText(answer.reason),
    });
}

export function attemptsOf(outbox: Outbox, entryId: number): Attempt[] {
  const rows = outbox
    .sql(
      `select id, entry_id as entryId, started_at as startedAt, ended_at as endedAt, method, path,
         (select ident_cely from accounts where accounts.id = account_id) as account, server_date_at as serverDateAt,
         status, outcome, reason from attempts where entry_id = ? order by id`,
    )
    .all(entryId) as (Omit<Attempt, 'reason'> & { readonly reason: string | null })[];
  return rows.map((row) => ({ ...row, reason: readReason(row.reason) }));
}

/** How many attempts ended with this outcome since the entry last did anything else. */
export function attemptsInARow(outbox: Outbox, entryId: number, outcome: string): number {
  let count = 0;
  for (const attempt of attemptsOf(outbox, entryId).reverse()) {
    if (attempt.endedAt === null) continue;
    if (attempt.outcome !== outcome) break;
    count += 1;
  }
  return count;
}

/** Closes the attempts that a dead process left open, and says in words what is known of the last. */
export function reasonOfLostAttempt(outbox: Outbox, entryId: number): Message {
  const open = attemptsOf(outbox, entryId).filter((attempt) => attempt.endedAt === null);
  const reason = msg`pas stopped while the request was under way, so it is not known whether the service got it`;
  for (const attempt of open) closeAttempt(outbox, attempt.id, { outcome: 'lost', reason });
  return reason;
}
