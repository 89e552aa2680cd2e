import { type Clock, wallMs } from '../../src/base/clock.ts';
import { createBreakers } from '../../src/flows/push/circuit-breaker.ts';
import { pushAll } from '../../src/flows/push/push-all.ts';
import { enqueueNumber } from '../../src/flows/queue/enqueue-change.ts';
import { resolveEntries } from '../../src/flows/reconcile/resolve-entries.ts';
import { type Exchange, TransportError } from '../../src/http/exchange.ts';
import { makePace } from '../../src/http/pacer.ts';
import { allEntries } from '../../src/outbox/entries.ts';
import type { NumberEntry } from '../../src/outbox/entry.ts';
import { acceptEntry } from './attempted-entries.ts';
import { findService, innerOf, lockOf, queueFind } from './find-service.ts';
import { manualClock } from './manual-clock.ts';
import { memoryPaceStore } from './memory-pace-store.ts';
import { tempFolder, tempOutbox } from './temp-outbox.ts';

/** What becomes of one request that sets a number. `late` arrives when its answer is not waited for any more. */
export type Fate = 'answered' | 'lost' | 'answer-lost' | '500-before' | '500-after' | 'locked' | { readonly lateMs: number };

export type NamedBy = 'find' | 'record';

const LATENCY_MS = 300;
const DETAIL = Buffer.from(JSON.stringify({ detail: 'said' }));

/** A record of the service, a laptop whose clock may be wrong, and one `pas` at a time that may be killed. */
export function numberStory(fates: readonly Fate[], settleMs: number) {
  const time = manualClock();
  let aheadMs = 0;
  const laptop: Clock = { ...time, now: () => wallMs(time.now() + aheadMs) };
  const outbox = tempOutbox(laptop);
  const service = findService(time);
  const { findId, entryId } = queueFind(outbox, 'K-1');
  const ident = service.make(innerOf('K-1'));
  acceptEntry(outbox, entryId, ident);
  const asked: string[] = [];
  /** The places among what was asked for of what was accepted. */
  const accepted: number[] = [];
  const applied: string[] = [];
  const faults: string[] = [];
  let requests = 0;
  let running: { dead: boolean; ended: boolean } | undefined;

  const current = (): string => service.records.get(ident)?.number ?? '';
  const rank = (value: string): number => asked.lastIndexOf(value);
  const check = (when: string): void => {
    const newest = Math.max(-1, ...accepted);
    if (rank(current()) < newest) faults.push(`${when}: ${current()} stands after ${asked[newest]} was accepted`);
  };
  const apply = (value: string): number => {
    if (value === current()) return 422;
    service.setNumber(ident, value);
    applied.push(value);
    check('applied');
    return 200;
  };
  const answer = (status: number) => ({
    status,
    headers: { date: new Date(time.now()).toUTCString(), ...(status === 200 ? { 'x-record-id': ident } : {}) },
    body: DETAIL,
  });
  const late = (): TransportError => new TransportError('timeout', true, 'late');
  const serve: Exchange = async (request) => {
    if (request.method !== 'PATCH') return service.open.send(request);
    request.onDeparture?.();
    const value = new URL(request.url).searchParams.get('evidencni_cislo') ?? '';
    const fate = fates[requests++] ?? 'answered';
    if (typeof fate === 'object') void time.sleep(fate.lateMs).then(() => apply(value));
    await time.sleep(LATENCY_MS);
    if (typeof fate === 'object') throw late();
    switch (fate) {
      case 'answered':
        return answer(apply(value));
      case 'lost':
        throw late();
      case 'answer-lost':
        apply(value);
        throw late();
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
  const start = (): void => {
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
    const none = new AbortController().signal;
    const send: Exchange = (request) => (process.dead ? never : alive(serve(request)));
    pushAll({
      ...{ outbox: { ...outbox, clock }, clock, kinds: ['number'], recordKeys: undefined, limit: undefined, machine: '' },
      service: { ...service.open, send, session: { token: () => alive(Promise.resolve('token')), renew: async () => 'fresh' } },
      harvesting: { open: () => alive(Promise.resolve(service.client)), auth: 'bearer', format: 'oai_svc', indexAllowanceMs: 0 },
      ...{ onMatch: 'hold', mayLook: true, lookBackMs: 0, maxInFlight: 16, answerTimeoutMs: 1000, settleMs },
      ...{ breakerMemory: createBreakers(), photosFolder: 'none', stop: none, abort: none },
      // A process that was killed holds no lock.
      lock: { ...lockOf(outbox, clock), folder: tempFolder() },
      pace: makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(time) }),
      report: (event) => {
        if (event.type !== 'settled' || event.state !== 'accepted') return;
        accepted.push(rank(numbers().find(({ id }) => id === event.entry)?.value ?? ''));
        check('accepted');
      },
    })
      .catch((thrown: unknown) => faults.push(String(thrown)))
      .finally(() => Object.assign(process, { ended: true }));
    running = process;
  };
  const numbers = (): NumberEntry[] => allEntries(outbox).filter((entry) => entry.kind === 'number');

  return {
    faults,
    applied,
    asked,
    current,
    ask(value: string, by: NamedBy): void {
      asked.push(value);
      enqueueNumber(outbox, { findId: by === 'find' ? findId : null, identCely: ident }, value);
    },
    /** Starts a push, unless one is under way. */
    push(): void {
      if (running === undefined || running.ended || running.dead) start();
    },
    kill(): void {
      if (running !== undefined && !running.ended) running.dead = true;
    },
    setLaptop(ms: number): void {
      aheadMs += ms;
    },
    pass: (ms: number) => time.advance(ms),
    requests: () => requests,
    drop(value: string): void {
      const entry = numbers().find((each) => each.value === value && each.state === 'queued');
      resolveEntries(outbox, ident, { kind: 'drop' }, entry?.id, (work) => work(false));
    },
    states: () => Object.fromEntries(numbers().map(({ value, state }) => [value, state])),
    openNumbers: () => numbers().filter(({ state }) => state !== 'accepted' && state !== 'dropped').length,
    [Symbol.dispose](): void {
      if (running !== undefined) running.dead = true;
      outbox.close();
    },
  };
}
