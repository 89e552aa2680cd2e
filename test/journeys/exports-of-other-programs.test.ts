import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Imported } from '../support/json-output.ts';
import { workbookParts } from '../support/make-workbook.ts';
import { makeZip } from '../support/make-zip.ts';
import { expectEnded, setFlags } from '../support/run-pas.ts';
import { useMock, useVocabularies } from '../support/use-mock.ts';

const mock = useMock();
const home = useVocabularies(mock);

const SET = setFlags('projekt=C-202400101', 'stav=1', 'pristupnost=archeolog');

/** Imports a file into a home of its own. */
async function imported(name: string, content: string | Buffer, ...more: string[]) {
  const homeCopy = home.copy();
  const run = await homeCopy.pas('import', homeCopy.file(name, content), ...SET, ...more, '--json');
  const report = run.stdout === '' ? undefined : (JSON.parse(run.stdout) as Imported);
  return { own: homeCopy, run, report, finds: await homeCopy.json('list') };
}

const waypoint = (root: string): string =>
  `${root}<wpt lat="49.84050" lon="15.17120"><name>A1</name></wpt></gpx>`;

describe('pas import reads', () => {
  test.each([
    ['GPX without a namespace', '<?xml version="1.0"?><gpx version="1.1" creator="a">'],
    ['GPX whose namespace begins with https', '<gpx xmlns="https://www.topografix.com/GPX/1/1">'],
    ['GPX in windows-1252', '<?xml version="1.0" encoding="windows-1252"?><gpx>'],
  ])('%s', async (_, root) => {
    const { finds } = await imported('walk.gpx', waypoint(root));
    expect(finds).toMatchObject([
      { local_id: 'A1', elements: { geom_wkt: 'POINT (15.17120 49.84050)' } },
    ]);
  });

  test('ESRI:102067, which is S-JTSK, in every format that names its system', async () => {
    const x = -693_922.37;
    const y = -1_076_044.69;
    const wkt = `POINT (${x} ${y})`;
    const csv = await imported(
      'a.csv',
      `local_id;geom_system;geom_x;geom_y\nC;ESRI:102067;${x};${y}\n`,
    );
    const ewkt = await imported(
      'a.csv',
      `local_id;wkt\nW;SRID=102067;POINT(${x} ${y})\n`
        .replace('SRID=102067;POINT', '"SRID=102067;POINT')
        .replace(')\n', ')"\n'),
    );
    const feature = `{"type":"Feature","geometry":{"type":"Point","coordinates":[${x},${y}]},"properties":{"local_id":"G"}}`;
    const crs = '{"type":"name","properties":{"name":"urn:ogc:def:crs:ESRI::102067"}}';
    const geojson = await imported(
      'a.geojson',
      `{"type":"FeatureCollection","crs":${crs},"features":[${feature}]}`,
    );
    for (const { finds } of [csv, ewkt, geojson])
      expect(finds).toMatchObject([{ elements: { geom_system: '5514', geom_sjtsk_wkt: wkt } }]);
  });

  test('a workbook whose parts use other letter cases', async () => {
    const parts = workbookParts([
      {
        name: 'A',
        rows: [
          ['local_id', 'poznamka'],
          ['A-1', 'x'],
        ],
      },
    ]);
    const renamed = parts.map((part) => ({
      ...part,
      name: part.name
        .replace('xl/workbook.xml', 'xl/Workbook.xml')
        .replace('sheet1.xml', 'Sheet1.xml'),
    }));
    expect((await imported('a.xlsx', makeZip(renamed))).finds).toMatchObject([
      { local_id: 'A-1', elements: { poznamka: 'x' } },
    ]);
  });
});

test('a waypoint is named by its name in every later error, and not by a row of a table that it never was in', async () => {
  const gpx = '<gpx><wpt lat="15.1712" lon="49.8405"><name>W1-002</name></wpt></gpx>';
  const { own, report } = await imported('walk.gpx', gpx);
  expect(report?.issues).toMatchObject([{ find: 'W1-002', unit: 'waypoint', row: 1 }]);
  const validated = await own.pas('validate');
  expect(validated.stdout).toContain('W1-002');
  expect(validated.stdout + (await own.pas('show', 'W1-002')).stdout).not.toMatch(/row \d/);
});

test.each<readonly [string, string | Buffer]>([
  [
    'a.html',
    '<!DOCTYPE html>\n<html><body><table><tr><td>local_id</td></tr></table></body></html>',
  ],
  ['a.xls', '<html><body><table><tr><td>local_id</td></tr></table></body></html>'],
  ['a.ods', makeZip([{ name: 'content.xml', content: '<a/>' }])],
  ['a.kml', '<?xml version="1.0"?><!-- a --><kml/>'],
  ['a.DBF', '\x03'],
  ['vrstva.zip', makeZip([{ name: 'vrstva/a.shp', content: 'x' }])],
])('a format that is not read is refused with some to save it in: %s', async (name, content) => {
  const { run } = await imported(name, content);
  await expectEnded(run, 2, /does not read[\s\S]*Save it as \.xlsx.*GeoPackage/);
});

test('the records of a harvest are no table, and a person learns how to get one', async () => {
  const { run } = await imported('records.jsonl', '{"identifier":"A"}\n{"identifier":"B"}\n');
  await expectEnded(run, 2, /records of pas harvest, use `pas pull` and `pas export`/);
});

test('every reader removes the formula mark, whatever program the file went through', async () => {
  const note = "'- okraj";
  const xlsx = makeZip(
    workbookParts([
      {
        name: 'A',
        rows: [
          ['local_id', 'poznamka'],
          ['A', note],
        ],
      },
    ]),
  );
  const feature = `{"type":"Feature","geometry":null,"properties":{"local_id":"A","poznamka":"${note}"}}`;
  const gpx = `<gpx><wpt lat="49.8" lon="15.2"><name>A</name><desc>${note}</desc></wpt></gpx>`;
  const files: [string, string | Buffer][] = [
    ['a.csv', `local_id;poznamka\nA;${note}\n`],
    ['a.xlsx', xlsx],
    ['a.geojson', `{"type":"FeatureCollection","features":[${feature}]}`],
    ['a.gpx', gpx],
  ];
  for (const [name, content] of files)
    expect((await imported(name, content)).finds).toMatchObject([
      { elements: { poznamka: '- okraj' } },
    ]);
  const { own: homeCopy } = await imported(
    'a.csv',
    "local_id;poznamka\nA;\"''- okraj\"\nB;'okraj\n",
  );
  for (const name of ['b.csv', 'b.xlsx', 'b.geojson', 'b.gpkg']) {
    const out = join(homeCopy.folder, name);
    await homeCopy.do('export', '--out', out);
    expect(await homeCopy.json('import', out)).toMatchObject({
      added: 0,
      updated: 0,
      unchanged: 2,
    });
  }
  const terms = makeZip(
    workbookParts([
      {
        name: 'A',
        rows: [
          ['set', 'term', 'id', 'confirmed'],
          ['heslo:obdobi', "'-pravěk", '', ''],
        ],
      },
    ]),
  );
  const mapped = await homeCopy.pas(
    'vocab',
    'map',
    'import',
    homeCopy.file('terms.xlsx', terms),
    '--json',
  );
  expect(mapped.stdout).not.toContain("'-pravěk");
});
