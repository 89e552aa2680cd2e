import type { Issue } from '../base/issue.ts';
import type { Message } from '../base/message.ts';
import { entriesInState, entryById, move, selectEntries } from './entries.ts';
import type { Entry, EntryKind } from './entry.ts';
import { closeAttempt, openAttempt, type RequestLine, reasonOfLostAttempt } from './journal.ts';
import { issuesText, reasonText } from './kept-messages.ts';
import { dropOutdated, IS_OUTDATED } from './latest-number.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';
import { againAt, LONGEST_WAIT_MS } from './tries.ts';

export type DueQuery = {
  readonly kinds: readonly EntryKind[];
  /** Also what other accounts of the service have queued. */
  readonly anyAccount: boolean;
  /** Only the entries of these records, by their keys, or all. */
  readonly recordKeys: readonly string[] | undefined;
  /** Records with a request under way, by their keys and their identifiers. */
  readonly busyRecords: readonly string[];
  /** Projects of which no further import may start now. */
  readonly busyProjects: readonly string[];
  /** What is not sent now. */
  readonly leftOut: readonly Part[];
};

/** What is, or changes, a find of this project. */
const ofProject = (project: string): string =>
  `project = ${project} or substr(ident_cely, 1, length(${project}) + 2) = ${project} || '-N'`;

const MAY_BE_SENT = `service_id = :serviceId and state = 'queued' and (kind = 'import' or ident_cely is not null)
  and kind in (select value from json_each(:kinds)) and (:anyAccount or entries.username in ('', :username))
  and (:recordKeys is null or record_key in (select value from json_each(:recordKeys)))
  and record_key not in (select value from json_each(:busyRecords))
  and (ident_cely is null or ident_cely not in (select value from json_each(:busyRecords)))
  and (project is null or project not in (select value from json_each(:busyProjects)))
  and not exists (
    select 1 from json_each(:leftOut) as wall
    where wall.value ->> 'kind' = kind and (wall.value ->> 'project' is null or ${ofProject(`(wall.value ->> 'project')`)}))
  and (kind <> 'number' or not ${IS_OUTDATED})`;

/** The oldest entry that may be sent now. A number or a photograph is due once its record has an identifier. */
export function nextDue(outbox: ServiceOutbox, query: DueQuery): Entry | undefined {
  return selectEntries(
    outbox,
    `${MAY_BE_SENT} and not_before_at <= :now`,
    { ...dueValues(outbox, query), now: Math.floor(outbox.clock.now()) },
    'order by not_before_at, entries.id limit 1',
  ).at(0);
}

/** The first of those that must wait. */
export function nextInTime(outbox: ServiceOutbox, query: DueQuery): Entry | undefined {
  return selectEntries(outbox, MAY_BE_SENT, dueValues(outbox, query), 'order by not_before_at, entries.id limit 1').at(0);
}

/** When the next of those that must wait becomes due; undefined when none waits for time alone. */
export function nextDueAt(outbox: ServiceOutbox, query: DueQuery): number | undefined {
  const row = outbox.sql(`select min(not_before_at) as at from entries where ${MAY_BE_SENT}`).get(dueValues(outbox, query)) as {
    at: number | null;
  };
  return row.at ?? undefined;
}

function dueValues({ serviceId, username }: ServiceOutbox, query: DueQuery): Record<string, unknown> {
  return {
    serviceId,
    username,
    anyAccount: query.anyAccount ? 1 : 0,
    kinds: JSON.stringify(query.kinds),
    recordKeys: query.recordKeys === undefined ? null : JSON.stringify(query.recordKeys),
    busyRecords: JSON.stringify(query.busyRecords),
    busyProjects: JSON.stringify(query.busyProjects),
    leftOut: JSON.stringify(query.leftOut),
  };
}

/** An entry that is being sent, and the journal's line for this attempt. */
export type Claim = { readonly entry: Entry; readonly attemptId: number };

/**
 * Marks the entry as `sending` and opens its attempt. Both are on disk when this returns, before anything is sent. What
 * is to be sent must be taken from the claim, since the entry may have been given other content since it was read.
 * @returns undefined where it is no longer queued: another pas dropped it, or made it a draft
 */
export function claim(outbox: Outbox, id: number, requestLine: (entry: Entry) => RequestLine): Claim | undefined {
  return outbox.change(() => {
    const entry = entryById(outbox, id);
    if (entry?.state !== 'queued') return undefined;
    move(outbox, entry, 'sending', { reason: null, issues: null });
    if (entry.kind === 'number') dropOutdated(outbox, entry.serviceId, entry.identCely ?? '');
    return { entry: { ...entry, state: 'sending' }, attemptId: openAttempt(outbox, id, requestLine(entry)) };
  });
}

/** What became of an attempt. */
export type Settlement =
  | { readonly state: 'accepted'; readonly identCely: string; readonly reason?: Message }
  | { readonly state: 'refused'; readonly reason: Message; readonly issues: readonly Issue[] }
  | { readonly state: 'queued'; readonly reason: Message; readonly notBeforeAt: number; readonly collisions?: number }
  | { readonly state: 'uncertain'; readonly reason: Message };

type AnswerFacts = { readonly outcome: string; readonly status?: number; readonly serverDateAt?: number };

/** Closes the attempt and moves the entry, in one step. An accepted import frees what waited for its identifier. */
export function settle(outbox: Outbox, { entry, attemptId }: Claim, settlement: Settlement, answer: AnswerFacts): void {
  outbox.change(() => {
    closeAttempt(outbox, attemptId, { ...answer, reason: settlement.reason ?? null });
    applySettlement(outbox, entry, settlement);
  });
}

export function applySettlement(outbox: Outbox, entry: Entry, settlement: Settlement): void {
  switch (settlement.state) {
    case 'accepted':
      move(outbox, entry, 'accepted', { identCely: settlement.identCely, reason: settlement.reason ?? null, issues: null });
      if (entry.kind === 'import') freeFollowers(outbox, entry, settlement.identCely);
      return;
    case 'refused':
      move(outbox, entry, 'refused', { reason: settlement.reason, issues: issuesText(settlement.issues) });
      return;
    case 'queued':
      move(outbox, entry, 'queued', {
        reason: settlement.reason,
        notBeforeAt: Math.ceil(settlement.notBeforeAt),
        ...(settlement.collisions === undefined ? {} : { collided: settlement.collisions }),
      });
      return;
    case 'uncertain':
      move(outbox, entry, 'uncertain', { reason: settlement.reason });
      return;
  }
}

/** The record was not the find's after all: what was to be sent to it waits again. */
export function holdFollowers(outbox: Outbox, { findId, serviceId, identCely }: Entry): void {
  outbox
    .sql(`update entries set ident_cely = null where find_id = ? and service_id = ? and kind <> 'import' and ident_cely = ?`)
    .run(findId, serviceId, identCely);
}

function freeFollowers(outbox: Outbox, entry: Entry, identCely: string): void {
  outbox
    .sql(`update entries set ident_cely = ? where find_id = ? and service_id = ? and kind <> 'import' and ident_cely is null`)
    .run(identCely, entry.findId, entry.serviceId);
}

/** A time far ahead, or one that was written down later than now, was set by a clock that ran ahead and was put right since: such entries are due. */
export function forgetImpossibleWaits({ sql, serviceId, clock }: ServiceOutbox): void {
  sql(
    `update entries set not_before_at = 0
     where service_id = :serviceId and state = 'queued' and (not_before_at > :now + :longestMs or updated_at > :now)`,
  ).run({ serviceId, now: Math.floor(clock.now()), longestMs: LONGEST_WAIT_MS });
}

/** Entries of a kind, or only those of a project. */
type Part = { readonly kind: EntryKind; readonly project: string | null };

/** Puts what is queued of a part behind everything else. */
export function waitBehind(outbox: ServiceOutbox, { kind, project }: Part, reason: Message): void {
  outbox
    .sql(
      `update entries set not_before_at = max(not_before_at, :now), reason = :reason
       where service_id = :serviceId and state = 'queued' and kind = :kind and (${ofProject(':project')})`,
    )
    .run({ now: Math.floor(outbox.clock.now()), reason: reasonText(reason), serviceId: outbox.serviceId, kind, project });
}

/** How much of a part is still to be sent. */
export function countOpen(outbox: ServiceOutbox, { kind, project }: Part): number {
  return outbox
    .sql(
      `select count(*) from entries
       where service_id = :serviceId and state in ('queued', 'sending') and kind = :kind and (:project is null or ${ofProject(':project')})`,
    )
    .pluck()
    .get({ serviceId: outbox.serviceId, kind, project }) as number;
}

/** Whoever asks for these records by name wants them tried now. */
export function forgetWaits(outbox: ServiceOutbox, recordKeys: readonly string[]): void {
  outbox
    .sql(
      `update entries set not_before_at = 0
       where service_id = ? and state = 'queued' and record_key in (select value from json_each(?))`,
    )
    .run(outbox.serviceId, JSON.stringify(recordKeys));
}

/**
 * What a process that died left `sending`: nobody knows how far it came. An import or a photograph becomes uncertain;
 * a number may be sent again, since the service refuses to set what is already set. To be called under the lease.
 */
export function recoverInterrupted(outbox: ServiceOutbox): Entry[] {
  return outbox.change(() =>
    entriesInState(outbox, 'sending').map((entry) => {
      const reason = reasonOfLostAttempt(outbox, entry.id);
      if (entry.kind === 'number') move(outbox, entry, 'queued', { reason, notBeforeAt: againAt(outbox, entry.id) });
      else move(outbox, entry, 'uncertain', { reason });
      return entry;
    }),
  );
}
