import { Readable } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { noWalls } from '../../../src/flows/left-out.ts';
import { type PushResult, push } from '../../../src/flows/push.ts';
import type { PushEvent } from '../../../src/flows/push-run.ts';
import { type HttpRequest, type HttpResponse, NoAnswerError } from '../../../src/http/exchange.ts';
import { makePace } from '../../../src/http/pace.ts';
import { addNumber, addPhoto, entriesOfService } from '../../../src/outbox/entries.ts';
import { ENTRY_KINDS, type EntryState } from '../../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../../src/outbox/outbox.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { memoryPaceStore } from '../../support/memory-pace-store.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const LATENCY_MS = 400;

type Reply = HttpResponse | Error;
type Asked = { readonly at: number; readonly method: string; readonly url: string; readonly body: string };

/** A service that answers as it is told, after a while. */
function scene(clock: ManualClock, reply: (request: Asked, index: number) => Reply | Promise<Reply>) {
  const asked: Asked[] = [];
  const events: PushEvent[] = [];
  const stop = new AbortController();
  const pace = makePace({ clock, scopes: ['address:a'], intervalMs: 100, store: memoryPaceStore(clock) });
  const send = async (request: HttpRequest): Promise<HttpResponse> => {
    request.onDeparture?.();
    const body = request.body?.open();
    const text = Buffer.isBuffer(body) ? body.toString() : '';
    const index = asked.push({ at: clock.monotonicMs(), method: request.method, url: request.url, body: text }) - 1;
    await clock.sleep(LATENCY_MS);
    const [seen] = asked.slice(index, index + 1);
    if (seen === undefined) throw new Error('unreachable');
    const answer = await reply(seen, index);
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const run = async (outbox: ServiceOutbox, more: { limit?: number; maxInFlight?: number } = {}): Promise<PushResult> => {
    const running = push({
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
      walls: noWalls(),
      pace,
      session: { token: async () => 'token', renew: async () => 'fresh' },
      send,
      openPhotograph: () => Readable.from([Buffer.from('jpg')]),
      readIdentCely: () => undefined,
      clock,
      report: (event) => events.push(event),
      stop: stop.signal,
      abort: new AbortController().signal,
    });
    await clock.advance(3_600_000);
    return running;
  };
  return { run, asked, events, stop };
}

function answer(status: number, headers: Record<string, string> = {}, body: unknown = { detail: 'said' }): HttpResponse {
  return { status, headers, body: Buffer.from(JSON.stringify(body)) };
}

let assigned = 0;
function created(): HttpResponse {
  assigned += 1;
  return answer(201, { 'x-record-id': `C-202400101-N${String(assigned).padStart(5, '0')}` });
}

function count(outbox: ServiceOutbox, state: EntryState): number {
  return entriesOfService(outbox, 'state = :state', { state }).length;
}

test('a slow service does not slow the queue: requests leave every 100 ms while others wait for their answers', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let index = 0; index < 30; index += 1) queueImport(outbox, `K-${index}`);
  const { run, asked } = scene(clock, created);
  const result = await run(outbox);
  expect(result).toMatchObject({ accepted: 30, requests: 30, throttled: 0, stopCause: undefined });
  const gaps = asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(100);
  expect(Math.max(...gaps)).toBeLessThan(120);
});

test('entries of one record go one after the other, the photograph after its find', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  const { findId } = queueImport(outbox, 'K-1');
  const target = { findId, identCely: null };
  addNumber(outbox, target, 'A 1');
  addPhoto(outbox, target, { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64), sizeBytes: 3 });
  const { run, asked } = scene(clock, (request) =>
    request.method === 'PATCH' ? answer(200, { 'x-record-id': 'C-1-N00001' }) : created(),
  );
  expect(await run(outbox)).toMatchObject({ accepted: 3 });
  expect(asked.map(({ method }) => method)).toEqual(['POST', 'PATCH', 'POST']);
  for (const [index, { at }] of asked.slice(1).entries()) expect(at - (asked[index]?.at ?? 0)).toBeGreaterThanOrEqual(LATENCY_MS);
});

describe('after an answer that leaves it open', () => {
  test.each([
    ['500', () => answer(500)],
    ['a page of HTML', () => ({ ...answer(502), body: Buffer.from('<html>Bad Gateway</html>') })],
    ['a cut connection', () => new NoAnswerError('reset', true, 'cut')],
    ['a timeout', () => new NoAnswerError('timeout', true, 'late')],
  ])('such as %s, an import is uncertain and is never sent again', async (_name, reply) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const { run, asked } = scene(clock, reply);
    await run(outbox);
    await run(outbox);
    expect(count(outbox, 'uncertain')).toBe(1);
    expect(asked).toHaveLength(1);
  });

  test('a number is sent again, and "already current" settles it', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    addNumber(outbox, { findId: null, identCely: 'C-1-N00001' }, 'A 1');
    const { run, asked } = scene(clock, (_request, index) => answer(index === 0 ? 500 : 422));
    expect(await run(outbox)).toMatchObject({ accepted: 1 });
    expect(asked).toHaveLength(2);
  });

  test('the push stops when it happens five times in a row', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 40; index += 1) queueImport(outbox, `K-${index}`);
    const { run, asked } = scene(clock, () => answer(500));
    expect(await run(outbox, { maxInFlight: 1 })).toMatchObject({ stopCause: { kind: 'in-doubt' } });
    expect(asked).toHaveLength(5);
    expect(count(outbox, 'queued')).toBe(35);
  });
});

describe('a throttle', () => {
  test('holds everything back for as long as the service asks, and nothing is lost', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 10; index += 1) queueImport(outbox, `K-${index}`);
    const { run, asked } = scene(clock, (_request, index) => (index === 2 ? answer(429, { 'retry-after': '7' }) : created()));
    expect(await run(outbox)).toMatchObject({ accepted: 10, throttled: 1, requests: 11 });
    const longest = Math.max(...asked.slice(1).map(({ at }, index) => at - (asked[index]?.at ?? 0)));
    expect(longest).toBeGreaterThanOrEqual(6500);
  });

  test('that never ends stops the push with the queue kept', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const { run } = scene(clock, () => answer(429));
    expect(await run(outbox)).toMatchObject({ stopCause: { kind: 'waiting' } });
    expect(count(outbox, 'queued')).toBe(1);
  });

  test('of an hour is not waited for', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const { run, asked } = scene(clock, () => answer(429, { 'retry-after': '3600' }));
    expect(await run(outbox)).toMatchObject({ stopCause: { kind: 'waiting' } });
    expect(asked).toHaveLength(1);
  });
});

describe('a lock', () => {
  test('holds back its own record alone', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    addNumber(outbox, { findId: null, identCely: 'C-1-N00001' }, 'A 1');
    for (let index = 0; index < 5; index += 1) queueImport(outbox, `K-${index}`);
    let locked = true;
    const { run, asked } = scene(clock, (request) => {
      if (request.method === 'POST') return created();
      const reply = locked ? answer(429) : answer(200, { 'x-record-id': 'C-1-N00001' });
      locked = false;
      return reply;
    });
    expect(await run(outbox)).toMatchObject({ accepted: 6, locked: 1, throttled: 0 });
    const imports = asked.filter(({ method }) => method === 'POST');
    expect((imports.at(-1)?.at ?? 0) - (imports[0]?.at ?? 0)).toBeLessThan(500);
  });

  test('that seems to hold several records at once is taken for a throttle', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (const ident of ['C-1-N00001', 'C-1-N00002', 'C-1-N00003']) addNumber(outbox, { findId: null, identCely: ident }, 'A 1');
    const { run } = scene(clock, (_request, index) => (index < 3 ? answer(429) : answer(200, { 'x-record-id': 'C-1-N00001' })));
    const result = await run(outbox);
    expect(result.throttled).toBeGreaterThan(0);
    expect(result.accepted).toBe(3);
  });
});

describe('a refusal in a word beside another import of the same project', () => {
  const collision = answer(422, {}, { detail: 'identifier taken' });

  test('is tried once more alone', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 6; index += 1) queueImport(outbox, `K-${index}`);
    const { run, asked } = scene(clock, (_request, index) => (index === 1 ? collision : created()));
    expect(await run(outbox)).toMatchObject({ accepted: 6, refused: 0 });
    expect(asked).toHaveLength(7);
  });

  test('is final the second time, and final at once where nothing else was under way', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    const alone = scene(clock, () => collision);
    expect(await alone.run(outbox)).toMatchObject({ refused: 1, requests: 1 });
    for (const name of ['K-2', 'K-3']) queueImport(outbox, name);
    const both = scene(clock, () => collision);
    expect(await both.run(outbox)).toMatchObject({ refused: 2, requests: 4 });
  });
});

describe('the account', () => {
  test('gets a new token when the old one has run out, and nothing loses its place', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 4; index += 1) queueImport(outbox, `K-${index}`);
    const { run } = scene(clock, (_request, index) => (index === 1 ? answer(401) : created()));
    expect(await run(outbox)).toMatchObject({ accepted: 4, requests: 5 });
  });

  test('that is refused as a whole stops the push and refuses no entry', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 4; index += 1) queueImport(outbox, `K-${index}`);
    const { run } = scene(clock, () => answer(403));
    expect(await run(outbox)).toMatchObject({ refused: 0, stopCause: { kind: 'not-allowed' } });
    expect(count(outbox, 'queued')).toBe(4);
  });

  test('that is refused one record goes on with the others', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    for (let index = 0; index < 4; index += 1) queueImport(outbox, `K-${index}`);
    const { run } = scene(clock, (request) =>
      request.method === 'GET' ? answer(405) : request.body.includes('K-0') ? answer(403) : created(),
    );
    expect(await run(outbox)).toMatchObject({ refused: 1, accepted: 3 });
  });
});

test('a closed service stops the push and keeps the queue', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let index = 0; index < 20; index += 1) queueImport(outbox, `K-${index}`);
  const { run, asked } = scene(clock, () => answer(503));
  expect(await run(outbox)).toMatchObject({ stopCause: { kind: 'closed' } });
  expect(count(outbox, 'queued')).toBe(20);
  expect(asked.length).toBeLessThan(8);
});

test('no network stops the push after a few tries, with pauses, and keeps the queue', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let index = 0; index < 20; index += 1) queueImport(outbox, `K-${index}`);
  const { run, asked } = scene(clock, () => new NoAnswerError('connect', false, 'no route'));
  expect(await run(outbox)).toMatchObject({ stopCause: { kind: 'unreachable' } });
  expect(count(outbox, 'queued')).toBe(20);
  expect(asked.length).toBeLessThan(20);
});

test('a person who stops it gets what is under way settled and nothing more sent', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let index = 0; index < 20; index += 1) queueImport(outbox, `K-${index}`);
  const { run, asked, stop } = scene(clock, (_request, index) => {
    if (index === 2) stop.abort();
    return created();
  });
  expect(await run(outbox)).toMatchObject({ stopCause: { kind: 'interrupted' } });
  expect(count(outbox, 'accepted')).toBe(asked.length);
  expect(count(outbox, 'sending')).toBe(0);
});

test('a limit is kept', async () => {
  const clock = manualClock();
  using outbox = tempOutbox(clock);
  for (let index = 0; index < 20; index += 1) queueImport(outbox, `K-${index}`);
  const { run } = scene(clock, created);
  expect(await run(outbox, { limit: 7 })).toMatchObject({ accepted: 7, requests: 7 });
});
