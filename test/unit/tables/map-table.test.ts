import { describe, expect, test } from 'vitest';
import { mapTableToFinds } from '../../../src/tables/columns/map-table.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { lookupTerm } from '../finds/a-find.ts';

const resolvePhoto = (name: string) =>
  name.startsWith('missing')
    ? { rule: 'photo-missing', problem: `There is no photograph "${name}".` }
    : { value: `/season/${name}` };

function map(csv: string, lookup = lookupTerm) {
  const mapped = mapTableToFinds(parseCsvTable('season.csv', Buffer.from(csv)), {
    lookupTerm: lookup,
    resolvePhoto,
  });
  const rows = [...mapped.rows];
  return {
    finds: rows.flatMap(({ find }) => (find === undefined ? [] : [find])),
    issues: [...mapped.issues, ...rows.flatMap(({ issues }) => issues)],
  };
}

describe('rows become finds', () => {
  test('with every element of a full row, by Czech columns', () => {
    const { finds, issues } = map(
      'local_id;evidencni_cislo;projekt;hloubka;okolnosti;obdobi;presna_datace;druh_nalezu;specifikace;pocet;poznamka;nalezce;' +
        'datum_nalezu;stav;predano;predano_organizace;geom_system;pristupnost;lokalizace;geom_x;geom_y;photos\n' +
        'K-017;A 1/2024;C-202400101;25;výkop;paleolit;starší;lahev;keramika;2 ks;"první\r\ndruhá";Nováková, Žofie;' +
        '17. 6. 2024;3;ano;ORG-000091;S-JTSK;badatel;za mlýnem;-743 011,72;-1 043 823,18;"a.jpg; b.jpg"\n',
    );
    expect(issues).toEqual([]);
    expect(finds).toMatchObject([
      {
        localId: 'K-017',
        source: { file: 'season.csv', row: 2 },
        photos: ['/season/a.jpg', '/season/b.jpg'],
        elements: {
          evidencni_cislo: 'A 1/2024',
          projekt: { id: 'C-202400101' },
          hloubka: 25,
          okolnosti: { id: 'HES-000101', text: 'výkop' },
          obdobi: { id: 'HES-000253' },
          presna_datace: 'starší',
          druh_nalezu: { id: 'HES-000691' },
          specifikace: { id: 'HES-000979' },
          pocet: '2 ks',
          poznamka: 'první\ndruhá',
          nalezce: { id: ':tba', text: 'Nováková, Žofie' },
          datum_nalezu: '2024-06-17',
          stav: 3,
          predano: true,
          predano_organizace: { id: 'ORG-000091', text: 'Muzeum' },
          geom_system: '5514',
          pristupnost: { id: 'HES-000866' },
          lokalizace: 'za mlýnem',
          geom_sjtsk_wkt: 'POINT (-743011.72 -1043823.18)',
        },
      },
    ]);
  });

  test('and the header of each element is remembered for later issues, including the point', () => {
    const { finds } = map(
      'local_id,Depth cm,crs,geom_x,geom_y\nK-1,5,5514,-743011.72,-1043823.18\n',
    );
    const elements = ['hloubka', 'geom_system', 'geom_sjtsk_wkt'] as const;
    expect(elements.map((element) => finds[0]?.getColumn?.(element))).toEqual([
      'Depth cm',
      'crs',
      'geom_x, geom_y',
    ]);
  });
});

describe('points', () => {
  const point = (csv: string) =>
    map(csv).finds.map(({ elements: e }) => [e.geom_system, e.geom_wkt ?? e.geom_sjtsk_wkt]);

  test('both coordinate systems can be used in one file', () => {
    expect(
      point(
        'local_id;crs;geom_x;geom_y\na;4326;14,42;50,08\nb;EPSG:5514;-743011,72;-1043823,18\nc;S-JTSK;-743012;-1043824\n',
      ),
    ).toEqual([
      ['4326', 'POINT (14.42 50.08)'],
      ['5514', 'POINT (-743011.72 -1043823.18)'],
      ['5514', 'POINT (-743012 -1043824)'],
    ]);
  });

  test('lon and lat imply their system, even in a row without a point', () => {
    expect(point('local_id,lon,lat\na,14.42,50.08\nb,,\n')).toEqual([
      ['4326', 'POINT (14.42 50.08)'],
      ['4326', undefined],
    ]);
  });

  test('well-known text is read from wkt and from the elements of either system', () => {
    expect(point('local_id;crs;wkt\na;5514;POINT(-743011.72 -1043823.18)\n')).toEqual([
      ['5514', 'POINT (-743011.72 -1043823.18)'],
    ]);
    expect(
      point(
        'local_id;geom_wkt;geom_sjtsk_wkt\na;POINT (14.42 50.08);\nb;;POINT (-743011.72 -1043823.18)\n',
      ),
    ).toEqual([
      ['4326', 'POINT (14.42 50.08)'],
      ['5514', 'POINT (-743011.72 -1043823.18)'],
    ]);
  });

  test('if a row has the point in both systems, geom_system selects', () => {
    expect(
      point('local_id;crs;lon;lat;geom_x;geom_y\na;5514;14.42;50.08;-743011.72;-1043823.18\n'),
    ).toEqual([['5514', 'POINT (-743011.72 -1043823.18)']]);
  });

  test.each([
    [`14°25'12"E`, `50°4'48"N`],
    ['14° 25′ 12″', '50° 4′ 48″'],
    ['E14.42', 'N50.08'],
    ['14,42° v. d.', '50,08° s. š.'],
    ['14 25 12', '50 04,8'],
  ])('as degrees with marks or hemispheres: %s %s', (lon, lat) => {
    expect(
      point(`local_id;lon;lat\na;${lon.replaceAll('"', '″')};${lat.replaceAll('"', '″')}\n`),
    ).toEqual([['4326', 'POINT (14.42 50.08)']]);
  });

  test('as a western longitude stays western, which the range refuses', () => {
    expect(point('local_id,lon,lat\na,14.42 W,50.08 N\n')).toEqual([
      ['4326', 'POINT (-14.42 50.08)'],
    ]);
  });

  test.each([
    ['50.08 N 14.42 E', ['4326', 'POINT (14.42 50.08)']],
    ['-743011.72 -1043823.18', ['5514', 'POINT (-743011.72 -1043823.18)']],
    ['https://www.google.com/maps?q=50.08,14.42', ['4326', 'POINT (14.42 50.08)']],
  ])('in one cell, whose notation shows the system: %s', (text, expected) => {
    expect(point(`local_id;wkt\na;${text}\n`)).toEqual([expected]);
  });

  test('in columns that a device calls Longitude and Latitude', () => {
    expect(point('local_id;Longitude;Latitude\na;14.42;50.08\n')).toEqual([
      ['4326', 'POINT (14.42 50.08)'],
    ]);
  });

  test.each([
    [
      'no system',
      'local_id,geom_x,geom_y\na,14.42,50.08\n',
      'coordinate-system',
      'geom_x',
      'Write 4326 (WGS 84) or 5514',
    ],
    ['half a point', 'local_id,lon,lat\na,14.42,\n', 'coordinate', 'lon', 'lat is empty'],
    [
      'two points',
      'local_id,lon,lat,geom_wkt\na,14,50,POINT (14 51)\n',
      'point-twice',
      'geom_wkt',
      'is given twice',
    ],
    [
      'a system that does not fit',
      'local_id,crs,lon,lat\na,5514,14,50\n',
      'coordinate-system',
      'lon',
      'correct one of the two',
    ],
    [
      'a doubtful position',
      'local_id;wkt\na;50.08, 14.42\n',
      'coordinate',
      'wkt',
      'axes swapped. The point is not used',
    ],
    [
      'a lost decimal mark',
      'local_id;lon;lat\na;14 42;50 08\n',
      'coordinate',
      'lon',
      'is not a plain number',
    ],
    [
      'a lost position',
      'local_id;wkt\na;behind the mill\n',
      'coordinate',
      'wkt',
      'is not a position',
    ],
    [
      'an unknown system',
      'local_id,crs,geom_x,geom_y\na,UTM,1,2\n',
      'coordinate-system',
      'crs',
      '"UTM"',
    ],
    [
      'a latitude as longitude',
      "local_id,lon,lat\na,14°25'N,50.08\n",
      'coordinate',
      'lon',
      'on the other axis',
    ],
  ])('%s is an error that names the column', (_, csv, rule, column, message) => {
    const { finds, issues } = map(csv);
    expect(finds).toEqual([]);
    expect(issues).toMatchObject([
      {
        rule,
        column,
        row: 2,
        find: 'a',
        severity: 'error',
        message: expect.stringContaining(message),
      },
    ]);
  });
});

describe('unreadable cells', () => {
  test('are all reported at once; the row is left out and the others are kept', () => {
    const { finds, issues } = map(
      'local_id;hloubka;obdobi;datum_nalezu;predano;stav;photos\n' +
        'bad;12,5;palelit;03/04/2024;snad;5;missing.jpg\n' +
        'good;12;paleolit;3. 4. 2024;ne;1;a.jpg\n',
    );
    expect(finds.map((find) => find.localId)).toEqual(['good']);
    expect(issues.map((issue) => [issue.row, issue.column, issue.element, issue.rule])).toEqual([
      [2, 'hloubka', 'hloubka', 'integer'],
      [2, 'obdobi', 'obdobi', 'term-unknown'],
      [2, 'datum_nalezu', 'datum_nalezu', 'date'],
      [2, 'stav', 'stav', 'target-state'],
      [2, 'predano', 'predano', 'boolean'],
      [2, 'photos', undefined, 'photo-missing'],
    ]);
    for (const issue of issues) {
      const severity = issue.rule === 'photo-missing' ? 'warning' : 'error';
      expect(issue).toMatchObject({ file: 'season.csv', find: 'bad', severity });
    }
  });

  test('include no photograph named twice in a row, which is queued once', () => {
    const { finds, issues } = map('local_id,photos\na,"a.jpg; a.jpg;"\n');
    expect(finds[0]?.photos).toEqual(['/season/a.jpg']);
    expect(issues).toEqual([]);
  });
});

describe('local ids', () => {
  test('that are empty, endless or broken are refused', () => {
    const { finds, issues } = map(`local_id,hloubka\n,5\n${'x'.repeat(201)},6\n"a\nb",7\n`);
    expect(finds).toEqual([]);
    expect(issues.map((issue) => issue.rule)).toEqual(['local-id', 'local-id', 'local-id']);
  });

  test('without their column are derived from the content, independent of the column order, and equal rows are numbered', () => {
    const first = map('hloubka,poznamka\n5,x\n6,y\n5,x\n');
    const second = map('note;depth_cm\ny;6\nx;5\n');
    const [one, two, twin] = first.finds.map((find) => find.localId);
    expect(one).toMatch(/^row-[0-9a-f]{16}$/);
    expect(twin).toBe(`${one}-2`);
    expect(second.finds.map((find) => find.localId)).toEqual([two, one]);
    expect(first.issues).toMatchObject([{ rule: 'local-id-missing', severity: 'warning' }]);
  });
});
