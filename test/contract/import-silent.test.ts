import { describe, expect, test } from 'vitest';
import { findLines, makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest, importXml, multipart, rawAnswer } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

// The mock follows the deployed service where the contract is silent.

const { mock, send, token, control } = await useMock();

/** An import whose body is typed by hand. */
async function sendBody(body: Buffer, digestText: string) {
  const response = await fetch(`${mock.url}/api/pas/import-xml`, {
    method: 'POST',
    headers: {
      'content-type': 'multipart/form-data; boundary=xYzZY',
      authorization: `Bearer ${token()}`,
      'content-digest': contentDigest(digestText),
    },
    body: new Uint8Array(body),
  });
  return rawAnswer(response);
}

describe('A document', () => {
  test('that declares the namespace twice is judged by the last declaration', async () => {
    const xml = makeDocument(mock, smallestFind());
    const pair = /xsi:schemaLocation="(\S+) (\S+)"/;
    const twice = (first: string, last: string) =>
      importXml(mock, xml.replace(pair, `xsi:schemaLocation="$1 ${first} $1 ${last}"`), {
        token: token(),
      });
    expect((await twice('http://else.test/x.xsd', '$2')).status).toBe(201);
    expect((await twice('$2', 'http://else.test/x.xsd')).status).toBe(422);
  });

  test('may have blanks between its elements in CDATA', async () => {
    const answer = await send(
      smallestFind().replace('<svc:projekt', '<![CDATA[ \n]]><svc:projekt'),
    );
    expect(answer.status, answer.text).toBe(201);
    expect(
      (await send(smallestFind().replace('<svc:projekt', '<![CDATA[x]]><svc:projekt'))).status,
    ).toBe(422);
  });

  test('answers 422 to a depth of a thousand digits, and ignores as many leading zeros', async () => {
    const depth = (digits: string) =>
      send(findLines(1, { hloubka: `<svc:hloubka>${digits}</svc:hloubka>` }));
    for (const digits of ['9'.repeat(1000), `-${'9'.repeat(1000)}`]) {
      const answer = await depth(digits);
      expect([answer.status, Object.keys(answer.json ?? {})]).toEqual([422, ['validation_errors']]);
    }
    const padded = await depth(`${'0'.repeat(1000)}7`);
    expect([padded.status, padded.text.includes('<svc:hloubka>7</svc:hloubka>')]).toEqual([
      201,
      true,
    ]);
  });
});

describe('A part of a form', () => {
  test.each(['', '.', '..', '/', 'a/..', 'C:\\', '\u200b', '..\u0085'])(
    'named %j is not a file',
    async (fileName) => {
      const xml = makeDocument(mock, smallestFind());
      const answer = await send('', {
        parts: [{ name: 'file', fileName, bytes: xml }],
        digest: contentDigest(xml),
      });
      expect(answer.status, answer.text).toBe(400);
    },
  );

  test('is accepted as it is, in Base64 or with a long header', async () => {
    const xml = makeDocument(mock, smallestFind());
    const withHead = (line: string, text: string) =>
      Buffer.from(
        multipart([{ name: 'file', fileName: 'a.xml', bytes: text }])
          .toString()
          .replace('Content-Type', `${line}\r\nContent-Type`),
      );
    const encoded = Buffer.from(xml).toString('base64');
    expect(
      (await sendBody(withHead('Content-Transfer-Encoding: base64', encoded), encoded)).status,
    ).toBe(400);
    expect((await sendBody(withHead(`X-Long: ${'x'.repeat(2000)}`, xml), xml)).status).toBe(201);
  });
});

describe('The other requests of the write interface', () => {
  test('an empty list of schema versions allows what no list allows', async () => {
    await control('PUT', '/settings', { allowed_schema_versions: [] });
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('blanks around a user name are ignored, but those of a password count', async () => {
    const signIn = async (username: string, password: string) =>
      (
        await fetch(`${mock.url}/api/token-auth/`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username, password }),
        })
      ).status;
    expect(await signIn(' archaeologist \t', 'archaeologist')).toBe(200);
    expect(await signIn('archaeologist', ' archaeologist ')).toBe(400);
    expect(await signIn(' ', 'archaeologist')).toBe(400);
  });

  test('without a body are read as a form without fields, whatever its type', async () => {
    const post = async (path: string, type: string) => {
      const headers = { authorization: `Bearer ${token()}`, 'content-type': type };
      return rawAnswer(await fetch(mock.url + path, { method: 'POST', headers }));
    };
    for (const type of ['text/plain', 'multipart/form-data; boundary=x']) {
      expectDetail(await post('/api/pas/import-xml', type), 400);
      expectDetail(await post('/api/pas/nalez/C-202400101-N00007/upload-foto', type), 400);
      expectDetail(await post('/api/pas/nalez/C-202400101-N00999/upload-foto', type), 404);
      const signIn = await post('/api/token-auth/', type);
      expect([signIn.status, Object.keys(signIn.json ?? {})]).toEqual([
        400,
        ['username', 'password'],
      ]);
    }
  });
});
