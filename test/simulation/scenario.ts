import { type Random, seededRandom } from '../support/random.ts';
import { FATES, type Fate } from './network.ts';
import { THEMES, type Theme } from './themes.ts';

/** Three people: two enter finds, and the third may give a number to each of them. */
export const ACCOUNTS = ['archaeologist', 'researcher', 'archivist'] as const;
export type Account = (typeof ACCOUNTS)[number];
/**
 * Each account has a profile with an outbox of its own, and the archaeologist one of a training
 * service as well.
 */
export const PROFILES = [...ACCOUNTS, 'training'] as const;
export type Profile = (typeof PROFILES)[number];
/** Names in the seed. */
export const ACCOUNT_IDS: Readonly<Record<Account, string>> = {
  archaeologist: 'U-000408',
  researcher: 'U-000102',
  archivist: 'U-000020',
};
export const MACHINES = ['laptop', 'office'] as const;
/**
 * Homes: one of each machine, and a second one on the laptop, which exists once it was copied or
 * set up.
 */
export const HOMES = [...MACHINES, 'second'] as const;
export type MachineName = (typeof HOMES)[number];

export type PlannedFind = {
  readonly id: string;
  readonly note: string;
  readonly longitude: string;
};

/** By the number of the request in its command; requests that are not named arrive. */
export type Fates = readonly (readonly [nth: number, fate: Fate])[];

/**
 * From the n-th write of a command to its disk on, nothing more is written, or nothing more can be.
 */
export type DiskFault = { readonly afterWrites: number; readonly kind: 'full' | 'broken' };

export type Sync = {
  readonly kind: 'push' | 'reconcile' | 'pull';
  readonly machine: MachineName;
  readonly account: Profile;
  readonly fates: Fates;
  /** By the number of the find, photograph or number that is sent. */
  readonly writes?: Fates;
  readonly killedAfter?: number;
  readonly disk?: DiskFault;
};

/** Actions of a person beside a push, or alone. Seeds draw from these in this order. */
const AT_ANY_TIME = [
  'edit',
  'remove',
  'validate',
  'number-import',
  'drop',
  /** As it really is. */
  'decide',
  'check',
  /** The last command that changed finds. */
  'take-back',
  /** The last of these commands that was taken back. */
  'redo',
  'photo',
  'import-again',
] as const;
/** `curate`: a curator sets the number of the record. */
export type Doing =
  | (typeof AT_ANY_TIME)[number]
  | 'restore'
  | 'take-over'
  /** The table is imported for the training service as well. */
  | 'train'
  | 'rehearse'
  | 'curate';
export type Done = {
  readonly machine: MachineName;
  readonly account: Account;
  readonly does: Doing;
  readonly find: string;
  readonly value: string;
  readonly killedAfter?: number;
};

export type Pusher = readonly [machine: MachineName, account: Account];

/** Two people with one account, whom the service throttles together. */
export const TWO_PLACES = [
  ['laptop', 'archaeologist'],
  ['office', 'archaeologist'],
] as const;

/** One thing that happens. A scenario is data, so that it can be cut down to what matters. */
export type Step =
  | {
      readonly kind: 'import';
      readonly machine: MachineName;
      readonly account: Account;
      readonly finds: readonly PlannedFind[];
    }
  /** A person imports the find's table once more. */
  | {
      readonly kind: 'import-again';
      readonly machine: MachineName;
      readonly find: string;
      /** Also where it was not imported before. */
      readonly elsewhere?: true;
      /** With other local ids. */
      readonly renamed?: true;
      /** A colleague, in whose outbox it does not belong. */
      readonly account?: Account;
    }
  | {
      readonly kind: 'photo';
      readonly machine: MachineName;
      readonly find: string;
      readonly shade: number;
      /** Number of its file, where others have the same name. */
      readonly name?: string;
    }
  /** The photograph's file is another one now: what was queued is what it was. */
  | { readonly kind: 'photo-changed'; readonly machine: MachineName; readonly shade: number }
  | {
      readonly kind: 'number';
      readonly machine: MachineName;
      readonly find: string;
      readonly value: string;
      /** A home without the find gives the number to its record. */
      readonly account?: Account;
    }
  | Sync
  | ({ readonly kind: 'does' } & Done)
  /** The same while a push runs, so long after its beginning. */
  | ({ readonly kind: 'beside'; readonly fates: Fates; readonly afterMs: number } & Done)
  /** A push watches for entries, and is killed after the last of these. */
  | {
      readonly kind: 'watch';
      readonly machine: MachineName;
      readonly account: Account;
      readonly fates: Fates;
      readonly meanwhile: readonly (Done & { readonly afterMs: number })[];
      readonly restMs: number;
    }
  /** A person answers whatever a push asks. */
  | { readonly kind: 'answer'; readonly machine: MachineName; readonly account: Profile }
  /** Two pushes at once; the second begins so long after the first. */
  | {
      readonly kind: 'both-push';
      readonly fates: Fates;
      readonly apartMs: number;
      readonly pushers: readonly [Pusher, Pusher];
    }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'keep-copy'; readonly machine: MachineName }
  /** The outbox file is restored by hand as it was when a copy was kept. */
  | { readonly kind: 'put-copy-back'; readonly machine: MachineName; readonly withLog: boolean }
  | { readonly kind: 'backup'; readonly machine: MachineName }
  | { readonly kind: 'copy-home'; readonly from: MachineName; readonly to: MachineName }
  /** A second home is set up on the laptop, with outboxes of its own. */
  | { readonly kind: 'new-home' }
  /** A home is gone, and is set up again. */
  | { readonly kind: 'lose-home'; readonly machine: MachineName }
  | { readonly kind: 'keep-machine'; readonly machine: MachineName }
  /** All of a machine is as it was when it was kept: its homes, and what it knows of them. */
  | { readonly kind: 'roll-back'; readonly machine: MachineName }
  /** Bytes of the ledger are others, at so many of its places. */
  | {
      readonly kind: 'damage-ledger';
      readonly machine: MachineName;
      readonly places: readonly number[];
    }
  | { readonly kind: 'lose-ledger'; readonly machine: MachineName }
  /** Harvesting is anonymous. */
  | { readonly kind: 'anonymous' }
  | { readonly kind: 'by-hand'; readonly find: string }
  /** The service's staff sets a record's number, corrects it, or deletes it. */
  | {
      readonly kind: 'curator';
      readonly find: string;
      readonly does: 'number' | 'correction' | 'deletion';
      readonly value: string;
    }
  /** Lifetime of a token. */
  | { readonly kind: 'tokens'; readonly lastMs: number }
  /** Time to save a find, while other requests arrive. */
  | { readonly kind: 'saving'; readonly takesMs: number }
  /** Longest wait for a request. */
  | { readonly kind: 'connecting'; readonly maxMs: number }
  /** From now on the way to the service takes equally long for all requests. */
  | { readonly kind: 'steady-way' }
  | { readonly kind: 'keep-service' }
  /** The service is as it was when it was kept: it gives identifiers a second time. */
  | { readonly kind: 'put-service-back' }
  /** The service takes the archaeologist's user name for another person. */
  | { readonly kind: 'other-account' }
  | { readonly kind: 'clock'; readonly machine: MachineName | 'service'; readonly byMs: number }
  | { readonly kind: 'index'; readonly delayMs: number };

/** `theme`: what it is about, where it was made on purpose. */
export type Scenario = {
  readonly seed: number;
  readonly theme?: string;
  readonly steps: readonly Step[];
};

/**
 * Amounts in a scenario, drawn once for each, so that scenarios differ in kind and not only in
 * detail.
 */
type Mood = {
  readonly trouble: number;
  readonly kills: number;
  readonly disks: number;
  readonly copies: number;
  readonly clocks: number;
  readonly hands: number;
};

const MINUTE_MS = 60_000;
const LONGEST = 20;

export function makeScenario(seed: number): Scenario {
  const random = seededRandom(seed);
  const some = (probability: number, most: number): number =>
    random.chance(probability) ? random.next() * most : 0;
  const mood: Mood = {
    trouble: some(0.8, 0.5),
    kills: some(0.6, 0.6),
    disks: some(0.3, 0.4),
    copies: some(0.45, 0.6),
    clocks: some(0.3, 0.5),
    hands: some(0.3, 0.5),
  };
  const finds: PlannedFind[] = [];
  const steps: Step[] = importing(random, finds, 'laptop');
  const length = drawLength(random);
  // Rare events are forced on purpose, with any other events between.
  const theme = random.chance(0.75) ? random.pick(Object.keys(THEMES)) : undefined;
  if (theme === undefined)
    while (steps.length < length) steps.push(...nextSteps(random, mood, finds));
  else {
    const { tell, alone } = THEMES[theme] as Theme;
    const between = alone === true || random.chance(0.6) ? 0 : 0.25;
    for (const step of tell(random, finds))
      steps.push(...(random.chance(between) ? nextSteps(random, mood, finds) : []), step);
    if (alone === true) return { seed, theme, steps };
  }
  if (random.chance(0.3)) steps.push(...laterOn(random));
  if (random.chance(0.25) && steps.every(mayBeAnonymous)) steps.unshift({ kind: 'anonymous' });
  return { seed, theme, steps };
}

/** Facts that a machine has lost or never had are visible at the service alone. */
function mayBeAnonymous(step: Step): boolean {
  switch (step.kind) {
    case 'roll-back':
    case 'lose-ledger':
    case 'damage-ledger':
    case 'other-account':
    case 'put-service-back':
      return false;
    case 'copy-home':
      return step.to === 'second';
    default:
      return !(
        step.kind === 'import-again' &&
        (step.renamed === true || (step.elsewhere === true && step.machine !== 'second'))
      );
  }
}

/** Nearly all faults show in a few steps, so most scenarios are short, and some are long. */
function drawLength(random: Random): number {
  let length = 2;
  while (length < LONGEST && random.chance(0.75)) length += 1;
  return length;
}

export function importing(random: Random, finds: PlannedFind[], machine: MachineName): Step[] {
  const rows = Array.from({ length: random.chance(0.6) ? 1 : random.between(2, 3) }, () => {
    const id = `F-${finds.length + 1}`;
    // Some finds are the same as another one in all that is said of them.
    const twin = finds.length > 0 && random.chance(0.08) ? finds.at(-1) : undefined;
    const find = {
      id,
      note: twin?.note ?? `scenario ${id}`,
      longitude: twin?.longitude ?? (14.4 + finds.length / 1000).toFixed(5),
    };
    finds.push(find);
    return find;
  });
  const account = random.chance(0.85) ? 'archaeologist' : 'researcher';
  const changes = rows.flatMap(({ id: find }): Step[] => [
    ...(random.chance(0.3)
      ? [{ kind: 'photo', machine, find, shade: random.between(0, 40_000) } as const]
      : []),
    ...(random.chance(0.2) && account === 'archaeologist'
      ? [{ kind: 'number', machine, find, value: getNumber(random) } as const]
      : []),
  ]);
  return [{ kind: 'import', machine, account, finds: rows }, ...changes];
}

export function bothPushing(fates: Fates, apartMs: number, first: Pusher, second: Pusher): Step {
  return { kind: 'both-push', fates, apartMs, pushers: [first, second] };
}

export function getNumber(random: Random): string {
  return `N-${random.between(1, 9999)}`;
}

/** A person looks or pushes when it is too early, or just early enough. */
function laterOn(random: Random): Step[] {
  const machine = random.chance(0.7) ? 'laptop' : 'office';
  const account = random.chance(0.6) ? 'archaeologist' : 'researcher';
  return [
    { kind: 'wait', ms: random.pick([5, 11, 13, 16, 26, 130]) * MINUTE_MS },
    { kind: random.pick(['push', 'reconcile'] as const), machine, account, fates: [] },
    { kind: 'push', machine: 'laptop', account: 'archaeologist', fates: [] },
  ];
}

function nextSteps(random: Random, mood: Mood, finds: PlannedFind[]): Step[] {
  const machine = random.chance(0.85) ? 'laptop' : 'office';
  const find = random.pick(finds).id;
  if (random.chance(mood.copies)) return copying(random, machine);
  if (random.chance(mood.clocks)) {
    const whose = random.pick(['laptop', 'service'] as const);
    // The service's may be wrong, but not by so much that what is on its way is taken for lost.
    const maxMs =
      whose === 'service' ? 90_000 : random.pick([2000, 90_000, 7_200_000, 300_000_000]);
    return [{ kind: 'clock', machine: whose, byMs: Math.round((random.next() - 0.5) * 2 * maxMs) }];
  }
  if (random.chance(mood.hands))
    return [random.chance(0.6) ? { kind: 'by-hand', find } : curating(random, find)];
  const draw = random.next();
  if (draw < 0.14) return importing(random, finds, machine);
  if (draw < 0.19) return [{ kind: 'import-again', machine, find }];
  if (draw < 0.26) return photographing(random, machine, find);
  if (draw < 0.36) return [{ kind: 'number', machine, find, value: getNumber(random) }];
  if (draw < 0.46)
    return [
      {
        kind: 'wait',
        ms: random.pick(
          [1000, 20_000, 3, 11, 14, 20, 130].map((many) => (many < 1000 ? many * MINUTE_MS : many)),
        ),
      },
    ];
  if (draw < 0.48) return [servicing(random)];
  if (draw < 0.51)
    return [{ kind: 'index', delayMs: random.pick([0, 5000, 120_000, 8 * MINUTE_MS]) }];
  const fates = drawFates(random, mood.trouble);
  if (draw < 0.55)
    return [
      bothPushing(
        fates,
        random.between(0, 400),
        [machine, 'archaeologist'],
        [machine, 'researcher'],
      ),
    ];
  if (draw < 0.57)
    return [
      { kind: 'beside', fates, afterMs: random.between(0, 900), ...doing(random, machine, find) },
    ];
  if (draw < 0.59) return [bothPushing(fates, random.between(0, 400), ...TWO_PLACES)];
  const kind = draw < 0.82 ? 'push' : draw < 0.95 ? 'reconcile' : 'pull';
  const account = random.chance(kind === 'reconcile' ? 0.65 : 0.85)
    ? 'archaeologist'
    : 'researcher';
  // A push of one find looks at a clock some ninety times.
  const killedAfter = random.between(0, random.pick([30, 90, 250]));
  const disk: DiskFault = {
    kind: random.pick(['full', 'broken'] as const),
    afterWrites: random.between(0, 20),
  };
  return [
    {
      kind,
      machine,
      account,
      fates,
      ...(random.chance(mood.kills) ? { killedAfter } : random.chance(mood.disks) ? { disk } : {}),
    },
  ];
}

export function doing(
  random: Random,
  machine: MachineName,
  find: string,
  among: readonly Doing[] = AT_ANY_TIME,
): Done {
  const does = random.pick(among);
  const number = random.between(1, 9999);
  // Some commands are killed. Drawn from the number, so that the scenarios of all other seeds stay
  // as they are.
  const killed = number % 6 === 0 ? { killedAfter: number % 25 } : {};
  return { machine, account: 'archaeologist', does, find, value: `N-${number}`, ...killed };
}

/** A photograph whose file is sometimes changed once it is queued. */
function photographing(random: Random, machine: MachineName, find: string): Step[] {
  const shade = random.between(0, 40_000);
  return [
    { kind: 'photo', machine, find, shade },
    ...(random.chance(0.3) ? [{ kind: 'photo-changed', machine, shade } as const] : []),
  ];
}

export function curating(random: Random, find: string): Step {
  const does = random.pick(['number', 'correction', 'deletion'] as const);
  return { kind: 'curator', find, does, value: getNumber(random) };
}

/** Settings of an operator. */
function servicing(random: Random): Step {
  return random.chance(0.5)
    ? { kind: 'tokens', lastMs: random.pick([500, 2000, 20_000, 86_400_000]) }
    : { kind: 'saving', takesMs: random.pick([0, 200, 700]) };
}

function copying(random: Random, machine: MachineName): Step[] {
  switch (random.between(0, 5)) {
    case 0:
      return [{ kind: 'keep-copy', machine }];
    case 1:
    case 2:
      return [{ kind: 'put-copy-back', machine, withLog: random.chance(0.5) }];
    case 3:
      return [{ kind: 'backup', machine }];
    case 4:
      return [{ kind: 'does', ...doing(random, machine, '', ['restore']) }];
    default:
      return [{ kind: 'copy-home', from: 'laptop', to: 'second' }];
  }
}

function drawFates(random: Random, trouble: number): Fates {
  const fates: [number, Fate][] = [];
  for (let nth = 0; nth < 14; nth += 1)
    if (random.chance(trouble)) fates.push([nth, random.pick(FATES.slice(1))]);
  return fates;
}
