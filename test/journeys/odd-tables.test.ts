import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { readZip } from '../../src/tables/zip-entries.ts';
import { tinyPng } from '../support/a-season.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { expectDone, type Home, PROJECT, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

hostRuns();

/** Tables as people have them: `test/fixtures/odd-tables`. */

const mock = useMock('--min-interval', '0');
let home: Home;

beforeAll(async () => {
  home = await signedIn(mock.service, 'archaeologist', ['--min-interval-ms', '1']);
  await expectDone(home.pas('harvest-vocab'));
});

const odd = (name: string): string => join(PROJECT, 'test/fixtures/odd-tables', name);

type Issue = { rule: string; row: number | null; severity: string; message: string };
type Report = { added: number; invalid: number; drafts: number; photos: number; issues: Issue[] };

test('a table with a title and a header of two lines is imported, and its rows keep the numbers of the file', async () => {
  const own = home.copy();
  const table = odd('title-and-two-lines.csv');
  const run = await own.pas('import', table, '--dry-run');
  expect(run.stdout).toContain('Rows 4 and 5 together are read as the names of the columns');
  own.file('wrong.csv', readFileSync(table, 'utf8').replace('2024-06-02', '2024-06-31'));
  const wrong = await own.pas('import', 'wrong.csv', '--json');
  const report = JSON.parse(wrong.stdout) as Report;
  expect([wrong.code, report.added, report.invalid]).toEqual([3, 1, 1]);
  expect(report.issues.find(({ severity }) => severity === 'error')).toMatchObject({ rule: 'date', row: 7 });
  expect((await own.pas('import', table, '--header-row', '5')).code).not.toBe(0);
  expect(await own.json<Report>('import', table, '--header-row', '4-5')).toMatchObject({ added: 1, unchanged: 1, invalid: 0 });
});

test('a photograph that is missing is told of its row, which is imported without it; --strict leaves the row out', async () => {
  const own = home.copy();
  own.file('season.csv', readFileSync(odd('missing-photographs.csv'), 'utf8'));
  own.file('IMG_0002.jpg', tinyPng(2));
  const strict = await own.pas('import', 'season.csv', '--strict', '--json');
  expect([strict.code, JSON.parse(strict.stdout)]).toMatchObject([3, { added: 1, invalid: 2 }]);
  const report = await own.json<Report>('import', 'season.csv');
  expect(report).toMatchObject({ added: 2, unchanged: 1, invalid: 0, photos: 1 });
  expect(report.issues.filter(({ rule }) => rule === 'photo-missing')).toMatchObject([
    { row: 2, severity: 'warning', message: expect.stringMatching(/"IMG_0001\.jpg" in \/.*pas photo add P-1/) },
    { row: 3, severity: 'warning', message: expect.stringContaining('IMG_0003.jpg') },
  ]);
  own.file('IMG_0001.jpg', tinyPng(1));
  expect(await own.json<Report>('import', 'season.csv')).toMatchObject({ added: 0, photos: 1 });
});

test('many errors are counted by their kind, with the first rows of each, and --issues-to has all', async () => {
  const own = home.copy();
  const rows = Array.from(
    { length: 60 },
    (_, index) => `G-${index + 1};${index < 40 ? '6/2024' : '2024-06-01'};${index < 50 ? 'x' : '5'}`,
  );
  own.file('season.csv', ['local_id;datum_nalezu;hloubka', ...rows.reverse()].join('\n'));
  const run = await own.pas('import', 'season.csv');
  expect(run.code).toBe(3);
  expect(run.stdout).toContain('✗ 40 × date (datum_nalezu): rows 22, 23, 24, 25, 26 …');
  expect(run.stdout).toContain('✗ 50 × integer (hloubka): rows 12, 13, 14, 15, 16 …');
  expect(run.stdout.indexOf('50 × integer')).toBeLessThan(run.stdout.indexOf('40 × date'));
  expect(run.stdout.split('\n').length).toBeLessThan(30);
  expect(run.stderr).toContain('--issues-to FILE writes all of them');
  const copied = await own.pas('import', 'season.csv', '--issues-to', 'mend.csv', '--only-bad', '--json');
  expect((JSON.parse(copied.stdout) as Report).issues.filter(({ severity }) => severity === 'error').length).toBeGreaterThan(89);
  expect(readFileSync(join(own.folder, 'mend.csv'), 'utf8').trimEnd().split('\r\n')).toHaveLength(61);
});

test('the workbook of rows to mend keeps days as days, and its columns are as wide as what they hold', async () => {
  const own = home.copy();
  const rows = [
    ['local_id', 'datum_nalezu', 'hloubka', 'poznamka'],
    ['M-1', { day: 45444 }, 'x', 'dlouhá poznámka o tom, kde nález ležel a co leželo kolem'],
  ] as const;
  own.file('season.xlsx', makeWorkbook([{ name: 'nálezy', rows }]));
  expect((await own.pas('import', 'season.xlsx', '--issues-to', 'mend.xlsx')).code).toBe(3);
  const parts = await readZip('mend.xlsx', readFileSync(join(own.folder, 'mend.xlsx')));
  const sheet = parts.get('xl/worksheets/sheet1.xml')?.unpack().toString('utf8') ?? '';
  expect(sheet).toContain('<v>45444</v>');
  const widths = [...sheet.matchAll(/<col [^>]*width="([\d.]+)"/g)].map(([, width]) => Number(width));
  expect(widths).toHaveLength(5);
  expect(widths[2]).toBeGreaterThan(9);
  expect(widths[4]).toBe(50);
});
