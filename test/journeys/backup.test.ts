import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { getMode } from '../support/hostile-disk.ts';
import { findPhotographCopies, outboxFile, outboxFolder } from '../support/outbox-files.ts';
import { expectEnded, jsonLines } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { answer, startTerminal, whyNoTerminal } from '../support/terminal-session.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');
const home = useHome(mock, ['--set', 'min_interval_ms=20']);
let copy: string;

beforeEach(async () => {
  copy = join(home.folder, 'copy.sqlite');
});

test('a backup made during a push is complete, intact and private', async () => {
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
    /is the outbox itself/,
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
  expect((await home.do('backup', copy)).stderr).toMatch(/4 photographs that are not sent yet/);
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
  const before = await mock.service.state();
  await importSeason(home, 3, { photos: true });
  await home.do('backup', copy, '--photos');
  rmSync(outboxFolder(home), { recursive: true });
  await home.do('restore', copy);
  await home.do('push');
  const after = await mock.service.state();
  expect({ finds: after.finds - before.finds, photos: after.photos - before.photos }).toEqual({
    finds: 3,
    photos: 3,
  });
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
