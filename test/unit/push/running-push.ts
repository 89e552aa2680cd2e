import { asMonotonicMs, createServerClock } from '../../../src/base/clock.ts';
import type { AttemptOutcome } from '../../../src/base/outcomes.ts';
import { recordAnswer } from '../../../src/outbox/attempts.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { SendResult } from '../../../src/push/departure.ts';
import { PushSession } from '../../../src/push/push-session.ts';
import type { Outcome } from '../../../src/service/outcome.ts';
import { inWords } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  claimEntry,
  EVA,
  getEntry,
  PHOTOGRAPH,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { serviceSaying } from './account-service.ts';
import { makePush, makeTestPace } from './find-service.ts';

export type Told = Outcome;

export const RECORD = 'C-202400101-N00001';
/** Rate of such a push for clients that slow down. */
export const PAUSE_MS = 7000;

/** A push in the middle, and the entries that it may be about. */
export function aPush() {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const slowed: [number, number | undefined][] = [];
  const slowDown = (departedAtMs: number, retryAfterMs: number | undefined): number => {
    slowed.push([departedAtMs, retryAfterMs]);
    return PAUSE_MS;
  };
  const push = {
    ...makePush(outbox, clock),
    account: EVA.identCely,
    serverClock: createServerClock(clock),
    pace: { ...makeTestPace(clock), pauseAfterThrottle: slowDown },
    service: serviceSaying(EVA),
  };
  const session = new PushSession(push, async () => false);
  const entry = (id: number) => getEntry(outbox, id);
  const makeSent = (outcome: Outcome, more: Partial<SendResult> = {}): SendResult => ({
    outcome,
    status: undefined,
    serverDateAt: undefined,
    tookMs: 1,
    departedAt: clock.monotonicMs(),
    token: 'token',
    ...more,
  });
  return {
    session,
    clock,
    entry,
    slowed,
    settled: (id: number, outcome: Told, departedAtMs = 1) =>
      inWords(
        session.applyAnswer(
          entry(id),
          makeSent(outcome, { departedAt: asMonotonicMs(departedAtMs) }),
        ).settlement,
      ),
    /** From now on the entry is under way. */
    sent: (id: number) => {
      session.flights.delete(id);
      session.addFlight(entry(id), Promise.resolve());
    },
    anImport: (localId = 'K-1') => queueImport(outbox, localId).entryId,
    aNumber: (value = 'INV 1', identCely = RECORD) =>
      queueNumber(outbox, makeRecordSubject(identCely), value, null),
    aPhotograph: (identCely = RECORD) =>
      queuePhoto(outbox, makeRecordSubject(identCely), PHOTOGRAPH),
    anImportOf: (lines: readonly string[]) =>
      queueImport(outbox, 'K-1', undefined, lines.join('\n')).entryId,
    triedInVain: (id: number, times: number, outcome: AttemptOutcome = 'busy') => {
      for (let time = 0; time < times; time += 1)
        recordAnswer(
          outbox,
          claimEntry(outbox, id),
          { state: 'queued', reason: 'busy', notBeforeAt: 0 },
          { outcome },
        );
    },
    now: () => clock.now(),
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}
