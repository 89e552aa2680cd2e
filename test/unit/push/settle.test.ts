import { expect, test } from 'vitest';
import { asMonotonicMs } from '../../../src/base/clock.ts';
import { OUTCOMES, type OutcomeKind } from '../../../src/base/outcomes.ts';
import { decideSettlement, makeInitialPushState } from '../../../src/push/settle.ts';
import type { ServerFinding } from '../../../src/service/outcome.ts';
import { inWords } from '../../support/in-words.ts';
import { aPush, PAUSE_MS, RECORD, type Told } from './running-push.ts';

type APush = ReturnType<typeof aPush>;

const THROTTLED: Told = { kind: 'throttled', waitMs: 3000 };
const BUSY: Told = { kind: 'busy' };
const ACCEPTED: Told = { kind: 'accepted', identCely: RECORD };
const UNCERTAIN: Told = { kind: 'uncertain', detail: 'no answer', outsideContract: false };
const NEVER_ARRIVED: Told = { kind: 'not-delivered', detail: 'no route' };
const CUT: Told = { kind: 'cut', detail: 'reset' };
const ALREADY: Told = { kind: 'already-applied', detail: 'said' };
const UNSPECIFIED: Told = { kind: 'refused-unspecified', detail: 'said' };
const CLOSED: Told = { kind: 'closed', detail: 'night' };
const REFUSAL = { state: 'refused', reason: 'said', issues: [] };
const WAITS = 'the service is already working on this record';
const OTHER_RECORD = 'C-202400101-N00002';

const anImport = (push: APush): number => push.anImport();
const aNumber = (push: APush): number => push.aNumber();
const aPhotograph = (push: APush): number => push.aPhotograph();
const tried =
  (times: number) =>
  (push: APush): number => {
    const id = push.aNumber();
    push.triedInVain(id, times);
    return id;
  };
const later = (ms: number) => (push: APush) => push.now() + ms;

type Case = [
  what: string,
  make: (push: APush) => number,
  outcome: Told,
  state: string,
  reason: string | undefined,
  notBeforeAt?: (push: APush) => number,
];

test.each<Case>([
  [
    'a throttled entry is sent again at once',
    anImport,
    THROTTLED,
    'queued',
    'the service asked for fewer requests',
    () => 0,
  ],
  ['a locked record makes its entry wait', aNumber, BUSY, 'queued', WAITS, later(1000)],
  ['longer each time', tried(2), BUSY, 'queued', WAITS, later(4000)],
  [
    'with the number of tries from the eighth on',
    tried(7),
    BUSY,
    'queued',
    `${WAITS} (tried 8 times)`,
    later(300_000),
  ],
  [
    'a request that did not leave is sent again',
    anImport,
    NEVER_ARRIVED,
    'queued',
    'the request did not reach the service (no route)',
    () => 0,
  ],
  [
    'a request that was cut waits',
    aPhotograph,
    CUT,
    'queued',
    'the request did not reach the service (reset)',
    later(1000),
  ],
  ['no answer leaves a find uncertain', anImport, UNCERTAIN, 'uncertain', 'no answer'],
  ['and a photograph', aPhotograph, UNCERTAIN, 'uncertain', 'no answer'],
  ['and a number, whatever was tried before', tried(3), UNCERTAIN, 'uncertain', 'no answer'],
  ['an acceptance settles', anImport, ACCEPTED, 'accepted', undefined],
  ['a closed service', anImport, CLOSED, 'queued', 'the service is closed', () => 0],
  [
    'a token that is refused, though it may be valid',
    anImport,
    { kind: 'unauthorised', detail: 'no' },
    'queued',
    'the service did not accept the token',
  ],
  [
    'a number that is already current is there',
    aNumber,
    ALREADY,
    'accepted',
    'the service already had this number',
  ],
  [
    'a number that the service may refuse for another reason is refused',
    (push) => push.aNumber('a\u0007b'),
    ALREADY,
    'refused',
    'said',
  ],
  ['so is a find that is said to be current', anImport, ALREADY, 'refused', 'said'],
  [
    'a changed photograph is refused, with advice',
    aPhotograph,
    { kind: 'content-changed' },
    'refused',
    'the photograph has been removed or changed since it was queued, or must not be read; check its permissions, or queue it again with `pas photo add`',
  ],
])('%s', (_what, make, outcome, state, reason, notBeforeAt) => {
  using push = aPush();
  const id = make(push);
  const settled = push.settled(id, outcome);
  expect(settled).toMatchObject(reason === undefined ? { state } : { state, reason });
  if (notBeforeAt !== undefined) expect(settled).toMatchObject({ notBeforeAt: notBeforeAt(push) });
});

const times = (count: number, outcome: Told): Told[] => Array<Told>(count).fill(outcome);
const TWENTY = {
  kind: 'waiting',
  reason: 'the service asked for fewer requests 20 times in a row',
};

test.each<[string, Told[], { kind: string; reason: string } | undefined]>([
  ['nineteen throttles', times(19, THROTTLED), undefined],
  ['with an acceptance between', [...times(19, THROTTLED), ACCEPTED, THROTTLED], undefined],
  ['twenty throttles', times(20, THROTTLED), TWENTY],
  ['more throttles', times(21, THROTTLED), TWENTY],
  ['three failures of the network', times(3, NEVER_ARRIVED), undefined],
  ['four of them', times(4, NEVER_ARRIVED), { kind: 'unreachable', reason: 'no route' }],
  ['with an answer between', [...times(3, NEVER_ARRIVED), ACCEPTED, NEVER_ARRIVED], undefined],
  ['four failures of several kinds', [UNCERTAIN, CUT, NEVER_ARRIVED, UNCERTAIN], undefined],
  [
    'five of them',
    [UNCERTAIN, CUT, NEVER_ARRIVED, UNCERTAIN, UNCERTAIN],
    { kind: 'in-doubt', reason: '5 answers in a row settled nothing' },
  ],
  ['with a lock between', [...times(4, UNCERTAIN), BUSY, UNCERTAIN], undefined],
  ['a closed service', [CLOSED], { kind: 'closed', reason: 'night' }],
])('failures in a row end the push: %s', (_what, outcomes, cause) => {
  using push = aPush();
  const id = push.anImport();
  for (const outcome of outcomes) push.settled(id, outcome);
  const until = cause === TWENTY ? { untilMs: push.now() + PAUSE_MS } : {};
  expect(inWords(push.session.stopCause ?? null)).toEqual(
    cause === undefined ? null : { ...cause, ...until },
  );
});

test('pauses after failures of the network grow to ten seconds', () => {
  using push = aPush();
  const id = push.anImport();
  const pauses = Array.from({ length: 6 }, () => {
    push.settled(id, NEVER_ARRIVED);
    return push.session.state.backoffUntil - push.now();
  });
  expect(pauses).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
});

test('a throttle slows all requests for as long as the service asks', () => {
  using push = aPush();
  push.settled(push.anImport(), THROTTLED, 42);
  expect([push.slowed, push.session.state.throttled]).toEqual([[[42, 3000]], 1]);
});

test.each([
  ['one lock is none', 0, 0, RECORD, 0, 0],
  ['from the fourth answer on it slows all down', 3, 0, RECORD, 0, 1],
  ['of another record within two seconds is one', 0, 1999, OTHER_RECORD, 1, 1],
  ['of another record two seconds later is none', 0, 2000, OTHER_RECORD, 0, 0],
])(
  'a lock that may be a throttle: %s',
  async (_what, before, afterMs, record, throttled, slowed) => {
    using push = aPush();
    push.settled(push.aNumber(), BUSY);
    const second = push.aNumber('INV 2', record);
    push.triedInVain(second, before);
    await push.clock.advance(afterMs);
    push.settled(second, BUSY, 42);
    expect(push.session.state).toMatchObject({ throttled, locked: 2 - throttled });
    expect(push.slowed).toEqual(slowed === 1 ? [[42, undefined]] : []);
  },
);

test('only an acceptance proves the access of the account', () => {
  using push = aPush();
  const id = push.anImport();
  for (const outcome of [BUSY, UNCERTAIN, CUT, THROTTLED]) push.settled(id, outcome);
  expect(push.session.state.accessProven).toBe(false);
  push.settled(id, ACCEPTED);
  expect(push.session.state.accessProven).toBe(true);
});

test('a refusal of an import without details is retried later and alone, where it counts', () => {
  using push = aPush();
  const id = push.anImport();
  push.sent(id);
  expect(push.settled(id, UNSPECIFIED)).toEqual({
    state: 'queued',
    reason: 'refused, perhaps because of another import into its project (said); retried alone',
    notBeforeAt: push.now() + 1000,
  });
  push.sent(id);
  expect(push.settled(id, UNSPECIFIED)).toEqual(REFUSAL);
});

test('an import that is sent beside others each time is retried four times', () => {
  using push = aPush();
  const id = push.anImport();
  push.triedInVain(id, 3, 'refused-unspecified');
  expect(push.settled(id, UNSPECIFIED)).toMatchObject({ notBeforeAt: push.now() + 8000 });
  push.triedInVain(id, 1, 'refused-unspecified');
  expect(push.settled(id, UNSPECIFIED)).toEqual(REFUSAL);
});

test('an import that leaves while another one of its project is under way is not alone', () => {
  using push = aPush();
  const id = push.anImport();
  push.sent(push.anImport('K-2'));
  push.settled(push.anImport('K-3'), UNSPECIFIED);
  push.sent(id);
  expect(push.settled(id, UNSPECIFIED)).toMatchObject({ state: 'queued' });
});

test('a collision does not end a series of equal refusals', () => {
  using push = aPush();
  const refused: Told = { kind: 'refused', detail: 'said', findings: [] };
  for (const name of ['K-1', 'K-2', 'K-3', 'K-4', 'K-5']) {
    push.settled(push.anImport(name), refused);
    push.settled(push.anImport(`beside ${name}`), UNSPECIFIED);
  }
  expect(push.session.ended).toMatchObject([
    { kind: 'import', records: ['K-1', 'K-2', 'K-3', 'K-4', 'K-5'] },
  ]);
});

const listIssues = (push: APush, id: number, more: Partial<ServerFinding>) => {
  const unknown = { line: undefined, column: undefined, errorType: undefined };
  const finding = { ...unknown, message: 'hloubka: wrong', ...more };
  const settled = push.settled(id, { kind: 'refused', detail: 'said', findings: [finding] });
  return 'issues' in settled ? settled.issues : undefined;
};

test.each([
  [1, 'service-missing-record'],
  [2, 'service-invalid-data'],
  [3, 'service-permission'],
  [4, 'service-refusal'],
  [undefined, 'service-refusal'],
])('a finding of type %s is the rule %s', (errorType, rule) => {
  using push = aPush();
  expect(listIssues(push, push.anImport(), { errorType })).toMatchObject([
    { rule, message: 'hloubka: wrong', find: 'K-1' },
  ]);
});

test('a finding is shown with the element on its line of the document', () => {
  using push = aPush();
  const depth = '    <svc:hloubka>12</svc:hloubka>';
  const id = push.anImportOf(['<svc:svc>', '  <samostatny_nalez>', depth, 'x', '<datum_nalezu/>']);
  const elements = [2, 3, 4, 5, 99, undefined].map((line) => {
    const [issue] = listIssues(push, id, { line }) ?? [];
    return [issue?.line, issue?.element];
  });
  expect(elements).toEqual([
    [2, undefined],
    [3, 'hloubka'],
    [4, undefined],
    [5, 'datum_nalezu'],
    [99, undefined],
    [undefined, undefined],
  ]);
});

test('a finding about a change of a record names no find and no element', () => {
  using push = aPush();
  for (const id of [push.aNumber(), push.aPhotograph()]) {
    const [issue] = listIssues(push, id, { line: 1 }) ?? [];
    expect(issue).toMatchObject({ line: 1 });
    for (const property of ['find', 'element']) expect(issue).not.toHaveProperty(property);
  }
});

/** Decides about the first answer to a find; `access` answers the probe of its account. */
function decided(kind: OutcomeKind, access?: OutcomeKind) {
  using push = aPush();
  const told = (of: OutcomeKind) =>
    ({ kind: of, detail: 'said', findings: [], identCely: RECORD }) as unknown as Told;
  return decideSettlement(makeInitialPushState([]), {
    entry: push.entry(push.anImport()),
    status: 403,
    failuresBefore: 0,
    wasAlone: false,
    collisionsBefore: 0,
    now: push.clock.now(),
    departedAt: asMonotonicMs(1),
    outcome: told(kind),
    access: access === undefined ? undefined : told(access),
  });
}

test.each(Object.keys(OUTCOMES) as OutcomeKind[])(
  'after %s an entry that may have arrived is not queued, and only an acceptance accepts',
  (kind) => {
    const { state } = decided(kind).settlement;
    expect(state === 'accepted').toBe(kind === 'accepted');
    if (kind === 'uncertain') expect(state).toBe('uncertain');
  },
);

test('a forbidden find stays queued if the probe of its account had no valid token', () => {
  const { settlement, state, stop } = decided('forbidden', 'unauthorised');
  expect([settlement.state, state.accessProven, stop]).toEqual(['queued', false, undefined]);
});
