import type { Home } from '../support/run-pas.ts';
import { writeByHand } from './by-hand.ts';
import { expectEachOnce } from './each-once.ts';
import { finish } from './finish.ts';
import { openLaptop } from './laptop.ts';
import { planFinds, queueFinds, twinsAmong } from './planned.ts';
import { type Random, seededRandom } from './random.ts';
import { homeOf, SENDERS, type Sender } from './senders.ts';
import { must, pause, type Stage } from './stage.ts';
import type { Tally } from './tally.ts';

const WRITE_FAULTS = [
  '500-before-save',
  '500-after-save',
  'hang-before-save',
  'hang-after-save',
  'reset-before-save',
  'reset-after-save',
  'truncate',
  'malformed',
  '502',
  '504',
  '503',
  'throttle',
  'token-expired',
] as const;

type FaultRule = Record<string, unknown>;

/** So that what was added to a round later has its own chances, and leaves those of the faults and kills as they were. */
const DICE = 0x5bd1e995;

/** One story: finds are queued, pushed among faults and kills, and finished in peace; then the server is asked what it has. */
export async function playRound(stage: Stage, round: number, seed: number, tally: Tally): Promise<void> {
  const [random, dice] = [seededRandom(seed), seededRandom(seed ^ DICE)];
  const planned = planFinds(round, random, dice);
  const laptop = openLaptop(stage.home, dice, tally);
  const senders = SENDERS.filter((sender) => planned.some((find) => find.senders.includes(sender)));
  for (const sender of senders) {
    const finds = planned.filter((find) => find.senders.includes(sender));
    await queueFinds(homeOf(laptop.atRest, sender), round, finds);
  }
  const faults = [...drawFaults(random, tally), ...(twinsAmong(planned) > 0 ? twinTrouble(dice) : [])];
  await stage.service().faults(...faults);
  await setIndexDelay(stage, random, tally);
  const pushes = random.between(1, 3);
  const colleagueAt = dice.chance(0.35) ? dice.between(0, pushes) : undefined;
  const byHand: string[] = [];
  const colleague = async (): Promise<void> => {
    await inPeace(stage);
    byHand.push(await writeByHand(stage, planned, dice));
  };
  for (let index = 0; index < pushes; index += 1) {
    if (index === colleagueAt) {
      await colleague();
      await stage.service().faults(...faults);
    }
    const sender = senders.length === 1 ? (senders[0] as Sender) : dice.pick(senders);
    await disturbedPush(stage, homeOf(laptop.next(), sender), random, tally);
  }
  if (colleagueAt === pushes) await colleague();
  await inPeace(stage);
  await finish(stage, laptop.atRest, senders, planned, tally);
  await expectEachOnce(stage, laptop.atRest, planned, byHand);
  tally.rounds += 1;
  tally.finds += planned.length;
  tally.secondProfiles += senders.includes('second') ? 1 : 0;
  tally.shared += planned.filter((find) => find.senders.length > 1).length;
  tally.byHand += byHand.length;
  tally.twins += twinsAmong(planned);
  tally.photos += planned.reduce((sum, { photos }) => sum + photos.length, 0);
  tally.numbers += planned.filter(({ number }) => number !== undefined).length;
}

async function inPeace({ service }: Stage): Promise<void> {
  await service().faults();
  await service().control('PUT', '/settings', { access_mode: 'open' });
}

function drawFaults(random: Random, tally: Tally): FaultRule[] {
  return Array.from({ length: random.between(1, 4) }, () => {
    const endpoint = random.pick(['import', 'import', 'photo', 'number'] as const);
    const fault = endpoint !== 'import' && random.chance(0.15) ? 'lock' : random.pick(WRITE_FAULTS);
    tally.faults[fault] = (tally.faults[fault] ?? 0) + 1;
    const when = random.chance(0.5) ? { nth: random.between(1, 4) } : { probability: 0.5, seed: random.between(1, 1e6) };
    const wait = fault === 'throttle' && random.chance(0.3) ? { retry_after: 1 } : {};
    return { endpoint, fault, when, times: random.between(1, 2), ...wait };
  });
}

/** So that often two of them are in doubt at once, of which the service has none, one or both. */
function twinTrouble(dice: Random): FaultRule[] {
  return dice
    .pick([['500-after-save'], ['500-before-save'], ['500-before-save', 'reset-after-save'], []] as const)
    .map((fault) => ({ endpoint: 'import', fault, when: { probability: 0.7, seed: dice.between(1, 1e6) }, times: 2 }));
}

/** New records are listed late, but sooner than the profile allows for. */
async function setIndexDelay(stage: Stage, random: Random, tally: Tally): Promise<void> {
  if (!random.chance(0.3)) return;
  await stage.service().control('PUT', '/settings', { index_delay_ms: random.between(200, 1000) });
  tally.lateIndexes += 1;
}

/** A push that may be killed at any moment, with a server that may be killed, too. */
async function disturbedPush(stage: Stage, home: Home, random: Random, tally: Tally): Promise<void> {
  if (random.chance(0.1)) {
    await stage.service().control('POST', '/clock', { advance_ms: random.pick([1000, 3_600_000, 25 * 3_600_000]) });
    tally.clockJumps += 1;
  }
  const running = home.start('push', '--json');
  tally.pushes += 1;
  const ended = running.ended;
  if (random.chance(0.15)) {
    await pause(random.between(150, 900));
    await stage.restartService();
    tally.serverKills += 1;
  }
  if (random.chance(0.7)) {
    await Promise.race([ended, pause(random.between(120, 700))]);
    if (running.child.exitCode === null && running.child.kill('SIGKILL')) tally.kills += 1;
  }
  const run = await ended;
  if (run.signal === null) must(run, [0, 3, 5, 6, 15]);
}
