import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Issue } from '../support/json-output.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { expectEnded, type Home } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

/**
 * Names of finds, records, projects, sets and sheets in the writing of people and of their
 * programs.
 */

const mock = useMock();
const home = useVocabularies(mock);

const EN_DASH = '\u2013';
const NBSP = '\u00a0';

beforeAll(async () => {
  await importSeason(home, 2);
});

test.each([
  ['small letters', 'show', ['k-1']],
  ['an en dash', 'show', [`K${EN_DASH}1`]],
  ['blanks and small letters', 'show', [` k - 1${NBSP}`]],
  ['a blank in place of the hyphen', 'show', ['k 1']],
  ['small letters', 'show --xml', ['k-1', '--xml']],
  ['small letters', 'validate', ['k-1']],
  ['small letters', 'edit', ['k-1', '--set', 'poznamka=okraj', '--yes']],
  ['small letters', 'number set', ['k-1', '12']],
  ['small letters', 'export', ['k-1', '--format', 'csv']],
  ['small letters', 'push', ['k-1', '--dry-run']],
])('a find named with %s is found by pas %s', async (_, command, args) => {
  await home.copy().do(...command.replace(' --xml', '').split(' '), ...args);
});

test('a find that is named twice is exported, changed and removed once', async () => {
  const one = home.copy();
  expect(
    (await one.pas('export', 'K-1', 'k-1', '--format', 'csv')).stdout.match(/^K-1;/gm),
  ).toHaveLength(1);
  expect(await one.json('remove', 'K-1', 'k-1', '--yes')).toMatchObject({ removed: ['K-1'] });
});

test('of two finds that differ in the hyphen each is found by its own name, and neither by another one', async () => {
  const one = home.copy();
  await one.pas(
    'import',
    one.file(
      'more.csv',
      'local_id;projekt;stav\nK1;C-202400101;1\nH-12;C-202400101;1\nH-1-2;C-202400101;1\n',
    ),
  );
  const found = async (...names: string[]): Promise<unknown> => {
    const run = await one.pas('export', ...names, '--format', 'csv');
    return run.code === 0 ? run.stdout.match(/^[KH][-\d]+(?=;)/gm) : run.code;
  };
  expect([
    await found('K1', 'K-1'),
    await found('k 1'),
    await found('h12'),
    await found('h112'),
  ]).toEqual([['K1', 'K-1'], ['K1'], ['H-12'], 2]);
});

test('a project in small letters lists its finds', async () => {
  expect(await home.json('list', '--where', 'project=c-202400101')).toHaveLength(2);
});

test('a table and --set name a project with dashes and blanks of a word processor', async () => {
  const one = home.copy();
  one.file('one.csv', `local_id;projekt;stav\nP-1;c${EN_DASH}202400101;1\n`);
  await one.pas('import', 'one.csv');
  const [, , find] = await one.json<{ elements: { projekt: { id: string } } }[]>('list');
  expect(find?.elements.projekt.id).toBe('C-202400101');
});

describe('a second table with the local ids in another writing', () => {
  test.each([
    ['en dashes', `K${EN_DASH}`],
    ['small letters', 'k-'],
  ])('with %s has the same finds', async (_, prefix) => {
    const one = home.copy();
    const table = readFileSync(`${home.folder}/season.csv`, 'utf8');
    const second = table.replaceAll('K-', prefix).replaceAll('pole', 'louka');
    expect(await one.json('import', one.file('second.csv', second))).toMatchObject({
      added: 0,
      updated: 2,
    });
  });
});

test('a find cannot be added beside one whose local id differs in capitals only', async () => {
  const run = await home
    .copy()
    .pas('add', '--draft', '--set', 'local_id=k-1', '--set', 'poznamka=nic');
  await expectEnded(run, 2, 'There is already a find K-1.');
});

describe('registration numbers of a CSV table', () => {
  const imported = async (
    cell: string,
  ): Promise<{ numbers: { value: string }[]; issues: Issue[] }> => {
    const one = home.copy();
    return one.json(
      'number',
      'import',
      one.file('numbers.csv', `local_id;evidencni_cislo\nK-1;${cell}\n`),
    );
  };

  test('a formula is no number', async () => {
    const { numbers, issues } = await imported('"=B2&""x"""');
    expect([numbers, issues.map(({ rule, severity }) => `${severity} ${rule}`)]).toEqual([
      [],
      ['error cell-formula'],
    ]);
  });

  test('the form ="00124" of exports is the text 00124', async () => {
    const { numbers, issues } = await imported('="00124"');
    expect([numbers.map(({ value }) => value), issues]).toEqual([['00124'], []]);
  });
});

describe('a workbook whose first sheet is a cover', () => {
  const cover = {
    name: 'Titul',
    rows: [
      ['Akce', 'Vedoucí', 'Rok'],
      ['Petrovice', 'Novák', 2024],
    ],
  } as const;
  const write = (one: Home, rows: readonly (readonly string[])[]): string =>
    one.file(
      'book.xlsx',
      makeWorkbook([
        cover,
        { name: 'Nálezy', rows },
        { name: 'List3' },
        { name: 'Tajné', state: 'hidden', rows },
      ]),
    );

  test('is imported with the names of the other sheets', async () => {
    const one = home.copy();
    const table = write(one, [
      ['local_id', 'projekt', 'stav'],
      ['S-1', 'C-202400101', '1'],
    ]);
    const { issues } = await one.json('import', table);
    expect(issues.find(({ rule }) => rule === 'table-other-sheets')?.message).toMatch(
      /not read: Nálezy\. .*--sheet/,
    );
    const named = await one.json('import', table, '--sheet', 'Nálezy');
    expect([named.added, named.issues.filter(({ rule }) => rule === 'table-other-sheets')]).toEqual(
      [1, []],
    );
  });

  test('names them for registration numbers and own terms, too', async () => {
    const one = home.copy();
    const numbers = write(one, [
      ['local_id', 'evidencni_cislo'],
      ['K-1', '12'],
    ]);
    expect((await one.pas('number', 'import', numbers)).stdout).toContain('Nálezy');
    expect(await one.json('number', 'import', numbers, '--sheet', 'Nálezy')).toMatchObject({
      queued: 1,
    });
    const terms = write(one, [
      ['set', 'term', 'id', 'confirmed'],
      ['obdobi', 'laten', 'HES-000286', 'yes'],
    ]);
    expect((await one.pas('vocab', 'map', 'import', terms)).stdout).toContain('Nálezy');
    expect(await one.json('vocab', 'map', 'import', terms, '--sheet', 'Nálezy')).toMatchObject({
      added: 1,
    });
  });

  test('the wizard names the flags for the next step', async () => {
    const one = home.copy();
    const table = write(one, [
      ['č. nálezu', 'projekt'],
      ['S-1', 'C-202400101'],
    ]);
    const { stderr } = await one.pas(
      'import',
      table,
      '--wizard',
      '--yes',
      '--sheet',
      'Nálezy',
      '--id-prefix',
      'P-',
    );
    expect(stderr).toMatch(
      /Next: the same command, with --map .*book\.map\.toml --dry-run in place of --wizard\./,
    );
  });
});

describe('a mistyped set of own terms', () => {
  test.each(['heslo:obdobii'])('%s is named when a term is mapped', async (set) => {
    await expectEnded(
      home.pas('vocab', 'map', 'set', set, 'laten', 'nic'),
      2,
      `No element of a find has entries of "${set}". Write a set such as heslo:obdobi`,
    );
  });

  test.each(['heslo:obdobii'])(
    '%s is not said to be missing from the harvest alone when a table is imported',
    async (set) => {
      const one = home.copy();
      const run = await one.pas(
        'vocab',
        'map',
        'import',
        one.file('terms.csv', `set;term;id;confirmed\n${set};laten;HES-000286;yes\n`),
      );
      expect(run.stdout).toContain(`No element of a find has entries of "${set}"`);
      expect(run.stdout).not.toContain('pas harvest-vocab');
    },
  );
});
