import { canLimitFiles, limitFiles } from '../support/file-limit.ts';
import { expectDone, type Home, type Started } from '../support/run-pas.ts';
import { writeByHand } from './by-hand.ts';
import { Copies, type InUse, logWrittenMs } from './copies.ts';
import { expectEachOnce } from './each-once.ts';
import { finish } from './finish.ts';
import { openLaptop } from './laptop.ts';
import { type Planned, planFinds, queueFinds, twinsAmong } from './planned.ts';
import { type Random, seededRandom } from './random.ts';
import { repoint } from './repoint.ts';
import { homeOf, SENDERS, type Sender, SIGNED_IN_BY, signedInBy } from './senders.ts';
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
const MORE_DICE = 0x1b873593;
const COPY_DICE = 0x27d4eb2f;

/** How a push may end, 11 where another copy is pushed. */
/** A token that was lent and runs out ends its push with 4. */
const PUSH_CODES = [0, 3, 4, 5, 6, 11, 15];

/** One story: finds are queued, pushed among faults and kills, and finished in peace; then the server is asked what it has. */
export async function playRound(stage: Stage, round: number, seed: number, tally: Tally): Promise<void> {
  const [random, dice, more] = [seededRandom(seed), seededRandom(seed ^ DICE), seededRandom(seed ^ MORE_DICE)];
  const copyDice = seededRandom(seed ^ COPY_DICE);
  let planned: readonly Planned[] = planFinds(round, random, dice);
  const laptop = openLaptop(dice, tally);
  const own = laptop.atRest(stage.home);
  const senders = SENDERS.filter((sender) => planned.some((find) => find.senders.includes(sender)));
  for (const sender of senders) {
    const finds = planned.filter((find) => find.senders.includes(sender));
    await queueFinds(homeOf(own, sender), round, finds);
  }
  const copies = new Copies(own, round, copyDice, tally);
  const faults = [
    ...oddAnswerOf(round, copyDice, tally),
    ...drawFaults(random, tally),
    ...(twinsAmong(planned) > 0 ? twinTrouble(dice) : []),
  ];
  await stage.service().faults(...faults);
  await setIndexDelay(stage, random, copyDice, tally);
  const pushes = random.between(1, 3);
  const colleagueAt = dice.chance(0.35) ? dice.between(0, pushes) : undefined;
  const byHand: string[] = [];
  const colleague = async (): Promise<void> => {
    await inPeace(stage);
    byHand.push(await writeByHand(stage, planned, dice));
  };
  await copies.next('none');
  for (let index = 0; index < pushes; index += 1) {
    if (index === colleagueAt) {
      await colleague();
      await stage.service().faults(...faults);
    }
    const sender = senders.length === 1 ? (senders[0] as Sender) : dice.pick(senders);
    const how = more.pick(SIGNED_IN_BY);
    if (how !== 'profile') tally.lentAccounts += 1;
    const signIn = async ({ home, said }: InUse): Promise<InUse> => ({
      home: await signedInBy(laptop.next(home), sender, how, stage.service()),
      said,
    });
    const pushed = await signIn(copies.pick());
    const beside = copies.areTwo && copyDice.chance(0.6) ? await signIn(copies.pick()) : undefined;
    await Promise.all([
      disturbedPush(stage, pushed, random, more, tally),
      ...(beside === undefined ? [] : [pushBeside(beside, copyDice, tally)]),
    ]);
    if (await copies.next(index === pushes - 1 ? 'all' : 'some')) await enterAgain(own, planned);
    const isAlone = copies.inUse.length === 1 && copies.inUse[0]?.home === own;
    if (more.chance(0.15) && isAlone) {
      await repoint(stage, own, more);
      tally.repointed += 1;
    }
    if (more.chance(0.4) && isAlone) planned = await renumber(own, planned, more, tally);
  }
  if (colleagueAt === pushes) await colleague();
  await inPeace(stage);
  await finish(stage, copies.inUse, senders, planned, tally);
  for (const { home } of copies.inUse) await expectEachOnce(stage, home, planned, byHand);
  await copies.close();
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

/** Something on the way, or a later version of the service, says what the contract does not know. */
const ODD_STATUSES = [408, 409, 410, 418, 425, 451, 499] as const;

const ODD_FAULTS = ODD_STATUSES.flatMap((status) =>
  ['status-before-save', 'status-after-save'].map((fault) => ({ status, fault })),
);

/** Every third round plays one of them, in turn. */
function oddAnswerOf(round: number, dice: Random, tally: Tally): FaultRule[] {
  const odd = round % 3 === 0 ? ODD_FAULTS[(round / 3) % ODD_FAULTS.length] : undefined;
  if (odd === undefined) return [];
  const name = `${odd.status}${odd.fault.slice('status'.length)}`;
  tally.faults[name] = (tally.faults[name] ?? 0) + 1;
  const endpoint = dice.pick(['import', 'import', 'photo', 'number'] as const);
  return [{ ...odd, endpoint, when: { nth: dice.between(1, 2) }, times: 2 }];
}

/** New records are listed late, but sooner than the profile allows for, and perhaps a later one before an earlier. */
async function setIndexDelay(stage: Stage, random: Random, dice: Random, tally: Tally): Promise<void> {
  if (!random.chance(0.3)) return;
  const delayMs = random.between(100, 500);
  const isOdd = dice.chance(0.5);
  await stage.service().control('PUT', '/settings', { index_delay_ms: isOdd ? [delayMs, 0, delayMs, 50] : delayMs });
  tally.lateIndexes += 1;
  tally.oddIndexes += isOdd ? 1 : 0;
}

/** What was changed since an outbox was copied is not in the copy. */
async function enterAgain(home: Home, planned: readonly Planned[]): Promise<void> {
  for (const { localId, number } of planned)
    if (number !== undefined) await expectDone(home.pas('number', 'set', localId, number));
}

/** Another copy is pushed at the same time, and may be killed. */
async function pushBeside({ home, said }: InUse, dice: Random, tally: Tally): Promise<void> {
  const running = await begunPush({ home, said });
  tally.atOnce += 1;
  if (dice.chance(0.4)) await killSoon(running, dice, tally);
  const run = await running.ended;
  if (run.signal === null) must(run, PUSH_CODES);
}

/** A push that has opened its outbox or has ended: before that there is nothing to disturb. */
async function begunPush({ home, said }: InUse): Promise<Started> {
  const before = logWrittenMs(home);
  const running = home.start('push', '--json', ...said);
  while (running.child.exitCode === null && [before, undefined].includes(logWrittenMs(home))) await pause(5);
  return running;
}

async function killSoon({ child, ended }: Started, random: Random, tally: Tally): Promise<void> {
  await Promise.race([ended, pause(random.between(0, 300))]);
  if (child.exitCode === null && child.kill('SIGKILL')) tally.kills += 1;
}

/** A museum changes its mind about a number whose sending may be in doubt: the new one is to stay. */
async function renumber(home: Home, planned: readonly Planned[], more: Random, tally: Tally): Promise<readonly Planned[]> {
  const numbered = planned.filter(({ number }) => number !== undefined);
  if (numbered.length === 0) return planned;
  const { localId } = more.pick(numbered);
  const number = `N ${localId} ${more.between(1, 1e6)}`;
  await expectDone(home.pas('number', 'set', localId, number));
  tally.renumbered += 1;
  return planned.map((find) => (find.localId === localId ? { ...find, number } : find));
}

/** A push that may be killed at any moment, with a server that may be killed, too. */
async function disturbedPush(stage: Stage, { home, said }: InUse, random: Random, more: Random, tally: Tally): Promise<void> {
  if (random.chance(0.1)) {
    await stage.service().control('POST', '/clock', { advance_ms: random.pick([1000, 3_600_000, 25 * 3_600_000]) });
    tally.clockJumps += 1;
  }
  const running = await begunPush({ home, said });
  tally.pushes += 1;
  const ended = running.ended;
  const isFull = canLimitFiles && more.chance(0.2);
  if (isFull) {
    await Promise.race([ended, pause(more.between(0, 300))]);
    limitFiles(more.between(0, 400_000), running.child.pid);
    tally.fullDisks += 1;
  }
  if (random.chance(0.15)) {
    await Promise.race([ended, pause(random.between(0, 500))]);
    await stage.restartService();
    tally.serverKills += 1;
  }
  if (random.chance(0.7)) await killSoon(running, random, tally);
  const run = await ended;
  // A disk that is full is told as such, with 5 or 12, and the process is not ended by a signal of the system's alone.
  if (run.signal === null) must(run, isFull ? [...PUSH_CODES, 12] : PUSH_CODES);
}
