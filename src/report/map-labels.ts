import type { Point } from '../place/geometry.ts';

/** A label of a point. It may stand on either side, above or below. */
export type LabelRequest = { readonly at: Point; readonly text: string; readonly radius: number };

export type Side = 'right' | 'left' | 'above' | 'below';
export type MapLabel = LabelRequest & { readonly side: Side };

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
 * Places as many labels as fit, the first requests first. No label covers a mark or another label,
 * or leaves the frame. The page's script places them anew on a narrow screen.
 */
export function placeLabels(requests: readonly LabelRequest[], size: Size): MapLabel[] {
  const taken = requests.map(makeMarkBox);
  return requests
    .filter(({ text }) => text !== '')
    .flatMap((request): MapLabel[] => {
      const places = (Object.keys(SIDES) as Side[]).map((side) => ({ ...request, side }));
      return takeFree(places, makeLabelBox, taken, size);
    });
}

type AreaName = { readonly at: Point; readonly text: string };

/**
 * Places names of areas in free space: in the middle of an area, or a line or two above or below.
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
const SIDES: Readonly<Record<Side, readonly [across: number, down: number]>> = {
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
export type Stack<T> = {
  readonly at: Point;
  readonly members: readonly T[];
  readonly reach: number;
};

/**
 * Groups items that are closer than `distance` to the first of a stack. Each item is in one stack;
 * a stack is drawn at the mean of its members, and `reach` is the distance of the farthest one.
 */
export function stack<T>(
  items: readonly T[],
  getPosition: (item: T) => Point,
  distance: number,
): Stack<T>[] {
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
