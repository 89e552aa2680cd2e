import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { unpackWorkbook } from '../../src/tables/formats/xlsx.ts';
import type { Imported } from '../support/json-output.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { expectEnded, type Home, PROJECT, setFlags } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Tables as people have them: `test/fixtures/odd-tables`. */

const mock = useMock();
const home = useVocabularies(mock);

const odd = (name: string): string => join(PROJECT, 'test/fixtures/odd-tables', name);

test('a table with a title and a header of two lines is imported, and its rows keep their numbers in the file', async () => {
  const homeCopy = home.copy();
  const table = odd('title-and-two-lines.csv');
  const run = await homeCopy.pas('import', table, '--dry-run');
  expect(run.stdout).toContain('The names of the columns are read from row 4–5');
  homeCopy.file('wrong.csv', readFileSync(table, 'utf8').replace('2024-06-02', '2024-06-31'));
  const wrong = await homeCopy.pas('import', 'wrong.csv', '--json');
  const report = JSON.parse(wrong.stdout) as Imported;
  expect([wrong.code, report.added, report.invalid]).toEqual([3, 1, 1]);
  expect(report.issues.find(({ severity }) => severity === 'error')).toMatchObject({
    rule: 'date',
    row: 7,
  });
  expect((await homeCopy.pas('import', table, '--header-row', '5')).code).not.toBe(0);
  expect(await homeCopy.json('import', table, '--header-row', '4-5')).toMatchObject({
    added: 1,
    unchanged: 1,
    invalid: 0,
  });
});

test('a missing photograph is reported with its row, which is imported without it', async () => {
  const homeCopy = home.copy();
  homeCopy.file('season.csv', readFileSync(odd('missing-photographs.csv'), 'utf8'));
  homeCopy.file('IMG_0002.jpg', tinyPng(2));
  const report = await homeCopy.json('import', 'season.csv');
  expect(report).toMatchObject({ added: 3, unchanged: 0, invalid: 0, photos: 1 });
  expect(report.issues.filter(({ rule }) => rule === 'photo-missing')).toMatchObject([
    {
      row: 2,
      severity: 'warning',
      message: expect.stringMatching(/"IMG_0001\.jpg" in \/.*import again/),
    },
    { row: 3, severity: 'warning', message: expect.stringContaining('IMG_0003.jpg') },
  ]);
  homeCopy.file('IMG_0001.jpg', tinyPng(1));
  expect(await homeCopy.json('import', 'season.csv')).toMatchObject({
    added: 0,
    photos: 1,
  });
});

test('many errors are counted by kind, with the first rows of each', async () => {
  const homeCopy = home.copy();
  const rows = Array.from(
    { length: 60 },
    (_, index) =>
      `G-${index + 1};${index < 40 ? '6/2024' : '2024-06-01'};${index < 50 ? 'x' : '5'}`,
  );
  homeCopy.file('season.csv', ['local_id;datum_nalezu;hloubka', ...rows.reverse()].join('\n'));
  const run = await homeCopy.pas('import', 'season.csv');
  await expectEnded(run, 3);
  expect(run.stdout).toContain('✗ 40 × date (datum_nalezu): rows 22, 23, 24, 25, 26 …');
  expect(run.stdout).toContain('✗ 50 × integer (hloubka): rows 12, 13, 14, 15, 16 …');
  expect(run.stdout.indexOf('50 × integer')).toBeLessThan(run.stdout.indexOf('40 × date'));
  expect(run.stdout.split('\n').length).toBeLessThan(30);
  expect(run.stderr).toContain('--issues-to FILE writes every error next to its row.');
});

test('the workbook with issues keeps days as days', async () => {
  const homeCopy = home.copy();
  const rows = [
    ['local_id', 'datum_nalezu', 'hloubka', 'poznamka'],
    ['M-1', { day: 45444 }, 'x', 'dlouhá poznámka o tom, kde nález ležel a co leželo kolem'],
  ] as const;
  homeCopy.file('season.xlsx', makeWorkbook([{ name: 'nálezy', rows }]));
  await expectEnded(homeCopy.pas('import', 'season.xlsx', '--issues-to', 'mend.xlsx'), 3);
  const parts = await unpackWorkbook('mend.xlsx', readFileSync(join(homeCopy.folder, 'mend.xlsx')));
  const sheet = parts.get('xl/worksheets/sheet1.xml')?.bytes.toString('utf8') ?? '';
  expect(sheet).toContain('<v>45444</v>');
});

test.each(['mend.xlsx', 'mend.csv'])(
  'a row with a misplaced date is not in %s, which would accept it',
  async (copy) => {
    const homeCopy = home.copy();
    const rows = [
      ['local_id', 'datum_nalezu', 'poznamka'],
      ['M-1', { day: 45444 }, { day: 45445 }],
      ['M-2', { day: 45444 }, 'mez'],
    ] as const;
    homeCopy.file('season.xlsx', makeWorkbook([{ name: 'nálezy', rows }]));
    const run = await homeCopy.pas('import', 'season.xlsx', '--issues-to', copy);
    expect(run.stderr).toContain(
      `Number of rows in ${copy}, with their errors in the column issues: 1`,
    );
    expect(run.stderr).toContain('which cannot show their faults: 2. Correct them in season.xlsx.');
    expect(await homeCopy.json('import', copy)).toMatchObject({
      added: 0,
      unchanged: 1,
      invalid: 0,
    });
  },
);

test('map links are points, in tables, in pas add and in pas edit', async () => {
  const homeCopy = home.copy();
  const run = await homeCopy.pas('import', odd('links-of-maps.csv'), '--json');
  const report = JSON.parse(run.stdout) as Imported;
  expect([run.code, report.added, report.invalid]).toEqual([3, 3, 2]);
  expect(
    report.issues.filter(({ severity }) => severity === 'error').map(({ row }) => row),
  ).toEqual([5, 6]);
  const points = async () =>
    (await homeCopy.json('list')).map(({ local_id, elements }) => [local_id, elements['geom_wkt']]);
  expect(Object.fromEntries(await points())).toMatchObject({
    'L-1': 'POINT (14.4208 50.0871)',
    'L-2': 'POINT (14.4208125 50.0870625)',
    'L-3': 'POINT (14.4208 50.0871)',
  });
  const link = 'https://mapy.cz/zakladni?source=coor&id=15.5%2C49.5&x=15&y=49&z=17';
  await expectEnded(homeCopy.pas('edit', 'L-1', '--point', link), 0);
  expect(
    (await homeCopy.pas('edit', 'L-2', '--point', 'https://mapy.cz/zakladni?x=15.5&y=49.5')).code,
  ).toBe(3);
  const flags = [
    '--set',
    'local_id=L-9',
    '--set',
    'projekt=C-202400101',
    '--set',
    'stav=1',
    '--set',
    'pristupnost=HES-000865',
  ];
  await expectEnded(homeCopy.pas('add', ...flags, '--point', 'geo:49.5,15.5'), 0);
  expect(Object.fromEntries(await points())).toMatchObject({
    'L-1': 'POINT (15.5 49.5)',
    'L-2': 'POINT (14.4208125 50.0870625)',
    'L-9': 'POINT (15.5 49.5)',
  });
});

test('the numbers of a register below its title are known by the finds that are here', async () => {
  const homeCopy = home.copy();
  homeCopy.file('season.csv', readFileSync(odd('missing-photographs.csv'), 'utf8'));
  await homeCopy.json('import', 'season.csv');
  homeCopy.file('register.csv', readFileSync(odd('register-of-numbers.csv'), 'utf8'));
  await expectEnded(homeCopy.pas('number', 'import', 'register.csv', '--dry-run'), 0);
  const done = await homeCopy.json<{ queued: number; numbers: unknown[] }>(
    'number',
    'import',
    'register.csv',
  );
  expect(done).toMatchObject({
    queued: 2,
    numbers: [
      { find: 'P-2', value: 'MM 12/2024' },
      { find: 'P-3', value: 'MM 13/2024' },
    ],
  });
});

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog', 'geom_system=4326');
const listIds = async (of: Home) => (await of.json('list')).map(({ local_id }) => local_id);

test('an unreadable table among several is named and left out, a lock file passed over', async () => {
  const copy = home.copy();
  const files = [
    copy.file('~$a.xlsx', 'lock'),
    copy.file('broken.xlsx', 'no workbook'),
    copy.file('a.csv', 'local_id;lokalizace\nA-1;Pole\n'),
  ];
  const run = await copy.pas('import', ...files, ...SET);
  await expectEnded(run, 3, /~\$a\.xlsx is the lock file/);
  expect(run.stderr).toMatch(/broken\.xlsx has the name of another format/);
  expect(await listIds(copy)).toEqual(['A-1']);
  const locked = await copy.pas('import', files[0] ?? '', files[2] ?? '', ...SET);
  await expectEnded(locked, 0);
});

test.each([';', ' | ', ', ', '\n'])(
  'names of photographs are read with %j between',
  async (mark) => {
    const copy = home.copy();
    copy.file('1.png', tinyPng(1));
    copy.file('2.png', tinyPng(2));
    const table = copy.file('t.csv', `local_id\tphotos\nA-1\t"1.png${mark}2.png"\n`);
    const report = await copy.json('import', table, ...SET);
    expect(report.photos).toBe(2);
  },
);

test('the only folder beside the table that has a photograph is named with it', async () => {
  const copy = home.copy();
  const path = copy.file('foto léto/1.png', tinyPng(1));
  const table = copy.file('t.csv', 'local_id;photos\nA-1;1.png\nA-2;2.png\n');
  const run = await copy.do('import', table, ...SET);
  expect(run.stdout).toContain(`--photos '${dirname(path)}'`);
  expect(run.stdout).toMatch(/no photograph "2\.png" in \S+\. Check the name/);
  copy.file('foto zima/1.png', tinyPng(2));
  expect((await copy.do('import', table, ...SET)).stdout).not.toMatch(/foto (?:léto|zima)/);
});

test('a table that queues nothing announces nothing', async () => {
  const copy = home.copy();
  const table = copy.file('t.csv', 'local_id;nalezce\nA-1;Nový, Karel\n');
  expect((await copy.pas('import', table, ...SET)).stdout).not.toBe('');
  const again = await copy.do('import', table, ...SET);
  expect(again.stderr).not.toMatch(/Next:|new person/);
});

test('a picture of two pages does not end the report', async () => {
  const copy = home.copy();
  const hex =
    '49492a000800000001000001040001000000010000001a000000010000010400010000000100000000000000';
  const picture = copy.file('pages.tif', Buffer.from(hex, 'hex'));
  await copy.do('import', copy.file('t.csv', 'local_id\nA-1\n'), ...SET);
  await copy.do('photo', 'add', 'A-1', picture);
  await copy.do('report', 'report.html');
});
