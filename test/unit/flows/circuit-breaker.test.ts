import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { asMonotonicMs } from '../../../src/base/clock.ts';
import { RETRY_POLICY } from '../../../src/base/retry-policy.ts';
import {
  type CircuitBreaker,
  type Failure,
  getCircuitStatus,
  isTripping,
  makeKindKey,
  makeProjectKey,
  makeRecordBreakerKey,
  makeStopKey,
  openCircuit,
  openCircuitsAt,
  recordFailure,
  withBreaker,
  withoutCount,
  withoutStopCounters,
} from '../../../src/push/circuit-breaker.ts';

const { threshold, minOpenMs, maxOpenMs } = RETRY_POLICY.circuit;
const PART = { kind: 'import', project: null, record: null, status: 405, reason: 'said' } as const;

const failure = (subject: number, atMs: number, failureClass = 'transport'): Failure => ({
  ...{ failureClass, subject: `${subject}`, entryId: subject, isRepeated: false },
  ...{ departedAt: asMonotonicMs(atMs - 1), at: asMonotonicMs(atMs) },
});

type Step = { readonly subject: number } | 'success';

/** A circuit that is opened as soon as it trips; a success closes it. */
function played(steps: readonly Step[]) {
  let breaker: CircuitBreaker | undefined;
  return steps.map((step, index) => {
    const at = asMonotonicMs(index + 1);
    breaker = step === 'success' ? undefined : recordFailure(breaker, failure(step.subject, at));
    if (breaker !== undefined && isTripping(breaker, threshold, at))
      breaker = openCircuit(breaker, PART, at);
    return getCircuitStatus(breaker, at);
  });
}

const steps = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ subject: fc.nat({ max: 8 }) }) },
    { weight: 1, arbitrary: fc.constant('success' as const) },
  ),
  { maxLength: 40 },
);

describe('a circuit', () => {
  test('opens with the fifth equal failure about another subject without a success between, and never before', () => {
    expect(threshold).toBe(5);
    fc.assert(
      fc.property(steps, (all) => {
        for (const [index, status] of played(all).entries()) {
          const since = all.slice(all.slice(0, index + 1).lastIndexOf('success') + 1, index + 1);
          const subjects = new Set(since.map((step) => (step === 'success' ? -1 : step.subject)));
          expect(status).toBe(subjects.size >= 5 ? 'open' : 'closed');
        }
      }),
    );
  });

  test('starts a new count with a failure of another class', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('403', '404', 'transport'), { maxLength: 30 }),
        (classes) => {
          let breaker: CircuitBreaker | undefined;
          for (const [index, failureClass] of classes.entries()) {
            breaker = recordFailure(breaker, failure(index, index + 1, failureClass));
            const before = classes.slice(0, index + 1);
            const row = before.length - 1 - before.findLastIndex((each) => each !== failureClass);
            expect(breaker.failures).toBe(row);
          }
        },
      ),
    );
  });

  test('is half-open after its pause, and one failure opens it again for twice as long, an hour at most', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 12 }), (times) => {
        let at = asMonotonicMs(1);
        let breaker: CircuitBreaker | undefined;
        for (let subject = 0; subject < threshold; subject += 1)
          breaker = recordFailure(breaker, failure(subject, at));
        for (let time = 0; time < times; time += 1) {
          const counted = recordFailure(breaker, failure(100 + time, at));
          expect(isTripping(counted, threshold, at)).toBe(true);
          const opened = openCircuit(counted, PART, at);
          expect(opened.opened.openMs).toBe(Math.min(minOpenMs * 2 ** time, maxOpenMs));
          expect(getCircuitStatus(opened, asMonotonicMs(opened.opened.untilAt - 1))).toBe('open');
          expect(isTripping(recordFailure(opened, failure(200, at)), threshold, at)).toBe(false);
          at = opened.opened.untilAt;
          expect(getCircuitStatus(opened, at)).toBe('half-open');
          breaker = opened;
        }
      }),
    );
    expect([minOpenMs, maxOpenMs]).toEqual([60_000, 3_600_000]);
  });

  test('counts one of the repeated requests that were under way at once', () => {
    const late = { ...failure(1, 100), isRepeated: true };
    const first = recordFailure(undefined, late);
    const beside = recordFailure(first, {
      ...late,
      subject: '2',
      departedAt: asMonotonicMs(99),
      at: asMonotonicMs(101),
    });
    expect([first.failures, beside.failures]).toEqual([1, 1]);
    expect(
      recordFailure(first, {
        ...late,
        subject: '2',
        departedAt: asMonotonicMs(100),
        at: asMonotonicMs(101),
      }).failures,
    ).toBe(2);
  });

  test('with a new count remembers how long it was open, but nothing that it counted', () => {
    const counted = recordFailure(undefined, failure(7, 1));
    expect(counted).toMatchObject({
      failures: 1,
      subjects: new Set(['7']),
      refused: new Set([7]),
      lastFailureAt: 1,
    });
    const opened = openCircuit(counted, PART, asMonotonicMs(1));
    expect([opened.failures, opened.refused, opened.opened]).toMatchObject([
      1,
      new Set(),
      { ...PART, untilAt: 1 + minOpenMs },
    ]);
    const none = { failures: 0, subjects: new Set(), refused: new Set(), lastFailureAt: 0 };
    expect(withoutCount(opened, '404')).toEqual({
      ...none,
      failureClass: '404',
      opened: opened.opened,
    });
    expect(withoutCount(undefined)).toEqual({ ...none, failureClass: '', opened: undefined });
    const each = { ...failure(7, 3), subject: undefined };
    expect(recordFailure(recordFailure(undefined, each), each)).toMatchObject({
      failures: 2,
      subjects: new Set(),
    });
  });
});

test('circuits of kinds and projects are kept from push to push, and open ones are reported', () => {
  const closed = recordFailure(undefined, failure(1, 1));
  const open = openCircuit(closed, PART, asMonotonicMs(1));
  const keys = [
    makeKindKey('import'),
    makeProjectKey('import', 'C-1'),
    makeRecordBreakerKey('photo', 'C-1-N1'),
  ];
  expect(keys).toEqual(['import', 'import C-1', 'photo of C-1-N1']);
  const none = new Map<string, CircuitBreaker>();
  expect(withBreaker(none, 'import', undefined)).toBe(none);
  const one = withBreaker(none, 'import', open);
  const all = Object.keys(RETRY_POLICY.stopAfter).reduce(
    (before, name) =>
      withBreaker(before, makeStopKey(name as keyof typeof RETRY_POLICY.stopAfter), open),
    withBreaker(one, 'number', closed),
  );
  expect([none.size, one.size, [...withoutStopCounters(all).keys()]]).toEqual([
    0,
    1,
    ['import', 'number'],
  ]);
  expect([...withBreaker(one, 'import', undefined).keys(), one.size]).toEqual([1]);
  const { untilAt } = open.opened;
  expect(openCircuitsAt(withoutStopCounters(all), asMonotonicMs(untilAt - 1))).toEqual([
    open.opened,
  ]);
  expect(openCircuitsAt(all, untilAt)).toEqual([]);
});
