import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { normalizeId, normalizeText } from '../../../src/base/characters.ts';
import { makeDatabaseBytes } from '../../../src/base/disk/database-file.ts';
import type { FindElements } from '../../../src/finds/fields.ts';
import { isDitto, isFiller } from '../../../src/finds/parse-cell.ts';
import {
  type ExportedFind,
  makeFindRows,
  renderFindsXml,
  renderGeoJson,
} from '../../../src/tables/exports/exported-find.ts';
import { fillGeoPackage } from '../../../src/tables/exports/gpkg-layers.ts';
import { formatCsvLines, makeWorkbook } from '../../../src/tables/exports/write-rows.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { readFinds } from './read-finds.ts';

const PROFILE = {
  prefix: 'svc',
  schemaBase: 'http://example.org/schema/svc',
  schemaVersion: '2.2',
};

/** As an import leaves a text: normalised, with line feeds, without control characters. */
const text = (maxLength = 30) =>
  fc
    .oneof(
      fc.string({ unit: 'grapheme', maxLength }),
      fc
        .array(
          fc.constantFrom(
            '=',
            '+',
            '-',
            '@',
            "'",
            '"',
            ';',
            ',',
            '\n',
            ' ',
            '<',
            '&',
            ']]>',
            'č',
            '1',
            '.',
            '_x0041_',
          ),
          {
            maxLength: 12,
          },
        )
        .map((parts) => parts.join('')),
    )
    .map((value) => value.replace(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\ufffe\uffff]/g, ''))
    .map(normalizeText)
    // Such a cell is empty, or stands for the value above.
    .filter((value) => !isFiller(value) && !isDitto(value));

const named = text().filter((value) => value !== '');
const localId = named
  .map((value) => normalizeId(value.replace(/\n/g, ' ')))
  .filter((value) => value !== '' && !isFiller(value) && !isDitto(value));
const reference = (prefix: string) =>
  fc
    .integer({ min: 1, max: 999_999 })
    .map((id) => ({ id: `${prefix}-${String(id).padStart(6, '0')}`, text: '' }));
const person = fc
  .constantFrom('Novák, Jan', 'Kučerová-Říhová, Anežka')
  .map((name) => ({ id: ':tba', text: name }));
const project = fc
  .integer({ min: 1, max: 999 })
  .map((id) => ({ id: `C-2024${id}`, text: `C-2024${id}` }));
const decimal = (min: number, max: number) =>
  fc
    .tuple(fc.integer({ min, max }), fc.stringMatching(/^\d{1,9}$/))
    .map(([whole, part]) => `${whole}.${part}`);
const wgs84 = fc
  .tuple(decimal(12, 18), decimal(48, 50))
  .map(([x, y]) => ({ geom_system: '4326', geom_wkt: `POINT (${x} ${y})` }) as const);
const sJtsk = fc
  .tuple(decimal(-900_000, -430_000), decimal(-1_220_000, -940_000))
  .map(([x, y]) => ({ geom_system: '5514', geom_sjtsk_wkt: `POINT (${x} ${y})` }) as const);
const point = fc.oneof(wgs84, sJtsk, fc.constantFrom({}, { geom_system: '4326' } as const));
const day = fc
  .date({ min: new Date('1700-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));

const elements: fc.Arbitrary<FindElements> = fc
  .tuple(
    fc.record(
      {
        evidencni_cislo: named,
        projekt: project,
        hloubka: fc.integer({ min: 0, max: 1000 }),
        okolnosti: reference('HES'),
        presna_datace: named,
        pocet: named,
        poznamka: named,
        nalezce: fc.oneof(reference('OS'), person),
        datum_nalezu: day,
        stav: fc.constantFrom(1, 2, 3),
        predano: fc.boolean(),
        predano_organizace: reference('ORG'),
        pristupnost: reference('HES'),
        lokalizace: named,
      },
      { requiredKeys: [] },
    ),
    point,
  )
  .map(([values, place]) => ({ ...values, ...place }) as FindElements);

const finds: fc.Arbitrary<ExportedFind[]> = fc
  .uniqueArray(
    fc.record({ localId, elements, photos: fc.subarray(['a.jpg', 'b c.png', 'č;d.tif']) }),
    {
      minLength: 1,
      maxLength: 6,
      selector: ({ localId: id }) => id,
    },
  )
  // Readers leave out an identifier that differs from another by nothing.
  .map((list) => list.map((find) => ({ ...find, photos: [...find.photos] })));

const FORMATS: Readonly<
  Record<string, (finds: readonly ExportedFind[]) => Promise<Buffer> | Buffer>
> = {
  'semicolons.csv': (list) => Buffer.from([...formatCsvLines(makeFindRows(list))].join('')),
  'finds.geojson': (list) => Buffer.from([...renderGeoJson(list)].join('')),
  'finds.xml': (list) => Buffer.from([...renderFindsXml(list, PROFILE)].join('')),
  'finds.gpkg': (list) =>
    makeDatabaseBytes((database) => fillGeoPackage(database, list, '2024-06-01T00:00:00.000Z')),
  'finds.xlsx': (list) => makeWorkbook(new Map([['finds', makeFindRows(list)]])),
};

describe('an exported and reimported table is unchanged', () => {
  test.each(Object.entries(FORMATS))('%s', async (file, write) => {
    await fc.assert(
      fc.asyncProperty(finds, async (list) => {
        const read = await readFinds(file, await write(list));
        expect(read.issues.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(
          read.finds.map(({ localId: id, elements: values, photos }) => ({
            localId: id,
            elements: values,
            photos,
          })),
        ).toEqual(
          list.map((find) => ({ ...find, photos: find.photos.map((name) => `/season/${name}`) })),
        );
      }),
      /.(xlsx|gpkg)$/.test(file) ? SLOW_RUNS : {},
    );
  });
});

describe('an exported table', () => {
  const list: ExportedFind[] = [
    {
      localId: '=1+1',
      elements: {
        poznamka: '=HYPERLINK("x")',
        predano: true,
        geom_system: '5514',
        geom_sjtsk_wkt: 'POINT (-1.5 -2)',
      },
      photos: [],
    },
  ];

  test('is marked as UTF-8, has Windows line ends, and contains no formula', () => {
    const csv = [...formatCsvLines(makeFindRows(list))].join('');
    expect(csv.startsWith('\ufefflocal_id;ident_cely;')).toBe(true);
    expect(csv.split('\r\n')).toHaveLength(3);
    expect(csv).toContain(`\r\n'=1+1;`);
    expect(csv).toContain(`"'=HYPERLINK(""x"")"`);
    expect(csv).toContain(';ano;;5514;-1,5;-2;');
  });

  test('with an identifier of the service is not imported as a new find elsewhere', async () => {
    const sentFinds = [
      { localId: 'A-1', identCely: 'C-202400101-N00001', elements: {}, photos: [] },
    ];
    for (const [file, write] of Object.entries(FORMATS)) {
      const { finds: none, issues } = await readFinds(file, await write(sentFinds));
      expect(none).toEqual([]);
      expect(issues.map(({ rule }) => rule)).toContain('already-recorded');
    }
  });
});
