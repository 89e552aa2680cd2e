import { type BoundingBox, computeMetresPerDegree, makeBoxAround } from '../finds/place/areas.ts';
import { type Point, toSJtsk } from '../finds/place/geometry.ts';
import {
  formatGridLine,
  formatLatitude,
  formatLongitude,
  type MappedFind,
} from './report-model.ts';

/**
 * The window of a map: converts degrees to drawing units, x to the right and y down. The projection
 * is equirectangular with the scale of the middle latitude: over the width of the country the error
 * is less than 2 %.
 */
export type MapFrame = {
  readonly width: number;
  readonly height: number;
  readonly metresPerUnit: number;
  /** Degrees. */
  readonly box: BoundingBox;
  place(lonLat: Point): Point;
};

export const MAP_WIDTH = 760;
const HEIGHTS = { least: 380, most: 560 };
/** Margin around the content, as a share of its size. */
const MARGIN = 0.14;
/** Minimum width in metres, so that a single find has surroundings. */
const MIN_METRES = { overview: 16_000, detail: 900 };

/**
 * Makes a frame centred on a box of degrees, with a margin; at least as wide as the kind of map
 * needs, and with a height within {@link HEIGHTS}.
 */
export function makeFrameAround(
  { minX, minY, maxX, maxY }: BoundingBox,
  kind: keyof typeof MIN_METRES,
): MapFrame {
  const midX = (minX + maxX) / 2;
  const midY = (minY + maxY) / 2;
  const [mPerLon, mPerLat] = computeMetresPerDegree(midY);
  const least = MIN_METRES[kind];
  const wide = Math.max((maxX - minX) * mPerLon * (1 + 2 * MARGIN), least);
  const high = Math.max((maxY - minY) * mPerLat * (1 + 2 * MARGIN), least * 0.6);
  const height = Math.round(
    Math.min(Math.max((MAP_WIDTH * high) / wide, HEIGHTS.least), HEIGHTS.most),
  );
  const metresPerUnit = Math.max(wide / MAP_WIDTH, high / height);
  const halfLon = (MAP_WIDTH / 2) * (metresPerUnit / mPerLon);
  const halfLat = (height / 2) * (metresPerUnit / mPerLat);
  const box = {
    minX: midX - halfLon,
    maxX: midX + halfLon,
    minY: midY - halfLat,
    maxY: midY + halfLat,
  };
  return {
    width: MAP_WIDTH,
    height,
    metresPerUnit,
    box,
    place: ([longitude, latitude]) => [
      ((longitude - box.minX) / (box.maxX - box.minX)) * MAP_WIDTH,
      ((box.maxY - latitude) / (box.maxY - box.minY)) * height,
    ],
  };
}

/** Returns the largest of 1, 2 and 5 times a power of ten that is at most `most`. */
export function roundDownToStep(most: number): number {
  const power = 10 ** Math.floor(Math.log10(most));
  const digit = [5, 2, 1].find((each) => each * power <= most * (1 + 1e-9)) ?? 1;
  return digit * power;
}

/** Intersection of a grid line with the edge of the frame: units along that edge. */
export type Tick = { readonly at: number; readonly label: string };

type Graticule = {
  /** Meridians by x, parallels by y: drawn across, labelled at the lower and the left edge. */
  readonly meridians: readonly Tick[];
  readonly parallels: readonly Tick[];
  /**
   * S-JTSK: x at the upper edge and y at the right one. Its lines are inclined, so only their ends
   * are drawn.
   */
  readonly top: readonly Tick[];
  readonly right: readonly Tick[];
};

/** Minimum number of lines across. */
const LINES = 3;

/**
 * Makes the lines of WGS 84 (degrees), and the marks of S-JTSK (metres) at the upper and right
 * edges, at round numbers. Positions are in units of the drawing.
 */
export function makeGraticule(frame: MapFrame): Graticule {
  const { box, width, height } = frame;
  const lonStep = roundDownToStep((box.maxX - box.minX) / LINES);
  const latStep = roundDownToStep((box.maxY - box.minY) / LINES);
  const countDigits = (step: number): number => Math.max(0, Math.ceil(-Math.log10(step) - 1e-9));
  const metres = roundDownToStep((width * frame.metresPerUnit) / (LINES + 1));
  return {
    meridians: listMultiples(box.minX, box.maxX, lonStep).map((longitude) => ({
      at: frame.place([longitude, box.minY])[0],
      label: formatLongitude(longitude, countDigits(lonStep)),
    })),
    parallels: listMultiples(box.minY, box.maxY, latStep).map((latitude) => ({
      at: frame.place([box.minX, latitude])[1],
      label: formatLatitude(latitude, countDigits(latStep)),
    })),
    top: findCrossings(
      metres,
      width,
      (share) => toSJtsk([box.minX + share * (box.maxX - box.minX), box.maxY])[0],
    ),
    right: findCrossings(
      metres,
      height,
      (share) => toSJtsk([box.maxX, box.maxY - share * (box.maxY - box.minY)])[1],
    ),
  };
}

/** Starts within the first interval, so that no label touches a corner. */
function listMultiples(from: number, to: number, step: number): number[] {
  const room = (to - from) * 0.03;
  const first = Math.ceil((from + room) / step);
  const last = Math.floor((to - room) / step);
  return Array.from(
    { length: Math.max(0, last - first + 1) },
    (_, index) => (first + index) * step,
  );
}

const SAMPLES = 16;

/**
 * Finds round values of a coordinate along an edge, by linear interpolation between samples, since
 * it changes almost evenly.
 */
function findCrossings(step: number, length: number, valueAt: (share: number) => number): Tick[] {
  const values = Array.from({ length: SAMPLES + 1 }, (_, index) => valueAt(index / SAMPLES));
  const ticks: Tick[] = [];
  for (let index = 0; index < SAMPLES; index++) {
    const [a = 0, b = 0] = [values[index], values[index + 1]];
    if (!Number.isFinite(a) || !Number.isFinite(b) || a === b) continue;
    for (
      let value = Math.ceil(Math.min(a, b) / step) * step;
      value < Math.max(a, b);
      value += step
    ) {
      const at = ((index + (value - a) / (b - a)) / SAMPLES) * length;
      if (at > length * 0.04 && at < length * 0.96)
        ticks.push({ at, label: formatGridLine(value, step) });
    }
  }
  return ticks;
}

/** A label of a point. It may stand on either side, above or below. */
export type LabelRequest = { readonly at: Point; readonly text: string; readonly radius: number };

export type LabelSide = 'right' | 'left' | 'above' | 'below';
export type MapLabel = LabelRequest & { readonly side: LabelSide };

type Box = {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
};

/** Average size of a letter, in units. */
const LETTER = { width: 7, height: 13 };
/** Names of areas have letter spacing. */
const AREA_LETTER_WIDTH = 8.2;
/** Between a mark and its name. */
export const LABEL_GAP = 4;
/** Font size; map.css has the same. */
export const LABEL_SIZE = 11;
/** Margins for the labels along the edges. */
const EDGES = { left: 58, right: 78, top: 20, bottom: 20 };

type Size = { readonly width: number; readonly height: number };

/**
 * Places as many labels as fit, the first requests first; those that do not fit are left out. No
 * label covers a mark or another label, or leaves the frame. The page's script places them anew
 * on a narrow screen.
 */
export function placeLabels(requests: readonly LabelRequest[], size: Size): MapLabel[] {
  const taken = requests.map(makeMarkBox);
  return requests
    .filter(({ text }) => text !== '')
    .flatMap((request): MapLabel[] => {
      const places = (Object.keys(SIDES) as LabelSide[]).map((side) => ({ ...request, side }));
      return takeFree(places, makeLabelBox, taken, size);
    });
}

type AreaName = { readonly at: Point; readonly text: string };

/**
 * Places names of areas in free space: in the middle of an area, or a line or two above or below.
 * Those that do not fit are left out.
 */
export function placeAreaNames(
  names: readonly AreaName[],
  marks: readonly LabelRequest[],
  labels: readonly MapLabel[],
  size: Size,
): AreaName[] {
  const taken = [...marks.map(makeMarkBox), ...labels.map(makeLabelBox)];
  return names.flatMap(({ at: [x, y], text }) => {
    const places = [0, -1, 1, -2, 2].map((lines) => ({
      at: [x, y + lines * LETTER.height] as const,
      text,
    }));
    return takeFree(places, makeNameBox, taken, size);
  });
}

/** Takes the first free place; empty where there is none. */
function takeFree<Place>(
  places: readonly Place[],
  makePlaceBox: (place: Place) => Box,
  taken: Box[],
  size: Size,
): Place[] {
  const place = places.find((each) => isFree(makePlaceBox(each), taken, size));
  if (place === undefined) return [];
  taken.push(makePlaceBox(place));
  return [place];
}

function isFree(box: Box, taken: readonly Box[], { width, height }: Size): boolean {
  const inside =
    box.left > EDGES.left &&
    box.top > EDGES.top &&
    box.right < width - EDGES.right &&
    box.bottom < height - EDGES.bottom;
  return inside && !taken.some((other) => isOverlapping(box, other));
}

function makeMarkBox({ at: [x, y], radius }: LabelRequest): Box {
  return makeBox(x, y, radius, radius);
}

function makeNameBox({ at: [x, y], text }: AreaName): Box {
  return makeBox(x, y, ([...text].length * AREA_LETTER_WIDTH) / 2, LETTER.height / 2);
}

/** Directions of a label from its mark, in order of preference. */
const SIDES: Readonly<Record<LabelSide, readonly [across: number, down: number]>> = {
  right: [1, 0],
  left: [-1, 0],
  above: [0, -1],
  below: [0, 1],
};

function makeLabelBox({ at: [x, y], text, radius, side }: MapLabel): Box {
  const halfWidth = ([...text].length * LETTER.width) / 2;
  const halfHeight = LETTER.height / 2;
  const away = radius + LABEL_GAP;
  const [across, down] = SIDES[side];
  return makeBox(
    x + across * (away + halfWidth),
    y + down * (away + halfHeight),
    halfWidth,
    halfHeight,
  );
}

function makeBox(x: number, y: number, halfWidth: number, halfHeight: number): Box {
  return { left: x - halfWidth, right: x + halfWidth, top: y - halfHeight, bottom: y + halfHeight };
}

function isOverlapping(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** Marks that would overlap, drawn as one. Units of the drawing. */
export type MarkGroup<T> = {
  readonly at: Point;
  readonly members: readonly T[];
  readonly reach: number;
};

/**
 * Groups items that are closer than `distance` to the first of a group, in the order of the
 * items. Each item is in one group; a group is drawn at the mean of its members, and `reach` is
 * the distance of the farthest one from there.
 */
export function groupOverlappingMarks<T>(
  items: readonly T[],
  getPosition: (item: T) => Point,
  distance: number,
): MarkGroup<T>[] {
  const open: { readonly seed: Point; readonly members: T[] }[] = [];
  // Grid of squares as wide as the distance, so that only nine squares are searched.
  const squares = new Map<string, (typeof open)[number][]>();
  for (const item of items) {
    const [x, y] = getPosition(item);
    const column = Math.floor(x / distance);
    const row = Math.floor(y / distance);
    const near = [-1, 0, 1].flatMap((dx) =>
      [-1, 0, 1].flatMap((dy) => squares.get(`${column + dx} ${row + dy}`) ?? []),
    );
    const cluster = near.find(({ seed }) => Math.hypot(seed[0] - x, seed[1] - y) < distance);
    if (cluster !== undefined) {
      cluster.members.push(item);
      continue;
    }
    const begun = { seed: [x, y] as const, members: [item] };
    open.push(begun);
    const key = `${column} ${row}`;
    squares.set(key, [...(squares.get(key) ?? []), begun]);
  }
  return open.map(({ members }) => {
    const places = members.map(getPosition);
    const mean = (axis: 0 | 1): number =>
      places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    const at = [mean(0), mean(1)] as const;
    const reach = places.reduce(
      (most, [x, y]) => Math.max(most, Math.hypot(x - at[0], y - at[1])),
      0,
    );
    return { at, members, reach };
  });
}

export type PlannedMapSheet = {
  readonly kind: 'overview' | 'detail';
  readonly finds: readonly MappedFind[];
  readonly box: BoundingBox;
};

/** Finds farther apart than about this are in different places. */
const GAP_M = 4000;
const MAX_DETAILS = 8;

/**
 * Plans an overview of all finds, and a detail map of each of the {@link MAX_DETAILS} places with
 * most finds, those with most first. No map without finds.
 */
export function planMapSheets(finds: readonly MappedFind[]): PlannedMapSheet[] {
  if (finds.length === 0) return [];
  const box = getBoundingBox(finds);
  const [mPerLon, mPerLat] = computeMetresPerDegree((box.minY + box.maxY) / 2);
  const richest = groupByPlace(finds, mPerLon, mPerLat)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_DETAILS);
  return [
    { kind: 'overview', finds, box },
    ...richest.map(
      (members): PlannedMapSheet => ({
        kind: 'detail',
        finds: members,
        box: getBoundingBox(members),
      }),
    ),
  ];
}

function getBoundingBox(finds: readonly MappedFind[]): BoundingBox {
  return makeBoxAround(finds.map(({ place }) => place.wgs84));
}

/**
 * Groups finds by single linkage on a grid: neighbouring squares, also by a corner, form one place.
 */
function groupByPlace(
  finds: readonly MappedFind[],
  mPerLon: number,
  mPerLat: number,
): MappedFind[][] {
  const squares = new Map<
    string,
    { readonly column: number; readonly row: number; readonly finds: MappedFind[] }
  >();
  for (const find of finds) {
    const [longitude, latitude] = find.place.wgs84;
    const column = Math.floor((longitude * mPerLon) / GAP_M);
    const row = Math.floor((latitude * mPerLat) / GAP_M);
    const key = `${column} ${row}`;
    const square = squares.get(key) ?? { column, row, finds: [] };
    squares.set(key, square);
    square.finds.push(find);
  }
  const places: MappedFind[][] = [];
  while (squares.size > 0) {
    const [begin = ''] = squares.keys();
    const waiting = [begin];
    const members: MappedFind[] = [];
    for (let key = waiting.pop(); key !== undefined; key = waiting.pop()) {
      const square = squares.get(key);
      if (square === undefined) continue;
      squares.delete(key);
      members.push(...square.finds);
      for (const dx of [-1, 0, 1])
        for (const dy of [-1, 0, 1]) waiting.push(`${square.column + dx} ${square.row + dy}`);
    }
    places.push(members.sort((a, b) => a.number - b.number));
  }
  return places;
}
