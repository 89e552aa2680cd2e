import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { noWalls } from '../../src/flows/push/left-out.ts';
import { type PushResult, push } from '../../src/flows/push/push-due.ts';
import type { PushContext, PushEvent } from '../../src/flows/push/push-run.ts';
import { type HttpRequest, type HttpResponse, NoAnswerError } from '../../src/http/exchange.ts';
import { makePace } from '../../src/http/pacer.ts';
import { entriesOfService } from '../../src/outbox/entries.ts';
import { ENTRY_KINDS, type EntryState } from '../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../src/outbox/open-outbox.ts';
import type { ManualClock } from './manual-clock.ts';
import { memoryPaceStore } from './memory-pace-store.ts';
import { ACCOUNT_ID } from './temp-outbox.ts';

export const LATENCY_MS = 400;

export type Reply = HttpResponse | Error;
export type Asked = {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly token: string;
};

type More = Partial<Pick<PushContext, 'limit' | 'maxInFlight' | 'session' | 'pace' | 'walls'>> & {
  /** How long the push is watched. */
  readonly forMs?: number;
};

/** A service that answers as it is told, after a while. */
export function scene(
  clock: ManualClock,
  reply: (request: Asked, index: number) => Reply | Promise<Reply>,
  connect?: () => Promise<void>,
) {
  const asked: Asked[] = [];
  const events: PushEvent[] = [];
  const stop = new AbortController();
  const walls = noWalls();
  const pace = makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(clock) });
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    await connect?.();
    request.onDeparture?.();
    const body = request.body?.open();
    const text = Buffer.isBuffer(body) ? body.toString() : '';
    const { method, url, headers } = request;
    const seen = { at: clock.monotonicMs(), method, url, body: text, token: headers?.['authorization'] ?? '' };
    const index = asked.push(seen) - 1;
    const answered = async (): Promise<HttpResponse> => {
      await clock.sleep(LATENCY_MS);
      const said = await reply(seen, index);
      if (said instanceof Error) throw said;
      return said;
    };
    return Promise.race([answered(), stopped(request.signal)]);
  };
  const start = (outbox: ServiceOutbox, more: More = {}): Promise<PushResult> =>
    push({
      outbox,
      accountId: ACCOUNT_ID,
      anyAccount: false,
      baseUrl: 'http://service',
      kinds: ENTRY_KINDS,
      recordKeys: undefined,
      limit: more.limit,
      maxInFlight: more.maxInFlight ?? 16,
      answerTimeoutMs: 1000,
      settleMs: 600_000,
      walls: more.walls ?? walls,
      pace: more.pace ?? pace,
      session: more.session ?? { token: async () => 'token', renew: async () => 'fresh' },
      send,
      openPhotograph: () => Readable.from([Buffer.from('jpg')]),
      readIdentCely: () => undefined,
      clock,
      report: (event) => events.push(event),
      stop: stop.signal,
      abort: new AbortController().signal,
    });
  const run = async (outbox: ServiceOutbox, more: More = {}): Promise<PushResult> => {
    const running = start(outbox, more);
    await clock.advance(more.forMs ?? 3_600_000);
    return running;
  };
  return { run, start, asked, events, stop, pace };
}

function stopped(signal: AbortSignal | undefined): Promise<never> {
  // All requests of a scene have the same one.
  if (signal !== undefined) setMaxListeners(0, signal);
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(new NoAnswerError('aborted', true, 'stopped while it was under way')));
  });
}

export function answer(status: number, headers: Record<string, string> = {}, body: unknown = { detail: 'said' }): HttpResponse {
  return { status, headers, body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)) };
}

/** What a proxy or a portal puts in the service's place. */
export function page(status: number): HttpResponse {
  return answer(status, { 'content-type': 'text/html' }, '<html><body>Welcome to our network</body></html>');
}

let assigned = 0;
export function created(): HttpResponse {
  assigned += 1;
  return answer(201, { 'x-record-id': `C-202400101-N${String(assigned).padStart(5, '0')}` });
}

/** What a service does that is well: makes what is to be made, and names the record that it was told to change. */
export function obeyed(request: Asked): HttpResponse {
  const record = /\/nalez\/([^/]+)\//.exec(request.url)?.[1];
  if (request.url.endsWith('/import-xml') && !isCreate(request)) return answer(request.method === 'GET' ? 405 : 415);
  return record === undefined ? created() : answer(request.method === 'PATCH' ? 200 : 201, { 'x-record-id': record });
}

/** An import that holds a find, and no question whether the service is there. */
export function isCreate({ method, body }: Pick<Asked, 'method' | 'body'>): boolean {
  return method === 'POST' && body !== '';
}

export function count(outbox: ServiceOutbox, state: EntryState): number {
  return entriesOfService(outbox, 'state = :state', { state }).length;
}
