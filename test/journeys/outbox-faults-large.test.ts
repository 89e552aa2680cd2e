import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { eventually } from '../support/eventually.ts';
import { findStates } from '../support/find-states.ts';
import { expectDone, type Home, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { useMockProcess } from '../support/use-mock.ts';

/** What waits, and as much that was sent before: every push harvests all of that before it begins. */
const [ACCEPTED, WAITING] = [2000, 2000];
const [MOMENTS, LAST_MS] = [10, 2500];

const mock = useMockProcess('--min-interval', '0');

/** Seconds of processor time that a push takes. */
async function pushMeasured(home: Home, ...args: string[]): Promise<number> {
  const told = join(home.folder, 'cpu.txt');
  const hook = `import fs from 'node:fs'; process.on('exit', () => {
    const { userCPUTime, systemCPUTime } = process.resourceUsage();
    fs.writeFileSync(${JSON.stringify(told)}, String((userCPUTime + systemCPUTime) / 1e6)); });`;
  const measured = home.with({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hook)}` });
  await expectDone(measured.start('push', ...args).ended);
  return Number(readFileSync(told, 'utf8'));
}

type Heard = { readonly afterMs: number; readonly heardMs: number; readonly code: number | null; readonly signal: string | null };

/** Presses Ctrl-C so long after a push has been started. */
async function interrupted(home: Home, afterMs: number): Promise<Heard> {
  const push = home.start('push');
  const startedMs = performance.now();
  await eventually(() => performance.now() - startedMs).toBeGreaterThan(afterMs);
  const sentMs = performance.now();
  push.child.kill('SIGINT');
  const said = push.until(({ stderr }) => stderr.includes('Finishing what is under way'));
  // It may end without a word.
  await said.catch(() => push.ended);
  const heardMs = performance.now() - sentMs;
  const { code, signal } = await push.ended;
  return { afterMs, heardMs, code, signal };
}

test('A push of a whole season begins at once, and hears Ctrl-C at any moment.', async () => {
  const home = await signedIn(mock.service, 'archaeologist', [...WITHOUT_PAUSES, '--index-allowance-ms', '0']);
  await expectDone(home.pas('import', writeSeason(home, ACCEPTED + WAITING)));
  await mock.service.faults({ endpoint: 'import', fault: '500-after-save', when: { nth: 5 }, times: 1 });
  await expectDone(home.pas('push', '--limit', String(ACCEPTED)));
  const processorSeconds = await pushMeasured(home, '--limit', '1');
  // Quadratic as it was, it took 30 s for a quarter of it.
  expect(processorSeconds).toBeLessThan(5);

  const heard: Heard[] = [];
  for (let part = 0; part < MOMENTS; part += 1) heard.push(await interrupted(home, (LAST_MS * (part + Math.random())) / MOMENTS));
  // Before pas has begun, the system ends it.
  const ends = heard.map(({ code, signal }) => code ?? signal);
  expect(ends.filter((end) => end !== 130 && end !== 'SIGINT')).toEqual([]);
  const byTime = heard.map(({ heardMs }) => heardMs).toSorted((one, other) => one - other);
  expect(byTime[MOMENTS / 2], JSON.stringify(heard)).toBeLessThan(300);
  // Other tests run beside this one.
  expect(byTime.at(-1), JSON.stringify(heard)).toBeLessThan(2000);

  // Nothing was sent twice, and nothing is in doubt: what was under way was finished.
  const states = Object.values(await findStates(home));
  expect(new Set(states)).toEqual(new Set(['accepted', 'queued']));
  expect(await mock.made()).toMatchObject({ finds: states.filter((state) => state === 'accepted').length });
});
