import { asServerMs } from '../../../src/base/clock.ts';
import { claimQueuedEntry, listEvidence, recordAnswer } from '../../../src/outbox/attempts.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { ReconciledEntry } from '../../../src/push/judge-import.ts';
import { reconcileEntries } from '../../../src/push/reconcile-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  EVA,
  getEntry,
  nthPhotograph,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { findService, getInnerText, queueFind } from './find-service.ts';

type Ended = 'accepted' | 'uncertain' | 'refused' | 'lost';
const SETTLE_MS = 1000;

/** An outbox, and the service that it looks at. A minute is over between one thing and the next. */
export function lookScene({ tellsTime = true } = {}) {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const service = findService(clock);
  const progress: [number, number | undefined][] = [];
  const entry = (id: number): Entry => getEntry(outbox, id);
  const begin = (id: number) => {
    const now = tellsTime ? asServerMs(clock.now()) : null;
    const account = EVA.identCely;
    const claimed = claimQueuedEntry(outbox, id, () => ({
      method: 'POST',
      path: '/',
      account,
      fromMs: now,
      sentByMs: now,
      settleMs: SETTLE_MS,
    }));
    if (claimed === undefined) throw new Error('the entry is not queued');
    return claimed;
  };
  /** One attempt of each, at once; `lost`: no answer came. */
  const endAll = async (ids: readonly number[], state: Ended, identCely = ''): Promise<void> => {
    const settlements = {
      accepted: { state: 'accepted', identCely } as const,
      uncertain: { state: 'uncertain', reason: 'no answer' } as const,
      lost: { state: 'uncertain', reason: 'no answer' } as const,
      refused: { state: 'refused', reason: 'said', issues: [] } as const,
    };
    const answered = { accepted: 201, uncertain: 500, refused: 422, lost: undefined }[state];
    const endedAt = asServerMs(Math.floor(clock.now() / 1000) * 1000);
    for (const claimed of ids.map(begin))
      recordAnswer(outbox, claimed, settlements[state], {
        outcome: state === 'lost' ? 'uncertain' : state,
        status: answered,
        ...(tellsTime
          ? { endedAt, ...(answered === undefined ? {} : { serverDateAt: endedAt }) }
          : {}),
      });
    await clock.advance(60_000);
  };
  const end = async (id: number, state: Ended, identCely = ''): Promise<number> => {
    await endAll([id], state, identCely);
    return id;
  };
  return {
    clock,
    outbox,
    service,
    progress,
    entry,
    begin,
    end,
    endAll,
    evidence: (id: number) => listEvidence(outbox, entry(id)).map(({ basis }) => basis),
    /** A find whose sending ended so; `isMade`: the service has it. */
    find: async (localId: string, state: Ended, isMade = state === 'accepted', note = localId) => {
      const { findId, entryId } = queueFind(outbox, localId, note);
      const ident = isMade ? service.make(getInnerText(note)) : undefined;
      await end(entryId, state, ident);
      return { findId, entryId, ident: ident ?? '' };
    },
    queuePhoto: (
      name: string,
      byte: number,
      identCely: string | null,
      findId: string | null = null,
    ) =>
      queuePhoto(outbox, findId ?? makeRecordSubject(identCely ?? ''), {
        ...nthPhotograph(byte),
        name,
      }),
    queueNumber: (value: string, identCely: string, expects: string | null = null) =>
      queueNumber(outbox, makeRecordSubject(identCely), value, expects),
    look: async (subjects?: readonly string[]): Promise<ReconciledEntry[]> => {
      const lookup = {
        outbox,
        client: service.client,
        format: 'oai_svc',
        indexAllowanceMs: 0,
        clock,
        harvester: EVA.identCely,
        onProgress: (done: number, total: number | undefined) => progress.push([done, total]),
      };
      const running = reconcileEntries(lookup, subjects);
      running.catch(() => {});
      await clock.advance(60_000);
      return running;
    },
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}
