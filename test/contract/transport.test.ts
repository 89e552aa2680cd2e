import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import {
  contentDigest,
  multipart,
  postFile,
  type RawAnswer,
} from '../support/contract-requests.ts';
import { eventually } from '../support/eventually.ts';
import { startMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { useMock } from './contract-import.ts';
import { jpeg } from './contract-photographs.ts';

const { mock, send, token, finds } = await useMock();

const MINE = '/api/pas/nalez/C-202400101-N00007/upload-foto';

/** A connection on which bytes are typed by hand. */
async function dial(): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port } = new URL(mock.url);
  const socket = connect(Number(port), hostname);
  let text = '';
  const answer = new Promise<string>((resolve) => {
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (/\r\n\r\n[\s\S]+/.test(text)) resolve(text);
    });
    socket.on('close', () => resolve(text));
    socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  return { socket, answer };
}

const head = (path: string, fields: Record<string, string | number>) =>
  [
    `POST ${path} HTTP/1.1`,
    `Host: ${new URL(mock.url).host}`,
    `Authorization: Bearer ${token()}`,
    'Content-Type: multipart/form-data; boundary=xYzZY',
    ...Object.entries(fields).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\r\n');

/** Progress of the server with the last request. */
const lastRequest = async () =>
  ((await mock.control('GET', '/journal')).value as { path: string; status: number | null }[]).at(
    -1,
  );

const expectPage = (answer: RawAnswer) => {
  expect(answer.status).toBe(413);
  expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
};

describe('Bodies that are too large (A-WIRE-2)', () => {
  test('413 with an HTML page: a body above the proxy’s limit', async () => {
    await mock.settings({ body_max_bytes: 5000 });
    expectPage(
      await postFile(
        mock,
        MINE,
        { name: 'file', fileName: 'a.jpg', bytes: jpeg(undefined, 'x'.repeat(5000)) },
        { token: token() },
      ),
    );
    expectPage(
      await send(smallestFind({ poznamka: `<svc:poznamka>${'x'.repeat(5000)}</svc:poznamka>` })),
    );
  });

  test('413 before anything that the service itself would refuse, as the proxy stands in front of it', async () => {
    await mock.settings({ access_mode: 'closed' });
    for (const path of [MINE, '/api/pas/import-xml', '/api/pas/elsewhere', '/api/token-auth/']) {
      const { socket, answer } = await dial();
      socket.write(head(path, { 'Content-Length': 300_000_000 }).replace(token(), 'unknown'));
      expect(await answer, path).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
  });

  test('413 for an endless body, and the server keeps running', async () => {
    await mock.settings({ body_max_bytes: 1_000_000 });
    const { socket, answer } = await dial();
    socket.write(head(MINE, { 'Transfer-Encoding': 'chunked' }));
    const block = Buffer.alloc(65_536, 'x');
    const chunk = Buffer.concat([
      Buffer.from(`${block.length.toString(16)}\r\n`),
      block,
      Buffer.from('\r\n'),
    ]);
    const flood = () => {
      while (!socket.destroyed && socket.write(chunk)) {}
      if (!socket.destroyed) socket.once('drain', flood);
    };
    const start = multipartStart();
    socket.write(`${start.length.toString(16)}\r\n${start}\r\n`);
    flood();
    expect(await answer).toMatch(/^HTTP\/1\.1 413 /);
    socket.destroy();
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('a document of more than 16 MiB is not read', async () => {
    expectPage(
      await send(
        smallestFind({ poznamka: `<svc:poznamka>${'x'.repeat(17_000_000)}</svc:poznamka>` }),
      ),
    );
  });
});

describe('Incomplete bodies', () => {
  test('a connection that breaks off saves nothing and leaves nothing on the disk', async () => {
    const bytes = multipart([
      { name: 'file', fileName: 'find.xml', bytes: makeDocument(mock, smallestFind()) },
    ]);
    const { socket } = await dial();
    socket.write(
      head('/api/pas/import-xml', {
        'Content-Length': bytes.length,
        'Content-Digest': 'sha-512=:AAAA:',
      }),
    );
    socket.write(bytes.subarray(0, bytes.length / 2));
    await eventually(lastRequest).toMatchObject({ path: '/api/pas/import-xml', status: null });
    socket.destroy();
    await eventually(lastRequest).toMatchObject({ status: 0 });
    expect((await send(smallestFind())).status).toBe(201);
    expect(await finds()).toBe(22);
  });

  test('a photograph that breaks off leaves no temporary file', async () => {
    const folder = tempFolder();
    await using ownMock = await startMock({ data: `${folder}/mock.sqlite` });
    const { fetchToken } = await import('../support/contract-requests.ts');
    const bearer = await fetchToken(ownMock, 'archaeologist');
    const { hostname, port, host } = new URL(ownMock.url);
    const socket = connect(Number(port), hostname);
    const incoming = () => readdirSync(`${folder}/mock.sqlite.photographs/incoming`);
    socket.write(
      `POST ${MINE} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: multipart/form-data; boundary=xYzZY\r\nContent-Length: 1000000\r\n\r\n`,
    );
    socket.write(multipartStart() + 'x'.repeat(200_000));
    await eventually(incoming).toHaveLength(1);
    socket.destroy();
    await eventually(incoming).toEqual([]);
    const another = connect(Number(port), hostname).on('error', () => {});
    another.write(
      `POST ${MINE} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${bearer}\r\nContent-Type: multipart/form-data; boundary=xYzZY\r\nContent-Length: 1000000\r\n\r\n${multipartStart()}${'x'.repeat(200_000)}`,
    );
    await eventually(incoming).toHaveLength(1);
    await ownMock.close();
    expect(readdirSync(`${folder}/mock.sqlite.photographs`)).not.toContain('incoming');
  });

  test('a slow body does not hold up others', async () => {
    const bytes = multipart([
      { name: 'file', fileName: 'find.xml', bytes: makeDocument(mock, smallestFind()) },
    ]);
    const digest = contentDigest(makeDocument(mock, smallestFind()));
    const { socket, answer } = await dial();
    socket.write(
      head('/api/pas/import-xml', { 'Content-Length': bytes.length, 'Content-Digest': digest }),
    );
    socket.write(bytes.subarray(0, 100));
    for (let count = 0; count < 5; count += 1)
      expect((await send(smallestFind())).status).toBe(201);
    socket.write(bytes.subarray(100));
    expect(await answer).toMatch(/^HTTP\/1\.1 201 /);
    socket.destroy();
  });

  test('a refusal comes before the body is sent, and the connection can go on', async () => {
    const { socket, answer } = await dial();
    socket.write(
      head('/api/pas/import-xml', { 'Content-Length': 200 }).replace(token(), 'unknown'),
    );
    expect(await answer).toMatch(/^HTTP\/1\.1 401 /);
    socket.destroy();
  });
});

describe('Malformed requests', () => {
  test('input that is not HTTP is refused with 400', async () => {
    const { socket, answer } = await dial();
    socket.write('HELLO\r\n\r\n');
    expect(await answer).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('invalid percent encoding does not crash the server', async () => {
    const response = await fetch(
      `${mock.url}/api/pas/nalez/%E0%A4%A/evidencni-cislo?evidencni_cislo=%E0%A4%A`,
      {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token()}` },
      },
    );
    expect(response.status).toBe(404);
    expect((await fetch(`${mock.server.control_url}/records/%E0%A4%A`)).status).toBeLessThan(500);
  });

  test('unknown paths answer 404', async () => {
    for (const path of [
      '/',
      '/api',
      '/api/pas',
      '/api/pas/import',
      '/schema/svc/9.9/svc.xsd',
      '/id/x/file/y',
    ]) {
      expect((await fetch(mock.url + path)).status, path).toBe(404);
    }
  });

  test.each([
    [
      'an entity bomb',
      `<!DOCTYPE a [${Array.from({ length: 20 }, (_, i) => `<!ENTITY e${i + 1} "&e${i};&e${i};&e${i};">`).join('')}<!ENTITY e0 "lol">]><a>&e20;</a>`,
    ],
    ['an external entity', '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'],
    ['an external DTD', '<!DOCTYPE a SYSTEM "http://127.0.0.1:9/none.dtd"><a/>'],
  ])('%s is refused and never followed', async (_, xml) => {
    const { importXml } = await import('../support/contract-requests.ts');
    const answer = await importXml(mock, xml, { token: token() });
    expect([400, 422]).toContain(answer.status);
    expect(answer.text).not.toContain('root:');
  });
});

describe('Schemas that documents name', () => {
  test.each(['2.0', '2.1', '2.2'])(
    'the schema of version %s is served with its own addresses',
    async (version) => {
      const response = await fetch(`${mock.server.schema_base}/${version}/svc.xsd`);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain(`targetNamespace="${mock.server.schema_base}/${version}/"`);
      expect(text).toContain('<xs:element name="svc">');
      const location = /schemaLocation="([^"]+)"/.exec(text)?.[1] ?? '';
      expect((await fetch(location)).status).toBe(200);
      expect(text).not.toMatch(/\{\w+\}.*xs:/);
    },
  );
});

function multipartStart(): string {
  return '--xYzZY\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n\r\n';
}

test('a request whose client disconnected before it was read ends, and creates nothing', async () => {
  await mock.settings({ latency_ms: 3000 });
  const before = await finds();
  const body =
    '--xYzZY\r\nContent-Disposition: form-data; name="file"; filename="find.xml"\r\n\r\nx\r\n--xYzZY--\r\n';
  const { socket } = await dial();
  socket.write(
    head('/api/pas/import-xml', {
      'Content-Length': body.length,
      'Content-Digest': contentDigest('x'),
    }) + body,
  );
  await eventually(lastRequest).toMatchObject({ path: '/api/pas/import-xml', status: null });
  socket.resetAndDestroy();
  await eventually(lastRequest).toMatchObject({ status: 0 });
  expect(await finds()).toEqual(before);
});
