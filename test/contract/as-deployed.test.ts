import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { verifyRequests } from '../../mock-server/control/verify.ts';
import { Journal } from '../../mock-server/state/journal.ts';
import { smallestFind } from '../support/contract-find.ts';
import type { TestMock } from '../support/start-mock.ts';
import { useMock } from './contract-import.ts';
import { ask, parseError, parseToken } from './raw-harvest.ts';

const { mock, control, send } = await useMock();

const LIST = 'verb=ListIdentifiers&metadataPrefix=oai_dc';
const next = async (at: TestMock) =>
  `verb=ListIdentifiers&resumptionToken=${encodeURIComponent(parseToken((await ask(at, LIST)).text)?.text ?? '')}`;

describe('a setting as the deployed service takes it', () => {
  test.each([
    [{ allowed_schema_versions: [2.2, 2] }, { allowed_schema_versions: ['2.2', '2.0'] }],
    [{ record_lock_params: {} }, { record_lock_params: { retry_delay_ms: 500, max_retries: 10 } }],
    [{ min_request_intervals: {} }, { min_request_intervals: { user_ms: 0, ip_ms: 0 } }],
    [{ trusted_proxies: ['proxy.museum.example'] }, {}],
  ])('%j is accepted', async (settings, stored) => {
    const { status, value } = await control('PUT', '/settings', settings);
    expect([status, value]).toEqual([200, expect.objectContaining({ ...settings, ...stored })]);
    expect((await send(smallestFind())).status).toBe(201);
  });
});

describe('a resumption token', () => {
  test('is unknown to another tenant', async () => {
    const { value } = await control('POST', '/tenants', {});
    const tenant = { ...mock, server: value as TestMock['server'] };
    expect(parseError((await ask(tenant, await next(tenant))).text)).toBeUndefined();
    expect(parseError((await ask(tenant, await next(mock))).text)).toBe('badResumptionToken');
  });

  test('meets its fault, which requests without one do not use up', async () => {
    const faults = [{ endpoint: 'oai', fault: 'bad-resumption-token', when: { nth: 1 } }];
    await control('PUT', '/faults', faults);
    expect(parseError((await ask(mock, LIST)).text)).toBeUndefined();
    expect(parseError((await ask(mock, await next(mock))).text)).toBe('badResumptionToken');
  });
});

test('headers are spelled as in the contract', async () => {
  const { rawHeaders } = await new Promise<{ rawHeaders: string[] }>((resolve) => {
    request(`${mock.url}/api/uzivatel-info/`, resolve).end();
  });
  expect(rawHeaders.filter((_, at) => at % 2 === 0)).toEqual(
    expect.arrayContaining(['Content-Type', 'Content-Length', 'WWW-Authenticate', 'Date']),
  );
});

describe('a web page of another site', () => {
  const askFrom = async (site: string, path: string, method = 'GET', mode = 'no-cors') => {
    const answer = await new Promise<{ statusCode?: number; resume(): void }>((resolve) => {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': mode };
      request(`${mock.server.control_url}${path}`, { method, headers }, resolve).end();
    });
    answer.resume();
    return answer.statusCode;
  };

  test('cannot use the control interface, though it sends no Origin', async () => {
    expect(await askFrom('cross-site', '/reset', 'POST')).toBe(403);
    expect(await askFrom('cross-site', '/reset', 'POST', 'navigate')).toBe(403);
    expect(await askFrom('same-site', '/finds')).toBe(403);
  });

  test('may link to its page, which may use it', async () => {
    expect(await askFrom('cross-site', '/', 'GET', 'navigate')).toBe(200);
    expect(await askFrom('same-origin', '/reset', 'POST')).toBe(200);
    expect(await askFrom('none', '/finds')).toBe(200);
  });
});

describe('a gap between two writes', () => {
  const write = (journal: Journal, arrivedAtMs: number, lateMs: number) => {
    const sent = { method: 'POST', path: '/', address: '127.0.0.1', atMs: arrivedAtMs };
    const entry = journal.open(sent, true);
    journal.measureAddress(entry, { arrivedAtMs, lateMs });
    return entry;
  };

  test('has the allowance of the throttle: on a busy machine the first may have arrived earlier', async () => {
    const journal = new Journal(1024);
    write(journal, 1000, 97);
    expect(write(journal, 1003, 0).gap_ms).toBe(100);
    const holds = async (at_least: number) =>
      (await verifyRequests(journal, [], { request: {}, gap_ms: { at_least } })).ok;
    expect([await holds(100), await holds(101)]).toEqual([true, false]);
  });
});
