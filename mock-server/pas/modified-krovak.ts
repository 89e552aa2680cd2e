/** x and y of S-JTSK, East North: both negative. */
export type Pair = readonly [x: number, y: number];

/** Where the correction is centred, in metres to the south and to the west. */
const SOUTHING = 1_089_000;
const WESTING = 654_000;
/** C1 to C10 of EPSG method 1042, "Krovak Modified". */
const [C1, C2, C3, C4, C5, C6, C7, C8, C9, C10] = [
  2.946529277e-2, 2.515965696e-2, 1.193845912e-7, -4.668270147e-7, 9.233980362e-12, 1.523735715e-12, 1.696780024e-18,
  4.408314235e-18, -8.331083518e-24, -3.689471323e-24,
] as const;

export function toModifiedKrovak([x, y]: Pair): Pair {
  const [dx, dy] = correctionAt(x, y);
  return [x + dx, y + dy];
}

/** The correction changes by less than a millimetre over its own length, so it is taken where the point lies already. */
export function fromModifiedKrovak([x, y]: Pair): Pair {
  const [dx, dy] = correctionAt(x, y);
  return [x - dx, y - dy];
}

/** How far the survey office's triangulation lies from the pure projection: some centimetres. */
function correctionAt(x: number, y: number): Pair {
  const [south, west] = [-y - SOUTHING, -x - WESTING];
  const [south2, west2] = [south ** 2, west ** 2];
  const fourth = south2 ** 2 + west2 ** 2 - 6 * south2 * west2;
  const toSouth =
    C1 +
    C3 * south -
    C4 * west -
    2 * C6 * south * west +
    C5 * (south2 - west2) +
    C7 * south * (south2 - 3 * west2) -
    C8 * west * (3 * south2 - west2) +
    4 * C9 * south * west * (south2 - west2) +
    C10 * fourth;
  const toWest =
    C2 +
    C3 * west +
    C4 * south +
    2 * C5 * south * west +
    C6 * (south2 - west2) +
    C8 * south * (south2 - 3 * west2) +
    C7 * west * (3 * south2 - west2) -
    4 * C10 * south * west * (south2 - west2) +
    C9 * fourth;
  return [toWest, toSouth];
}
