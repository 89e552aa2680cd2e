import { existsSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { OutboxLeasedError } from '../../../src/base/errors.ts';
import { takeLease } from '../../../src/outbox/lease.ts';
import { nodeSystem, processTable } from '../../../src/outbox/process-table.ts';
import { CONTAINER, HOST_SPACE, type Machine, type Process, playMachine, type Withheld } from '../../support/played-machine.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

type Story = {
  /** What holds the outbox. */
  readonly title: string;
  readonly life: 'alive' | 'dead' | 'unknown';
  readonly on?: readonly NodeJS.Platform[];
  readonly withheld?: readonly Withheld[];
  readonly holder?: Partial<Process>;
  /** Who asks later, beside the holder and as the same user where nothing else is said. */
  readonly asking?: Partial<Process>;
  readonly meanwhile?: Meanwhile;
};

/** What happens before that. @returns the machine of the one who asks, where it is another */
type Meanwhile = (machine: Machine, holder: Process) => Machine | undefined;

const PLATFORMS: readonly NodeJS.Platform[] = ['linux', 'darwin', 'win32'];
const DAY_MS = 86_400_000;
const IN_CONTAINER = { holder: { nameSpace: CONTAINER }, asking: { nameSpace: CONTAINER } };

const turned = (byMs: number): Meanwhile => does((machine) => Object.assign(machine, { clockMs: machine.clockMs + byMs }));
const renamed = does((machine) => Object.assign(machine, { host: 'museum-7' }));
const movedAbroad = does((machine) => Object.assign(machine, { timeZone: 'America/New_York', language: 'ar' }));
const ended = does((machine, holder) => machine.end(holder));
const killed = does((machine, holder) => machine.end(holder, 'zombie'));
const cutOff = does((machine) => machine.restart());
const numberedAlike = (about: Partial<Process> = {}): Meanwhile =>
  does((machine, holder) => machine.start({ ...holder, ...about }));
const inTurn = (...steps: readonly Meanwhile[]): Meanwhile =>
  does((machine, holder) => {
    for (const step of steps) step(machine, holder);
  });
const elsewhere =
  (about: { host?: string }, ...withheld: Withheld[]): Meanwhile =>
  ({ platform }) =>
    playMachine(platform, { ...about, id: '2', withheld });

function does(step: (machine: Machine, holder: Process) => unknown): Meanwhile {
  return (machine, holder) => {
    step(machine, holder);
    return undefined;
  };
}

const STORIES: readonly Story[] = [
  { title: 'a process that runs', life: 'alive' },
  { title: 'a process that runs, after the laptop slept for three days', life: 'alive', meanwhile: turned(3 * DAY_MS) },
  { title: 'a process that runs, on a clock that was set back a year', life: 'alive', meanwhile: turned(-365 * DAY_MS) },
  {
    title: 'a process that runs, on a clock that was set right by twenty years',
    life: 'alive',
    meanwhile: turned(7300 * DAY_MS),
  },
  {
    title: 'a process that runs, seen in another time zone and language',
    life: 'alive',
    meanwhile: movedAbroad,
  },
  { title: 'a process that runs, after the machine was renamed', life: 'alive', meanwhile: renamed },
  { title: 'a process that ended', life: 'dead', meanwhile: ended },
  { title: 'a process that ended, whose number another one has now', life: 'dead', meanwhile: inTurn(ended, numberedAlike()) },
  {
    title: 'a process that ended, whose number another one has now that a set-back clock calls older',
    life: 'dead',
    meanwhile: inTurn(turned(-DAY_MS), ended, numberedAlike()),
  },
  {
    title: 'a process that was killed and of whose end nobody asked yet',
    life: 'dead',
    on: ['linux', 'darwin'],
    meanwhile: killed,
  },

  { title: 'a process before a power cut', life: 'dead', meanwhile: cutOff },
  {
    title: 'a process before a power cut, whose number another one has now, as early after the start as the first',
    life: 'dead',
    meanwhile: inTurn(cutOff, numberedAlike()),
  },
  {
    title: 'a process before a power cut, after the machine was renamed',
    life: 'dead',
    meanwhile: inTurn(cutOff, renamed, numberedAlike()),
  },
  {
    title: 'a process before a power cut, whose number one of the system has now',
    life: 'dead',
    on: ['linux', 'darwin'],
    withheld: ['other-users'],
    meanwhile: inTurn(cutOff, numberedAlike({ user: 'system' })),
  },
  {
    title: 'a process before a power cut, whose number one of the system has now, which tells others nothing',
    life: 'unknown',
    on: ['win32'],
    meanwhile: inTurn(cutOff, numberedAlike({ user: 'system' })),
  },
  {
    title: 'a process before a power cut, on a machine that does not say which it is',
    life: 'unknown',
    withheld: ['id'],
    meanwhile: cutOff,
  },

  {
    title: 'a process that runs, where nothing tells one boot from another',
    life: 'alive',
    withheld: ['boot'],
    on: ['darwin', 'win32'],
  },
  {
    title: 'a process that runs, where nothing tells what its start is counted from',
    life: 'unknown',
    withheld: ['boot'],
    on: ['linux'],
  },
  { title: 'a process that runs, where only the numbers of processes can be seen', life: 'unknown', withheld: ['starts'] },
  {
    title: 'a process that ended, where only the numbers of processes can be seen',
    life: 'dead',
    withheld: ['starts'],
    meanwhile: ended,
  },
  {
    title: 'a process that ended, whose number another one has now, where only the numbers can be seen',
    life: 'unknown',
    withheld: ['starts'],
    meanwhile: inTurn(ended, numberedAlike()),
  },

  { title: 'a process of another user', life: 'alive', on: ['linux', 'darwin'], asking: { user: 'curator' } },
  { title: 'a process of another user, who sees only the own ones', life: 'unknown', on: ['win32'], asking: { user: 'curator' } },
  {
    title: 'a process of another user, who sees only the own ones',
    life: 'unknown',
    on: ['linux'],
    withheld: ['other-users'],
    asking: { user: 'curator' },
  },

  { title: 'a process that runs, without /proc', life: 'unknown', on: ['linux'], withheld: ['proc'] },
  {
    title: 'a process that ended, without /proc, where nothing tells a container from the machine',
    life: 'unknown',
    on: ['linux'],
    withheld: ['proc'],
    meanwhile: ended,
  },
  { title: 'a process beside this one in a container', life: 'alive', on: ['linux'], ...IN_CONTAINER },
  {
    title: 'a process that ended beside this one in a container',
    life: 'dead',
    on: ['linux'],
    ...IN_CONTAINER,
    meanwhile: ended,
  },
  {
    title: 'a process beside this one in a container whose /proc shows those of the machine',
    life: 'unknown',
    on: ['linux'],
    withheld: ['own-proc'],
    ...IN_CONTAINER,
    meanwhile: numberedAlike({ nameSpace: HOST_SPACE }),
  },
  {
    title: 'a process of the machine, seen from a container',
    life: 'unknown',
    on: ['linux', 'win32'],
    asking: { nameSpace: CONTAINER },
  },
  {
    title: 'a process of a container, seen from the machine',
    life: 'unknown',
    on: ['linux', 'win32'],
    holder: { nameSpace: CONTAINER },
  },
  {
    title: 'a process of another container of this machine, made from the same image',
    life: 'unknown',
    on: ['linux', 'win32'],
    holder: { nameSpace: CONTAINER },
    asking: { nameSpace: 'pid:[4026532555]' },
  },
  {
    title: 'a process of a container of another machine, named and numbered alike',
    life: 'unknown',
    on: ['linux', 'win32'],
    ...IN_CONTAINER,
    meanwhile: elsewhere({}),
  },

  { title: 'a process of another machine', life: 'unknown', meanwhile: elsewhere({ host: 'office' }) },
  { title: 'a process of another machine of the same name', life: 'unknown', meanwhile: elsewhere({}) },
  {
    title: 'a process of another machine of the same name, neither of which says which it is',
    life: 'unknown',
    withheld: ['id', 'boot'],
    meanwhile: elsewhere({}, 'id', 'boot'),
  },

  { title: 'a process of a system that pas does not know', life: 'unknown', on: ['openbsd'] },
  { title: 'a process that ended, of a system that pas does not know', life: 'unknown', on: ['openbsd'], meanwhile: ended },
];

for (const platform of [...PLATFORMS, 'openbsd'] as const) {
  describe(`on ${platform} the outbox is held by`, () => {
    for (const story of STORIES.filter(({ on = PLATFORMS }) => on.includes(platform)))
      test(`${story.title}: ${story.life}`, () => tell(platform, story));
  });
}

function tell(platform: NodeJS.Platform, { life, withheld = [], holder, asking, meanwhile }: Story): void {
  using outbox = tempOutbox();
  const here = playMachine(platform, { withheld });
  const first = here.start({ pid: 40, ...holder });
  takeLease(outbox, { processes: processTable(here.seenBy(first)) });
  const there = meanwhile?.(here, first) ?? here;
  const second = there.start({ pid: 50, ...asking });
  const take = (takeOver: boolean) => () => takeLease(outbox, { processes: processTable(there.seenBy(second)), takeOver });
  switch (life) {
    case 'alive':
      for (const takeOver of [false, true]) expect(take(takeOver)).toThrow(/process 40, since/);
      return;
    case 'dead':
      take(false)();
      return;
    case 'unknown':
      expect(take(false)).toThrow(/process 40 on/);
      take(true)();
      expect(() => takeLease(outbox, { processes: processTable(here.seenBy(first)) })).toThrow(OutboxLeasedError);
  }
}

test('nothing is asked of the system before a lease is met or taken', () => {
  const refuse = (): never => {
    throw new Error('asked');
  };
  for (const platform of PLATFORMS)
    processTable({ ...nodeSystem, platform, read: refuse, link: refuse, exists: refuse, run: refuse });
});

describe('this system', () => {
  test('tells its own processes apart', () => {
    const { self, seen } = processTable(nodeSystem);
    expect(seen(process.pid)).toEqual({ start: self().start });
    expect(self().start).toMatch(/^\d+$/);
    expect(seen(2 ** 22 + 1)).toBe('gone');
  });

  test.runIf(existsSync('/bin/ps'))('says by ps when a process started, in whatever time zone', () => {
    const before = process.env['TZ'];
    const inZone = (zone: string) => {
      process.env['TZ'] = zone;
      return processTable({ ...nodeSystem, platform: 'darwin' }).self().start;
    };
    try {
      expect(inZone('Asia/Tokyo')).toMatch(/^\d{13}$/);
      expect(inZone('Asia/Tokyo')).toBe(inZone('America/New_York'));
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });

  test.runIf(process.platform !== 'win32')('does without a program that is not there', () => {
    expect(processTable({ ...nodeSystem, platform: 'win32' }).machine()).toBe('');
  });
});
