import { describe, expect, test } from 'vitest';
import {
  advancePass,
  type HarvestPass,
  type HarvestWindow,
  judge,
  resumeByDatestamp,
  startPass,
  startScan,
} from '../../../src/oai/pass.ts';

const OPEN: HarvestWindow = { fromMs: null, untilMs: null };
const BEGUN = startPass('full', OPEN, 1e6, 1);

const PAGE = {
  next: 'T',
  completeListSize: undefined,
  responseDateMs: 1e6,
  overlapMs: 0,
  cursor: undefined,
  identifiers: [],
  againMs: [],
};
const page = (pass: HarvestPass, datestampsMs: readonly number[]): HarvestPass =>
  advancePass(pass, { ...PAGE, completeListSize: 9, datestampsMs });

describe('the order of datestamps', () => {
  test.each([
    [[], null],
    [[5], null],
    [[5, 5, 5], null],
    [[5, 4, 4, 1], 'falling'],
    [[1, 1, 2, 9], 'rising'],
    [[5, 4, 6], 'neither'],
    [[1, 2, 1], 'neither'],
  ] as const)('%j is %s', (stamps, direction) => {
    expect(page(BEGUN, stamps).walk).toMatchObject({ direction, edgeMs: stamps.at(-1) ?? null });
  });

  test('continues from page to page', () => {
    const first = page(BEGUN, [9, 8]);
    expect(page(first, []).walk).toMatchObject({ direction: 'falling', edgeMs: 8 });
    expect(page(first, [7]).walk).toMatchObject({ direction: 'falling', edgeMs: 7 });
    expect(page(page(first, [8.5]), [1]).walk).toMatchObject({ direction: 'neither', edgeMs: 1 });
  });
});

describe('the rest of a window after an interruption', () => {
  const left = (window: HarvestWindow, stamps: readonly number[]) =>
    resumeByDatestamp(page(startPass('full', window, 1e6, 1), stamps)).walk.window;

  test('is all of it if the list has no order, or no count', () => {
    expect(left({ fromMs: 1, untilMs: 9 }, [5, 4, 6])).toEqual({ fromMs: 1, untilMs: 9 });
    expect(left(OPEN, [])).toEqual(OPEN);
    const uncounted = advancePass(BEGUN, { ...PAGE, datestampsMs: [9, 8] });
    expect(resumeByDatestamp(uncounted)).toMatchObject({
      scan: { number: 2, seen: 0 },
      walk: { window: OPEN },
    });
  });

  test('is what is older if the newest come first, including the time of the last record', () => {
    expect(left(OPEN, [60_000, 50_400])).toEqual({ fromMs: null, untilMs: 50_400 });
    expect(left({ fromMs: 7, untilMs: 50_300 }, [60_000, 50_400])).toEqual({
      fromMs: 7,
      untilMs: 50_300,
    });
  });

  test('is what is newer if the oldest come first', () => {
    expect(left(OPEN, [40_000, 50_400])).toEqual({ fromMs: 50_400, untilMs: null });
    expect(left({ fromMs: 60_000, untilMs: 90_000 }, [40_000, 50_400])).toEqual({
      fromMs: 60_000,
      untilMs: 90_000,
    });
  });
});

test.each([
  [{ fromMs: null, untilMs: 50_000 }, [60_000, 70_000]],
  [{ fromMs: 50_000, untilMs: null }, [40_000, 30_000]],
])(
  'a list that leaves its window %j is read from its start after an interruption, not from beyond the other bound',
  (window, stamps) => {
    const resumed = resumeByDatestamp(page(startPass('full', window, 1e6, 1), stamps));
    expect([resumed.walk.window, resumed.scan.number]).toEqual([window, 2]);
  },
);

test('a list that has shrunk to one page is complete, whatever was counted before', () => {
  const interrupted = startScan(page(BEGUN, [9, 8]), false);
  const last = { ...PAGE, next: undefined, datestampsMs: [9] };
  expect(judge(advancePass(interrupted, last))).toBe('complete');
});
