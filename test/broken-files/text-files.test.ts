import { basename, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileError } from '../../src/base/errors.ts';
import { readFinds } from '../unit/tables/read-finds.ts';

const CONSTANTS = ['projekt=C-202400101', 'stav=1', 'pristupnost=HES-000867'];

/** `rule row element-or-column`, of errors only. */
async function listErrors(name: string): Promise<string[]> {
  const path = join(import.meta.dirname, name);
  const { issues } = await readFinds(path, undefined, { constants: CONSTANTS, checked: true });
  const errors = issues.filter(({ severity }) => severity === 'error');
  for (const issue of errors) expect(basename(issue.file ?? '')).toBe(basename(name));
  return errors.map(({ rule, row, element, column }) =>
    [rule, row, element ?? column].filter((part) => part !== undefined).join(' '),
  );
}

describe('an error in a row is reported with its place, and the other rows are read', () => {
  test.each([
    [
      'csv/krovak-without-signs.csv',
      ['geometry-range 3 geom_sjtsk_wkt', 'geometry-range 4 geom_sjtsk_wkt', 'geometry-range 5 geom_wkt'],
      ['A-1', 'A-2', 'A-3', 'A-4'],
    ],
    ['csv/day-numbers.csv', ['date 3 datum_nalezu', 'date 4 datum_nalezu'], ['A-1']],
    ['csv/unclosed-quote.csv', ['table-quote 3'], ['A-1', 'A-3']],
    ['csv/header-only.csv', ['table-no-rows'], []],
    ['csv/mistyped-column.csv', ['column-unknown 1 datum_nalzu'], []],
    ['geojson/not-points.geojson', ['geometry-form 2', 'geometry-form 3', 'geometry-form 5'], ['A-1', 'A-4']],
    ['geojson/moved-point.geojson', ['point-twice 2 geom_wkt', 'coordinate-system 3 geom_system'], ['A-1']],
    ['geojson/structured-property.geojson', ['feature-property 2', 'table-control-character 3 poznamka'], ['A-1']],
    ['geojson/no-features.geojson', ['table-no-rows'], []],
    [
      'gpx/positions.gpx',
      ['geometry-form 2', 'local-id 5 local_id', 'geometry-range 3 geom_wkt', 'geometry-range 4 geom_wkt'],
      ['A-1', 'A-3', 'A-4'],
    ],
    ['xml/harvested.xml', ['place-withheld 2', 'already-recorded 1 ident_cely', 'target-state 4 stav'], 1],
  ])('%s', async (name, errors, finds) => {
    expect(await listErrors(name)).toEqual(errors);
    const read = await readFinds(join(import.meta.dirname, name), undefined, { constants: CONSTANTS });
    if (typeof finds === 'number') expect(read.finds).toHaveLength(finds);
    else expect(read.finds.map(({ localId }) => localId)).toEqual(finds);
  });
});

test.each([
  ['csv/windows-1250.csv', 'Windows-1250'],
  ['csv/utf-16.csv', 'UTF-16'],
])('%s is read, with a message', async (name, encoding) => {
  const { finds, issues } = await readFinds(join(import.meta.dirname, name));
  expect(finds.length).toBeGreaterThan(0);
  expect(issues).toMatchObject([{ rule: 'table-encoding', severity: 'warning', message: expect.stringContaining(encoding) }]);
});

describe('an unreadable file is one error with advice', () => {
  test.each([
    ['csv/empty.csv', 'is empty'],
    ['csv/named.xlsx', 'another format (XLSX)'],
    ['geojson/cut-short.geojson', 'JSON at position 300'],
    ['geojson/other-json.json', 'no GeoJSON features'],
    ['geojson/other-system.geojson', 'EPSG::32633'],
    ['gpkg/not-sqlite.gpkg', 'another format (GeoPackage)'],
    ['gpx/cut-short.gpx', 'line 3'],
    ['gpx/entity.gpx', 'a DTD is not allowed'],
    ['gpx/only-tracks.gpx', 'no waypoints'],
    ['xml/billion-laughs.xml', 'a DTD is not allowed'],
    ['xml/other-namespace.xml', 'http://example.org/other'],
    ['xml/page.html', 'in a format that pas does not read'],
  ])('%s', async (name, message) => {
    const reading = readFinds(join(import.meta.dirname, name));
    await expect(reading).rejects.toThrow(FileError);
    await expect(reading).rejects.toThrow(message);
  });
});
