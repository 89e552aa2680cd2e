import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type MockServerOptions, startMockServer } from '../../mock-server/server.ts';
import { makeDocument, smallestFind } from '../support/contract-find.ts';
import { fetchToken, importXml } from '../support/contract-requests.ts';
import { PROJECT } from '../support/run-pas.ts';
import { startMock } from '../support/start-mock.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { useMock } from './contract-import.ts';

const folder = tempFolder();

describe('options of the library', () => {
  test.each<[unknown, RegExp]>([
    [{ pageSize: 0 }, /options\.pageSize: must be at least 1/],
    [{ pageSize: 2.5 }, /options\.pageSize: must be a whole number/],
    [{ port: '8099' }, /options\.port: must be a number/],
    [{ minInterval: 0 }, /unknown key "minInterval"; known are .*minIntervalMs/],
    [{ constructor: 1 }, /unknown key "constructor"/],
    [
      { faults: [{ endpoint: 'import', fault: 'throtle' }] },
      /options\.faults\[0\]\.fault: must be one of/,
    ],
    [{ schemaVersions: ['abc'] }, /options\.schemaVersions\[0\]: must be a version/],
    [{ publicUrl: 'mock.example' }, /options\.publicUrl: must be an address/],
    [{ prefix: 'xsi' }, /options\.prefix: .*taken/],
    [{ controlToken: ' words' }, /options\.controlToken: .*blank/],
  ])('%j are refused with the place and the reason', async (options, reason) => {
    await expect(startMockServer(options as MockServerOptions)).rejects.toThrow(reason);
  });

  test('addresses may end with a slash', async () => {
    await using mock = await startMock({
      publicUrl: 'http://mock.example/',
      schemaBase: 'http://schemas.example/svc/',
    });
    const { base_url, schema_base, control_url } = mock.server;
    expect([base_url, schema_base, control_url]).toEqual([
      'http://mock.example',
      'http://schemas.example/svc',
      'http://mock.example/__mock__',
    ]);
  });
});

test.each(['two words', 'žluťoučký kůň', 'a:b'])(
  'a control token "%s" is accepted as Bearer and as a password',
  async (controlToken) => {
    await using mock = await startMock({ controlToken });
    const state = `${mock.server.control_url}/state`;
    const bytes = Buffer.from(controlToken);
    const ask = async (authorization: string) =>
      (await fetch(state, { headers: { authorization } })).status;
    expect([
      await ask(`Bearer ${bytes.toString('latin1')}`),
      await ask(`Basic ${Buffer.from(`me:${controlToken}`).toString('base64')}`),
      await ask(`Bearer ${bytes.toString('latin1')}x`),
    ]).toEqual([200, 200, 401]);
  },
);

test('a seed file may have a byte order mark', async () => {
  const seed = join(folder, 'seed');
  cpSync(join(PROJECT, 'mock-server', 'seed', 'empty'), seed, { recursive: true });
  const accounts = join(seed, 'accounts.json');
  writeFileSync(accounts, `\uFEFF${readFileSync(accounts, 'utf8')}`);
  await using mock = await startMock({ seed });
  expect((await mock.control('GET', '/state')).status).toBe(200);
});

describe('the control interface', async () => {
  const { mock, control, send } = await useMock();

  test.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    'refuses the key "%s"',
    async (key) => {
      const body = `{${JSON.stringify(key)}: 1}`;
      for (const path of ['/settings', '/clock', '/verify', '/tenants']) {
        const answer = await fetch(mock.server.control_url + path, {
          method: path === '/settings' ? 'PUT' : 'POST',
          body,
        });
        expect([path, answer.status, await answer.text()]).toEqual([
          path,
          400,
          expect.stringContaining(`unknown key`),
        ]);
      }
    },
  );

  test.each(['__proto__', 'constructor'])(
    'refuses a change of a child "%s" that no record has',
    async (name) => {
      const body = `{"ident": "HES-000253", "changes": {"${name}": "x"}}`;
      const answer = await fetch(`${mock.server.control_url}/records`, { method: 'POST', body });
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining(name)]);
    },
  );

  test('reports that there is no record to lock', async () => {
    expect(await control('POST', '/records/C-202400101-N99999/lock', { ms: 1000 })).toEqual({
      status: 404,
      value: { error: 'there is no record C-202400101-N99999' },
    });
  });

  const imported = async (name: string) =>
    (await send(smallestFind(), { token: await fetchToken(mock, name) })).status;

  test('accepts a user name in rules as well as an e-mail address', async () => {
    for (const value of ['Archaeologist', 'archaeologist@example.org']) {
      await mock.reset({ access_rules: [{ rule_type: 'user_blacklist', value }] });
      expect([await imported('archaeologist'), await imported('archivist')]).toEqual([403, 201]);
      await mock.reset({
        access_mode: 'whitelist_only',
        access_rules: [{ rule_type: 'user_whitelist', value }],
      });
      expect([await imported('archaeologist'), await imported('archivist')]).toEqual([201, 403]);
      await mock.reset({ rate_limits: [{ scope: 'user', value, rate: '1/h' }] });
      expect([await imported('archaeologist'), await imported('archaeologist')]).toEqual([
        201, 429,
      ]);
    }
  });
});

describe('a clock that is set back', () => {
  const DAY_MS = 86_400_000;

  test('does not lengthen intervals, windows or locks', async () => {
    await using mock = await startMock({ minIntervalMs: 1000 });
    const token = await fetchToken(mock, 'archaeologist');
    await mock.settings({
      rate_limits: [{ scope: 'user', value: 'archaeologist@example.org', rate: '3/m' }],
    });
    const send = async () => {
      const { status, headers } = await importXml(mock, makeDocument(mock, smallestFind()), {
        token,
      });
      return [status, Number(headers.get('retry-after') ?? 0)];
    };
    await mock.clock({ frozen: true });
    expect(await send()).toEqual([201, 0]);
    await mock.clock({ advance_ms: -25 * 3_600_000 });
    expect(await send()).toEqual([429, 1]);
    await mock.clock({ advance_ms: 1000 });
    expect(await send()).toEqual([201, 0]);
    await mock.clock({ set: Date.now() - 300 * DAY_MS });
    await mock.clock({ advance_ms: 1000 });
    expect(await send()).toEqual([201, 0]);
    await mock.clock({ advance_ms: 1000 });
    expect(await send()).toEqual([429, 57]);
    const { value } = await mock.control('GET', '/journal');
    expect((value as { gap_ms: number | null }[]).map(({ gap_ms }) => gap_ms)).toEqual([
      null,
      null,
      0,
      1000,
      1000,
      1000,
    ]);
  });

  test('leaves the duration of a lock unchanged', async () => {
    await using mock = await startMock();
    await mock.settings({
      record_lock_params: { retry_delay_ms: 1, max_retries: 1 },
    });
    const lock = '/records/C-202400101-N00001/lock';
    await mock.clock({ frozen: true });
    await mock.control('POST', lock, { ms: 1000 });
    await mock.clock({ advance_ms: -DAY_MS });
    await mock.clock({ advance_ms: 1000 });
    const token = await fetchToken(mock, 'archaeologist');
    const answer = await fetch(
      `${mock.url}/api/pas/nalez/C-202400101-N00001/evidencni-cislo?evidencni_cislo=Z1`,
      {
        method: 'PATCH',
        headers: { authorization: `Bearer ${token}` },
      },
    );
    expect(answer.status).toBe(200);
  });
});
