import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { type Merged, mergeJournal, restartMerge } from '../../outbox/merge.ts';
import { headerOf, type Outbox, updateHeader } from '../../outbox/open-outbox.ts';
import { assertJournal } from '../../outbox/record-events.ts';

/**
 * Ownership of an outbox. `new`: it was never pushed. `own`: it is pushed with this machine's journal. `foreign`: it is, or a copy of it may
 * be, pushed from another place. `lost-journal`: this machine had another journal, which is gone.
 */
export type Fence =
  | { readonly kind: 'own' | 'new' | 'lost-journal' }
  | { readonly kind: 'foreign'; readonly journal: string; readonly machine: string };

/**
 * @param machine identifier of this machine; empty where it has none
 * @throws DatabaseError or DatabaseTooNewError where the journal cannot be used
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
 * Makes the outbox this machine's at the beginning of a push. To be called under the push lock, before anything is claimed.
 * @returns what it was; a foreign one stays as it is
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
 * Makes the outbox one that is pushed from here, and has everything unsent looked for at the service before it is sent. To be called
 * under the push lock. Nothing becomes uncertain by it.
 */
export function adopt(outbox: Outbox, machine: string): Merged {
  const { id } = assertJournal(outbox);
  outbox.change(() => {
    updateHeader(outbox, { journal: id, machine, mustLook: true });
    restartMerge(outbox);
  });
  return mergeJournal(outbox, { withOpen: true });
}

/** Error of a push whose outbox is foreign. */
export function foreignOutbox({ path }: Outbox): UsageError {
  return new UsageError(msg`The outbox ${path} was pushed from another machine or with another journal. Nothing was sent.`, {
    hint: msg`If nothing is sent from the other place any more: ${cmd`pas outbox adopt --yes`}. Otherwise push there.`,
  });
}
