import { describe, expect, test } from 'vitest';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import { readFinds } from './read-finds.ts';

const gpx = (...inner: readonly string[]): string =>
  `<gpx version="1.1" xmlns="http://www.topografix.com/GPX/1/1" xmlns:gpxx="http://www.garmin.com/xmlschemas/GpxExtensions/v3" xmlns:ogr="http://osgeo.org/gdal">${inner.map((each) => `<wpt lat="49.84" lon="15.17">${each}</wpt>`).join('')}</gpx>`;

async function listRows(file: string, text: string) {
  const table = await parseTableBytes(file, Buffer.from(text));
  const rows = [...table.rows].map(({ cells }) =>
    Object.fromEntries(table.header.map((name, index) => [name, cells[index] ?? ''])),
  );
  return { rows, issues: table.issues.map(({ rule, message }) => [rule, String(message)]) };
}

describe('a waypoint of a device', () => {
  test.each([
    ['a file beside', 'attachments/p%201.jpg', 'attachments/p 1.jpg'],
    [
      'a file on the telephone',
      '/storage/emulated/0/Locus/p_1.jpg',
      '/storage/emulated/0/Locus/p_1.jpg',
    ],
    ['a file on a computer', 'file:///C:/Users/Eva/Photos/p_1.JPG', '/C:/Users/Eva/Photos/p_1.JPG'],
    ['a file in another folder of Windows', 'Photos\\p_1.jpg', 'Photos\\p_1.jpg'],
  ])('has %s as its photograph', async (_, href, photos) => {
    const { rows } = await listRows(
      'walk.gpx',
      gpx(`<name>A</name><link href="${href}"><type>image/jpeg</type></link>`),
    );
    expect(rows).toEqual([{ local_id: 'A', photos }]);
  });

  test('keeps other links in its note, and fetches nothing', async () => {
    const links = ['https://example.org/a.jpg', 'hlas.amr']
      .map((href) => `<link href="${href}"/>`)
      .join('');
    expect(
      (await listRows('walk.gpx', gpx(`<name>A</name><desc>u cesty</desc>${links}`))).rows,
    ).toEqual([{ local_id: 'A', poznamka: 'u cesty\nhttps://example.org/a.jpg\nhlas.amr' }]);
  });

  test('has a link out of its folder refused when the photograph is looked up', async () => {
    expect(
      (await listRows('walk.gpx', gpx('<name>A</name><link href="../../p.jpg"/>'))).rows,
    ).toMatchObject([{ photos: '../../p.jpg' }]);
  });

  test('has a second name and a second description in its note', async () => {
    const twice = '<name>A</name><name>B</name><desc>u cesty</desc><desc>mokro</desc>';
    expect((await listRows('walk.gpx', gpx(twice))).rows).toEqual([
      { local_id: 'A', poznamka: 'B\nu cesty\nmokro' },
    ]);
  });

  test('has the pictures of its description as photographs', async () => {
    const html =
      '<![CDATA[<table><tr><td>&#345;eka &amp; les</td><td>250&nbsp;m</td></tr></table><a href="files/p1.jpg"><img src="files/p1.jpg"></a><br>druhý řádek]]>';
    const { rows } = await listRows('walk.gpx', gpx(`<name>A</name><desc>${html}</desc>`));
    expect(rows).toEqual([
      { local_id: 'A', photos: 'files/p1.jpg', poznamka: 'řeka & les 250 m\ndruhý řádek' },
    ]);
  });

  test('has elements that are not read, which are named once', async () => {
    const waypoint =
      '<name>A</name><sym>Flag</sym><extensions><ogr:hloubka>25</ogr:hloubka></extensions>';
    const { rows, issues } = await listRows('walk.gpx', gpx(waypoint, waypoint.replace('A', 'B')));
    expect(rows).toEqual([{ local_id: 'A' }, { local_id: 'B' }]);
    expect(issues).toEqual([
      ['table-not-read', expect.stringContaining('Not read: sym, extensions.')],
    ]);
  });
});

describe('a column of well-known text', () => {
  const points = async (header: string, ...cells: readonly string[]) => {
    const lines = cells.map((cell, index) => `A-${index};"${cell}"`);
    const { finds, issues } = await readFinds(
      'a.csv',
      Buffer.from([`local_id;${header}`, ...lines].join('\n')),
      {
        constants: ['geom_system=4326'],
      },
    );
    const errors = issues.filter(({ severity }) => severity === 'error').map(({ rule }) => rule);
    return {
      points: finds.map(({ elements }) => elements.geom_wkt ?? elements.geom_sjtsk_wkt ?? ''),
      errors,
    };
  };

  test.each(['WKT', 'geometry', 'geom', 'the_geom', 'wkt_geom'])(
    'named %s is read as GIS programs write it',
    async (name) => {
      expect(
        await points(
          name,
          'POINT (15.17 49.84)',
          'POINT Z (15.17 49.84 201.5)',
          'Point(15.17 49.84)',
          'POINT ZM (15.17 49.84 1 2)',
          'MULTIPOINT ((15.17 49.84))',
          'MULTIPOINT (15.17 49.84)',
          'POINT EMPTY',
          '',
        ),
      ).toEqual({
        points: [...Array.from({ length: 6 }, () => 'POINT (15.17 49.84)'), '', ''],
        errors: [],
      });
    },
  );

  test.each([
    'LINESTRING (15 49, 16 50)',
    'MULTIPOINT ((15 49), (16 50))',
    'POINT (15)',
    'POINT (15 1e400)',
    'SRID=3857;POINT (1 2)',
  ])('%s is an error of its row, and the others are read', async (wkt) => {
    const read = await points('WKT', wkt, 'POINT (15.17 49.84)');
    expect(read.points).toEqual(['POINT (15.17 49.84)']);
    expect(read.errors).toHaveLength(1);
  });

  test('may name its system before it, which must be that of the row', async () => {
    const text = 'local_id;wkt;geom_system\nA;SRID=5514;\nB;x;';
    const rows = [
      'A;"SRID=5514;POINT (-743011.72 -1043234.5)";',
      'B;"SRID=4326;POINT (15.17 49.84)";4326',
      'C;"SRID=4326;POINT (15.17 49.84)";5514',
    ];
    const { finds, issues } = await readFinds(
      'a.csv',
      Buffer.from([text.split('\n')[0], ...rows].join('\n')),
    );
    expect(
      finds.map(({ elements }) => [
        elements.geom_system,
        elements.geom_wkt ?? elements.geom_sjtsk_wkt,
      ]),
    ).toEqual([
      ['5514', 'POINT (-743011.72 -1043234.5)'],
      ['4326', 'POINT (15.17 49.84)'],
    ]);
    expect(issues.filter(({ severity }) => severity === 'error')).toMatchObject([
      { rule: 'coordinate-system', row: 4 },
    ]);
  });
});
