import { recoverInterrupted } from './claims.ts';
import { entriesInState } from './entries.ts';
import type { Entry } from './entry.ts';
import { leaseHolder, lifeOf, takeLease } from './lease.ts';
import type { ServiceOutbox } from './open-outbox.ts';

/**
 * Takes up what a pas that was killed left `sending`, where none is at work now: until then nothing else could be done
 * about such a find.
 * @returns those entries
 */
export function recoverAbandoned(outbox: ServiceOutbox): Entry[] {
  if (entriesInState(outbox, 'sending').length === 0) return [];
  const held = leaseHolder(outbox);
  if (held !== undefined && lifeOf(held, outbox.processes) !== 'dead') return [];
  const lease = takeLease(outbox);
  try {
    return recoverInterrupted(outbox);
  } finally {
    lease.release();
  }
}
