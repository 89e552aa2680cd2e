import { describe, expect, test } from 'vitest';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/** Words that people write in place of those of the vocabularies, and what they are told. */

const mock = useMock();
const home = useVocabularies(mock);

const TABLE = 'local_id;projekt;stav;geom_system;pristupnost;druh_nalezu\n';

describe.each([
  ['fibula', 'spona'],
  ['fibuly', 'spona'],
  ['střep', 'zlomek nádoby'],
  ['STREPY', 'zlomek nádoby'],
])('%s is a synonym of %s', (own, label) => {
  test('in the search', async () => {
    const hits = await home.json<{ label: string }[]>(
      'vocab',
      'search',
      own,
      '--set',
      'heslo:predmet_druh',
    );
    expect(hits[0]?.label).toBe(label);
  });

  test('in the issues of a table', async () => {
    home.file('other.csv', `${TABLE}Z-1;C-202400101;1;4326;archeolog;${own}\n`);
    const run = await home.pas('import', 'other.csv', '--dry-run');
    expect(run.stdout).toMatch(new RegExp(`Nearest: ${label} \\(HES-\\d+\\)`));
  });
});

test('an error in a short vocabulary lists all of its entries', async () => {
  home.file(
    'access.csv',
    'local_id;projekt;stav;geom_system;pristupnost\nZ-1;C-202400101;1;4326;vsichni\n',
  );
  const run = await home.pas('import', 'access.csv', '--dry-run');
  const all = await home.json<{ id: string; label: string }[]>(
    'vocab',
    'list',
    'heslo:pristupnost',
  );
  expect(all.length).toBeGreaterThan(2);
  for (const { id, label } of all) expect(run.stdout).toContain(`${label} (${id})`);
});

test('an entry of another vocabulary cannot be mapped to, and the command that is advised lists those that can', async () => {
  const refused = await home.pas('vocab', 'map', 'set', 'predmet_druh', 'hrnec', 'HES-000979');
  expect(refused.code).toBe(2);
  const [, command = ''] = /pas (vocab list \S+)/.exec(refused.stderr) ?? [];
  const entries = await home.json<{ id: string }[]>(...command.split(' '));
  await home.do('vocab', 'map', 'set', 'predmet_druh', 'hrnec', entries[0]?.id ?? '');
});

test('a table of another form is reported in one line, with the command that reads it', async () => {
  const header = [
    'kód',
    'věc',
    'hmota',
    'kdy',
    'kdo',
    'kde',
    'váha',
    'šířka',
    'délka',
    'regál',
    'skříň',
  ];
  home.file('cizí tabulka.csv', `${header.join(';')}\nK1${';x'.repeat(10)}\n`);
  const run = await home.pas('import', 'cizí tabulka.csv');
  expect(run.stdout.match(/✗/g)).toHaveLength(1);
  expect(run.stdout).toContain('pas import TABLE --wizard');
  for (const name of header) expect(run.stdout).toContain(name);
  await home.do(
    'import',
    'cizí tabulka.csv',
    '--wizard',
    '--yes',
    '--set',
    'projekt=C-202400101',
    '--set',
    'pristupnost=archeolog',
    '--set',
    'geom_system=4326',
  );
});

test('errors name an element as pas show does, with its name in brackets', async () => {
  home.file('depth.csv', 'local_id;hloubka\nZ-1;mělko\n');
  const [english, czech] = await Promise.all(
    ['en', 'cs'].map((language) =>
      home.with({ PAS_LANG: language }).pas('import', 'depth.csv', '--dry-run'),
    ),
  );
  expect(english?.stdout).toContain('Depth (hloubka): ');
  expect(czech?.stdout).toContain('Hloubka (hloubka): ');
});

test('a list of projects tells place and organisation', async () => {
  const { stdout } = await home.pas('vocab', 'list', 'projekt');
  expect(stdout).toMatch(/C-202400101 +projekt +Kutná Hora, Muzeum Moravského krasu/);
  expect(stdout).toMatch(/M-202300316 +projekt +Břeclav, Ústav /);
});
