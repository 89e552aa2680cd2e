import { type Random, seededRandom } from '../chaos/random.ts';
import { FATES, type Fate } from './network.ts';

export const ACCOUNTS = ['archaeologist', 'researcher'] as const;
export type Account = (typeof ACCOUNTS)[number];
export const MACHINES = ['laptop', 'office'] as const;
export type MachineName = (typeof MACHINES)[number];

export type PlannedFind = { readonly id: string; readonly note: string; readonly longitude: string };

/** By the number of the request in its command; requests that are not named arrive. */
export type Fates = readonly (readonly [nth: number, fate: Fate])[];

/** One thing that happens. A story is data, so that it can be cut down to what matters. */
export type Step =
  | { readonly kind: 'import'; readonly machine: MachineName; readonly account: Account; readonly finds: readonly PlannedFind[] }
  /** Somebody imports the table that the find stood in once more. */
  | { readonly kind: 'import-again'; readonly machine: MachineName; readonly find: string }
  | { readonly kind: 'photo'; readonly machine: MachineName; readonly find: string; readonly shade: number }
  | { readonly kind: 'number'; readonly machine: MachineName; readonly find: string; readonly value: string }
  | {
      readonly kind: 'push' | 'reconcile' | 'pull';
      readonly machine: MachineName;
      readonly account: Account;
      readonly fates: Fates;
      readonly killedAfter?: number;
    }
  | { readonly kind: 'two-pushes'; readonly machine: MachineName; readonly fates: Fates; readonly apartMs: number }
  /** Two people with one account, at two places: the service throttles them. */
  | { readonly kind: 'both-push'; readonly fates: Fates; readonly apartMs: number }
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'keep-copy'; readonly machine: MachineName }
  /** The outbox file is put back by hand as it was when a copy was kept. */
  | { readonly kind: 'put-copy-back'; readonly machine: MachineName; readonly withLog: boolean }
  | { readonly kind: 'copy-home'; readonly from: MachineName; readonly to: MachineName }
  | { readonly kind: 'by-hand'; readonly find: string }
  | { readonly kind: 'clock'; readonly machine: MachineName | 'service'; readonly byMs: number }
  | { readonly kind: 'index'; readonly delayMs: number };

export type Story = { readonly seed: number; readonly steps: readonly Step[] };

/** How much of each thing a story has, drawn once for each, so that stories differ in kind and not only in detail. */
type Mood = {
  readonly trouble: number;
  readonly kills: number;
  readonly copies: number;
  readonly clocks: number;
  readonly hands: number;
};

const MINUTE_MS = 60_000;

export function tellStory(seed: number): Story {
  const random = seededRandom(seed);
  const some = (probability: number, most: number): number => (random.chance(probability) ? random.next() * most : 0);
  const mood: Mood = {
    trouble: some(0.8, 0.5),
    kills: some(0.6, 0.6),
    copies: some(0.45, 0.6),
    clocks: some(0.3, 0.5),
    hands: some(0.3, 0.5),
  };
  const finds: PlannedFind[] = [];
  const steps: Step[] = importing(random, finds, 'laptop');
  const length = random.between(2, 12);
  if (random.chance(0.6)) {
    // What is rare by itself is told on purpose, with whatever else happens between.
    for (const step of random.pick(THEMES)(random, finds))
      steps.push(...(random.chance(0.2) ? nextSteps(random, mood, finds) : []), step);
  } else while (steps.length < length) steps.push(...nextSteps(random, mood, finds));
  if (random.chance(0.5)) steps.push(...laterOn(random));
  return { seed, steps };
}

function importing(random: Random, finds: PlannedFind[], machine: MachineName): Step[] {
  const made = Array.from({ length: random.between(1, 3) }, () => {
    const id = `F-${finds.length + 1}`;
    // Some finds are the same as another one in all that is said of them.
    const twin = finds.length > 0 && random.chance(0.08) ? finds.at(-1) : undefined;
    const find = { id, note: twin?.note ?? `story ${id}`, longitude: twin?.longitude ?? (14.4 + finds.length / 1000).toFixed(5) };
    finds.push(find);
    return find;
  });
  const account = random.chance(0.85) ? 'archaeologist' : 'researcher';
  const changes = made.flatMap(({ id: find }): Step[] => [
    ...(random.chance(0.4) ? [{ kind: 'photo', machine, find, shade: random.between(0, 40_000) } as const] : []),
    ...(random.chance(0.2) && account === 'archaeologist'
      ? [{ kind: 'number', machine, find, value: numberOf(random) } as const]
      : []),
  ]);
  return [{ kind: 'import', machine, account, finds: made }, ...changes];
}

function numberOf(random: Random): string {
  return `N-${random.between(1, 9999)}`;
}

type Theme = (random: Random, finds: PlannedFind[]) => Step[];

const pushing = (machine: MachineName, account: Account = 'archaeologist', fates: Fates = []): Step => ({
  kind: 'push',
  machine,
  account,
  fates,
});
const waiting = (random: Random, ...minutes: readonly number[]): Step => ({ kind: 'wait', ms: random.pick(minutes) * MINUTE_MS });

/** After an answer was lost, or where nobody knows whether one was. The first requests look for the account. */
function doubtful(random: Random): Fates {
  const fate = (): Fate => random.pick(['answer-lost', 'late', 'unanswered', 'bad-gateway-after', 'lost'] as const);
  return [1, 2, 3, 4, 5].filter(() => random.chance(0.4)).map((nth) => [nth, fate()] as const);
}

const THEMES: readonly Theme[] = [
  // The outbox is put back as it was before a push.
  (random, finds) => [
    { kind: 'keep-copy', machine: 'laptop' },
    ...(random.chance(0.5) ? importing(random, finds, 'laptop') : []),
    pushing('laptop'),
    { kind: 'put-copy-back', machine: 'laptop', withLog: random.chance(0.5) },
    ...(random.chance(0.6) ? [{ kind: 'import-again', machine: 'laptop', find: random.pick(finds).id } as const] : []),
    pushing('laptop', 'archaeologist', random.chance(0.5) ? [[0, 'lost']] : []),
    pushing('laptop'),
  ],
  // A home goes to another machine, and both push.
  (random) => {
    const both = [pushing('laptop', 'archaeologist', doubtful(random)), pushing('office', 'archaeologist', doubtful(random))];
    return [
      { kind: 'copy-home', from: 'laptop', to: 'office' },
      ...(random.chance(0.5) ? both : both.toReversed()),
      waiting(random, 13, 130),
      ...both,
    ];
  },
  // A colleague enters what is in doubt.
  (random, finds) => [
    pushing('laptop', 'archaeologist', doubtful(random)),
    waiting(random, 0.1, 1, 5),
    { kind: 'by-hand', find: random.pick(finds).id },
    waiting(random, 13, 26, 130),
    { kind: 'reconcile', machine: 'laptop', account: 'archaeologist', fates: [] },
  ],
  // A museum changes its mind while a number is under way.
  (random, finds) => {
    const find = random.pick(finds).id;
    const number = (): Step => ({ kind: 'number', machine: 'laptop', find, value: numberOf(random) });
    const troubled = (): Step =>
      pushing('laptop', 'archaeologist', [
        [random.between(0, 4), random.pick(['late', 'repeated', 'unanswered', 'lost'] as const)],
      ]);
    return [
      pushing('laptop'),
      number(),
      troubled(),
      number(),
      ...(random.chance(0.5) ? [number()] : []),
      pushing('laptop'),
      waiting(random, 1, 9, 26),
    ];
  },
  // The index is late, and somebody looks early.
  (random) => [
    { kind: 'index', delayMs: 8 * MINUTE_MS },
    pushing(
      'laptop',
      'archaeologist',
      [0, 1, 2, 3].map((nth) => [nth, nth === 0 ? 'arrives' : 'late'] as const),
    ),
    waiting(random, 5, 11, 13),
    pushing('laptop'),
    waiting(random, 1, 3, 5),
    { kind: 'reconcile', machine: 'laptop', account: 'archaeologist', fates: [] },
    pushing('laptop'),
  ],
  // Somebody else looks for what is in doubt.
  (random) => [
    pushing('laptop', 'archaeologist', doubtful(random)),
    ...(random.chance(0.5) ? [pushing('laptop', 'researcher')] : []),
    waiting(random, 26, 130),
    { kind: 'reconcile', machine: 'laptop', account: 'researcher', fates: [] },
    pushing('laptop'),
  ],
  // Many finds and photographs, and a push that is killed among them.
  (random, finds) => {
    const many = Array.from({ length: random.between(2, 12) }, () => importing(random, finds, 'laptop')).flat();
    return [
      ...many,
      { kind: 'push', machine: 'laptop', account: 'archaeologist', fates: [], killedAfter: random.between(0, 60 * many.length) },
      pushing('laptop'),
    ];
  },
];

/** Somebody looks or pushes when it is too early, or just early enough. */
function laterOn(random: Random): Step[] {
  const [machine, account] = [
    random.chance(0.7) ? 'laptop' : 'office',
    random.chance(0.6) ? 'archaeologist' : 'researcher',
  ] as const;
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
    const mostMs = whose === 'service' ? 90_000 : random.pick([2000, 90_000, 7_200_000, 300_000_000]);
    return [{ kind: 'clock', machine: whose, byMs: Math.round((random.next() - 0.5) * 2 * mostMs) }];
  }
  if (random.chance(mood.hands)) return [{ kind: 'by-hand', find }];
  const draw = random.next();
  if (draw < 0.14) return importing(random, finds, machine);
  if (draw < 0.19) return [{ kind: 'import-again', machine, find }];
  if (draw < 0.26) return [{ kind: 'photo', machine, find, shade: random.between(0, 40_000) }];
  if (draw < 0.36) return [{ kind: 'number', machine, find, value: numberOf(random) }];
  if (draw < 0.46)
    return [
      {
        kind: 'wait',
        ms: random.pick([1000, 20_000, 3, 11, 14, 20, 130].map((many) => (many < 1000 ? many * MINUTE_MS : many))),
      },
    ];
  if (draw < 0.51) return [{ kind: 'index', delayMs: random.pick([0, 5000, 120_000, 8 * MINUTE_MS]) }];
  const fates = drawFates(random, mood.trouble);
  if (draw < 0.55) return [{ kind: 'two-pushes', machine, fates, apartMs: random.between(0, 400) }];
  if (draw < 0.59) return [{ kind: 'both-push', fates, apartMs: random.between(0, 400) }];
  const kind = draw < 0.82 ? 'push' : draw < 0.95 ? 'reconcile' : 'pull';
  const account = random.chance(kind === 'reconcile' ? 0.65 : 0.85) ? 'archaeologist' : 'researcher';
  // A push of one find looks at a clock some ninety times.
  const killedAfter = random.between(0, random.pick([30, 90, 250]));
  return [{ kind, machine, account, fates, ...(random.chance(mood.kills) ? { killedAfter } : {}) }];
}

function copying(random: Random, machine: MachineName): Step[] {
  switch (random.between(0, 3)) {
    case 0:
      return [{ kind: 'keep-copy', machine }];
    case 1:
    case 2:
      return [{ kind: 'put-copy-back', machine, withLog: random.chance(0.5) }];
    default:
      return [{ kind: 'copy-home', from: 'laptop', to: 'office' }];
  }
}

function drawFates(random: Random, trouble: number): Fates {
  const fates: [number, Fate][] = [];
  for (let nth = 0; nth < 14; nth += 1) if (random.chance(trouble)) fates.push([nth, random.pick(FATES.slice(1))]);
  return fates;
}
