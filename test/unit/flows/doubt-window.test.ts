import { describe, expect, test } from 'vitest';
import { earliestMs, inServerTime, windowOf } from '../../../src/flows/reconcile/doubt-window.ts';
import { rememberAccount } from '../../../src/outbox/accounts.ts';
import { entryById } from '../../../src/outbox/entries.ts';
import { type Entry, OPEN_END_MS } from '../../../src/outbox/entry.ts';
import { type EvidenceVerdict, recordEvidence } from '../../../src/outbox/evidence.ts';
import { closeAttempt, openAttempt } from '../../../src/outbox/journal.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const NOON = Date.UTC(2024, 5, 1, 12);
const DAY = 86_400_000;
const SETTLE = 600_000;

/** An entry of an outbox whose machine has whatever time is set. */
function story() {
  let localMs = NOON;
  const outbox: ServiceOutbox = { ...tempOutbox(), clock: { ...manualClock(), now: () => localMs } };
  const { entryId } = queueImport(outbox, 'K-1');
  const entry = (id = entryId): Entry => {
    const found = entryById(outbox, id);
    if (found === undefined) throw new Error('no such entry');
    return found;
  };
  const accountOf = (identCely: string): number =>
    rememberAccount(
      { ...outbox, username: `${identCely}@example.org` },
      { identCely, name: '', email: '', organisation: '', role: '' },
    );
  return {
    outbox,
    entry,
    at: (ms: number) => {
      localMs = ms;
    },
    /** Without an account as an earlier pas wrote it down, which did not ask whose token it used. */
    attempt: (identCely?: string) => {
      const accountId = identCely === undefined ? ACCOUNT_ID : accountOf(identCely);
      const id = openAttempt(outbox, entryId, { method: 'POST', path: '/x', accountId });
      if (identCely === undefined) outbox.sql('update attempts set account_id = null where id = ?').run(id);
    },
    look: (serverAt: number | null, verdict: EvidenceVerdict = 'undecided', basis = 'maybe-under-way') =>
      recordEvidence(outbox, entryId, { serverAt, verdict, basis, reason: 'x', candidates: [] }),
    /** How the last attempt ended. */
    close: (outcome: string, status: number, serverDateAt: number) => {
      const [id] = outbox.sql('select max(id) from attempts').pluck().all() as number[];
      closeAttempt(outbox, id ?? 0, { outcome, status, serverDateAt, reason: null });
    },
    window: (nowMs: number, offsetMs = 0, user?: string) =>
      windowOf({ outbox, settleMs: SETTLE, user }, entry(), { nowMs, offsetMs }),
  };
}

test('a clock that was days behind at the first look does not shorten the time that the service may take', () => {
  const { at, attempt, look, window } = story();
  at(NOON - 2 * DAY);
  attempt();
  at(NOON - 2 * DAY + 5000);
  look(NOON + 5000);
  at(NOON + 20_000);
  expect(window(NOON + 20_000).settledMs).toBe(NOON + 5000 + SETTLE);
});

test('what was made long after the first look was not made by an attempt before it', () => {
  const { outbox, attempt, look, window } = story();
  attempt();
  look(NOON + 5000);
  const bounds = () => {
    const { answeredMs, untilMs } = window(NOON + DAY);
    return [answeredMs, untilMs];
  };
  expect(bounds()).toEqual([NOON + 5000 + SETTLE, NOON + 5000 + SETTLE]);
  // That another find was answered later says no more.
  const other = queueImport(outbox, 'K-2');
  const answered = openAttempt(outbox, other.entryId, { method: 'POST', path: '/x', accountId: ACCOUNT_ID });
  closeAttempt(outbox, answered, { outcome: 'accepted', status: 201, serverDateAt: NOON + DAY / 2, reason: null });
  expect(bounds()).toEqual([NOON + 5000 + SETTLE, NOON + 5000 + SETTLE]);
});

test('an attempt that no answer of the service bounds may have been made at any time', () => {
  const { outbox, entry, attempt } = story();
  attempt();
  expect(earliestMs(outbox, entry(), { nowMs: NOON + DAY, offsetMs: 0 })).toBeUndefined();
  const other = queueImport(outbox, 'K-2');
  const answered = openAttempt(outbox, other.entryId, { method: 'POST', path: '/x', accountId: ACCOUNT_ID });
  closeAttempt(outbox, answered, { outcome: 'accepted', status: 201, serverDateAt: NOON, reason: null });
  expect(earliestMs(outbox, entry(), { nowMs: NOON + DAY, offsetMs: 0 })).toBe(NOON);
});

test('the accounts of its attempts are known only where that of each is', () => {
  const { attempt, window } = story();
  attempt('U-000001');
  attempt('U-000002');
  expect([...(window(NOON).accounts ?? [])]).toEqual(['U-000001', 'U-000002']);
  attempt();
  expect(window(NOON).accounts).toBeUndefined();
});

test('what another account queued was not sent by this one, as far as anybody knows, while an older copy was away', () => {
  const { outbox, entry, window } = story();
  const setDoubt = outbox.sql('update entries set doubt_from_at = ?, doubt_until_at = ? where id = ?');
  setDoubt.run(NOON - DAY, NOON, entry().id);
  expect([...(window(NOON, 0, 'U-000001').accounts ?? [])]).toEqual(['U-000001']);
  const jan = queueImport({ ...outbox, username: 'jan@example.org' }, 'K-2');
  setDoubt.run(NOON - DAY, NOON, jan.entryId);
  const doubted = entry(jan.entryId);
  const { accounts } = windowOf({ outbox, settleMs: SETTLE, user: 'U-000001' }, doubted, { nowMs: NOON, offsetMs: 0 });
  expect(accounts === undefined || [...accounts].some((account) => account !== 'U-000001')).toBe(true);
});

test('an entry that nobody is known to have tried may have been sent by anybody', () => {
  const { window } = story();
  expect(window(NOON, 0, 'U-000001').accounts).toBeUndefined();
});

test('a service whose clock was slow during the attempt alone is not done with it the sooner', () => {
  const { attempt, close, window } = story();
  attempt('U-000001');
  close('uncertain', 502, NOON - DAY);
  expect(window(NOON + 60_000).settledMs).toBe(NOON + SETTLE);
});

test('what the service itself has called failed is not being made any more', () => {
  const { attempt, close, window } = story();
  attempt('U-000001');
  close('uncertain', 500, NOON);
  expect(window(NOON + 60_000)).toMatchObject({ answeredMs: NOON, untilMs: NOON + SETTLE });
});

test('what anything else than the service itself has called failed may still be made', () => {
  const { attempt, close, window } = story();
  attempt('U-000001');
  close('uncertain', 502, NOON);
  expect(window(NOON + 60_000)).toMatchObject({ answeredMs: NOON + SETTLE, untilMs: NOON + SETTLE });
});

test('an answer that is clear counts by the service’s clock alone', () => {
  const { attempt, close, window } = story();
  attempt('U-000001');
  close('accepted', 201, NOON - DAY);
  expect(window(NOON + 60_000)).toMatchObject({ answeredMs: NOON - DAY + SETTLE, settledMs: NOON - DAY + SETTLE });
});

test('a failure counts from when it was told, by this machine’s clock as far as that is wrong now', () => {
  const { at, attempt, close, window } = story();
  attempt('U-000001');
  at(NOON + 2000);
  close('uncertain', 502, NOON - DAY);
  expect(window(NOON + 60_000, 10_000).settledMs).toBe(NOON + 12_000 + SETTLE);
});

test('several attempts may have taken effect from the first one on until the last one is over', () => {
  const { outbox, entry, at, attempt, close, window } = story();
  attempt('U-000001');
  close('uncertain', 502, NOON);
  at(NOON + 3_600_000);
  attempt('U-000001');
  close('uncertain', 502, NOON + 3_600_000);
  const end = NOON + 3_600_000 + SETTLE;
  expect(window(NOON + DAY)).toMatchObject({ fromMs: NOON, untilMs: end, answeredMs: end, settledMs: end });
  expect(earliestMs(outbox, entry(), { nowMs: NOON + DAY, offsetMs: 0 })).toBe(NOON);
});

test('one attempt that no answer bounds is enough for nothing to bound the entry', () => {
  const { outbox, entry, at, attempt, close } = story();
  at(NOON - DAY);
  attempt('U-000001');
  at(NOON);
  attempt('U-000001');
  close('uncertain', 502, NOON);
  expect(earliestMs(outbox, entry(), { nowMs: NOON + DAY, offsetMs: 0 })).toBeUndefined();
});

test('a doubt counts by the service’s clock, its begin as the earlier of the two and an open end as none', () => {
  const doubt = { fromMs: NOON, untilMs: NOON + DAY };
  const sure = { sure: true, bounded: true };
  expect(inServerTime(doubt, { nowMs: NOON, offsetMs: -3000 })).toEqual({
    ...{ fromMs: NOON - 3000, untilMs: NOON + DAY - 3000 },
    ...sure,
  });
  expect(inServerTime(doubt, { nowMs: NOON, offsetMs: 3000 })).toEqual({ fromMs: NOON, untilMs: NOON + DAY + 3000, ...sure });
  expect(inServerTime({ ...doubt, untilMs: OPEN_END_MS }, { nowMs: NOON, offsetMs: 3000 })).toEqual({
    ...{ fromMs: NOON, untilMs: Number.POSITIVE_INFINITY },
    ...sure,
  });
});

test('what was queued for whoever pushes was sent by the account that pushes now, as far as anybody knows', () => {
  const { outbox, entry, window } = story();
  outbox.sql("update entries set doubt_from_at = ?, doubt_until_at = ?, username = ''").run(NOON - DAY, NOON);
  expect(entry().username).toBe('');
  expect([...(window(NOON, 0, 'U-000001').accounts ?? [])]).toEqual(['U-000001']);
});

describe('the first look', () => {
  type Look = readonly [serverAt: number | null, verdict: EvidenceVerdict, basis: string];
  const HOUR = 3_600_000;
  const lookedAt = (looks: readonly Look[]) => {
    const { attempt, look, window } = story();
    attempt();
    for (const each of looks) look(...each);
    return (window(NOON + DAY).untilMs - SETTLE - NOON) / HOUR;
  };

  test('counts, whatever later ones found out', () => {
    expect(
      lookedAt([
        [NOON + HOUR, 'undecided', 'a'],
        [NOON + 2 * HOUR, 'undecided', 'b'],
        [NOON + 3 * HOUR, 'undecided', 'c'],
      ]),
    ).toBe(1);
  });

  test.each(['absent', 'person'] as const)('is the one after what settled it before: %s', (verdict) => {
    const settled: Look[] = [
      [NOON + HOUR, 'undecided', 'a'],
      [NOON + 2 * HOUR, verdict, 'b'],
    ];
    expect(lookedAt([...settled, [NOON + 3 * HOUR, 'undecided', 'c']])).toBe(3);
    expect(lookedAt(settled)).toBe(24);
  });

  test('is one that the service answered', () => {
    expect(
      lookedAt([
        [null, 'undecided', 'not-looked-up'],
        [NOON + 2 * HOUR, 'undecided', 'b'],
      ]),
    ).toBe(2);
  });
});
