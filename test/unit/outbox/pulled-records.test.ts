import { describe, expect, test } from 'vitest';
import {
  findPulledRecord,
  getPullWatermarkMs,
  storePulledRecord,
  storePullWatermark,
  storeSeenTime,
} from '../../../src/outbox/views/records-at-service.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const shown = (stav: number) => ({
  ...({
    identCely: IDENT,
    standing: 'shown',
    datestampMs: 1000 + stav,
    shown: { stav, record: { stav, note: 'x' } },
  } as const),
});

describe('the pulled copy of a record', () => {
  test('is its last shown version', () => {
    using outbox = tempOutbox();
    expect(findPulledRecord(outbox, IDENT)).toBeUndefined();
    storePulledRecord(outbox, shown(2));
    expect(findPulledRecord(outbox, IDENT)).toMatchObject({
      standing: 'shown',
      stav: 2,
      record: { stav: 2, note: 'x' },
    });
    expect(findPulledRecord(outbox, 'C-202400101-N00002')).toBeUndefined();
  });

  test.each(['withheld', 'deleted', 'missing'] as const)(
    'stays as it was last shown while the record is %s',
    async (standing) => {
      const clock = manualClock(1_000_000);
      using outbox = tempOutbox(clock);
      storePulledRecord(outbox, shown(1));
      await clock.advance(5000);
      storePulledRecord(outbox, { identCely: IDENT, standing, datestampMs: null });
      await clock.advance(5000);
      storePulledRecord(outbox, { identCely: IDENT, standing, datestampMs: null });
      expect(findPulledRecord(outbox, IDENT)).toMatchObject({
        standing,
        stav: 1,
        record: { stav: 1 },
        sinceMs: 1_005_000,
        seenMs: 1_010_000,
      });
    },
  );

  test('is recorded as checked when nothing changed', async () => {
    const clock = manualClock(1_000_000);
    using outbox = tempOutbox(clock);
    storePulledRecord(outbox, shown(1));
    await clock.advance(7000);
    storeSeenTime(outbox, IDENT);
    expect(findPulledRecord(outbox, IDENT)).toMatchObject({
      stav: 1,
      sinceMs: 1_000_000,
      seenMs: 1_007_000,
    });
  });
});

test('the watermark of the pulls moves', () => {
  using outbox = tempOutbox();
  expect(getPullWatermarkMs(outbox)).toBeUndefined();
  storePullWatermark(outbox, 5);
  storePullWatermark(outbox, 9.5);
  expect(getPullWatermarkMs(outbox)).toBe(9);
});
