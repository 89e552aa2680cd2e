import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { fetchToken } from '../support/contract-requests.ts';
import { configFile, getOutboxName, outboxFolder } from '../support/outbox-files.ts';
import {
  accountFlags,
  expectEnded,
  findStates,
  type Home,
  initArgs,
  makeHome,
  type Run,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();
const OTHER = { PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' };

let home: Home;
beforeEach(async () => {
  home = await signedIn(mock.service);
  await importSeason(home, 2);
});

const tokenOfOther = async (): Promise<Home> =>
  home.with({
    PAS_PASSWORD: undefined,
    PAS_TOKEN: await fetchToken({ url: mock.service.base_url }, 'archivist'),
  });

const initFlags = (name: string, username: string): string[] => [
  ...initArgs(mock.service),
  '--name',
  name,
  ...accountFlags(username),
  ...WITHOUT_PAUSES,
];

/** The command that a message advises, without the `pas` before it. */
function advised({ stderr }: Run, begin: string): string[] {
  const [, command = ''] =
    new RegExp(`pas (${begin}[^\\n]*?)(?:\\.(?= |\\n|$)|\\n|$)`).exec(stderr) ?? [];
  if (command === '') throw new Error(`pas ${begin} is not advised:\n${stderr}`);
  return command.split(' ');
}

const getFlag = (command: readonly string[], flag: string): string =>
  command[command.indexOf(flag) + 1] ?? '';

/** Makes the profile that the message advises for the other account, and sends a find with it. */
async function sendFromAdvisedProfile(refused: Run, as: Home): Promise<void> {
  const init = advised(refused, 'init');
  await as.do(...init);
  const profile = getFlag(init, '--name');
  const season = readFileSync(writeSeason(home, 1), 'utf8');
  const table = home.file(
    'other.csv',
    season.replaceAll('K-', 'L-').replaceAll('2024-06-01', '2024-07-02'),
  );
  await as.do('import', table, '--profile', profile);
  expect(getOutboxName(home, profile)).not.toBe(getOutboxName(home));
  await as.do('push', '--profile', profile);
}

describe('an outbox that nobody has signed in for is not bound to a user other than the profile’s', () => {
  beforeEach(async () => {
    home = makeHome({ PAS_PASSWORD: 'archaeologist' });
    await home.do(...initFlags('mock', 'archaeologist'), '--oai-auth', 'none');
    await importSeason(home, 2);
  });

  const readAccount = async (): Promise<unknown> =>
    JSON.parse((await home.pas('doctor', '--offline', '--json')).stdout).outbox.account;

  test.each([
    ['PAS_USERNAME', async () => home.with(OTHER)],
    ['PAS_TOKEN', tokenOfOther],
  ])('of %s', async (name, make) => {
    const other = await make();
    const refused = await other.pas('push');
    await expectEnded(refused, 12, new RegExp(`is for the user archaeologist.*${name}`, 's'));
    expect(await readAccount()).toBe(null);
    await mock.expectMade({ finds: 0 });
    await sendFromAdvisedProfile(refused, other);
    await home.do('push');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  });

  test('and the other account can be queried without side effects', async () => {
    const whoamiRun = await home.with(OTHER).do('whoami');
    expect(whoamiRun.stderr).toMatch(/is for the user archaeologist/);
    expect(await readAccount()).toBe(null);
  });
});

describe('an outbox bound to one account', () => {
  beforeEach(() => home.do('push', 'K-1'));

  test.each([
    ['PAS_USERNAME', async () => home.with(OTHER)],
    ['PAS_TOKEN', tokenOfOther],
  ])(
    'is not pushed with another one of %s, which gets its own profile and outbox as advised',
    async (_name, make) => {
      const other = await make();
      const checked = await other.pas('doctor');
      expect([checked.code, checked.stdout]).toEqual([12, expect.stringContaining('pas init')]);
      const refused = await other.pas('push');
      await expectEnded(refused, 12);
      await sendFromAdvisedProfile(refused, other);
      expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
    },
  );

  test('is not given to another user, and both ways out work', async () => {
    const before = getOutboxName(home);
    const config = readFileSync(configFile(home), 'utf8');
    const refused = await home.pas(...initFlags('mock', 'archivist'));
    expect([refused.code, readFileSync(configFile(home), 'utf8')]).toEqual([12, config]);
    await sendFromAdvisedProfile(refused, home.with({ PAS_PASSWORD: 'archivist' }));
    expect(getOutboxName(home)).toBe(before);
    const renamed = await home
      .with({ PAS_PASSWORD: 'archivist' })
      .pas(...advised(refused, 'login'));
    await expectEnded(renamed, 12, 'sends as the account');
    await home.do('push');
  });

  test('is not shown by a profile whose user was changed in config.toml, which says where it is', async () => {
    const file = configFile(home);
    const text = readFileSync(file, 'utf8');
    const folder = outboxFolder(home);
    writeFileSync(file, text.replace('username = "archaeologist"', 'username = "archivist"'));
    const other = await home.with({ PAS_PASSWORD: 'archivist' }).pas('push');
    await expectEnded(other, 0, `no profile uses ${folder}`);
    writeFileSync(file, text);
    await home.do('push');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  });

  test('comes along to a new user name of its account, also where that has an outbox already', async () => {
    const { finds: before } = await mock.made();
    const flags = initFlags('mail', 'archaeologist@example.org');
    await home.do(...flags);
    const season = readFileSync(writeSeason(home, 1, { photos: true }), 'utf8');
    const table = home.file(
      'more.csv',
      season.replaceAll('K-', 'M-').replaceAll('2024-06-01', '2023-01-01'),
    );
    await home.do('import', table, '--profile', 'mail');
    await home.do('login', '--profile', 'mail', '--username', 'archaeologist');
    expect(Object.keys(await findStates(home)).sort()).toEqual(['K-1', 'K-2', 'M-1']);
    await home.do('push', '--profile', 'mail');
    expect((await mock.made()).finds).toBe(before + 2);
  });
});

const adviceFor = (name: string, run: Run, begin: string): string[] =>
  advised(run, begin).map((word) => (word === 'NAME' ? name : word));

test('a backup of a service that moved is restored on another machine as advised', async () => {
  const production = [...initFlags('mock', 'archaeologist'), '--kind', 'production'];
  home = makeHome({ PAS_PASSWORD: 'archaeologist' });
  await home.do(...production);
  await importSeason(home, 2);
  await home.do('push', 'K-1', '--yes');
  const backup = join(home.folder, 'evening.sqlite');
  await home.do('backup', backup);
  const other = makeHome({ PAS_PASSWORD: 'archaeologist' });
  await other.do(...production.map((word) => word.replace('127.0.0.1', 'localhost')));
  const refused = await other.pas('restore', backup);
  await expectEnded(refused, 12, 'not for http://localhost');
  await other.do(...adviceFor('old', refused, 'init'));
  await other.do('restore', backup, '--profile', 'old');
  await other.do(...adviceFor('old', refused, 'profile set'), '--yes');
  expect(await findStates(other)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
});

test('a backup is not restored for another account, and the advised profile takes it', async () => {
  await home.do('push', 'K-1');
  const backup = join(home.folder, 'evening.sqlite');
  await home.do('backup', backup);
  const archivist = home.with({ PAS_PASSWORD: 'archivist' });
  await archivist.do(...initFlags('archive', 'archivist'));
  const refused = await archivist.pas('restore', backup, '--profile', 'archive');
  await expectEnded(
    refused,
    12,
    /, archaeologist\), not for .*, archivist\)\. Nothing was changed/,
  );
  expect(await archivist.json('list', '--profile', 'archive')).toEqual([]);
  rmSync(outboxFolder(home), { recursive: true });
  await home.do(...adviceFor('again', refused, 'init'), '--set', 'min_interval_ms=0');
  await home.do('restore', backup, '--profile', 'again');
  await home.do('push', '--profile', 'again');
  await mock.expectMade({ finds: 2 });
});

test('a second profile with another user name of the account: both show and send the same finds', async () => {
  await home.do('push', 'K-1');
  await home.do(...initFlags('mail', 'archaeologist@example.org'));
  await home.do('login', '--profile', 'mail');
  expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
  await home.do('push');
  expect(await home.json('list', '--profile', 'mail')).toMatchObject([
    { state: 'accepted' },
    { state: 'accepted' },
  ]);
});

test('of two finds with one local id that a sign-in brings together, one is asked about at once', async () => {
  await home.do('push', 'K-1');
  await home.do(...initFlags('mail', 'archaeologist@example.org'));
  const season = readFileSync(writeSeason(home, 1), 'utf8');
  const table = home.file('other.csv', season.replace('K-1', 'K-2').replace('pole 1', 'les'));
  await home.do('import', table, '--profile', 'mail');
  await home.do('login', '--profile', 'mail');
  const { stdout } = await home.pas('status');
  expect(stdout).toMatch(/another find with the same local id is or was here \(K-2(-2)?\)/);
  const numbers = home.file('numbers.csv', 'local_id;evidencni_cislo\nK-2;MB 2\n');
  expect((await home.pas('number', 'import', numbers)).stdout).toContain('K-2 is ambiguous');
});

test('a sign-in as another account leaves a profile without a user name unchanged', async () => {
  home = makeHome({ PAS_PASSWORD: 'archaeologist', PAS_USERNAME: 'archaeologist' });
  const flags = initFlags('mock', '').filter((flag) => flag !== '--username' && flag !== '');
  await home.do(...flags);
  await importSeason(home, 2);
  await home.do('push', 'K-1');
  const file = configFile(home);
  const refused = await home.with(OTHER).pas('login', '--username', 'archivist');
  expect([refused.code, readFileSync(file, 'utf8')]).toEqual([
    12,
    expect.not.stringContaining('username'),
  ]);
  await home.do('login', '--username', 'archaeologist');
  expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
  await home.do('push');
});

test('a sign-in keeps the harvesting sign-in that the profile names', async () => {
  const fetchOaiAuth = async (): Promise<unknown> =>
    (await home.json<{ oaiAuth: string }>('profile', 'show')).oaiAuth;
  await home.do(...initFlags('mock', 'archaeologist'), '--oai-auth', 'none');
  await home.do('login');
  expect(await fetchOaiAuth()).toBe('none');
  const pushed = await home.do('push');
  await home.do(...advised(pushed, 'profile set'));
  expect(await fetchOaiAuth()).toBe('basic');
  const file = configFile(home);
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^oai_auth = .*\n/m, ''));
  await home.do('login');
  expect(await fetchOaiAuth()).toBe('basic');
});
