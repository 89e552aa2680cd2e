import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { pasAsOrdinaryUser } from '../support/hostile-disk.ts';
import type { Imported } from '../support/json-output.ts';
import { findPhotographCopies } from '../support/outbox-files.ts';
import { expectEnded, INIT_OFFLINE, PROJECT } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
// An identical find of another test would be asked about.
const home = useHome(mock);

describe('a path that cannot be used', () => {
  const table = join(PROJECT, 'examples', 'museum', 'nalezy.csv');
  test.each([
    ['import, missing', /There is no file nowhere\.csv/, ['import', 'nowhere.csv']],
    ['photo add', /needs a file name/, ['photo', 'add', 'K-1', '-']],
    [
      'photo match, missing',
      /The folder nowhere does not exist/,
      ['photo', 'match', 'nowhere', '--yes'],
    ],
    ['photo match, a file', /is a file, not a folder/, ['photo', 'match', table, '--yes']],
    ['validate, a folder', /is a folder/, ['validate', PROJECT]],
    ['validate, a table', /pas import \S+ --dry-run/, ['validate', table]],
    ['export to a folder', /is a folder/, ['export', '--out', PROJECT, '--yes']],
    ['export to a device', /is not a file/, ['export', '--out', '/dev/null', '--yes']],
    [
      'export to a folder that is missing',
      /The folder nowhere/,
      ['export', '--out', 'nowhere/finds does not exist.csv'],
    ],
    ['issues to stdout', /needs the name of a file/, ['import', table, '--issues-to', '-']],
    ['backup to stdout', /is a file, not standard input or output/, ['backup', '-']],
    ['restore from stdin', /is a file, not standard input or output/, ['restore', '-']],
    [
      'a map that is missing',
      /There is no file nowhere/,
      ['import', table, '--map', 'nowhere.toml'],
    ],
    [
      'a map and a table from one standard input',
      /standard input is empty/,
      ['import', '-', '--map', '-'],
    ],
  ])('%s: one clear error', (_, words, args) => expectEnded(home.pas(...args), 2, words));
});

test('a folder that must not be read is named itself, not the data folder of pas', () => {
  const folder = join(home.folder, 'private');
  mkdirSync(folder);
  chmodSync(folder, 0);
  const { code, stderr } = pasAsOrdinaryUser(home, 'import', folder);
  chmodSync(folder, 0o700);
  expect([code, stderr]).toEqual([
    12,
    expect.stringContaining(`pas: ${folder}: permission denied`),
  ]);
});

describe('a photograph', () => {
  beforeEach(async () => {
    await importSeason(home, 1);
  });

  test('in a table may not lead out of the table’s folder, also not through a link', async () => {
    mkdirSync(join(home.folder, 'elsewhere'));
    writeFileSync(join(home.folder, 'elsewhere', 'secret.png'), tinyPng(2));
    mkdirSync(join(home.folder, 'season'));
    symlinkSync(join(home.folder, 'elsewhere'), join(home.folder, 'season', 'photos'));
    for (const name of ['../elsewhere/secret.png', 'photos/secret.png']) {
      const table = home.file(
        'season/table.csv',
        `local_id;stav;projekt;geom_system;pristupnost;photos\nK-9;1;C-202400101;4326;HES-000867;${name}`,
      );
      const run = await home.pas('import', table, '--json');
      await expectEnded(run, 3);
      const report = JSON.parse(run.stdout) as Imported;
      expect(report.photos).toBe(0);
      expect(report.issues.find(({ column }) => column === 'photos')?.message).toMatch(/folder/);
    }
  });

  test.each<readonly [string, (copy: string) => void]>([
    ['changed', (copy) => writeFileSync(copy, tinyPng(4))],
    ['removed', (copy) => rmSync(copy)],
  ])(
    'that was %s after it was queued is reported, and sent once it is added again',
    async (_, spoil) => {
      const queued = home.file('queued.png', tinyPng(3));
      await home.do('photo', 'add', 'K-1', queued);
      for (const copy of findPhotographCopies(home)) spoil(copy);
      const run = await home.pas('push', '--json');
      await expectEnded(run, 3);
      expect(run.stdout).toMatch(/removed or changed/);
      expect((await home.pas('status')).stdout).not.toContain('the service refused');
      await mock.expectMade({ photos: 0 });
      await home.do('photo', 'add', 'K-1', queued);
      await home.do('push');
      await mock.expectMade({ photos: 1 });
    },
  );
});

test('a state folder that is a file is named, with its variable', () => {
  home.file('state-file', '');
  const elsewhere = home.with({ PAS_STATE: join(home.folder, 'state-file') });
  return expectEnded(elsewhere.pas('push'), 12, /state-file.*\n.*PAS_STATE for the state/);
});

describe('a configuration', () => {
  test('without the requested profile', () =>
    expectEnded(home.pas('status', '--profile', 'nobody'), 12, 'no profile nobody'));
  test('that is not TOML, which shows the line without the password in it', async () => {
    home.file('pas/config.toml', '\nproxy = "http://eva:hunter2@proxy.example:3128\n');
    const run = await home.pas('status');
    await expectEnded(run, 12, /config\.toml, line 2: this is not valid TOML/);
    expect(run.stderr).not.toContain('hunter2');
  });
  test('with a key that does not exist', async () => {
    home.file('pas/config.toml', '[profiles.a]\nbase_ulr = "https://x.example"\n');
    await expectEnded(home.pas('status'), 12, /unknown key base_ulr/);
  });
  test.each([
    ['the password', '--base-url', 'http://finds.example.org'],
    ['the same for harvesting', '--oai-base', 'http://127.0.0.1.evil.example/oai'],
  ])('that would send %s unencrypted', async (_what, flag, address) => {
    await expectEnded(home.pas(...INIT_OFFLINE, flag, address), 12, /unencrypted/);
  });
  test.each(['base-url', 'oai-base', 'schema-base'])(
    'with a password in --%s, which is not repeated',
    async (flag) => {
      const run = await home.pas(...INIT_OFFLINE, `--${flag}`, 'https://eva:kladivo-42@x.example');
      await expectEnded(run, 12);
      expect(run.stdout + run.stderr).not.toContain('kladivo-42');
    },
  );
});

test('a command in a folder that was removed says to go to another one', () => {
  const script = 'rmdir "$PWD" && exec "$0" "$1" list';
  const run = spawnSync('sh', ['-c', script, process.execPath, join(PROJECT, 'bin', 'pas.js')], {
    cwd: tempFolder(),
    encoding: 'utf8',
  });
  expect([run.status, run.stderr]).toEqual([
    2,
    'pas: The current folder was removed.\n     Go to another one first: cd\n',
  ]);
});

test('a second login with a wrong password is refused with 4 and keeps the old password', async () => {
  const run = await home.with({ PAS_PASSWORD: 'wrong' }).pas('login');
  await expectEnded(run, 4);
  await home.do('whoami');
});

test('a production profile is not written to without confirmation', async () => {
  await home.init(
    { base_url: 'https://finds.example.org', schema_base: mock.service.schema_base },
    '--name',
    'real',
    '--kind',
    'production',
  );
  await expectEnded(home.pas('push', '--profile', 'real'), 2, /production.*\n.*--yes/);
});

test('a file name cannot forge a line in the output of any command', async () => {
  const name = 'a\n29 finds accepted\u2028x\u061c';
  const table = home.file(
    `${name}.csv`,
    'local_id;projekt;"a\n29 finds accepted"\nK-1;C-202400101;"\u0000"\n',
  );
  const photo = home.file(`${name}.jpg`, 'none');
  home.file(`${name}.xml`, '<x/>');
  for (const args of [
    ['import', table, '--dry-run'],
    ['import', table],
    ['import', `${name}.none`],
    ['list'],
    ['status'],
    ['show', name],
    ['validate', table],
    ['validate', `${name}.xml`],
    ['photo', 'add', 'K-1', photo],
    ['photo', 'add', name, photo],
    ['export', table],
    ['export', 'finds.csv', '--columns', name],
    ['number', 'import', table],
    ['backup', photo],
    ['restore', table],
    ['vocab', 'list', name],
    ['harvest', name],
    ['remove', name],
    ['edit', name, '--set', 'stav=1'],
    ['profile', name],
    ['photo', 'match', home.folder],
    ['report', '--out', table],
  ]) {
    const { stdout, stderr } = await home.pas(...args);
    const forged = `${stdout}\n${stderr}`
      .split(/[\n\r\u0085\u2028\u2029]/)
      .filter((line) => line.startsWith('29 finds'));
    expect([args[0], forged]).toEqual([args[0], []]);
  }
});
