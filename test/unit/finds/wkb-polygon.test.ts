import { expect, test } from 'vitest';
import { encodeMultiPolygon } from '../../../src/finds/place/areas.ts';

/** Polygons of rings of points, as they stand in the bytes. */
function readBack(wkb: Buffer): number[][][][] {
  let at = 0;
  const next = (sizeBytes: number): number => {
    at += sizeBytes;
    return at - sizeBytes;
  };
  const integer = (): number => wkb.readUInt32LE(next(4));
  const double = (): number => wkb.readDoubleLE(next(8));
  const many = <T>(read: () => T): T[] => Array.from({ length: integer() }, read);
  const head = (): [order: number, type: number] => [wkb.readUInt8(next(1)), integer()];
  expect(head()).toEqual([1, 6]);
  const polygons = many(() => {
    expect(head()).toEqual([1, 3]);
    return many(() => many(() => [double(), double()]));
  });
  expect(at).toBe(wkb.length);
  return polygons;
}

const SQUARE = '0 0, 4 0, 4 4, 0 4, 0 0';
const HOLE = '1 1, 2 1, 2 2, 1 1';
const FAR = '10.5 -10, 11 -10, 11 -9, 10.5 -10';
const points = (ring: string): number[][] =>
  ring.split(', ').map((point) => point.split(' ').map(Number));

test.each([
  ['a polygon', `POLYGON((${SQUARE}))`, [[SQUARE]]],
  ['a polygon with a hole', `POLYGON ((${SQUARE}), (${HOLE}))`, [[SQUARE, HOLE]]],
  [
    'several, of which one has a hole',
    `MULTIPOLYGON (((${SQUARE}),(${HOLE})), ((${FAR})))`,
    [[SQUARE, HOLE], [FAR]],
  ],
  [
    'small letters and line breaks',
    `multipolygon(\n((${FAR}))\n,\n((${SQUARE}))\n)`,
    [[FAR], [SQUARE]],
  ],
])('%s has each ring as in the text', (_, wkt, expected) => {
  expect(readBack(encodeMultiPolygon(wkt))).toEqual(expected.map((rings) => rings.map(points)));
});
