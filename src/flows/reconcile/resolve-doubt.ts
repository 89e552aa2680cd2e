import { UsageError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { applySettlement, recoverInterrupted } from '../../outbox/claims.ts';
import { entriesOfFind, entriesOfTarget, move, type Target, wasGivenUp } from '../../outbox/entries.ts';
import type { Entry, EntryState } from '../../outbox/entry.ts';
import { recordEvidence } from '../../outbox/evidence.ts';
import { takeLease } from '../../outbox/lease.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { ownerOf } from '../../outbox/owners.ts';
import { KIND_WORDS } from '../finds/entry-words.ts';
import { targetOf } from '../queue/enqueue-change.ts';

/** What a person found out, or wants. */
export type Decision =
  | { readonly kind: 'created'; readonly identCely: string }
  | { readonly kind: 'resend' }
  | { readonly kind: 'drop' };

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
      const nothing = NOTHING_TO_DECIDE[decision.kind];
      const message = entryId === undefined ? nothing : msg`${nothing} Only the entry ${entryId} was asked about.`;
      throw new UsageError(message, {
        hint: msg`\`${cmd`pas status`}\` lists what needs a person, with the command for it.`,
      });
    }
    for (const entry of entries) decide(outbox, entry, decision);
    return entries;
  });
}

function waitingForGivenUp(outbox: ServiceOutbox, { findId }: Target): number | undefined {
  if (findId === null || !wasGivenUp(outbox, findId)) return undefined;
  return entriesOfFind(outbox, findId).filter(({ kind, state }) => kind !== 'import' && state === 'queued').length;
}

function decidable(outbox: ServiceOutbox, target: Target, { kind }: Decision, entryId: number | undefined): Entry[] {
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
      refuseOthersRecord(outbox, entry, decision.identCely);
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

/** Two finds settled as one record would leave one of them at no service at all. */
function refuseOthersRecord(outbox: ServiceOutbox, entry: Entry, identCely: string): void {
  if (!/^[A-Za-z0-9-]{3,64}$/.test(identCely)) throw new UsageError(msg`${identCely} is not an identifier of the service.`);
  if (entry.kind !== 'import') {
    if (entry.identCely === identCely) return;
    const [kind, own] = [KIND_WORDS[entry.kind], entry.identCely ?? ''];
    throw new UsageError(msg`The ${kind} was sent to ${own}, not to ${identCely}.`, {
      hint: msg`If ${own} has it, give that identifier.`,
    });
  }
  const owner = ownerOf(outbox, identCely);
  if (owner === undefined) return;
  const [find, other] = [entry.localId ?? '', owner.localId ?? identCely];
  throw new UsageError(msg`${identCely} is the record of ${other} already.`, {
    hint: msg`\`${cmd`pas show ${other}`}\` shows the find of that record. If ${find} has a record of its own, give the identifier of that one; if both are one find, give it up: ${cmd`pas resolve ${find} --drop`}`,
  });
}
