import { UsageError } from '../../base/errors.ts';
import { msgid } from '../../base/language.ts';
import { cmd, type Message, msg, nmsg } from '../../base/message.ts';
import { hasEvent } from '../../outbox/entries.ts';
import type { EarlierOutbox } from '../../outbox/journal.ts';
import { type MergeResult, mergeJournal, restartMerge } from '../../outbox/merge.ts';
import { type Outbox, readHeader, updateHeader } from '../../outbox/open-outbox.ts';
import { assertJournal } from '../../outbox/record-events.ts';

/**
 * Ownership of an outbox. `new`: never pushed. `own`: pushed with this machine's journal.
 * `foreign`: it, or a copy of it, may be pushed from another place. `lost-journal`: this machine
 * had another journal, which is gone.
 */
export type Fence =
  | { readonly kind: 'own' | 'new' | 'lost-journal' }
  | { readonly kind: 'foreign'; readonly journal: string; readonly machine: string };

/**
 * @param machine its identifier; empty without one
 * @throws DatabaseError, DatabaseTooNewError for an unusable journal
 */
export function getFence(outbox: Outbox, machine: string): Fence {
  const journalId = assertJournal(outbox).id;
  const { journal, machine: other } = readHeader(outbox);
  const areKnown = machine !== '' && other !== '';
  if (journal === '') return { kind: 'new' };
  if (journal === journalId)
    return areKnown && machine !== other
      ? { kind: 'foreign', journal, machine: other }
      : { kind: 'own' };
  return areKnown && machine === other
    ? { kind: 'lost-journal' }
    : { kind: 'foreign', journal, machine: other };
}

/**
 * Assigns the outbox to this machine unless it is foreign, under the push lock before any claim;
 * returns the old ownership.
 */
export function passFence(outbox: Outbox, machine: string): Fence {
  const fence = getFence(outbox, machine);
  switch (fence.kind) {
    case 'new':
      outbox.change(() => updateHeader(outbox, { journal: assertJournal(outbox).id, machine }));
      return fence;
    case 'lost-journal':
      adopt(outbox, machine);
      return fence;
    case 'own':
    case 'foreign':
      return fence;
  }
}

/**
 * Assigns the outbox to this machine, and requires a lookup of everything unsent before it is sent.
 * The caller holds the push lock. No entry becomes uncertain.
 */
export function adopt(outbox: Outbox, machine: string): MergeResult {
  const { id } = assertJournal(outbox);
  outbox.change(() => {
    updateHeader(outbox, { journal: id, machine, mustLook: true });
    restartMerge(outbox);
  });
  return mergeJournal(outbox, { withOpen: true });
}

export function makeForeignOutboxError({ path }: Outbox): UsageError {
  return new UsageError(
    msg`The outbox ${path} was pushed from another machine or with another journal. Nothing was sent.`,
    {
      hint: msg`If you no longer push from the other place: ${cmd`pas outbox adopt --yes`}. Otherwise push there.`,
    },
  );
}

/**
 * Returns other outboxes from which this machine has sent with the account, and that a person has
 * not declared separate; latest first, empty without a journal.
 * @param account the service's identifier
 */
export function findEarlierOutboxes(outbox: Outbox, account: string): EarlierOutbox[] {
  const { outbox: id, address, separateFrom } = readHeader(outbox);
  const earlier = outbox.journal?.listOtherOutboxes(account, address, id) ?? [];
  return earlier.filter(({ outbox: other }) => !separateFrom.includes(other));
}

/** Adds outboxes to those that a person has declared separate from this one, in one transaction. */
export function storeSeparate(outbox: Outbox, otherOutboxes: readonly string[]): void {
  outbox.change(() =>
    updateHeader(outbox, {
      separateFrom: [...new Set([...readHeader(outbox).separateFrom, ...otherOutboxes])],
    }),
  );
}

/** Tells if the outbox has no recorded attempt, so that nothing can have been sent from it. */
export function isUnattempted(outbox: Outbox): boolean {
  return !hasEvent(outbox, 'attempted');
}

/**
 * @throws UsageError with this hint where something was sent from the outbox: its finds are no
 * others' to send
 */
export function assertUnattempted(outbox: Outbox, hint: Message): void {
  if (isUnattempted(outbox)) return;
  throw new UsageError(
    msg`Something was sent from the current outbox, so its finds cannot be moved into another one.`,
    { hint },
  );
}

/** A person must first decide if a new outbox continues an earlier one. */
export class UndecidedOutboxError extends UsageError {
  /** Latest first. */
  readonly earlier: readonly EarlierOutbox[];

  constructor(earlier: readonly EarlierOutbox[]) {
    const [latest] = earlier;
    const { outbox = '', attempts = 0 } = latest ?? {};
    const message = nmsg(
      msgid`This machine has sent ${attempts} request for the account from another outbox, ${outbox}. Nothing was sent.`,
      msgid`This machine has sent ${attempts} requests for the account from another outbox, ${outbox}. Nothing was sent.`,
      attempts,
    );
    super(message, {
      hint: msg`If this one continues it: ${cmd`pas outbox adopt --continue ${outbox} --yes`}. If the two are separate: ${cmd`pas outbox adopt --separate`}`,
    });
    this.earlier = earlier;
  }
}

/**
 * @throws UndecidedOutboxError while it is open how an outbox that this account used on this
 * machine is related
 */
export function assertDecided(outbox: Outbox, account: string): void {
  if (!isUnattempted(outbox)) return;
  const earlier = findEarlierOutboxes(outbox, account);
  if (earlier.length > 0) throw new UndecidedOutboxError(earlier);
}
