import { noWalls } from '../../src/flows/push/left-out.ts';
import { type PushEvent, startRun } from '../../src/flows/push/push-run.ts';
import { settlementOf } from '../../src/flows/push/settle-outcome.ts';
import { sha512Of } from '../../src/http/digest.ts';
import { NoAnswerError } from '../../src/http/exchange.ts';
import { addImport, addNumber, addPhoto, entryById } from '../../src/outbox/entries.ts';
import { ENTRY_KINDS } from '../../src/outbox/entry.ts';
import { closeAttempt, openAttempt } from '../../src/outbox/journal.ts';
import { insertFind } from '../../src/outbox/stored-finds.ts';
import { inWords } from './in-words.ts';
import { manualClock } from './manual-clock.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from './temp-outbox.ts';

export type Told = Parameters<typeof settlementOf>[2];

export const RECORD = 'C-202400101-N00001';
/** What the pace of such a push gives whoever slows down. */
export const PAUSE_MS = 7000;

/** A push in the middle, and the entries that it may be about. */
export function aPush() {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const events: PushEvent[] = [];
  const slowed: [number, number | undefined][] = [];
  const slowDown = (departedAtMs: number, retryAfterMs: number | undefined): number => {
    slowed.push([departedAtMs, retryAfterMs]);
    return PAUSE_MS;
  };
  const unused = async (): Promise<never> => {
    throw new NoAnswerError('reset', false, 'nothing is sent here');
  };
  const run = startRun({
    ...{ outbox, accountId: ACCOUNT_ID, anyAccount: false, baseUrl: 'http://service', kinds: ENTRY_KINDS, clock },
    ...{ recordKeys: undefined, limit: undefined, maxInFlight: 4, answerTimeoutMs: 1000, settleMs: 600_000, walls: noWalls() },
    pace: { slowDown, approach: unused, depart: unused, waitMs: unused, pause: unused, setPause: unused },
    session: { token: unused, renew: unused },
    send: unused,
    openPhotograph: () => {
      throw new Error('nothing is sent here');
    },
    readIdentCely: () => undefined,
    report: (event) => void events.push(event),
    stop: new AbortController().signal,
    abort: new AbortController().signal,
  });
  const entry = (id: number) => {
    const found = entryById(outbox, id);
    if (found === undefined) throw new Error('no such entry');
    return found;
  };
  return {
    run,
    clock,
    slowed,
    events,
    entry,
    outbox,
    settled: (id: number, told: Told, departedAtMs = 1) => inWords(settlementOf(run, entry(id), told, departedAtMs)),
    anImport: (localId = 'K-1', project = 'C-202400101') => queueImport(outbox, localId, project).entryId,
    aNumber: (value = 'INV 1', identCely = RECORD) => addNumber(outbox, { findId: null, identCely }, value),
    aPhotograph: (identCely = RECORD) =>
      addPhoto(
        outbox,
        { findId: null, identCely },
        { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 },
      ),
    anImportOf: (lines: readonly string[]): number => {
      const document = Buffer.from(lines.join('\n'));
      const findId = insertFind(outbox, { localId: 'K-1', elements: {} });
      return addImport(outbox, findId, { document, documentSha512: sha512Of(document), project: 'C-202400101', issues: [] });
    },
    triedInVain: (id: number, times: number) => {
      for (let time = 0; time < times; time += 1)
        closeAttempt(outbox, openAttempt(outbox, id, { method: 'POST', path: '/x', accountId: ACCOUNT_ID }), {
          ...{ outcome: 'busy', status: 429, reason: null },
        });
    },
    change: (sql: string) => void outbox.sql(sql).run(),
    now: () => clock.now(),
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}
