import { asMonotonicMs } from '../../../src/base/clock.ts';
import type { AttemptOutcome } from '../../../src/base/outcomes.ts';
import { recordAnswer } from '../../../src/outbox/attempts.ts';
import { findEntryById, findImportOfFind } from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import { wantNewFind } from '../../../src/outbox/wishes.ts';
import { createServerClock, type SendResult } from '../../../src/push/departure.ts';
import { PushSession } from '../../../src/push/push-session.ts';
import { TransportError } from '../../../src/service/http/exchange.ts';
import type { Outcome } from '../../../src/service/outcome.ts';
import { ANYONE, EVA_SAID } from '../../support/account-service.ts';
import { claimEntry } from '../../support/attempted-entries.ts';
import { inWords } from '../../support/in-words.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { PHOTOGRAPH, queueNumber, queuePhoto, tempOutbox } from '../../support/temp-outbox.ts';
import { makePush } from './find-service.ts';

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
  const unused = async (): Promise<never> => {
    throw new TransportError('reset', false, 'nothing is sent here');
  };
  const push = {
    ...makePush(outbox, clock),
    account: EVA_SAID.identCely,
    serverClock: createServerClock(clock),
    pace: {
      backOff: slowDown,
      waitUntilNear: unused,
      acquire: unused,
      acquireSoon: unused,
      getWaitMs: unused,
      readPause: unused,
    },
    service: {
      baseUrl: 'http://service',
      username: undefined,
      usesExternalToken: false,
      profile: ANYONE,
      session: { token: unused, renew: unused },
      send: unused,
    },
  };
  const session = new PushSession(push, async () => false);
  const entry = (id: number) => {
    const entry = findEntryById(outbox, id);
    if (entry === undefined) throw new Error('no such entry');
    return entry;
  };
  const queueDocument = (localId: string, project: string | null, document: string): number => {
    const findId = wantNewFind(
      outbox,
      {
        localId,
        elements: project === null ? {} : { projekt: { id: project, text: '' } },
        file: null,
        row: null,
        path: null,
        base: null,
      },
      { document: Buffer.from(document), issues: [] },
    );
    return findImportOfFind(outbox, findId)?.id ?? 0;
  };
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
    slowed,
    settled: (id: number, outcome: Told, departedAtMs = 1) =>
      inWords(
        session.decideNow(entry(id), makeSent(outcome, { departedAt: asMonotonicMs(departedAtMs) }))
          .settlement,
      ),
    /** Two imports under way at once, of the same project. */
    beside: (...ids: number[]) => {
      for (const id of ids) session.addFlight(entry(id), Promise.resolve());
    },
    anImport: (localId = 'K-1', project: string | null = 'C-202400101'): number => {
      const document = `<document>${localId}</document>`;
      return queueDocument(localId, project, document);
    },
    aNumber: (value = 'INV 1', identCely = RECORD) =>
      queueNumber(outbox, makeRecordSubject(identCely), value, null),
    aPhotograph: (identCely = RECORD) =>
      queuePhoto(outbox, makeRecordSubject(identCely), PHOTOGRAPH),
    anImportOf: (lines: readonly string[]): number =>
      queueDocument('K-1', 'C-202400101', lines.join('\n')),
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
