import { describe, expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import {
  type HarvestedFind,
  listChangesAtService,
  listDifferingElements,
} from '../../../src/finds/harvested-find.ts';
import { readFinds } from '../tables/read-finds.ts';

/** Degrees, and what the deployed service made of them, or of which it made them (A-POINT-9). */
const PAIRS = [
  ['14.0667', '50.0333', '-768785.47', '-1045458.60'],
  ['13.2311182', '49.9914407', '-828708.49', '-1041287.69'],
  ['16.7494989', '49.2941092', '-586746.29', '-1150904.89'],
  ['15.1700002', '49.84', '-693174.81', '-1077354.27'],
] as const;

const wkt = (x: number | string, y: number | string) => `POINT (${x} ${y})`;

/** A record as harvested: both representations, the one that counts named by `geom_system`. */
function record(
  elements: Pick<HarvestedFind['elements'], 'geom_system' | 'geom_wkt' | 'geom_sjtsk_wkt'>,
): HarvestedFind {
  return {
    identCely: 'C-202400101-N00001',
    stav: 1,
    elements,
    protectedWithheld: false,
    area: undefined,
    district: undefined,
    files: [],
    history: [],
  };
}

const table = (coordinates: readonly [string, string], properties: Record<string, string>) =>
  Buffer.from(
    `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Point","coordinates":[${coordinates.join()}]},"properties":${JSON.stringify({ local_id: 'P-1', ...properties })}}]}`,
  );

describe.each(PAIRS)('%s %s and the S-JTSK that the service stores for it', (lon, lat, x, y) => {
  const degrees = wkt(lon, lat);
  const metres = wkt(x, y);
  const both = { geom_wkt: degrees, geom_sjtsk_wkt: metres };

  test('are one place, whichever of them was sent', () => {
    expect(
      listDifferingElements(
        { geom_system: '4326', geom_wkt: degrees },
        record({ geom_system: '4326', ...both }),
      ),
    ).toEqual([]);
    expect(
      listDifferingElements(
        { geom_system: '5514', geom_sjtsk_wkt: metres },
        record({ geom_system: '5514', ...both }),
      ),
    ).toEqual([]);
  });

  test('are one place even if the record uses the other system by now: only the system differs', () => {
    const sentElements: readonly FindElements[] = [
      { geom_system: '4326', geom_wkt: degrees },
      { geom_system: '5514', geom_sjtsk_wkt: metres },
    ];
    for (const elements of sentElements) {
      const other = elements.geom_system === '4326' ? '5514' : '4326';
      expect(
        listChangesAtService({ stav: 1, ...elements }, record({ geom_system: other, ...both })).map(
          ({ element }) => element,
        ),
      ).toEqual(['geom_system']);
    }
  });

  test('are one place if the degrees of the record were computed from its metres', () => {
    const computed = wkt((Number(lon) + 5e-6).toFixed(7), (Number(lat) - 5e-6).toFixed(7));
    const resaved = record({ geom_system: '5514', geom_wkt: computed, geom_sjtsk_wkt: metres });
    expect(listDifferingElements({ geom_system: '4326', geom_wkt: degrees }, resaved)).toEqual([
      'geom_system',
    ]);
  });

  test('are two places once the record was moved by three metres', () => {
    const moved = record({
      geom_system: '5514',
      geom_wkt: degrees,
      geom_sjtsk_wkt: wkt(Number(x) - 3, y),
    });
    expect(listDifferingElements({ geom_system: '4326', geom_wkt: degrees }, moved)).toEqual([
      'geom_system',
      'geom_wkt',
    ]);
  });

  test('may both be in one table, and the columns decide', async () => {
    const { finds, issues } = await readFinds(
      'p.geojson',
      table([lon, lat], { geom_sjtsk_wkt: metres, geom_system: '5514' }),
    );
    expect(issues).toEqual([]);
    expect(finds[0]?.elements).toEqual({ geom_system: '5514', geom_sjtsk_wkt: metres });
  });
});

describe('the measured representation', () => {
  const lon = '15.1700002';
  const lat = '49.84';

  test('is compared to its last digit in a record', () => {
    const sentElements: FindElements = {
      geom_system: '5514',
      geom_sjtsk_wkt: wkt('-693174.81', '-1077354.27'),
    };
    const centimetre = record({
      geom_system: '5514',
      geom_sjtsk_wkt: wkt('-693174.82', '-1077354.27'),
    });
    expect(listDifferingElements(sentElements, centimetre)).toEqual(['geom_sjtsk_wkt']);
  });

  test.each([
    [wkt('15.1700012', lat), 7],
    [wkt(lon, '49.8400005'), 5],
  ])('is compared to the centimetre in a table: %s was moved by %i cm', async (column) => {
    const { finds, issues } = await readFinds('p.geojson', table([lon, lat], { geom_wkt: column }));
    expect(finds).toEqual([]);
    expect(issues).toMatchObject([{ rule: 'point-twice', element: 'geom_wkt' }]);
  });

  test('may be rounded to the centimetre in a table', async () => {
    const { issues } = await readFinds(
      'p.geojson',
      table(['15.17000021', lat], { geom_wkt: wkt(lon, lat) }),
    );
    expect(issues).toEqual([]);
  });
});
