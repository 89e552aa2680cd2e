import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { findStates } from '../support/find-states.ts';
import { type Home, type Run, type Started, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const FINDS = 8;
const ANSWER_TIMEOUT_MS = 2000;
/** Windows cannot stop a process from outside. */
const CANNOT_STOP = process.platform === 'win32';

const mock = useMock();

async function homeWithFinds(): Promise<Home> {
  const home = await signedIn(mock.service, [
    '--set',
    'min_interval_ms=10',
    '--set',
    `answer_timeout_ms=${ANSWER_TIMEOUT_MS}`,
  ]);
  await importSeason(home, FINDS);
  return home;
}

/**
 * Stops the process when `isTime`, and lets it go on when the service is done and the answer
 * timeout is long over.
 */
async function paused(
  { child, ended }: Started,
  isTime: () => Promise<void>,
  isDone: () => Promise<void>,
): Promise<Run> {
  await isTime();
  child.kill('SIGSTOP');
  const stoppedMs = performance.now();
  await isDone();
  await eventually(() => performance.now() - stoppedMs).toBeGreaterThan(2 * ANSWER_TIMEOUT_MS);
  child.kill('SIGCONT');
  return ended;
}

const imports = async (): Promise<number> =>
  (await mock.service.journal()).filter(
    ({ method, path }) => method === 'POST' && /import/.test(path),
  ).length;

test.skipIf(CANNOT_STOP)(
  'a push that was suspended for longer than the answer timeout accepts the answers that arrived meanwhile',
  async () => {
    const home = await homeWithFinds();
    await mock.service.settings({ latency_ms: 800 });
    const run = await paused(
      home.start('push'),
      () => eventually(imports).toBe(FINDS),
      () => eventually(mock.made).toMatchObject({ finds: FINDS }),
    );
    const names = Array.from({ length: FINDS }, (_, index) => `K-${index + 1}`);
    const allAccepted = Object.fromEntries(names.map((name) => [name, 'accepted']));
    const doubted = [...run.stderr.matchAll(/^import of (\S+): Nobody knows yet/gm)].map(
      ([, name]) => name,
    );
    const states = await findStates(home);
    expect({ code: run.code, doubted, states }).toEqual({
      code: 0,
      doubted: [],
      states: allAccepted,
    });
    expect(await mock.made()).toMatchObject({ finds: FINDS });
  },
);
