import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { FileError } from '../../src/base/errors.ts';
import { readTable } from '../../src/tables/readers.ts';
import { makeGeoPackage, pointBlob } from '../support/make-geopackage.ts';
import { readFinds } from '../unit/tables/read-finds.ts';
import { tempFolder } from '../support/temp-folder.ts';

const find = (id: string) => ({ local_id: id, projekt: 'C-1', stav: 1 });

describe('a layer of a GeoPackage', () => {
  test('has points in every form that programs write, and features without one', async () => {
    const bytes = makeGeoPackage([
      {
        name: 'nalezy',
        features: [
          [pointBlob(15.1712, 49.8405), find('A-1')],
          [pointBlob(15.1712, 49.8405, { bigEndian: true, z: true, envelope: true }), find('A-2')],
          [pointBlob(15.1712, 49.8405, { multi: 1 }), find('A-3')],
          [null, find('A-4')],
          [pointBlob(Number.NaN, Number.NaN), find('A-5')],
        ],
      },
    ]);
    const { finds, issues } = await readFinds('season.gpkg', bytes);
    expect(issues).toEqual([]);
    expect(finds.map(({ elements }) => elements.geom_wkt)).toEqual([
      'POINT (15.1712 49.8405)',
      'POINT (15.1712 49.8405)',
      'POINT (15.1712 49.8405)',
      undefined,
      undefined,
    ]);
    expect(finds[0]?.source).toEqual({ file: 'season.gpkg', sheet: 'nalezy', unit: 'feature', row: 1 });
  });

  test('has other geometries and damaged ones reported with the number of the feature', async () => {
    const line = pointBlob(15, 49);
    line.writeUInt32LE(2, 9);
    const bytes = makeGeoPackage([
      {
        name: 'nalezy',
        type: 'GEOMETRY',
        features: [
          [pointBlob(-694201.69, -1076185.62), find('A-1')],
          [line, find('A-2')],
          [pointBlob(15, 49, { multi: 2 }), find('A-3')],
          [pointBlob(15, 49).subarray(0, 20), find('A-4')],
          [Buffer.from('nothing'), find('A-5')],
          ['POINT (-694201 -1076185)', find('A-6')],
          [pointBlob(-694201.69, -1076185.62), { ...find('A-7'), poznamka: Buffer.from('lost') }],
        ],
        system: 5514,
      },
    ]);
    const { finds, issues } = await readFinds('season.gpkg', bytes);
    expect(finds.map(({ elements }) => [elements.geom_system, elements.geom_sjtsk_wkt])).toEqual([
      ['5514', 'POINT (-694201.69 -1076185.62)'],
      ['5514', 'POINT (-694201.69 -1076185.62)'],
    ]);
    expect(issues.at(-1)?.message).toContain('Not read: poznamka.');
    expect(issues.slice(0, -1).map(({ rule, row, unit }) => [rule, row, unit])).toEqual(
      [2, 3, 4, 5, 6].map((row) => ['geometry-form', row, 'feature']),
    );
  });

  test('is the first one of points with features, or the named one', async () => {
    const bytes = makeGeoPackage([
      { name: 'plochy', type: 'POLYGON', features: [[null, find('P-1')]] },
      { name: 'prazdna', features: [] },
      { name: 'nalezy', features: [[pointBlob(15, 49), find('A-1')]] },
    ]);
    expect((await readFinds('season.gpkg', bytes)).finds.map(({ localId }) => localId)).toEqual(['A-1']);
    expect((await readFinds('season.gpkg', bytes, { sheet: 'plochy' })).finds.map(({ localId }) => localId)).toEqual(['P-1']);
    expect((await readFinds('season.gpkg', bytes, { sheet: 'PLOCHY' })).finds.map(({ localId }) => localId)).toEqual(['P-1']);
    expect((await readFinds('season.gpkg', bytes, { sheet: '1' })).finds.map(({ localId }) => localId)).toEqual(['P-1']);
    expect((await readFinds('season.gpkg', bytes, { sheet: 'prazdna' })).issues).toMatchObject([{ rule: 'table-no-rows' }]);
    await expect(readFinds('season.gpkg', bytes, { sheet: 'nic' })).rejects.toThrow('no sheet or layer "nic"');
  });
});

describe('a GeoPackage that cannot be read as a whole', () => {
  const good = makeGeoPackage([{ name: 'nalezy', features: [[pointBlob(15, 49), find('A-1')]] }]);
  const empty = Buffer.from(good);
  empty.fill(0, 100);
  test.each([
    ['no layers of points', makeGeoPackage([{ name: 'plochy', type: 'POLYGON', features: [] }]), 'has no sheet or layer'],
    ['another coordinate system', makeGeoPackage([{ name: 'a', system: 32633, features: [] }]), 'EPSG:32633'],
    ['cut short', good.subarray(0, 5000), 'damaged or cut short'],
    ['damaged', empty, 'damaged or cut short'],
  ])('%s', async (_, bytes, message) => {
    const reading = readFinds('season.gpkg', bytes);
    await expect(reading).rejects.toThrow(FileError);
    await expect(reading).rejects.toThrow(message);
  });
});

test('an invalid write-ahead log beside a GeoPackage is ignored, and stays', async () => {
  const folder = tempFolder();
  const path = join(folder, 'season.gpkg');
  writeFileSync(path, makeGeoPackage([{ name: 'nalezy', features: [[pointBlob(15, 49), find('A-1')]] }]));
  writeFileSync(`${path}-wal`, '');
  expect((await readTable(path)).rowCount).toBe(1);
  writeFileSync(`${path}-wal`, 'changes');
  expect((await readTable(path)).rowCount).toBe(1);
  expect(readFileSync(`${path}-wal`, 'utf8')).toBe('changes');
  rmSync(folder, { recursive: true });
});
