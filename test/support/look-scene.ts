import { type Reconciled, reconcile } from '../../src/flows/reconcile/reconcile-entries.ts';
import { claim, settle } from '../../src/outbox/claims.ts';
import { addNumber, addPhoto, entryById } from '../../src/outbox/entries.ts';
import type { Entry } from '../../src/outbox/entry.ts';
import { evidenceOf } from '../../src/outbox/evidence.ts';
import { EVA_SAID } from './account-service.ts';
import { findService, innerOf, queueFind } from './find-service.ts';
import { manualClock } from './manual-clock.ts';
import { ACCOUNT_ID, tempOutbox } from './temp-outbox.ts';

type Ended = 'accepted' | 'uncertain' | 'refused';

/** An outbox, and the service that it looks at. A minute is over between one thing and the next. */
export function lookScene() {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const service = findService(clock);
  const progress: [number, number | undefined][] = [];
  const entry = (id: number): Entry => {
    const found = entryById(outbox, id);
    if (found === undefined) throw new Error('no such entry');
    return found;
  };
  /** One attempt of it, which the service has answered in time. */
  const end = async (id: number, state: Ended, identCely = ''): Promise<number> => {
    const claimed = claim(outbox, id, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    if (claimed === undefined) throw new Error('the entry is not queued');
    const settlements = {
      accepted: { state: 'accepted', identCely } as const,
      uncertain: { state: 'uncertain', reason: 'no answer' } as const,
      refused: { state: 'refused', reason: 'said', issues: [] } as const,
    };
    const serverDateAt = Math.floor(clock.now() / 1000) * 1000;
    settle(outbox, claimed, settlements[state], { outcome: state, status: state === 'accepted' ? 201 : 500, serverDateAt });
    await clock.advance(60_000);
    return id;
  };
  return {
    clock,
    outbox,
    service,
    progress,
    entry,
    end,
    evidence: (id: number) => evidenceOf(outbox, id).map(({ basis }) => basis),
    /** A find whose sending ended so; `isMade`: the service has it. */
    find: async (localId: string, state: Ended, isMade = state === 'accepted', note = localId) => {
      const { findId, entryId } = queueFind(outbox, localId, note);
      const ident = isMade ? service.make(innerOf(note)) : undefined;
      await end(entryId, state, ident);
      return { findId, entryId, ident: ident ?? '' };
    },
    queuePhoto: (name: string, byte: number, identCely: string | null, findId: number | null = null) =>
      addPhoto(outbox, { findId, identCely }, { name, mediaType: 'image/jpeg', sha512: Buffer.alloc(64, byte), sizeBytes: 3 }),
    queueNumber: (value: string, identCely: string) => addNumber(outbox, { findId: null, identCely }, value),
    /** Since an older copy was put back, what was sent before it may have been sent. */
    doubt: (id: number, fromMs: number, untilMs: number) =>
      void outbox
        .sql("update entries set state = 'uncertain', doubt_from_at = ?, doubt_until_at = ? where id = ?")
        .run(fromMs, untilMs, id),
    look: async (recordKeys?: readonly string[], { aheadMs = 0, settleMs = 1000 } = {}): Promise<Reconciled[]> => {
      const running = reconcile({
        ...{ outbox, client: service.client, format: 'oai_svc', indexAllowanceMs: 0, settleMs, recordKeys },
        ...{ user: EVA_SAID.identCely, harvester: EVA_SAID.identCely },
        clock: { ...clock, now: () => clock.now() + aheadMs },
        onProgress: (done, total) => progress.push([done, total]),
      });
      running.catch(() => {});
      await clock.advance(60_000);
      return running;
    },
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}
