import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { setLanguage } from '../../../src/base/message.ts';
import type { HttpRequest } from '../../../src/service/http/exchange.ts';
import { makeBytesForm } from '../../../src/service/http/request-body.ts';
import { openConnections } from '../../../src/service/http/send.ts';
import { rawAnswer, startRawServer } from '../../support/raw-server.ts';
import { PROJECT } from '../../support/run-pas.ts';

const FORM = makeBytesForm(Buffer.from('<find/>'), {
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

test('a request may ask for another language than that of the output', async () => {
  const bytes = await readBytes({ headers: { 'accept-language': 'de' } });
  expect(bytes.match(/accept-language: .*/gi)).toEqual(['accept-language: de']);
});
