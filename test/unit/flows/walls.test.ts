import { describe, expect, test } from 'vitest';
import type { Sent } from '../../../src/flows/push/send-entry.ts';
import { heedWalls } from '../../../src/flows/push/walls.ts';
import { applySettlement, claim, type Settlement } from '../../../src/outbox/claims.ts';
import type { Outcome } from '../../../src/pas-api/outcome.ts';
import { inWords } from '../../support/in-words.ts';
import { aPush } from '../../support/push-in-the-middle.ts';
import { ACCOUNT_ID } from '../../support/temp-outbox.ts';

const MINUTE = 60_000;
const REFUSED: Settlement = { state: 'refused', reason: 'said', issues: [] };
const AGAIN: Settlement = { state: 'queued', reason: 'busy', notBeforeAt: 7 };
const BACK = 'left out with others that were answered the same: said';

const refused: Outcome = { kind: 'refused', detail: 'said', findings: [] };
const forbidden: Outcome = { kind: 'forbidden', detail: 'said', findings: [] };
const wrong: Outcome = {
  ...{ kind: 'refused', detail: 'said' },
  findings: [{ line: 1, column: undefined, message: 'wrong', errorType: 2 }],
};

/** A push whose answers come one after another. */
function walled() {
  const push = aPush();
  let queued = 0;
  const answered = (id: number, outcome: Outcome, status: number | undefined, settlement: Settlement, departedAtMs?: number) => {
    const sent: Sent = {
      ...{ outcome, status, serverDateAt: undefined, tookMs: 1, token: 'token' },
      departedAtMs: departedAtMs ?? push.clock.monotonicMs(),
    };
    const claimed = claim(push.outbox, id, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
    const entry = claimed?.entry ?? push.entry(id);
    const heeded = heedWalls(push.run, entry, sent, settlement);
    if (claimed !== undefined) {
      applySettlement(push.outbox, entry, heeded);
      if (heeded.state === 'refused') push.run.counts.refused += 1;
    }
    return inWords(heeded);
  };
  const aFind = (project = 'C-1') => {
    queued += 1;
    return push.anImport(`K-${queued}`, project);
  };
  return {
    ...push,
    answered,
    aFind,
    /** So many finds that are refused in this way, and what became of each in the end. */
    refuse: (count: number, status: number, projects: readonly string[] = ['C-1'], outcome = refused) => {
      const ids = Array.from({ length: count }, (_, index) => aFind(projects[index % projects.length]));
      for (const id of ids) answered(id, outcome, status, REFUSED);
      return ids.map((id) => push.entry(id).state);
    },
    accept: (id: number, identCely: string) =>
      answered(id, { kind: 'accepted', identCely }, 201, { state: 'accepted', identCely }),
    leftOut: () => [...push.run.context.walls.leftOut.keys()],
    told: () => push.events.flatMap((event) => (event.type === 'left_out' ? [inWords(event)] : [])),
    [Symbol.dispose]: () => push[Symbol.dispose](),
  };
}

describe('five equal refusals', () => {
  test('that name nothing in the entries are a wall: what was refused is queued again, behind the rest', () => {
    using push = walled();
    expect(push.refuse(4, 405, ['C-1', 'C-2'])).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(push.run.counts.refused).toBe(4);
    const last = push.aFind();
    const now = push.clock.now();
    expect(push.answered(last, refused, 405, REFUSED)).toEqual({ state: 'queued', reason: BACK, notBeforeAt: now });
    expect(push.leftOut()).toEqual(['import']);
    expect(push.run.counts.refused).toBe(0);
    const settled = push.events.filter(({ type }) => type === 'settled');
    expect(settled).toHaveLength(4);
    expect(inWords(settled[0])).toMatchObject({ state: 'queued', reason: BACK });
    expect(push.told()).toEqual([
      {
        ...{ type: 'left_out', kind: 'import', project: null, status: 405, reason: 'said', count: 5 },
        until: new Date(now + MINUTE).toISOString(),
      },
    ]);
    push.answered(push.aFind(), refused, 405, REFUSED);
    expect([push.told().length, push.entry(last).state]).toEqual([1, 'queued']);
  });

  test('are a wall in whatever way they are told, but for those that may be about a project', () => {
    using push = walled();
    for (const status of [405, 400, 415, 413]) push.refuse(1, status);
    push.refuse(1, 404);
    expect(push.leftOut()).toEqual([]);
    push.refuse(4, 400);
    expect(push.leftOut()).toEqual([]);
    push.refuse(1, 405);
    expect(push.leftOut()).toEqual(['import']);
  });

  test('between which one was accepted are none', () => {
    using push = walled();
    push.refuse(4, 405);
    push.accept(push.aFind(), 'C-1-N00001');
    expect(push.refuse(4, 405)).toEqual(['refused', 'refused', 'refused', 'refused']);
    expect(push.leftOut()).toEqual([]);
  });

  test('between which the service found something wrong in an entry are none, but for those about projects', () => {
    using push = walled();
    push.refuse(4, 405);
    expect(push.answered(push.aFind(), wrong, 422, REFUSED)).toEqual(REFUSED);
    push.refuse(4, 405);
    expect(push.leftOut()).toEqual([]);
    using projects = walled();
    projects.refuse(4, 403, ['C-1', 'C-2', 'C-3', 'C-4']);
    projects.answered(projects.aFind(), wrong, 422, REFUSED);
    projects.refuse(1, 403, ['C-5']);
    expect(projects.leftOut()).toEqual(['import']);
  });

  test('of a number with what its value is refused for are about the number', () => {
    using push = walled();
    for (let index = 0; index < 6; index += 1) {
      const id = push.aNumber('INV 1', `C-1-N0000${index}`);
      expect(push.answered(id, refused, 422, REFUSED).state).toBe('refused');
    }
    expect(push.leftOut()).toEqual([]);
  });

  test('are a wall also where an answer between leaves open what became of an entry', () => {
    using push = walled();
    push.refuse(4, 404, ['C-1', 'C-2', 'C-3', 'C-4']);
    const uncertain: Outcome = { kind: 'uncertain', detail: 'said', outsideContract: false };
    push.answered(push.aFind(), uncertain, 502, { state: 'uncertain', reason: 'said' });
    push.refuse(1, 404, ['C-5']);
    expect(push.leftOut()).toEqual(['import']);
  });

  test('of finds without a project are told once', () => {
    using push = walled();
    const ids = Array.from({ length: 5 }, () => push.aFind());
    push.change('update entries set project = null');
    for (const id of ids) push.answered(id, forbidden, 403, REFUSED);
    expect(push.told()).toMatchObject([{ project: null, count: 5 }]);
  });

  test('are none where the entries are to be sent again', () => {
    using push = walled();
    for (let index = 0; index < 6; index += 1) expect(push.answered(push.aFind(), forbidden, 403, AGAIN)).toEqual(AGAIN);
    expect(push.leftOut()).toEqual([]);
  });

  test('are a wall for numbers as for finds, but for the status that is about the number', () => {
    using push = walled();
    for (let index = 0; index < 5; index += 1) push.answered(push.aNumber('INV 1', `C-1-N0000${index}`), refused, 405, REFUSED);
    push.refuse(5, 422);
    expect(push.leftOut()).toEqual(['number', 'import']);
  });

  test('that a person took up meanwhile are left as they are', () => {
    using push = walled();
    const first = push.aFind();
    push.answered(first, refused, 405, REFUSED);
    push.change(`update entries set state = 'draft' where id = ${first}`);
    push.refuse(4, 405);
    expect([push.leftOut(), push.entry(first).state, push.run.counts.refused]).toEqual([['import'], 'draft', 1]);
  });

  test('in a word are about the way as well', () => {
    using push = walled();
    push.refuse(5, 400, ['C-1'], { kind: 'refused-with-detail', detail: 'said' });
    expect(push.leftOut()).toEqual(['import']);
    using waits = walled();
    const again: Settlement = { state: 'queued', reason: 'tried again alone', notBeforeAt: 7 };
    for (let index = 0; index < 6; index += 1) {
      expect(waits.answered(waits.aFind(), { kind: 'refused-with-detail', detail: 'said' }, 400, again)).toEqual(again);
    }
    expect(waits.leftOut()).toEqual([]);
  });
});

describe('a project', () => {
  test('whose finds are all forbidden is left out alone, and whether the account has access is open again', () => {
    using push = walled();
    push.run.accessProven = true;
    const waits = push.aFind('C-1');
    const other = push.aFind('C-2');
    push.refuse(5, 403, ['C-1'], forbidden);
    expect(push.leftOut()).toEqual(['import C-1']);
    expect(push.told()).toMatchObject([{ project: 'C-1', status: 403, count: 6 }]);
    expect(push.run.accessProven).toBe(false);
    expect(push.entry(waits).notBeforeAt).toBe(push.clock.now());
    expect(`${push.entry(waits).reason}`).toBe(BACK);
    expect(push.entry(other).notBeforeAt).toBe(0);
    push.accept(other, 'C-2-N00001');
    expect(push.leftOut()).toEqual(['import C-1']);
    push.accept(waits, 'C-1-N00001');
    expect(push.leftOut()).toEqual([]);
  });

  test('that is not there leaves access as it was, and five of them are a wall', () => {
    using push = walled();
    push.run.accessProven = true;
    push.refuse(4, 404, ['C-1', 'C-2', 'C-3', 'C-4']);
    expect(push.leftOut()).toEqual([]);
    push.refuse(1, 404, ['C-5']);
    expect([push.leftOut(), push.run.accessProven]).toEqual([['import'], true]);
  });
});

describe('what is left out', () => {
  test('is tried again after a minute, and left out for twice as long each time, an hour at most', async () => {
    using push = walled();
    const pauses: number[] = [];
    push.refuse(5, 405);
    for (let time = 0; time < 8; time += 1) {
      const pauseMs = push.run.context.walls.leftOut.get('import')?.pauseMs ?? 0;
      pauses.push(pauseMs / MINUTE);
      await push.clock.advance(pauseMs - 1);
      const told = push.told().length;
      push.refuse(1, 405);
      expect(push.told()).toHaveLength(told);
      await push.clock.advance(1);
      push.refuse(1, 405);
      expect(push.told()).toHaveLength(told + 1);
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  test('is of its kind and its project', () => {
    using push = walled();
    push.refuse(5, 403, ['C-1'], forbidden);
    expect(push.refuse(1, 403, ['C-2'], forbidden)).toEqual(['refused']);
    const photo = push.aPhotograph('C-1-N00001');
    expect(push.answered(photo, forbidden, 403, REFUSED).state).toBe('refused');
    expect(push.refuse(1, 403, ['C-1'], forbidden)).toEqual(['queued']);
    expect(push.told()).toHaveLength(1);
  });
});

describe('what is sent again by itself', () => {
  const busy: Outcome = { kind: 'busy' };
  const record = (index: number): string => `C-1-N0000${index}`;

  test('is a wall where five records are answered so, and not where one is', async () => {
    using push = walled();
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

  test('is no wall together with what is refused', () => {
    using push = walled();
    for (let index = 0; index < 4; index += 1) push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN);
    push.answered(push.aNumber('INV 1', record(4)), refused, 405, REFUSED);
    expect(push.leftOut()).toEqual([]);
  });

  test('counts where it left when the last one was answered', () => {
    using push = walled();
    for (let index = 0; index < 5; index += 1) push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN);
    expect(push.leftOut()).toEqual(['number']);
  });

  test('counts once for all that were under way at the time', async () => {
    using push = walled();
    await push.clock.advance(10_000);
    const departedAtMs = push.clock.monotonicMs() - 1;
    for (let index = 0; index < 6; index += 1)
      push.answered(push.aNumber('INV 1', record(index)), busy, 429, AGAIN, departedAtMs);
    expect(push.leftOut()).toEqual([]);
  });

  test('is a wall where five uploads are cut, and none where nothing arrived at all', async () => {
    for (const cut of [true, false]) {
      using push = walled();
      for (let index = 0; index < 5; index += 1) {
        await push.clock.advance(1000);
        const lost: Outcome = { kind: 'never-arrived', detail: 'said', cut };
        expect(push.answered(push.aPhotograph(record(index)), lost, undefined, AGAIN)).toEqual(AGAIN);
      }
      expect(push.leftOut()).toEqual(cut ? ['photo'] : []);
      expect(push.told()).toMatchObject(cut ? [{ status: null, kind: 'photo' }] : []);
    }
  });

  test('is no wall where nobody knows what became of it', () => {
    using push = walled();
    const uncertain: Outcome = { kind: 'uncertain', detail: 'said', outsideContract: false };
    const settlement: Settlement = { state: 'uncertain', reason: 'said' };
    for (let index = 0; index < 6; index += 1)
      expect(push.answered(push.aFind(), uncertain, 502, settlement)).toEqual(settlement);
    expect(push.leftOut()).toEqual([]);
  });
});
