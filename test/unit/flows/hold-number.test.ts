import { describe, expect, test } from 'vitest';
import { NoAnswerError } from '../../../src/http/exchange.ts';
import { addNumber, entryById } from '../../../src/outbox/entries.ts';
import { attemptsOf, closeAttempt, openAttempt } from '../../../src/outbox/journal.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Asked, obeyed, type Reply, scene } from '../../support/push-scene.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const RECORD = { findId: null, identCely: 'C-202400101-N00001' };
/** The time that a scene's service may take, and the margin. */
const WAIT_MS = 605_000;
const REQUEST = { method: 'PATCH', path: '/a', accountId: ACCOUNT_ID };
const STRAGGLES = 'an earlier number of this record may still be on its way to the service';

type Straggler = { readonly dateMs?: number } | { readonly untilMs: number };

/** Number B is queued behind others whose end nobody knows. `aheadMs`: of the service's clock. */
function behind(stragglers: readonly Straggler[], { aheadMs = 0, isSilent = false, fails = false } = {}) {
  const clock = manualClock();
  const outbox = tempOutbox(clock);
  const startMs = clock.now();
  const serverMs = () => Math.floor((clock.now() + aheadMs) / 1000) * 1000;
  const attempts = stragglers.map((straggler, nth) => {
    const id = addNumber(outbox, RECORD, `A ${nth}`);
    const doubt = 'untilMs' in straggler ? [startMs, startMs + straggler.untilMs] : [null, null];
    outbox
      .sql(`update entries set state = 'uncertain', doubt_from_at = ?, doubt_until_at = ? where id = ?`)
      .run(...(doubt as [number, number]), id);
    if ('untilMs' in straggler) return undefined;
    const attemptId = openAttempt(outbox, id, REQUEST);
    const date = straggler.dateMs === undefined ? {} : { serverDateAt: startMs + straggler.dateMs };
    closeAttempt(outbox, attemptId, { outcome: 'uncertain', status: 500, reason: null, ...date });
    return attemptId;
  });
  const id = addNumber(outbox, RECORD, 'B');
  const reply = (request: Asked): Reply => {
    if (fails) return new NoAnswerError('connect', false, 'nobody is there');
    const { status, headers, body } = obeyed(request);
    return { status, headers: isSilent ? headers : { ...headers, date: new Date(serverMs()).toUTCString() }, body };
  };
  const { start, asked } = scene(clock, reply);
  const push = async (forMs = 2000) => {
    // What waits keeps its push waiting.
    start(outbox).catch(() => {});
    await clock.advance(forMs);
  };
  const b = () => {
    const entry = entryById(outbox, id);
    if (entry === undefined) throw new Error('it is gone');
    return { state: entry.state, waitMs: entry.notBeforeAt - startMs, reason: entry.reason === null ? '' : String(entry.reason) };
  };
  return { clock, outbox, startMs, id, attempts, push, b, asked: () => asked.map(({ method }) => method) };
}

/** An answer to something else, which says what time it is there. */
function said(outbox: ServiceOutbox, serverDateAt: number): void {
  const other = addNumber(outbox, { findId: null, identCely: 'C-202400101-N00009' }, 'X');
  outbox.sql(`update entries set state = 'accepted' where id = ?`).run(other);
  const attemptId = openAttempt(outbox, other, REQUEST);
  closeAttempt(outbox, attemptId, { outcome: 'accepted', status: 200, reason: null, serverDateAt });
}

describe('a number behind one whose end nobody knows', () => {
  test('waits from the answer that said when, by the clock of the service', async () => {
    const { clock, push, b, asked } = behind([{ dateMs: 40_000 }], { aheadMs: 40_000 });
    await clock.advance(3000);
    await push();
    expect(b()).toEqual({ state: 'queued', waitMs: WAIT_MS, reason: STRAGGLES });
    expect(asked()).toEqual([]);
  });

  test('waits for the last of several', async () => {
    const { clock, push, b, outbox, startMs } = behind([{ dateMs: 90_000 }, { dateMs: 20_000 }]);
    said(outbox, startMs + 100_000);
    await clock.advance(1000);
    await push();
    expect(b().waitMs).toBe(WAIT_MS - 10_000);
  });

  test('waits for a time of which nothing is known, as the clocks differ', async () => {
    const { push, b, outbox, startMs } = behind([{ untilMs: 30_000 }]);
    said(outbox, startMs + 7_000_000);
    await push();
    expect(b().waitMs).toBe(30_000 + WAIT_MS);
  });

  test('asks the time where the service has said nothing since, and writes down that it asked', async () => {
    const { clock, outbox, push, b, asked, id, startMs } = behind([{}]);
    await clock.advance(5000);
    await push();
    expect(asked()).toEqual(['GET']);
    const [attempt] = attemptsOf(outbox, id);
    expect(attempt).toMatchObject({ method: 'GET', outcome: 'asked', status: 405, reason: null, account: 'U-000001' });
    expect(attempt?.path).toMatch(/\/import-xml$/);
    expect(attempt?.serverDateAt).toBe(startMs + 5000);
    expect(b()).toEqual({ state: 'queued', waitMs: (attempt?.endedAt ?? 0) - startMs + WAIT_MS, reason: STRAGGLES });
  });

  test('asks again where only this machine says that the wait is over', async () => {
    const { clock, push, b, asked } = behind([{ dateMs: 0 }]);
    await clock.advance(WAIT_MS);
    await push();
    expect(asked()).toEqual(['GET', 'PATCH']);
    expect(b().state).toBe('accepted');
  });

  test('asks again where this machine’s clock was set back since', async () => {
    const { clock, outbox, push, asked, attempts } = behind([{ dateMs: 0 }]);
    outbox.sql('update attempts set ended_at = ended_at + 3600000 where id = ?').run(attempts[0]);
    await clock.advance(1000);
    await push();
    expect(asked()).toEqual(['GET']);
  });

  test('is sent once the service says that it is over', async () => {
    const { outbox, push, b, asked, startMs } = behind([{ dateMs: 0 }]);
    said(outbox, startMs + WAIT_MS);
    await push();
    expect(asked()).toEqual(['PATCH']);
    expect(b().state).toBe('accepted');
  });

  test.each<[readonly Straggler[], number]>([
    [[{}], 0],
    [[{ untilMs: 30_000 }], 30_000],
    [[{}, { untilMs: 30_000 }, {}], 30_000],
  ])('waits by this machine where the service never says the time: %j', async (stragglers, fromMs) => {
    const { clock, push, b, asked } = behind(stragglers, { isSilent: true });
    await clock.advance(5000);
    await push();
    expect(asked()).toEqual(['GET']);
    expect(b()).toEqual({ state: 'queued', waitMs: fromMs + WAIT_MS, reason: STRAGGLES });
  });

  test('is kept where nobody can be asked', async () => {
    const { outbox, push, b, asked, id, startMs } = behind([{}], { fails: true });
    await push();
    expect(asked()[0]).toBe('GET');
    expect(b()).toEqual({
      ...{ state: 'queued', waitMs: -startMs },
      reason: 'the request did not reach the service (nobody is there)',
    });
    expect(attemptsOf(outbox, id)).toEqual([]);
  });
});

describe('what is not what was queued any more', () => {
  const REASON = 'the disk holds something else than what was queued: give it up and queue it again';

  async function pushed(outbox: ServiceOutbox, clock: ReturnType<typeof manualClock>) {
    const { run, asked, events } = scene(clock, obeyed);
    return { result: await run(outbox), asked, events };
  }

  test('is refused, told and counted, and nothing of it is sent', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set document = cast('<other/>' as blob) where id = ?`).run(entryId);
    const { result, asked, events } = await pushed(outbox, clock);
    expect(entryById(outbox, entryId)).toMatchObject({ state: 'refused', issues: [] });
    expect(String(entryById(outbox, entryId)?.reason)).toBe(REASON);
    expect(result).toMatchObject({ refused: 1, accepted: 0 });
    expect(asked.filter(({ body }) => body !== '')).toEqual([]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'settled', entry: entryId, state: 'refused' }));
  });

  test.each([
    ['as it was queued', '', 'accepted'],
    ['that an older pas queued, which kept no seal', 'update entries set seal = null', 'accepted'],
    ['with another value', `update entries set value = 'A 2'`, 'refused'],
    ['under another key', `update entries set record_key = 'record:C-202400101-N00002'`, 'refused'],
    ['for another record', `update entries set ident_cely = 'C-202400101-N00002'`, 'refused'],
  ])('a number %s', async (_, damage, state) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const id = addNumber(outbox, RECORD, 'A 1');
    if (damage !== '') outbox.sql(damage).run();
    await pushed(outbox, clock);
    expect(entryById(outbox, id)?.state).toBe(state);
  });

  test.each([
    ['C-202400101-N00001', 'accepted'],
    ['C-202400101-N00002', 'refused'],
  ])('a number of a find for the record %s', async (identCely, state) => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    const { findId, entryId } = queueImport(outbox, 'K-1');
    outbox.sql(`update entries set state = 'accepted', ident_cely = 'C-202400101-N00001' where id = ?`).run(entryId);
    const id = addNumber(outbox, { findId, identCely }, 'A 1');
    await pushed(outbox, clock);
    expect(entryById(outbox, id)?.state).toBe(state);
  });
});
