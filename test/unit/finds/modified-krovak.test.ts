import { expect, test } from 'vitest';
import { type FindGeometry, parseFindPoint } from '../../../mock-server/state/records/geometry.ts';

// A place beyond the border: the mock server would refuse it, because it is in none of its areas.
// 50°12'32.442" N 16°50'59.179" E on Bessel's ellipsoid, moved to WGS 84 by the seven parameters of
// EPSG:5226.
const PUBLISHED = {
  wgs84: [16.84832685, 50.20829709],
  sjtsk: [-568_990.91, -1_050_538.71],
} as const;
const numbers = (texts: readonly string[]) => texts.map(Number);

function derived(wkt: string, system: '4326' | '5514'): FindGeometry {
  const geometry = parseFindPoint(wkt, system, false);
  if (typeof geometry === 'string') throw new Error(geometry);
  return geometry;
}

test('the mock server reproduces the published example of EPSG method 1042 (Krovak Modified) to the centimetre, in both directions', () => {
  const [x = 0, y = 0] = numbers(derived(`POINT (${PUBLISHED.wgs84.join(' ')})`, '4326').sjtsk);
  expect([x, y]).toEqual(PUBLISHED.sjtsk);
  const [longitude = 0, latitude = 0] = numbers(
    derived(`POINT (${PUBLISHED.sjtsk.join(' ')})`, '5514').wgs84,
  );
  expect(longitude).toBeCloseTo(PUBLISHED.wgs84[0], 6);
  expect(latitude).toBeCloseTo(PUBLISHED.wgs84[1], 6);
});
