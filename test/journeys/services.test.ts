import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openSqlite } from '../../src/store/database.ts';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { tokenOf } from '../support/contract-requests.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { addressFlags, expectDone, type Home, type Service, signedIn } from '../support/run-pas.ts';

hostRuns();

let first: RunningMock;
let second: RunningMock;
let home: Home;

beforeAll(async () => {
  [first, second] = await Promise.all([serveMock('--min-interval', '10'), serveMock('--min-interval', '10')]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));
beforeEach(async () => {
  await Promise.all([first, second].map((mock) => mock.control('POST', '/reset')));
  home = await signedIn(first, 'archaeologist', ['--min-interval-ms', '10']);
});

type Listed = { readonly local_id: string; readonly state: string | null; readonly ident_cely: string | null }[];
type Seen = { readonly method: string; readonly path: string; readonly user: string | null };

const pointAt = (service: Service, name = 'mock', user = 'archaeologist') =>
  home.pas(
    ...['init', '--name', name, '--kind', 'training', '--username', user, '--oai-auth', 'basic', '--min-interval-ms', '10'],
    ...addressFlags(service),
  );
const journal = async (mock: RunningMock): Promise<Seen[]> => (await mock.control('GET', '/journal')) as unknown as Seen[];
const secretsFile = (): string => join(home.folder, 'pas', 'secrets.json');
const inOutbox = <T>(sql: string): T[] => {
  using database = disposable(openSqlite(join(home.folder, 'pas', 'outbox.sqlite'), { readonly: true }));
  return database.prepare(sql).all() as T[];
};
const disposable = (database: Database) => Object.assign(database, { [Symbol.dispose]: () => void database.close() });

describe('a profile that comes to name another service', () => {
  test('shows none of the first one’s records, and says what has happened', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    await expectDone(pointAt(second));
    const listed = await home.pas('list', '--json');
    expect(listed.stderr).toMatch(new RegExp(`Profile mock named ${first.base_url} until now and names ${second.base_url}`));
    expect(listed.stderr).toContain(`pas service moved ${first.base_url} ${second.base_url}`);
    expect((JSON.parse(listed.stdout) as Listed).map(({ state, ident_cely }) => [state, ident_cely])).toEqual([[null, null]]);
    expect((await home.pas('list')).stderr).not.toContain('until now');
    expect(await home.json('service', 'list')).toMatchObject([
      { service: first.base_url, profiles: [], accepted: 1 },
      { service: second.base_url, profiles: ['mock'], accepted: 0 },
    ]);
  });

  test.each(['init', 'config.toml'] as const)('sends it no token, number or photograph of the first (by %s)', async (how) => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
    await expectDone(home.pas('photo', 'add', 'K-1', home.file('late.png', tinyPng(3))));
    if (how === 'init') await expectDone(pointAt(second));
    else {
      const config = join(home.folder, 'pas', 'config.toml');
      const text = readFileSync(config, 'utf8');
      writeFileSync(config, text.replaceAll(first.base_url, second.base_url));
    }
    const withoutPassword = home.with({ PAS_PASSWORD: undefined });
    const push = await withoutPassword.pas('push', '--only', 'number,photo');
    expect(push.stderr).toContain('until now');
    expect((await withoutPassword.pas('whoami')).code).toBe(4);
    const asked = (await journal(second)).filter(({ path }) => !path.startsWith('/__mock__'));
    expect(asked).toEqual([]);
    if (how === 'init') await expectDone(pointAt(first));
    else
      writeFileSync(
        join(home.folder, 'pas', 'config.toml'),
        readFileSync(join(home.folder, 'pas', 'config.toml'), 'utf8').replaceAll(second.base_url, first.base_url),
      );
    await expectDone(home.pas('push'));
    expect(await home.json('status')).toMatchObject({ entries: { number: { accepted: 1 }, photo: { accepted: 1 } } });
  });
});

describe('one service', () => {
  test('may be spelt in many ways', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    const { port } = new URL(first.base_url);
    await expectDone(pointAt({ ...first, base_url: `HTTP://127.0.0.1:${port}///` }, 'other'));
    expect(await home.json<Listed>('list', '--profile', 'other')).toMatchObject([{ state: 'accepted' }]);
    await expectDone(home.pas('import', writeSeason(home, 1), '--profile', 'other'));
    await expectDone(home.pas('push', '--profile', 'other'));
    expect(await home.json('service', 'list')).toMatchObject([{ service: first.base_url, profiles: ['mock', 'other'] }]);
    expect((await journal(first)).filter(({ path }) => path.endsWith('/import-xml'))).toHaveLength(1);
  });

  test('is not named as training by one profile and as production by another', async () => {
    const flags = ['--name', 'real', '--kind', 'production', ...addressFlags(first)];
    const made = await home.pas('init', ...flags);
    expect([made.code, made.stderr]).toEqual([12, expect.stringMatching(/name one service, .* but differ in its kind: /)]);
  });

  test('takes a photograph that was queued under another profile of it', async () => {
    await expectDone(pointAt(first, 'other', 'archivist'));
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('photo', 'add', 'K-1', home.file('late.png', tinyPng(3)), '--profile', 'other'));
    await expectDone(home.pas('push', '--any-account'));
    expect(await home.json('status')).toMatchObject({ entries: { import: { accepted: 1 }, photo: { accepted: 1 } } });
  });

  test('is not moved to an address with a password in it, which is not repeated', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    for (const args of [
      [first.base_url, 'https://eva:kladivo-42@finds.example.org'],
      ['https://eva:kladivo-42@finds.example.org', second.base_url],
    ]) {
      const run = await home.pas('service', 'moved', ...args);
      expect([run.code, run.stdout + run.stderr]).toEqual([2, expect.not.stringContaining('kladivo-42')]);
    }
  });

  test('that has moved keeps its records under its new address', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    await expectDone(pointAt(second));
    const asked = await home.pas('service', 'moved', first.base_url, second.base_url);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') });
    await expectDone(home.pas('service', 'moved', `${first.base_url}/`, second.base_url, '--yes'));
    expect(await home.json<Listed>('list')).toMatchObject([{ state: 'accepted', ident_cely: expect.stringMatching(/N\d+$/) }]);
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    expect((await journal(second)).filter(({ path }) => path.endsWith('/import-xml'))).toEqual([]);
  });
});

describe('every attempt names its account', () => {
  const makers = () =>
    inOutbox<{ ident: string | null }>(
      'select (select ident_cely from accounts where accounts.id = account_id) as ident from attempts order by id',
    ).map(({ ident }) => ident);

  test('also where the environment gives user name and password, or a token', async () => {
    await expectDone(home.pas('import', writeSeason(home, 3)));
    const [own, given] = [
      await home.json<{ ident_cely: string }>('whoami'),
      { PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' },
    ];
    const other = await home.with(given).json<{ ident_cely: string }>('whoami');
    await expectDone(home.pas('push', 'K-1'));
    await expectDone(home.with(given).pas('push', 'K-2'));
    const token = await tokenOf({ url: first.base_url }, 'archivist');
    await expectDone(home.with({ PAS_TOKEN: token }).pas('push', 'K-3'));
    expect(makers()).toEqual([own.ident_cely, other.ident_cely, other.ident_cely]);
  });

  test('and a token from outside that runs out is not replaced by one of the profile’s account', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const token = await tokenOf({ url: first.base_url }, 'archivist');
    await first.control('PUT', '/faults', [{ endpoint: 'import', fault: 'token-expired', times: 1 }]);
    const run = await home.with({ PAS_TOKEN: token }).pas('push', 'K-1');
    expect([run.code, run.stderr]).toEqual([4, expect.stringContaining('PAS_TOKEN')]);
    expect(await home.json<Listed>('list')).toMatchObject([{ state: 'queued' }]);
    const archivist = makers();
    expect(archivist).toHaveLength(1);
    await expectDone(home.with({ PAS_TOKEN: await tokenOf({ url: first.base_url }, 'archivist') }).pas('push', 'K-1'));
    expect(makers()).toEqual([...archivist, ...archivist]);
  });

  test('and a pull with a token from outside leaves the user name to its own account', async () => {
    await expectDone(
      home.pas(
        ...['init', '--name', 'mock', '--kind', 'production', '--username', 'archaeologist', '--oai-auth', 'bearer'],
        ...['--min-interval-ms', '10', ...addressFlags(first)],
      ),
    );
    await expectDone(home.pas('import', writeSeason(home, 2)));
    await expectDone(home.pas('push', 'K-1', '--yes'));
    const token = await tokenOf({ url: first.base_url }, 'archivist');
    await expectDone(home.with({ PAS_TOKEN: token }).pas('pull'));
    await expectDone(home.pas('push', 'K-2', '--yes'));
    const [own] = makers();
    expect(makers()).toEqual([own, own]);
  });

  test('and what one account queued is not sent in the name of another', async () => {
    await expectDone(home.pas('import', writeSeason(home, 2)));
    const run = await expectDone(home.with({ PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' }).pas('push'));
    expect(run.stderr).toMatch(/2 entries here were queued by archaeologist/);
    expect(makers()).toEqual([]);
    await expectDone(home.pas('push'));
    expect(makers()).toHaveLength(2);
  });

  test('an account without rights in the environment sends nothing and changes nothing', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const run = await home.with({ PAS_USERNAME: 'blocked', PAS_PASSWORD: 'blocked' }).pas('push', 'K-1');
    expect([run.code, run.stderr]).toEqual([4, expect.stringMatching(/blocked|not allowed|refuses/)]);
    expect(await home.json<Listed>('list')).toMatchObject([{ state: 'queued' }]);
  });

  test('a user name that is another account’s than before ends the push before anything is sent', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const database = disposable(openSqlite(join(home.folder, 'pas', 'outbox.sqlite')));
    database.prepare(`update accounts set ident_cely = 'U-999999'`).run();
    database[Symbol.dispose]();
    const run = await home.pas('push');
    expect([run.code, run.stderr]).toEqual([12, expect.stringMatching(/is the account U-\d+; until now it was U-999999/)]);
    expect((await journal(first)).filter(({ path }) => path.endsWith('/import-xml'))).toEqual([]);
    await expectDone(home.pas('login'));
    await expectDone(home.pas('push'));
  });
});

test('the services of an outbox are listed, told to have moved and backed up where no profile names one any more', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('push'));
  await expectDone(home.pas('profile', 'remove', 'mock', '--yes'));
  expect(await home.json('service', 'list')).toMatchObject([{ service: first.base_url, accepted: 1 }]);
  await expectDone(home.pas('service', 'moved', first.base_url, second.base_url, '--yes'));
  await expectDone(home.pas('backup', join(home.folder, 'copy.sqlite')));
  expect((await home.with({ PAS_HOME: join(home.folder, 'other') }).pas('service', 'list')).stderr).toMatch(/There is no outbox/);
});

describe('what an earlier pas kept under the name of a profile', () => {
  /** As if everything had been written by a pas that knew profiles only. */
  const forget = (name: string): void => {
    const database = disposable(openSqlite(join(home.folder, 'pas', 'outbox.sqlite')));
    database.prepare('update services set address = null, known_as = ?').run(name);
    database[Symbol.dispose]();
  };

  test('is given to the service that the name means', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    forget('mock');
    expect(await home.json<Listed>('list')).toMatchObject([{ state: 'accepted' }]);
  });

  test('is asked about where no profile has that name any more, before anything is sent', async () => {
    await expectDone(home.pas('import', writeSeason(home, 1)));
    await expectDone(home.pas('push'));
    forget('gone');
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const push = await home.pas('push');
    expect([push.code, push.stderr]).toEqual([12, expect.stringContaining('pas service moved gone ADDRESS')]);
    await expectDone(home.pas('service', 'moved', 'gone', first.base_url, '--yes'));
    await expectDone(home.pas('push'));
    expect((await journal(first)).filter(({ path }) => path.endsWith('/import-xml'))).toHaveLength(1);
    expect(await home.json<Listed>('list')).toMatchObject([{ state: 'accepted' }]);
  });

  test('has its password and token kept for the account, and not for whatever the name means later', async () => {
    const kept = JSON.parse(readFileSync(secretsFile(), 'utf8')) as Record<string, unknown>;
    writeFileSync(secretsFile(), JSON.stringify({ mock: Object.values(kept)[0] }));
    const quiet = home.with({ PAS_PASSWORD: undefined });
    await expectDone(quiet.pas('whoami'));
    await expectDone(pointAt(second));
    expect((await quiet.pas('whoami')).code).toBe(4);
    expect((await journal(second)).filter(({ path }) => path.startsWith('/api'))).toEqual([]);
  });
});
