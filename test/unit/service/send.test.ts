import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '../../../src/base/message.ts';
import { type HttpRequest, TransportError } from '../../../src/service/http/exchange.ts';
import {
  ChangedFileError,
  makeMultipartOfBytes,
  makeMultipartOfStream,
  openVerifiedFile,
} from '../../../src/service/http/request-body.ts';
import { openConnections } from '../../../src/service/http/send.ts';
import { eventually } from '../../support/eventually.ts';
import { rawAnswer, startRawServer } from '../../support/raw-server.ts';
import { PROJECT } from '../../support/run-pas.ts';
import { serve } from '../../support/serve.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const closers: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function connections() {
  const opened = openConnections({ maxConnections: 4 });
  closers.push(() => opened.close());
  return opened.send;
}

async function received(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function failure(promise: Promise<unknown>): Promise<TransportError> {
  const thrown = await promise.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(thrown instanceof TransportError))
    throw new Error(`expected TransportError, got ${String(thrown)}`);
  return thrown;
}

function writeFile(bytes: Buffer): string {
  const path = join(tempFolder(), 'photo.jpg');
  writeFileSync(path, bytes);
  return path;
}

const PART = { fileName: 'photo.jpg', contentType: 'image/jpeg' };

test('a form arrives completely, with its length announced', async () => {
  let seen: { length: string | undefined; body: Buffer } | undefined;
  const url = await serve(async (request, response) => {
    seen = { length: request.headers['content-length'], body: await received(request) };
    response.end('ok');
  });
  const bytes = Buffer.alloc(200_000, 7);
  const form = makeMultipartOfStream(() => createReadStream(writeFile(bytes)), bytes.length, PART);
  const answer = await connections()({ method: 'POST', url, body: form });
  expect(answer.body.toString()).toBe('ok');
  expect(seen?.body.length).toBe(form.lengthBytes);
  expect(seen?.length).toBe(String(form.lengthBytes));
  expect(seen?.body.includes(bytes)).toBe(true);
});

test('a photograph that changed after its digest was computed never arrives completely', async () => {
  const bytes = Buffer.alloc(300_000, 1);
  const sha512 = createHash('sha512').update(bytes).digest('hex');
  const path = writeFile(Buffer.alloc(300_000, 2));
  let complete = false;
  const url = await serve(async (request, response) => {
    await received(request).catch(() => Buffer.alloc(0));
    complete = request.complete;
    response.end();
  });
  const open = () => openVerifiedFile(path, { sha512, sizeBytes: bytes.length });
  const error = await failure(
    connections()({ method: 'POST', url, body: makeMultipartOfStream(open, bytes.length, PART) }),
  );
  expect(error.cause).toBeInstanceOf(ChangedFileError);
  expect(error.mayHaveArrived).toBe(false);
  expect(complete).toBe(false);
});

test('a refused connection means that nothing was sent', async () => {
  const error = await failure(
    connections()({
      method: 'POST',
      url: 'http://127.0.0.1:9',
      body: makeMultipartOfBytes(Buffer.from('x'), PART),
    }),
  );
  expect(error).toMatchObject({ reason: 'connect', mayHaveArrived: false });
});

test('a connection cut after the request means that it may have arrived', async () => {
  const url = await serve(async (request) => {
    await received(request);
    request.socket.destroy();
  });
  const error = await failure(
    connections()({ method: 'POST', url, body: makeMultipartOfBytes(Buffer.from('x'), PART) }),
  );
  expect(error).toMatchObject({ reason: 'reset', mayHaveArrived: true });
});

test('a connection cut within a photograph means that it cannot have arrived completely', async () => {
  const sockets: Socket[] = [];
  const url = await serve((request) => {
    sockets.push(request.socket);
    request.once('data', () => request.socket.resetAndDestroy());
  });
  const bytes = Buffer.alloc(64 * 1024 * 1024);
  const error = await failure(
    connections()({
      method: 'POST',
      url,
      body: makeMultipartOfStream(() => createReadStream(writeFile(bytes)), bytes.length, PART),
    }),
  );
  expect(error.mayHaveArrived).toBe(false);
  expect(sockets).toHaveLength(1);
});

test('an answer cut within its body still has its head', async () => {
  const url = await serve((_request, response) => {
    response.writeHead(201, { 'x-record-id': 'C-1-N00001', 'content-length': '100' });
    response.write('half', () => response.destroy());
  });
  const error = await failure(connections()({ method: 'POST', url }));
  expect(error.head).toMatchObject({ status: 201, headers: { 'x-record-id': 'C-1-N00001' } });
});

test('a server that never answers is given up, and may have received the request', async () => {
  const url = await serve(() => {});
  const error = await failure(connections()({ method: 'POST', url, answerTimeoutMs: 50 }));
  expect(error).toMatchObject({ reason: 'timeout', mayHaveArrived: true });
});

test('an endless answer is cut off', async () => {
  const url = await serve((_request, response) => {
    response.on('error', () => {});
    const more = (): void => {
      if (!response.destroyed) response.write(Buffer.alloc(65_536), () => setImmediate(more));
    };
    more();
  });
  const error = await failure(connections()({ method: 'GET', url, maxAnswerBytes: 1_000_000 }));
  expect(error.reason).toBe('too-large');
});

test('a request that was stopped before its departure did not arrive', async () => {
  const url = await serve((_request, response) => response.end());
  const error = await failure(connections()({ method: 'POST', url, signal: AbortSignal.abort() }));
  expect(error).toMatchObject({ reason: 'aborted', mayHaveArrived: false });
});

test.each([
  ['nothing', undefined],
  ['bytes', () => Buffer.from('bytes')],
  ['a stream', () => Readable.from([Buffer.from('st'), Buffer.from('ream')])],
])('a request with %s for a body, whose time has passed, never departs', async (_, open) => {
  const heads: unknown[] = [];
  const url = await serve((request, response) => {
    heads.push(request.url);
    response.end();
  });
  const lengthBytes = open?.() instanceof Buffer ? 5 : 6;
  const body = open === undefined ? {} : { body: { contentType: 'text/plain', lengthBytes, open } };
  const send = connections();
  const error = await failure(send({ method: 'POST', url, ...body, onDeparture: () => false }));
  expect(error).toMatchObject({ reason: 'connect', mayHaveArrived: false });
  await send({ method: 'GET', url: `${url}/next` });
  expect(heads).toHaveLength(1);
});

test('a streamed request departs with the first piece of its body, not before', async () => {
  const url = await serve((request, response) => request.resume().on('end', () => response.end()));
  const body = new PassThrough();
  let departed = false;
  const answer = connections()({
    method: 'POST',
    url,
    body: { contentType: 'text/plain', lengthBytes: 4, open: () => body },
    onDeparture: () => {
      departed = true;
      return true;
    },
  });
  await eventually(() => body.listenerCount('data')).toBeGreaterThan(1);
  expect(departed).toBe(false);
  body.end('body');
  await answer;
  expect(departed).toBe(true);
});

const FORM = makeMultipartOfBytes(Buffer.from('<find/>'), {
  fileName: 'find.xml',
  contentType: 'application/xml',
});

afterEach(() => setLanguage('en'));

/** All bytes of the request, as they come over the wire. */
async function readBytes(request: Partial<HttpRequest>): Promise<string> {
  const pieces: Buffer[] = [];
  await using server = await startRawServer(
    (socket) => socket.write(rawAnswer(200, 'ok')),
    (bytes) => pieces.push(bytes),
  );
  const { send, close } = openConnections({ maxConnections: 1 });
  await send({ method: 'GET', url: server.url, ...request });
  await close();
  return Buffer.concat(pieces).toString('latin1');
}

test.each(['POST', 'PATCH'] as const)(
  'a %s without a body declares a length of 0, and sends none',
  async (method) => {
    const bytes = await readBytes({ method });
    expect(bytes).toMatch(/^content-length: 0\r$/im);
    expect(bytes).not.toMatch(/transfer-encoding|content-type/i);
    expect(bytes).toMatch(/\r\n\r\n$/);
  },
);

test('a GET has no headers about a body', async () => {
  const bytes = await readBytes({ method: 'GET' });
  expect(bytes).not.toMatch(/content-length|transfer-encoding/i);
  expect(bytes).toMatch(/\r\n\r\n$/);
});

test.each([
  ['in memory', FORM],
  [
    'that is read',
    { contentType: 'text/plain', lengthBytes: 4, open: () => Readable.from([Buffer.from('body')]) },
  ],
])('a body %s is sent with its length, in one piece', async (_name, body) => {
  const bytes = await readBytes({ method: 'POST', body });
  expect(bytes).toMatch(new RegExp(`^content-length: ${body.lengthBytes}\r$`, 'im'));
  expect(bytes).not.toMatch(/transfer-encoding/i);
  expect(Buffer.byteLength(bytes.slice(bytes.indexOf('\r\n\r\n') + 4), 'latin1')).toBe(
    body.lengthBytes,
  );
});

test.each([
  ['a question', {}],
  ['a write', { method: 'POST', body: FORM } as const],
  ['a change without a body', { method: 'PATCH' } as const],
])('%s names the program, its version and the language of its output', async (_name, request) => {
  const { version } = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8')) as {
    version: string;
  };
  const english = await readBytes(request);
  expect(english).toContain(`\r\nuser-agent: pas/${version}\r\n`);
  expect(english).toContain('\r\naccept-language: en\r\n');
  setLanguage('cs');
  expect(await readBytes(request)).toContain('\r\naccept-language: cs\r\n');
});

test('a request asks for an answer that is not compressed', async () => {
  expect(await readBytes({})).toContain('\r\naccept-encoding: identity\r\n');
});

test('a request may ask for another language than that of the output', async () => {
  const bytes = await readBytes({ headers: { 'accept-language': 'de' } });
  expect(bytes.match(/accept-language: .*/gi)).toEqual(['accept-language: de']);
});
