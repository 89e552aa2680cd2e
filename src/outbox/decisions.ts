import { entryById, move } from './entries.ts';
import type { Entry, EntryState } from './entry.ts';
import { issuesText, readReason, reasonText } from './kept-messages.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

export type DecisionKind = 'created' | 'resend' | 'drop';

/** An entry that a person decided about, and how it stood before. */
export type Decided = {
  /** Shared by all that one decision changed. */
  readonly number: number;
  readonly entryId: number;
  readonly decision: DecisionKind;
  readonly attemptId: number;
  readonly became: EntryState;
  readonly state: EntryState;
  readonly identCely: string | null;
  readonly notBeforeAt: number;
  readonly reason: string | null;
  readonly issues: string | null;
  readonly doubtFromAt: number | null;
  readonly doubtUntilAt: number | null;
};

const COLUMNS = `number, entry_id as entryId, decision, attempt_id as attemptId, became, state, ident_cely as identCely,
  not_before_at as notBeforeAt, reason, issues, doubt_from_at as doubtFromAt, doubt_until_at as doubtUntilAt`;

/** Keeps how those of the entries stood that a decision has changed. @param before as they were read before it */
export function noteDecision(outbox: Outbox, decision: DecisionKind, before: readonly Entry[]): void {
  const number = outbox.sql('select coalesce(max(number), 0) + 1 from decisions').pluck().get();
  const note = outbox.sql(
    `insert into decisions (number, entry_id, decision, attempt_id, became, state, ident_cely, not_before_at, reason, issues,
       doubt_from_at, doubt_until_at)
     select :number, id, :decision, (select coalesce(max(id), 0) from attempts), state, :state, :identCely, :notBeforeAt, :reason, :issues,
       :fromMs, :untilMs
     from entries where id = :id and (state <> :state or ident_cely is not :identCely)`,
  );
  for (const { id, state, identCely, notBeforeAt, reason, issues, doubt } of before) {
    const [fromMs, untilMs] = [doubt?.fromMs ?? null, doubt?.untilMs ?? null];
    const texts = { reason: reasonText(reason), issues: issuesText(issues) };
    note.run({ number, decision, id, state, identCely, notBeforeAt, ...texts, fromMs, untilMs });
  }
}

/** What the newest decision about any of these entries has changed; empty where nobody has decided about them. */
export function lastDecision(outbox: Outbox, entries: readonly Entry[]): Decided[] {
  return outbox
    .sql(
      `select ${COLUMNS} from decisions where number =
         (select max(number) from decisions where entry_id in (select value from json_each(?))) order by entry_id`,
    )
    .all(JSON.stringify(entries.map(({ id }) => id))) as Decided[];
}

/** Whether a request was made since for one of these entries. */
export function wasSentSince(outbox: Outbox, entries: readonly Entry[], { attemptId }: Decided): boolean {
  const ids = JSON.stringify(entries.map(({ id }) => id));
  return (
    outbox
      .sql('select 1 from attempts where id > ? and entry_id in (select value from json_each(?)) limit 1')
      .get(attemptId, ids) !== undefined
  );
}

/** Puts an entry back as it stood before the decision, and forgets that. */
export function takeBack(outbox: ServiceOutbox, decided: Decided): Entry | undefined {
  const { entryId, number, became, state, identCely, notBeforeAt, issues, doubtFromAt, doubtUntilAt } = decided;
  if (state !== became) {
    const reason = readReason(decided.reason);
    move(outbox, { id: entryId, state: became }, state, { identCely, notBeforeAt, reason, issues, doubtFromAt, doubtUntilAt });
  } else {
    outbox.sql('update entries set ident_cely = ? where id = ?').run(identCely, entryId);
  }
  outbox.sql('delete from decisions where number = ? and entry_id = ?').run(number, entryId);
  return entryById(outbox, entryId);
}
