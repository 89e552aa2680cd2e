import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { openSqlite } from '../../src/base/disk/database.ts';
import { acquirePushLock } from '../../src/outbox/push-lock.ts';
import { getMode } from '../support/hostile-disk.ts';
import {
  findPhotographCopies,
  getOutboxName,
  outboxFile,
  outboxFolder,
} from '../support/outbox-files.ts';
import { expectEnded, jsonLines, serviceAt, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason, tinyPng, writeSeason } from '../support/season.ts';
import { startMock } from '../support/start-mock.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock);
let copy: string;

beforeEach(() => {
  copy = join(home.folder, 'copy.sqlite');
});

test('a backup made during a push is complete, intact and private', async () => {
  await home.do('profile', 'set', 'min_interval_ms=20');
  await importSeason(home, 25);
  const running = home.start('push', '--json');
  for (let turn = 1; turn <= 3; turn += 1) {
    await running.until(({ stdout }) => jsonLines(stdout).length >= turn * 8);
    await home.do('backup', copy, '--yes');
    const database = openSqlite(copy, { readonly: true });
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok');
    expect(database.prepare('select count(*) as n from finds').get()).toEqual({ n: 25 });
    database.close();
    expect(getMode(copy)).toBe('600');
  }
  await expectEnded(running.ended, 0);
  expect(readdirSync(home.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('an existing file is not replaced without --yes, and the outbox itself never', async () => {
  await importSeason(home, 1);
  writeFileSync(copy, 'my notes');
  await expectEnded(home.pas('backup', copy), 2, /--yes/);
  expect(readFileSync(copy, 'utf8')).toBe('my notes');
  await home.do('backup', copy, '--yes');
  expect((await home.pas('backup', outboxFile(home), '--yes')).stderr).toMatch(
    /belongs to pas itself/,
  );
  await expectEnded(home.pas('backup', home.folder, '--yes'), 2);
  expect((await home.pas('backup', join(home.folder, 'nowhere', 'copy.sqlite'))).stderr).toMatch(
    /The folder .*nowhere does not exist/,
  );
});

test.skipIf(whyNoTerminal !== undefined)(
  'on a terminal a person says if an existing file is replaced',
  async () => {
    await importSeason(home, 1);
    writeFileSync(copy, 'my notes');
    for (const [typed, code] of [
      ['n', 2],
      ['y', 0],
    ] as const) {
      await using terminal = await startTerminal(['backup', copy], home, { columns: 200 });
      await answer(terminal, `${copy} exists: replace it? (y/N)`, typed);
      expect((await terminal.ended()).code).toBe(code);
      expect(readFileSync(copy, 'utf8') === 'my notes').toBe(typed === 'n');
    }
  },
);

test('waiting photographs are reported as left out, or copied as well', async () => {
  await importSeason(home, 3, { photos: true });
  await home.do('photo', 'add', 'K-1', home.file('more.png', tinyPng(9)));
  expect((await home.do('backup', copy)).stderr).toMatch(/4 photographs not sent yet/);
  expect(existsSync(`${copy}.photos`)).toBe(false);
  const report = await home.json<{ photos: number; photos_left_out: number }>(
    'backup',
    copy,
    '--yes',
    '--photos',
  );
  expect(report).toMatchObject({ photos: 4, photos_left_out: 0 });
});

test('a lost home is restored from the backup, and everything is sent', async () => {
  await importSeason(home, 3, { photos: true });
  await home.do('backup', copy, '--photos');
  rmSync(outboxFolder(home), { recursive: true });
  await home.do('restore', copy);
  await home.do('push');
  await mock.expectMade({ finds: 3, photos: 3 });
});

test('a photograph that was damaged since is not copied as intact', async () => {
  await importSeason(home, 1, { photos: true });
  const [stored = ''] = findPhotographCopies(home);
  writeFileSync(stored, tinyPng(200));
  await expectEnded(
    home.pas('backup', copy, '--photos'),
    12,
    /photo-1\.png was removed or changed/,
  );
});

const asides = (folder: string): string[] =>
  readdirSync(folder).filter((name) => name.startsWith('outbox-replaced-'));

test('a restore names what was changed since and not sent, and nothing else', async () => {
  await importSeason(home, 4);
  await home.do('add', '--draft', '--set', 'local_id=A-1');
  await home.do('photo', 'add', 'K-3', home.file('K-3.png', tinyPng(3)));
  await home.do('backup', copy);
  await home.do('undo');
  await home.do('number', 'set', 'K-2', 'A 1');
  await home.do('undo');
  await home.do('push', 'K-4');
  await home.do('remove', 'A-1', '--yes');
  await home.do('edit', 'K-1', '--set', 'poznamka=corrected');
  await importSeason(home, 5);
  expect(await home.json('restore', copy, '--replace')).toMatchObject({
    lost: ['A-1', 'K-1', 'K-3', 'K-5'],
  });
});

test('a backup of another home is restored in place of the outbox, which is set aside', async () => {
  await importSeason(home, 2);
  await home.do('backup', copy);
  const other = await signedIn(mock.service, [...WITHOUT_PAUSES, '--set', 'max_in_flight=3']);
  await other.do(
    'import',
    other.file('own.csv', readFileSync(writeSeason(home, 1), 'utf8').replaceAll('K-', 'L-')),
  );
  await expectEnded(other.pas('restore', copy), 2);
  await other.do('restore', copy, '--replace');
  expect(await other.json('list')).toMatchObject([{ local_id: 'K-1' }, { local_id: 'K-2' }]);
  expect(asides(outboxFolder(other))).toHaveLength(1);
});

test('a damaged backup is refused each time, and leaves nothing behind', async () => {
  await importSeason(home, 1);
  await home.do('backup', copy);
  const database = openSqlite(copy);
  database.exec(`update facts set body = replace(body, '1', '2')`);
  database.close();
  const folder = join(home.folder, 'pas', 'outboxes');
  const before = readFileSync(outboxFile(home));
  for (const _ of [1, 2]) await expectEnded(home.pas('restore', copy, '--replace'), 12);
  expect(readdirSync(folder)).toEqual([getOutboxName(home)]);
  expect([asides(outboxFolder(home)), readFileSync(outboxFile(home)).equals(before)]).toEqual([
    [],
    true,
  ]);
  expect(await home.json('list')).toHaveLength(1);
});

test('a backup from before the service moved is restored', async () => {
  await importSeason(home, 2);
  await home.do('push', 'K-1');
  await home.do('backup', copy);
  await using moved = await startMock();
  const { base_url } = moved.server;
  await home.do('profile', 'set', `base_url=${base_url}`, '--yes');
  rmSync(outboxFolder(home), { recursive: true });
  await home.do('restore', copy);
  expect(await home.json('list')).toMatchObject([{ state: 'accepted' }, { state: 'queued' }]);
});

test('a file that is not a backup of this service is refused', async () => {
  await importSeason(home, 1);
  expect((await home.pas('restore', home.file('notes.txt', 'my notes'))).stderr).toMatch(
    /not a database/,
  );
  expect((await home.pas('restore', outboxFile(home))).stderr).toMatch(/is the outbox itself/);
  await home.do('backup', copy);
  const other = home.with({});
  await other.init(serviceAt('http://127.0.0.1:9'), '--name', 'far');
  await expectEnded(
    other.pas('restore', copy, '--profile', 'far'),
    12,
    /is for .*, not for http:\/\/127\.0\.0\.1:9 /,
  );
});

test('nothing is restored while a push holds the outbox', async () => {
  await importSeason(home, 2);
  await home.do('backup', copy);
  const lock = acquirePushLock({
    folder: join(home.folder, 'state', 'pas', 'locks'),
    scope: getOutboxName(home),
    outboxFolder: outboxFolder(home),
    clock: systemClock,
  });
  try {
    for (const args of [['restore', copy, '--replace'], ['push']]) {
      await expectEnded(home.pas(...args), 11, 'Another pas process');
    }
  } finally {
    lock.release();
  }
  await home.do('restore', copy, '--replace');
});
