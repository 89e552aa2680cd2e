import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HarvestedElements } from '../../../src/find/fields.ts';
import type { HarvestedFind } from '../../../src/find/harvested-find.ts';
import { getShownKind } from '../../../src/push/judge-absence.ts';
import { judgeImports, type UncertainImport } from '../../../src/push/judge-import.ts';
import { CLOCK_MARGIN_MS, type View } from '../../../src/push/verdict.ts';
import { inWords } from '../../support/in-words.ts';
import {
  doubt,
  kinds,
  MINUTE,
  makeSights,
  OTHER_USER,
  record,
  SENT,
  START,
  TIME_UNKNOWN,
  USER,
  view,
  window,
} from './doubt-scene.ts';

describe('an uncertain import', () => {
  test('is found if one equal record appeared since', () => {
    expect(judgeImports([doubt(1)], view([record('C-1-N00001')])).get(1)).toMatchObject({
      kind: 'found',
      identCely: 'C-1-N00001',
    });
  });

  test('is found although its protected part is withheld', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001', { masked: true })]))).toEqual({
      1: 'found',
    });
  });

  test('is proven absent only if its record would be visible, and the service can no longer be working on it', () => {
    expect(kinds([doubt(1)], view([]))).toEqual({ 1: 'absent' });
    expect(kinds([doubt(1)], view([], { shown: makeSights(SENT, 1) }))).toEqual({ 1: 'undecided' });
    expect(kinds([doubt(1)], view([], { nowMs: START + 9 * MINUTE }))).toEqual({ 1: 'undecided' });
  });

  test('is not the record of another entry', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001')], { owned: 'C-1-N00001' }))).toEqual({
      1: 'absent',
    });
  });

  test('is left to a person if the record of another entry matches this find and not that one', () => {
    const seen = view([record('C-1-N00001')], { owned: 'C-1-N00001', readsAsSent: () => false });
    expect(judgeImports([doubt(1)], seen).get(1)).toMatchObject({
      kind: 'undecided',
      candidates: ['C-1-N00001'],
    });
    const other = view([record('C-1-N00001', { poznamka: 'přezka 2' })], {
      owned: 'C-1-N00001',
      readsAsSent: () => false,
    });
    expect(kinds([doubt(1)], other)).toEqual({ 1: 'absent' });
  });

  test('is left to a person if several records match', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001'), record('C-1-N00002')]))).toEqual({
      1: 'undecided',
    });
  });

  test.each([
    ['made long before', { atMs: START - 60 * MINUTE }],
    ['made by somebody else', { user: OTHER_USER }],
  ])('is neither found nor absent if the matching record was %s', (_name, more) => {
    expect(kinds([doubt(1)], view([record('C-1-N00001', more)]))).toEqual({ 1: 'undecided' });
  });

  test('is not proven absent by records of another project or receiver', () => {
    const elsewhere = { ...SENT, projekt: { id: 'C-2', text: '' } };
    const received = { ...SENT, predano_organizace: { id: 'ORG-000091', text: '' } };
    for (const seen of [elsewhere, received]) {
      expect(kinds([doubt(1)], view([], { shown: makeSights(seen, 2) }))).toEqual({
        1: 'undecided',
      });
    }
  });

  test('is neither found nor absent if a record of that time and account may be it, corrected since', () => {
    const seen = view([record('C-1-N00001', { poznamka: 'přezka 2' })]);
    expect(judgeImports([doubt(1)], seen).get(1)).toMatchObject({
      kind: 'undecided',
      candidates: ['C-1-N00001'],
    });
  });

  test('is absent if the records of that time belong to other accounts or entries', () => {
    const differs = { poznamka: 'přezka 2' };
    expect(
      kinds([doubt(1)], view([record('C-1-N00001', { ...differs, user: OTHER_USER })])),
    ).toEqual({ 1: 'absent' });
    expect(
      kinds([doubt(1)], view([record('C-1-N00001', differs)], { owned: 'C-1-N00001' })),
    ).toEqual({ 1: 'absent' });
    const other = doubt(2, { elements: { ...SENT, ...differs } });
    expect(kinds([doubt(1), other], view([record('C-1-N00001', differs)]))).toEqual({
      1: 'absent',
      2: 'found',
    });
  });

  test('is not absent if a changed find of its project is withheld from this account', () => {
    const withheld = (identCely: string, atMs: number) =>
      view([], { withheld: new Map([[identCely, atMs]]) });
    expect(kinds([doubt(1)], withheld('C-1-N00001', START + 1000))).toEqual({ 1: 'undecided' });
    expect(kinds([doubt(1)], withheld('C-1-N00001', START - MINUTE))).toEqual({ 1: 'absent' });
    expect(kinds([doubt(1)], withheld('C-11-N00001', START + 1000))).toEqual({ 1: 'absent' });
  });
});

describe('an import that the harvest does not show', () => {
  const basis = (seen: View): string | undefined => judgeImports([doubt(1)], seen).get(1)?.basis;

  test('may be shown later: the index delay must have passed, even if something newer is shown', () => {
    const newer = record('C-1-N00001', { atMs: START + 11 * MINUTE });
    for (const shown of [[], [newer]]) {
      expect(basis(view(shown, { owned: 'C-1-N00001', nowMs: START + 24 * MINUTE }))).toBe(
        'index-may-lag',
      );
      expect(basis(view(shown, { owned: 'C-1-N00001', nowMs: START + 26 * MINUTE }))).toBe(
        'not-among-those-shown',
      );
    }
  });

  test('is not absent while a later accepted record is missing', () => {
    const unlisted = (atMs: number) =>
      view([], { index: { unlisted: new Map([['C-1-N00009', atMs]]) } });
    expect(basis(unlisted(START + MINUTE))).toBe('index-behind');
    expect(basis(unlisted(START - MINUTE))).toBe('not-among-those-shown');
  });

  test('is not absent if a record of its project was deleted since that no other find created', () => {
    const deleted = new Map([['C-1-N00001', START + MINUTE]]);
    expect(basis(view([], { deleted }))).toBe('deleted-since');
    expect(basis(view([], { deleted, owned: 'C-1-N00001' }))).toBe('not-among-those-shown');
    expect(basis(view([], { deleted: new Map([['C-1-N00001', START - MINUTE]]) }))).toBe(
      'not-among-those-shown',
    );
    expect(basis(view([], { deleted: new Map([['C-11-N00001', START + MINUTE]]) }))).toBe(
      'not-among-those-shown',
    );
  });

  test('is not proven absent by records of another account', () => {
    expect(basis(view([], { shown: makeSights(SENT, 2, OTHER_USER) }))).toBe(
      'no-like-record-shown',
    );
  });

  test.each([
    ['by another account, which need not be shown it', OTHER_USER],
    ['by nobody, or by an account that is not known', undefined],
  ])('is not proven absent by a harvest that was made %s', (_name, harvester) => {
    const shown = new Map([[getShownKind(SENT, 2), new Set([USER, OTHER_USER])]]);
    expect(basis(view([], { shown }))).toBe('not-among-those-shown');
    expect(basis(view([], { shown, harvester }))).toBe('no-like-record-shown');
  });

  test.each([
    [
      'it was tried with two accounts, of which one harvest shows the records of one',
      new Set([USER, OTHER_USER]),
    ],
    ['no attempt of it is known', new Set<string>()],
  ])('is not proven absent if %s', (_name, accounts) => {
    const shown = new Map([[getShownKind(SENT, 2), new Set([USER, OTHER_USER])]]);
    const sentImport = doubt(1, { window: window(START, { accounts }) });
    expect(judgeImports([sentImport], view([], { shown })).get(1)?.basis).toBe(
      'no-like-record-shown',
    );
  });

  test('is not a record of the same account created after the service reported the failure', () => {
    const answered = doubt(1, { window: window(START, { untilMs: START + 2000 }) });
    const twin = (atMs: number) => view([record('C-1-N00001', { atMs })]);
    expect(judgeImports([answered], twin(START + MINUTE)).get(1)?.basis).toBe(
      'same-different-origin',
    );
    expect(judgeImports([answered], twin(START + 1000)).get(1)?.kind).toBe('found');
  });

  test('is left to a person if a record of another project or time may be it', () => {
    const elsewhere = (poznamka: string) => {
      const moved = record('C-2-N00001', { poznamka });
      return view([
        { ...moved, elements: { ...moved.elements, projekt: { id: 'C-2', text: '' } } },
      ]);
    };
    expect(['přezka', 'přezka, opravená'].map((note) => basis(elsewhere(note)))).toEqual([
      'similar-new',
      'similar-new',
    ]);
    const slow = record('C-1-N00001', { atMs: START - 300 * MINUTE, poznamka: 'přezka, opravená' });
    expect(basis(view([slow]))).toBe('similar-new');
  });
});

describe('two equal uncertain finds', () => {
  test('are left to a person if one record exists', () => {
    expect(kinds([doubt(1), doubt(2)], view([record('C-1-N00001')]))).toEqual({
      1: 'undecided',
      2: 'undecided',
    });
  });

  test('are distinguished if they were sent at different times', () => {
    const later = { window: window(START + 30 * MINUTE) };
    const seen = view([record('C-1-N00001'), record('C-1-N00002', { atMs: START + 31 * MINUTE })]);
    const verdicts = judgeImports([doubt(1), doubt(2, later)], seen);
    expect(verdicts.get(1)).toMatchObject({ kind: 'found', identCely: 'C-1-N00001' });
    expect(verdicts.get(2)).toMatchObject({ kind: 'found', identCely: 'C-1-N00002' });
  });

  test('are both absent if no record exists', () => {
    expect(kinds([doubt(1), doubt(2)], view([]))).toEqual({ 1: 'absent', 2: 'absent' });
  });
});

test('whatever the service’s clock, index and people do: a created find is never declared absent, and never confused with another', () => {
  const DAY = 24 * 60 * MINUTE;
  const creation = fc.record({
    isMade: fc.boolean(),
    clockMs: fc.oneof(fc.constant(0), fc.integer({ min: -DAY, max: DAY })),
    shownAfterMs: fc.integer({ min: 0, max: 15 * MINUTE }),
    moved: fc.boolean(),
    correctedNote: fc.boolean(),
    timeKnown: fc.boolean(),
  });
  const other = fc.record({
    atMs: fc.integer({ min: START - DAY, max: START + 60 * MINUTE }),
    isMine: fc.boolean(),
    isOwned: fc.boolean(),
    note: fc.constantFrom('přezka', 'spona'),
  });
  fc.assert(
    fc.property(
      creation,
      fc.array(other, { maxLength: 4 }),
      fc.integer({ min: 0, max: 90 * MINUTE }),
      (own, others, afterMs) => {
        const atMs = START + 1000;
        const nowMs = atMs + afterMs;
        const record1 = record('C-1-N00001', {
          atMs: atMs + own.clockMs,
          ...(own.correctedNote ? { poznamka: 'opravená' } : {}),
        });
        const project = { id: own.moved ? 'C-2' : 'C-1', text: '' };
        const isShown = own.isMade && afterMs >= own.shownAfterMs;
        const rest = others
          .filter((each) => each.atMs <= nowMs)
          .map((each, n) => ({
            ...each,
            find: record(`C-1-N1000${n}`, {
              atMs: each.atMs,
              poznamka: each.note,
              user: each.isMine ? USER : OTHER_USER,
            }),
          }));
        const owned = new Set(
          rest.filter(({ isMine, isOwned }) => isMine && isOwned).map(({ find }) => find.identCely),
        );
        const shown = [
          ...rest.map(({ find }) => find),
          ...(isShown ? [{ ...record1, elements: { ...record1.elements, projekt: project } }] : []),
        ];
        const sentImport = doubt(1, { window: own.timeKnown ? window(START) : TIME_UNKNOWN });
        const verdict = judgeImports(
          [sentImport],
          view(shown, { nowMs, isOwned: (ident) => owned.has(ident) }),
        ).get(1);
        if (own.isMade) expect(verdict?.kind).not.toBe('absent');
        if (verdict?.kind !== 'found') return;
        expect(own.timeKnown).toBe(true);
        expect([
          ...owned,
          ...rest.filter(({ isMine }) => !isMine).map(({ find }) => find.identCely),
        ]).not.toContain(verdict.identCely);
      },
    ),
  );
});

const MADE = 'C-1-N00001';
/** The service is done with it, and the time that its index may take is over. */
const SETTLED = START + 10 * MINUTE;
const SHOWN_BY_THEN = SETTLED + 15 * MINUTE;

const same = record(MADE);
const corrected = record(MADE, { poznamka: 'opravená' });

function having(find: HarvestedFind, elements: HarvestedElements): HarvestedFind {
  return { ...find, elements: { ...find.elements, ...elements } };
}

function judged(
  seen: View,
  more: Partial<UncertainImport> = {},
  others: readonly UncertainImport[] = [],
) {
  return inWords(judgeImports([doubt(1, more), ...others], seen).get(1));
}

function getBasis(seen: View, more?: Partial<UncertainImport>): string | undefined {
  return judged(seen, more)?.basis;
}

describe('a verdict names its evidence, in words and with the considered records', () => {
  const unlisted = new Map([['C-1-N00009', START]]);
  const timeUnknown = { window: TIME_UNKNOWN };
  test.each([
    [
      'same-and-new',
      [MADE],
      'C-1-N00001 appeared since the attempt and is the same in every element',
      view([same]),
      {},
      [],
    ],
    [
      'time-unknown',
      [MADE],
      'the service did not state its time before the attempt',
      view([same]),
      timeUnknown,
      [],
    ],
    ['time-unknown', [], 'so a person decides', view([]), timeUnknown, []],
    [
      'ambiguous-match',
      [MADE],
      'it is unclear to which of the two C-1-N00001 belongs',
      view([same]),
      {},
      [doubt(2)],
    ],
    [
      'several-same',
      [MADE, 'C-1-N00002'],
      '2 records are the same in every element',
      view([same, record('C-1-N00002')]),
      {},
      [],
    ],
    [
      'same-different-origin',
      [MADE],
      'made at another time or by another account',
      view([record(MADE, { user: OTHER_USER })]),
      {},
      [],
    ],
    ['similar-new', [MADE], 'at that time may be this one', view([corrected]), {}, []],
    [
      'deleted-since',
      [MADE],
      'may have been this one has been deleted since then',
      view([], { deleted: new Map([[MADE, START]]) }),
      {},
      [],
    ],
    [
      'no-like-record-shown',
      [],
      'so that this one is missing proves nothing',
      view([], { shown: new Map() }),
      {},
      [],
    ],
    ['maybe-under-way', [], 'ask again in 2 s', view([], { nowMs: SETTLED - 1500 }), {}, []],
    [
      'index-behind',
      [],
      'the harvest does not show C-1-N00009 either',
      view([], { index: { unlisted } }),
      {},
      [],
    ],
    ['index-may-lag', [], 'ask again in 2 s', view([], { nowMs: SHOWN_BY_THEN - 1500 }), {}, []],
    ['not-among-those-shown', [], 'in the same state, but not this one', view([]), {}, []],
  ] as const)('%s', (basis, candidates, words, seen, more, others) => {
    const verdict = judged(seen, more, others);
    expect(verdict).toMatchObject({ basis, candidates });
    expect(verdict?.reason).toContain(words);
  });
});

describe('to the millisecond', () => {
  test('a write can take effect until its last possible moment, and can be listed until the index delay after that', () => {
    const at = (nowMs: number) => getBasis(view([], { nowMs }));
    expect([SETTLED, SETTLED + 1, SHOWN_BY_THEN - 1, SHOWN_BY_THEN].map(at)).toEqual([
      'maybe-under-way',
      'index-may-lag',
      'index-may-lag',
      'not-among-those-shown',
    ]);
  });

  test('a record is within the attempts if the clocks agree within their margin', () => {
    const madeAt = (atMs: number) => getBasis(view([record(MADE, { atMs })]));
    const bounds = [START - CLOCK_MARGIN_MS, SETTLED + CLOCK_MARGIN_MS];
    expect(bounds.map(madeAt)).toEqual(['same-and-new', 'same-and-new']);
    expect([START - CLOCK_MARGIN_MS - 1, SETTLED + CLOCK_MARGIN_MS + 1].map(madeAt)).toEqual([
      'same-different-origin',
      'same-different-origin',
    ]);
  });

  test('the same holds for accepted records that are not listed, and for withheld ones', () => {
    const unlisted = (atMs: number) =>
      getBasis(view([], { index: { unlisted: new Map([['C-1-N00009', atMs]]) } }));
    const withheld = (atMs: number) => getBasis(view([], { withheld: new Map([[MADE, atMs]]) }));
    const in_ = START - CLOCK_MARGIN_MS;
    const out = START - CLOCK_MARGIN_MS - 1;
    expect([in_, out].map(unlisted)).toEqual(['index-behind', 'not-among-those-shown']);
    expect([in_, out].map(withheld)).toEqual(['similar-new', 'not-among-those-shown']);
  });
});

describe('a record that differs', () => {
  const twice: HarvestedElements = {
    poznamka: 'opravená',
    pristupnost: { id: 'HES-000865', text: '' },
  };
  const thrice: HarvestedElements = { ...twice, lokalizace: 'les' };
  const elsewhere = { projekt: { id: 'C-2', text: '' } };

  test('may be the find, however much it differs, if project, time and account are the same', () => {
    expect(getBasis(view([having(same, thrice)]))).toBe('similar-new');
  });

  test('of another project or time may be it with two corrections, but not with three', () => {
    const early = record(MADE, { atMs: START - 60 * MINUTE });
    const bases = (elements: HarvestedElements) => [
      getBasis(view([having(same, { ...elements, ...elsewhere })])),
      getBasis(view([having(early, elements)])),
    ];
    expect(bases(twice)).toEqual(['similar-new', 'similar-new']);
    expect(bases(thrice)).toEqual(['not-among-those-shown', 'not-among-those-shown']);
  });
});

describe('the author and time of a record', () => {
  const [made] = same.history;
  if (made === undefined) throw new Error('a record has a history');
  const later = { ...made, at: new Date(START + 50 * MINUTE).toISOString(), user: OTHER_USER };

  test('come from its creation entry, wherever that is in the history', () => {
    expect(getBasis(view([{ ...same, history: [{ ...later, type: 'SN12' }, made] }]))).toBe(
      'same-and-new',
    );
  });

  test('come from its first entry if it has no creation entry', () => {
    const history = [
      { ...made, type: 'SN12' },
      { ...later, type: 'SN23' },
    ];
    expect(getBasis(view([{ ...same, history }]))).toBe('same-and-new');
  });

  test('are unknown without a history', () => {
    expect(getBasis(view([{ ...same, history: [] }]))).toBe('same-different-origin');
    expect(getBasis(view([{ ...corrected, history: [] }]))).toBe('not-among-those-shown');
  });
});
