import { describe, expect, test } from 'vitest';
import {
  advancePass,
  type HarvestPass,
  type HarvestWindow,
  isOfWholeWindow,
  judge,
  markChanged,
  parseBoundMs,
  startPass,
  startScan,
  withShrunkList,
} from '../../../src/oai/pass.ts';

const BEGAN = 1_000_000;
const OPEN: HarvestWindow = { fromMs: null, untilMs: null };
const PAGE = {
  next: 'T',
  completeListSize: undefined,
  responseDateMs: BEGAN,
  overlapMs: 0,
  cursor: undefined,
  datestampsMs: [],
  identifiers: [],
  againMs: [],
};

type More = Partial<Omit<HarvestPass, 'scan' | 'walk'>> & {
  readonly scan?: Partial<HarvestPass['scan']>;
  readonly walk?: Partial<HarvestPass['walk']>;
};

function aPass({ scan, walk, ...more }: More = {}): HarvestPass {
  const pass = startPass('full', more.window ?? OPEN, BEGAN, 1);
  return { ...pass, ...more, scan: { ...pass.scan, ...scan }, walk: { ...pass.walk, ...walk } };
}

/** Some list of two pages, of which nothing is missing. */
const COUNTED: More = {
  listSize: 9,
  scan: { seen: 9 },
  walk: { ended: true, pages: 2, direction: 'falling', edgeMs: 5 },
};
const UNCOUNTED: More = { scan: { seen: 9, seenBefore: 9 }, walk: { ended: true, pages: 2 } };

function having(base: More, more: More): HarvestPass {
  return aPass({
    ...base,
    ...more,
    scan: { ...base.scan, ...more.scan },
    walk: { ...base.walk, ...more.walk },
  });
}

describe('a scan', () => {
  const READ = {
    seen: 7,
    newRecords: 2,
    overlooked: 1,
    seenBefore: 5,
    changed: 3,
    order: 'x',
    orderBefore: 'y',
    agreed: 1,
  } as const;
  const STIRRED = { gone: true, doubtful: true, fresh: true, repeated: true } as const;
  const STILL = {
    seen: 0,
    changed: 0,
    order: '',
    gone: false,
    doubtful: false,
    fresh: false,
    repeated: false,
  } as const;

  test('starts with nothing read', () => {
    expect(startPass('changes', { fromMs: 3, untilMs: null }, BEGAN, 4)).toEqual({
      localMs: BEGAN,
      heldBefore: 0,
      lossesAccepted: false,
      kind: 'changes',
      window: { fromMs: 3, untilMs: null },
      beganMs: BEGAN,
      firstScan: 4,
      seen: 0,
      listSize: null,
      scan: {
        ...STILL,
        number: 4,
        newRecords: 0,
        overlooked: 0,
        seenBefore: null,
        orderBefore: '',
        agreed: 0,
      },
      walk: {
        window: { fromMs: 3, untilMs: null },
        token: null,
        pages: 0,
        size: null,
        position: 0,
        ended: false,
        direction: null,
        edgeMs: null,
      },
    });
  });

  test('after a complete one knows its records, their order, and if it agreed with the one before', () => {
    const pass = aPass({
      listSize: 7,
      scan: { ...READ, ...STIRRED, overlooked: 0 },
      walk: { token: 'T', pages: 3 },
    });
    const next = startScan(pass, true);
    expect(next.scan).toEqual({
      ...STILL,
      number: 2,
      seenBefore: 7,
      newRecords: 0,
      overlooked: 0,
      orderBefore: 'x',
      agreed: 2,
    });
    expect(next.walk).toEqual(aPass().walk);
    expect(
      startScan(aPass({ listSize: 7, scan: { ...READ, overlooked: 1 } }), true).scan,
    ).toMatchObject({
      agreed: 0,
      overlooked: 0,
    });
  });

  test('after an interrupted one knows what the last complete one read', () => {
    const next = startScan(aPass({ scan: { ...READ, ...STIRRED } }), false);
    expect(next.scan).toEqual({
      ...STILL,
      number: 2,
      seenBefore: 5,
      newRecords: 2,
      overlooked: 1,
      orderBefore: 'y',
      agreed: 1,
    });
  });
});

describe('after a page', () => {
  const after = (pass: HarvestPass, more: Partial<Parameters<typeof advancePass>[1]>) =>
    advancePass(pass, { ...PAGE, ...more });

  test('the scan continues at its token, or has ended', () => {
    const pass = aPass({ walk: { pages: 2, size: 7 } });
    expect(after(pass, { next: 'T3' }).walk).toMatchObject({
      token: 'T3',
      ended: false,
      pages: 3,
      size: 7,
    });
    expect(after(pass, { next: undefined, completeListSize: 8 }).walk).toMatchObject({
      token: null,
      ended: true,
      size: 8,
    });
  });

  test('the earliest time that the service named counts', () => {
    expect(
      [BEGAN - 1, BEGAN + 1].map((responseDateMs) => after(aPass(), { responseDateMs }).beganMs),
    ).toEqual([BEGAN - 1, BEGAN]);
  });

  test('a record that changed since the start of the pass is fresh, and stays so', () => {
    const fresh = (...datestampsMs: number[]) => after(aPass(), { datestampsMs }).scan.fresh;
    expect([fresh(BEGAN - 1), fresh(BEGAN - 5, BEGAN), fresh()]).toEqual([false, true, false]);
    expect(after(aPass({ scan: { fresh: true } }), {}).scan.fresh).toBe(true);
  });

  test('a part of the window shows only by how much it shrank', () => {
    const part = (size: number | null, listSize: number | null = 9) =>
      aPass({ listSize, walk: { size, window: { fromMs: 1, untilMs: null } } });
    const getSize = (pass: HarvestPass, completeListSize: number) =>
      after(pass, { completeListSize }).listSize;
    expect([
      getSize(part(5), 3),
      getSize(part(5), 8),
      getSize(part(null), 3),
      getSize(part(5, null), 3),
    ]).toEqual([7, 9, 9, null]);
  });

  test('a repeated record has moved, unless a resumed scan reads it again', () => {
    const repeated = (window: HarvestWindow, walked: HarvestWindow, ...againMs: number[]) =>
      after(aPass({ window, walk: { window: walked } }), { againMs }).scan.repeated;
    expect([repeated(OPEN, OPEN), repeated(OPEN, OPEN, 5)]).toEqual([false, true]);
    const newer = { fromMs: 5, untilMs: null };
    expect([4, 5, 6].map((ms) => repeated(OPEN, newer, ms))).toEqual([false, false, true]);
    expect(repeated(newer, newer, 4)).toBe(true);
    const older = { fromMs: null, untilMs: 5 };
    expect([4, 5, 6].map((ms) => repeated(OPEN, older, ms))).toEqual([true, false, false]);
    expect(repeated(older, older, 6)).toBe(true);
    const between = { fromMs: 2, untilMs: 5 };
    expect([
      repeated({ fromMs: 2, untilMs: null }, between, 6),
      repeated({ fromMs: null, untilMs: 5 }, between, 6),
    ]).toEqual([false, true]);
    expect(after(aPass({ scan: { repeated: true } }), {}).scan.repeated).toBe(true);
  });

  test('the order of an uncounted list is checked record by record', () => {
    const getOrder = (pages: readonly (readonly string[])[], completeListSize?: number) =>
      pages.reduce((pass, identifiers) => after(pass, { identifiers, completeListSize }), aPass())
        .scan.order;
    expect(getOrder([['A', 'B'], ['C']])).not.toBe(getOrder([['A', 'B'], ['D']]));
    expect(getOrder([['A', 'B'], ['C']])).not.toBe(getOrder([['B', 'A'], ['C']]));
    expect(getOrder([['A', 'B'], ['C']])).not.toBe(getOrder([['C']]));
    expect(getOrder([['A', 'B']])).not.toBe(getOrder([['AB']]));
    expect(getOrder([['A', 'B'], ['C']])).toBe(getOrder([['A', 'B'], ['C']]));
    expect(getOrder([['A']], 9)).toBe('');
  });
});

describe('a list that shrinks while it is read', () => {
  test('is continued after the last record if it is ordered, and is doubtful otherwise', () => {
    const walk = { token: 'T', pages: 2, size: 9, edgeMs: 5 };
    const ordered = withShrunkList(
      aPass({ listSize: 9, walk: { ...walk, direction: 'falling' } }),
      8,
    );
    expect(ordered).toMatchObject({ listSize: 8, scan: { gone: true, doubtful: false } });
    expect(ordered.walk).toEqual(aPass({ walk: { window: { fromMs: null, untilMs: 5 } } }).walk);
    const without = withShrunkList(
      aPass({ listSize: 9, walk: { ...walk, direction: 'neither' } }),
      8,
    );
    expect(without).toMatchObject({
      listSize: 8,
      scan: { gone: true, doubtful: true },
      walk: { token: 'T', pages: 2, size: 8 },
    });
    expect(withShrunkList(aPass({ walk }), undefined).walk.size).toBeNull();
    const doubtful = aPass({
      listSize: 9,
      scan: { doubtful: true },
      walk: { ...walk, direction: 'rising' },
    });
    expect(withShrunkList(doubtful, 8)).toMatchObject({
      scan: { doubtful: true },
      walk: { window: { fromMs: 5, untilMs: null } },
    });
  });
});

describe('the whole of a window', () => {
  test('is read unless one of its bounds was cut', () => {
    const window = { fromMs: 1, untilMs: 9 };
    const through = (walked: HarvestWindow) =>
      isOfWholeWindow(aPass({ window, walk: { window: walked } }));
    expect([
      through(window),
      through({ ...window, fromMs: 2 }),
      through({ ...window, untilMs: 8 }),
    ]).toEqual([true, false, false]);
  });

  test('has changed meanwhile if a list of changes is not empty', () => {
    expect(markChanged(aPass()).scan).toEqual({ ...aPass().scan, fresh: true });
  });
});

describe('a counted scan', () => {
  test('with missing records is repeated, until two agree that the service sends less than it counts', () => {
    const missing = (scan: Partial<HarvestPass['scan']>) =>
      judge(having(COUNTED, { listSize: 10, scan }));
    expect(missing({})).toBe('again');
    expect(missing({ seenBefore: 9 })).toBe('short');
    expect(missing({ seenBefore: 8 })).toBe('again');
    expect(missing({ seenBefore: 7, newRecords: 2 })).toBe('short');
    expect(missing({ seenBefore: 9, overlooked: 1 })).toBe('again');
    expect(missing({ seenBefore: 9, changed: 3, order: 'x' })).toBe('short');
  });

  test.each([
    ['something left the list', { scan: { gone: true, seenBefore: 9 } }, 'again'],
    ['something may have been skipped', { scan: { doubtful: true, seenBefore: 9 } }, 'again'],
    ['something stood twice', { scan: { repeated: true } }, 'again'],
    [
      'something stood twice, and the scan before met the same',
      { scan: { repeated: true, seenBefore: 9 } },
      'complete',
    ],
    [
      'something changed at its head, where another would have stood twice',
      { scan: { fresh: true } },
      'complete',
    ],
    [
      'something changed, and the list is walked oldest first',
      { scan: { fresh: true }, walk: { direction: 'rising' } },
      'again',
    ],
    [
      'something changed, and the walk was cut',
      { scan: { fresh: true }, walk: { window: { fromMs: null, untilMs: 5 } } },
      'again',
    ],
    [
      'something changed, the walk was cut, and the scan before met the same',
      { scan: { fresh: true, seenBefore: 9 }, walk: { window: { fromMs: null, untilMs: 5 } } },
      'complete',
    ],
    ['all stood on one page', { scan: { gone: true }, walk: { pages: 1 } }, 'complete'],
  ] as const)('where %s', (_name, more, verdict) => {
    expect(judge(having(COUNTED, more))).toBe(verdict);
  });
});

describe('an uncounted scan', () => {
  test.each([
    ['is taken again where none before it agreed with another', {}, 'again'],
    ['is complete where it is the third to agree', { scan: { agreed: 1 } }, 'complete'],
    ['is taken again where it met another number', { scan: { agreed: 1, seenBefore: 8 } }, 'again'],
    ['is taken again where a record changed', { scan: { agreed: 1, changed: 1 } }, 'again'],
    [
      'is taken again where the order is another',
      { scan: { agreed: 1, order: 'x', orderBefore: 'y' } },
      'again',
    ],
    [
      'is taken again where one was overlooked before',
      { scan: { agreed: 1, overlooked: 1 } },
      'again',
    ],
    ['is complete where all stood on one page', { walk: { pages: 1 } }, 'complete'],
  ] as const)('%s', (_name, more, verdict) => {
    expect(judge(having(UNCOUNTED, more))).toBe(verdict);
  });
});

test('a bound given by a person includes the last millisecond of its day or second', () => {
  expect(parseBoundMs('2025-06-18', 'day')).toBe(Date.UTC(2025, 5, 19) - 1);
  expect(parseBoundMs('2025-06-18T08:00:00Z', 'second')).toBe(Date.UTC(2025, 5, 18, 8, 0, 1) - 1);
});
