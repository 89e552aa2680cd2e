import { describe, expect, test } from 'vitest';
import { FileError } from '../../src/base/errors.ts';
import { makeGeoPackage, pointBlob } from '../support/make-geopackage.ts';
import { makeWorkbook } from '../support/make-workbook.ts';
import { readFinds } from '../unit/tables/read-finds.ts';

/**
 * Mistakes that a table of any kind may have, held against every reader: the second of two finds is
 * wrong.
 */

type Row = { readonly id: string; readonly lon: number; readonly lat: number; readonly note: string };
type Reader = {
  /** Number of the second find, as the reader counts. */
  readonly second: number;
  /** A text file is refused whole for one wrong byte, as is XML for one control character. */
  readonly isText: boolean;
  readonly isXml: boolean;
  readonly write: (rows: readonly Row[]) => Buffer;
};

const NAMESPACE = 'http://127.0.0.1/schema/svc/2.2/';
const lines = (...parts: readonly string[]): Buffer => Buffer.from(`${parts.join('\n')}\n`);
const COLUMNS = ['local_id', 'geom_system', 'geom_x', 'geom_y', 'poznamka'];
const makeCells = ({ id, lon, lat, note }: Row): string[] => [id, '4326', `${lon}`, `${lat}`, note];
const makeDocument = ({ id, lon, lat, note }: Row): string =>
  `<find local_id="${id}"><s:svc xmlns:s="${NAMESPACE}"><s:samostatny_nalez><s:ident_cely>:tba</s:ident_cely>
<s:poznamka>${note}</s:poznamka><s:geom_system>4326</s:geom_system><s:chranene_udaje>
<s:geom_wkt EPSG="4326">POINT (${lon} ${lat})</s:geom_wkt></s:chranene_udaje></s:samostatny_nalez></s:svc></find>`;

const makeFeature = ({ id, lon, lat, note }: Row) => ({
  type: 'Feature',
  geometry: { type: 'Point', coordinates: [lon, lat] },
  properties: { local_id: id, poznamka: note },
});
const READERS: Readonly<Record<string, Reader>> = {
  csv: {
    second: 3,
    isText: true,
    isXml: false,
    write: (rows) => lines(COLUMNS.join(';'), ...rows.map((row) => makeCells(row).join(';'))),
  },
  xlsx: {
    second: 3,
    isText: false,
    isXml: false,
    write: (rows) => makeWorkbook([{ name: 'Nálezy', rows: [COLUMNS, ...rows.map(makeCells)] }]),
  },
  geojson: {
    second: 2,
    isText: true,
    isXml: false,
    write: (rows) =>
      Buffer.from(
        JSON.stringify({
          type: 'FeatureCollection',
          features: rows.map(makeFeature),
        }),
      ),
  },
  gpkg: {
    second: 2,
    isText: false,
    isXml: false,
    write: (rows) =>
      makeGeoPackage([
        {
          name: 'nalezy',
          features: rows.map(({ id, lon, lat, note }) => [pointBlob(lon, lat), { local_id: id, poznamka: note }]),
        },
      ]),
  },
  gpx: {
    second: 2,
    isText: true,
    isXml: true,
    write: (rows) =>
      lines(
        '<gpx version="1.1" creator="test" xmlns="http://www.topografix.com/GPX/1/1">',
        ...rows.map(
          ({ id, lon, lat, note }) => `<wpt lat="${lat}" lon="${lon}"><name>${id}</name><desc>${note}</desc></wpt>`,
        ),
        '</gpx>',
      ),
  },
  xml: {
    second: 2,
    isText: true,
    isXml: true,
    write: (rows) => lines('<finds xmlns="urn:pas:finds:1">', ...rows.map(makeDocument), '</finds>'),
  },
};

const RIGHT: Row = { id: 'A-1', lon: 15.1712, lat: 49.8405, note: 'nález' };
const MISTAKES: readonly (readonly [string, Partial<Row>, string, RegExp])[] = [
  ['swapped coordinates', { lon: 49.8405, lat: 15.1712 }, 'geometry-range', /axes swapped/],
  ['Null Island', { lon: 0, lat: 0 }, 'geometry-range', /0 0 is what a device records/],
  ['abroad', { lon: 16.37, lat: 48.2 }, 'geometry-area', /outside Czechia/],
  ['a wrong sign', { lon: -15.1712 }, 'geometry-range', /wrong sign/],
  ['a duplicate id', { id: 'A-1' }, 'local-id-twice', /A-1/],
];

describe.each(Object.entries(READERS))('a table as %s', (extension, { second, isText, isXml, write }) => {
  const read = (bytes: Buffer) => readFinds(`season.${extension}`, bytes, { checked: true });
  const withSecond = (changes: Partial<Row>): Buffer => write([RIGHT, { ...RIGHT, id: 'A-2', ...changes }]);
  const issueOfSecond = (rule: string, message: RegExp) => [
    expect.objectContaining({ rule, row: second, file: `season.${extension}`, message: expect.stringMatching(message) }),
  ];
  const ofPlaces = async (bytes: Buffer) =>
    (await read(bytes)).issues.filter(({ rule }) => /^(geometry|local-id|table)-/.test(rule));

  test('is read where it is valid', async () => {
    expect(await ofPlaces(withSecond({}))).toEqual([]);
    expect((await read(withSecond({}))).finds.map(({ localId }) => localId)).toEqual(['A-1', 'A-2']);
  });

  test.each(MISTAKES)('with %s is reported with its place', async (_, changes, rule, message) => {
    expect(await ofPlaces(withSecond(changes))).toEqual(issueOfSecond(rule, message));
  });

  test('with a control character is reported with its place', async () => {
    const bytes = withSecond({ note: 'zvonek\u0007' });
    if (isXml) await expect(read(bytes)).rejects.toThrow(/line \d+/);
    else expect(await ofPlaces(bytes)).toEqual(issueOfSecond('table-control-character', /U\+0007/));
  });

  if (!isText) return;

  test('in another encoding is refused whole, with the place', async () => {
    const bytes = withSecond({ note: 'n~lez' });
    bytes[bytes.indexOf('~')] = 0xe1;
    await expect(read(bytes)).rejects.toThrow(FileError);
    await expect(read(bytes)).rejects.toThrow(/line \d+|byte \d+/);
  });
});
