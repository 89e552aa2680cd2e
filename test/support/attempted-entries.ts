import { asServerMs } from '../../src/base/clock.ts';
import {
  type AnswerDetails,
  type AttemptSettlement,
  recordAnswer,
} from '../../src/outbox/attempts.ts';
import type { Outbox } from '../../src/outbox/open-outbox.ts';
import { claimEntry } from './temp-outbox.ts';

export { claimEntry } from './temp-outbox.ts';

/** Sends an entry, with this answer, at the time that the clock says. */
export function attemptEntry(outbox: Outbox, id: number, settlement: AttemptSettlement): void {
  const outcome = settlement.state === 'queued' ? 'throttled' : settlement.state;
  const facts: AnswerDetails = {
    outcome,
    status: 200,
    serverDateAt: asServerMs(outbox.clock.now()),
  };
  recordAnswer(outbox, claimEntry(outbox, id), settlement, facts);
}

export function acceptEntry(outbox: Outbox, id: number, identCely: string): void {
  attemptEntry(outbox, id, { state: 'accepted', identCely });
}
