import { describe, expect, test } from 'vitest';
import type { ServerFinding } from '../../../src/pas-api/error-body.ts';
import { inWords } from '../../support/in-words.ts';
import { aPush, PAUSE_MS, RECORD, type Told } from './running-push.ts';

const THROTTLED: Told = { kind: 'throttled', waitMs: 3000 };
const BUSY: Told = { kind: 'busy' };
const ACCEPTED: Told = { kind: 'accepted', identCely: RECORD };
const UNCERTAIN: Told = { kind: 'uncertain', detail: 'no answer', outsideContract: false };
const NEVER_ARRIVED: Told = { kind: 'not-delivered', detail: 'no route' };
const CUT: Told = { kind: 'cut', detail: 'reset' };

describe('a throttle', () => {
  test('slows all requests for as long as the service asks, and sends the entry again at once', () => {
    using push = aPush();
    expect(push.settled(push.anImport(), THROTTLED, 42)).toEqual({
      state: 'queued',
      reason: 'the service asked for fewer requests',
      notBeforeAt: 0,
    });
    expect([push.slowed, push.session.state.throttled, push.session.stopCause]).toEqual([
      [[42, 3000]],
      1,
      undefined,
    ]);
  });

  test('ends the push the twentieth time in a row, and says until when', () => {
    using push = aPush();
    const id = push.anImport();
    for (let time = 0; time < 19; time += 1) push.settled(id, THROTTLED);
    expect(push.session.stopCause).toBeUndefined();
    push.settled(id, ACCEPTED);
    for (let time = 0; time < 19; time += 1) push.settled(id, THROTTLED);
    expect(push.session.stopCause).toBeUndefined();
    push.settled(id, THROTTLED);
    const cause = {
      kind: 'waiting',
      reason: 'the service asked for fewer requests 20 times in a row',
      untilMs: push.now() + PAUSE_MS,
    };
    expect(inWords(push.session.stopCause)).toEqual(cause);
    push.settled(id, THROTTLED);
    expect(inWords(push.session.stopCause)).toEqual(cause);
  });
});

describe('a lock', () => {
  const WAITS = 'the service is already working on this record';

  test('makes its entry wait, longer each time, and no other', () => {
    using push = aPush();
    const id = push.aNumber();
    expect(push.settled(id, BUSY)).toEqual({
      state: 'queued',
      reason: WAITS,
      notBeforeAt: push.now() + 1000,
    });
    push.triedInVain(id, 2);
    expect(push.settled(id, BUSY)).toMatchObject({ notBeforeAt: push.now() + 4000 });
    expect([push.slowed, push.session.state]).toMatchObject([[], { locked: 2, throttled: 0 }]);
  });

  test('that lasts may be a throttle: from the fourth on all requests slow down', () => {
    using push = aPush();
    const id = push.aNumber();
    push.triedInVain(id, 3);
    push.settled(id, BUSY, 42);
    expect([push.slowed, push.session.state]).toMatchObject([
      [[42, undefined]],
      { locked: 1, throttled: 0 },
    ]);
  });

  test('reports the number of tries from the eighth on', () => {
    using push = aPush();
    const id = push.aNumber();
    push.triedInVain(id, 6);
    expect(push.settled(id, BUSY).reason).toBe(WAITS);
    push.triedInVain(id, 1);
    expect(push.settled(id, BUSY)).toEqual({
      state: 'queued',
      reason: `${WAITS} (tried 8 times)`,
      notBeforeAt: push.now() + 300_000,
    });
  });

  test.each([
    ['another record within two seconds is a throttle', 1999, 'C-202400101-N00002', 1],
    ['another record two seconds later is another lock', 2000, 'C-202400101-N00002', 0],
    ['the same record is the same lock', 0, RECORD, 0],
  ])('after one of %s', async (_name, afterMs, record, throttles) => {
    using push = aPush();
    push.settled(push.aNumber(), BUSY);
    const second = push.aNumber('INV 2', record);
    await push.clock.advance(afterMs);
    push.settled(second, BUSY, 42);
    expect(push.session.state).toMatchObject({
      throttled: throttles,
      locked: 2 - throttles,
    });
    expect(push.slowed).toEqual(throttles === 1 ? [[42, undefined]] : []);
  });
});

describe('a network failure', () => {
  const REASON = 'the request did not reach the service (no route)';

  test('is retried after growing pauses, ten seconds at most, and ends the push the fourth time in a row', () => {
    using push = aPush();
    const id = push.anImport();
    const pauses: number[] = [];
    for (let time = 0; time < 6; time += 1) {
      expect(push.settled(id, NEVER_ARRIVED)).toEqual({
        state: 'queued',
        reason: REASON,
        notBeforeAt: 0,
      });
      pauses.push(push.session.state.backoffUntil - push.now());
      expect(push.session.stopCause?.kind).toBe(time < 3 ? undefined : 'unreachable');
    }
    expect(pauses).toEqual([1000, 2000, 4000, 8000, 10_000, 10_000]);
    expect(inWords(push.session.stopCause)).toEqual({ kind: 'unreachable', reason: 'no route' });
  });

  test('is forgotten after an answer', () => {
    using push = aPush();
    const id = push.anImport();
    for (const each of [NEVER_ARRIVED, NEVER_ARRIVED, NEVER_ARRIVED, ACCEPTED, NEVER_ARRIVED])
      push.settled(id, each);
    expect(push.session.stopCause).toBeUndefined();
    expect(push.session.state.failures).toBe(1);
  });

  test('counts with failures of other kinds, in a row of five', () => {
    using push = aPush();
    const id = push.anImport();
    for (const each of [UNCERTAIN, CUT, NEVER_ARRIVED, UNCERTAIN]) push.settled(id, each);
    expect(push.session.stopCause).toBeUndefined();
    push.settled(id, UNCERTAIN);
    expect(inWords(push.session.stopCause)).toEqual({
      kind: 'in-doubt',
      reason: '5 answers in a row settled nothing',
    });
  });

  test('that cuts a request makes its entry wait', () => {
    using push = aPush();
    expect(push.settled(push.aPhotograph(), CUT)).toEqual({
      state: 'queued',
      reason: 'the request did not reach the service (reset)',
      notBeforeAt: push.now() + 1000,
    });
  });
});

describe('an inconclusive answer', () => {
  test('leaves a find, a photograph or a number uncertain, whatever was tried before', () => {
    using push = aPush();
    const number = push.aNumber();
    push.triedInVain(number, 3);
    for (const id of [push.anImport(), push.aPhotograph(), number])
      expect(push.settled(id, UNCERTAIN)).toEqual({ state: 'uncertain', reason: 'no answer' });
  });

  test.each([
    ['accepted', ACCEPTED],
    ['busy', BUSY],
  ] as const)('ends with a conclusive one: %s', (_name, clear) => {
    using push = aPush();
    const id = push.anImport();
    for (let time = 0; time < 4; time += 1) push.settled(id, UNCERTAIN);
    push.settled(id, clear);
    expect(push.session.state.failures).toBe(0);
  });
});

test('only an acceptance proves the access of the account', () => {
  using push = aPush();
  const id = push.anImport();
  for (const outcome of [BUSY, UNCERTAIN, CUT, THROTTLED]) push.settled(id, outcome);
  expect(push.session.state.accessProven).toBe(false);
  expect(push.settled(id, ACCEPTED)).toEqual({ state: 'accepted', identCely: RECORD });
  expect(push.session.state.accessProven).toBe(true);
});

test('a closed service ends the push, and the entry stays queued', () => {
  using push = aPush();
  expect(push.settled(push.anImport(), { kind: 'closed', detail: 'night' })).toEqual({
    state: 'queued',
    reason: 'the service is closed',
    notBeforeAt: 0,
  });
  expect(push.session.stopCause).toEqual({ kind: 'closed', reason: 'night' });
});

describe('“already current”', () => {
  const outcome: Told = { kind: 'already-applied', detail: 'said' };

  test('settles a number', () => {
    using push = aPush();
    expect(push.settled(push.aNumber(), outcome)).toEqual({
      state: 'accepted',
      identCely: RECORD,
      reason: 'the service already had this number',
    });
  });

  test('is a refusal of a number that the service may refuse for another reason, and of other entries', () => {
    using push = aPush();
    for (const id of [push.aNumber('a\u0007b'), push.anImport()])
      expect(push.settled(id, outcome)).toEqual({ state: 'refused', reason: 'said', issues: [] });
  });
});

describe('a refusal without details', () => {
  const outcome: Told = { kind: 'refused-unspecified', detail: 'said' };

  test('beside another import of its project lets it be retried later and alone, four times', () => {
    using push = aPush();
    const id = push.anImport();
    push.beside(id, push.anImport('K-2'));
    expect(push.settled(id, outcome)).toEqual({
      state: 'queued',
      reason: 'refused, perhaps because of another import into its project (said); retried alone',
      notBeforeAt: push.now() + 1000,
    });
    push.triedInVain(id, 3, 'refused-unspecified');
    expect(push.settled(id, outcome)).toMatchObject({
      state: 'queued',
      notBeforeAt: push.now() + 8000,
    });
    push.triedInVain(id, 1, 'refused-unspecified');
    expect(push.settled(id, outcome)).toEqual({ state: 'refused', reason: 'said', issues: [] });
  });

  test('is final for an import that was alone in its project', () => {
    using push = aPush();
    const id = push.anImport();
    push.beside(id, push.anImport('K-2', 'C-202400102'));
    expect(push.settled(id, outcome)).toEqual({ state: 'refused', reason: 'said', issues: [] });
  });

  test('is final for other kinds, and for an unknown project', () => {
    using push = aPush();
    for (const each of [push.anImport('K-1', null), push.aNumber(), push.aPhotograph()])
      expect(push.settled(each, outcome)).toEqual({ state: 'refused', reason: 'said', issues: [] });
  });
});

test('a changed photograph is refused, with advice', () => {
  using push = aPush();
  expect(push.settled(push.aPhotograph(), { kind: 'content-changed' })).toEqual({
    state: 'refused',
    reason:
      'the photograph has been removed or changed since it was queued; queue it again with `pas photo add`',
    issues: [],
  });
});

describe('a finding of the service', () => {
  const finding = (more: Partial<ServerFinding>): ServerFinding => ({
    line: undefined,
    column: undefined,
    message: 'hloubka: wrong',
    errorType: undefined,
    ...more,
  });
  const listIssues = (
    push: ReturnType<typeof aPush>,
    id: number,
    findings: readonly ServerFinding[],
  ) => {
    const settled = push.settled(id, { kind: 'refused', detail: 'said', findings });
    return 'issues' in settled ? settled.issues : undefined;
  };

  test.each([
    [1, 'service-missing-record'],
    [2, 'service-invalid-data'],
    [3, 'service-permission'],
    [4, 'service-refusal'],
    [undefined, 'service-refusal'],
  ])('of type %s is the rule %s', (errorType, rule) => {
    using push = aPush();
    expect(listIssues(push, push.anImport(), [finding({ errorType })])).toMatchObject([
      { rule, message: 'hloubka: wrong', find: 'K-1' },
    ]);
  });

  test('is shown with the element on its line of the document', () => {
    using push = aPush();
    const id = push.anImportOf([
      '<svc:svc>',
      '  <samostatny_nalez>',
      '    <svc:hloubka>12</svc:hloubka>',
      'x',
      '<datum_nalezu/>',
    ]);
    const at = (line: number | undefined) => listIssues(push, id, [finding({ line })]);
    expect(at(3)).toMatchObject([{ line: 3, element: 'hloubka' }]);
    expect(at(5)).toMatchObject([{ line: 5, element: 'datum_nalezu' }]);
    expect(at(2)).toEqual([expect.not.objectContaining({ element: expect.anything() })]);
    expect(at(2)).toMatchObject([{ line: 2 }]);
    for (const line of [4, 99])
      expect(at(line)).toEqual([expect.not.objectContaining({ element: expect.anything() })]);
    expect(at(undefined)).toEqual([expect.not.objectContaining({ line: expect.anything() })]);
  });

  test('about a change of a record names no find and no element', () => {
    using push = aPush();
    for (const id of [push.aNumber(), push.aPhotograph()]) {
      const [issue] = listIssues(push, id, [finding({ line: 1 })]) ?? [];
      expect(issue).toMatchObject({ line: 1 });
      for (const property of ['find', 'element']) expect(issue).not.toHaveProperty(property);
    }
  });
});
