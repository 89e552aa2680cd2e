import { describe, expect, test } from 'vitest';
import { smallestFind } from '../support/contract-find.ts';
import { fetchToken, setNumber } from '../support/contract-requests.ts';
import { startMock } from '../support/start-mock.ts';
import { expectDetail, useMock } from './contract-import.ts';

const { mock, send, token } = await useMock();

const FIND = 'C-202400101-N00001';
const { settings } = mock;
const advance = (advance_ms: number) => mock.clock({ advance_ms });
const freeze = () => mock.clock({ frozen: true });
/** The cheapest write request: it fails behind the gates with 400. */
const knock = (as = token()) => setNumber(mock, FIND, '', as);
const intervals = (user_ms: number, ip_ms: number) =>
  settings({ min_request_intervals: { user_ms, ip_ms } });

describe('Minimum interval (A-RATE-1 to A-RATE-3, A-RATE-7 to A-RATE-11, A-RATE-19)', () => {
  test('the default is 100 ms per user and per address', async () => {
    await using fresh = await startMock({ minIntervalMs: 100 });
    const { value } = await fresh.control('GET', '/settings');
    expect(value).toMatchObject({ min_request_intervals: { user_ms: 100, ip_ms: 100 } });
  });

  test('a request after the whole interval passes, one a moment earlier does not', async () => {
    await freeze();
    await intervals(100, 100);
    expect((await knock()).status).toBe(400);
    await advance(99.9);
    expectDetail(await knock(), 429);
    await advance(0.1);
    expect((await knock()).status).toBe(400);
  });

  test('a refused request does not restart the interval', async () => {
    await freeze();
    await intervals(100, 0);
    await knock();
    await advance(60);
    expect((await knock()).status).toBe(429);
    await advance(40);
    expect((await knock()).status).toBe(400);
  });

  test('Retry-After is in whole seconds, rounded up, at least 1', async () => {
    await freeze();
    await intervals(100, 0);
    await knock();
    expect((await knock()).headers.get('retry-after')).toBe('1');
    await intervals(2500, 0);
    expect((await knock()).headers.get('retry-after')).toBe('3');
    await advance(1600);
    expect((await knock()).headers.get('retry-after')).toBe('1');
  });

  test('all accounts share the clock of their address', async () => {
    await freeze();
    await intervals(0, 100);
    await knock();
    expect((await knock(await fetchToken(mock, 'archivist'))).status).toBe(429);
  });

  test('each account has its own interval', async () => {
    await freeze();
    await intervals(100, 0);
    await knock();
    expect((await knock(await fetchToken(mock, 'archivist'))).status).toBe(400);
    expect((await knock()).status).toBe(429);
  });

  test('a request that the address clock refuses has already reset the user’s clock', async () => {
    await freeze();
    await intervals(100, 300);
    await knock();
    await advance(150);
    expect((await knock()).status).toBe(429);
    await intervals(100, 0);
    await advance(60);
    expect((await knock()).status).toBe(429);
    await advance(40);
    expect((await knock()).status).toBe(400);
  });

  test('a request that the user’s clock refuses does not change the address’s clock', async () => {
    await freeze();
    await intervals(300, 100);
    await knock();
    await advance(90);
    expect((await knock()).status).toBe(429);
    await advance(10);
    expect((await knock(await fetchToken(mock, 'archivist'))).status).toBe(400);
  });

  test('all write endpoints share the clocks', async () => {
    await freeze();
    await intervals(100, 100);
    expect((await send(smallestFind())).status).toBe(201);
    expect((await knock()).status).toBe(429);
    expectDetail(await send(smallestFind()), 429);
  });

  test('0 disables a scope', async () => {
    await freeze();
    await intervals(0, 0);
    for (let count = 0; count < 5; count += 1) expect((await knock()).status).toBe(400);
  });
});

describe('Rate limits (A-RATE-4, A-RATE-13 to A-RATE-18)', () => {
  const limit = (...rate_limits: Record<string, unknown>[]) => settings({ rate_limits });
  const ME = 'archaeologist@example.org';

  test('N requests in a window pass, the next gets 429 with the rest of the window', async () => {
    await freeze();
    await limit({ scope: 'user', value: ME, rate: '2/m' });
    expect([(await knock()).status, (await knock()).status]).toEqual([400, 400]);
    await advance(20_000);
    const refused = await knock();
    expectDetail(refused, 429);
    expect(refused.headers.get('retry-after')).toBe('40');
    await advance(39_999);
    expect((await knock()).status).toBe(429);
    await advance(1);
    expect((await knock()).status).toBe(400);
  });

  test('another user is not counted', async () => {
    await limit({ scope: 'user', value: ME, rate: '1/h' });
    await knock();
    expect((await knock()).status).toBe(429);
    expect((await knock(await fetchToken(mock, 'archivist'))).status).toBe(400);
  });

  test('an address rule counts each address of its block separately', async () => {
    await settings({
      trusted_proxies: ['127.0.0.1'],
      rate_limits: [{ scope: 'ip', value: '203.0.113.0/24', rate: '1/d' }],
    });
    const from = (address: string) =>
      send(smallestFind(), { headers: { 'x-forwarded-for': address } });
    expect((await from('203.0.113.1')).status).toBe(201);
    expect((await from('203.0.113.1')).status).toBe(429);
    expect((await from('203.0.113.2')).status).toBe(201);
    expect((await from('198.51.100.1')).status).toBe(201);
    expect((await from('198.51.100.1')).status).toBe(201);
  });

  test('a record rule is shared by all callers of PATCH and upload, and does not apply to import', async () => {
    await limit({ scope: 'record', rate: '1/m' });
    await knock();
    expect((await knock(await fetchToken(mock, 'archivist'))).status).toBe(429);
    expect((await setNumber(mock, 'C-202400101-N00002', '', token())).status).toBe(400);
    const upload = await fetch(`${mock.url}/api/pas/nalez/${FIND}/upload-foto`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token()}` },
    });
    expect(upload.status).toBe(429);
    expect((await send(smallestFind())).status).toBe(201);
    expect((await send(smallestFind())).status).toBe(201);
  });

  test('several rules for one user share a counter', async () => {
    await freeze();
    await limit(
      { scope: 'user', value: ME, rate: '3/m' },
      { scope: 'user', value: ME, rate: '3/h' },
    );
    expect((await knock()).status).toBe(400);
    expect((await knock()).status).toBe(429);
  });

  test('an inactive rule does nothing', async () => {
    await limit({ scope: 'user', value: ME, rate: '0/h', active: false });
    expect((await knock()).status).toBe(400);
  });

  test.each(['ten/m', '5', '5/week', ''])(
    'the malformed rate "%s" refuses everything, without Retry-After',
    async (rate) => {
      await limit({ scope: 'user', value: ME, rate });
      const answer = await knock();
      expectDetail(answer, 429);
      expect(answer.headers.get('retry-after')).toBeNull();
    },
  );

  test('a request refused by a rate has reset the interval’s clock', async () => {
    await freeze();
    await settings({
      min_request_intervals: { user_ms: 100, ip_ms: 0 },
      rate_limits: [{ scope: 'user', value: ME, rate: '1/m' }],
    });
    await knock();
    await advance(100);
    expect((await knock()).headers.get('retry-after')).toBe('60');
    await limit();
    await advance(50);
    expect((await knock()).status).toBe(429);
  });
});
