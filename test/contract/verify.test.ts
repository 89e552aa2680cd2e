import { once } from 'node:events';
import { connect } from 'node:net';
import { beforeEach, describe, expect, test } from 'vitest';
import { verifyRequests as ask } from '../../mock-server/control/verify.ts';
import { Journal } from '../../mock-server/state/journal.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, postFile, setNumber } from '../support/contract-requests.ts';
import { startMock } from '../support/start-mock.ts';
import { useMock } from './contract-import.ts';

const { mock, control, send, token } = await useMock();
beforeEach(() => control('DELETE', '/journal'));

const find = (note: string) => smallestFind({ poznamka: `<svc:poznamka>${note}</svc:poznamka>` });
const IMPORT = { method: 'post', path: '/api/pas/import-xml' };
type Verified = { ok: boolean; entries: number[]; reason: string | null };
const verify = async (question: unknown) => {
  const { status, value } = await control('POST', '/verify', question);
  return { status, ...(value as Verified) };
};

describe('An assertion about requests', () => {
  test('counts requests by method, path, refusal and status', async () => {
    const ident = (await send(find('first'))).headers.get('x-record-id') ?? '';
    await send(find('second'));
    await setNumber(mock, ident, '?evidencni_cislo=A1', token());
    await setNumber(mock, ident, '', token());
    const noteIs = (equals: string) => [{ xpath: '//svc:poznamka', equals }];
    for (const [status, request, count] of [
      [200, IMPORT, 2],
      [406, IMPORT, 1],
      [200, { path_matches: '^/api/.*evidencni_cislo=A1$', status: 200, user: 'archaeologist' }, 1],
      [200, { rule: 'number-missing', find: ident }, { at_least: 1, at_most: 1 }],
      [200, { ...IMPORT, request_body: noteIs('second') }, 1],
      [200, { ...IMPORT, request_body: noteIs('third') }, 0],
      [200, { ...IMPORT, request_body: [{ xpath: 'count(//svc:projekt/@id)', equals: '1' }] }, 2],
      [200, { ...IMPORT, answer_body: [{ xpath: '//svc:ident_cely', equals: ident }] }, 1],
      [200, { status: 400, answer_body: [{ json: '$.detail', matches: '.' }] }],
      [406, { status: 400, answer_body: [{ json: '$.nothing' }] }],
      [406, { fault: '503' }],
    ] as const)
      expect([request, (await verify({ request, count })).status]).toEqual([request, status]);
  });

  test('reports what happened and why it does not hold', async () => {
    await send(find('one'));
    const { ok, entries, reason } = await verify({ request: IMPORT, count: { at_least: 2 } });
    expect([ok, entries.length, reason]).toEqual([
      false,
      1,
      'expected at least 2 such requests, and there were 1',
    ]);
  });

  test('checks the order: such requests, each after the previous one', async () => {
    const ident = (await send(find('one'))).headers.get('x-record-id') ?? '';
    await setNumber(mock, ident, '?evidencni_cislo=A1', token());
    const number = { method: 'PATCH', find: ident };
    expect(await verify({ order: [IMPORT, number] })).toMatchObject({
      status: 200,
      ok: true,
      reason: null,
    });
    expect(await verify({ order: [number, IMPORT] })).toMatchObject({ status: 406, ok: false });
    expect(await verify({ order: [IMPORT, IMPORT] })).toMatchObject({ status: 406 });
  });

  test.each([
    {},
    { request: {}, order: [] },
    { order: [{}], count: 1 },
    // Assertions that hold for any answer.
    { order: [] },
    { request: IMPORT, count: {} },
    { request: { rule: 'no-such-rule' }, count: 0 },
    { request: { fault: 'no-such-fault' }, count: 0 },
    { request: { path: '/nowhere', answer_body: [{ json: 'not a path' }] }, count: 0 },
    { request: { path_matches: '(' } },
    { request: { verb: 'GET' } },
    { request: { request_body: [{ equals: 'x' }] } },
    { request: { path: '/nowhere', request_body: [{ xpath: '//[' }] }, count: 0 },
    { request: { path: '/nowhere', answer_body: [{ xpath: 'nothing(1)' }] }, count: 0 },
    { request: IMPORT, count: { at_least: 0 } },
    { request: IMPORT, count: { at_least: 2, at_most: 1 } },
    { request: IMPORT, gap_ms: {} },
    { request: { request_headers: [{ name: 'Authorization', matches: 'Bearer' }] }, count: 0 },
    { request: { request_headers: [{ name: 'accept', absent: true, equals: 'x' }] } },
    { request: { method: 'SEND' }, count: 0 },
    { request: { path: 'api/pas/import-xml' }, count: 0 },
    { request: { path: 'http://127.0.0.1/api/pas/import-xml' }, count: 0 },
    { request: { path: '/api/pas/import-xml?x' }, count: 0 },
    { request: { user: 'archaeologist@example.org' }, count: 0 },
  ])('%j is refused', async (question) => {
    await send(find('one'));
    await setNumber(mock, 'X', '', token());
    expect((await verify(question)).status).toBe(400);
  });

  test('a truncated body decides nothing', async () => {
    await send(find('x'.repeat(20_000)));
    expect(
      (await verify({ request: { ...IMPORT, request_body: [{ xpath: '//svc:poznamka' }] } }))
        .status,
    ).toBe(422);
    expect((await verify({ request: IMPORT })).status).toBe(200);
  });
});

describe('An assertion about bodies', () => {
  test('sees the body of a request that was refused before it was read', async () => {
    await control('PUT', '/settings', { access_mode: 'closed' });
    await send(find('same'));
    await control('PUT', '/settings', { access_mode: 'open' });
    await send(find('same'));
    const request_body = [{ xpath: '//svc:poznamka', equals: 'same' }];
    const order = [503, 201].map((status) => ({ ...IMPORT, status, request_body }));
    expect(await verify({ order })).toMatchObject({ ok: true, reason: null });
  });

  test('treats a non-node result as found if it is true', async () => {
    await send(find('one'));
    const isMatched = async (xpath: string) =>
      (await verify({ request: { ...IMPORT, request_body: [{ xpath }] } })).ok;
    expect([
      await isMatched('boolean(//svc:poznamka)'),
      await isMatched('string(//svc:poznamka)'),
    ]).toEqual([true, true]);
    expect([
      await isMatched('boolean(//svc:pocet)'),
      await isMatched('string(//svc:pocet)'),
      await isMatched('count(//svc:pocet)'),
    ]).toEqual([false, false, false]);
  });

  test.each([
    ['UTF-16', (xml: string) => Buffer.from(`\ufeff${xml.replace('UTF-8', 'UTF-16')}`, 'utf16le')],
    [
      'windows-1250',
      (xml: string) =>
        Buffer.from(xml.replace('UTF-8', 'windows-1250').replace('ž', '\x9e'), 'latin1'),
    ],
  ])('reads a document in %s', async (_, encoded) => {
    const bytes = encoded(makeDocument(mock, find('žito')));
    const answer = await postFile(
      mock,
      IMPORT.path,
      { name: 'file', fileName: 'a.xml', bytes },
      { token: token() },
    );
    expect(answer.status, answer.text).toBe(201);
    const noted = (equals: string) =>
      verify({ request: { ...IMPORT, request_body: [{ xpath: '//svc:poznamka', equals }] } });
    expect([(await noted('žito')).ok, (await noted('zito')).ok]).toEqual([true, false]);
  });

  test('knows who signs in, but no secret', async () => {
    await fetchToken(mock, 'researcher');
    const signIn = { path: '/api/token-auth/' };
    const named = (json: string, equals: string) => ({
      request: { ...signIn, request_body: [{ json, equals }] },
    });
    expect([
      (await verify(named('$.username', 'researcher'))).ok,
      (await verify(named('$.username', 'other'))).ok,
    ]).toEqual([true, false]);
    expect((await verify({ ...named('$.password', 'researcher'), count: 0 })).status).toBe(422);
    expect(
      (await verify({ request: { ...signIn, answer_body: [{ json: '$.token' }] }, count: 0 }))
        .status,
    ).toBe(422);
  });

  test('compares headers of requests and answers', async () => {
    await send(find('one'));
    for (const [isMatched, headers] of [
      [
        true,
        {
          request_headers: [
            { name: 'Content-Digest', matches: '^sha-512=:' },
            { name: 'authorization' },
          ],
        },
      ],
      [true, { request_headers: [{ name: 'expect', absent: true }] }],
      [false, { request_headers: [{ name: 'content-digest', absent: true }] }],
      [true, { answer_headers: [{ name: 'content-type', equals: 'application/xml' }] }],
      [false, { answer_headers: [{ name: 'retry-after' }] }],
    ] as const) {
      const { ok } = await verify({ request: { ...IMPORT, ...headers } });
      expect([headers, ok]).toEqual([headers, isMatched]);
    }
  });

  test('measures the time between two such requests', async () => {
    await control('POST', '/clock', { frozen: true });
    for (const ms of [0, 1500, 3000]) {
      await control('POST', '/clock', { advance_ms: ms });
      await send(find('one'));
    }
    const gap = async (gap_ms: object) => verify({ request: IMPORT, gap_ms });
    expect([
      (await gap({ at_least: 1500 })).ok,
      (await gap({ at_least: 1500, at_most: 3000 })).ok,
    ]).toEqual([true, true]);
    expect(await gap({ at_most: 2000 })).toMatchObject({
      ok: false,
      reason: expect.stringContaining('it was 3000.0 ms'),
    });
    expect((await verify({ order: [IMPORT, IMPORT], gap_ms: { at_least: 1501 } })).ok).toBe(false);
    expect(
      (await verify({ request: { path: '/nowhere' }, count: 0, gap_ms: { at_least: 1 } })).ok,
    ).toBe(false);
    await control('POST', '/clock', { frozen: false });
  });

  test('is answered although a client disconnected before it sent the body of a refused request', async () => {
    const { hostname, port } = new URL(mock.server.base_url);
    const client = connect(Number(port), hostname);
    client.write(
      'POST /api/pas/import-xml HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer none\r\nContent-Length: 2000\r\n\r\n',
    );
    await once(client, 'data');
    client.destroy();
    expect(await verify({ request: { ...IMPORT, status: 401 } })).toMatchObject({
      status: 200,
      ok: true,
    });
  });

  test('is refused if entries that it may concern were dropped', async () => {
    const journal = new Journal(1024 * 1024);
    const request = { method: 'GET', path: '/', address: '127.0.0.1', atMs: 0 };
    for (let importCount = 0; importCount < 20_000; importCount += 1) journal.open(request, true);
    const askCount = (count: unknown) => ask(journal, [], { request: { path: '/nowhere' }, count });
    expect(await askCount(0)).toMatchObject({ ok: true });
    journal.open(request, true);
    await expect(askCount(0)).rejects.toThrow('older entries were dropped');
    expect(await askCount(1)).toMatchObject({ ok: false });
    journal.clear();
    expect(await askCount(0)).toMatchObject({ ok: true });
  });
});

describe('A control token', () => {
  const fetchWith = async (url: string, headers: Record<string, string> = {}) =>
    fetch(url, { headers });

  test('is required for every path except the health check, and admits other machines', async () => {
    await using guarded = await startMock({ controlToken: 'open sesame' });
    const state = `${guarded.server.control_url}/state`;
    const basic = (password: string) => ({
      authorization: `Basic ${Buffer.from(`me:${password}`).toString('base64')}`,
    });
    const refused = await fetchWith(state);
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      expect.stringContaining('Basic'),
    ]);
    expect((await fetchWith(state, { authorization: 'Bearer open-sesame' })).status).toBe(401);
    expect((await fetchWith(state, basic('wrong'))).status).toBe(401);
    expect((await fetchWith(state, basic('open sesame'))).status).toBe(200);
    expect((await fetchWith(`${guarded.server.control_url}/`, basic('open sesame'))).status).toBe(
      200,
    );
    expect((await fetchWith(`${guarded.server.control_url}/health`)).status).toBe(200);
    expect(
      (await fetchWith(state, { ...basic('open sesame'), origin: 'http://evil.example' })).status,
    ).toBe(403);
    expect(
      (await fetchWith(state, { ...basic('open sesame'), origin: new URL(state).origin })).status,
    ).toBe(200);
  });

  test('also applies to each tenant', async () => {
    await using guarded = await startMock({ controlToken: 'secret' });
    const authorization = 'Bearer secret';
    const response = await fetch(`${guarded.server.control_url}/tenants`, {
      method: 'POST',
      headers: { authorization },
      body: '{}',
    });
    const { control_url } = (await response.json()) as { control_url: string };
    expect([
      (await fetchWith(`${control_url}/state`)).status,
      (await fetchWith(`${control_url}/state`, { authorization })).status,
    ]).toEqual([401, 200]);
  });
});
