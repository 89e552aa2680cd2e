import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { replay } from '../../mock-server/replay.ts';
import { parseRecording } from '../../mock-server/state/recording.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml, postFile, setNumber } from '../support/contract-requests.ts';
import { freePort } from '../support/free-port.ts';
import { PROJECT } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { startMock, type TestMock } from '../support/start-mock.ts';
import { tied } from '../support/tied.ts';

const COMMAND = join(PROJECT, 'bin', 'pas-mock-server.js');
const SCHEMA_BASE = 'http://schemas.example/svc';
const folder = mkdtempSync(join(tmpdir(), 'pas-recording-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const options = { schemaBase: SCHEMA_BASE };
const document = makeDocument({ server: { schema_base: SCHEMA_BASE } }, smallestFind());

/** A find with its number and photograph, and two requests that are refused. */
async function work(mock: TestMock): Promise<string> {
  const token = await fetchToken(mock, 'archaeologist');
  const imported = await importXml(mock, document, { token });
  const ident = imported.headers.get('x-record-id') ?? '';
  const photo = { name: 'file', fileName: 'a.png', type: 'image/png', bytes: tinyPng(3) };
  expect([
    imported.status,
    (await setNumber(mock, ident, '?evidencni_cislo=A%201', token)).status,
    (await postFile(mock, `/api/pas/nalez/${ident}/upload-foto`, photo, { token })).status,
    (await importXml(mock, document, { token: 'no-token' })).status,
    (await importXml(mock, document, { token, digest: null })).status,
  ]).toEqual([201, 200, 201, 401, 400]);
  return token;
}

describe('a recording', () => {
  test('is answered by another server as before, by users who sign in again', async () => {
    const record = join(folder, 'whole.jsonl');
    const first = await startMock({ ...options, record });
    const token = await work(first);
    await first.control('POST', '/tenants', { name: 'other' });
    await fetch(`${first.url}/t/other/api/uzivatel-info/`, {
      headers: { authorization: `Bearer ${token}` },
    });
    await first.close();
    const text = readFileSync(record, 'utf8');
    // Neither password nor token, of a request or of an answer; what drives the server is no part
    // of its work.
    expect(text).not.toContain(token);
    expect(text).not.toContain('password');
    expect(text).not.toContain('__mock__');
    expect(statSync(record).mode & 0o077).toBe(0);
    expect(parseRecording(text).map(({ user, status }) => [user, status])).toEqual([
      ['archaeologist', 200],
      ['archaeologist', 201],
      ['archaeologist', 200],
      ['archaeologist', 201],
      [null, 401],
      ['archaeologist', 400],
      [null, 401],
    ]);

    await using second = await startMock(options);
    await second.control('POST', '/tenants', { name: 'other' });
    expect(await replay(record, second.url)).toEqual({ same: 6, skipped: 1, others: [] });
    await second.control('PUT', '/settings', { access_mode: 'closed' });
    const { others } = await replay(record, second.url);
    expect(others.map(({ line, recorded, got }) => [line, recorded, got])).toEqual([
      [2, 201, 503],
      [3, 200, 503],
      [4, 201, 503],
      [5, 401, 503],
      [6, 400, 503],
    ]);
  });

  test('omits what is too long to repeat, or was answered by a fault', async () => {
    const record = join(folder, 'long.jsonl');
    const first = await startMock({ ...options, record });
    const token = await fetchToken(first, 'archaeologist');
    await importXml(first, `${document}<!--${'x'.repeat(1024 * 1024)}-->`, { token });
    await first.control('PUT', '/faults', [
      { endpoint: 'import', fault: '500-after-save', times: 1 },
    ]);
    await importXml(first, document, { token });
    await first.close();
    expect(statSync(record).size).toBeLessThan(1.2 * 1024 * 1024);
    await using second = await startMock(options);
    expect(await replay(record, second.url)).toEqual({ same: 0, skipped: 3, others: [] });
  });

  test('survives kill -9 at any time; a partial last line is ignored, and the program replays the rest', async () => {
    const record = join(folder, 'killed.jsonl');
    const flags = [
      '--json',
      '--min-interval',
      '0',
      '--schema-base',
      SCHEMA_BASE,
      '--record',
      record,
    ];
    const child = tied(
      spawn(process.execPath, [COMMAND, ...flags], { stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const { base_url } = JSON.parse(line.toString()) as { base_url: string };
    const served = { url: base_url };
    const token = await fetchToken(served, 'archaeologist');
    let answered = 0;
    const sending = (async () => {
      for (;;) {
        await importXml(served, document, { token });
        answered += 1;
        if (answered === 5) child.kill('SIGKILL');
      }
    })();
    await expect(sending).rejects.toThrow();
    const text = readFileSync(record, 'utf8');
    const keptRequests = parseRecording(text).length;
    // The token and the answered imports; what was answered is recorded right after.
    expect(keptRequests).toBeGreaterThanOrEqual(1 + 4);
    writeFileSync(record, text + text.slice(0, 300));
    expect(parseRecording(readFileSync(record, 'utf8'))).toHaveLength(keptRequests);

    await using mock = await startMock(options);
    const replayed = async () => {
      const child = tied(
        spawn(process.execPath, [COMMAND, 'replay', record, '--base-url', mock.url]),
      );
      const output: string[] = [];
      child.stdout.on('data', (chunk) => void output.push(String(chunk)));
      const [code] = (await once(child, 'close')) as [number];
      return [code, output.join('')];
    };
    expect(await replayed()).toEqual([
      0,
      `${keptRequests - 1} answered as recorded, 0 otherwise, 1 not asked\n`,
    ]);
    await mock.control('PUT', '/settings', { access_mode: 'closed' });
    expect(await replayed()).toEqual([
      1,
      `${Array.from({ length: keptRequests - 1 }, (_, at) => `line ${at + 2}: POST /api/pas/import-xml was answered with 201, now with 503\n`).join('')}0 answered as recorded, ${keptRequests - 1} otherwise, 1 not asked\n`,
    ]);
  });

  test('holds requests of any method, scheme, upgrade and path, and all are repeated', async () => {
    const record = join(folder, 'odd.jsonl');
    const first = await startMock({ ...options, record });
    const { port, host } = new URL(first.url);
    const ask = (line: string, ...headers: string[]) =>
      new Promise<void>((done, failed) => {
        const socket = connect(Number(port), '127.0.0.1', () =>
          socket.end(
            [`${line} HTTP/1.1`, `Host: ${host}`, 'Connection: close', ...headers, '', ''].join(
              '\r\n',
            ),
          ),
        );
        socket
          .once('error', failed)
          .once('close', () => done())
          .resume();
      });
    for (const scheme of [
      'Token abc',
      'Digest username="a", realm="b"',
      'secret-alone',
      'Bearer no-token',
      'Basic !',
    ])
      await ask('GET /api/uzivatel-info/', `Authorization: ${scheme}`);
    await ask('GET /2.2/oai?verb=Identify', 'Upgrade: h2c', 'Connection: Upgrade, HTTP2-Settings');
    await ask(
      'GET /2.2/oai?verb=Identify',
      'Cookie: sessionid=abc',
      'Proxy-Authorization: Other abc',
      'TE: trailers',
      'Trailer: X',
    );
    await ask('OPTIONS *');
    await ask('TRACE /2.2/oai');
    await ask('HEAD /2.2/oai?verb=Identify');
    await first.close();
    await using second = await startMock(options);
    expect(await replay(record, second.url)).toEqual({ same: 10, skipped: 0, others: [] });
  });

  test('a server that does not answer is named, with the reason', async () => {
    const record = join(folder, 'nobody.jsonl');
    const mock = await startMock({ ...options, record });
    await importXml(mock, document, { token: 'no-token' });
    await mock.close();
    const nobody = `http://127.0.0.1:${await freePort()}`;
    await expect(replay(record, nobody)).rejects.toThrow(
      `${nobody}/api/pas/import-xml does not answer: connect ECONNREFUSED`,
    );
  });

  test('is not overwritten if it exists, and an invalid line is named', async () => {
    const record = join(folder, 'there.jsonl');
    writeFileSync(record, '{}\n');
    const run = (...flags: string[]) =>
      spawnSync(process.execPath, [COMMAND, ...flags], { encoding: 'utf8' });
    const refused = run('--record', record);
    expect([refused.status, refused.stderr]).toEqual([
      2,
      `pas-mock-server: the recording ${record} is there already; name another file\n`,
    ]);
    const unread = run('replay', record, '--base-url', 'http://127.0.0.1:9');
    expect(unread.status).toBe(2);
    expect(unread.stderr).toMatch(/line 1 is no line of a recording: method: must be a text/);
    expect(readFileSync(record, 'utf8')).toBe('{}\n');
  });

  test.skipIf(!existsSync('/dev/full'))(
    'on a full disk the server continues without it',
    async () => {
      await using mock = await startMock({ ...options, record: '/dev/full' });
      await work(mock);
    },
  );
});
