import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { createServerClock } from '../../../src/base/clock.ts';
import type { EntryState } from '../../../src/outbox/entry.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { drainQueue } from '../../../src/push/drain-queue.ts';
import type { PushContext, PushEvent } from '../../../src/push/push-context.ts';
import type { PushResult } from '../../../src/push/push-session.ts';
import {
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../../src/service/http/exchange.ts';
import type { Session } from '../../../src/service/session.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { EVA, listAllEntries, queueImport, tempOutbox } from '../../support/temp-outbox.ts';
import { ANYONE } from './account-service.ts';
import { makePush, makeTestPace } from './find-service.ts';

export const LATENCY_MS = 400;

export type Reply = HttpResponse | Error;
export type Asked = {
  readonly at: number;
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly token: string;
  /** Project of the import; null for anything else. */
  readonly project: string | null;
};

type More = Partial<Pick<PushContext, 'limit' | 'maxInFlight' | 'pace'>> & {
  readonly session?: Session;
  /** Duration of the watched push. */
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
  const pace = makeTestPace(clock);
  const sendFrom = async (outbox: Outbox, request: HttpRequest): Promise<HttpResponse> => {
    await connect?.();
    request.onDeparture?.();
    const body = request.body?.open();
    const text = Buffer.isBuffer(body) ? body.toString() : '';
    const { method, url, headers } = request;
    const seen = {
      at: clock.monotonicMs(),
      method,
      url,
      body: text,
      token: headers?.['authorization'] ?? '',
      project: projectIn(outbox, text),
    };
    const index = asked.push(seen) - 1;
    const answered = async (): Promise<HttpResponse> => {
      await clock.sleep(LATENCY_MS);
      const replied = await reply(seen, index);
      if (replied instanceof Error) throw replied;
      return replied;
    };
    return Promise.race([answered(), stopped(request.signal)]);
  };
  const start = (outbox: Outbox, more: More = {}): Promise<PushResult> => {
    const serverClock = createServerClock(clock);
    const push = {
      ...makePush(outbox, clock),
      account: EVA.identCely,
      serverClock,
      limit: more.limit,
      maxInFlight: more.maxInFlight ?? 16,
      pace: more.pace ?? pace,
      service: {
        baseUrl: 'http://service',
        username: undefined,
        usesExternalToken: false,
        profile: ANYONE,
        session: more.session ?? { token: async () => 'token', renew: async () => 'fresh' },
        send: serverClock.observe((request: HttpRequest) => sendFrom(outbox, request)),
      },
      openPhotograph: () => Readable.from([Buffer.from('jpg')]),
      report: (event: PushEvent) => void events.push(event),
      stop: stop.signal,
    };
    return drainQueue(push, async () => false);
  };
  const run = async (outbox: Outbox, more: More = {}): Promise<PushResult> => {
    const running = start(outbox, more);
    running.catch(() => {});
    await clock.advance(more.forMs ?? 3_600_000);
    return running;
  };
  return { run, start, asked, events, stop, pace };
}

/** The scene of an outbox with so many finds, `K-0` and those after it. */
export function queuedScene(
  finds: number,
  reply: Parameters<typeof scene>[1],
  {
    connect,
    getProject,
  }: { connect?: () => Promise<void>; getProject?: (at: number) => string } = {},
) {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  for (let at = 0; at < finds; at += 1) queueImport(outbox, `K-${at}`, getProject?.(at));
  const { run, start, ...rest } = scene(clock, reply, connect);
  return {
    ...rest,
    clock,
    outbox,
    run: (more?: More) => run(outbox, more),
    start: (more?: More) => start(outbox, more),
    [Symbol.dispose]: () => outbox[Symbol.dispose](),
  };
}

function stopped(signal: AbortSignal | undefined): Promise<never> {
  // All requests of a scene have the same one.
  if (signal !== undefined) setMaxListeners(0, signal);
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () =>
      reject(new TransportError('aborted', true, 'stopped while it was in progress')),
    );
  });
}

export function answer(
  status: number,
  headers: Record<string, string> = {},
  body: unknown = { detail: 'said' },
): HttpResponse {
  return {
    status,
    headers,
    body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
  };
}

/** Answers of a proxy or a portal in the service's place. */
export function page(status: number): HttpResponse {
  return answer(
    status,
    { 'content-type': 'text/html' },
    '<html><body>Welcome to our network</body></html>',
  );
}

let assigned = 0;
export function created({ project }: Partial<Asked> = {}): HttpResponse {
  assigned += 1;
  return answer(201, {
    'x-record-id': `${project ?? 'C-202400101'}-N${String(assigned).padStart(5, '0')}`,
  });
}

function projectIn(outbox: Outbox, body: string): string | null {
  const project = outbox
    .sql(
      'select project from entries join intents on intents.row = entries.intent where instr(?, cast(document as text)) > 0',
    )
    .pluck()
    .get(body);
  return typeof project === 'string' ? project : null;
}

/** Answers of a healthy service: it creates what it is asked to, and names the record to change. */
export function obeyed(request: Asked): HttpResponse {
  const record = /\/nalez\/([^/]+)\//.exec(request.url)?.[1];
  if (request.url.endsWith('/import-xml') && !isCreate(request))
    return answer(request.method === 'GET' ? 405 : 415);
  return record === undefined
    ? created(request)
    : answer(request.method === 'PATCH' ? 200 : 201, { 'x-record-id': record });
}

/** An import that holds a find, and no question whether the service is there. */
export function isCreate({ method, body }: Pick<Asked, 'method' | 'body'>): boolean {
  return method === 'POST' && body !== '';
}

export function count(outbox: Outbox, state: EntryState): number {
  return listAllEntries(outbox).filter((entry) => entry.state === state).length;
}
