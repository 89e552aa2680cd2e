import { networkInterfaces } from 'node:os';
import { describe, expect, test } from 'vitest';
import { findLines, smallestFind } from '../support/contract-find.ts';
import { startMock } from '../support/start-mock.ts';
import { useMock } from './contract-import.ts';
import { fetchPages, parseRecords } from './raw-harvest.ts';

const { mock, control, send, finds } = await useMock();

const getError = (value: unknown) => (value as { error: string }).error;

const text = (value: string) => ({ '@lang': 'cs', '#': value });
const IN_PLACE_OF_A_TERM = {
  entity: 'osoba',
  body: {
    ident_cely: 'HES-000253',
    jmeno: 'Jan',
    prijmeni: 'Hes',
    vypis: 'J. Hes',
    vypis_cely: 'Jan Hes',
  },
};

async function allRecords(): Promise<ReadonlyMap<string, string>> {
  const pages = await fetchPages(mock, 'verb=ListRecords&metadataPrefix=oai_svc', {
    as: 'admin',
  });
  return parseRecords(pages.join(''));
}

describe('Health, state and reset', () => {
  test('health', async () => {
    expect((await control('GET', '/health')).value).toEqual({ status: 'ok' });
  });

  test('whatever can be read with GET also answers HEAD', async () => {
    for (const path of ['/health', '/state', '/', '/openapi.json']) {
      const head = await fetch(`${mock.server.control_url}${path}`, { method: 'HEAD' });
      expect([path, head.status, await head.text()]).toEqual([path, 200, '']);
    }
    expect((await fetch(`${mock.server.control_url}/reset`, { method: 'HEAD' })).status).toBe(405);
  });

  test('state counts finds, numbers and photographs, and lists who may import where', async () => {
    await send(findLines(3));
    const { value } = await control('GET', '/state');
    expect(value).toMatchObject({
      counts: {
        finds: 22,
        finds_by_state: { '1': 7, '2': 4, '3': 4, '4': 7 },
        finds_with_number: 11,
        photos: 9,
      },
      addresses: { base_url: mock.url, control_url: mock.server.control_url },
      training: false,
      deployed: false,
    });
    const { projects, accounts } = value as {
      projects: { ident: string; importable_by: string[] }[];
      accounts: { username: string; role: string }[];
    };
    expect(projects.find((project) => project.ident === 'C-202400101')?.importable_by).toEqual([
      'admin',
      'archaeologist',
      'archivist',
      'colleague',
      'researcher',
    ]);
    expect(accounts.find((account) => account.username === 'archivist')?.role).toBe('archivist');
  });

  test('reset restores the seed and clears faults, settings, clock and tokens', async () => {
    await send(smallestFind());
    await control('PUT', '/faults', [{ endpoint: 'import', fault: '503' }]);
    await control('PUT', '/settings', { access_mode: 'closed' });
    await control('POST', '/clock', { set: '2040-01-01T00:00:00Z' });
    expect((await control('POST', '/reset')).value).toMatchObject({ ms: expect.any(Number) });
    expect(await finds()).toBe(21);
    expect((await control('GET', '/faults')).value).toEqual([]);
    expect((await control('GET', '/settings')).value).toMatchObject({ access_mode: 'open' });
    expect((await control('GET', '/clock')).value).toMatchObject({
      now: expect.stringMatching(/^20[23]\d/),
    });
    expect((await send(smallestFind())).status).toBe(401);
  });

  test('a reset refuses a body, which would have no effect', async () => {
    const { status, value } = await control('POST', '/reset', { seed: 'empty' });
    expect([status, getError(value)]).toEqual([400, 'the body: must be empty']);
  });

  test('a reset restores every record of the seed, whatever was created, changed, deleted or replaced', async () => {
    const before = await allRecords();
    const writes = [
      [
        () => send(findLines(3)),
        () => control('POST', '/records', { ident: 'HES-000253', changes: { popis: text('x') } }),
        () => control('POST', '/records/OS-001507/delete'),
        () => control('POST', '/records/C-202400101/delete', { permanent: true }),
      ],
      [() => control('POST', '/records', IN_PLACE_OF_A_TERM)],
    ];
    for (const some of writes) {
      for (const write of some) expect((await write()).status).toBeLessThan(300);
      expect(await allRecords()).not.toEqual(before);
      await control('POST', '/reset');
      expect(await allRecords()).toEqual(before);
    }
  });

  test('unknown paths and methods are answered with those that exist', async () => {
    expect(await control('GET', '/nothing')).toMatchObject({ status: 404 });
    const { status, value } = await control('DELETE', '/clock');
    expect([status, getError(value)]).toEqual([405, expect.stringMatching(/GET, POST/)]);
  });

  test('listens on loopback only', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((address) => address?.family === 'IPv4' && !address.internal);
    await using open = await startMock({ host: '0.0.0.0' });
    const url = open.server.control_url;
    expect((await fetch(`${url}/health`)).status).toBe(200);
    if (outside === undefined) return;
    expect((await fetch(`${url.replace('127.0.0.1', outside.address)}/health`)).status).toBe(403);
  });
});

describe('Settings', () => {
  test.each([
    [{ access_mode: 'ajar' }, /access_mode.*open, whitelist_only, closed/],
    [{ access_rules: [{ rule_type: 'ip_blacklist', value: '300.1.1.1' }] }, /300\.1\.1\.1/],
    [{ access_rules: [{ rule_type: 'ip_blacklist', value: '10.0.0.0/99' }] }, /10\.0\.0\.0\/99/],
    [{ min_request_intervals: { user_ms: -1, ip_ms: 0 } }, /user_ms.*at least 0/],
    [{ rate_limits: [{ scope: 'record', value: 'x', rate: '1/m' }] }, /no value/],
    [{ rate_limits: [{ scope: 'user', rate: '1/m' }] }, /needs a value/],
    [{ page_size: 0 }, /page_size/],
    [{ record_lock_params: { retry_delay_ms: 0, max_retries: 5 } }, /retry_delay_ms.*at least 1/],
    [{ record_lock_ttl_ms: 0 }, /record_lock_ttl_ms.*at least 1/],
    [{ allowed_schema_versions: ['2'] }, /allowed_schema_versions\[0\].*2\.2/],
    [{ latency_ms: 1e12 }, /latency_ms/],
    [{ index_delay_ms: -1 }, /index_delay_ms/],
    [{ index_delay_ms: [9e15] }, /index_delay_ms/],
    [{ resumption_token_ms: 9e15 }, /resumption_token_ms/],
    [{ token_ms: 9e15 }, /token_ms/],
    [{ record_lock_ttl_ms: 9e15 }, /record_lock_ttl_ms/],
    [{ trusted_proxies: ['no name'] }, /trusted_proxies/],
    [{ colour: 'blue' }, /colour/],
    [null, /object/],
  ])('%j is refused with the reason, and nothing changes', async (patch, reason) => {
    const before = (await control('GET', '/settings')).value;
    const { status, value } = await control('PUT', '/settings', patch);
    expect([status, getError(value)]).toEqual([400, expect.stringMatching(reason)]);
    expect((await control('GET', '/settings')).value).toEqual(before);
  });

  test('latency delays requests that pass the gates; refusals are immediate', async () => {
    await control('PUT', '/settings', { latency_ms: 150 });
    const startedMs = performance.now();
    expect((await send(smallestFind())).status).toBe(201);
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(145);
    // Longer than a test may take.
    await control('PUT', '/settings', { latency_ms: 600_000 });
    expect((await send(smallestFind(), { token: 'unknown' })).status).toBe(401);
  });

  test('a body that is not JSON is refused', async () => {
    const response = await fetch(`${mock.server.control_url}/settings`, {
      method: 'PUT',
      body: '{',
    });
    expect(response.status).toBe(400);
  });
});
