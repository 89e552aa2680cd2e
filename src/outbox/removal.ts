import { msg } from '../base/message.ts';
import { createRowParser, isText } from '../store/database.ts';
import { decide } from './decisions.ts';
import type { Entry } from './entry.ts';
import { getSlotOf } from './entry-facts.ts';
import { listEntriesOfSubject } from './entry-queries.ts';
import type { Outbox } from './open-outbox.ts';
import { unwant } from './wishes.ts';

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
  subject: string,
): { readonly entries: readonly Entry[]; readonly because: Entry | undefined } {
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
 * Removes a find or record with all its entries, or nothing. Without an attempt its local id is
 * free again; else it is hidden, since its facts may still explain a record of the service.
 */
export function removeSubject(outbox: Outbox, subject: string): Removal {
  return outbox.change(() => {
    const { entries, because } = checkRemovable(outbox, subject);
    if (because !== undefined) return { kind: 'kept', because };
    const isHidden = entries.some(({ attempts }) => attempts > 0);
    // Changes first: without its find they have no row.
    for (const entry of entries.toSorted((a, b) => Number(isImport(a)) - Number(isImport(b)))) {
      const slot = getSlotOf(outbox, entry);
      if (entry.unknownAttempts > 0)
        decide(outbox, entry, { kind: 'abandon' }, msg`removed by a person`);
      unwant(outbox, entry.subject, slot, true);
    }
    return { kind: 'removed', entries, isHidden };
  });
}

function isImport({ kind }: Entry): boolean {
  return kind === 'import';
}

const parseUsed = createRowParser({ digest: isText });

/**
 * Returns digests of copied photographs that are wanted, or would be after an undo. Other copies are
 * unused.
 */
export function listUsedPhotographs(outbox: Outbox): Set<string> {
  const rows = outbox
    .sql(
      `select distinct body ->> '$.photograph.sha512' as digest
       from facts join intents on intents.id = body ->> '$.intent'
       where facts.kind = 'current' and slot >= 'photo ' and slot < 'photo!' and content is not null
         and body ->> '$.photograph.sha512' is not null and body ->> '$.photograph.link' is null`,
    )
    .all();
  return new Set(rows.map((row) => parseUsed(row).digest));
}
