import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { asWallMs, type Clock, systemClock } from '../../../src/base/clock.ts';
import { type HttpRequest, TransportError } from '../../../src/service/http/exchange.ts';
import { makeBytesForm } from '../../../src/service/http/request-body.ts';
import { openConnections } from '../../../src/service/http/send.ts';
import { eventually } from '../../support/eventually.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { rawAnswer, startRawServer } from '../../support/raw-server.ts';

const FORM = makeBytesForm(Buffer.from('<find/>'), {
  fileName: 'find.xml',
  contentType: 'application/xml',
});
const CREATED = rawAnswer(201, 'made', { 'x-record-id': 'C-1-N00001' });
const ANSWER_TIMEOUT_MS = 100;

function opened(url: string, clock?: Clock) {
  const { send, close } = openConnections({
    maxConnections: 2,
    clock,
  });
  return {
    ask: (more: Partial<HttpRequest> = {}) =>
      send({ method: 'POST', url, body: FORM, answerTimeoutMs: ANSWER_TIMEOUT_MS, ...more }).catch(
        (thrown: unknown) => {
          if (thrown instanceof TransportError) return thrown;
          throw thrown;
        },
      ),
    [Symbol.asyncDispose]: close,
  };
}

/**
 * The process does nothing else for so long, as one that is stopped: timers are over before
 * anything is read.
 */
function standStill(): void {
  systemClock.hold(5 * ANSWER_TIMEOUT_MS);
}

test.each([
  ['stays open', () => {}],
  ['is closed by the service', (socket: Socket) => socket.end()],
  ['is dropped by the service', (socket: Socket) => socket.destroy()],
  ['is reset by the service', (socket: Socket) => socket.resetAndDestroy()],
])(
  'an answer that arrived during a pause of the process counts, if the connection %s',
  async (_name, after) => {
    await using server = await startRawServer((socket) => {
      socket.write(CREATED);
      after(socket);
      standStill();
    });
    await using client = opened(server.url);
    expect(await client.ask()).toMatchObject({
      status: 201,
      headers: { 'x-record-id': 'C-1-N00001' },
      body: Buffer.from('made'),
    });
  },
);

test('an answer of a megabyte that arrived during a pause is read to its end', async () => {
  const text = 'x'.repeat(1024 * 1024);
  await using server = await startRawServer((socket) => {
    socket.write(rawAnswer(200, text));
    standStill();
  });
  await using client = opened(server.url);
  const answer = await client.ask({ method: 'GET' });
  expect('body' in answer && answer.body.length).toBe(text.length);
});

test('an answer that needs some more turns of the event loop after a pause counts as well', async () => {
  await using server = await startRawServer((socket) => {
    standStill();
    socket.write(CREATED.slice(0, 20));
    setImmediate(() => socket.write(CREATED.slice(20)));
  });
  await using client = opened(server.url);
  expect(await client.ask()).toMatchObject({ status: 201 });
});

test('a body is given up if the network accepts nothing for a minute, which starts again with each piece', async () => {
  const clock = manualClock();
  const body = new PassThrough();
  let came = '';
  await using server = await startRawServer(
    () => {},
    (bytes) => {
      came += bytes.toString('latin1');
    },
  );
  await using client = opened(server.url, clock);
  const answer = client.ask({
    body: { contentType: 'text/plain', lengthBytes: 100, open: () => body },
  });
  for (const piece of ['first', 'second', 'third']) {
    body.write(piece);
    await eventually(() => came).toContain(piece);
    await clock.advance(59_999);
  }
  await clock.advance(1);
  expect(await answer).toMatchObject({ reason: 'timeout', mayHaveArrived: false });
});

test('half an answer that arrived during a pause is given up after a short grace period', async () => {
  const clock = manualClock();
  let askedCount = 0;
  await using server = await startRawServer((socket) => {
    socket.write(
      'HTTP/1.1 201 Created\r\nx-record-id: C-1-N00001\r\ncontent-length: 100\r\n\r\nha',
    );
    clock.hold(3_600_000);
    askedCount += 1;
  });
  await using client = opened(server.url, clock);
  let isOver = false;
  const answer = client.ask().finally(() => {
    isOver = true;
  });
  await eventually(() => askedCount).toBe(1);
  await clock.advance(999);
  expect(isOver).toBe(false);
  await clock.advance(1);
  expect(await answer).toMatchObject({
    reason: 'timeout',
    mayHaveArrived: true,
    head: { status: 201, headers: { 'x-record-id': 'C-1-N00001' } },
  });
});

test('an idle connection is not reused after a pause', async () => {
  const clock = manualClock();
  await using server = await startRawServer((socket) => socket.write(CREATED));
  await using client = opened(server.url, clock);
  await client.ask();
  clock.hold(1000);
  await client.ask();
  expect(server.connections()).toBe(1);
  clock.hold(2001);
  expect(await client.ask()).toMatchObject({ status: 201 });
  expect(server.connections()).toBe(2);
});

test('an idle connection is not reused after a sleep of the machine in which the monotonic clock stood still', async () => {
  let sleptMs = 0;
  const clock: Clock = { ...systemClock, now: () => asWallMs(systemClock.now() + sleptMs) };
  await using server = await startRawServer((socket) => socket.write(CREATED));
  await using client = opened(server.url, clock);
  await client.ask();
  sleptMs = 3_600_000;
  await client.ask();
  expect(server.connections()).toBe(2);
});
