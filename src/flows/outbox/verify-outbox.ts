import { assertSound } from '../../outbox/backup-copy.ts';
import { assertSoundJournal } from '../../outbox/journal.ts';
import { rebuildStates } from '../../outbox/merge.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';

/**
 * Reads all of an outbox and of its journal, each row by its checksum, and brings every state up to date with the events.
 * @returns the finds or records whose state was another one
 * @throws DatabaseError where anything is damaged, or the journal cannot be used
 */
export function verifyOutbox(outbox: Outbox): string[] {
  assertSound(outbox);
  const corrected = rebuildStates(outbox);
  if (outbox.journalProblem !== undefined) throw outbox.journalProblem;
  if (outbox.journal !== undefined) assertSoundJournal(outbox.journal);
  return corrected;
}
