import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { type Merged, mergeJournal, restartMerge } from '../../outbox/merge.ts';
import { headerOf, type Outbox, updateHeader } from '../../outbox/open-outbox.ts';
import { assertJournal } from '../../outbox/record-events.ts';

/**
 * Ownership of an outbox. `new`: never pushed. `own`: pushed with this machine's journal. `foreign`: it, or a copy of it, may be
 * pushed from another place. `lost-journal`: this machine had another journal, which is gone.
 */
export type Fence =
  | { readonly kind: 'own' | 'new' | 'lost-journal' }
  | { readonly kind: 'foreign'; readonly journal: string; readonly machine: string };

/**
 * @param machine identifier of this machine; empty where it has none
 * @throws DatabaseError or DatabaseTooNewError where the journal is unusable
 */
export function fenceOf(outbox: Outbox, machine: string): Fence {
  const own = assertJournal(outbox).id;
  const { journal, machine: other } = headerOf(outbox);
  const areKnown = machine !== '' && other !== '';
  if (journal === '') return { kind: 'new' };
  if (journal === own) return areKnown && machine !== other ? { kind: 'foreign', journal, machine: other } : { kind: 'own' };
  return areKnown && machine === other ? { kind: 'lost-journal' } : { kind: 'foreign', journal, machine: other };
}

/**
 * Assigns the outbox to this machine at the beginning of a push. The caller holds the push lock, and has claimed nothing yet.
 * @returns the previous ownership; a foreign outbox stays foreign
 */
export function passFence(outbox: Outbox, machine: string): Fence {
  const fence = fenceOf(outbox, machine);
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
 * Assigns the outbox to this machine, and requires a lookup of everything unsent before it is sent. The caller holds the push
 * lock. No entry becomes uncertain.
 */
export function adopt(outbox: Outbox, machine: string): Merged {
  const { id } = assertJournal(outbox);
  outbox.change(() => {
    updateHeader(outbox, { journal: id, machine, mustLook: true });
    restartMerge(outbox);
  });
  return mergeJournal(outbox, { withOpen: true });
}

/** Makes the error of a push whose outbox is foreign. */
export function foreignOutbox({ path }: Outbox): UsageError {
  return new UsageError(msg`The outbox ${path} was pushed from another machine or with another journal. Nothing was sent.`, {
    hint: msg`If nothing is sent from the other place any more: ${cmd`pas outbox adopt --yes`}. Otherwise push there.`,
  });
}
