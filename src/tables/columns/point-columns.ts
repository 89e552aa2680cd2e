import { isReadable, makeRuleProblem, type Reading, type RuleProblem } from '../../base/issue.ts';
import { type Message, msg } from '../../base/message.ts';
import { joinWithAnd } from '../../base/names.ts';
import {
  type ElementName,
  type FindElements,
  getPoint,
  getPointElement,
} from '../../finds/fields.ts';
import { explainUnknownSystem, parseGeomSystem } from '../../finds/parse-cell.ts';
import {
  findRangeProblem,
  formatPoint,
  type GeomSystem,
  isNearPoint,
  type PointInSystem,
  type PointText,
  parseGisGeometry,
  parseWrittenPoint,
  toGeomSystem,
} from '../../finds/place/geometry.ts';
import {
  formatExactPosition,
  type Position,
  parseCoordinate,
  parsePosition,
} from '../../finds/place/read-position.ts';
import type { TableRow } from '../table.ts';
import type { ColumnName } from './column-meaning.ts';
import type { Columns } from './columns.ts';

/** Columns that can hold a point. Without `system`, `geom_system` must state it. */
type PointColumns = {
  readonly columns: readonly [ColumnName, ...ColumnName[]];
  readonly system?: GeomSystem;
};

const SOURCES: readonly PointColumns[] = [
  { columns: ['lon', 'lat'], system: '4326' },
  { columns: ['geom_wkt'], system: '4326' },
  { columns: ['geom_sjtsk_wkt'], system: '5514' },
  { columns: ['geom_x', 'geom_y'] },
  { columns: ['wkt'] },
];

type ReadPoint = {
  readonly elements: FindElements;
  /** Element of the point, and the columns from which it was read. */
  readonly element?: ElementName;
  readonly columns: readonly ColumnName[];
  /** Change of the position as it was written. */
  readonly remark?: RuleProblem;
};
type PointReading = { readonly value: ReadPoint } | PointProblem;
type PointProblem = RuleProblem & { readonly element: ElementName; readonly column: ColumnName };

/**
 * Reads the coordinate system and the point of a row; `element` is undefined where it has no point.
 * A row may have a geometry of its format beside a point in columns: both must mean the same place,
 * else the reading is a problem. The point in columns then counts, since it may have more digits.
 */
export function parsePointColumns(row: TableRow, columns: Columns): PointReading {
  const { point } = row;
  const reading = parsePointInColumns(row, columns);
  if (point === undefined || !isReadable(reading)) return reading;
  const { elements, element, columns: names } = reading.value;
  const stated = elements.geom_system;
  if (element === undefined)
    return stated === undefined || stated === point.system
      ? makePointReading(point)
      : makeSystemProblem(stated, point.system);
  const repeated = getPoint(elements);
  if (repeated !== undefined && isNearPoint(repeated, point)) return reading;
  const wkt = String(elements[element] ?? '');
  const place = joinWithAnd(names);
  const message = msg`The point was moved: the geometry is ${point.x} ${point.y}, but ${place} say ${wkt}. Empty the columns, or correct one of the two.`;
  return { ...makeRuleProblem('point-twice', message), element, column: names[0] ?? 'wkt' };
}

function makePointReading(
  point: PointInSystem,
  columns: readonly ColumnName[] = [],
  position?: Position,
): PointReading {
  const element = getPointElement(point.system);
  return {
    value: {
      elements: { geom_system: point.system, [element]: formatPoint(point) },
      element,
      columns,
      remark: position && makeTurnedRemark(position),
    },
  };
}

/** Makes the problem of a point in another coordinate system than `geom_system` states. */
function makeSystemProblem(
  stated: GeomSystem,
  system: GeomSystem,
  column: ColumnName = 'geom_system',
): PointProblem {
  const message = msg`geom_system says ${stated}, but the point is in ${system}. Empty geom_system, or correct one of the two.`;
  return { ...makeRuleProblem('coordinate-system', message), element: 'geom_system', column };
}

/**
 * Reads the point in the columns of a row. Several notations must mean one place; `geom_system`
 * selects those of its system.
 */
function parsePointInColumns(row: TableRow, columns: Columns): PointReading {
  const systemCell = columns.getCell(row, 'geom_system');
  const reading = systemCell === '' ? undefined : parseGeomSystem(systemCell);
  if (reading !== undefined && !isReadable(reading))
    return { ...reading, element: 'geom_system', column: 'geom_system' };
  const stated = reading?.value;
  const filled = SOURCES.filter((source) =>
    source.columns.some((name) => getPointCell(row, columns, name) !== ''),
  );
  const fitting = filled.filter(({ system = stated }) => stated === undefined || system === stated);
  const points = fitting.map((source) => parseSource(row, columns, source, stated));
  const [first, ...others] = points;
  if (first === undefined) return makeReadingWithoutPoint(stated, filled, columns);
  const problem = points.find((point) => !isReadable(point));
  if (problem !== undefined) return problem;
  const elsewhere = others.findIndex((point) => !isOfOnePlace(first, point));
  const source = fitting[elsewhere + 1];
  if (elsewhere === -1 || source === undefined) return first;
  const names = fitting
    .map((each) => joinWithAnd(each.columns))
    .reduce((all, name) => msg`${all}, and in ${name}`);
  const message = msg`The point is given twice, in ${names}. Leave one empty, or state in geom_system which one to use.`;
  return makeProblem('point-twice', message, source);
}

function isOfOnePlace(...readings: readonly PointReading[]): boolean {
  const [a, b] = readings.flatMap((reading) =>
    isReadable(reading) ? (getPoint(reading.value.elements) ?? []) : [],
  );
  return a !== undefined && b !== undefined && isNearPoint(a, b);
}

/**
 * Reads the point of one notation. Its coordinate system is that of the columns, else the stated
 * one, an SRID in the text, or S-JTSK beside degrees; a point without any is an error.
 */
function parseSource(
  row: TableRow,
  columns: Columns,
  source: PointColumns,
  stated: GeomSystem | undefined,
): PointReading {
  const written = source.columns[0] === 'wkt' ? columns.getCell(row, 'wkt') : '';
  const { epsg } = written === '' ? {} : parseGisGeometry(written);
  const isPlain = written !== '' && (columns.turnsPositions || !WELL_KNOWN.test(written));
  const position = isPlain ? parsePlainPosition(written, columns.turnsPositions) : undefined;
  if (position !== undefined && !isReadable(position))
    return makeProblem(position.rule, position.problem, source, getPointElement(stated ?? '4326'));
  const shown = epsg === undefined ? position?.value.system : toGeomSystem(epsg);
  if (epsg !== undefined && shown === undefined) {
    return makeProblem('coordinate-system', explainUnknownSystem(`SRID=${epsg}`), source);
  }
  if (shown !== undefined && stated !== undefined && stated !== shown)
    return makeSystemProblem(stated, shown);
  const point =
    position === undefined
      ? parseCoordinates(row, columns, source.columns)
      : { value: position.value.point };
  const beside = isReadable(point) ? findSystemBeside(columns, point.value) : undefined;
  const system = source.system ?? stated ?? shown ?? beside;
  if (system === undefined)
    return makeProblem(
      'coordinate-system',
      msg`The coordinate system of the point is not given. Write 4326 (WGS 84) or 5514 (S-JTSK) in the column geom_system.`,
      source,
    );
  if (!isReadable(point))
    return makeProblem(point.rule, point.problem, source, getPointElement(system));
  return makePointReading({ system, ...point.value }, source.columns, position?.value);
}

/** Returns S-JTSK for numbers in its range beside columns of degrees; else undefined. */
function findSystemBeside(columns: Columns, { x, y }: PointText): GeomSystem | undefined {
  const isBeside = columns.has('lon') && columns.has('lat');
  return isBeside && findRangeProblem('5514', Number(x), Number(y)) === undefined
    ? '5514'
    : undefined;
}

/**
 * Returns the cell of a point; in the column of GIS programs without SRID and height, and empty for
 * an empty geometry.
 */
function getPointCell(row: TableRow, columns: Columns, name: ColumnName): string {
  const text = columns.getCell(row, name);
  return name === 'wkt' && WELL_KNOWN.test(text) ? parseGisGeometry(text).wkt : text;
}

/** Beginning of well-known text, also of what is no point. */
const WELL_KNOWN = /^(?:srid|(?:multi)?(?:point|line|polygon)|geometry)/i;

/**
 * Parses a position in another notation than well-known text. One with a doubt is used only where a
 * column map says so, and one in degrees of another hemisphere not even then.
 */
function parsePlainPosition(text: string, turnsPositions: boolean): Reading<Position> {
  const position = parsePosition(text);
  if (!isReadable(position)) return position;
  const { doubt, system, change } = position.value;
  const isElsewhere = system === '4326' && change !== 'axes';
  const meant = formatExactPosition(position.value);
  if (doubt === undefined || (turnsPositions && !isElsewhere)) return position;
  return makeRuleProblem(
    'coordinate',
    msg`${doubt} The point is not used. If you mean ${meant}, write it that way.`,
  );
}

function makeTurnedRemark(position: Position): RuleProblem | undefined {
  const { doubt } = position;
  const meant = formatExactPosition(position);
  if (doubt === undefined) return undefined;
  return makeRuleProblem('position-turned', msg`${doubt} It is read as ${meant}.`);
}

function makeProblem(
  rule: string,
  message: Message,
  source: PointColumns,
  element: ElementName = 'geom_system',
): PointProblem {
  return { ...makeRuleProblem(rule, message), element, column: source.columns[0] };
}

/**
 * Makes the reading of a row without a point: its system is the stated one, else WGS 84 beside
 * columns of degrees or of positions, else none. A point in columns of another system than the
 * stated one is a problem.
 */
function makeReadingWithoutPoint(
  stated: GeomSystem | undefined,
  filled: readonly PointColumns[],
  columns: Columns,
): PointReading {
  const [other] = filled;
  if (stated !== undefined && other?.system !== undefined)
    return makeSystemProblem(stated, other.system, other.columns[0]);
  const hasOwnSystem = columns.turnsPositions || (columns.has('lon') && columns.has('lat'));
  const system = stated ?? (hasOwnSystem ? '4326' : undefined);
  return { value: { elements: system === undefined ? {} : { geom_system: system }, columns: [] } };
}

function parseCoordinates(
  row: TableRow,
  columns: Columns,
  names: readonly ColumnName[],
): Reading<PointText> {
  const [first = 'wkt', second] = names;
  if (second === undefined) return parseWrittenPoint(getPointCell(row, columns, first));
  const missing = names.find((name) => columns.getCell(row, name) === '');
  if (missing !== undefined) {
    const both = joinWithAnd(names);
    return makeRuleProblem(
      'coordinate',
      msg`Only one of ${both} is given: ${missing} is empty. A point needs both.`,
    );
  }
  const x = parseCoordinate(columns.getCell(row, first), 'x');
  const y = parseCoordinate(columns.getCell(row, second), 'y');
  if (!isReadable(x)) return x;
  return isReadable(y) ? { value: { x: x.value, y: y.value } } : y;
}
