import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { asWallMs, type Clock, systemClock } from '../../../src/base/clock.ts';
import {
  type HttpRequest,
  type HttpResponse,
  TransportError,
} from '../../../src/service/http/exchange.ts';
import { makeMultipartOfBytes } from '../../../src/service/http/request-body.ts';
import { openConnections } from '../../../src/service/http/send.ts';
import { eventually } from '../../support/eventually.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { rawAnswer, startRawServer } from '../../support/raw-server.ts';

const FORM = makeMultipartOfBytes(Buffer.from('<find/>'), {
  fileName: 'find.xml',
  contentType: 'application/xml',
});
const CREATED = rawAnswer(201, 'made', { 'x-record-id': 'C-1-N00001' });

async function ask(
  url: string,
  more: Partial<HttpRequest> = {},
): Promise<HttpResponse | TransportError> {
  const { send, close } = openConnections({ maxConnections: 1 });
  try {
    return await send({ method: 'POST', url, body: FORM, ...more });
  } catch (thrown) {
    if (thrown instanceof TransportError) return thrown;
    throw thrown;
  } finally {
    await close();
  }
}

test.each([
  ['a 100 that nobody asked for', ['HTTP/1.1 100 Continue\r\n\r\n', CREATED]],
  ['a 100 in one piece with the answer', [`HTTP/1.1 100 Continue\r\n\r\n${CREATED}`]],
  [
    'several 100s',
    [
      'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n',
      'HTTP/1.1 100 Go on\r\n\r\n',
      CREATED,
    ],
  ],
  ['a 102', ['HTTP/1.1 102 Processing\r\n\r\n', CREATED]],
  [
    'a 103 with a header of its own',
    ['HTTP/1.1 103 Early Hints\r\nx-record-id: C-9-N00009\r\n\r\n', CREATED],
  ],
])('%s does not affect the following answer', async (_name, pieces) => {
  await using server = await startRawServer((socket) => {
    for (const piece of pieces) socket.write(piece);
  });
  expect(await ask(server.url)).toMatchObject({
    status: 201,
    headers: { 'x-record-id': 'C-1-N00001' },
    body: Buffer.from('made'),
  });
});

test('a connection that sent a 100 serves the next request', async () => {
  await using server = await startRawServer((socket, nth) =>
    socket.write(`HTTP/1.1 100 Continue\r\n\r\n${rawAnswer(200, `${nth}`)}`),
  );
  const { send, close } = openConnections({ maxConnections: 1 });
  const bodies = [];
  for (let nth = 0; nth < 3; nth += 1)
    bodies.push((await send({ method: 'POST', url: server.url, body: FORM })).body.toString());
  await close();
  expect([bodies, server.connections()]).toEqual([['0', '1', '2'], 1]);
});

test('an unrequested change of protocol is not an answer', async () => {
  await using server = await startRawServer((socket) =>
    socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
  );
  expect(await ask(server.url, { answerTimeoutMs: 2000 })).toMatchObject({
    reason: 'reset',
    mayHaveArrived: true,
  });
});

test.each([
  ['a head that comes byte by byte', 'HTTP/1.1 201 Created\r\n', 'x'],
  ['a body that comes byte by byte', 'HTTP/1.1 201 Created\r\ncontent-length: 100000\r\n\r\n', 'x'],
  [
    'a body in chunks of one byte',
    'HTTP/1.1 201 Created\r\ntransfer-encoding: chunked\r\n\r\n',
    '1\r\nx\r\n',
  ],
  ['hints without an end', '', 'HTTP/1.1 103 Early Hints\r\n\r\n'],
])('%s is given up when its time is over', async (_name, begin, drop) => {
  await using server = await startRawServer((socket) => {
    socket.write(begin);
    const timer = setInterval(() => socket.write(drop), 10);
    socket.on('close', () => clearInterval(timer));
  });
  expect(await ask(server.url, { answerTimeoutMs: 300 })).toMatchObject({
    reason: 'timeout',
    mayHaveArrived: true,
  });
});

test('a long answer that continues to arrive is read to its end, even after its time', async () => {
  const piece = Buffer.alloc(16_384);
  await using server = await startRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${piece.length * 40}\r\n\r\n`);
    let left = 40;
    const timer = setInterval(() => {
      socket.write(piece);
      left -= 1;
      if (left === 0) clearInterval(timer);
    }, 10);
    socket.on('close', () => clearInterval(timer));
  });
  const answer = await ask(server.url, { method: 'GET', answerTimeoutMs: 300 });
  expect('body' in answer && answer.body.length).toBe(piece.length * 40);
});

test('an unrequested second answer is never taken for that of the next request', async () => {
  await using server = await startRawServer((socket, nth) =>
    socket.write(rawAnswer(200, `answer ${nth}`) + rawAnswer(201, 'one more')),
  );
  const { send, close } = openConnections({ maxConnections: 1 });
  const bodies = [];
  for (let nth = 0; nth < 3; nth += 1)
    bodies.push((await send({ method: 'GET', url: server.url })).body.toString());
  await close();
  expect(bodies).toEqual(['answer 0', 'answer 1', 'answer 2']);
});

test.each([
  ['timeout=1', 2],
  ['timeout=2, max=100', 2],
  ['timeout=5', 1],
])(
  'a connection that the server keeps only briefly is not reused: %s',
  async (keptText, connections) => {
    await using server = await startRawServer((socket) =>
      socket.write(rawAnswer(200, '', { 'keep-alive': keptText })),
    );
    const { send, close } = openConnections({ maxConnections: 1 });
    await send({ method: 'GET', url: server.url });
    await send({ method: 'GET', url: server.url });
    await close();
    expect(server.connections()).toBe(connections);
  },
);

test('a value that is invalid in a header is never sent', async () => {
  await using server = await startRawServer((socket) => socket.write(CREATED));
  const answer = await ask(server.url, { headers: { authorization: 'Bearer a\nb' } });
  expect([answer, server.connections()]).toMatchObject([
    { reason: 'connect', mayHaveArrived: false },
    0,
  ]);
});

test('a request omits the user information of its address', async () => {
  let seen = '';
  await using server = await startRawServer((socket, _nth, head) => {
    seen = head;
    socket.write(CREATED);
  });
  await ask(server.url.replace('//', '//user:secret@'));
  expect(seen).not.toMatch(/authorization/i);
});

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
