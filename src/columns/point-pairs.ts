import { isReadable } from '../base/issue.ts';
import { parseCoordinate } from '../place/read-position.ts';
import { foldName } from '../text/names.ts';
import {
  type ColumnProfile,
  getShare,
  measurePositionShare,
  parsePlainNumber,
} from './column-profile.ts';
import type { ReadColumn } from './column-rule.ts';

/** Ranges of the axes in the Czech Republic; none overlaps, so a number determines its axis. */
const AXES = {
  geom_x: { least: 400_000, most: 905_000 },
  geom_y: { least: 930_000, most: 1_230_000 },
  lon: { least: 12, most: 19 },
  lat: { least: 48.4, most: 51.2 },
} as const;
type Axis = keyof typeof AXES;

/** Pairs of axes: S-JTSK, and degrees. */
const PAIRS: readonly (readonly [Axis, Axis])[] = [
  ['geom_x', 'geom_y'],
  ['lon', 'lat'],
];

const AXIS_WORDS = ['x', 'y', 'lon', 'long', 'lng', 'longitude', 'lat', 'latitude'];

/** Share of a column's rows that a meaning needs. */
const MOST = 0.6;

/**
 * Finds the columns with coordinates. A measurement may have the numbers of an axis, so a column
 * with the name of an axis counts first. Of two pairs the fuller one is the point, and the other one
 * as well, if some rows have only that.
 * @param isAlone tells if a row has a text in one column, and none in the other
 */
export function findPointPairs(
  profiles: readonly ColumnProfile[],
  isAlone: (column: ColumnProfile, other: ColumnProfile) => boolean,
): ReadonlyMap<ColumnProfile, ReadColumn> {
  const pairs = PAIRS.flatMap((axes): ColumnProfile[][] => {
    const columns = axes.flatMap((axis) => findAxisColumn(profiles, axis) ?? []);
    return columns.length === axes.length ? [columns] : [];
  });
  const [pair = [], other = []] = pairs.sort(([a], [b]) => (b?.filled ?? 0) - (a?.filled ?? 0));
  const [first] = pair;
  const [second] = other;
  const isOther =
    first !== undefined && second !== undefined && first !== second && isAlone(second, first);
  const columns = isOther ? [...pair, ...other] : pair;
  return new Map(columns.map((profile) => [profile, makeAxisRule(profile)]));
}

function findAxisColumn(profiles: readonly ColumnProfile[], axis: Axis): ColumnProfile | undefined {
  return profiles
    .filter((profile) => isOfAxis(profile, axis))
    .sort((a, b) => Number(isNamedAsAxis(b)) - Number(isNamedAsAxis(a)) || b.filled - a.filled)[0];
}

function makeAxisRule(profile: ColumnProfile): ReadColumn {
  const element = (Object.keys(AXES) as Axis[]).find((axis) => isOfAxis(profile, axis)) ?? 'geom_x';
  const isPositive = (text: string): boolean =>
    isInRange(text, element) && (parsePlainNumber(text) ?? 0) > 0;
  const isSJtsk = element === 'geom_x' || element === 'geom_y';
  const lacksMinus = isSJtsk && getShare(profile, isPositive) > 0;
  return { kind: 'read', element, sign: lacksMinus ? 'minus' : undefined };
}

function isOfAxis(profile: ColumnProfile, axis: Axis): boolean {
  if (isOfBothSystems(profile, axis)) return true;
  if (getShare(profile, (text) => isInRange(text, axis)) < MOST) return false;
  if (axis === 'geom_x' || axis === 'geom_y') return true;
  // Numbers from 12 to 19 are frequent; degrees have a name that says so, or three decimals.
  const isFine = isNamedAsAxis(profile)
    ? /[.,]\d|^[^°º\s]*[°º\s].*\d/
    : /[.,]\d{3}|^[^°º\s]*[°º\s].*\d/;
  return getShare(profile, (text) => isFine.test(text)) >= 0.5;
}

/** Tells if all coordinates of an axis are metres of S-JTSK. */
export function isOfOneSystem(profile: ColumnProfile): boolean {
  return !isOfBothSystems(profile, 'geom_x');
}

/** A column with the name of an axis may have degrees in some rows and metres in others. */
function isOfBothSystems(profile: ColumnProfile, axis: Axis): boolean {
  const other = { geom_x: 'lon', geom_y: 'lat', lon: undefined, lat: undefined } as const;
  const degrees = other[axis];
  if (degrees === undefined || !isNamedAsAxis(profile)) return false;
  const shares = [axis, degrees].map((each) => getShare(profile, (text) => isInRange(text, each)));
  return shares.every((share) => share > 0) && (shares[0] ?? 0) + (shares[1] ?? 0) >= MOST;
}

function isInRange(text: string, axis: Axis): boolean {
  const { least, most } = AXES[axis];
  const value = Math.abs(parseAxisNumber(text) ?? 0);
  return value >= least && value <= most;
}

/** Parses a coordinate of either axis. */
function parseAxisNumber(text: string): number | undefined {
  const reading = (['x', 'y'] as const).map((axis) => parseCoordinate(text, axis)).find(isReadable);
  return reading === undefined ? parsePlainNumber(text) : Number(reading.value);
}

function isNamedAsAxis({ header }: ColumnProfile): boolean {
  return foldName(header)
    .split('_')
    .some((word) => AXIS_WORDS.includes(word));
}

/**
 * Tells if a column gives places, also with lost decimal marks or in systems that pas does not
 * read, such as UTM.
 */
export function isOfPlaces(profile: ColumnProfile): boolean {
  const isNorthing = (text: string): boolean =>
    /^5[2-7]\d{5}$/.test(String(Math.trunc(parsePlainNumber(text) ?? 0)));
  // A place in the trench, such as 2.35, has fewer digits.
  const isLong = (text: string): boolean => /^(?:[^\p{L}\d]*\d){5,}[^\p{L}\d]*$/u.test(text);
  return (
    (Object.keys(AXES) as Axis[]).some((axis) => isOfAxis(profile, axis)) ||
    (isNamedAsAxis(profile) && getShare(profile, isLong) >= MOST) ||
    measurePositionShare(profile) >= MOST ||
    getShare(profile, isNorthing) >= MOST
  );
}
