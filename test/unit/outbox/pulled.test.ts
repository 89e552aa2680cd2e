import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openOutbox } from '../../../src/outbox/open-outbox.ts';
import { completePull, noteUnchanged, pulledRecord, pullWatermarkMs, rememberStanding } from '../../../src/outbox/pulled.ts';
import { openService } from '../../../src/outbox/services.ts';
import { insertFind } from '../../../src/outbox/stored-finds.ts';
import { earlierOutbox } from '../../support/earlier-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ADDRESS, asSeenBy, tempFolder, tempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const shown = (stav: number) => ({
  ...({ identCely: IDENT, standing: 'shown', datestampMs: 1000 + stav, shown: { stav, record: { stav, note: 'x' } } } as const),
});

describe('what was pulled of a record', () => {
  test('is kept for each account of a service, since one may be shown what another is not', () => {
    using outbox = tempOutbox();
    expect(pulledRecord(outbox, IDENT)).toBeUndefined();
    rememberStanding(outbox, shown(2));
    expect(pulledRecord(outbox, IDENT)).toMatchObject({ standing: 'shown', stav: 2, record: { stav: 2, note: 'x' } });
    expect(pulledRecord(asSeenBy(outbox, { address: 'https://other.example.org' }), IDENT)).toBeUndefined();
    const colleague = asSeenBy(outbox, { username: 'jan@example.org' });
    expect(pulledRecord(colleague, IDENT)).toBeUndefined();
    rememberStanding(colleague, { identCely: IDENT, standing: 'withheld', datestampMs: 1 });
    noteUnchanged(colleague, IDENT);
    expect([outbox, colleague].map((each) => pulledRecord(each, IDENT)?.standing)).toEqual(['shown', 'withheld']);
  });

  test.each(['withheld', 'deleted', 'missing'] as const)(
    'stays as it was last shown while the record is %s',
    async (standing) => {
      const clock = manualClock(1_000_000);
      using outbox = tempOutbox(clock);
      rememberStanding(outbox, shown(1));
      await clock.advance(5000);
      rememberStanding(outbox, { identCely: IDENT, standing, datestampMs: null });
      await clock.advance(5000);
      rememberStanding(outbox, { identCely: IDENT, standing, datestampMs: null });
      expect(pulledRecord(outbox, IDENT)).toMatchObject({
        ...{ standing, stav: 1, record: { stav: 1 }, sinceMs: 1_005_000, seenMs: 1_010_000 },
      });
    },
  );

  test('is noted as looked for when nothing changed', async () => {
    const clock = manualClock(1_000_000);
    using outbox = tempOutbox(clock);
    rememberStanding(outbox, shown(1));
    await clock.advance(7000);
    noteUnchanged(outbox, IDENT);
    expect(pulledRecord(outbox, IDENT)).toMatchObject({ stav: 1, sinceMs: 1_000_000, seenMs: 1_007_000 });
  });
});

test('the watermark belongs to one account of its service, which is shown what others are not, and moves', () => {
  using outbox = tempOutbox();
  expect(pullWatermarkMs(outbox)).toBeUndefined();
  completePull(outbox, 5);
  completePull(outbox, 9);
  const others = [{ address: 'https://other.example.org' }, { username: 'jan@example.org' }, { username: '' }];
  expect([outbox, ...others.map((other) => asSeenBy(outbox, other))].map(pullWatermarkMs)).toEqual([
    ...[9, undefined, undefined, undefined],
  ]);
});

test('an outbox of the first release is brought on with everything in it', () => {
  const path = join(tempFolder(), 'outbox.sqlite');
  const old = earlierOutbox(path, 1);
  old.prepare(`insert into finds (local_id, elements, created_at, updated_at) values ('K-1', '{}', 1, 1)`).run();
  old.close();
  const outbox = openService(openOutbox(path, manualClock()), { address: ADDRESS, username: USERNAME });
  insertFind(outbox, { localId: 'K-2', elements: {} });
  rememberStanding(outbox, shown(3));
  expect(outbox.sql('select local_id from finds order by id').pluck().all()).toEqual(['K-1', 'K-2']);
  expect(outbox.sql('select count(*) from outbox_overview').pluck().get()).toBe(0);
  outbox.close();
});
