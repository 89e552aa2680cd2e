import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { endObsoleteAlikeQuestions } from '../alike-finds.ts';
import { recordDecision } from '../attempts.ts';
import type { Entry } from '../entry.ts';
import { getWantedElements, listEntriesOfSubject } from '../entry-queries.ts';
import { deleteUnneededIntentContents } from '../intents.ts';
import type { Outbox } from '../open-outbox.ts';
import { findByUuid, isRemoved, type StoredFind } from '../stored-finds.ts';
import { recordPhotoWish, withdrawWish } from '../wishes.ts';
import { deleteUnusedCopies } from './content-store.ts';
import { enqueueNumber } from './enqueue-change.ts';
import { findSubjectWithEntries } from './resolve-finds.ts';

/** A find or record to remove, as a person named it. */
export type PlannedRemoval = Removal & { readonly name: string; readonly subject: string };

type Removal = {
  /** With an attempt among them, the find is hidden, and its local id stays taken. */
  readonly entries: readonly Entry[];
  /** Entry that the service has, or may have: it prevents the removal. */
  readonly because: Entry | undefined;
};

/**
 * Plans the removal of finds and records; nothing is stored. One that is named twice is planned
 * once, by the first name.
 * @throws UsageError for an unknown or ambiguous name, a record without entries, and a find that was
 * removed before or has a question about a row
 */
export function planRemoval(outbox: Outbox, names: readonly string[]): PlannedRemoval[] {
  const named = new Map<string, string>();
  for (const name of names) {
    const subject = findSubjectWithEntries(outbox, name);
    named.set(subject, named.get(subject) ?? name);
  }
  return [...named].map(([subject, name]) => {
    if (isRemoved(outbox, subject)) throw new UsageError(msg`${name} was removed before.`);
    assertNoRowQuestion(outbox, subject);
    return { name, subject, ...planRemovalOfSubject(outbox, subject) };
  });
}

/**
 * Asserts that no row of a table waits for an answer about a find: it would be lost with the find.
 * @throws UsageError with the command that answers
 */
export function assertNoRowQuestion(outbox: Outbox, subject: string): void {
  const { localId, wish } = findByUuid(outbox, subject) ?? {};
  if (localId !== undefined && wish?.asked !== undefined)
    throw new UsageError(msg`A row of a table waits for an answer about ${localId}.`, {
      hint: msg`Answer first: ${cmd`pas resolve ${localId}`}`,
    });
}

/** Plans the removal of one find or record; nothing is stored. */
export function planRemovalOfSubject(outbox: Outbox, subject: string): Removal {
  const entries = listEntriesOfSubject(outbox, subject);
  return { entries, because: entries.find(isOrMayBeAtService) };
}

/** An entry that a person dropped while its outcome was unknown does not prevent a removal. */
function isOrMayBeAtService({ state, unknownAttempts }: Entry): boolean {
  return (
    state === 'accepted' || state === 'sending' || (unknownAttempts > 0 && state !== 'dropped')
  );
}

/**
 * Removes finds, and of records without a find here the numbers and photographs: of each all or
 * nothing, in a transaction of its own. Then copies of photographs that are unused now are deleted.
 * After an error the earlier ones stay removed.
 * @returns what became of each: one with `because` was kept, since the service has it, or may have
 * it, by now
 */
export function removeFinds(
  outbox: Outbox,
  planned: readonly PlannedRemoval[],
  photosFolder: string,
): PlannedRemoval[] {
  const removals = planned.map(({ name, subject }) => ({
    name,
    subject,
    ...removeSubject(outbox, subject),
  }));
  if (removals.some(({ because }) => because === undefined)) {
    endObsoleteAlikeQuestions(outbox);
    deleteUnneededIntentContents(outbox);
    deleteUnusedCopies(outbox, photosFolder);
  }
  return removals;
}

/**
 * Removes a find or record with all its entries; where the service has one of them, or may have it,
 * nothing changes, and the result has that entry as `because`. A find that was never attempted
 * frees its local id; any other one is hidden, since its facts may still explain a record of the
 * service.
 */
export function removeSubject(outbox: Outbox, subject: string): Removal {
  return outbox.change(() => {
    const removal = planRemovalOfSubject(outbox, subject);
    if (removal.because !== undefined) return removal;
    for (const entry of removal.entries)
      if (entry.unknownAttempts > 0)
        recordDecision(outbox, entry, { kind: 'abandon' }, msg`removed by a person`);
    // The numbers and photographs of a find go with it: if another copy has sent it, they stay.
    const find = removal.entries.find(({ kind }) => kind === 'import');
    for (const entry of find === undefined ? removal.entries : [find])
      withdrawWish(outbox, entry, 'removed');
    return removal;
  });
}

/**
 * Removes a find that is the same as another one here, and gives its number and photographs to the
 * other one, in one transaction.
 * @param refuse called where the number would replace one that the other find has or is to get
 * @returns false where the service has the find, or may have it; nothing is changed then
 * @throws the error of `refuse`; UsageError where the other find was removed, or the account may
 * not set the number
 */
export function removeFindAsSame(
  outbox: Outbox,
  find: StoredFind,
  other: StoredFind,
  refuse: (number: string, replaces: string) => never,
): boolean {
  return outbox.change(() => {
    const { entries, because } = planRemovalOfSubject(outbox, find.uuid);
    if (because !== undefined) return false;
    const { evidencni_cislo: number } = getWantedElements(outbox, find);
    const { evidencni_cislo: taken } = getWantedElements(outbox, other);
    if (number !== undefined && number !== taken) {
      if (taken !== undefined) refuse(number, taken);
      enqueueNumber(outbox, other.uuid, number, (replaces) => refuse(number, replaces));
    }
    for (const entry of entries)
      if (entry.kind === 'photo' && entry.state !== 'dropped')
        recordPhotoWish(outbox, other.uuid, entry.photograph);
    removeSubject(outbox, find.uuid);
    return true;
  });
}
