import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { elementText, fetchToken, rawAnswer } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, send } = await useMock();

const ask = async (init: RequestInit, path = '/api/token-auth/') =>
  rawAnswer(await fetch(mock.url + path, { method: 'POST', redirect: 'manual', ...init }));
const askJson = (body: string) => ask({ headers: { 'content-type': 'application/json' }, body });
const userInfo = async (headers: Record<string, string>, method = 'GET') =>
  rawAnswer(await fetch(`${mock.url}/api/uzivatel-info/`, { method, headers }));
const HOUR_MS = 3_600_000;

describe('POST /api/token-auth/ (A-AUTH-2 to A-AUTH-13)', () => {
  test.each(['researcher', 'researcher@example.org', 'RESEARCHER@example.org'])(
    '%s signs in',
    async (username) => {
      const answer = await askJson(JSON.stringify({ username, password: 'researcher' }));
      expect(answer.status).toBe(200);
      expect(Object.keys(answer.json ?? {})).toEqual(['token']);
      expect(answer.json?.['token']).toMatch(/^[0-9a-f]{40}$/);
    },
  );

  test('forms of both kinds are accepted', async () => {
    const fields = { username: 'archivist', password: 'archivist' };
    const multipartForm = new FormData();
    for (const [name, value] of Object.entries(fields)) multipartForm.set(name, value);
    const answers = [
      await ask({ body: new URLSearchParams(fields) }),
      await ask({ body: multipartForm }),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([200, 200]);
    expect(answers[0]?.text).toBe(answers[1]?.text);
  });

  test.each([
    ['a wrong password', '{"username":"researcher","password":"x"}'],
    ['an unknown account', '{"username":"nobody","password":"x"}'],
  ])('%s answers 400, not 401', async (_, body) => {
    const answer = await askJson(body);
    expect(answer.status).toBe(400);
    expect(answer.json).toEqual({ non_field_errors: [expect.any(String)] });
  });

  test.each([
    ['{"username":"researcher"}', ['password']],
    ['{"password":"researcher"}', ['username']],
    ['{}', ['username', 'password']],
  ])('missing fields are named: %s', async (body, fields) => {
    const answer = await askJson(body);
    expect(answer.status).toBe(400);
    expect(Object.keys(answer.json ?? {})).toEqual(fields);
  });

  test('a body that is not JSON answers 400, another type 415', async () => {
    expect((await askJson('{')).status).toBe(400);
    expect((await askJson('[1]')).status).toBe(400);
    expect((await ask({ headers: { 'content-type': 'text/plain' }, body: 'x' })).status).toBe(415);
  });

  test('the path without its trailing slash is redirected, so that the body is lost', async () => {
    const answer = await ask({ body: '{}' }, '/api/token-auth');
    expect(answer.status).toBe(301);
    expect(answer.headers.get('location')).toBe(`${mock.url}/api/token-auth/`);
  });

  test('an account has one token: requested again, it is the same, with its old age', async () => {
    const first = await fetchToken(mock, 'researcher');
    await mock.clock({ advance_ms: 23 * HOUR_MS });
    expect(await fetchToken(mock, 'researcher')).toBe(first);
    await mock.clock({ advance_ms: HOUR_MS });
    expectDetail(await send(smallestFind(), { token: first }), 401);
    const second = await fetchToken(mock, 'researcher');
    expect(second).not.toBe(first);
    expect((await send(smallestFind(), { token: second })).status).toBe(201);
    expectDetail(await send(smallestFind(), { token: first }), 401);
  });

  test('a deactivated account gets a token that does not work', async () => {
    const token = await fetchToken(mock, 'inactive');
    expect(token).toMatch(/^[0-9a-f]{40}$/);
    expectDetail(await send(smallestFind(), { token }), 401);
  });

  test('lists, closing and throttling do not apply', async () => {
    const settings = {
      access_mode: 'closed',
      min_request_intervals: { user_ms: 60_000, ip_ms: 60_000 },
    };
    await mock.settings(settings);
    for (let count = 0; count < 3; count += 1)
      expect((await askJson('{"username":"blocked","password":"blocked"}')).status).toBe(200);
  });

  test('during a planned outage it answers 503 with a page', async () => {
    await mock.settings({ outage: true });
    const answer = await askJson('{"username":"researcher","password":"researcher"}');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('content-type')).toMatch(/^text\/html/);
    expect((await userInfo({})).status).toBe(503);
  });
});

describe('Bearer use (A-AUTH-1, A-AUTH-14)', () => {
  test.each(['Bearer', 'bearer', 'BEARER'])('the scheme %s is accepted', async (scheme) => {
    const token = await fetchToken(mock, 'archaeologist');
    expect((await userInfo({ authorization: `${scheme} ${token}` })).status).toBe(200);
  });

  test.each(['Token {}', 'Basic {}', '{}', 'Bearer', 'Bearer {} x'])(
    'the header "%s" counts as no credentials',
    async (header) => {
      const token = await fetchToken(mock, 'archaeologist');
      const answer = await userInfo({ authorization: header.replace('{}', token) });
      expectDetail(answer, 401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    },
  );
});

describe('GET /api/uzivatel-info/ (A-USER-1 to A-USER-4)', () => {
  test.each([
    ['researcher', 'U-000102', 'Badatel'],
    ['archaeologist', 'U-000408', 'Archeolog'],
    ['archivist', 'U-000020', 'Archivář'],
    ['admin', 'U-000001', 'Administrátor'],
  ])('%s receives its account', async (username, ident, group) => {
    const answer = await userInfo({
      authorization: `Bearer ${await fetchToken(mock, username)}`,
    });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8');
    expect(answer.text).toContain('<svc:uzivatel>');
    expect(elementText(answer.text, 'ident_cely')).toBe(ident);
    expect(elementText(answer.text, 'email')).toBe(`${username}@example.org`);
    expect(elementText(answer.text, 'skupina')).toBe(group);
    expect(answer.text).toMatch(/<svc:organizace xml:lang="cs" id="ORG-\d{6}">/);
  });

  test('it returns XML only, and its errors are JSON', async () => {
    const authorization = `Bearer ${await fetchToken(mock, 'archivist')}`;
    expectDetail(await userInfo({ authorization, accept: 'application/json' }), 406);
    expect((await userInfo({ authorization, accept: 'application/xml' })).status).toBe(200);
    expectDetail(await userInfo({ accept: 'application/xml' }), 401);
  });

  test('only GET is served, and never throttled', async () => {
    const authorization = `Bearer ${await fetchToken(mock, 'archivist')}`;
    await mock.settings({
      min_request_intervals: { user_ms: 60_000, ip_ms: 60_000 },
    });
    expectDetail(await userInfo({ authorization }, 'POST'), 405);
    for (let count = 0; count < 3; count += 1)
      expect((await userInfo({ authorization })).status).toBe(200);
  });
});
