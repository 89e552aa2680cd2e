import { expect, test } from 'vitest';
import type { HarvestedElements } from '../../../src/finds/fields.ts';
import type { HarvestedFind } from '../../../src/finds/harvested-find.ts';
import {
  CLOCK_MARGIN_MS,
  type HarvestView,
  judgeImports,
  makeVisibilityKey,
  type SentImport,
} from '../../../src/push/judge-import.ts';
import { inWords } from '../../support/in-words.ts';
import {
  doubt,
  kinds,
  MINUTE,
  makeSights,
  OTHER_USER,
  record,
  SENT,
  type Seen,
  START,
  USER,
  view,
  window,
} from './doubt-scene.ts';

const MADE = 'C-1-N00001';
/** The service is done with it, and the time that its index may take is over. */
const SETTLED = START + 10 * MINUTE;
const SHOWN_BY_THEN = SETTLED + 15 * MINUTE;

const same = record(MADE);
const corrected = record(MADE, { poznamka: 'opravená' });
const twice: HarvestedElements = {
  poznamka: 'opravená',
  pristupnost: { id: 'HES-000865', text: '' },
};
const thrice: HarvestedElements = { ...twice, lokalizace: 'les' };
const elsewhere = { projekt: { id: 'C-2', text: '' } };

const having = (elements: HarvestedElements, find = same): HarvestedFind => ({
  ...find,
  elements: { ...find.elements, ...elements },
});
const madeAt = (atMs: number) => view([record(MADE, { atMs })]);
const changed = (kind: 'withheld' | 'deleted', atMs: number, ident = MADE, more: Seen = {}) =>
  view([], { ...more, lookups: new Map([[ident, { kind, datestampMs: atMs }]]) });
const unlisted = (atMs: number) =>
  view([], { index: { unlisted: new Map([['C-1-N00009', atMs]]) } });
const both = new Map([[makeVisibilityKey(SENT, 2), new Set([USER, OTHER_USER])]]);
const ofOthers = { owned: MADE, countDifferencesOfOwner: () => 1 };

function judged(
  seen: HarvestView,
  more: Partial<SentImport> = {},
  others: readonly SentImport[] = [],
) {
  return inWords(judgeImports([doubt(1, more), ...others], seen).get(1));
}

type Case = [what: string, seen: HarvestView, basis: string, more?: Partial<SentImport>];

test.each<Case>([
  ['its protected part is withheld', view([record(MADE, { masked: true })]), 'same-and-new'],
  ['it was made long before', madeAt(START - 60 * MINUTE), 'same-different-origin'],
  ['another made it', view([record(MADE, { user: OTHER_USER })]), 'same-different-origin'],
  ['another record is equal, too', view([same, record('C-1-N00002')]), 'several-same'],
  ['it is of another entry', view([same], { owned: MADE }), 'not-among-those-shown'],
  ['it is of another entry, and unlike that one', view([same], ofOthers), 'similar-new'],
  ['neither entry is like it', view([corrected], ofOthers), 'not-among-those-shown'],
  [
    'it got a number, and is unlike the entry that it is of',
    view([having({ evidencni_cislo: 'N 1' })], ofOthers),
    'similar-new',
  ],
  [
    'it was made after the service reported the failure',
    madeAt(START + MINUTE),
    'same-different-origin',
    { window: window(START, { untilMs: START + 2000 }) },
  ],
  [
    'it was made before the service reported the failure',
    madeAt(START + 1000),
    'same-and-new',
    { window: window(START, { untilMs: START + 2000 }) },
  ],
  ['it is as early as clocks differ', madeAt(START - CLOCK_MARGIN_MS), 'same-and-new'],
  ['it is earlier', madeAt(START - CLOCK_MARGIN_MS - 1), 'same-different-origin'],
  ['it is as late as clocks differ', madeAt(SETTLED + CLOCK_MARGIN_MS), 'same-and-new'],
  ['it is later', madeAt(SETTLED + CLOCK_MARGIN_MS + 1), 'same-different-origin'],
])('an import and an equal record: %s', (_what, seen, basis, more) => {
  expect(judged(seen, more)).toMatchObject({ basis });
});

test.each<Case>([
  ['same project, time and account', view([having(thrice)]), 'similar-new'],
  ['of other accounts', view([{ ...corrected, history: [] }]), 'not-among-those-shown'],
  ['of another entry', view([corrected], { owned: MADE }), 'not-among-those-shown'],
  ['moved', view([having(elsewhere)]), 'similar-new'],
  ['moved and corrected twice', view([having({ ...twice, ...elsewhere })]), 'similar-new'],
  [
    'moved and corrected thrice',
    view([having({ ...thrice, ...elsewhere })]),
    'not-among-those-shown',
  ],
  [
    'of another time, corrected twice',
    view([having(twice, record(MADE, { atMs: START - 300 * MINUTE }))]),
    'similar-new',
  ],
  [
    'of another time, corrected thrice',
    view([having(thrice, record(MADE, { atMs: START - 60 * MINUTE }))]),
    'not-among-those-shown',
  ],
  ['withheld', changed('withheld', START - CLOCK_MARGIN_MS), 'similar-new'],
  ['withheld before', changed('withheld', START - CLOCK_MARGIN_MS - 1), 'not-among-those-shown'],
  [
    'withheld, of another project',
    changed('withheld', START + 1000, 'C-11-N00001'),
    'not-among-those-shown',
  ],
  ['deleted since', changed('deleted', START + MINUTE), 'deleted-since'],
  [
    'deleted, once of another find, whose identifier it may have got',
    changed('deleted', START + MINUTE, MADE, { owned: MADE }),
    'deleted-since',
  ],
  ['deleted before', changed('deleted', START - MINUTE), 'not-among-those-shown'],
  [
    'deleted, of another project',
    changed('deleted', START + MINUTE, 'C-11-N00001'),
    'not-among-those-shown',
  ],
])('an import and a record that differs: %s', (_what, seen, basis) => {
  expect(judged(seen)).toMatchObject({ basis });
});

const newer = record(MADE, { atMs: START + 11 * MINUTE });
const ofEntry = (nowMs: number) => view([newer], { owned: MADE, nowMs });

test.each<Case>([
  ['shown in another state', view([], { shown: makeSights(SENT, 1) }), 'no-like-record-shown'],
  [
    'shown in another project',
    view([], { shown: makeSights({ ...SENT, ...elsewhere }, 2) }),
    'no-like-record-shown',
  ],
  [
    'shown with another receiver',
    view([], {
      shown: makeSights({ ...SENT, predano_organizace: { id: 'ORG-000091', text: '' } }, 2),
    }),
    'no-like-record-shown',
  ],
  [
    'shown of another account',
    view([], { shown: makeSights(SENT, 2, OTHER_USER) }),
    'no-like-record-shown',
  ],
  ['shown of this account', view([], { shown: both }), 'not-among-those-shown'],
  [
    'harvested by another account',
    view([], { shown: both, harvester: OTHER_USER }),
    'no-like-record-shown',
  ],
  [
    'harvested by nobody who is known',
    view([], { shown: both, harvester: undefined }),
    'no-like-record-shown',
  ],
  [
    'tried with two accounts',
    view([], { shown: both }),
    'no-like-record-shown',
    { window: window(START, { accounts: new Set([USER, OTHER_USER]) }) },
  ],
  [
    'without a known attempt',
    view([], { shown: both }),
    'no-like-record-shown',
    { window: window(START, { accounts: new Set() }) },
  ],
  ['at its last possible moment', view([], { nowMs: SETTLED }), 'maybe-under-way'],
  ['right after it', view([], { nowMs: SETTLED + 1 }), 'index-may-lag'],
  ['until the index delay', view([], { nowMs: SHOWN_BY_THEN - 1 }), 'index-may-lag'],
  ['from then on', view([], { nowMs: SHOWN_BY_THEN }), 'not-among-those-shown'],
  ['though something newer is shown', ofEntry(SHOWN_BY_THEN - 1), 'index-may-lag'],
  ['with something newer, from then on', ofEntry(SHOWN_BY_THEN), 'not-among-those-shown'],
  ['with a later accepted one missing', unlisted(START - CLOCK_MARGIN_MS), 'index-behind'],
  ['with an earlier one missing', unlisted(START - CLOCK_MARGIN_MS - 1), 'not-among-those-shown'],
])('an import that no record equals: %s', (_what, seen, basis, more) => {
  expect(judged(seen, more)).toMatchObject({ basis });
});

const later = doubt(2, { window: window(START + 30 * MINUTE) });
const otherFind = doubt(2, { elements: { ...SENT, poznamka: 'opravená' } });

test.each<[string, readonly SentImport[], HarvestView, Record<number, string>]>([
  [
    'are left to a person if one record exists',
    [doubt(1), doubt(2)],
    view([same]),
    { 1: 'undecided', 2: 'undecided' },
  ],
  [
    'are distinguished if they were sent at different times',
    [doubt(1), later],
    view([same, record('C-1-N00002', { atMs: START + 31 * MINUTE })]),
    { 1: 'found', 2: 'found' },
  ],
  [
    'are both absent if no record exists',
    [doubt(1), doubt(2)],
    view([]),
    { 1: 'absent', 2: 'absent' },
  ],
  [
    'that differ are told apart by the record of one',
    [doubt(1), otherFind],
    view([corrected]),
    { 1: 'absent', 2: 'found' },
  ],
])('two uncertain finds %s', (_what, doubts, seen, expected) => {
  expect(kinds(doubts, seen)).toEqual(expected);
});

test('the author and time of a record come from its creation entry, else from its first one', () => {
  const [made] = same.history;
  if (made === undefined) throw new Error('a record has a history');
  const changedLater = {
    ...made,
    at: new Date(START + 50 * MINUTE).toISOString(),
    user: OTHER_USER,
  };
  const histories = [
    [{ ...changedLater, type: 'SN12' }, made],
    [
      { ...made, type: 'SN12' },
      { ...changedLater, type: 'SN23' },
    ],
    [],
  ];
  expect(histories.map((history) => judged(view([{ ...same, history }]))?.basis)).toEqual([
    'same-and-new',
    'same-and-new',
    'same-different-origin',
  ]);
});
