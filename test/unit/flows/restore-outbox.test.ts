import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError } from '../../../src/base/errors.ts';
import { restoreOutbox } from '../../../src/flows/reconcile/restore-outbox.ts';
import { backUpOutbox } from '../../../src/outbox/backup-copy.ts';
import { openOutbox } from '../../../src/outbox/open-outbox.ts';
import { addOldEntry, earlierOutbox, PROFILES } from '../../support/earlier-outbox.ts';
import { canLimitFiles, withFilesUpTo } from '../../support/file-limit.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const DAMAGED = 'what a broken drive left of an outbox. '.repeat(100);

// Continuous integration runs where this can be done.
test.skipIf(!canLimitFiles && process.env['CI'] === undefined)(
  'a backup that is put back on a disk that is full at any byte is in doubt as a whole, or what was there stays',
  async () => {
    const clock = manualClock();
    const backup = join(tempFolder(), 'backup.sqlite');
    {
      using outbox = tempOutbox(clock);
      for (let n = 0; n < 60; n += 1) queueImport(outbox, `K-${n}`);
      backUpOutbox(outbox.path, backup, clock);
    }
    const { size } = statSync(backup);
    const outcomes = new Set<string>();
    for (let halfPages = -4; halfPages <= 20; halfPages += 1) {
      const home = tempFolder();
      const outboxFile = join(home, 'outbox.sqlite');
      writeFileSync(outboxFile, DAMAGED);
      const restored = withFilesUpTo(size + halfPages * 2048, () =>
        restoreOutbox({
          ...{ backup, outboxFile, clock, photosFolder: join(home, 'photos'), profiles: [] },
          openPresent: () => Promise.reject(new Error('it is damaged')),
          ...{ replace: true, nothingSent: false, takeOver: false, onPhotograph: () => {} },
        }),
      );
      const outcome = await restored.catch((thrown: unknown) => thrown);
      if (outcome instanceof DatabaseError) {
        outcomes.add('refused');
        expect(readFileSync(outboxFile, 'utf8')).toBe(DAMAGED);
        continue;
      }
      outcomes.add('restored');
      expect(outcome).toMatchObject({ doubtful: { length: 60 } });
      const outbox = openOutbox(outboxFile, clock);
      const states = outbox.sql('select state, count(*) from entries group by state').raw().all();
      const gaps = outbox.sql('select count(*) from gaps').pluck().get();
      outbox.close();
      expect([states, gaps]).toEqual([[['uncertain', 60]], 1]);
    }
    expect([...outcomes]).toEqual(['refused', 'restored']);
  },
);

test('of a find that an earlier pas had under two names of one service, one import is in doubt once its backup is put back', async () => {
  const clock = manualClock();
  const backup = join(tempFolder(), 'backup.sqlite');
  const old = earlierOutbox(backup, 9);
  for (const profile of ['field', 'twin']) addOldEntry(old, { find: 'K-1', profile, kind: 'import', state: 'queued' });
  old.close();
  const home = tempFolder();
  const outboxFile = join(home, 'outbox.sqlite');
  const { doubtful } = await restoreOutbox({
    ...{ backup, outboxFile, clock, photosFolder: join(home, 'photos'), profiles: PROFILES },
    openPresent: async () => openOutbox(outboxFile, clock),
    ...{ replace: false, nothingSent: false, takeOver: false, onPhotograph: () => {} },
  });
  expect(doubtful).toHaveLength(1);
  const outbox = openOutbox(outboxFile, clock);
  expect(
    outbox.sql(`select local_id, state from entries join finds on finds.id = find_id order by entries.id`).raw().all(),
  ).toEqual([
    ['K-1', 'uncertain'],
    ['K-1', 'dropped'],
  ]);
  outbox.close();
});

test('outboxes that are replaced within one second are all kept', async () => {
  const clock = manualClock();
  const backup = join(tempFolder(), 'backup.sqlite');
  {
    using outbox = tempOutbox(clock);
    queueImport(outbox, 'K-1');
    backUpOutbox(outbox.path, backup, clock);
  }
  const home = tempFolder();
  const outboxFile = join(home, 'outbox.sqlite');
  for (const damaged of ['first', 'second', 'third']) {
    writeFileSync(outboxFile, `${DAMAGED}${damaged}`);
    await restoreOutbox({
      ...{ backup, outboxFile, clock, photosFolder: join(home, 'photos'), profiles: [] },
      openPresent: () => Promise.reject(new Error('it is damaged')),
      ...{ replace: true, nothingSent: false, takeOver: false, onPhotograph: () => {} },
    });
  }
  const kept = readdirSync(home).filter((name) => name.startsWith('outbox-replaced-'));
  expect(kept.map((name) => readFileSync(join(home, name), 'utf8').slice(DAMAGED.length)).sort()).toEqual([
    'first',
    'second',
    'third',
  ]);
});
