import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';

test('the pictures of a session show what is printed now', () => {
  const run = spawnSync(process.execPath, ['scripts/pictures.mjs', '--check'], {
    cwd: PROJECT,
    encoding: 'utf8',
  });
  expect([run.status, run.stderr]).toEqual([0, '']);
});
