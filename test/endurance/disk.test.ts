import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { everythingIn, pasAsOrdinaryUser } from '../support/hostile-disk.ts';
import { outboxFile, outboxFolder } from '../support/outbox-files.ts';
import {
  expectEnded,
  type Home,
  INIT_OFFLINE,
  jsonLines,
  PROJECT,
  type Run,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { useMockProcess } from '../support/use-mock.ts';

const mock = useMockProcess('--min-interval', '10');
let home: Home;
let outbox: string;

beforeEach(async () => {
  home = await signedIn(mock.service, ['--set', 'min_interval_ms=20']);
  outbox = outboxFile(home);
});

test('a database locked by another program is a temporary error, exit 5', async () => {
  await importSeason(home, 2);
  const other = openSqlite(outbox);
  other.exec('begin exclusive');
  await expectEnded(
    await home.pas('import', writeSeason(home, 3)),
    5,
    /another program is writing[\s\S]*run the command again/,
  );
  other.exec('rollback');
  other.close();
  await importSeason(home, 3);
});

describe('a data folder', () => {
  test('that is read-only stops every command, exit 12', async () => {
    await importSeason(home, 2);
    pasAsOrdinaryUser(home, 'status');
    chmodSync(outbox, 0o400);
    for (const folder of [outboxFolder(home), join(home.folder, 'pas')]) chmodSync(folder, 0o500);
    for (const args of [['import', 'season.csv'], ['push'], ['status'], INIT_OFFLINE]) {
      const run = pasAsOrdinaryUser(
        home,
        ...args.map((arg) => (arg === 'season.csv' ? join(home.folder, arg) : arg)),
      );
      await expectEnded(run, 12, /permission|cannot be written|cannot be opened/);
    }
    const doctor = pasAsOrdinaryUser(home, 'doctor', '--offline');
    await expectEnded(doctor, 12);
    expect(doctor.stdout).toMatch(/✗ home .*cannot be written/);
    for (const folder of [outboxFolder(home), join(home.folder, 'pas')]) chmodSync(folder, 0o700);
  });

  test('and a read-only folder of the shared pace is named', async () => {
    await importSeason(home, 1);
    const state = join(home.folder, 'state');
    mkdirSync(join(state, 'pas'), { recursive: true });
    pasAsOrdinaryUser(home, 'status');
    for (const path of everythingIn(state))
      chmodSync(path, statSync(path).isDirectory() ? 0o500 : 0o400);
    await expectEnded(
      pasAsOrdinaryUser(home, 'push'),
      12,
      /pace\.sqlite.*(permission|cannot be)[\s\S]*PAS_STATE/,
    );
    expect(pasAsOrdinaryUser(home, 'status').code).toBe(0);
  });

  test('that is missing, such as a disconnected drive, is not created again and empty', async () => {
    await importSeason(home, 2);
    const pas = join(home.folder, 'pas');
    renameSync(pas, `${pas}-elsewhere`);
    for (const args of [['status'], ['list'], ['push'], ['import', 'season.csv']]) {
      await expectEnded(await home.pas(...args), 12, /no profile/);
    }
    expect(existsSync(outbox)).toBe(false);
    renameSync(`${pas}-elsewhere`, pas);
    expect(await home.json<unknown[]>('list')).toHaveLength(2);
  });

  test('that vanishes in the middle of a push and returns has lost nothing', async () => {
    await importSeason(home, 20);
    const running = home.start('push', '--json');
    await running.until(({ stdout }) => jsonLines(stdout).length >= 4);
    const pas = join(home.folder, 'pas');
    renameSync(pas, `${pas}-away`);
    await home.pas('status');
    renameSync(`${pas}-away`, pas);
    await running.ended;
    await home.pas('push');
    const accepted = (await home.json<{ state: string }[]>('list')).filter(
      ({ state }) => state === 'accepted',
    );
    expect(accepted).toHaveLength(20);
    await mock.expectMade({ finds: 20 });
  });
});

test('a damaged vocabulary is reported by doctor as a cache that can be harvested again', async () => {
  writeFileSync(join(home.folder, 'pas', 'vocabulary.sqlite'), 'no database '.repeat(500));
  const run = await home.pas('doctor', '--offline');
  await expectEnded(run, 12);
  expect(run.stdout).toMatch(/✗ vocabulary-file .*\n.*delete it and run `pas harvest-vocab`/);
});

describe('with a season of finds', () => {
  beforeEach(async () => {
    home = await signedIn(mock.service, ['--set', 'min_interval_ms=20'], 'archaeologist', {
      name: 'a season',
      prepare: async (home) => {
        await importSeason(home, 500);
        await home.do('harvest-vocab', 'heslo:obdobi');
      },
    });
  });

  test.each([['list'], ['vocab', 'export', 'heslo:obdobi']])(
    'a list written to a file on a full disk (pas %s) is reported as incomplete',
    async (...args) => {
      const run = (redirected: string): Run => {
        const { status, signal, stderr } = spawnSync(
          'bash',
          ['-c', redirected, process.execPath, join(PROJECT, 'bin', 'pas.js'), ...args, '--json'],
          { env: home.env, cwd: home.folder, encoding: 'utf8' },
        );
        return { code: status, signal, stdout: '', stderr };
      };
      const out = join(home.folder, 'out');
      expect(run('exec "$0" "$@" >out').code).toBe(0);
      // The bytes before it leave room for all stored data, and for all of the list except its last
      // bytes.
      const before = 1024 ** 2 + 1023 - (statSync(out).size % 1024);
      const kilobytes = Math.floor((before + statSync(out).size - 1) / 1024);
      writeFileSync(out, Buffer.alloc(before));
      await expectEnded(
        run(`ulimit -f ${kilobytes}; exec "$0" "$@" >>out`),
        5,
        /EFBIG|has reached the limit of its size/,
      );
    },
  );
});
