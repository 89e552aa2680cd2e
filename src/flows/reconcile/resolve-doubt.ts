import { UsageError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { applySettlement, holdFollowers, recoverInterrupted } from '../../outbox/claims.ts';
import { type Decided, type DecisionKind, lastDecision, noteDecision, takeBack, wasSentSince } from '../../outbox/decisions.ts';
import { entriesOfFind, entriesOfTarget, move, type Target, wasGivenUp } from '../../outbox/entries.ts';
import type { Entry, EntryState } from '../../outbox/entry.ts';
import { evidenceOf, recordEvidence } from '../../outbox/evidence.ts';
import { takeLease } from '../../outbox/lease.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { targetOf } from '../queue/enqueue-change.ts';
import { recordProblem } from './look-at-record.ts';

/** What a person found out, or wants. */
export type Decision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

const DECISION_KINDS: readonly DecisionKind[] = ['created', 'resend', 'drop'];

/** What each decision is about: the first of these states that the record has entries in. */
const DECIDES: Readonly<Record<Decision['kind'], readonly EntryState[]>> = {
  created: ['uncertain'],
  resend: ['uncertain', 'refused', 'dropped'],
  drop: ['uncertain', 'refused', 'queued', 'draft'],
};

const NOTHING_TO_DECIDE: Readonly<Record<Decision['kind'], Message>> = {
  created: msg`Nothing here is uncertain.`,
  resend: msg`Nothing here is uncertain or refused, nor is the find given up.`,
  drop: msg`Nothing here is open: uncertain, refused, queued or a draft.`,
};

/**
 * Settles a record's uncertain entries as a person decided. What was refused can be sent again or given up as well, and
 * a find that was given up can be taken back.
 * @param find as a user names it
 * @param entryId only this entry; otherwise all that the decision is about
 * @returns what was settled; where the find is given up now, also how many numbers and photographs wait for it
 * @throws UsageError when there is nothing to decide, or the identifier is another find's; OutboxLeasedError during a push
 */
export function resolveDoubts(
  outbox: ServiceOutbox,
  find: string,
  decision: Decision,
  { entryId, takeOver = false }: { readonly entryId?: number | undefined; readonly takeOver?: boolean } = {},
) {
  const lease = takeLease(outbox, { takeOver });
  try {
    recoverInterrupted(outbox);
    const target = targetOf(outbox, find);
    const settled = settleAs(outbox, target, decision, entryId);
    return { settled, waiting: decision.kind === 'drop' ? waitingForGivenUp(outbox, target) : undefined };
  } finally {
    lease.release();
  }
}

function settleAs(outbox: ServiceOutbox, target: Target, decision: Decision, entryId: number | undefined): Entry[] {
  return outbox.change(() => {
    const entries = decidable(outbox, target, decision, entryId);
    if (entries.length === 0) {
      throw nothingToDecide(NOTHING_TO_DECIDE[decision.kind], entryId);
    }
    if (decision.kind === 'created') {
      const [problem] = entries.flatMap((entry) => recordProblem(outbox, entry, decision.identCely) ?? []);
      if (problem !== undefined) throw problem;
    }
    const before = entriesOfTarget(outbox, target);
    for (const entry of entries) decide(outbox, entry, decision);
    noteDecision(outbox, decision.kind, before);
    return entries;
  });
}

function nothingToDecide(nothing: Message, entryId: number | undefined): UsageError {
  const message = entryId === undefined ? nothing : msg`${nothing} Only the entry ${entryId} was asked about.`;
  return new UsageError(message, { hint: msg`\`${cmd`pas status`}\` lists what needs a person, with the command for it.` });
}

/** What may be decided about a record now, and the records that the last look took into account. */
export type OpenDecision = {
  readonly entry: Entry;
  readonly kinds: readonly DecisionKind[];
  readonly candidates: readonly string[];
};

/** @throws UsageError where nothing is to be decided */
export function openDecision(outbox: ServiceOutbox, find: string, entryId: number | undefined): OpenDecision {
  const target = targetOf(outbox, find);
  const open = DECISION_KINDS.flatMap((kind) =>
    decidable(outbox, target, { kind }, entryId)
      .slice(0, 1)
      .map((entry) => ({ kind, entry })),
  );
  const [first] = open;
  if (first === undefined) throw nothingToDecide(msg`Nothing here waits for a decision.`, entryId);
  const { entry } = first;
  const looked = entry.kind === 'import' ? (evidenceOf(outbox, entry.id).at(-1)?.candidates ?? []) : [];
  return {
    entry,
    kinds: open.filter((each) => each.entry.id === entry.id).map(({ kind }) => kind),
    candidates:
      entry.kind === 'import'
        ? looked.filter((ident) => recordProblem(outbox, entry, ident) === undefined)
        : [entry.identCely].filter((ident) => ident !== null),
  };
}

/**
 * Takes the last decision about a record back, as long as nothing was sent on its account: all that it changed stands as before.
 * @param find as a user names it
 * @returns what was decided, and the entries as they stand now
 * @throws UsageError where nothing was decided, or where it is too late; OutboxLeasedError during a push
 */
export function undoDecision(outbox: ServiceOutbox, find: string, { takeOver = false }: { readonly takeOver?: boolean } = {}) {
  const lease = takeLease(outbox, { takeOver });
  try {
    recoverInterrupted(outbox);
    return outbox.change(() => takeDecisionBack(outbox, find));
  } finally {
    lease.release();
  }
}

function takeDecisionBack(outbox: ServiceOutbox, find: string): { readonly decision: DecisionKind; readonly entries: Entry[] } {
  const all = entriesOfTarget(outbox, targetOf(outbox, find));
  const last = lastDecision(outbox, all);
  const [first] = last;
  if (first === undefined) throw new UsageError(msg`Nobody has decided anything about ${find}.`);
  if (wasSentSince(outbox, all, first))
    throw new UsageError(msg`Something was sent since on account of the decision, so it stands.`, {
      hint: tooLateHint(find, first, all),
    });
  const stands = last.every(({ entryId, became }) => all.some(({ id, state }) => id === entryId && state === became));
  const isReplaced = last.some(({ entryId, became }) => became === 'dropped' && isImportBeside(all, entryId));
  if (!stands || isReplaced) {
    throw new UsageError(msg`${find} was changed since the decision, so it stands.`, {
      hint: msg`\`${cmd`pas show ${find}`}\` says how it stands now.`,
    });
  }
  const made = all.find(
    ({ id, kind, state }) => kind === 'import' && state === 'accepted' && last.some(({ entryId }) => entryId === id),
  );
  const entries = last.flatMap((decided) => takeBack(outbox, decided) ?? []);
  const reason = msg`a person took the decision back`;
  for (const { id } of entries)
    recordEvidence(outbox, id, { serverAt: null, verdict: 'person', basis: 'undo', reason, candidates: [] });
  // What was queued since, for the record that it was taken for.
  if (made !== undefined) holdFollowers(outbox, made);
  return { decision: first.decision, entries };
}

function isImportBeside(all: readonly Entry[], entryId: number): boolean {
  return (
    all.some(({ id, kind }) => id === entryId && kind === 'import') &&
    all.some(({ id, kind, state }) => id !== entryId && kind === 'import' && state !== 'dropped')
  );
}

function tooLateHint(find: string, { decision }: Decided, all: readonly Entry[]): Message {
  const ident = all.find(({ kind, state }) => kind === 'import' && state === 'accepted')?.identCely;
  return decision === 'created' && ident != null
    ? msg`If ${ident} is another find, take what was added to it away in the pages of the service, and send ${find} under another local_id.`
    : msg`\`${cmd`pas show ${find}`}\` says what became of it.`;
}

function waitingForGivenUp(outbox: ServiceOutbox, { findId }: Target): number | undefined {
  if (findId === null || !wasGivenUp(outbox, findId)) return undefined;
  return entriesOfFind(outbox, findId).filter(({ kind, state }) => kind !== 'import' && state === 'queued').length;
}

function decidable(
  outbox: ServiceOutbox,
  target: Target,
  { kind }: Pick<Decision, 'kind'>,
  entryId: number | undefined,
): Entry[] {
  const all = entriesOfTarget(outbox, target);
  const mayBeMeant = (entry: Entry) =>
    (entryId === undefined || entry.id === entryId) && (entry.state !== 'dropped' || canBeTakenBack(entry, all));
  const groups = DECIDES[kind].map((state) => all.filter((entry) => entry.state === state && mayBeMeant(entry)));
  const group = groups.find((each) => each.length > 0) ?? [];
  // Photographs and numbers of a find that is itself in doubt have no record that anything could be decided about.
  const decided = group.filter((entry) => entry.kind === 'import' || entry.identCely !== null || entry.state !== 'uncertain');
  const [found] = group.filter((entry) => entry.kind === 'import');
  // What waits for a find that is given up stays, for the case that it is taken back.
  if (kind === 'drop' && found?.state === 'queued') return [found];
  return decided.length > 0 ? decided : group;
}

/** What waited for a find that is not at the service was not sent either. */
function freeWaiting(outbox: ServiceOutbox, { findId }: Entry): void {
  if (findId === null) return;
  for (const entry of entriesOfFind(outbox, findId)) {
    if (entry.kind !== 'import' && entry.state === 'uncertain' && entry.identCely === null)
      move(outbox, entry, 'queued', { notBeforeAt: 0, reason: null });
  }
}

/** Only the find itself, and only where nothing took its place: a photograph or a number is simply queued anew. */
function canBeTakenBack(entry: Entry, all: readonly Entry[]): boolean {
  const imports = all.filter(({ kind }) => kind === 'import');
  return entry === imports.at(-1) && imports.every(({ state }) => state === 'dropped');
}

function decide(outbox: ServiceOutbox, entry: Entry, decision: Decision): void {
  recordEvidence(outbox, entry.id, {
    serverAt: null,
    verdict: 'person',
    basis: decision.kind,
    reason: decisionText(decision),
    candidates: [],
  });
  switch (decision.kind) {
    case 'created':
      applySettlement(outbox, entry, {
        state: 'accepted',
        identCely: decision.identCely,
        reason: msg`a person found it at the service`,
      });
      return;
    case 'resend':
      move(outbox, entry, 'queued', { notBeforeAt: 0, reason: msg`a person wants it sent`, issues: null });
      if (entry.kind === 'import') freeWaiting(outbox, entry);
      return;
    case 'drop':
      move(outbox, entry, 'dropped', { reason: msg`given up by a person` });
  }
}

function decisionText(decision: Decision): Message {
  switch (decision.kind) {
    case 'created':
      return msg`a person decided: created as ${decision.identCely}`;
    case 'resend':
      return msg`a person decided: send again`;
    case 'drop':
      return msg`a person decided: drop`;
  }
}
