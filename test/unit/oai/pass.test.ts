import { describe, expect, test } from 'vitest';
import {
  advancePass,
  continueByDatestamp,
  endList,
  type HarvestPass,
  type HarvestWindow,
  isOfWholeWindow,
  judge,
  type PageNote,
  recountPass,
  startScan,
} from '../../../src/oai/pass.ts';
import { begunPass } from '../../support/begun-pass.ts';

const BEGAN = 1_000_000;
const OPEN: HarvestWindow = { fromMs: null, untilMs: null };
const BEGUN = begunPass('full', OPEN, BEGAN, 1);
const PAGE: PageNote = {
  next: 'T',
  completeListSize: undefined,
  responseDateMs: BEGAN,
  overlapMs: 0,
  cursor: undefined,
  datestampsMs: [],
  againMs: [],
};

const aPass = (more: Partial<HarvestPass> = {}): HarvestPass => ({
  ...begunPass('full', more.window ?? OPEN, BEGAN, 1),
  ...more,
});
const after = (pass: HarvestPass, more: Partial<PageNote>): HarvestPass =>
  advancePass(pass, { ...PAGE, ...more });

describe('the order of datestamps', () => {
  const page = (pass: HarvestPass, datestampsMs: readonly number[]) =>
    after(pass, { datestampsMs });

  test.each([
    [[], null],
    [[5], null],
    [[5, 5, 5], null],
    [[5, 4, 4, 1], 'falling'],
    [[1, 1, 2, 9], 'rising'],
    [[5, 4, 6], 'neither'],
    [[1, 2, 1], 'neither'],
  ] as const)('%j is %s', (stamps, direction) => {
    expect(page(BEGUN, stamps)).toMatchObject({ direction, edgeMs: stamps.at(-1) ?? null });
  });

  test('continues from page to page', () => {
    const first = page(BEGUN, [9, 8]);
    expect(page(first, [])).toMatchObject({ direction: 'falling', edgeMs: 8 });
    expect(page(first, [7])).toMatchObject({ direction: 'falling', edgeMs: 7 });
    expect(page(page(first, [8.5]), [1])).toMatchObject({ direction: 'neither', edgeMs: 1 });
  });
});

describe('the rest of a list after a refused token', () => {
  const cut = (window: HarvestWindow, datestampsMs: readonly number[], completeListSize?: number) =>
    continueByDatestamp(
      after(begunPass('full', window, BEGAN, 1), { datestampsMs, completeListSize }),
    );
  const left = (window: HarvestWindow, stamps: readonly number[]) => cut(window, stamps, 9).rest;

  test('is all of it, in a new scan, if the list has no order, or no count', () => {
    expect(left({ fromMs: 1, untilMs: 9 }, [5, 4, 6])).toEqual({ fromMs: 1, untilMs: 9 });
    expect(left(OPEN, [])).toEqual(OPEN);
    expect(cut(OPEN, [9, 8])).toMatchObject({ scan: 2, seen: 0, unmet: null, rest: OPEN });
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

  test.each([
    [{ fromMs: null, untilMs: 50_000 }, [60_000, 70_000]],
    [{ fromMs: 50_000, untilMs: null }, [40_000, 30_000]],
  ])('is not beyond the other bound of %j', (window, stamps) => {
    expect(cut(window, stamps, 9)).toMatchObject({ rest: window, scan: 2 });
  });

  test('is part of the window if a bound was cut', () => {
    const window = { fromMs: 1, untilMs: 9 };
    const isWhole = (rest: HarvestWindow) => isOfWholeWindow(aPass({ window, rest }));
    expect([
      isWhole(window),
      isWhole({ ...window, fromMs: 2 }),
      isWhole({ ...window, untilMs: 8 }),
    ]).toEqual([true, false, false]);
  });
});

describe('after a page', () => {
  test('the scan continues at its token, or has ended', () => {
    expect(after(aPass({ pages: 2 }), { next: 'T3' })).toMatchObject({ token: 'T3', pages: 3 });
    expect(after(aPass({ pages: 2 }), { next: undefined })).toMatchObject({
      token: null,
      pages: 3,
    });
    expect(endList(aPass({ token: 'T' })).token).toBeNull();
  });

  test('the earliest time that the service named counts', () => {
    expect(
      [BEGAN - 1, BEGAN + 1].map((responseDateMs) => after(aPass(), { responseDateMs }).beganMs),
    ).toEqual([BEGAN - 1, BEGAN]);
  });

  test('a record that changed since the start of the pass is fresh, and stays so', () => {
    const fresh = (...datestampsMs: number[]) => after(aPass(), { datestampsMs }).fresh;
    expect([fresh(BEGAN - 1), fresh(BEGAN - 5, BEGAN), fresh()]).toEqual([false, true, false]);
    expect(after(aPass({ fresh: true }), {}).fresh).toBe(true);
  });

  test('the count of the window is that of its pages, not of its rest', () => {
    expect(after(aPass({ listSize: 5 }), { completeListSize: 8 }).listSize).toBe(8);
    expect(after(aPass({ listSize: 5 }), {}).listSize).toBe(5);
    expect(after(aPass({ listSize: 5 }), { next: undefined }).listSize).toBeNull();
    const rest = { fromMs: 1, untilMs: null };
    expect(after(aPass({ listSize: 9, rest }), { completeListSize: 3 }).listSize).toBe(9);
  });

  test('a record has left the list if its count fell, or it has more than it counts', () => {
    const pass = aPass({ listSize: 9, pages: 2, seen: 8 });
    expect(after(pass, { completeListSize: 8 }).gone).toBe(true);
    expect(after({ ...pass, pages: 0 }, { completeListSize: 8 }).gone).toBe(false);
    expect(after(pass, { completeListSize: 9 }).gone).toBe(false);
    expect(after({ ...pass, seen: 10 }, { next: undefined }).gone).toBe(true);
    expect([recountPass(pass, 9).gone, recountPass(pass, 8).gone]).toEqual([false, true]);
    expect(recountPass({ ...pass, seen: 11 }, 10)).toMatchObject({ listSize: 10, gone: true });
  });

  test('a repeated record has moved, unless it is where the rest of a list begins', () => {
    const moved = (window: HarvestWindow, rest: HarvestWindow, ...againMs: number[]) =>
      after(aPass({ window, rest }), { againMs }).moved;
    expect([moved(OPEN, OPEN), moved(OPEN, OPEN, 5)]).toEqual([false, true]);
    const newer = { fromMs: 5, untilMs: null };
    expect([4, 5, 6].map((ms) => moved(OPEN, newer, ms))).toEqual([false, false, true]);
    expect(moved(newer, newer, 4)).toBe(true);
    const older = { fromMs: null, untilMs: 5 };
    expect([4, 5, 6].map((ms) => moved(OPEN, older, ms))).toEqual([true, false, false]);
    expect(moved(older, older, 6)).toBe(true);
    const between = { fromMs: 2, untilMs: 5 };
    expect([
      moved({ fromMs: 2, untilMs: null }, between, 6),
      moved({ fromMs: null, untilMs: 5 }, between, 6),
    ]).toEqual([false, true]);
    expect(after(aPass({ moved: true }), {}).moved).toBe(true);
  });
});

describe('the next scan', () => {
  const READ = { seen: 7, unmet: 0, agreed: 1, gone: true, moved: true, fresh: true, token: 'T' };

  test('begins at the beginning, and knows how many records the last one saw', () => {
    expect(startScan(aPass({ ...READ, listSize: 7 }), true)).toEqual(
      aPass({ listSize: 7, scan: 2, unmet: 7, agreed: 2 }),
    );
    expect(startScan(aPass({ ...READ, overlooked: 1 }), true).agreed).toBe(0);
  });

  test('after an interrupted one has nothing to compare with', () => {
    expect(startScan(aPass(READ), false)).toEqual(aPass({ scan: 2 }));
  });
});

/** A list of two pages, of which nothing is missing. */
const COUNTED = { listSize: 9, seen: 9, pages: 2, direction: 'falling', edgeMs: 5 } as const;

describe('a counted scan', () => {
  test('with missing records is repeated, until two agree that the service sends less than it counts', () => {
    const missing = (more: Partial<HarvestPass>) =>
      judge(aPass({ ...COUNTED, listSize: 10, position: null, ...more }));
    expect(missing({})).toBe('again');
    expect(missing({ unmet: 1 })).toBe('again');
    expect(missing({ unmet: 0, overlooked: 1 })).toBe('again');
    expect(missing({ unmet: 0 })).toBe('short');
    expect(missing({ unmet: 0, position: 9 })).toBe('counted-too-many');
  });

  test.each([
    ['nothing happened', {}, 'complete'],
    ['something left the list', { gone: true, unmet: 0 }, 'again'],
    ['something stood twice', { moved: true }, 'again'],
    [
      'something stood twice, and the scan before met the same',
      { moved: true, unmet: 0 },
      'complete',
    ],
    [
      'something changed at its head, where another would have stood twice',
      { fresh: true },
      'complete',
    ],
    ['something changed, and the oldest come first', { fresh: true, direction: 'rising' }, 'again'],
    [
      'something changed, and the list was cut',
      { fresh: true, rest: { fromMs: null, untilMs: 5 } },
      'again',
    ],
    [
      'something changed, the list was cut, and the scan before met the same',
      { fresh: true, unmet: 0, rest: { fromMs: null, untilMs: 5 } },
      'complete',
    ],
    ['all stood on one page', { gone: true, pages: 1 }, 'complete'],
  ] as const)('where %s', (_name, more, verdict) => {
    expect(judge(aPass({ ...COUNTED, ...more }))).toBe(verdict);
  });
});

test.each([
  ['is taken again where none before it agreed with another', { unmet: 0 }, 'again'],
  ['is complete where it is the third to agree', { unmet: 0, agreed: 1 }, 'complete'],
  ['is taken again where it lacks a record', { unmet: 1, agreed: 1 }, 'again'],
  ['is taken again where one was overlooked', { unmet: 0, agreed: 1, overlooked: 1 }, 'again'],
  ['is complete where all stood on one page', { pages: 1 }, 'complete'],
] as const)('an uncounted scan %s', (_name, more, verdict) => {
  expect(judge(aPass({ ...COUNTED, listSize: null, ...more }))).toBe(verdict);
});

test('a list that has shrunk to one page is complete, whatever was counted before', () => {
  const interrupted = startScan(after(BEGUN, { completeListSize: 9, datestampsMs: [9, 8] }), false);
  expect(judge(after(interrupted, { next: undefined, datestampsMs: [9] }))).toBe('complete');
});
