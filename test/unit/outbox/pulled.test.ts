import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { packageRoot } from '../../../src/base/package-root.ts';
import { insertFind } from '../../../src/outbox/finds.ts';
import { openOutbox } from '../../../src/outbox/outbox.ts';
import { completePull, noteUnchanged, pulledRecord, pullWatermarkMs, rememberSighting } from '../../../src/outbox/pulled.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { PROFILE, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const shown = (stav: number) => ({
  ...({ identCely: IDENT, standing: 'shown', datestampMs: 1000 + stav, shown: { stav, record: { stav, note: 'x' } } } as const),
});

describe('what was pulled of a record', () => {
  test('is kept for each profile', () => {
    using outbox = tempOutbox();
    expect(pulledRecord(outbox, PROFILE, IDENT)).toBeUndefined();
    rememberSighting(outbox, PROFILE, shown(2));
    expect(pulledRecord(outbox, PROFILE, IDENT)).toMatchObject({ standing: 'shown', stav: 2, record: { stav: 2, note: 'x' } });
    expect(pulledRecord(outbox, 'other', IDENT)).toBeUndefined();
  });

  test.each(['withheld', 'deleted', 'missing'] as const)(
    'stays as it was last shown while the record is %s',
    async (standing) => {
      const clock = manualClock(1_000_000);
      using outbox = tempOutbox(clock);
      rememberSighting(outbox, PROFILE, shown(1));
      await clock.advance(5000);
      rememberSighting(outbox, PROFILE, { identCely: IDENT, standing, datestampMs: null });
      await clock.advance(5000);
      rememberSighting(outbox, PROFILE, { identCely: IDENT, standing, datestampMs: null });
      expect(pulledRecord(outbox, PROFILE, IDENT)).toMatchObject({
        ...{ standing, stav: 1, record: { stav: 1 }, sinceMs: 1_005_000, seenMs: 1_010_000 },
      });
    },
  );

  test('is noted as looked for when nothing changed', async () => {
    const clock = manualClock(1_000_000);
    using outbox = tempOutbox(clock);
    rememberSighting(outbox, PROFILE, shown(1));
    await clock.advance(7000);
    noteUnchanged(outbox, PROFILE, IDENT);
    expect(pulledRecord(outbox, PROFILE, IDENT)).toMatchObject({ stav: 1, sinceMs: 1_000_000, seenMs: 1_007_000 });
  });
});

test('the watermark belongs to its profile and moves', () => {
  using outbox = tempOutbox();
  expect(pullWatermarkMs(outbox, PROFILE)).toBeUndefined();
  completePull(outbox, PROFILE, 5);
  completePull(outbox, PROFILE, 9);
  expect([pullWatermarkMs(outbox, PROFILE), pullWatermarkMs(outbox, 'other')]).toEqual([9, undefined]);
});

test('an outbox of the first release is brought on with everything in it', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  const old = new Sqlite(path);
  old.exec(readFileSync(join(packageRoot, 'schemas', 'outbox', '000001_outbox.sql'), 'utf8'));
  old.pragma('user_version = 1');
  old.prepare(`insert into finds (local_id, elements, created_at, updated_at) values ('K-1', '{}', 1, 1)`).run();
  old.close();
  const outbox = openOutbox(path, manualClock());
  insertFind(outbox, { localId: 'K-2', elements: {} });
  rememberSighting(outbox, PROFILE, shown(3));
  expect(outbox.sql('select local_id from finds order by id').pluck().all()).toEqual(['K-1', 'K-2']);
  expect(outbox.sql('select count(*) from outbox_overview').pluck().get()).toBe(0);
  outbox.close();
});
