import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { fetchToken, rawAnswer, setNumber } from '../support/contract-requests.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, send, token } = await useMock();

const { settings } = mock;
const rule = (rule_type: string, value: string, active?: boolean) => ({
  rule_type,
  value,
  active,
});
const ME = 'archaeologist@example.org';
/** Sends as if from another address, through a trusted proxy on loopback. */
const sendFrom = (forwardedFor: string) =>
  send(smallestFind(), { headers: { 'x-forwarded-for': forwardedFor } });

describe('Access modes and lists (A-GATE-1, A-GATE-8, A-GATE-9)', () => {
  test('the seed’s blocked account is refused with 403', async () => {
    expectDetail(await send(smallestFind(), { token: await fetchToken(mock, 'blocked') }), 403);
  });

  test('in open mode, ignores white lists and applies black lists', async () => {
    await settings({
      access_rules: [
        rule('user_whitelist', 'nobody@example.org'),
        rule('ip_whitelist', '10.0.0.1'),
      ],
    });
    expect((await send(smallestFind())).status).toBe(201);
    await settings({ access_rules: [rule('user_blacklist', ME.toUpperCase())] });
    expectDetail(await send(smallestFind()), 403);
  });

  test('a rule that is not active does nothing', async () => {
    await settings({ access_rules: [rule('user_blacklist', ME, false)] });
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('whitelist_only without a white list refuses every account', async () => {
    await settings({ access_mode: 'whitelist_only', access_rules: [] });
    expectDetail(await send(smallestFind()), 403);
  });

  test.each([
    ['the user list alone', [rule('user_whitelist', ME)], 201],
    ['the user list without me', [rule('user_whitelist', 'x@example.org')], 403],
    ['the address list alone', [rule('ip_whitelist', '127.0.0.1')], 201],
    ['both lists', [rule('user_whitelist', ME), rule('ip_whitelist', '127.0.0.1')], 201],
    [
      'both lists, wrong address',
      [rule('user_whitelist', ME), rule('ip_whitelist', '10.0.0.1')],
      403,
    ],
    [
      'both lists, wrong user',
      [rule('user_whitelist', 'x@example.org'), rule('ip_whitelist', '127.0.0.1')],
      403,
    ],
    [
      'both lists, and a black list that wins',
      [rule('user_whitelist', ME), rule('ip_whitelist', '127.0.0.1'), rule('user_blacklist', ME)],
      403,
    ],
  ])('whitelist_only with %s', async (_, access_rules, status) => {
    await settings({ access_mode: 'whitelist_only', access_rules });
    expect((await send(smallestFind())).status).toBe(status);
  });

  test('closed refuses all three write endpoints, even without a token, and no reading', async () => {
    await settings({ access_mode: 'closed' });
    for (const path of [
      '/api/pas/import-xml',
      '/api/pas/nalez/X/evidencni-cislo',
      '/api/pas/nalez/X/upload-foto',
    ]) {
      for (const method of ['GET', 'POST', 'PATCH']) {
        const answer = await rawAnswer(await fetch(mock.url + path, { method }));
        expectDetail(answer, 503);
        expect(answer.headers.get('retry-after')).toBeNull();
      }
    }
    const info = await fetch(`${mock.url}/api/uzivatel-info/`, {
      headers: { authorization: `Bearer ${token()}` },
    });
    expect(info.status).toBe(200);
  });

  test.each([
    ['a single address', '203.0.113.7', '203.0.113.7', '203.0.113.8'],
    ['a block', '203.0.113.0/24', '203.0.113.255', '203.0.114.1'],
    ['a range', '203.0.113.5-203.0.113.9', '203.0.113.9', '203.0.113.10'],
    ['an IPv6 address', '2001:db8::1', '2001:db8::1', '2001:db8::2'],
    ['an IPv6 block', '2001:db8::/32', '2001:db8:ffff::1', '2001:db9::1'],
    ['an IPv6 range', '2001:db8::1-2001:db8::9', '2001:db8::9', '2001:db8::a'],
  ])('%s on the black list refuses exactly what it covers', async (_, value, inside, outside) => {
    await settings({ trusted_proxies: ['127.0.0.1'], access_rules: [rule('ip_blacklist', value)] });
    expectDetail(await sendFrom(inside), 403);
    expect((await sendFrom(outside)).status).toBe(201);
  });
});

describe('The client address behind proxies (A-GATE-10)', () => {
  const BLOCKED = [rule('ip_blacklist', '203.0.113.7')];

  test('X-Forwarded-For is ignored without a trusted proxy', async () => {
    await settings({ access_rules: BLOCKED });
    expect((await sendFrom('203.0.113.7')).status).toBe(201);
  });

  test('the right-most entry that is not a trusted proxy counts; forged entries further left do not', async () => {
    await settings({ trusted_proxies: ['127.0.0.1', '10.0.0.0/8'], access_rules: BLOCKED });
    expectDetail(await sendFrom('203.0.113.7'), 403);
    expectDetail(await sendFrom('198.51.100.1, 203.0.113.7, 10.1.2.3'), 403);
    expect((await sendFrom('203.0.113.7, 198.51.100.1')).status).toBe(201);
    expect((await sendFrom('203.0.113.7, 198.51.100.1, 10.1.2.3')).status).toBe(201);
  });

  test('if every entry is a trusted proxy, the connection’s own address counts', async () => {
    await settings({
      trusted_proxies: ['127.0.0.1', '10.0.0.0/8'],
      access_rules: [rule('ip_blacklist', '10.1.2.3')],
    });
    expect((await sendFrom('10.1.2.3, 10.9.9.9')).status).toBe(201);
    await settings({ access_rules: [rule('ip_blacklist', '127.0.0.1')] });
    expectDetail(await sendFrom('10.1.2.3, 10.9.9.9'), 403);
  });
});

describe('Order of the gates (A-GATE-4, A-GATE-6, A-GATE-13)', () => {
  const bare = async (init: RequestInit) =>
    rawAnswer(await fetch(`${mock.url}/api/pas/import-xml`, init));
  const signed = () => ({ authorization: `Bearer ${token()}` });

  test('closed comes before everything, also before the format of its answer', async () => {
    await settings({ access_mode: 'closed' });
    for (const accept of ['text/csv', 'text/html'])
      expectDetail(await bare({ headers: { accept } }), 503);
  });

  test('the format comes before the token', async () => {
    expect((await bare({ headers: { accept: 'application/xml' } })).status).toBe(406);
  });

  test('the token comes before the lists', async () => {
    await settings({ access_rules: [rule('ip_blacklist', '127.0.0.1')] });
    expect((await bare({})).status).toBe(401);
    expect((await bare({ headers: signed() })).status).toBe(403);
  });

  test('the lists come before throttling: a refused request consumes no interval', async () => {
    await mock.clock({ frozen: true });
    await settings({
      access_rules: [rule('user_blacklist', ME)],
      min_request_intervals: { user_ms: 1000, ip_ms: 1000 },
    });
    expect((await bare({ headers: signed() })).status).toBe(403);
    await settings({ access_rules: [] });
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('throttling comes before the method: a wrong method consumes the interval', async () => {
    await mock.clock({ frozen: true });
    await settings({ min_request_intervals: { user_ms: 1000, ip_ms: 1000 } });
    expect((await bare({ headers: signed() })).status).toBe(405);
    expect((await bare({ headers: signed() })).status).toBe(429);
  });

  test('the method comes before the body', async () => {
    const answer = await bare({
      method: 'PUT',
      headers: { ...signed(), 'content-type': 'text/plain' },
      body: 'x',
    });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toContain('POST');
  });
});

describe('The Accept header (A-GATE-7)', () => {
  test.each([
    '*/*',
    'application/*',
    'application/json',
    'application/xml, application/json;q=0.1',
    'text/html',
  ])('%s is served, and a success is XML all the same', async (accept) => {
    const answer = await send(smallestFind(), { headers: { accept } });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('content-type')).toBe('application/xml');
  });

  test.each(['application/xml', 'image/*', 'application/json;q=0', 'text/csv, application/xml'])(
    '%s answers 406',
    async (accept) => {
      expectDetail(await send(smallestFind(), { headers: { accept } }), 406);
    },
  );

  test('a client that prefers HTML gets errors as an HTML page', async () => {
    const answer = await setNumber(mock, 'X', '', token());
    expect(answer.headers.get('content-type')).toBe('application/json');
    const page = await send('', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(400);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
  });
});

describe('Language of details (A-GATE-15)', () => {
  test('Czech is the default; English is sent when preferred', async () => {
    const texts = await Promise.all(
      [undefined, 'cs', 'en', 'de, en;q=0.5', 'en;q=0.3, cs'].map(async (language) => {
        const headers: Record<string, string> =
          language === undefined ? {} : { 'accept-language': language };
        return (await send('', { headers })).json?.['detail'];
      }),
    );
    expect(texts[1]).toBe(texts[0]);
    expect(texts[4]).toBe(texts[0]);
    expect(texts[2]).not.toBe(texts[0]);
    expect(texts[3]).toBe(texts[2]);
  });
});
