import { describe, expect, test } from 'vitest';
import type { HarvestedElements, HarvestedFind } from '../../../src/find/harvested-find.ts';
import { type ImportDoubt, judgeImports, projectOfFind } from '../../../src/flows/reconcile/judge-doubt.ts';
import { CLOCK_MARGIN_MS, type View } from '../../../src/flows/reconcile/verdict.ts';
import { doubt, MINUTE, OTHER_USER, record, SENT, START, view, window } from '../../support/doubt-scene.ts';
import { inWords } from '../../support/in-words.ts';

const MADE = 'C-1-N00001';
/** The service is done with it, and the time that its index may take is over. */
const SETTLED = START + 10 * MINUTE;
const SHOWN_BY_THEN = SETTLED + 15 * MINUTE;

const same = record(MADE);
const corrected = record(MADE, { poznamka: 'opravená' });

function having(find: HarvestedFind, elements: HarvestedElements): HarvestedFind {
  return { ...find, elements: { ...find.elements, ...elements } };
}

function judged(seen: View, more: Partial<ImportDoubt> = {}, others: readonly ImportDoubt[] = []) {
  return inWords(judgeImports([doubt(1, more), ...others], seen).get(1));
}

function basisOf(seen: View, more?: Partial<ImportDoubt>): string | undefined {
  return judged(seen, more)?.basis;
}

describe('a verdict names what it rests on, in words and with the records that were considered', () => {
  const unlisted = new Map([['C-1-N00009', START]]);
  const accountUnknown = { window: window(START, undefined) };
  const never = { window: { ...window(START), settledMs: Number.POSITIVE_INFINITY } };
  test.each([
    ['same-and-new', [MADE], 'C-1-N00001 appeared since the attempt and is the same in every element', view([same]), {}, []],
    ['maker-unknown', [MADE], 'but nobody knows which account made the attempt', view([same]), accountUnknown, []],
    ['rival-find', [MADE], 'it is open which of them C-1-N00001 is', view([same]), {}, [doubt(2)]],
    ['several-same', [MADE, 'C-1-N00002'], '2 records are the same in every element', view([same, record('C-1-N00002')]), {}, []],
    [
      'same-but-made-otherwise',
      [MADE],
      'made at another time or by another account',
      view([record(MADE, { user: OTHER_USER })]),
      {},
      [],
    ],
    ['alike-and-new', [MADE], 'appeared at that time that may be this one', view([corrected]), {}, []],
    [
      'deleted-since',
      [MADE],
      'was deleted since that may have been this one',
      view([], { deleted: new Map([[MADE, START]]) }),
      {},
      [],
    ],
    ['no-like-record-shown', [], 'so a missing one proves nothing', view([], { shown: new Map() }), {}, []],
    ['copy-may-send', [], 'a copy of this outbox has it queued as well', view([]), never, []],
    ['maybe-under-way', [], 'ask again in 2 s', view([], { nowMs: SETTLED - 1500 }), {}, []],
    ['index-behind', [], 'the harvest does not show C-1-N00009 either', view([], { index: { unlisted } }), {}, []],
    ['index-may-lag', [], 'ask again in 2 s', view([], { nowMs: SHOWN_BY_THEN - 1500 }), {}, []],
    ['not-among-those-shown', [], 'in the same state, but not this one', view([]), {}, []],
  ] as const)('%s', (basis, candidates, words, seen, more, others) => {
    const verdict = judged(seen, more, others);
    expect(verdict).toMatchObject({ basis, candidates });
    expect(verdict?.reason).toContain(words);
  });
});

describe('to the millisecond', () => {
  test('the service is done with a write after the last moment that it may work on it, and its index by its own last one', () => {
    const at = (nowMs: number) => basisOf(view([], { nowMs }));
    expect([SETTLED, SETTLED + 1, SHOWN_BY_THEN - 1, SHOWN_BY_THEN].map(at)).toEqual([
      'maybe-under-way',
      'index-may-lag',
      'index-may-lag',
      'not-among-those-shown',
    ]);
  });

  test('a record is of the time of the attempts where the clocks agree but for their margin', () => {
    const madeAt = (atMs: number) => basisOf(view([record(MADE, { atMs })]));
    const bounds = [START - CLOCK_MARGIN_MS, SETTLED + CLOCK_MARGIN_MS];
    expect(bounds.map(madeAt)).toEqual(['same-and-new', 'same-and-new']);
    expect([START - CLOCK_MARGIN_MS - 1, SETTLED + CLOCK_MARGIN_MS + 1].map(madeAt)).toEqual([
      'same-but-made-otherwise',
      'same-but-made-otherwise',
    ]);
  });

  test('so it is with what was accepted and is not listed, and with what is withheld', () => {
    const unlisted = (atMs: number) => basisOf(view([], { index: { unlisted: new Map([['C-1-N00009', atMs]]) } }));
    const withheld = (atMs: number) => basisOf(view([], { withheld: new Map([[MADE, atMs]]) }));
    const [in_, out] = [START - CLOCK_MARGIN_MS, START - CLOCK_MARGIN_MS - 1];
    expect([in_, out].map(unlisted)).toEqual(['index-behind', 'not-among-those-shown']);
    expect([in_, out].map(withheld)).toEqual(['alike-and-new', 'not-among-those-shown']);
  });
});

describe('the number of a find that may have been given one since', () => {
  const numbered = having(same, { evidencni_cislo: '7/2024' });

  test('does not tell its record from it', () => {
    expect(basisOf(view([numbered]), { numberMayDiffer: true })).toBe('same-and-new');
    expect(basisOf(view([numbered]))).toBe('alike-and-new');
  });

  test('is all that may differ', () => {
    expect(basisOf(view([corrected]), { numberMayDiffer: true })).toBe('alike-and-new');
  });

  test('is not counted among the corrections', () => {
    const elsewhen = having(record(MADE, { atMs: START - 60 * MINUTE, poznamka: 'opravená' }), {
      evidencni_cislo: '7/2024',
      pristupnost: { id: 'HES-000865', text: '' },
    });
    expect(basisOf(view([elsewhen]), { numberMayDiffer: true })).toBe('alike-and-new');
    expect(basisOf(view([elsewhen]))).toBe('not-among-those-shown');
  });
});

describe('a record that differs', () => {
  const twice: HarvestedElements = { poznamka: 'opravená', pristupnost: { id: 'HES-000865', text: '' } };
  const thrice: HarvestedElements = { ...twice, lokalizace: 'les' };
  const elsewhere = { projekt: { id: 'C-2', text: '' } };

  test('may be the find, however much it differs, where it is of the same project, time and account', () => {
    expect(basisOf(view([having(same, thrice)]))).toBe('alike-and-new');
  });

  test('of another project, time or find that was added later may be it with two corrections, and not with three', () => {
    const early = record(MADE, { atMs: START - 60 * MINUTE });
    const bases = (elements: HarvestedElements) => [
      basisOf(view([having(same, { ...elements, ...elsewhere })])),
      basisOf(view([having(early, elements)])),
      basisOf(view([having(same, elements)]), { addedSince: true }),
    ];
    expect(bases(twice)).toEqual(['alike-and-new', 'alike-and-new', 'alike-and-new']);
    expect(bases(thrice)).toEqual(['not-among-those-shown', 'not-among-those-shown', 'not-among-those-shown']);
  });
});

describe('who made a record, and when,', () => {
  const [made] = same.history;
  if (made === undefined) throw new Error('a record has a history');
  const later = { ...made, at: new Date(START + 50 * MINUTE).toISOString(), user: OTHER_USER };

  test('is said by the entry of its making, wherever that stands among the others', () => {
    expect(basisOf(view([{ ...same, history: [{ ...later, type: 'SN12' }, made] }]))).toBe('same-and-new');
  });

  test('is said by its first entry where none is that of its making', () => {
    const history = [
      { ...made, type: 'SN12' },
      { ...later, type: 'SN23' },
    ];
    expect(basisOf(view([{ ...same, history }]))).toBe('same-and-new');
  });

  test('is not known of a record without a history, which is nobody’s for certain', () => {
    expect(basisOf(view([{ ...same, history: [] }]))).toBe('same-but-made-otherwise');
    expect(basisOf(view([{ ...corrected, history: [] }]))).toBe('not-among-those-shown');
  });
});

test('a find without a project is of none', () => {
  const { projekt: _projekt, ...without } = SENT;
  expect([projectOfFind(SENT), projectOfFind(without)]).toEqual(['C-1', '']);
});
