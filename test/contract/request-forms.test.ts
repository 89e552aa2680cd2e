import { connect } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { contentDigest, multipart } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';

// Details that HTTP clients hide: raw targets, and bodies that wait to be asked for.

const { mock, token, control } = await useMock();

/**
 * Sends bytes as they are; `more` is sent when the server asks for the body.
 * @returns all that came back until it went quiet
 */
async function exchange(head: readonly string[], more?: Buffer): Promise<string> {
  const { hostname, port } = new URL(mock.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  return new Promise((resolve) => {
    socket.on('connect', () => socket.write([...head, '', ''].join('\r\n')));
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (text.startsWith('HTTP/1.1 100') && !/\r\n\r\nHTTP/.test(text)) socket.write(more ?? '');
      else if (/^HTTP\/1\.1 (?!100)/m.test(text) && /\r\n\r\n\S/.test(text)) socket.end();
    });
    socket.on('close', () => resolve(text));
  });
}

const parseStatuses = (text: string) =>
  [...text.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

describe('A request target', () => {
  test('in absolute form is answered like any other, with its host as the one that the client used', async () => {
    const { port } = new URL(mock.url);
    const used = `http://localhost:${port}`;
    const text = await exchange([
      `GET ${used}/2.2/oai?verb=Identify HTTP/1.1`,
      'Host: other.example',
      'Connection: close',
    ]);
    expect([parseStatuses(text), text.includes(`<baseURL>${used}/2.2/oai</baseURL>`)]).toEqual([
      [200],
      true,
    ]);
    expect(
      parseStatuses(await exchange([`GET ${used} HTTP/1.1`, 'Host: x', 'Connection: close'])),
    ).toEqual([404]);
  });

  test('with unnecessary percent encoding is the same path', async () => {
    const number = '/api/pas/nalez/C%2D202400101%2dN00007/evidencni%2Dcislo?evidencni_cislo=A%2D1';
    const head = [
      `PATCH ${number} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${token()}`,
      'Connection: close',
    ];
    expect(parseStatuses(await exchange(head))).toEqual([200]);
    const password = 'username=archivist&password=archivist';
    const signIn = [
      'POST /api/token%2Dauth/ HTTP/1.1',
      'Host: x',
      'Content-Type: application/x-www-form-urlencoded',
    ];
    const answered = await exchange([
      ...signIn,
      'Connection: close',
      `Content-Length: ${password.length}`,
      '',
      password,
    ]);
    expect(parseStatuses(answered)).toEqual([200]);
    const journal = (await control('GET', '/journal')).value as { id: number; path: string }[];
    const journalText = JSON.stringify(
      (await control('GET', `/journal/${journal.at(-1)?.id}`)).value,
    );
    expect([
      journalText.includes('token-auth'),
      journalText.includes('password=archivist'),
    ]).toEqual([true, false]);
  });
});

describe('A body announced with Expect: 100-continue', () => {
  const head = (
    changes: { method?: string; path?: string; bearer?: string; length?: number } = {},
  ) => [
    `${changes.method ?? 'POST'} ${changes.path ?? '/api/pas/import-xml'} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${changes.bearer ?? token()}`,
    'Content-Type: multipart/form-data; boundary=xYzZY',
    `Content-Digest: ${contentDigest(document())}`,
    `Content-Length: ${changes.length ?? body().length}`,
    'Expect: 100-continue',
  ];
  const document = () => makeDocument(mock, smallestFind());
  const body = () => multipart([{ name: 'file', fileName: 'find.xml', bytes: document() }]);

  test('is requested if nothing in the head forbids it', async () => {
    expect(parseStatuses(await exchange([...head()], body()))).toEqual([100, 201]);
  });

  test.each([
    ['a wrong method', { method: 'PUT' }, 405],
    ['a path that is not there', { path: '/api/pas/elsewhere' }, 404],
    ['a token that is not known', { bearer: 'x' }, 401],
    ['a length that is too large', { length: 20_000_000 }, 413],
  ])('is not requested with %s', async (_, changes, status) => {
    const text = await exchange(head(changes), body());
    expect([parseStatuses(text), /^connection: close\r$/im.test(text)]).toEqual([[status], true]);
  });
});

describe('A body that is longer than its Content-Length', () => {
  const number = '/api/pas/nalez/C-202400101-N00007/evidencni-cislo?evidencni_cislo=L1';
  const head = [
    `PATCH ${number} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${'{token}'}`,
    'Content-Length: 0',
  ];

  test('leaves the answer to its request as it is, and is then refused with a page', async () => {
    const [answered, refused] = (
      await readWhole(head.join('\r\n').replace('{token}', token()), '{"x": 1}\r\n\r\n')
    ).split('</svc:svc>');
    expect(answered).toMatch(/^HTTP\/1\.1 200 /);
    expect(refused?.trim()).toMatch(
      /^HTTP\/1\.1 400 Bad Request\r\nContent-Type: text\/html[\s\S]*<\/html>$/,
    );
  });

  test('in a form is a malformed form', async () => {
    const bytes = multipart([{ name: 'file', fileName: 'find.xml', bytes: 'x' }]);
    const form = `POST /api/pas/import-xml HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token()}\r\nContent-Type: multipart/form-data; boundary=xYzZY\r\nContent-Length: ${bytes.length - 9}`;
    const text = await readWhole(form, bytes.toString());
    expect(text).toMatch(/^HTTP\/1\.1 400 [\s\S]*"detail":[\s\S]*HTTP\/1\.1 400 /);
    const journal = (await control('GET', '/journal')).value as {
      status: number;
      rules: string[];
    }[];
    expect(journal.at(-1)).toMatchObject({ status: 400, rules: ['multipart-malformed'] });
  });

  /** @returns all that comes back until the server ends the connection */
  function readWhole(head: string, body: string): Promise<string> {
    const { hostname, port } = new URL(mock.url);
    const socket = connect(Number(port), hostname, () => socket.write(`${head}\r\n\r\n${body}`));
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    return new Promise((resolve) => socket.on('close', () => resolve(text)));
  }
});

describe('The addresses that a client gets', () => {
  const importedAt = async (headers: readonly string[], host: string, schemaBase: string) => {
    const xml = makeDocument({ server: { schema_base: schemaBase } }, smallestFind());
    const bytes = multipart([{ name: 'file', fileName: 'find.xml', bytes: xml }]);
    const answer = await exchange([
      'POST /api/pas/import-xml HTTP/1.1',
      `Host: ${host}`,
      ...headers,
      `Authorization: Bearer ${token()}`,
      'Content-Type: multipart/form-data; boundary=xYzZY',
      `Content-Digest: ${contentDigest(xml)}`,
      `Content-Length: ${bytes.length}`,
      'Connection: close',
      '',
      bytes.toString('latin1'),
    ]);
    const location = /^location: (\S+)\/id\//im.exec(answer)?.[1];
    return [parseStatuses(answer)[0], location, /xmlns:svc="(.*?)\/2\.2\/"/.exec(answer)?.[1]];
  };

  test('use the host of the request, and a document may name the schema there or at the listening address', async () => {
    const used = 'http://finds.test:32768';
    const schema = `${used}/schema/svc`;
    expect(await importedAt([], 'finds.test:32768', schema)).toEqual([201, used, schema]);
    const schemaBase = mock.server.schema_base;
    expect(await importedAt([], 'finds.test:32768', schemaBase)).toEqual([201, used, schemaBase]);
    expect((await importedAt([], 'finds.test:32768', 'http://else.test/schema/svc'))[0]).toBe(422);
    const served = await exchange([
      'GET /schema/svc/2.2/svc.xsd HTTP/1.1',
      'Host: finds.test:32768',
      'Connection: close',
    ]);
    expect(served).toContain(`targetNamespace="${schema}/2.2/"`);
    const state = await exchange([
      'GET /__mock__/state HTTP/1.1',
      'Host: localhost:32768',
      'Connection: close',
    ]);
    expect(state).toContain('"schema_base":"http://localhost:32768/schema/svc"');
  });

  test('are those that a trusted proxy reports', async () => {
    const reported = ['X-Forwarded-Host: finds.example.org', 'X-Forwarded-Proto: https'];
    const schemaBase = mock.server.schema_base;
    expect((await importedAt(reported, 'inner:8080', schemaBase))[1]).toBe('http://inner:8080');
    await control('PUT', '/settings', { trusted_proxies: ['127.0.0.1'] });
    expect((await importedAt(reported, 'inner:8080', schemaBase))[1]).toBe(
      'https://finds.example.org',
    );
  });

  test('are the server’s own if the Host header is invalid', async () => {
    const schemaBase = mock.server.schema_base;
    expect((await importedAt([], '"><x', schemaBase))[1]).toBe(mock.url);
  });
});
