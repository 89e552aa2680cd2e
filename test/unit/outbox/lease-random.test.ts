import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { leaseHolder, lifeOf, takeLease } from '../../../src/outbox/lease.ts';
import { type ProcessTable, processTable } from '../../../src/outbox/process-table.ts';
import { CONTAINER, HOST_SPACE, type Machine, type Process, playMachine, type Withheld } from '../../support/played-machine.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

type Running = { readonly machine: Machine; readonly process: Process; readonly processes: ProcessTable; release?: () => void };

type World = {
  readonly outbox: ReturnType<typeof tempOutbox>;
  readonly machines: readonly Machine[];
  readonly started: Running[];
};

/** One thing that happens; `which` names a machine or a process, counted round. */
type Step = readonly [what: keyof typeof STEPS, which: number, more: number];

/** Few numbers and names, so that they are used again all the time. */
const NUMBERS = [10, 20];
const NAMES = ['laptop', 'office'];
const SPACES = [HOST_SPACE, CONTAINER];

const STEPS = {
  start({ machines, started }: World, which: number, more: number) {
    const machine = at(machines, which);
    const nameSpace = machine.platform === 'linux' ? at(SPACES, more >> 1) : HOST_SPACE;
    const pid = at(NUMBERS, more);
    if (
      started.some(
        (one) => one.machine === machine && isThere(one) && one.process.pid === pid && one.process.nameSpace === nameSpace,
      )
    )
      return;
    const process = machine.start({ pid, nameSpace, user: at(['digger', 'curator'], more >> 2) });
    started.push({ machine, process, processes: processTable(machine.seenBy(process)) });
  },
  end({ started }: World, which: number, more: number) {
    const running = started.filter(isThere);
    if (running.length === 0) return;
    const { machine, process } = at(running, which);
    machine.end(process, machine.platform !== 'win32' && more % 4 === 0 ? 'zombie' : 'reaped');
  },
  restart: ({ machines }: World, which: number) => at(machines, which).restart(),
  rename({ machines }: World, which: number, more: number) {
    at(machines, which).host = at(NAMES, more);
  },
  /** By hours that no two steps share, so that no second is ever noted twice. */
  turnClock({ machines, started }: World, which: number, more: number) {
    at(machines, which).clockMs += (more % 2 === 0 ? 1 : -1) * 3_600_000 * 2 ** (started.length % 20);
  },
  take(world: World, which: number, more: number) {
    const running = world.started.filter(isThere);
    if (running.length > 0) take(world, at(running, which), more % 3 === 0);
  },
  release({ started }: World, which: number) {
    const holding = started.filter((one) => isThere(one) && one.release !== undefined);
    if (holding.length === 0) return;
    const one = at(holding, which);
    one.release?.();
    delete one.release;
  },
} as const;

const isThere = ({ machine, process }: Running): boolean => machine.isRunning(process);

function at<T>(list: readonly T[], index: number): T {
  return list[index % list.length] as T;
}

/** A person who is asked says the truth: whom nothing is known of is only called gone when it is. */
function take(world: World, asking: Running, asksPerson: boolean): void {
  const { outbox, started } = world;
  const held = leaseHolder(outbox);
  const holders = started.filter(({ release }) => release !== undefined);
  const holder = holders.find(isThere) ?? holders.at(-1);
  const life = held === undefined ? 'dead' : lifeOf(held, asking.processes);
  if (holder !== undefined && held !== undefined) {
    if (life === 'alive') expect(isThere(holder)).toBe(true);
    if (life === 'dead') expect(isThere(holder)).toBe(false);
    if (mustBeKnown(world, asking, holder)) expect(life).toBe(isThere(holder) ? 'alive' : 'dead');
  }
  const takeOver = asksPerson && (holder === undefined || !isThere(holder));
  try {
    const lease = takeLease(outbox, { processes: asking.processes, takeOver });
    expect(holders.filter(isThere)).toEqual([]);
    for (const one of holders) delete one.release;
    asking.release = lease.release;
  } catch (thrown) {
    if (!(thrown instanceof OutboxLeasedError)) throw thrown;
    expect(life === 'alive' || (life === 'unknown' && !takeOver)).toBe(true);
  }
}

/** On one machine that withholds nothing, and whose numbers both count with, all is known but what Windows hides of other users. */
function mustBeKnown({ started }: World, asking: Running, { machine, process }: Running): boolean {
  const isHidden = ({ process: other }: Running): boolean => other.pid === process.pid && other.user !== asking.process.user;
  return (
    machine === asking.machine &&
    machine.withheld.size === 0 &&
    ['linux', 'darwin', 'win32'].includes(machine.platform) &&
    [process, asking.process].every(({ nameSpace }) => nameSpace === HOST_SPACE) &&
    !(machine.platform === 'win32' && started.some((one) => one.machine === machine && isThere(one) && isHidden(one)))
  );
}

const step: fc.Arbitrary<Step> = fc.tuple(
  fc.constantFrom(...(['start', 'take', 'end', 'take', 'release', 'take', 'restart', 'rename', 'turnClock', 'start'] as const)),
  fc.nat(7),
  fc.nat(11),
);

const machine = fc.record({
  platform: fc.constantFrom<NodeJS.Platform>('linux', 'darwin', 'win32', 'openbsd'),
  host: fc.constantFrom(...NAMES),
  withheld: fc.oneof(
    fc.constant([]),
    fc.uniqueArray(fc.constantFrom<Withheld>('proc', 'own-proc', 'other-users', 'boot', 'id', 'starts')),
  ),
});

test('the outbox is never given to two processes that run, and a holder that is proven to have ended blocks nobody', () => {
  using outbox = tempOutbox();
  fc.assert(
    fc.property(
      fc.array(machine, { minLength: 1, maxLength: 2 }),
      fc.array(step, { minLength: 4, maxLength: 40 }),
      (machines, steps) => {
        outbox.sql('delete from lease').run();
        const world: World = {
          outbox,
          machines: machines.map(({ platform, host, withheld }, index) =>
            playMachine(platform, { host, id: `${index}`, withheld }),
          ),
          started: [],
        };
        for (const [what, which, more] of steps) STEPS[what](world, which, more);
      },
    ),
    { numRuns: 300 },
  );
});
