import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/base/disk/database.ts';
import { FileError } from '../../src/base/errors.ts';
import { parseCsvTable } from '../../src/tables/formats/csv-table.ts';
import { parseTableBytes } from '../../src/tables/readers.ts';
import { makeGeoPackage, pointBlob } from '../support/make-geopackage.ts';
import { makeWorkbook, type WorkbookCell, workbookParts } from '../support/make-workbook.ts';
import { makeZip } from '../support/make-zip.ts';
import { MEASURES_MEMORY, readPeakOfRefusal } from './peak-memory.ts';

const TOO_LARGE = /is larger than pas reads/;
const HEADER = ['local_id', 'projekt', 'stav'];

async function refusal(file: string, bytes: Buffer): Promise<string> {
  try {
    await parseTableBytes(file, bytes);
  } catch (thrown) {
    if (thrown instanceof FileError) return thrown.message;
    throw thrown;
  }
  return 'it was read';
}

const workbook = (...cells: readonly WorkbookCell[]): Buffer =>
  makeWorkbook([{ name: 'a', rows: [HEADER, ['A-1', 'C-1', 1, ...cells]] }]);
/** Markup between the rows of a sheet. */
const rows = (xml: string): Buffer =>
  workbook({ xml: `<c r="D2"><v>1</v></c></row>${xml}<row r="1048576">` });

describe('a workbook built to fill the memory, or to never end, is one clear error:', () => {
  test.each([
    [
      'a cell at the last place of a sheet',
      rows('<row r="1048575"><c r="XFD1048575"><v>1</v></c></row>'),
      TOO_LARGE,
    ],
    [
      'a row number beyond every sheet',
      rows('<row r="99999999999"><c r="A99999999999"><v>1</v></c></row>'),
      'is damaged or cut short',
    ],
    [
      'a million row elements',
      rows(Array.from({ length: 1_000_000 }, (_, at) => `<row r="${at + 3}"/>`).join('')),
      TOO_LARGE,
    ],
    [
      'ranges that are merged again and again',
      makeWorkbook([
        {
          name: 'a',
          rows: [HEADER, ...Array.from({ length: 30_000 }, () => ['A', 'B', 'C'])],
          merged: Array.from({ length: 1000 }, () => 'A3:A30000'),
        },
      ]),
      TOO_LARGE,
    ],
  ])('%s', async (_, bytes, message) => {
    expect(await refusal('season.xlsx', bytes)).toMatch(message);
  });

  test('unclosed tags are scanned once', async () => {
    const endless = ['<mergeCell ', '<c ', '<row ', '<c r="A1">']
      .map((tag) => tag.repeat(100_000))
      .join('');
    expect(await refusal('season.xlsx', rows(`<row r="3"><c r="A3"><f>${endless}`))).toContain(
      'xl/worksheets/sheet1.xml is not valid XML',
    );
  });
});

describe('a GeoPackage built to never end is one clear error:', () => {
  const find = { local_id: 'A-1', projekt: 'C-1', stav: 1 };
  const changed = (sql: string): Buffer => {
    const database = openSqlite(
      makeGeoPackage([{ name: 'nalezy', features: [[pointBlob(15, 49), find]] }]),
    );
    database.exec(sql);
    const bytes = database.serialize();
    database.close();
    return bytes;
  };
  const endless = 'with recursive n(i) as (select 1 union all select i + 1 from n)';
  test.each([
    [
      'a view without end',
      `drop table nalezy; create view nalezy as ${endless} select i as fid, null as geom from n where i < 0`,
    ],
    [
      'a view that loads a program',
      "drop table nalezy; create view nalezy as select 1 as fid, load_extension('x') as geom",
    ],
    [
      'a view of zeros',
      'drop table nalezy; create view nalezy as select 1 as fid, zeroblob(1000000000) as geom',
    ],
    ['a computed column of zeros', 'alter table nalezy add column zeros as (zeroblob(900000000))'],
    [
      'a list of layers that is a view',
      `alter table gpkg_contents rename to kept; create view gpkg_contents as ${endless} select 'x' as table_name, 'features' as data_type, i as srs_id from n where i < 0`,
    ],
  ])('%s', async (_, sql) => {
    expect(await refusal('season.gpkg', changed(sql))).toContain('is computed when it is read');
  });
});

describe('a text table beyond all real sizes is one clear error:', () => {
  test('a million rows, even if they are wrong', () => {
    const bytes = Buffer.from(`${HEADER.join(';')}\n${'A;B\n'.repeat(1_000_000)}`);
    expect(() => parseCsvTable('season.csv', bytes)).toThrow(TOO_LARGE);
  });

  test.each(['\n', ' \r\n', ';;\n'])('sixty megabytes of the blank line %j', (line) => {
    const blank = Buffer.alloc(60_000_000, line);
    expect(() => parseCsvTable('season.csv', blank)).toThrow(TOO_LARGE);
    const below = Buffer.concat([Buffer.from(`${HEADER.join(';')}\nA;C-1;1\n`), blank]);
    expect(() => parseCsvTable('season.csv', below)).toThrow(TOO_LARGE);
  });

  test.each([
    ['more features than any season has', '{"type":"Feature"}', 100_001, TOO_LARGE],
    ['features that are none', '[]', 3_000_000, TOO_LARGE],
    ['values without end', '1', 20_000_002, TOO_LARGE],
  ])('%s', async (_, feature, count, message) => {
    const bytes = Buffer.from(
      `{"type":"FeatureCollection","features":[${`${feature},`.repeat(count)}1]}`,
    );
    expect(await refusal('season.geojson', bytes)).toMatch(message);
  });

  test('features with different property names each', async () => {
    const features = Array.from({ length: 20_000 }, (_, at) => ({
      type: 'Feature',
      geometry: null,
      properties: { [`p${at}`]: at },
    }));
    const bytes = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }));
    expect(await refusal('season.geojson', bytes)).toMatch(TOO_LARGE);
  });

  test.each([
    ['a feature that goes ever deeper', '['.repeat(600_000) + ']'.repeat(600_000), 'feature'],
    [
      'a text that is longer than any note',
      JSON.stringify({ type: 'Feature', properties: { local_id: 'x'.repeat(1_100_000) } }),
      'table-cell-length',
    ],
  ])('but %s is an error of its row, and the other rows are read', async (_, feature, rule) => {
    const sound = '{"type":"Feature","geometry":null,"properties":{"local_id":"A, ]} \\\\"}}';
    const table = await parseTableBytes(
      'season.geojson',
      Buffer.from(`{"features":[${sound},${feature} , ${sound}],"type":"FeatureCollection"}`),
    );
    expect([...table.rows].map(({ row, cells }) => [row, ...cells])).toEqual(
      [1, 3].map((row) => [row, 'A, ]} \\']),
    );
    expect(table.issues).toMatchObject([{ rule, row: 2 }]);
  });

  test('but a text longer than any spreadsheet cell is an error of its row, and the other rows are read', () => {
    const { rows, issues } = parseCsvTable(
      'season.csv',
      Buffer.from(`${HEADER.join(';')}\nA;${'x'.repeat(32_768)};1\nB;${'x'.repeat(32_767)};1\n`),
    );
    expect([...rows].map(({ row }) => row)).toEqual([3]);
    expect(issues).toMatchObject([{ rule: 'table-cell-length', row: 2, column: 'projekt' }]);
  });

  test('a million cells with invalid characters', () => {
    const bytes = Buffer.from(
      `${'a;'.repeat(999)}a\n${`${'\u0001;'.repeat(999)}\u0001\n`.repeat(1000)}`,
    );
    expect(() => parseCsvTable('season.csv', bytes)).toThrow(TOO_LARGE);
  });
});

/** Five million bytes may take so many seconds of the processor. */
const MAX_BYTES = 5_000_000;
const MAX_SECONDS = 20;
const long = 'x'.repeat(32_000);
const sharedText = (cells: string): Buffer => {
  const [types, book, relations, styles, sheet] = workbookParts([{ name: 'a', rows: [HEADER] }]);
  const related = `${relations?.content}`.replace(
    '</Relationships>',
    '<Relationship Id="rId98" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/sharedStrings" Target="sharedStrings.xml"/></Relationships>',
  );
  const content = `${sheet?.content}`.replace('</sheetData>', `${cells}</sheetData>`);
  const texts = { name: 'xl/sharedStrings.xml', content: `<sst><si><t>${long}</t></si></sst>` };
  const parts = [types, book, { name: 'xl/_rels/workbook.xml.rels', content: related }, styles];
  return makeZip(
    [...parts, { name: 'xl/worksheets/sheet1.xml', content }, texts].flatMap((part) => part ?? []),
  );
};

describe.skipIf(!MEASURES_MEMORY)('a small file takes little time, whatever is in it:', () => {
  test.each<readonly [string, string, () => Buffer | string, RegExp]>([
    [
      'a workbook with one long text in 900,000 cells',
      'season.xlsx',
      () => sharedText(`<row>${'<c t="s"><v>0</v></c>'.repeat(9)}</row>`.repeat(100_000)),
      TOO_LARGE,
    ],
    [
      'rows that each open a quote',
      'season.csv',
      () => `local_id;poznamka\n${'A;"x\n'.repeat(900_000)}`,
      /table-quote/,
    ],
    [
      'nothing but line breaks',
      'season.csv',
      () => `local_id;poznamka\nA;x\n${'\n'.repeat(1_900_000)}`,
      /projekt/,
    ],
    [
      'GeoJSON that goes ever deeper',
      'season.geojson',
      () =>
        `{"type":"FeatureCollection","features":[${'['.repeat(2_400_000)}${']'.repeat(2_400_000)}]}`,
      /not a GeoJSON feature/,
    ],
    [
      'GPX that goes ever deeper',
      'season.gpx',
      () => gpx(`${'<wpt>'.repeat(290_000)}${'</wpt>'.repeat(290_000)}`),
      /is not valid XML/,
    ],
    [
      'an archive of line breaks',
      'season.xlsx',
      () =>
        makeZip([
          { name: 'xl/workbook.xml', content: '<workbook/>' },
          ...Array.from({ length: 20 }, (_, at) => ({
            name: `xl/media/${at}.xml`,
            content: Buffer.alloc(60_000_000, 0x0a),
          })),
        ]),
      TOO_LARGE,
    ],
    [
      'a workbook of as many rows as are read',
      'season.xlsx',
      () =>
        makeWorkbook([
          {
            name: 'a',
            rows: [HEADER, ...Array.from({ length: 99_000 }, (_, at) => [`A-${at}`, 'C-1', 1])],
          },
        ]),
      /99000/,
    ],
  ])('%s', async (_, name, makeContent, message) => {
    const content = makeContent();
    expect(content.length).toBeLessThanOrEqual(MAX_BYTES);
    const { processorSeconds } = await readPeakOfRefusal(name, content, message);
    expect(processorSeconds).toBeLessThan(MAX_SECONDS);
  });
});

const gpx = (inner: string): string =>
  `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1">${inner}</gpx>`;
const waypoint = (note: string): string =>
  `<wpt lat="49" lon="15"><name>A</name><desc>${note}</desc></wpt>`;

describe('a long document is read with little of it in memory:', () => {
  test('waypoints after the track of a whole season', async () => {
    const track = `<trk><trkseg>${'<trkpt lat="49" lon="15"><ele>1</ele></trkpt>'.repeat(400_000)}</trkseg></trk>`;
    const table = await parseTableBytes(
      'season.gpx',
      Buffer.from(gpx(`${track}\n${waypoint('a')}<rte><wpt lat="1" lon="1"/></rte>`)),
    );
    expect([...table.rows]).toMatchObject([{ row: 1, line: 2 }]);
    expect([...table.rows]).toHaveLength(1);
  });

  test('text between the elements of every waypoint', async () => {
    const table = await parseTableBytes(
      'season.gpx',
      Buffer.from(gpx('<wpt lat="49" lon="15"><name>A</name>\nx</wpt>\n'.repeat(50_000))),
    );
    expect(table.issues).toHaveLength(50_000);
    expect(table.issues.at(-1)).toMatchObject({ row: 50_000, line: 99_999 });
  });
});

/** Limit of memory of `pas` for any file of at most 64 MiB. */
const MAX_PEAK_BYTES = 400 * 1024 * 1024;

/** Ten million of them stay below the limit of a file. */
const line = (point: string): string => point.repeat(10_000_000);

describe.skipIf(!MEASURES_MEMORY)(
  'a file built to fill the memory is one clear error with little memory:',
  () => {
    test.each<readonly [string, string, () => Buffer | string, RegExp]>([
      [
        'a line of ten million points in GeoJSON',
        'walk.geojson',
        () => `{"type":"Feature","geometry":{"coordinates":[${line('[1,2],')}[1,2]]}}`,
        TOO_LARGE,
      ],
      [
        'a line of ten million points in well-known text',
        'walk.csv',
        () => `local_id,WKT\nA,"LINESTRING (${line('1 2,')}1 2)"\n`,
        /Line 2 of the file has \d+ characters, which is too much for one find/,
      ],
      [
        'a million waypoints',
        'season.gpx',
        () => gpx('<wpt lat="49" lon="15"><name>A</name></wpt>'.repeat(1_000_000)),
        TOO_LARGE,
      ],
      [
        'waypoints of long notes',
        'season.gpx',
        () => gpx(waypoint('č'.repeat(1_000_000)).repeat(30)),
        /The cell has 1000000 characters/,
      ],
      [
        'a workbook of three hundred thousand rows',
        'season.xlsx',
        () =>
          makeWorkbook([
            {
              name: 'a',
              rows: [['local_id'], ...Array.from({ length: 300_000 }, (_, at) => [`A-${at}`])],
            },
          ]),
        TOO_LARGE,
      ],
    ])('%s', async (_, name, content, message) => {
      const { peakBytes } = await readPeakOfRefusal(name, content(), message);
      expect(peakBytes).toBeLessThan(MAX_PEAK_BYTES);
    });
  },
);
