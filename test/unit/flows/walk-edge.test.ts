import { describe, expect, test } from 'vitest';
import { edgeAfter, type WalkEdge, windowLeft } from '../../../src/flows/walk-edge.ts';

const NOWHERE: WalkEdge = { direction: null, edgeMs: null };
const OPEN = { fromMs: null, untilMs: null };

describe('the run of datestamps', () => {
  test.each([
    [[], null],
    [[5], null],
    [[5, 5, 5], null],
    [[5, 4, 4, 1], 'falling'],
    [[1, 1, 2, 9], 'rising'],
    [[5, 4, 6], 'neither'],
    [[1, 2, 1], 'neither'],
  ] as const)('%j is %s', (stamps, direction) => {
    expect(edgeAfter(NOWHERE, stamps)).toEqual({ direction, edgeMs: stamps.at(-1) ?? null });
  });

  test('goes on from page to page', () => {
    const first = edgeAfter(NOWHERE, [9, 8]);
    expect(edgeAfter(first, [])).toEqual(first);
    expect(edgeAfter(first, [7])).toEqual({ direction: 'falling', edgeMs: 7 });
    expect(edgeAfter(first, [8.5])).toEqual({ direction: 'neither', edgeMs: 8.5 });
    expect(edgeAfter(edgeAfter(first, [8.5]), [1])).toEqual({ direction: 'neither', edgeMs: 1 });
  });
});

describe('what is left of a window', () => {
  const falling: WalkEdge = { direction: 'falling', edgeMs: 50_400 };
  const rising: WalkEdge = { direction: 'rising', edgeMs: 50_400 };

  test('is all of it where the list has no order', () => {
    expect(windowLeft({ fromMs: 1, untilMs: 9 }, { direction: 'neither', edgeMs: 5 }, 'second')).toEqual({
      fromMs: 1,
      untilMs: 9,
    });
    expect(windowLeft(OPEN, NOWHERE, 'second')).toEqual(OPEN);
  });

  test('is what is older where the newest come first, the second of the last record included', () => {
    expect(windowLeft(OPEN, falling, 'second')).toEqual({ fromMs: null, untilMs: 51_400 });
    expect(windowLeft(OPEN, falling, 'day')).toEqual({ fromMs: null, untilMs: 50_400 });
    expect(windowLeft({ fromMs: 7, untilMs: 50_900 }, falling, 'second')).toEqual({ fromMs: 7, untilMs: 50_900 });
  });

  test('is what is newer where the oldest come first', () => {
    expect(windowLeft(OPEN, rising, 'second')).toEqual({ fromMs: 50_400, untilMs: null });
    expect(windowLeft({ fromMs: 60_000, untilMs: 90_000 }, rising, 'second')).toEqual({ fromMs: 60_000, untilMs: 90_000 });
  });
});
