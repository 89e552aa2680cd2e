import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { assertSound } from '../../outbox/backup-copy.ts';
import { assertSoundJournal } from '../../outbox/journal.ts';
import { rebuildStates } from '../../outbox/merge.ts';
import { type Binding, type Outbox, repairHeader } from '../../outbox/open-outbox.ts';

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

/**
 * Writes the header of an outbox anew where it is damaged. To be called under the push lock.
 * @param binding of the profile
 * @returns whether it was damaged
 */
export function repairOutbox(outboxFile: string, clock: Clock, binding: Binding, id: string): boolean {
  return existsSync(outboxFile) && repairHeader(outboxFile, clock, binding, id);
}
