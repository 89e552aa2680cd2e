import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, test } from 'vitest';
import { FileError } from '../../../src/base/errors.ts';
import { parseTableBytes } from '../../../src/tables/readers.ts';
import {
  makeDbf,
  makeShp,
  pointShape,
  type Shape,
  WGS_84,
  zipShapefile,
} from '../../support/make-shapefile.ts';
import { makeZip } from '../../support/make-zip.ts';

const ID = { name: 'local_id', type: 'C', width: 10 } as const;
const NOTE = { name: 'poznamka', type: 'C', width: 60 } as const;
const KROVAK = (name: string, more = ''): string =>
  `PROJCS["${name}",GEOGCS["GCS_S_JTSK",DATUM["D_S_JTSK",SPHEROID["Bessel_1841",6377397.155,299.1528128]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Krovak"],PARAMETER["False_Easting",0.0]${more},UNIT["Meter",1.0]]`;

type Parts = { shapes?: readonly Shape[]; dbf?: Buffer; prj?: string; cpg?: string };
const buildDbf = (...notes: readonly (string | Buffer)[]): Buffer =>
  makeDbf(
    [ID, NOTE],
    notes.map((note, index) => [`A-${index + 1}`, note]),
  );

function read(
  { shapes = [[15.17, 49.84]], dbf = buildDbf('nález'), prj = WGS_84, cpg = 'UTF-8' }: Parts,
  options = {},
) {
  const parts = {
    '.shp': makeShp(shapes),
    '.dbf': dbf,
    '.prj': prj || undefined,
    '.cpg': cpg || undefined,
  };
  return parseTableBytes('body.zip', zipShapefile(parts), options);
}

async function listRows(parts: Parts, options = {}) {
  return [...(await read(parts, options)).rows];
}

const refusal = async (reading: Promise<unknown>): Promise<FileError> => {
  const thrown: unknown = await reading.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (thrown instanceof FileError) return thrown;
  throw new Error('it was read', { cause: thrown });
};

describe('the texts of a shapefile are read as written', () => {
  const words = 'Příliš žluťoučký kůň, řeřicha u Čáslavi';
  test.each([
    ['by its .cpg', 'cp1250', 'CP1250', 0],
    ['by a .cpg with the number alone', 'cp1250', '1250', 0],
    ['by a .cpg of ArcGIS', 'cp1250', 'ANSI 1250', 0],
    ['by a .cpg of ISO', 'iso88592', '88592', 0],
    ['by a .cpg of UTF-8 as a number', 'utf8', '65001\r\n', 0],
    ['by the language driver of DOS', 'cp852', '', 0x64],
    ['by the language driver of Windows', 'cp1250', '', 0xc8],
    ['by nothing, as UTF-8', 'utf8', '', 0],
    ['by nothing, as Windows-1250', 'cp1250', '', 0],
    ['by nothing, as CP852', 'cp852', '', 0x57],
  ])('%s', async (_, codec, cpg, driver) => {
    const dbf = makeDbf([ID, NOTE], [['A-1', iconv.encode(words, codec)]], { driver });
    expect((await listRows({ dbf, cpg }))[0]?.cells).toEqual(['A-1', words]);
  });

  test('and --encoding takes precedence over a .cpg', async () => {
    const dbf = buildDbf(iconv.encode(words, 'cp852'));
    expect((await listRows({ dbf, cpg: 'CP1250' }, { encoding: 'cp852' }))[0]?.cells[1]).toBe(
      words,
    );
  });

  test('a wrong or empty .cpg is one error with advice', async () => {
    for (const cpg of ['UTF-8', 'EBCDIC-ish']) {
      const error = await refusal(read({ dbf: buildDbf(iconv.encode(words, 'cp1250')), cpg }));
      expect(error.hint).toContain('--encoding windows-1250');
    }
  });

  test('a text cut within a letter loses that letter alone', async () => {
    const dbf = makeDbf([ID, { ...NOTE, width: 4 }], [['A-1', Buffer.from('abcř').subarray(0, 4)]]);
    expect((await listRows({ dbf }))[0]?.cells[1]).toBe('abc');
  });
});

test('a text that fills the widest column of a shapefile may be truncated, and is reported', async () => {
  const dbf = makeDbf(
    [ID, { ...NOTE, width: 254 }],
    [
      ['A-1', 'č'.repeat(10)],
      ['A-2', 'č'.repeat(127)],
    ],
  );
  const { issues } = await read({ dbf, shapes: [null, null] });
  expect(issues).toMatchObject([{ rule: 'table-text-cut', severity: 'warning', row: 2 }]);
});

describe('the values of a shapefile are read by their type:', () => {
  test('numbers with their own digits, days, truth values, and empty ones', async () => {
    const columns = [
      ID,
      { name: 'cislo', type: 'N', width: 20 },
      { name: 'zlomek', type: 'F', width: 20 },
      { name: 'den', type: 'D', width: 8 },
      { name: 'pravda', type: 'L', width: 1 },
    ] as const;
    const rows = [
      ['A-1', '12345678901234567890', '0.1000000000000000', '20240501', 'T'],
      ['A-2', '          -12.500000', '  1.5e-05', '00000000', 'n'],
      ['A-3', '********************', '                100.', '', '?'],
    ];
    const shapes: Shape[] = rows.map(() => null);
    const table = await read({ dbf: makeDbf(columns, rows), shapes });
    expect([...table.rows].map(({ cells }) => cells)).toEqual([
      ['A-1', '12345678901234567890', '0.1', '2024-05-01', 'true'],
      ['A-2', '-12.5', '0.000015', '', 'false'],
      ['A-3', '', '100', '', ''],
    ]);
  });

  test('names that were cut after ten letters are completed, with a message', async () => {
    const dbf = makeDbf(
      [
        ID,
        { name: 'datum_nale', type: 'D', width: 8 },
        { name: 'okolnosti_', type: 'C', width: 8 },
      ],
      [['A-1', '20240501', 'x']],
    );
    const { header, issues } = await read({ dbf });
    expect(header).toEqual(['local_id', 'datum_nalezu', 'okolnosti_']);
    expect(issues).toMatchObject([{ rule: 'table-short-names', severity: 'warning' }]);
    expect(String(issues[0]?.message)).toContain('datum_nale = datum_nalezu');
  });

  test('columns of notes in another file are named as not read', async () => {
    const dbf = makeDbf([ID, { name: 'obrazek', type: 'M', width: 10 }], [['A-1', '1']]);
    const { header, issues } = await read({ dbf });
    expect(header).toEqual(['local_id']);
    expect(String(issues[0]?.message)).toContain('obrazek (M)');
  });

  test('an invalid number loses its row', async () => {
    const dbf = makeDbf(
      [ID, { name: 'hloubka', type: 'N', width: 5 }],
      [
        ['A-1', '1x'],
        ['A-2', '2'],
      ],
    );
    const table = await read({ dbf, shapes: [null, null] });
    expect([...table.rows].map(({ row }) => row)).toEqual([2]);
    expect(table.issues).toMatchObject([{ rule: 'table-number', row: 1 }]);
  });
});

describe('the shapes of a shapefile', () => {
  const multi = (count: number): Buffer => {
    const shape = Buffer.alloc(40 + count * 16);
    shape.writeUInt32LE(8, 0);
    shape.writeUInt32LE(count, 36);
    for (let at = 0; at < count; at++) shape.writeDoubleLE(15 + at, 40 + at * 16);
    for (let at = 0; at < count; at++) shape.writeDoubleLE(49, 48 + at * 16);
    return shape;
  };
  test.each<readonly [string, Shape, object]>([
    ['a point', [15.25, 49.5], { point: { system: '4326', x: '15.25', y: '49.5' } }],
    [
      'a point with a height',
      pointShape(15.25, 49.5, 11, 201, 0),
      { point: { x: '15.25', y: '49.5' } },
    ],
    [
      'a point with a measure',
      pointShape(15.25, 49.5, 21, 7),
      { point: { x: '15.25', y: '49.5' } },
    ],
    ['a MultiPoint of one', multi(1), { point: { x: '15', y: '49' } }],
  ])('%s is the place', async (_, shape, expected) => {
    expect(await listRows({ shapes: [shape] })).toMatchObject([expected]);
  });

  test.each<readonly [string, Shape]>([
    ['none', null],
    ['not a number', [Number.NaN, 49]],
    ['no data', [-1e39, -1e39]],
  ])('%s is no place', async (_, shape) => {
    expect(await listRows({ shapes: [shape] })).toEqual([{ row: 1, cells: ['A-1', 'nález'] }]);
  });

  test.each<readonly [string, Buffer, RegExp]>([
    ['two points', multi(2), /MultiPoint \(2\)/],
    ['a line', pointShape(0, 0, 3), /is a LineString/],
    ['a polygon with heights', pointShape(0, 0, 15), /is a Polygon/],
    ['infinite', pointShape(Number.POSITIVE_INFINITY, 49), /damaged/],
    ['cut short', pointShape(0, 0).subarray(0, 12), /damaged/],
  ])('%s is an error of its row, and the others are read', async (_, shape, message) => {
    const table = await read({ shapes: [shape, [15, 49]], dbf: buildDbf('a', 'b') });
    expect([...table.rows].map(({ row }) => row)).toEqual([2]);
    expect(table.issues).toMatchObject([{ rule: 'geometry-form', row: 1 }]);
    expect(String(table.issues[0]?.message)).toMatch(message);
  });

  test('of deleted rows are left out with them', async () => {
    const dbf = makeDbf(
      [ID, NOTE],
      [
        ['A-1', 'a'],
        ['A-2', 'b'],
      ],
      { deleted: [0] },
    );
    expect(
      await listRows({
        dbf,
        shapes: [
          [15, 49],
          [16, 50],
        ],
      }),
    ).toMatchObject([{ row: 2, cells: ['A-2', 'b'], point: { x: '16' } }]);
  });
});

describe('the system of a shapefile', () => {
  test.each([
    [
      'GDAL',
      KROVAK(
        'S-JTSK_Krovak_East_North',
        ',PARAMETER["X_Scale",-1.0],PARAMETER["Y_Scale",1.0],PARAMETER["XY_Plane_Rotation",90.0]',
      ),
    ],
    ['the EPSG', KROVAK('S-JTSK / Krovak East North')],
  ])('is recognised as S-JTSK in the form of %s', async (_, prj) => {
    expect(await listRows({ prj, shapes: [[-743_011.72, -1_043_234.5]] })).toMatchObject([
      { point: { system: '5514', x: '-743011.72' } },
    ]);
  });

  test.each([
    ['another system', KROVAK('S-JTSK_Krovak'), 'S-JTSK_Krovak'],
    [
      'a projection of WGS 84',
      'PROJCS["WGS_1984_UTM_Zone_33N",GEOGCS["GCS_WGS_1984"]]',
      'WGS_1984_UTM_Zone_33N',
    ],
    [
      'the name of one and the axes of another',
      KROVAK('S-JTSK_Krovak_East_North', ',PARAMETER["X_Scale",1.0]'),
      'S-JTSK_Krovak_East_North',
    ],
    [
      'another meridian',
      'GEOGCS["WGS 84",DATUM["WGS_1984"],PRIMEM["Ferro",-17.67],UNIT["Degree",0.0174532925199433]]',
      'WGS 84',
    ],
    [
      'gradians',
      'GEOGCS["WGS 84",DATUM["WGS_1984"],PRIMEM["Greenwich",0],UNIT["Grad",0.015707963267949]]',
      'WGS 84',
    ],
    ['no description', 'nonsense', 'nonsense'],
  ])('that is %s is one error with its name', async (_, prj, name) => {
    const error = await refusal(read({ prj }));
    expect(error.message).toContain(name);
    expect(error.hint).toContain('EPSG:5514');
  });

  test('must be given for points, and is not needed without any', async () => {
    expect((await refusal(read({ prj: '' }))).message).toContain('no .prj');
    expect(await listRows({ prj: '', shapes: [null] })).toHaveLength(1);
  });
});

describe('files that do not fit together are one error:', () => {
  const shp = makeShp([
    [15, 49],
    [16, 49],
  ]);
  test.each<readonly [string, Record<string, Buffer | string | undefined>, string]>([
    [
      'a table of another count',
      { '.shp': shp, '.dbf': buildDbf('a'), '.prj': WGS_84 },
      'has 2 shapes, but its table (.dbf) has 1 rows',
    ],
    ['no table', { '.shp': shp, '.prj': WGS_84 }, 'has no .dbf beside it'],
    [
      'shapes that break off',
      { '.shp': shp.subarray(0, 150), '.dbf': buildDbf('a', 'b'), '.prj': WGS_84 },
      'cut short',
    ],
    [
      'a table that breaks off',
      { '.shp': shp, '.dbf': buildDbf('a', 'b').subarray(0, 120), '.prj': WGS_84 },
      'cut short',
    ],
    [
      'another archive among them',
      { '.shp': shp, '.dbf': buildDbf('a', 'b'), '.zip': 'PK' },
      'another archive',
    ],
  ])('%s', async (_, parts, message) => {
    expect((await refusal(parseTableBytes('body.zip', zipShapefile(parts)))).message).toContain(
      message,
    );
  });

  test('a layer is chosen by its name, else the first with points', async () => {
    const layer = (name: string, type: number, note: string) => [
      {
        name: `${name}.shp`,
        content: makeShp([type === 1 ? [15, 49] : pointShape(0, 0, type)], type),
      },
      { name: `${name}.dbf`, content: buildDbf(note) },
      { name: `${name}.prj`, content: WGS_84 },
    ];
    const bytes = makeZip([...layer('sondy', 5, 'sonda'), ...layer('nalezy', 1, 'nález')]);
    expect(await parseTableBytes('vrstvy.zip', bytes)).toMatchObject({
      sheet: 'nalezy',
      rowCount: 1,
    });
    expect(await parseTableBytes('vrstvy.zip', bytes, { sheet: 'sondy' })).toMatchObject({
      sheet: 'sondy',
      rowCount: 0,
    });
    expect((await refusal(parseTableBytes('vrstvy.zip', bytes, { sheet: 'jiná' }))).hint).toContain(
      'sondy, nalezy',
    );
  });
});

test('a written shapefile is read back unchanged', async () => {
  const text = fc
    .string({ unit: fc.constantFrom(...'aáčďěňřšťůž ,;"<&日🏺'), maxLength: 12 })
    .map((value) => value.trim());
  const degrees = fc.double({ min: -180, max: 180, noNaN: true });
  const feature = fc.tuple(text, fc.option(fc.tuple(degrees, degrees)));
  await fc.assert(
    fc.asyncProperty(fc.array(feature, { minLength: 1, maxLength: 20 }), async (features) => {
      const rows = await listRows({
        shapes: features.map(([, shape]) => shape),
        dbf: buildDbf(...features.map(([note]) => note)),
      });
      expect(
        rows.map(({ cells, point }) => [
          cells[1],
          point === undefined ? null : [Number(point.x), Number(point.y)],
        ]),
      ).toEqual(
        features.map(([note, shape]) => [
          note,
          shape === null ? null : shape.map((value) => value + 0),
        ]),
      );
    }),
  );
});

test('a shapefile with changed bytes is read or refused with a message', async () => {
  const good = {
    '.shp': makeShp([
      [15, 49],
      [16, 49],
    ]),
    '.dbf': buildDbf('a', 'b'),
    '.prj': Buffer.from(WGS_84),
  };
  const part = fc.constantFrom('.shp', '.dbf', '.prj') as fc.Arbitrary<keyof typeof good>;
  const changes = fc.array(fc.tuple(part, fc.nat(400), fc.nat(255)), {
    minLength: 1,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(changes, async (all) => {
      const bad = {
        '.shp': Buffer.from(good['.shp']),
        '.dbf': Buffer.from(good['.dbf']),
        '.prj': Buffer.from(good['.prj']),
      };
      for (const [name, at, value] of all) bad[name][at % bad[name].length] = value;
      try {
        const table = await parseTableBytes('body.zip', zipShapefile(bad));
        expect([...table.rows]).toHaveLength(table.rowCount);
      } catch (thrown) {
        if (!(thrown instanceof FileError)) throw thrown;
      }
    }),
  );
});
