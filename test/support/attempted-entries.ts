import { asServerMs } from '../../src/base/clock.ts';
import {
  type AnswerFacts,
  type Claim,
  claim,
  type Settlement,
  settle,
} from '../../src/outbox/claims.ts';
import type { EntryId } from '../../src/outbox/entry.ts';
import type { Outbox } from '../../src/outbox/open-outbox.ts';

/** An entry that is being sent. */
export function claimEntry(outbox: Outbox, id: EntryId): Claim {
  const serverNow = asServerMs(outbox.clock.now());
  const claimed = claim(outbox, id, () => ({
    method: 'POST',
    path: '/',
    account: 'U-000001',
    serverMs: serverNow,
    sentByMs: serverNow,
    settleMs: 600_000,
  }));
  if (claimed === undefined) throw new Error('the entry cannot be sent');
  return claimed;
}

/** Sends an entry, with this answer, at the time that the clock says. */
export function attemptEntry(outbox: Outbox, id: EntryId, settlement: Settlement): void {
  const outcome = settlement.state === 'queued' ? 'throttled' : settlement.state;
  const facts: AnswerFacts = { outcome, status: 200, serverDateAt: asServerMs(outbox.clock.now()) };
  settle(outbox, claimEntry(outbox, id), settlement, facts);
}

export function acceptEntry(outbox: Outbox, id: EntryId, identCely: string): void {
  attemptEntry(outbox, id, { state: 'accepted', identCely });
}
