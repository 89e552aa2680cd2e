import { copyFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { expectEnded, PROJECT } from '../support/run-pas.ts';
import { shareMock, useVocabularies } from '../support/use-mock.ts';

/** The whole way of a museum's own table, as examples/museum has it. */

const EXAMPLE = join(PROJECT, 'examples', 'museum');

const mock = shareMock();
const home = useVocabularies(mock);

beforeAll(async () => {
  for (const name of readdirSync(EXAMPLE))
    copyFileSync(join(EXAMPLE, name), join(home.folder, name));
});

const read = (name: string): string => readFileSync(join(home.folder, name), 'utf8');

type Numbers = {
  queued: number;
  replaced: number;
  unchanged: number;
  issues: { rule: string; row: number | null; find: string | null }[];
};

describe('the example of a museum', () => {
  test('has the column map that the wizard writes for its table', async () => {
    const flags = ['--set', 'projekt=C-202400101', '--set', 'pristupnost=archeolog'];
    const args = [
      'import',
      'nalezy.csv',
      '--wizard',
      '--yes',
      ...flags,
      '--map',
      'made.toml',
      '--json',
    ];
    const run = await home.with({ PAS_LANG: 'cs' }).pas(...args);
    expect([run.code, JSON.parse(run.stdout)]).toMatchObject([
      0,
      { undecided: [], rows: 40, fixed: { geom_system: '5514' } },
    ]);
    expect(read('made.toml')).toBe(read('nalezy.map.toml'));
    expect(read('nalezy.terms.csv')).toContain('specifikace;ker.');
    await expectEnded(home.pas(...args), 2);
  });

  test('without required elements writes the map, and the exit code says that it is incomplete', async () => {
    const run = await home.pas(
      'import',
      'nalezy.csv',
      '--wizard',
      '--yes',
      '--map',
      'open.toml',
      '--json',
    );
    await expectEnded(run, 3);
    expect(JSON.parse(run.stdout)).toMatchObject({
      map: 'open.toml',
      undecided: ['projekt', 'pristupnost'],
    });
    expect(read('open.toml')).toContain('\n# projekt = ""\n');
    expect((await home.pas('import', 'nalezy.csv', '--wizard')).stderr).toContain('--wizard --yes');
  });

  test('is imported, corrected by means of the copy with issues, sent, and numbered later', async () => {
    await home.do('vocab', 'map', 'import', 'own-terms.csv');
    const map = ['--map', 'nalezy.map.toml'];
    const dry = await home.pas(
      'import',
      'nalezy.csv',
      ...map,
      '--dry-run',
      '--issues-to',
      'mend.xlsx',
      '--json',
    );
    expect([dry.code, JSON.parse(dry.stdout)]).toMatchObject([
      3,
      { dry_run: true, added: 39, invalid: 1, drafts: 0 },
    ]);
    const first = await home.pas(
      'import',
      'nalezy.csv',
      ...map,
      '--issues-to',
      'mend.csv',
      '--json',
    );
    expect(JSON.parse(first.stdout)).toMatchObject({ added: 39, invalid: 1 });
    const [header = '', row = '', ...more] = read('mend.csv').trimEnd().split('\r\n');
    expect(header).toContain('issues;inv. č.;předmět');
    expect(row).toMatch(/^"✗ hloubka: ""0,3–0,5"" is not a whole number.*A 112\/21/);
    expect(more).toHaveLength(39);
    expect(more.filter((line) => line.startsWith('"✗'))).toEqual([]);
    expect((await home.pas('import', 'nalezy.csv', ...map, '--issues-to', 'mend.csv')).code).toBe(
      2,
    );

    home.file('mended.csv', read('mend.csv').replace(';0,3–0,5;', ';0,4;'));
    expect(await home.json('import', 'mended.csv', ...map)).toMatchObject({
      added: 1,
      invalid: 0,
    });
    expect(await home.json('import', 'mend.xlsx', ...map)).toMatchObject({
      unchanged: 39,
      added: 0,
      updated: 0,
    });

    const { elements } = await home.json('show', 'A 108/21');
    expect(elements).toMatchObject({
      hloubka: 15,
      nalezce: { text: 'Novák, Jan' },
      poznamka: expect.stringMatching(/^váha \(g\): .*; regál: .*; datum nál\.: 2019$/),
      geom_sjtsk_wkt: 'POINT (-694270.14 -1076036.94)',
    });
    expect(elements['datum_nalezu']).toBeUndefined();

    await expectEnded(home.pas('push', '--accept-new-people'), 0);
    expect(await home.json<Numbers>('number', 'import', 'numbers.csv', '--dry-run')).toMatchObject({
      queued: 12,
    });
    expect(await home.json<Numbers>('number', 'import', 'numbers.csv')).toMatchObject({
      queued: 12,
      unchanged: 0,
      issues: [],
    });
    await expectEnded(home.pas('push'), 0);
    expect(await home.json<Numbers>('number', 'import', 'numbers.csv')).toMatchObject({
      queued: 0,
      replaced: 0,
      unchanged: 12,
    });
    const status = await home.json('status');
    expect(status.entries.number).toMatchObject({ accepted: 12 });
  });

  test('a table of numbers reports errors by row, and queues the rest', async () => {
    home.file(
      'odd-numbers.csv',
      [
        'local_id;ident_cely;ev. č.',
        'A 105/21;; MMK A 1/2025 ',
        'A 106/21;;MMK A 1/2025',
        'A 107/21;;MMK A 2200/2024',
        'nikdo;;MMK A 3/2025',
        ';C-202400101-N99999;MMK A 4/2025',
        'A 108/21;C-202400101-N99999;MMK A 5/2025',
        'A 110/21;;MMK A 6/2025',
        'A 110/21;;MMK A 7/2025',
        `A 111/21;;${'x'.repeat(256)}`,
        'A 112/21;;',
        ';;MMK A 8/2025',
      ].join('\n'),
    );
    const run = await home.pas('number', 'import', 'odd-numbers.csv', '--replace', '--json');
    const report = JSON.parse(run.stdout) as Numbers;
    expect([run.code, report.queued, report.replaced]).toEqual([3, 1, 0]);
    expect(
      report.issues
        .map(({ rule, row }) => `${row} ${rule}`)
        .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    ).toEqual([
      '2 number-used',
      '3 number-used',
      '4 number-used',
      '5 number-find',
      '7 number-find',
      '9 number-twice',
      '10 number-length',
      '11 number-empty',
      '12 number-find',
    ]);
    expect(run.stdout).toContain('There is no find nikdo.');
    expect(run.stdout).toContain('also the number of A 106/21');
    expect(run.stdout).toContain('also the number of A 101/21');
    const again = JSON.parse(
      (await home.pas('number', 'import', 'odd-numbers.csv', '--json')).stdout,
    ) as Numbers;
    expect(again).toMatchObject({ queued: 0, replaced: 0, unchanged: 1 });
  });
});

test('text that looks like a formula stays text in the copy, and is read back unchanged', async () => {
  const rows = ['č.;popis;Y', '1;=HYPERLINK("http://x");-694201,69', '1;+420 1;-5'];
  home.file('formula.csv', rows.join('\n'));
  home.file(
    'formula.toml',
    'version = 1\n[columns]\n"č." = "local_id"\npopis = "poznamka"\nY = "ignore"\n',
  );
  const args = ['import', 'formula.csv', '--map', 'formula.toml', '--dry-run', '--issues-to'];
  await expectEnded(home.pas(...args, 'formula-issues.csv'), 3);
  const [, first = '', second = ''] = read('formula-issues.csv').split('\r\n');
  expect(second).toMatch(/;1;"'=HYPERLINK\(""http:\/\/x""\)";-694201,69$/);
  expect(first).toMatch(/^"✗ Rows 2 and 3 .*;1;'\+420 1;-5$/);
});

test('a broken map, or a copy that cannot be written, stops before anything is changed', async () => {
  home.file(
    'broken.toml',
    'version = 1\n[columns]\n"inv. č." = "lokal_id"\n[fixed]\nstav = "9"\nprojekt = "a b"\n',
  );
  await expectEnded(
    home.pas('import', 'nalezy.csv', '--map', 'broken.toml'),
    2,
    'There is no element lokal_id. Did you mean local_id?',
  );
  home.file(
    'fixed.toml',
    'version = 1\n[columns]\n"inv. č." = "local_id"\n[fixed]\nstav = "9"\nprojekt = "a b"\n',
  );
  const fixed = await home.pas('import', 'nalezy.csv', '--map', 'fixed.toml');
  expect([fixed.code, fixed.stderr.match(/✗/g)?.length]).toEqual([2, 2]);
  await expectEnded(
    home.pas('import', 'nalezy.csv', 'numbers.csv', '--issues-to', 'x.csv'),
    2,
    '--issues-to copies one table.',
  );
  await expectEnded(
    home.pas('import', 'nalezy.csv', '--issues-to', './nalezy.csv'),
    2,
    'a file other than the table',
  );
  expect(read('nalezy.csv')).toBe(readFileSync(join(EXAMPLE, 'nalezy.csv'), 'utf8'));
  await expectEnded(home.pas('import', 'nalezy.csv', '--map', 'missing.toml'), 2);
  expect(existsSync(join(home.folder, 'x.csv'))).toBe(false);
});

test('a copy of a file that is not a spreadsheet is refused before any find is queued', async () => {
  const properties = { local_id: 'W-1', projekt: 'C-202400101', stav: 1, poznamka: 'on the walk' };
  const walk = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [15.1712, 49.8405] },
    properties,
  };
  home.file('walk.geojson', JSON.stringify({ type: 'FeatureCollection', features: [walk] }));
  await expectEnded(
    home.pas('import', 'walk.geojson', '--issues-to', 'walk.csv'),
    2,
    'walk.geojson is neither',
  );
  await expectEnded(home.pas('show', 'W-1'), 2);
});
