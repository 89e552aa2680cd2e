import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { expect, test } from 'vitest';
import { expectEnded } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** A mapping that several people and programs have their hands on. */

const mock = useMock();
const home = useVocabularies(mock);

type Row = {
  set: string;
  term: string;
  id: string;
  label: string;
  note: string;
  confirmed: boolean;
};
type Tally = {
  added: number;
  changed: number;
  unconfirmed: number;
  issues: { rule: string; message: string }[];
};

test('a list with one term per line starts with a term, and its proposals can be imported', async () => {
  const homeCopy = home.copy();
  homeCopy.file('terms.txt', 'fibule\nqqqxyzw\nsekyrka\n');
  const { proposals } = await homeCopy.json<{ proposals: { term: string }[] }>(
    'vocab',
    'map',
    'suggest',
    'terms.txt',
  );
  expect(proposals.map(({ term }) => term)).toEqual(['fibule', 'qqqxyzw', 'sekyrka']);
  await homeCopy.do('vocab', 'map', 'suggest', 'terms.txt', '--out', 'proposals.csv');
  expect(await homeCopy.json<Tally>('vocab', 'map', 'import', 'proposals.csv')).toMatchObject({
    added: 0,
    unconfirmed: 2,
    issues: [],
  });
  const output = readFileSync(join(homeCopy.folder, 'proposals.csv'), 'utf8').replace(
    /^((?:heslo:[^;]*);fibule;.*);;$/m,
    '$1;yes;',
  );
  homeCopy.file('reviewed.csv', output);
  expect(await homeCopy.json<Tally>('vocab', 'map', 'import', 'reviewed.csv')).toMatchObject({
    added: 1,
    issues: [],
  });
});

test('a list of a single term is a list', async () => {
  home.file('one.txt', 'fibule\n');
  const { proposals } = await home.json<{ proposals: { term: string }[] }>(
    'vocab',
    'map',
    'suggest',
    'one.txt',
  );
  expect(proposals.map(({ term }) => term)).toEqual(['fibule']);
});

test('four terms that are mapped in parallel are all mapped', async () => {
  const homeCopy = home.copy();
  const terms = ['bronz', 'laten', 'neo', 'stredovek'];
  const codes = await Promise.all(
    terms.map((term) =>
      homeCopy
        .start('vocab', 'map', 'set', 'druh_nalezu', term, 'spona')
        .ended.then(({ code }) => code),
    ),
  );
  expect(codes).toEqual([0, 0, 0, 0]);
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows.map(({ term }) => term).sort()).toEqual(terms);
});

test('a note stays if a table without notes is imported, or the term is mapped again', async () => {
  const homeCopy = home.copy();
  homeCopy.file(
    'noted.csv',
    'set;term;id;note;confirmed\ndruh_nalezu;fibule;HES-000605;podle kartotéky;yes\n',
  );
  await homeCopy.do('vocab', 'map', 'import', 'noted.csv');
  homeCopy.file('again.csv', 'set;term;id;confirmed\ndruh_nalezu;fibule;HES-000605;yes\n');
  await homeCopy.pas('vocab', 'map', 'import', 'again.csv');
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'fibule', 'mince');
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows).toMatchObject([{ term: 'fibule', label: 'mince', note: 'podle kartotéky' }]);
});

test('a mapping that was saved in Windows-1250 is read', async () => {
  const homeCopy = home.copy();
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'přeska', 'přezka');
  const file = join(homeCopy.folder, 'pas', 'mapping.csv');
  writeFileSync(file, iconv.encode(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), 'win1250'));
  const rows = await homeCopy.json<Row[]>('vocab', 'map', 'list');
  expect(rows).toMatchObject([{ term: 'přeska', label: 'přezka' }]);
  await homeCopy.do('vocab', 'map', 'set', 'druh_nalezu', 'fibule', 'spona');
  expect(readFileSync(file, 'utf8')).toContain('přeska');
});

test('an unreadable mapping stops no other command, and is reported with advice', async () => {
  const homeCopy = home.copy();
  writeFileSync(
    join(homeCopy.folder, 'pas', 'mapping.csv'),
    Buffer.from([0x50, 0x4b, 3, 4, 0, 0, 0xff, 0xfe, 0]),
  );
  homeCopy.file(
    't.csv',
    'local_id;projekt;stav;geom_system;pristupnost\nM-1;C-202400101;1;4326;archeolog\n',
  );
  const run = await homeCopy.pas('import', 't.csv');
  expect([run.code, run.stdout]).toEqual([3, expect.stringContaining('Save it as CSV in UTF-8')]);
  expect(run.stdout).toContain('Imported 1 find');
  await expectEnded(homeCopy.pas('validate', 'M-1'), 0);
  expect((await homeCopy.pas('vocab', 'map', 'set', 'druh_nalezu', 'x', 'spona')).code).not.toBe(0);
});
