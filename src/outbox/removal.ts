import { randomUUID } from 'node:crypto';
import { msg } from '../base/message.ts';
import { parseTexts } from '../store/database.ts';
import { listPhotographsToUndo, recordBefore } from './change-log.ts';
import { refreshState, removeEntry } from './entries.ts';
import type { Entry } from './entry.ts';
import { listEntriesOfTarget, type Target } from './entry-queries.ts';
import type { Outbox } from './open-outbox.ts';
import { makeDecision, recordEvents } from './record-events.ts';
import { setHidden } from './stored-finds.ts';

export type Removal =
  | {
      readonly kind: 'removed';
      readonly entries: readonly Entry[];
      /** An attempt was made for it, so it is hidden, and its local id stays taken. */
      readonly isHidden: boolean;
    }
  /** Nothing was removed, since the service has this entry, or may have it. */
  | { readonly kind: 'kept'; readonly because: Entry };

/** Returns the entries of a removal, and the entry that prevents it; changes nothing. */
export function checkRemovable(
  outbox: Outbox,
  target: Target,
): { readonly entries: readonly Entry[]; readonly because: Entry | undefined } {
  const entries = listEntriesOfTarget(outbox, target);
  return { entries, because: entries.find(isOrMayBeAtService) };
}

/** An entry that a person dropped while its outcome was unknown does not prevent a removal. */
function isOrMayBeAtService({ state, unknownAttempts }: Entry): boolean {
  return (
    state === 'accepted' || state === 'sending' || (unknownAttempts > 0 && state !== 'dropped')
  );
}

/**
 * Removes a find with all its entries, or nothing. What was never attempted is deleted, and the
 * local id is free again; what was attempted is dropped and hidden, since its events may still
 * explain a record of the service.
 */
export function removeTarget(outbox: Outbox, target: Target): Removal {
  return outbox.change(() => {
    // The row has a copy of the number of attempts, which follows from the events.
    for (const { id } of listEntriesOfTarget(outbox, target)) refreshState(outbox, id);
    const { entries, because } = checkRemovable(outbox, target);
    if (because !== undefined) return { kind: 'kept', because };
    const isHidden = entries.some(({ attempts }) => attempts > 0);
    if (target.findId !== null) recordBefore(outbox, target.findId);
    for (const { id, attempts } of entries) if (attempts === 0) removeEntry(outbox, id);
    abandonAll(
      outbox,
      entries.filter(({ attempts, state }) => attempts > 0 && state !== 'dropped'),
    );
    if (target.findId !== null && isHidden) setHidden(outbox, target.findId, true);
    else outbox.sql('delete from finds where id = ?').run(target.findId);
    return { kind: 'removed', entries, isHidden };
  });
}

/** A hidden find is not sent. */
function abandonAll(outbox: Outbox, entries: readonly Entry[]): void {
  const decided = { answer: 'abandon', by: 'person', group: randomUUID() } as const;
  recordEvents(
    outbox,
    entries.map((entry) => makeDecision(outbox, entry, decided, msg`removed by a person`)),
  );
}

export function unhideFind(outbox: Outbox, findId: number): void {
  setHidden(outbox, findId, false);
}

/**
 * Returns digests of copied photographs that an entry refers to, or would after an undo. Other
 * copies are unused.
 */
export function listUsedPhotographs(outbox: Outbox): Set<string> {
  const digests = outbox
    .sql(
      `select distinct lower(hex(photo_sha512)) from entries where kind = 'photo' and photo_link is null and photo_sha512 is not null`,
    )
    .pluck()
    .all();
  return new Set([...parseTexts(digests), ...listPhotographsToUndo(outbox)]);
}
