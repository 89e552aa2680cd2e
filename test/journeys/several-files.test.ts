import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { expectEnded, type Home, setFlags } from '../support/run-pas.ts';
import { tinyPng } from '../support/season.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

const mock = useMock();
const home = useVocabularies(mock);
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

test('a folder beside the table that has photographs is named with each of them', async () => {
  const copy = home.copy();
  const path = copy.file('foto léto/1.png', tinyPng(1));
  const table = copy.file('t.csv', 'local_id;photos\nA-1;1.png\nA-2;2.png\n');
  const run = await copy.do('import', table, ...SET);
  expect(run.stdout).toContain(`--photos '${dirname(path)}'`);
  expect(run.stdout).toMatch(/no photograph "2\.png" in \S+\. Check the name/);
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
