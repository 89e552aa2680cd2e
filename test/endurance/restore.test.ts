import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findStates } from '../support/find-states.ts';
import { everythingIn } from '../support/hostile-disk.ts';
import { homeWithoutNetwork } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';

test('a restore that is killed at any moment leaves either the old outbox or the new one, complete', async () => {
  const home = await homeWithoutNetwork();
  const copy = join(home.folder, 'copy.sqlite');
  await importSeason(home, 40);
  await home.do('backup', copy);
  await importSeason(home, 60);
  // Later and later, from before it has read the copy until it has ended.
  for (let turn = 0; turn < 16; turn += 1) {
    const running = home.start('restore', copy, '--yes');
    await Promise.race([
      running.ended,
      new Promise((resolve) => setTimeout(resolve, 100 + turn * 25)),
    ]);
    running.child.kill('SIGKILL');
    await running.ended;
    const states = Object.values(await findStates(home));
    expect([40, 60]).toContain(states.length);
    if (states.length === 40) break;
  }
  await home.do('restore', copy, '--yes');
  expect(Object.keys(await findStates(home))).toHaveLength(40);
  expect(existsSync(copy)).toBe(true);
  const drafts = everythingIn(join(home.folder, 'pas')).filter((path) =>
    path.includes('restoring-'),
  );
  expect(drafts.length).toBeLessThanOrEqual(16);
  await home.do('doctor', '--offline');
});
