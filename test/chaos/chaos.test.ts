import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type MockProcess, startMockProcess } from '../support/mock-process.ts';
import { canNameMachines, namedMachine } from '../support/named-machine.ts';
import { addressFlags, expectDone, type Home, type Service, signedIn } from '../support/run-pas.ts';
import { OWN_MACHINE } from './copies.ts';
import { playRound } from './round.ts';
import { homeOf } from './senders.ts';
import { PROFILE_FLAGS, type Stage } from './stage.ts';
import { emptyTally } from './tally.ts';

const ROUNDS = Number(process.env['CHAOS_ROUNDS'] ?? 40);
const SEED = Number(process.env['CHAOS_SEED'] ?? 1);
const FROM = Number(process.env['CHAOS_FROM'] ?? 0);
/** A home and a server are used for this many rounds. */
const ROUNDS_A_STAGE = 20;

// What may be killed, and what runs beside another, is a process of its own.
hostRuns();

test(`${ROUNDS} rounds of faults and kills end with everything at the service exactly once`, async () => {
  const tally = emptyTally();
  for (let first = FROM; first < FROM + ROUNDS; first += ROUNDS_A_STAGE) {
    const { stage, close } = await openStage();
    for (let round = first; round < Math.min(first + ROUNDS_A_STAGE, FROM + ROUNDS); round += 1) {
      const seed = SEED * 100_003 + round;
      try {
        await playRound(stage, round, seed, tally);
      } catch (thrown) {
        throw new Error(`round ${round} failed; play it again with: npm run chaos -- --rounds 1 --seed ${SEED} --from ${round}`, {
          cause: thrown,
        });
      }
    }
    await close();
  }
  process.stdout.write(`chaos: ${JSON.stringify(tally)}\n`);
  expect(tally.rounds).toBe(ROUNDS);
});

async function openStage(): Promise<{ stage: Stage; close: () => Promise<void> }> {
  const data = join(mkdtempSync(join(tmpdir(), 'pas-chaos-')), 'mock.sqlite');
  const port = String(await freePort());
  const start = (): Promise<MockProcess> => startMockProcess('--data', data, '--port', port, '--min-interval', '8');
  let service = await start();
  const other = await startMockProcess();
  const home = (await signedIn(service, 'archaeologist', PROFILE_FLAGS)).with(canNameMachines ? namedMachine(OWN_MACHINE) : {});
  // It was made on a machine of another name.
  await expectDone(home.pas('push', '--moved'));
  await addSecondProfile(service, home);
  const restartService = async (): Promise<void> => {
    const ended = new Promise((resolve) => service.child.once('exit', resolve));
    service.child.kill('SIGKILL');
    await ended;
    service = await start();
  };
  const close = async (): Promise<void> => void (await Promise.all([service.stop(), other.stop()]));
  return { stage: { home, other, service: () => service, restartService }, close };
}

/** Another account of the same service; the first profile stays the home's default. */
async function addSecondProfile(service: Service, home: Home): Promise<void> {
  await expectDone(
    home.pas(
      ...['init', '--name', 'second', '--kind', 'training', '--username', 'researcher', '--oai-auth', 'basic'],
      ...addressFlags(service),
      ...PROFILE_FLAGS,
    ),
  );
  await expectDone(home.pas('profile', 'use', 'mock'));
  await expectDone(homeOf(home, 'second').pas('login'));
}
