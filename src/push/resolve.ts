import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { UsageError } from '../base/errors.ts';
import { cmd, type Message, msg } from '../base/message.ts';
import { recoverInFlight, requeue } from '../outbox/claims.ts';
import {
  getEventSeq,
  listEventsOfEntry,
  schedule,
  scheduleEach,
  setReason,
} from '../outbox/entries.ts';
import type { Entry, EntryState, Held, ImportEntry } from '../outbox/entry.ts';
import {
  findEntryById,
  isDropped,
  listEntriesOfFind,
  listEntriesOfTarget,
  listHeldAboutHiddenRecords,
  type Target,
} from '../outbox/entry-queries.ts';
import { deserializeHeld } from '../outbox/entry-row.ts';
import type { EventOf } from '../outbox/events.ts';
import { foldEvents, getLastReason } from '../outbox/fold-events.ts';
import { recordOtherWriters } from '../outbox/gate.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { listEvidence, makeDecision, recordEvents } from '../outbox/record-events.ts';
import { unhideFind } from '../outbox/removal.ts';
import { findTarget } from '../flows/queue/resolve-finds.ts';
import { findRecordProblem } from './compare-record.ts';

export type Decision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

type DecisionKind = Decision['kind'];

const DECISION_KINDS: readonly DecisionKind[] = ['created', 'resend', 'drop'];

/** `held`: a queued entry with an open question. */
type Decidable = EntryState | 'held';

/**
 * States to which each decision applies: the entries in the first of these states that the record
 * has.
 */
const DECIDES: Readonly<Record<DecisionKind, readonly Decidable[]>> = {
  created: ['uncertain', 'held'],
  resend: ['uncertain', 'held', 'refused', 'dropped'],
  drop: ['uncertain', 'held', 'refused', 'queued', 'draft'],
};

const NOTHING_TO_DECIDE: Readonly<Record<DecisionKind, Message>> = {
  created: msg`Nothing here is uncertain or held.`,
  resend: msg`Nothing here is uncertain, held, refused or dropped.`,
  drop: msg`Nothing here is open: uncertain, held, refused, queued or a draft.`,
};

/**
 * Runs `work` under the push lock where it is free. Only then is the outcome of attempts without an
 * answer unknown.
 */
export type WithLockIfFree = <T>(work: (isLocked: boolean) => T) => T;

/**
 * Settles a record's uncertain or held entries by a person's decision. Refused entries can be
 * resent or dropped as well, and a dropped find can be restored.
 * @param find as a user names it
 * @param entryId only this entry; otherwise all to which the decision applies
 * @param asked entry that a person was asked about: it may have been settled meanwhile, and the
 * answer applies to no other one
 * @returns the settled entries; where the find is dropped, also the number of numbers and
 * photographs that wait for it
 * @throws UsageError when there is nothing to decide, or the identifier is another find's
 */
export function resolveEntries(
  outbox: Outbox,
  find: string,
  decision: Decision,
  entryId: number | undefined,
  withLock: WithLockIfFree,
  asked?: Entry,
) {
  return withLock((isLocked) => {
    if (isLocked) recoverInFlight(outbox);
    const target = findTarget(outbox, find);
    const settled = outbox.change(() => settleAs(outbox, target, decision, entryId, asked));
    return {
      settled,
      waiting: decision.kind === 'drop' ? countDependents(outbox, target) : undefined,
    };
  });
}

function settleAs(
  outbox: Outbox,
  target: Target,
  decision: Decision,
  entryId: number | undefined,
  asked: Entry | undefined,
): Entry[] {
  const entries = listDecidable(outbox, target, decision.kind, entryId);
  if (entries.length === 0)
    throw makeNothingToDecideError(NOTHING_TO_DECIDE[decision.kind], entryId);
  if (asked !== undefined && !entries.some(({ id }) => id === asked.id))
    throw makeNothingToDecideError(
      msg`The find changed while you were asked. Nothing was decided.`,
      undefined,
    );
  if (decision.kind === 'created') {
    const [problem] = entries.flatMap(
      (entry) => findRecordProblem(outbox, entry, decision.identCely) ?? [],
    );
    if (problem !== undefined) throw problem;
  }
  const group = randomUUID();
  for (const entry of entries) decide(outbox, entry, decision, group);
  return entries;
}

function makeNothingToDecideError(nothing: Message, entryId: number | undefined): UsageError {
  const message =
    entryId === undefined ? nothing : msg`${nothing} Only the entry ${entryId} was requested.`;
  return new UsageError(message, {
    hint: msg`\`${cmd`pas status`}\` lists what needs your attention, with the command for it.`,
  });
}

function decide(outbox: Outbox, entry: Entry, decision: Decision, group: string): void {
  const by = 'person';
  switch (decision.kind) {
    case 'created': {
      const reason = msg`a person decided: created as ${decision.identCely}`;
      recordEvents(outbox, [
        makeDecision(
          outbox,
          entry,
          { answer: 'created', by, group, identCely: decision.identCely },
          reason,
        ),
      ]);
      if (entry.kind === 'import' && entry.held?.basis === 'not-searched')
        holdPhotographs(outbox, entry, entry.held);
      return;
    }
    case 'resend': {
      const reason = msg`a person decided: send`;
      const candidates = entry.held?.candidates ?? [];
      // A dropped entry that may have been sent becomes uncertain again.
      const attempts = entry.state === 'dropped' ? { attempts: [] } : {};
      recordEvents(outbox, [
        makeDecision(outbox, entry, { answer: 'send', by, group, candidates, ...attempts }, reason),
      ]);
      requeue(outbox, entry, reason);
      schedule(outbox, entry.id, { held: null });
      if (
        entry.held?.basis === 'hidden-records' &&
        entry.kind === 'import' &&
        entry.project !== null
      )
        releaseProject(outbox, entry.project);
      if (entry.findId !== null && entry.kind === 'import') unhideFind(outbox, entry.findId);
      return;
    }
    case 'drop':
      recordEvents(outbox, [
        makeDecision(outbox, entry, { answer: 'abandon', by, group }, msg`dropped by a person`),
      ]);
      return;
  }
}

/** Photographs of a find that was sent from another place may have been sent from there as well. */
function holdPhotographs(outbox: Outbox, { findId }: ImportEntry, held: Held): void {
  for (const { id, kind, state } of listEntriesOfFind(outbox, findId ?? 0))
    if (kind === 'photo' && state === 'queued') schedule(outbox, id, { held });
}

/** The answer about a project's hidden records applies to all of its finds. */
function releaseProject(outbox: Outbox, project: string): void {
  recordOtherWriters(outbox, project);
  scheduleEach(outbox, listHeldAboutHiddenRecords(outbox, project), () => ({ held: null }));
}

/** Releases the entries of these that are still held for the same question, as the user said. */
export function sendHeld(outbox: Outbox, held: readonly Entry[]): void {
  const group = randomUUID();
  outbox.change(() => {
    for (const { id, held: asked } of held) {
      const entry = findEntryById(outbox, id);
      if (entry?.state === 'queued' && isDeepStrictEqual(entry.held, asked))
        decide(outbox, entry, { kind: 'resend' }, group);
    }
  });
}

/** Possible decisions about a record, and the records from the last lookup or the open question. */
export type OpenDecision = {
  readonly entry: Entry;
  readonly kinds: readonly DecisionKind[];
  readonly candidates: readonly string[];
};

/** @throws UsageError where there is nothing to decide */
export function openDecision(
  outbox: Outbox,
  find: string,
  entryId: number | undefined,
): OpenDecision {
  const target = findTarget(outbox, find);
  const open = DECISION_KINDS.flatMap((kind) =>
    listDecidable(outbox, target, kind, entryId)
      .slice(0, 1)
      .map((entry) => ({ kind, entry })),
  );
  const [first] = open;
  if (first === undefined)
    throw makeNothingToDecideError(msg`Nothing here waits for a decision.`, entryId);
  const { entry } = first;
  const names = entry.held?.candidates ?? listEvidence(outbox, entry).at(-1)?.candidates ?? [];
  return {
    entry,
    kinds: open.filter((each) => each.entry.id === entry.id).map(({ kind }) => kind),
    candidates:
      entry.kind === 'import'
        ? names.filter((ident) => findRecordProblem(outbox, entry, ident) === undefined)
        : [entry.identCely].filter((ident) => ident !== null),
  };
}

function listDecidable(
  outbox: Outbox,
  target: Target,
  kind: Decision['kind'],
  entryId: number | undefined,
): Entry[] {
  const all = listEntriesOfTarget(outbox, target).filter(
    (entry) => entryId === undefined || entry.id === entryId,
  );
  const groups = DECIDES[kind].map((state) => all.filter((entry) => isIn(entry, state)));
  const group = groups.find((each) => each.length > 0) ?? [];
  // Photographs and numbers of an uncertain find have no record yet, so there is nothing to decide
  // about them.
  const decided = group.filter(
    (entry) => entry.kind === 'import' || entry.identCely !== null || entry.state !== 'uncertain',
  );
  const [importEntry] = group.filter((entry) => entry.kind === 'import');
  // Dependents of a dropped find stay, in case it is restored.
  if (kind === 'drop' && importEntry?.state === 'queued') return [importEntry];
  return decided.length > 0 ? decided : group;
}

function isIn(entry: Entry, state: Decidable): boolean {
  if (state === 'held') return entry.state === 'queued' && entry.held !== null;
  return entry.state === state;
}

function countDependents(outbox: Outbox, { findId }: Target): number | undefined {
  if (findId === null || !isDropped(outbox, findId)) return undefined;
  return listEntriesOfFind(outbox, findId).filter(
    ({ kind, state }) => kind !== 'import' && state === 'queued',
  ).length;
}

type Decided = { readonly entry: Entry; readonly event: EventOf<'decided'> };

/**
 * Undoes the last decision about a record, unless an attempt followed it.
 * @param find as a user names it
 * @returns the decision, and the entries as they are now
 * @throws UsageError where nothing was decided, or where it is too late
 */
export function undoDecision(
  outbox: Outbox,
  find: string,
  withLock: WithLockIfFree,
): { readonly decision: DecisionKind; readonly entries: Entry[] } {
  return withLock((isLocked) => {
    if (isLocked) recoverInFlight(outbox);
    return outbox.change(() => revertLast(outbox, find));
  });
}

function revertLast(
  outbox: Outbox,
  find: string,
): { readonly decision: DecisionKind; readonly entries: Entry[] } {
  const entries = listEntriesOfTarget(outbox, findTarget(outbox, find));
  const last = findLastDecision(outbox, entries);
  const [first] = last;
  if (first === undefined) throw new UsageError(msg`There is no decision about ${find} to undo.`);
  if (entries.some((entry) => isAttemptedSince(outbox, entry, last)))
    throw new UsageError(
      msg`Something was sent because of the decision, so it can no longer be undone.`,
      {
        hint: makeTooLateHint(find, first, entries),
      },
    );
  const [group, reason] = [randomUUID(), msg`a person undid the decision`];
  recordEvents(
    outbox,
    last.map(({ entry, event }) =>
      makeDecision(outbox, entry, { answer: 'undo', by: 'person', group, of: event.id }, reason),
    ),
  );
  // A refused entry that was queued again is refused again.
  for (const { entry, event } of last) {
    if (event.body.answer === 'send') schedule(outbox, entry.id, { retryOf: null });
    if (findEntryById(outbox, entry.id)?.state === 'queued')
      schedule(outbox, entry.id, { held: deserializeHeld(event.body.held) });
  }
  for (const { entry } of last) restoreReason(outbox, entry);
  return {
    decision: KIND_OF[first.event.body.answer] ?? 'resend',
    entries: last.flatMap(({ entry }) => findEntryById(outbox, entry.id) ?? []),
  };
}

/** Restores the reason from before the decision. */
function restoreReason(outbox: Outbox, { id, uuid }: Entry): void {
  const reason = getLastReason(listEventsOfEntry(outbox, uuid));
  setReason(outbox, id, reason === null ? null : JSON.stringify(reason));
}

const KIND_OF: Partial<Record<EventOf<'decided'>['body']['answer'], DecisionKind>> = {
  created: 'created',
  send: 'resend',
  abandon: 'drop',
};

/** Returns the last effective decision of a person, with all entries that it changed. */
function findLastDecision(outbox: Outbox, entries: readonly Entry[]): Decided[] {
  const decided = entries.flatMap((entry) => {
    const events = listEventsOfEntry(outbox, entry.uuid).filter(
      (event) => event.kind === 'decided',
    );
    const undone = new Set(events.flatMap(({ body }) => (body.answer === 'undo' ? [body.of] : [])));
    return events
      .filter(({ id, body }) => body.by === 'person' && body.answer !== 'undo' && !undone.has(id))
      .map((event): Decided => ({ entry, event }));
  });
  const newest = decided.reduce<Decided | undefined>(
    (best, each) =>
      best === undefined || getEventSeq(outbox, each.event.id) >= getEventSeq(outbox, best.event.id)
        ? each
        : best,
    undefined,
  );
  return decided.filter(({ event }) => event.body.group === newest?.event.body.group);
}

/** Tells if an attempt of this entry, or of a dependent one, began after the decision. */
function isAttemptedSince(outbox: Outbox, entry: Entry, last: readonly Decided[]): boolean {
  const decidedSeq = Math.max(...last.map(({ event }) => getEventSeq(outbox, event.id)));
  return listEventsOfEntry(outbox, entry.uuid).some(
    ({ kind, id }) => kind === 'attempted' && getEventSeq(outbox, id) > decidedSeq,
  );
}

function makeTooLateHint(find: string, { event }: Decided, entries: readonly Entry[]): Message {
  const importEntry = entries.find(
    (entry) => entry.kind === 'import' && entry.state === 'accepted',
  );
  const ident = importEntry?.identCely;
  const isDecided = event.body.answer === 'created' && ident != null;
  return isDecided
    ? msg`If ${ident} is another find, remove what was added to it on the service's website, and send ${find} under another local_id.`
    : msg`\`${cmd`pas show ${find}`}\` shows what happened to it.`;
}

/** Returns candidates that a person excluded for the entry. */
export function listRejectedCandidates(outbox: Outbox, { uuid }: Entry): ReadonlySet<string> {
  return foldEvents(listEventsOfEntry(outbox, uuid)).rejected;
}
