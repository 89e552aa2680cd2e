import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectEnded, type Home } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Result of `pas import --wizard --yes` on real-world tables. */

const mock = useMock();
const home = useVocabularies(mock);

const GIVEN = ['--set', 'projekt=C-202400101', '--set', 'pristupnost=archeolog'];
type Column = {
  column: string;
  element: string | null;
  doubt: string | null;
  filled: number;
};
type Looked = { columns: Column[] };

async function look(homeCopy: Home, file: string, text: string) {
  homeCopy.file(file, text);
  const run = await homeCopy.pas('import', file, '--wizard', '--yes', ...GIVEN, '--json');
  return { code: run.code, stderr: run.stderr, value: JSON.parse(run.stdout) as Looked };
}

test('a find of which only number and object are known is counted as it is imported', async () => {
  const homeCopy = home.copy();
  const rows = ['K1;spona;1.6.2024', 'K2;mince;2.6.2024', 'K3;nůž;', 'Celkem 3 ks;;'];
  const { stderr } = await look(
    homeCopy,
    'bare.csv',
    ['Inv. č.;Předmět;Datum nálezu', ...rows].join('\n'),
  );
  expect(stderr).toContain('bare.csv: 3 rows.');
  expect(await homeCopy.json('import', 'bare.csv', '--map', 'bare.map.toml')).toMatchObject({
    added: 3,
  });
});

test('a repeated number is a doubt, in both languages', async () => {
  const homeCopy = home.copy();
  const { value } = await look(homeCopy, 'twice.csv', 'č.;Předmět\n1;spona\n2;mince\n2;nůž\n');
  expect(value.columns[0]).toMatchObject({
    element: 'local_id',
    doubt: expect.stringContaining('missing or repeated'),
  });
  const czech = await homeCopy
    .with({ PAS_LANG: 'cs' })
    .pas('import', 'twice.csv', '--wizard', '--yes', ...GIVEN, '--map', 'another.map.toml');
  expect(czech.stderr).toContain(' ? č. → local_id');
});

test('two columns that could be the registration number are a question, and nothing is imported until it is answered', async () => {
  const homeCopy = home.copy();
  const table = 'č. nálezu;inv. č.;ev. č.;předmět\n1;A 1;E 1;spona\n2;A 2;E 2;mince\n';
  const { code, stderr } = await look(homeCopy, 'numbers.csv', table);
  expect([code, stderr]).toEqual([
    3,
    expect.stringContaining('inv. č., ev. č.: only one column can be evidencni_cislo.'),
  ]);
  const map = join(homeCopy.folder, 'numbers.map.toml');
  const open = await homeCopy.pas('import', 'numbers.csv', '--map', 'numbers.map.toml');
  expect([open.code, open.stdout]).toEqual([
    3,
    expect.stringMatching(
      /"inv\. č\." and "ev\. č\." both mean evidencni_cislo[\s\S]*Imported 0 finds/,
    ),
  ]);
  const answered = readFileSync(map, 'utf8').replace(
    '"inv. č." = "evidencni_cislo"',
    '"inv. č." = "ignore"',
  );
  writeFileSync(map, answered);
  expect(await homeCopy.json('import', 'numbers.csv', '--map', 'numbers.map.toml')).toMatchObject({
    added: 2,
  });
});

test('the number of a sent find is not the identifier that the service gave it', async () => {
  const homeCopy = home.copy();
  const finds = homeCopy.file('finds.csv', 'local_id\nT-1\nT-2');
  await expectEnded(
    homeCopy.pas('import', finds, ...GIVEN, '--set', 'stav=1', '--set', 'geom_system=4326'),
    0,
  );
  await expectEnded(homeCopy.pas('push'), 0);
  const sent = await homeCopy.json('list');
  const rows = sent.map(({ local_id, ident_cely }) => `${local_id};${ident_cely};spona`);
  const { value } = await look(
    homeCopy,
    'sent.csv',
    ['Terénní číslo;záznam;předmět', ...rows].join('\n'),
  );
  expect(value.columns.map(({ element }) => element)).toEqual([
    'local_id',
    'ident_cely',
    'druh_nalezu',
  ]);
});
