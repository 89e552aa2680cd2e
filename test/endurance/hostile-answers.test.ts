import { createServer } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import type { Runtime } from '../../src/cli/context/context.ts';
import { runCommandLine } from '../../src/cli/main.ts';
import { eventually } from '../support/eventually.ts';
import { manualClock } from '../support/manual-clock.ts';
import { listen } from '../support/raw-server.ts';
import { makeHome, serviceAt } from '../support/run-pas.ts';

test('doctor ends against a service that accepts connections and never answers, and names what it could not check', async () => {
  await using silent = await listen(createServer());
  const home = makeHome();
  await home.init(serviceAt(silent.url), '--name', 'odd');
  const begunMs = Date.now();
  const clock = manualClock(begunMs);
  const stdout = new PassThrough();
  const streams = {
    stdin: new PassThrough(),
    stdout,
    stderr: new PassThrough(),
  } as unknown as Runtime['streams'];
  const run = runCommandLine(['doctor', '--json'], {
    environment: home.env,
    streams,
    cwd: home.folder,
    overrides: { clock },
  });
  // Both interfaces have been asked for a whole minute.
  for (const askedCount of [1, 2]) {
    await eventually(() => clock.advance(100).then(silent.connections)).toBe(askedCount);
    await clock.advance(60_000);
  }
  const code = await run;
  expect(clock.now() - begunMs).toBeLessThan(150_000);
  const { checks } = JSON.parse(String(stdout.read())) as {
    checks: readonly { name: string; level: string }[];
  };
  expect(checks.find(({ name }) => name === 'service')?.level).toBe('problem');
  expect(checks.find(({ name }) => name === 'harvesting')?.level).toBe('problem');
  expect(code).toBe(5);
});
