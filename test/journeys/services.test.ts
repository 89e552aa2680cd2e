import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { configFile } from '../support/outbox-files.ts';
import { addressFlags, expectDone, type Home, type Service, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';

let first: RunningMock;
let second: RunningMock;
let home: Home;

beforeAll(async () => {
  [first, second] = await Promise.all([
    serveMock('--min-interval', '10'),
    serveMock('--min-interval', '10'),
  ]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));
beforeEach(async () => {
  await Promise.all([first, second].map((mock) => mock.control('POST', '/reset')));
  home = await signedIn(first, 'archaeologist', ['--set', 'min_interval_ms=10']);
});

type Listed = {
  readonly local_id: string;
  readonly state: string | null;
  readonly ident_cely: string | null;
}[];
type Seen = { readonly method: string; readonly path: string; readonly user: string | null };

const pointAt = (service: Service, name = 'mock', user = 'archaeologist') =>
  home.pas(
    'init',
    '--name',
    name,
    '--kind',
    'training',
    '--username',
    user,
    '--oai-auth',
    'basic',
    '--set',
    'min_interval_ms=10',
    ...addressFlags(service),
  );
const journal = async (mock: RunningMock): Promise<Seen[]> =>
  (await mock.control('GET', '/journal')) as unknown as Seen[];
const secretsFile = (): string => join(home.folder, 'pas', 'secrets.json');

describe('a service', () => {
  test('can be written in several spellings', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    const { port } = new URL(first.base_url);
    await expectDone(pointAt({ ...first, base_url: `HTTP://127.0.0.1:${port}///` }, 'other'));
    expect(await home.json<Listed>('list', '--profile', 'other')).toMatchObject([
      { state: 'accepted' },
    ]);
    await expectDone(home.pas('import', writeSeason(home, 1), '--profile', 'other'));
    await expectDone(home.pas('push', '--profile', 'other'));
    expect((await journal(first)).filter(({ path }) => path.endsWith('/import-xml'))).toHaveLength(
      1,
    );
  });

  test('is not moved to an address with a password, which is not repeated', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    for (const args of [
      [first.base_url, 'https://eva:kladivo-42@finds.example.org'],
      ['https://eva:kladivo-42@finds.example.org', second.base_url],
    ]) {
      const run = await home.pas('service', 'moved', ...args);
      expect([run.code, run.stdout + run.stderr]).toEqual([
        2,
        expect.not.stringContaining('kladivo-42'),
      ]);
    }
  });

  test('that has moved keeps its records and its password under the new address', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    const firstRun = await home.pas('service', 'moved', first.base_url, second.base_url);
    expect(firstRun).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    await expectDone(home.pas('service', 'moved', `${first.base_url}/`, second.base_url, '--yes'));
    const config = readFileSync(configFile(home), 'utf8');
    expect(config).toContain(`base_url = "${second.base_url}"`);
    expect(Object.keys(JSON.parse(readFileSync(secretsFile(), 'utf8')) as object)).toContain(
      `${second.base_url} archaeologist`,
    );
    expect(await home.json<Listed>('list')).toMatchObject([
      { state: 'accepted', ident_cely: expect.stringMatching(/N\d+$/) },
    ]);
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    expect((await journal(second)).filter(({ path }) => path.endsWith('/import-xml'))).toEqual([]);
  });

  test('whose documents change gets them rebuilt', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const config = configFile(home);
    writeFileSync(
      config,
      readFileSync(config, 'utf8').replace(
        '[profiles.mock]',
        '[profiles.mock]\nschema_version = "2.1"',
      ),
    );
    const refused = await home.pas('list');
    const advised =
      /pas service moved \S+ \S+ --prefix svc --schema-version 2\.1/.exec(refused.stderr)?.[0] ??
      '';
    expect(refused.code).toBe(12);
    await expectDone(home.pas(...advised.split(' ').slice(1), '--yes'));
    await expectDone(home.pas('validate'));
    expect((await expectDone(home.pas('show', 'K-1', '--xml'))).stdout).toContain('2.1');
  });

  test('stays known after its last profile is gone', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('profile', 'remove', 'mock', '--yes'));
    await expectDone(home.pas('service', 'moved', first.base_url, second.base_url, '--yes'));
    expect(await home.json('outbox', 'show', '--all')).toMatchObject([
      { service: second.base_url, profiles: [] },
    ]);
    const unknown = await home.pas('service', 'moved', first.base_url, second.base_url, '--yes');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining(second.base_url)]);
  });
});

test('a profile of another account has its own outbox', async () => {
  await expectDone(pointAt(first, 'other', 'archivist'));
  await expectDone(home.pas('import', writeSeason(home, 1)));
  expect(await home.json<Listed>('list', '--profile', 'other')).toEqual([]);
  const run = await home.with({ PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' }).pas('push');
  expect((await home.json<{ code: number }[]>('outbox', 'show', '--all')).length).toBe(2);
  expect(run.code).not.toBe(1);
});
