import type { Point } from '../place/project.ts';

/** Marks that would overlap, drawn as one. Units of the drawing. */
export type Stack<T> = { readonly at: Point; readonly members: readonly T[]; readonly reach: number };

/**
 * Groups items that are closer than `distance` to the first of a stack. Each item is in one stack; a stack is drawn at the mean
 * of its members, and `reach` is the distance of the farthest one.
 */
export function stack<T>(items: readonly T[], placeOf: (item: T) => Point, distance: number): Stack<T>[] {
  const open: { readonly seed: Point; readonly members: T[] }[] = [];
  // Grid of squares as wide as the distance, so that only nine squares are searched.
  const squares = new Map<string, (typeof open)[number][]>();
  for (const item of items) {
    const [x, y] = placeOf(item);
    const [column, row] = [Math.floor(x / distance), Math.floor(y / distance)];
    const near = [-1, 0, 1].flatMap((dx) => [-1, 0, 1].flatMap((dy) => squares.get(`${column + dx} ${row + dy}`) ?? []));
    const found = near.find(({ seed }) => Math.hypot(seed[0] - x, seed[1] - y) < distance);
    if (found !== undefined) {
      found.members.push(item);
      continue;
    }
    const begun = { seed: [x, y] as const, members: [item] };
    open.push(begun);
    const key = `${column} ${row}`;
    squares.set(key, [...(squares.get(key) ?? []), begun]);
  }
  return open.map(({ members }) => {
    const places = members.map(placeOf);
    const mean = (axis: 0 | 1): number => places.reduce((sum, place) => sum + place[axis], 0) / places.length;
    const at = [mean(0), mean(1)] as const;
    const reach = places.reduce((most, [x, y]) => Math.max(most, Math.hypot(x - at[0], y - at[1])), 0);
    return { at, members, reach };
  });
}
