import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { beforeAll, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { eventually } from '../support/eventually.ts';
import type { Imported } from '../support/json-output.ts';
import { makeGeoPackage, pointBlob } from '../support/make-geopackage.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { outboxFile } from '../support/outbox-files.ts';
import { expectEnded, type Home, makeHome, PROJECT, signedIn } from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { shareMock } from '../support/use-mock.ts';

const mock = shareMock();
let home: Home;

beforeAll(async () => {
  home = await signedIn(mock.service);
});

test('exported finds that are imported again are unchanged, sent or not, with photographs and numbers', async () => {
  await importSeason(home, 4, { photos: true, state: 2 });
  await home.do('push', '--only', 'import', '--limit', '3', '--quiet');
  await home.do('push', '--only', 'photo', '--limit', '1', '--quiet');
  await home.do('number', 'set', 'K-1', 'MMK 1/2024');
  await home.do('number', 'set', 'K-4', 'MMK 4/2024');
  for (const file of [
    'out/finds.csv',
    'out/finds.xlsx',
    'out/finds.geojson',
    'out/finds.gpkg',
    'out/finds.xml',
  ]) {
    home.file('out/.keep', '');
    const path = join(home.folder, file);
    expect(await home.json('export', '--out', path)).toMatchObject({ finds: 4 });
    expect(await home.json('import', path)).toMatchObject({
      added: 0,
      updated: 0,
      unchanged: 4,
      already_sent: 0,
    });
  }
  expect(readdirSync(join(home.folder, 'out')).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  expect(readFileSync(join(home.folder, 'out/finds.csv'), 'utf8')).toContain(';MMK 4/2024;');
});

test('only the requested finds are written, and no file is replaced without --yes', async () => {
  const out = join(home.folder, 'queued.csv');
  expect(await home.json('export', '--where', 'state=queued', '--out', out)).toMatchObject({
    format: 'csv',
    finds: 1,
  });
  const before = readFileSync(out, 'utf8');
  expect(before.split('\r\n')).toHaveLength(3);
  await expectEnded(home.pas('export', '--out', out), 2, '--yes');
  expect(readFileSync(out, 'utf8')).toBe(before);
  expect(await home.json('export', 'K-1', 'K-2', '--out', out, '--yes')).toMatchObject({
    finds: 2,
  });
  const nowhere = await home.pas('export', '--out', join(home.folder, 'no/such/folder.csv'));
  await expectEnded(nowhere, 2);
  await expectEnded(home.pas('export', '--out', 'finds.doc'), 2);
  await expectEnded(home.pas('export', 'finds.doc'), 2, /no find finds\.doc[\s\S]*\.csv, \.xlsx/);
  expect(existsSync(join(home.folder, 'finds.doc'))).toBe(false);
  expect((await home.do('export', '--format', 'geojson', '--where', 'project=C-1')).stdout).toBe(
    '{"type":"FeatureCollection","features":[\n]}\n',
  );
});

test('an export is readable by its owner alone, unless a person says otherwise', async () => {
  const out = join(home.folder, 'private.csv');
  await home.do('export', '--out', out);
  expect(statSync(out).mode & 0o777).toBe(0o600);
  chmodSync(out, 0o640);
  await home.do('export', '--out', out, '--yes');
  expect(statSync(out).mode & 0o777).toBe(0o640);
});

test('every format is recognised by its content, and missing values come from the command line', async () => {
  const columns = ['local_id', 'datum_nalezu', 'geom_system', 'geom_x', 'geom_y'];
  const workbook = makeWorkbook([
    { name: 'Prázdný' },
    {
      name: 'Nálezy',
      rows: [
        columns,
        ['X-1', { day: 45444 }, 4326, 14.42, '50,08'],
        ['X-2', 45444, 4326, 14.42, 50.08],
      ],
    },
  ]);
  const layer = makeGeoPackage([
    { name: 'nalezy', features: [[pointBlob(14.42, 50.08), { local_id: 'P-1' }]] },
  ]);
  const files = [
    home.file('season.xlsx', workbook),
    home.file('layer.gpkg', layer),
    join(PROJECT, 'test/broken-files/gpx/same-names.gpx'),
  ];
  const constants = [
    '--set',
    'projekt=C-202400101',
    '--set',
    'stav=1',
    '--set',
    'pristupnost=HES-000867',
  ];
  const run = await home.pas('import', ...files, ...constants, '--json');
  await expectEnded(run, 3);
  const report = JSON.parse(run.stdout) as Imported;
  expect(report.issues).toMatchObject([
    { rule: 'date', sheet: 'Nálezy', row: 3, unit: 'row', column: 'datum_nalezu' },
    { rule: 'local-id-twice', row: 2, unit: 'waypoint', line: 4 },
    { rule: 'not-harvested' },
  ]);
  expect(report.added).toBe(3);
  expect((await home.json('show', 'X-1')).elements).toMatchObject({
    projekt: { id: 'C-202400101' },
    stav: 1,
    datum_nalezu: '2024-06-01',
    geom_wkt: 'POINT (14.42 50.08)',
  });
  const piped = execFileSync(
    process.execPath,
    [join(PROJECT, 'bin/pas.js'), 'import', '-', '--json', ...constants],
    {
      env: home.env,
      input: 'local_id;lon;lat\nS-1;14,42;50,08\n',
      encoding: 'utf8',
    },
  );
  expect(JSON.parse(piped)).toMatchObject({ added: 1 });
});

test.each([
  ['no columns of points', 'geom_system\nU-1;5514\nU-2;', true],
  ['only empty ones', 'geom_wkt;geom_sjtsk_wkt\nU-1;;\nU-2;;', true],
  [
    'a layer saved without its geometry',
    'geom_wkt;sending_state\nU-1;POINT (14.41 50.01);\nU-2;;',
    true,
  ],
  ['other points', 'geom_wkt\nU-1;POINT (14.41 50.01)\nU-2;', false],
])(
  'a row without a point removes that of its find only beside other points: %s',
  async (_, rest, isKept) => {
    const file = home.file('p.csv', 'local_id;lon;lat\nU-1;14,41;50,01\nU-2;14,42;50,02\n');
    const set = ['--set', 'projekt=C-202400101', '--on-conflict', 'table'];
    await home.pas('import', file, ...set);
    home.file('p.csv', `local_id;${rest}\n`);
    await home.pas('import', file, ...set);
    const { elements } = await home.json('show', 'U-2');
    expect([elements['geom_system'], elements['geom_wkt']]).toEqual(
      isKept ? ['4326', 'POINT (14.42 50.02)'] : [undefined, undefined],
    );
  },
);

test('an unreadable file ends with 2 and queues nothing', async () => {
  const before = (await home.json('list')).length;
  for (const [file, message] of [
    ['xml/billion-laughs.xml', 'DTD'],
    ['gpkg/not-sqlite.gpkg', 'GeoPackage'],
  ] as const) {
    const run = await home.pas('import', join(PROJECT, 'test/broken-files', file));
    await expectEnded(run, 2, message);
    expect(run.stderr).not.toContain('bug in pas');
  }
  expect((await home.json('list')).length).toBe(before);
});

test('a killed import has whole batches in the outbox, and resumes where it stopped', async () => {
  const killed = await signedIn(mock.service);
  const table = writeSeason(killed, 500);
  const { child, ended } = killed.start('import', table, '--quiet');
  const outbox = openSqlite(outboxFile(killed), { readonly: true });
  const count = outbox.prepare('select count(*) from finds').pluck();
  await eventually(() => count.get()).not.toBe(0);
  child.kill('SIGKILL');
  await ended;
  const keptCount = count.get() as number;
  outbox.close();
  expect(keptCount % 100).toBe(0);
  expect(await killed.json('import', table)).toMatchObject({
    added: 500 - keptCount,
    updated: 0,
    unchanged: keptCount,
  });
});

test('a table that Excel saved as CSV is imported as displayed, and a person may give its encoding', async () => {
  const field = makeHome();
  await field.init(mock.service, '--name', 'field');
  const rows = 'local_id;poznamka\nS-1;střep ze Žďáru\nS-2;šedá hlína\n';
  const table = field.file('season.csv', iconv.encode(rows, 'win1250'));
  const run = await field.pas('import', table);
  expect(run.stdout + run.stderr).toContain(
    'is read as Windows-1250, with words such as střep, Žďáru.',
  );
  const notes = async () =>
    (await field.json<{ elements: { poznamka: string } }[]>('list')).map(
      ({ elements }) => elements.poznamka,
    );
  expect(await notes()).toEqual(['střep ze Žďáru', 'šedá hlína']);
  const dryRun = await field.pas('import', table, '--encoding', 'iso-8859-2', '--dry-run');
  expect(dryRun.stdout + dryRun.stderr).not.toContain('is read as');
  expect(dryRun.stdout).toMatch(/row 2, column poznamka .*U\+008E/);
});

test('a confirmed old day of an export is not doubted again', async () => {
  const field = makeHome();
  await field.init(mock.service, '--name', 'field');
  const rows = 'local_id;datum_nalezu\nS-1;1936-05-01!\nS-2;2024-05-01\nS-3;2024-05-02\n';
  await field.pas('import', field.file('season.csv', rows), '--quiet');
  const path = join(field.folder, 'finds.csv');
  await field.pas('export', path);
  const again = await field.json('import', path);
  expect(again).toMatchObject({ added: 0, updated: 0, unchanged: 3 });
  expect(again.issues.filter(({ rule }) => rule === 'date-plausible')).toEqual([]);
});
