import type { Clock } from '../../src/base/clock.ts';
import { noWalls } from '../../src/flows/push/left-out.ts';
import { type PushResult, push } from '../../src/flows/push/push-due.ts';
import { enqueueNumber } from '../../src/flows/queue/enqueue-change.ts';
import { type HttpRequest, type HttpResponse, NoAnswerError } from '../../src/http/exchange.ts';
import { makePace } from '../../src/http/pacer.ts';
import { manualClock } from './manual-clock.ts';
import { memoryPaceStore } from './memory-pace-store.ts';
import { ACCOUNT_ID, asSeenBy, queueImport, type TempOutbox, tempOutbox } from './temp-outbox.ts';

/** What becomes of one request that sets a number. `late` arrives when nobody waits for its answer any more. */
export type Fate = 'answered' | 'lost' | 'answer-lost' | '500-before' | '500-after' | 'locked' | { readonly lateMs: number };

export type Asker = 'find' | 'record' | 'office';
export type Account = 'field' | 'office';

const LATENCY_MS = 300;
const IDENT = 'C-202400101-N00001';
const DETAIL = Buffer.from(JSON.stringify({ detail: 'said' }));

/** A record of the service, a laptop whose clock may be wrong, and one `pas` at a time that may be killed. */
export function numberStory(fates: readonly Fate[], settleMs: number) {
  const time = manualClock();
  let aheadMs = 0;
  const laptop: Clock = { ...time, now: () => time.now() + aheadMs };
  const outbox: TempOutbox = { ...tempOutbox(), clock: laptop };
  const seenBy = { field: outbox, office: asSeenBy(outbox, { username: 'office@example.org' }) };
  const { findId, entryId } = queueImport(outbox, 'K-1');
  outbox.sql(`update entries set state = 'accepted', ident_cely = ? where id = ?`).run(IDENT, entryId);
  const asked: string[] = [];
  /** The places among what was asked for of what was accepted. */
  const accepted: number[] = [];
  const applied: string[] = [];
  const faults: string[] = [];
  let current: string | undefined;
  let requests = 0;
  let running: { dead: boolean; ended: boolean; result: Promise<PushResult> } | undefined;

  const rank = (value: string | undefined): number => (value === undefined ? -1 : asked.lastIndexOf(value));
  const check = (when: string): void => {
    const newest = Math.max(-1, ...accepted);
    if (rank(current) < newest) faults.push(`${when}: ${current} stands after ${asked[newest]} was accepted`);
  };
  const apply = (value: string): number => {
    if (value === current) return 422;
    current = value;
    applied.push(value);
    check('applied');
    return 200;
  };
  const answer = (status: number): HttpResponse => ({
    status,
    headers: {
      date: new Date(time.now()).toUTCString(),
      ...(status === 200 ? { 'x-record-id': IDENT } : {}),
    },
    body: DETAIL,
  });
  const gone = (): NoAnswerError => new NoAnswerError('timeout', true, 'late');

  const serve = async (request: HttpRequest): Promise<HttpResponse> => {
    request.onDeparture?.();
    // Questions whether the service is there, which hold nothing.
    if (request.method !== 'PATCH') return answer(request.method === 'GET' ? 405 : 415);
    const value = new URL(request.url).searchParams.get('evidencni_cislo') ?? '';
    const fate = fates[requests++] ?? 'answered';
    if (typeof fate === 'object') void time.sleep(fate.lateMs).then(() => apply(value));
    await time.sleep(LATENCY_MS);
    if (typeof fate === 'object') throw gone();
    switch (fate) {
      case 'answered':
        return answer(apply(value));
      case 'lost':
        throw gone();
      case 'answer-lost':
        apply(value);
        throw gone();
      case '500-after':
        apply(value);
        return answer(500);
      case '500-before':
        return answer(500);
      case 'locked':
        return answer(429);
    }
  };

  /** Nothing of a killed process goes on: neither its timers nor what it waits for. */
  const start = (account: Account): void => {
    const process = { dead: false, ended: false };
    const never = new Promise<never>(() => undefined);
    const alive = async <T>(work: Promise<T>): Promise<T> => {
      const done = await work.catch((thrown: unknown) => {
        if (process.dead) return never;
        throw thrown;
      });
      return process.dead ? never : done;
    };
    const clock: Clock = { ...laptop, sleep: (ms, signal) => alive(time.sleep(ms, signal)) };
    const pace = makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(time) });
    const none = new AbortController().signal;
    const result = push({
      outbox: { ...seenBy[account], clock },
      accountId: ACCOUNT_ID,
      anyAccount: false,
      baseUrl: 'http://service',
      kinds: ['number'],
      recordKeys: undefined,
      limit: undefined,
      maxInFlight: 16,
      answerTimeoutMs: 1000,
      settleMs,
      walls: noWalls(),
      pace,
      session: { token: () => alive(Promise.resolve('token')), renew: async () => 'fresh' },
      // Also one that was killed before it had come so far.
      send: (request) => (process.dead ? never : alive(serve(request))),
      openPhotograph: () => {
        throw new Error('no photographs');
      },
      readIdentCely: () => undefined,
      clock,
      report: (event) => {
        if (event.type !== 'settled' || event.state !== 'accepted') return;
        const row = outbox.sql('select value from entries where id = ?').get(event.entry) as { value: string };
        accepted.push(rank(row.value));
        check('accepted');
      },
      stop: none,
      abort: none,
    });
    const ending = Object.assign(process, { result: result.finally(() => Object.assign(process, { ended: true })) });
    ending.result.catch((thrown: unknown) => faults.push(String(thrown)));
    running = ending;
  };

  return {
    faults,
    applied,
    asked,
    outbox,
    current: () => current,
    /** The number is set for the find, or for the record by its identifier: by the account that sent it or by another one. */
    ask(value: string, by: Asker): void {
      asked.push(value);
      const target = { findId: by === 'find' ? findId : null, identCely: IDENT };
      enqueueNumber(seenBy[by === 'office' ? by : 'field'], target, value);
    },
    /** Starts a push, unless one is under way. */
    push(account: Account): void {
      if (running === undefined || running.ended || running.dead) start(account);
    },
    kill(): void {
      if (running !== undefined && !running.ended) running.dead = true;
    },
    setLaptop(ms: number): void {
      aheadMs += ms;
    },
    pass: (ms: number) => time.advance(ms),
    requests: () => requests,
    giveUp(value: string): void {
      outbox.sql(`update entries set state = 'dropped' where kind = 'number' and value = ?`).run(value);
    },
    states: () =>
      Object.fromEntries(outbox.sql(`select value, state from entries where kind = 'number' order by id`).raw().all() as []),
    openNumbers: () =>
      outbox.sql(`select count(*) from entries where state not in ('accepted', 'dropped')`).pluck().get() as number,
    [Symbol.dispose](): void {
      if (running !== undefined) running.dead = true;
      outbox.close();
    },
  };
}
