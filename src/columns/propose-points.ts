import { msgid } from '../base/language.ts';
import { type Message, msg, nmsg } from '../base/message.ts';
import type { LookupArea } from '../find/lookup.ts';
import { type GeomSystem, toWgs84 } from '../place/geometry.ts';
import {
  ANGLE_PARTS,
  type AnglePart,
  joinAngleCells,
  withoutAngleMark,
} from '../place/read-position.ts';
import type { Table } from '../tables/table.ts';
import { foldName } from '../text/names.ts';
import {
  type Axis,
  type ColumnProfile,
  detectAxis,
  getShare,
  parseAxisNumber,
  parsePlainNumber,
} from './column-profile.ts';
import type { ReadColumn } from './column-rule.ts';

/** Columns of the point, its system, and the evidence. */
export type PointProposal = {
  readonly system: GeomSystem;
  readonly columns: readonly {
    readonly profile: ColumnProfile;
    readonly rule: ReadColumn;
    readonly reasons: readonly Message[];
  }[];
  readonly reasons: readonly Message[];
};

/** Rows whose point is looked up in cadastral areas. */
const MAX_LOOKUPS = 60;

const PAIRS: readonly { readonly system: GeomSystem; readonly x: Axis; readonly y: Axis }[] = [
  { system: '5514', x: 'east', y: 'south' },
  { system: '4326', x: 'lon', y: 'lat' },
];

/**
 * Proposes the two columns whose numbers are coordinates, the fuller of two pairs; else degrees,
 * minutes and seconds.
 */
export function proposePoint(
  table: Table,
  profiles: readonly ColumnProfile[],
  lookupArea: LookupArea,
): PointProposal | undefined {
  const shapes = profiles.flatMap((profile) => {
    const shape = detectAxis(profile);
    return shape === undefined ? [] : [{ profile, ...shape }];
  });
  // A measurement or an id may have the same numbers as an axis, so the name counts first.
  const findShape = (axis: Axis) =>
    shapes
      .filter((shape) => shape.axis === axis)
      .sort(
        (a, b) =>
          Number(isAxisNamed(b)) - Number(isAxisNamed(a)) ||
          b.profile.filled * b.share - a.profile.filled * a.share,
      )[0];
  const pairs = PAIRS.flatMap(({ system, x, y }) => {
    const first = findShape(x);
    const second = findShape(y);
    return first === undefined || second === undefined ? [] : [{ system, first, second }];
  });
  const [best] = pairs.sort((a, b) => b.first.profile.filled - a.first.profile.filled);
  if (best === undefined) return proposeAngles(table, profiles, lookupArea);
  const { system, first, second } = best;
  const swapped = isNamed(first.profile, 'y') && isNamed(second.profile, 'x');
  const columns = ([first, second] as const).map(({ profile, axis, withoutMinus }, index) => {
    const needsMinus = system === '5514' && withoutMinus > 0;
    const element = index === 0 ? ('geom_x' as const) : ('geom_y' as const);
    return {
      profile,
      rule: { kind: 'read', element, sign: needsMinus ? 'minus' : undefined } as const,
      reasons: [
        AXIS_REASONS[axis],
        ...(needsMinus ? [msg`without the minus sign that EPSG:5514 requires`] : []),
        ...(swapped && index === 0
          ? [msg`called y here, but in EPSG:5514 the smaller number comes first`]
          : []),
      ],
    };
  });
  const parseCells: PointOf = (cells) => [
    parseNumberIn(cells, first.profile),
    parseNumberIn(cells, second.profile),
  ];
  return { system, columns, reasons: [describeAreas(table, parseCells, system, lookupArea)] };
}

/** Proposes columns of degrees, minutes and seconds. */
function proposeAngles(
  table: Table,
  profiles: readonly ColumnProfile[],
  lookupArea: LookupArea,
): PointProposal | undefined {
  const angles = findAngleColumns(profiles);
  if (angles === undefined) return undefined;
  const columns = (['lat', 'lon'] as const).flatMap((element) => {
    const all = [...angles[element].values()].map(({ key }) => key).join(', ');
    return [...angles[element]].map(([part, profile]) => ({
      profile,
      rule: { kind: 'read' as const, element, part },
      reasons: [msg`they belong together: ${all}`],
    }));
  });
  const parseAngleCell = (cells: readonly string[], parts: AngleColumns): number | undefined =>
    parsePlainNumber(
      joinAngleCells(new Map([...parts].map(([part, { index }]) => [part, cells[index] ?? '']))),
    );
  const parseCells: PointOf = (cells) => [
    parseAngleCell(cells, angles.lon),
    parseAngleCell(cells, angles.lat),
  ];
  return {
    system: '4326',
    columns,
    reasons: [describeAreas(table, parseCells, '4326', lookupArea)],
  };
}

/** Returns the two coordinates of a row, x or longitude first. */
type PointOf = (cells: readonly string[]) => readonly [number | undefined, number | undefined];

function parseNumberIn(cells: readonly string[], { index }: ColumnProfile): number | undefined {
  return parseAxisNumber(cells[index] ?? '');
}

function isNamed({ header }: ColumnProfile, word: string): boolean {
  return foldName(header).split('_').includes(word);
}

function isAxisNamed({
  profile,
  axis,
}: {
  readonly profile: ColumnProfile;
  readonly axis: Axis;
}): boolean {
  const ofAxis = axis === 'lon' || axis === 'lat' ? AXIS_WORDS[axis] : [];
  return ['x', 'y', ...ofAxis].some((word) => isNamed(profile, word));
}

const AXIS_REASONS: Readonly<Record<Axis, Message>> = {
  east: msg`numbers from 400 000 to 905 000: x of S-JTSK`,
  south: msg`numbers from 930 000 to 1 230 000: y of S-JTSK`,
  lon: msg`degrees from 12 to 19: longitude`,
  lat: msg`degrees from 48 to 51: latitude`,
};

function describeAreas(
  table: Table,
  parseCells: PointOf,
  system: GeomSystem,
  lookupArea: LookupArea,
): Message {
  let looked = 0;
  let inside = 0;
  for (const { cells } of table.rows) {
    if (looked === MAX_LOOKUPS) break;
    const [east, south] = parseCells(cells);
    if (east === undefined || south === undefined) continue;
    const [lon, lat] =
      system === '4326' ? [east, south] : toWgs84([-Math.abs(east), -Math.abs(south)]);
    const areaLookup = lookupArea(lon, lat);
    if (areaLookup.kind === 'not-harvested')
      return msg`not compared with cadastral areas: none were harvested`;
    looked += 1;
    if (areaLookup.kind === 'inside') inside += 1;
  }
  return nmsg(
    msgid`${inside} of ${looked} checked point is in a known cadastral area`,
    msgid`${inside} of ${looked} checked points are in known cadastral areas`,
    looked,
  );
}

type AngleAxis = 'lon' | 'lat';

type AngleColumns = ReadonlyMap<AnglePart, ColumnProfile>;

const AXIS_WORDS: Readonly<Record<AngleAxis, readonly string[]>> = {
  lat: ['lat', 'latitude', 'sirka', 'sirky', 'zs', 'ss', 'n', 'north', 'sev', 's'],
  lon: ['lon', 'long', 'lng', 'longitude', 'delka', 'delky', 'zd', 'vd', 'e', 'east', 'vych', 'd'],
};
const PART_WORDS: Readonly<Record<AnglePart, readonly string[]>> = {
  degrees: ['deg', 'degs', 'degree', 'degrees', 'st', 'stup', 'stupen', 'stupne', 'stupnu', 'd'],
  minutes: ['min', 'mins', 'minute', 'minutes', 'minuta', 'minuty', 'minut', 'm'],
  seconds: [
    'sec',
    'secs',
    'second',
    'seconds',
    'vt',
    'vter',
    'vterina',
    'vteriny',
    'vterin',
    'sek',
    'sekundy',
    's',
  ],
};
const MARKS: readonly (readonly [RegExp, AnglePart])[] = [
  [/[°º]/, 'degrees'],
  [/["″”]|''/, 'seconds'],
  [/['′’]/, 'minutes'],
];
/** `latdeg`, `LONs` */
const RUN_TOGETHER = /^(lat|lon|long|lng|zs|zd)(deg|min|sec|st|vt|d|m|s)$/;

/** Degrees of the Czech Republic and its surroundings. */
const DEGREES: Readonly<Record<AngleAxis, readonly [least: number, most: number]>> = {
  lon: [12, 19],
  lat: [48, 52],
};

/**
 * Finds both coordinates in columns of degrees, minutes and optional seconds, by names and numbers.
 */
function findAngleColumns(
  profiles: readonly ColumnProfile[],
): Readonly<Record<AngleAxis, AngleColumns>> | undefined {
  const columnsByAxis = {
    lon: new Map<AnglePart, ColumnProfile>(),
    lat: new Map<AnglePart, ColumnProfile>(),
  };
  for (const profile of profiles) {
    const named = findNamedPart(profile.header);
    if (named === undefined || !hasValuesOfPart(profile, named)) continue;
    const parts = columnsByAxis[named.axis];
    if (!parts.has(named.part)) parts.set(named.part, profile);
  }
  return isWhole(columnsByAxis.lon) && isWhole(columnsByAxis.lat) ? columnsByAxis : undefined;
}

function isWhole(parts: AngleColumns): boolean {
  return parts.has('degrees') && parts.has('minutes');
}

type NamedPart = { readonly axis: AngleAxis; readonly part: AnglePart };

/** Parses a header into part and axis, each a word or a mark: `lat_min`, `š. °`, `stupně délky`. */
function findNamedPart(header: string): NamedPart | undefined {
  const words = foldName(header.replace(/(\p{Ll})(?=\p{Lu})/gu, '$1 '))
    .replace(RUN_TOGETHER, '$1_$2')
    .split('_');
  const mark = MARKS.find(([sign]) => sign.test(header))?.[1];
  if (mark !== undefined) return withAxis(mark, words);
  // The part usually comes last; single letters such as `s` and `d` are ambiguous and are tried
  // last.
  const places = [...words.keys()]
    .reverse()
    .sort((a, b) => Number(words[a]?.length === 1) - Number(words[b]?.length === 1));
  for (const place of places) {
    const part = ANGLE_PARTS.find((each) => PART_WORDS[each].includes(words[place] ?? ''));
    if (part !== undefined) return withAxis(part, words.toSpliced(place, 1));
  }
  return undefined;
}

function withAxis(part: AnglePart, words: readonly string[]): NamedPart | undefined {
  const axes = (['lat', 'lon'] as const).filter((axis) =>
    words.some((word) => AXIS_WORDS[axis].includes(word)),
  );
  const [axis, other] = axes;
  return axis === undefined || other !== undefined ? undefined : { axis, part };
}

function hasValuesOfPart(profile: ColumnProfile, { axis, part }: NamedPart): boolean {
  const [least, most] = part === 'degrees' ? DEGREES[axis] : [0, 60];
  const share = getShare(profile, (text) => {
    const value = parsePlainNumber(withoutAngleMark(text));
    return value !== undefined && value >= least && value < most;
  });
  return share >= 0.6;
}
