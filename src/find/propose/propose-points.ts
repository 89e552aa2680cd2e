import { msgid, ngettext, t } from '../../base/language.ts';
import { toWgs84 } from '../../geo/project.ts';
import type { ReadColumn } from '../column-map/column-rule.ts';
import type { GeomSystem } from '../find.ts';
import type { LookupArea } from '../lookup.ts';
import { foldName } from '../names.ts';
import { angleCell } from '../read-degrees.ts';
import type { Table } from '../table.ts';
import { type AngleColumns, angleColumns } from './angle-columns.ts';
import type { ColumnProfile } from './column-profile.ts';
import { type Axis, axisShape, numberOf } from './value-shapes.ts';

/** Which columns hold the point of a find, in which system, and how that was found out. */
export type PointProposal = {
  readonly system: GeomSystem;
  readonly columns: readonly {
    readonly profile: ColumnProfile;
    readonly rule: ReadColumn;
    readonly reasons: readonly string[];
  }[];
  readonly reasons: readonly string[];
};

/** Rows that are looked up in cadastral areas. */
const MOST_LOOKED_UP = 60;

const PAIRS: readonly { readonly system: GeomSystem; readonly x: Axis; readonly y: Axis }[] = [
  { system: '5514', x: 'east', y: 'south' },
  { system: '4326', x: 'lon', y: 'lat' },
];

/**
 * The two columns whose numbers are coordinates, whatever they are called, of two pairs the fuller one; else those of degrees, minutes
 * and seconds.
 */
export function proposePoint(
  table: Table,
  profiles: readonly ColumnProfile[],
  lookupArea: LookupArea,
): PointProposal | undefined {
  const shapes = profiles.flatMap((profile) => {
    const shape = axisShape(profile);
    return shape === undefined ? [] : [{ profile, ...shape }];
  });
  const of = (axis: Axis) =>
    shapes.filter((shape) => shape.axis === axis).sort((a, b) => b.profile.filled * b.share - a.profile.filled * a.share)[0];
  const pairs = PAIRS.flatMap(({ system, x, y }) => {
    const [first, second] = [of(x), of(y)];
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
      rule: { kind: 'read' as const, element, ...(needsMinus ? { sign: 'minus' as const } : {}) },
      reasons: [
        axisText(axis),
        ...(needsMinus ? [t`written without the minus sign, which EPSG:5514 has`] : []),
        ...(swapped && index === 0 ? [t`called y here, but the smaller number comes first in EPSG:5514`] : []),
      ],
    };
  });
  const pointOf: PointOf = (cells) => [numberIn(cells, first.profile), numberIn(cells, second.profile)];
  return { system, columns, reasons: [areasText(table, pointOf, system, lookupArea)] };
}

/** Degrees, minutes and seconds in columns of their own. */
function proposeAngles(table: Table, profiles: readonly ColumnProfile[], lookupArea: LookupArea): PointProposal | undefined {
  const angles = angleColumns(profiles);
  if (angles === undefined) return undefined;
  const columns = (['lat', 'lon'] as const).flatMap((element) => {
    const all = [...angles[element].values()].map(({ key }) => key).join(', ');
    return [...angles[element]].map(([part, profile]) => ({
      profile,
      rule: { kind: 'read' as const, element, part },
      reasons: [t`they belong together: ${all}`],
    }));
  });
  const angleIn = (cells: readonly string[], parts: AngleColumns): number | undefined =>
    numberOf(angleCell(new Map([...parts].map(([part, { index }]) => [part, cells[index] ?? '']))));
  const pointOf: PointOf = (cells) => [angleIn(cells, angles.lon), angleIn(cells, angles.lat)];
  return { system: '4326', columns, reasons: [areasText(table, pointOf, '4326', lookupArea)] };
}

/** The two coordinates of a row, x or longitude first. */
type PointOf = (cells: readonly string[]) => readonly [number | undefined, number | undefined];

function numberIn(cells: readonly string[], { index }: ColumnProfile): number | undefined {
  return numberOf(cells[index] ?? '');
}

function isNamed({ header }: ColumnProfile, letter: string): boolean {
  return foldName(header).split('_').includes(letter);
}

function axisText(axis: Axis): string {
  switch (axis) {
    case 'east':
      return t`numbers of 400 000 to 905 000: x of S-JTSK`;
    case 'south':
      return t`numbers of 930 000 to 1 230 000: y of S-JTSK`;
    case 'lon':
      return t`degrees of 12 to 19: longitude`;
    case 'lat':
      return t`degrees of 48 to 51: latitude`;
  }
}

function areasText(table: Table, pointOf: PointOf, system: GeomSystem, lookupArea: LookupArea): string {
  let [looked, inside] = [0, 0];
  for (const { cells } of table.rows) {
    if (looked === MOST_LOOKED_UP) break;
    const [east, south] = pointOf(cells);
    if (east === undefined || south === undefined) continue;
    const [lon, lat] = system === '4326' ? [east, south] : toWgs84([-Math.abs(east), -Math.abs(south)]);
    const found = lookupArea(lon, lat);
    if (found.kind === 'not-harvested') return t`not compared with cadastral areas: none were harvested`;
    looked += 1;
    if (found.kind === 'inside') inside += 1;
  }
  return ngettext(
    msgid`${inside} of ${looked} point looked up lies in a known cadastral area`,
    `${inside} of ${looked} points looked up lie in known cadastral areas`,
    looked,
  );
}
