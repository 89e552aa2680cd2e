import { describe, expect, test } from 'vitest';
import { asMonotonicMs } from '../../../src/base/clock.ts';
import { applyCircuitBreakers } from '../../../src/push/apply-circuit-breakers.ts';
import { claim, type Settlement, settle } from '../../../src/outbox/claims.ts';
import type { Outcome } from '../../../src/pas-api/outcome.ts';
import { EVA_SAID } from '../../support/account-service.ts';
import { inWords } from '../../support/in-words.ts';
import { aPush } from './running-push.ts';

const MINUTE = 60_000;
const REFUSED: Settlement = { state: 'refused', reason: 'said', issues: [] };
const AGAIN: Settlement = { state: 'queued', reason: 'busy', notBeforeAt: 7 };
const BACK = 'not sent, because others got the same answer: said';

const refused: Outcome = { kind: 'refused', detail: 'said', findings: [] };
const forbidden: Outcome = { kind: 'forbidden', detail: 'said', findings: [] };
const wrong: Outcome = {
  ...{ kind: 'refused', detail: 'said' },
  findings: [{ line: 3, column: undefined, message: 'wrong', errorType: 2 }],
};

/** A push whose answers come one after another. */
function answering() {
  const push = aPush();
  let queued = 0;
  const answered = (
    id: number,
    outcome: Outcome,
    status: number | undefined,
    settlement: Settlement,
    departedAtMs?: number,
  ) => {
    const attempt = push.sent(outcome, {
      status,
      departedAt: asMonotonicMs(departedAtMs ?? push.clock.monotonicMs()),
    });
    const claimed = claim(push.outbox, id, () => ({
      ...{
        method: 'POST',
        path: '/',
        account: EVA_SAID.identCely,
        serverMs: null,
        sentByMs: null,
        settleMs: 0,
      },
    }));
    const entry = claimed?.entry ?? push.entry(id);
    const facts = push.session.collectFacts(entry, attempt);
    const { settlement: decided } = push.session.apply(
      applyCircuitBreakers(push.session.state, facts, settlement),
    );
    if (claimed !== undefined) {
      settle(push.outbox, claimed, decided, { outcome: outcome.kind });
      if (decided.state === 'refused') push.session.count('refused');
    }
    return inWords(decided);
  };
  const aFind = (project: string | null = 'C-1') => {
    queued += 1;
    return push.anImport(`K-${queued}`, project);
  };
  return {
    ...push,
    answered,
    aFind,
    /** So many finds that are refused in this way, and what became of each in the end. */
    refuse: (
      count: number,
      status: number,
      projects: readonly string[] = ['C-1'],
      outcome = refused,
    ) => {
      const ids = Array.from({ length: count }, (_, index) =>
        aFind(projects[index % projects.length]),
      );
      for (const id of ids) answered(id, outcome, status, REFUSED);
      return ids.map((id) => push.entry(id).state);
    },
    accept: (id: number, identCely: string) =>
      answered(id, { kind: 'accepted', identCely }, 201, { state: 'accepted', identCely }),
    leftOut: () =>
      [...push.session.state.breakers].flatMap(([key, { opened }]) =>
        opened === undefined ? [] : [key],
      ),
    told: () => push.events.flatMap((event) => (event.type === 'left_out' ? [inWords(event)] : [])),
    [Symbol.dispose]: () => push[Symbol.dispose](),
  };
}

describe('five equal refusals', () => {
  test('that name nothing in the entries open the circuit: the refused entries are queued again, behind the rest', () => {
    using push = answering();
    expect(push.refuse(4, 405, ['C-1', 'C-2'])).toEqual([
      'refused',
      'refused',
      'refused',
      'refused',
    ]);
    expect(push.session.state.counts.refused).toBe(4);
    const last = push.aFind();
    const now = push.clock.now();
    expect(push.answered(last, refused, 405, REFUSED)).toEqual({
      state: 'queued',
      reason: BACK,
      notBeforeAt: now,
    });
    expect(push.leftOut()).toEqual(['import']);
    expect(push.session.state.counts.refused).toBe(0);
    const settled = push.events.filter(({ type }) => type === 'settled');
    expect(settled).toHaveLength(4);
    expect(inWords(settled[0])).toMatchObject({ state: 'queued', reason: BACK });
    expect(push.told()).toEqual([
      {
        ...{
          type: 'left_out',
          kind: 'import',
          project: null,
          record: null,
          status: 405,
          reason: 'said',
          count: 5,
        },
        until: new Date(now + MINUTE).toISOString(),
      },
    ]);
    push.answered(push.aFind(), refused, 405, REFUSED);
    expect([push.told().length, push.entry(last).state]).toEqual([1, 'queued']);
  });

  test('open the circuit whatever their form, except those that may concern a project', () => {
    using push = answering();
    for (const status of [405, 400, 415, 413]) push.refuse(1, status);
    push.refuse(1, 404);
    expect(push.leftOut()).toEqual([]);
    push.refuse(4, 400);
    expect(push.leftOut()).toEqual([]);
    push.refuse(1, 405);
    expect(push.leftOut()).toEqual(['import']);
  });

  test('with an accepted entry between them do not', () => {
    using push = answering();
    push.refuse(4, 405);
    push.accept(push.aFind(), 'C-1-N00001');
    expect(push.refuse(4, 405)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(push.leftOut()).toEqual([]);
  });

  test('with an error in an entry between them do not, except refusals for projects', () => {
    using push = answering();
    push.refuse(4, 405);
    expect(push.answered(push.aFind(), wrong, 422, REFUSED)).toEqual(REFUSED);
    push.refuse(4, 405);
    expect(push.leftOut()).toEqual([]);
    using projects = answering();
    projects.refuse(4, 403, ['C-1', 'C-2', 'C-3', 'C-4']);
    projects.answered(projects.aFind(), wrong, 422, REFUSED);
    projects.refuse(1, 403, ['C-5']);
    expect(projects.leftOut()).toEqual(['import']);
  });

  test('of a number that can be caused by its value concern the number', () => {
    using push = answering();
    for (let index = 0; index < 6; index += 1) {
      const id = push.aNumber('INV 1', `C-1-N0000${index}`);
      expect(push.answered(id, refused, 422, REFUSED).state).toBe('refused');
    }
    expect(push.leftOut()).toEqual([]);
  });

  test('open it even if an answer between them leaves an entry uncertain', () => {
    using push = answering();
    push.refuse(4, 404, ['C-1', 'C-2', 'C-3', 'C-4']);
    const uncertain: Outcome = { kind: 'uncertain', detail: 'said', outsideContract: false };
    push.answered(push.aFind(), uncertain, 502, { state: 'uncertain', reason: 'said' });
    push.refuse(1, 404, ['C-5']);
    expect(push.leftOut()).toEqual(['import']);
  });

  test('of finds without a project are reported once', () => {
    using push = answering();
    const ids = Array.from({ length: 5 }, () => push.aFind(null));
    for (const id of ids) push.answered(id, forbidden, 403, REFUSED);
    expect(push.told()).toMatchObject([{ project: null, count: 5 }]);
  });

  test('do not if the entries are to be sent again', () => {
    using push = answering();
    for (let index = 0; index < 6; index += 1)
      expect(push.answered(push.aFind(), forbidden, 403, AGAIN)).toEqual(AGAIN);
    expect(push.leftOut()).toEqual([]);
  });

  test('open it for numbers as for finds, except the status that concerns the number', () => {
    using push = answering();
    for (let index = 0; index < 5; index += 1)
      push.answered(push.aNumber('INV 1', `C-1-N0000${index}`), refused, 405, REFUSED);
    push.refuse(5, 422);
    expect(push.leftOut()).toEqual(['number', 'import']);
  });

  test('leave entries that a person changed meanwhile as they are', () => {
    using push = answering();
    const first = push.aFind();
    push.answered(first, refused, 405, REFUSED);
    push.change(`update entries set state = 'draft' where id = ${first}`);
    push.refuse(4, 405);
    expect([push.leftOut(), push.entry(first).state, push.session.state.counts.refused]).toEqual([
      ['import'],
      'draft',
      1,
    ]);
  });

  test('without a detail open it too, even if the finds were under way at once and are tried again', () => {
    using push = answering();
    push.refuse(5, 400, ['C-1'], { kind: 'refused-unspecified', detail: 'said' });
    expect(push.leftOut()).toEqual(['import']);
    using waits = answering();
    const again: Settlement = { state: 'queued', reason: 'retried alone', notBeforeAt: 7 };
    const departedAt = waits.clock.monotonicMs() - 1;
    for (let index = 0; index < 5; index += 1) {
      expect(waits.leftOut()).toEqual([]);
      expect(
        waits.answered(
          waits.aFind(),
          { kind: 'refused-unspecified', detail: 'said' },
          422,
          again,
          departedAt,
        ),
      ).toEqual(again);
    }
    expect(waits.told()).toMatchObject([{ project: null, status: 422, reason: 'said' }]);
  });
});

describe('a project', () => {
  test('whose finds are all forbidden is paused alone, and access of the account is unproven again', () => {
    using push = answering();
    push.session.apply({
      settlement: AGAIN,
      state: { ...push.session.state, accessProven: true },
      effects: [],
    });
    const waits = push.aFind('C-1');
    const other = push.aFind('C-2');
    push.refuse(5, 403, ['C-1'], forbidden);
    expect(push.leftOut()).toEqual(['import C-1']);
    expect(push.told()).toMatchObject([{ project: 'C-1', status: 403, count: 6 }]);
    expect(push.session.state.accessProven).toBe(false);
    expect(push.entry(waits).notBeforeAt).toBe(push.clock.now());
    expect(`${push.entry(waits).reason}`).toBe(BACK);
    expect(push.entry(other).notBeforeAt).toBe(0);
    push.accept(other, 'C-2-N00001');
    expect(push.leftOut()).toEqual(['import C-1']);
    push.accept(waits, 'C-1-N00001');
    expect(push.leftOut()).toEqual([]);
  });

  test('that does not exist leaves access proven, and five such projects open the circuit', () => {
    using push = answering();
    push.session.apply({
      settlement: AGAIN,
      state: { ...push.session.state, accessProven: true },
      effects: [],
    });
    push.refuse(4, 404, ['C-1', 'C-2', 'C-3', 'C-4']);
    expect(push.leftOut()).toEqual([]);
    push.refuse(1, 404, ['C-5']);
    expect([push.leftOut(), push.session.state.accessProven]).toEqual([['import'], true]);
  });
});

describe('a paused part of the queue', () => {
  test('is tried again after a minute, and paused for twice as long each time, an hour at most', async () => {
    using push = answering();
    const pauses: number[] = [];
    push.refuse(5, 405);
    for (let time = 0; time < 8; time += 1) {
      const pauseMs = push.session.state.breakers.get('import')?.opened?.openMs ?? 0;
      pauses.push(pauseMs / MINUTE);
      await push.clock.advance(pauseMs - 1);
      const toldCount = push.told().length;
      push.refuse(1, 405);
      expect(push.told()).toHaveLength(toldCount);
      await push.clock.advance(1);
      push.refuse(1, 405);
      expect(push.told()).toHaveLength(toldCount + 1);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('consists of its kind and its project', () => {
    using push = answering();
    push.refuse(5, 403, ['C-1'], forbidden);
    expect(push.refuse(1, 403, ['C-2'], forbidden)).toEqual(['refused']);
    const photo = push.aPhotograph('C-1-N00001');
    expect(push.answered(photo, forbidden, 403, REFUSED).state).toBe('refused');
    expect(push.refuse(1, 403, ['C-1'], forbidden)).toEqual(['queued']);
    expect(push.told()).toHaveLength(1);
  });
});

describe('an automatic repetition', () => {
  const busy: Outcome = { kind: 'busy' };
  const record = (index: number): string => `C-1-N0000${index}`;

  test('opens the circuit if five records are answered so, and not if one is', async () => {
    using push = answering();
    const one = push.aNumber('INV 1', record(9));
    for (let time = 0; time < 6; time += 1) {
      await push.clock.advance(1000);
      expect(push.answered(one, busy, 429, AGAIN)).toEqual(AGAIN);
    }
    expect(push.leftOut()).toEqual([]);
    for (let index = 0; index < 4; index += 1) {
      await push.clock.advance(1000);
      expect(push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN)).toEqual(AGAIN);
    }
    expect(push.leftOut()).toEqual(['number']);
  });

  test('does not open it together with refusals', () => {
    using push = answering();
    for (let index = 0; index < 4; index += 1)
      push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN);
    push.answered(push.aNumber('INV 1', record(4)), refused, 405, REFUSED);
    expect(push.leftOut()).toEqual([]);
  });

  test('counts if it departed after the last answer', () => {
    using push = answering();
    for (let index = 0; index < 5; index += 1)
      push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN);
    expect(push.leftOut()).toEqual(['number']);
  });

  test('counts once for all requests under way at the time', async () => {
    using push = answering();
    await push.clock.advance(10_000);
    const departedAtMs = push.clock.monotonicMs() - 1;
    for (let index = 0; index < 6; index += 1)
      push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN, departedAtMs);
    expect(push.leftOut()).toEqual([]);
  });

  test('opens the circuit after five cut uploads, but not if nothing arrived at all', async () => {
    for (const cut of [true, false]) {
      using push = answering();
      for (let index = 0; index < 5; index += 1) {
        await push.clock.advance(1000);
        const lost: Outcome = { kind: cut ? 'cut' : 'not-delivered', detail: 'said' };
        expect(push.answered(push.aPhotograph(record(index)), lost, undefined, AGAIN)).toEqual(
          AGAIN,
        );
      }
      expect(push.leftOut()).toEqual(cut ? ['photo'] : []);
      expect(push.told()).toMatchObject(cut ? [{ status: null, kind: 'photo' }] : []);
    }
  });
});
