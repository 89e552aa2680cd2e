import { entriesOfTarget, type Target } from './entries.ts';
import type { Entry, EntryState } from './entry.ts';
import { mayHaveArrived } from './latest-number.ts';
import type { Outbox, ServiceOutbox } from './open-outbox.ts';

/** States in which the service is certain not to have what the entry would send. */
const NEVER_SENT: readonly EntryState[] = ['draft', 'queued', 'refused', 'dropped'];

export type Removal =
  | {
      readonly kind: 'removed';
      readonly entries: readonly Entry[];
      /** The find itself stays, since another service has an entry of it. */
      readonly staysElsewhere: boolean;
      /** Digests of copied photographs that nothing refers to any more. */
      readonly unusedPhotographs: readonly Buffer[];
    }
  /** Nothing was removed, since the service has this, or may have it. */
  | { readonly kind: 'kept'; readonly because: Entry };

/** What a removal would take away, and what stands against it; nothing is changed. */
export function removable(
  outbox: ServiceOutbox,
  target: Target,
): { readonly entries: readonly Entry[]; readonly because: Entry | undefined } {
  const entries = entriesOfTarget(outbox, target);
  return { entries, because: entries.find((entry) => !wasNeverSent(outbox, entry)) };
}

/** A number that may have arrived, or may yet, is queued all the same: it is simply sent again. */
function wasNeverSent(outbox: Outbox, entry: Entry): boolean {
  return NEVER_SENT.includes(entry.state) && !(entry.kind === 'number' && mayHaveArrived(outbox, entry));
}

/** Takes a find's entries for one service away for good, all or none, and the find where no other service has it. */
export function removeTarget(outbox: ServiceOutbox, target: Target): Removal {
  return outbox.change(() => {
    const { entries, because } = removable(outbox, target);
    if (because !== undefined) return { kind: 'kept', because };
    for (const { id } of entries) {
      outbox.sql('delete from attempts where entry_id = ?').run(id);
      outbox.sql('delete from evidence where entry_id = ?').run(id);
      outbox.sql('delete from entries where id = ?').run(id);
    }
    const gone = outbox
      .sql('delete from finds where id = ? and not exists (select 1 from entries where find_id = finds.id)')
      .run(target.findId);
    const staysElsewhere = target.findId !== null && gone.changes === 0;
    return { kind: 'removed', entries, staysElsewhere, unusedPhotographs: unused(outbox, entries) };
  });
}

function unused(outbox: Outbox, entries: readonly Entry[]): Buffer[] {
  const used = outbox.sql('select 1 from entries where photo_sha512 = ? and photo_link is null');
  return entries.flatMap((entry) => {
    if (entry.kind !== 'photo' || entry.photograph.link !== undefined) return [];
    return used.get(entry.photograph.sha512) === undefined ? [entry.photograph.sha512] : [];
  });
}
