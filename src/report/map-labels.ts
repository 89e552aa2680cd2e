import type { Point } from '../place/geometry.ts';

/** A label of a point. It may stand on either side, above or below. */
export type LabelRequest = { readonly at: Point; readonly text: string; readonly radius: number };

export type Side = 'right' | 'left' | 'above' | 'below';
export type MapLabel = LabelRequest & {
  readonly side: Side;
  /** Placed also for larger letters, on a narrow screen. */
  readonly alsoNarrow: boolean;
};

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
/** Scale of marks and letters on a narrow screen; map.css has the same. */
export const NARROW_SCALE = 1.75;
/** Between a mark and its name. */
export const LABEL_GAP = 4;
/** Font size; map.css has the same. */
export const LABEL_SIZE = 11;
/** Margins for the labels along the edges. */
const EDGES = { left: 58, right: 78, top: 20, bottom: 20 };

type Size = { readonly width: number; readonly height: number };

/**
 * Places as many labels as fit, the first requests first: once for large letters, then further ones
 * for normal size. No label covers a mark or another label, or leaves the frame.
 */
export function placeLabels(requests: readonly LabelRequest[], size: Size): MapLabel[] {
  const placed = new Map<LabelRequest, MapLabel>();
  for (const scale of [NARROW_SCALE, 1]) {
    const taken = listTakenBoxes(requests, [...placed.values()], scale);
    for (const request of requests) {
      if (placed.has(request) || request.text === '') continue;
      const side = (Object.keys(SIDES) as Side[]).find((each) =>
        isFree(makeLabelBox(request, each, scale), taken, size, scale),
      );
      if (side === undefined) continue;
      taken.push(makeLabelBox(request, side, scale));
      placed.set(request, { ...request, side, alsoNarrow: scale === NARROW_SCALE });
    }
  }
  return [...placed.values()];
}

type AreaName = { readonly at: Point; readonly text: string; readonly alsoNarrow: boolean };

/**
 * Places names of areas in free space: in the middle of an area, or a line or two above or below.
 */
export function placeAreaNames(
  names: readonly { readonly at: Point; readonly text: string }[],
  marks: readonly LabelRequest[],
  labels: readonly MapLabel[],
  size: Size,
): AreaName[] {
  const taken = listTakenBoxes(marks, labels, 1);
  const takenNarrow = listTakenBoxes(
    marks,
    labels.filter(({ alsoNarrow }) => alsoNarrow),
    NARROW_SCALE,
  );
  return names.flatMap(({ at: [x, y], text }): AreaName[] => {
    const shift = [0, -2, 2, -4, 4].find((lines) =>
      isFree(makeTextBox(x, y + (lines * LETTER.height) / 2, text, 1), taken, size, 1),
    );
    if (shift === undefined) return [];
    const at = [x, y + (shift * LETTER.height) / 2] as const;
    taken.push(makeTextBox(at[0], at[1], text, 1));
    const large = makeTextBox(at[0], at[1], text, NARROW_SCALE);
    const alsoNarrow = isFree(large, takenNarrow, size, NARROW_SCALE);
    if (alsoNarrow) takenNarrow.push(large);
    return [{ at, text, alsoNarrow }];
  });
}

function listTakenBoxes(
  marks: readonly LabelRequest[],
  labels: readonly MapLabel[],
  scale: number,
): Box[] {
  return [
    ...marks.map(({ at: [x, y], radius }) => makeBox(x, y, radius * scale, radius * scale)),
    ...labels.map((label) => makeLabelBox(label, label.side, scale)),
  ];
}

function isFree(box: Box, taken: readonly Box[], { width, height }: Size, scale: number): boolean {
  const inside =
    box.left > EDGES.left * scale &&
    box.top > EDGES.top * scale &&
    box.right < width - EDGES.right * scale &&
    box.bottom < height - EDGES.bottom * scale;
  return inside && !taken.some((other) => isOverlapping(box, other));
}

function makeTextBox(x: number, y: number, text: string, scale: number): Box {
  return makeBox(
    x,
    y,
    ([...text].length * AREA_LETTER_WIDTH * scale) / 2,
    (LETTER.height * scale) / 2,
  );
}

/** Directions of a label from its mark, in order of preference. */
const SIDES: Readonly<Record<Side, readonly [number, number]>> = {
  right: [1, 0],
  left: [-1, 0],
  above: [0, -1],
  below: [0, 1],
};

function makeLabelBox({ at: [x, y], text, radius }: LabelRequest, side: Side, scale: number): Box {
  const halfWidth = ([...text].length * LETTER.width * scale) / 2;
  const halfHeight = (LETTER.height * scale) / 2;
  const away = (radius + LABEL_GAP) * scale;
  const [aside, down] = SIDES[side];
  return makeBox(
    x + aside * (away + halfWidth),
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
