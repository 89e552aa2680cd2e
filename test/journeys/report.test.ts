import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { canMountDisks, pasOnSmallDisk } from '../support/hostile-disk.ts';
import { findPhotographCopies, outboxFile } from '../support/outbox-files.ts';
import { expectEnded, PROJECT } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

/** Places of the examples, each as the report would write it. */
const PLACES = [
  '49.8405',
  '15.1712',
  '694 201',
  '694201',
  'Všesoky',
  'Petrovice',
  'Výpustkem',
  'Horáková',
];

type Made = {
  readonly file: string;
  readonly size_bytes: number;
  readonly finds: number;
  readonly photos: number;
  readonly photos_missing: number;
};

const mock = shareMock();
const home = useVocabularies(mock);

beforeAll(async () => {
  await home.do('import', join(PROJECT, 'examples', 'finds.csv'));
});

const path = (name: string): string => join(home.folder, name);
const text = (name: string): string => readFileSync(path(name), 'utf8');

describe('a report', () => {
  test('is one file that only its owner can read, with its size printed', async () => {
    const report = await home.json<Made>('report', path('season.html'));
    expect(report).toMatchObject({
      file: path('season.html'),
      finds: 29,
      photos: 19,
      photos_missing: 0,
    });
    expect(report.size_bytes).toBe(statSync(path('season.html')).size);
    expect(statSync(path('season.html')).mode & 0o777).toBe(0o600);
    for (const place of PLACES.slice(4)) expect(text('season.html')).toContain(place);
    expect(readdirSync(home.folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test('for publication contains no place, in no element, picture or issue', async () => {
    await home.do('report', path('share.html'), '--without-places');
    const page = text('share.html')
      .replace(/<(style|script)>[\s\S]*?<\/\1>/g, '')
      .replaceAll('\u202f', ' ');
    for (const place of PLACES) expect(page).not.toContain(place);
    expect(page).not.toMatch(/<figure|\.jpg|POINT/);
    expect(page).toContain('Places are left out');
    expect(page).toContain('KH24-001');
    expect(page).toContain('data:image/jpeg;base64,');
  });

  test('contains only the named finds, each once', async () => {
    const report = await home.json<Made>(
      'report',
      path('two.html'),
      'KH24-001',
      'KR24-014',
      'KH24-001',
    );
    expect(report).toMatchObject({ finds: 2 });
    expect(text('two.html').match(/<article /g)?.length).toBe(2);
  });

  test('is the same on stdout as in a file', async () => {
    const { stdout, code } = await home.pas('report', '-', 'KH24-001', '--lang', 'cs');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^<!doctype html>\n<html lang="cs">/);
    expect(stdout.trimEnd()).toMatch(/<\/html>$/);
    expect(stdout).toContain('Jednotlivé nálezy');
    await expectEnded(home.pas('report', '-', '--json'), 2);
  });

  test('is not written under the name of another format', async () => {
    await expectEnded(home.pas('report', 'season.pdf'), 2, 'season.html');
    expect(existsSync(path('season.pdf'))).toBe(false);
    await home.do('report', 'SEASON.HTM');
  });

  test('says which photographs are damaged, and is written all the same', async () => {
    const table = home.file(
      'lost.csv',
      'local_id,projekt,stav,geom_system,pristupnost,photos\nL-1,C-202400101,1,4326,HES-000865,lost.png\n',
    );
    const before = findPhotographCopies(home);
    writeFileSync(path('lost.png'), tinyPng(77));
    await home.pas('import', table);
    for (const copy of findPhotographCopies(home))
      if (!before.includes(copy)) writeFileSync(copy, 'something else');
    const report = await home.json<Made>('report', path('lost.html'), 'L-1');
    expect(report).toMatchObject({ photos: 0, photos_missing: 1 });
    expect(text('lost.html')).toContain('is missing or damaged');
  });
});

describe('an existing file', () => {
  test('is kept, and replaced with --yes', async () => {
    writeFileSync(path('other.html'), '<!doctype html>\n<title>Mine</title>');
    const refused = await home.pas('report', path('other.html'));
    await expectEnded(refused, 2, 'There is already a file');
    expect(refused.stderr).toContain('--yes');
    expect(text('other.html')).toContain('Mine');
    await home.do('report', path('other.html'), 'KH24-001', '--yes');
    expect(text('other.html')).toContain('KH24-001');
  });

  test('is never replaced if it is a file of pas or a folder, and no folder is created', async () => {
    const outbox = outboxFile(home);
    const before = statSync(outbox).size;
    mkdirSync(path('folder.html'));
    for (const [target, words] of [
      [outbox, 'belongs to pas itself'],
      [path('folder.html'), 'is a folder'],
      [join(home.folder, 'nowhere', 'a.html'), 'does not exist'],
    ] as const) {
      await expectEnded(home.pas('report', target, '--yes'), 2, words);
    }
    expect(statSync(outbox).size).toBe(before);
  });

  test.skipIf(!canMountDisks && process.env['CI'] === undefined)(
    'a full disk is reported, and leaves no partial page',
    async () => {
      const { full, again } = await pasOnSmallDisk(home, 32, 'report', 'page.html');
      expect(full.stderr).toContain('the disk is full');
      expect(full.code).toBe(5);
      expect(again).toMatchObject({ code: 0 });
      expect(readdirSync(join(home.folder, 'copy'))).toEqual(['page.html']);
      expect(existsSync(join(home.folder, 'copy', 'page.html'))).toBe(true);
    },
  );
});

test('an unknown find is refused before anything is written', async () => {
  expect((await home.pas('report', path('none.html'), 'NOBODY')).stderr).toContain('NOBODY');
  expect(existsSync(path('none.html'))).toBe(false);
});
