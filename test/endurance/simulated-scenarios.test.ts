import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT } from '../support/run-pas.ts';

/** @returns the digest of all that happened in the first forty scenarios */
function runTraces(jobs: number, env: Readonly<Record<string, string>>): string {
  const args = [join(PROJECT, 'test/simulation/run.mjs'), '--seeds', '40', '--jobs', String(jobs)];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  const [, digest] = /^40 scenarios from seed 1 .* traces ([\da-f]{16})$/m.exec(stdout) ?? [];
  if (digest === undefined) throw new Error(stdout + stderr);
  return digest;
}

test('a simulated scenario is identical to the byte on every machine and in every process', () => {
  const here = runTraces(1, { TZ: 'UTC', LANG: 'C' });
  expect(
    runTraces(2, { TZ: 'Asia/Tokyo', LANG: 'cs_CZ.UTF-8', LC_ALL: 'cs_CZ.UTF-8', PAS_LANG: 'cs' }),
  ).toBe(here);
});
