import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import { assertSound } from '../../outbox/backup-copy.ts';
import { assertSoundJournal } from '../../outbox/journal.ts';
import { rebuildStates } from '../../outbox/merge.ts';
import { type Binding, type Outbox, repairHeader } from '../../outbox/open-outbox.ts';

/**
 * Verifies every row of an outbox and its journal by checksum, and updates every state from the events.
 * @returns the finds or records whose state was wrong
 * @throws DatabaseError where anything is damaged, or the journal is unusable
 */
export function verifyOutbox(outbox: Outbox): string[] {
  assertSound(outbox);
  const corrected = rebuildStates(outbox);
  if (outbox.journalProblem !== undefined) throw outbox.journalProblem;
  if (outbox.journal !== undefined) assertSoundJournal(outbox.journal);
  return corrected;
}

/**
 * Rebuilds the header of an outbox where it is damaged. The caller holds the push lock.
 * @param binding of the profile
 * @returns true if it was damaged
 */
export function repairOutbox(outboxFile: string, clock: Clock, binding: Binding, id: string): boolean {
  return existsSync(outboxFile) && repairHeader(outboxFile, clock, binding, id);
}
