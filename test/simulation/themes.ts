import type { Random } from '../support/random.ts';
import type { Fate } from './network.ts';
import {
  type Account,
  bothPushing,
  curating,
  type Doing,
  doing,
  type Fates,
  getNumber,
  importing,
  type MachineName,
  type PlannedFind,
  type Profile,
  type Step,
  type Sync,
  TWO_PLACES,
} from './scenario.ts';

/**
 * Rare events, forced on purpose. `alone`: no other event between, which the oracle could not tell
 * from a fault.
 */
export type Theme = { readonly alone?: true; tell(random: Random, finds: PlannedFind[]): Step[] };

const MINUTE_MS = 60_000;
type More = Partial<Sync>;

const pushing = (
  machine: MachineName = 'laptop',
  account: Profile = 'archaeologist',
  more: More = {},
): Step => ({
  kind: 'push',
  machine,
  account,
  fates: [],
  ...more,
});
/** As the archaeologist at the laptop. */
const pushingWith = (more: More): Step => pushing('laptop', 'archaeologist', more);
const looking = (machine: MachineName = 'laptop', account: Account = 'archaeologist'): Step => ({
  kind: 'reconcile',
  machine,
  account,
  fates: [],
});
const answering = (machine: MachineName = 'laptop', account: Profile = 'archaeologist'): Step => ({
  kind: 'answer',
  machine,
  account,
});
const atLaptop = (
  kind: 'backup' | 'keep-copy' | 'keep-machine' | 'lose-home' | 'roll-back',
): Step => ({ kind, machine: 'laptop' });
const photographing = (random: Random, find: string): Step => ({
  kind: 'photo',
  machine: 'laptop',
  find,
  shade: random.between(0, 40_000),
});
const numbering = (random: Random, find: string): Step => ({
  kind: 'number',
  machine: 'laptop',
  find,
  value: getNumber(random),
});
const importingAgain = (find: string): Step => ({ kind: 'import-again', machine: 'laptop', find });
const commanding = (random: Random, find: string, ...among: readonly Doing[]): Step => ({
  kind: 'does',
  ...doing(random, 'laptop', find, among),
});
const waiting = (random: Random, ...minutes: readonly number[]): Step => ({
  kind: 'wait',
  ms: random.pick(minutes) * MINUTE_MS,
});

/** Unknown outcome. */
const UNKNOWN: readonly Fate[] = [
  'answer-lost',
  'late',
  'astray',
  'unanswered',
  'bad-gateway-after',
  'lost',
  'answer-cut',
];

/** After a lost answer. The first requests look for the account. */
function doubtful(random: Random): More {
  return {
    fates: [1, 2, 3, 4, 5, 6, 7, 8]
      .filter(() => random.chance(0.4))
      .map((nth) => [nth, random.pick(UNKNOWN)] as const),
  };
}

/** The first that are sent meet this, and the others arrive. */
function meeting(...fates: readonly Fate[]): { readonly writes: Fates } {
  return { writes: fates.map((fate, nth) => [nth, fate] as const) };
}

function pushingPerhapsInDoubt(random: Random, probability: number): Step {
  return pushingWith(random.chance(probability) ? doubtful(random) : {});
}

/** Finds with all that may be said of them. */
function entering(
  random: Random,
  finds: PlannedFind[],
  machine: MachineName = 'laptop',
  least = 1,
  most = 2,
  account: Account = 'archaeologist',
): Step {
  return { kind: 'import', machine, account, finds: someFinds(random, finds, least, most) };
}

function someFinds(random: Random, finds: PlannedFind[], least = 1, most = 2): PlannedFind[] {
  return Array.from({ length: random.between(least, most) }, () => {
    const id = `F-${finds.length + 1}`;
    const find = { id, note: `scenario ${id}`, longitude: (14.4 + finds.length / 1000).toFixed(5) };
    finds.push(find);
    return find;
  });
}

const getLast = (finds: readonly PlannedFind[]): string => finds.at(-1)?.id ?? '';

export const THEMES: Readonly<Record<string, Theme>> = {
  'an outbox is put back': {
    tell: (random, finds) => [
      atLaptop('keep-copy'),
      ...(random.chance(0.5) ? importing(random, finds, 'laptop') : []),
      pushingWith(random.pick([{}, {}, doubtful(random), meeting('dies')])),
      { kind: 'put-copy-back', machine: 'laptop', withLog: random.chance(0.5) },
      ...(random.chance(0.6) ? [importingAgain(random.pick(finds).id)] : []),
      pushingWith(random.chance(0.5) ? { fates: [[0, 'lost']] } : {}),
      pushing(),
      ...(random.chance(0.3)
        ? [
            { kind: 'put-copy-back', machine: 'laptop', withLog: random.chance(0.5) } as const,
            entering(random, finds),
            pushing(),
          ]
        : []),
    ],
  },
  'a home goes to another machine': {
    tell: (random) => [
      pushingPerhapsInDoubt(random, 0.5),
      { kind: 'copy-home', from: 'laptop', to: 'office' },
      ...(random.chance(0.4) ? [pushingWith(meeting(random.pick(UNKNOWN)))] : []),
      ...(random.chance(0.6) ? [pushing('office')] : []),
      { kind: 'index', delayMs: 0 },
      {
        kind: 'does',
        machine: 'office',
        account: 'archaeologist',
        does: 'take-over',
        find: '',
        value: '',
      },
      pushing('office', 'archaeologist', doubtful(random)),
      answering('office'),
      waiting(random, 13, 130),
    ],
  },
  'a home is copied on its machine': {
    tell: (random, finds) => [
      pushing(),
      entering(random, finds),
      entering(random, finds, 'laptop', 1, 1, 'researcher'),
      { kind: 'copy-home', from: 'laptop', to: 'second' },
      // Once the copy is known for one, both may push.
      ...(random.chance(0.5)
        ? [
            pushing('second'),
            entering(random, finds, 'second', 1, 2),
            entering(random, finds, 'laptop', 1, 2),
            pushing('laptop', 'researcher'),
          ]
        : []),
      ...(random.chance(0.5) ? [entering(random, finds, 'second', 1, 1, 'researcher')] : []),
      random.chance(0.8)
        ? bothPushing(
            [],
            random.between(0, 600),
            ['laptop', 'archaeologist'],
            ['second', random.chance(0.5) ? 'researcher' : 'archaeologist'],
          )
        : pushing(
            'second',
            'archaeologist',
            random.chance(0.5) ? meeting(random.pick(UNKNOWN)) : {},
          ),
      pushing(random.pick(['laptop', 'second'] as const)),
      waiting(random, 13, 130),
    ],
  },
  'a colleague enters what is in doubt': {
    tell: (random, finds) => [
      pushingWith(random.chance(0.5) ? doubtful(random) : meeting('lost')),
      waiting(random, 0.1, 1, 5),
      { kind: 'by-hand', find: random.pick(finds).id },
      waiting(random, 13, 26, 130),
      looking(),
    ],
  },
  'two people give a find a number': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const by = (account: Account): Step => ({
        kind: 'number',
        machine: 'laptop',
        find,
        account,
        value: getNumber(random),
      });
      const cut = [
        random.pick(['cut', 'lost', 'answer-lost', 'locked'] as const),
        random.pick(['arrives', 'cut'] as const),
      ];
      return [
        pushing(),
        by('archivist'),
        pushing('laptop', 'archivist', meeting(...cut)),
        ...(random.chance(0.5) ? [waiting(random, 1, 26)] : []),
        by('archaeologist'),
        ...(random.chance(0.4)
          ? [{ kind: 'pull', machine: 'laptop', account: 'archaeologist', fates: [] } as const]
          : []),
        pushing(),
        ...(random.chance(0.5) ? [by('archivist')] : []),
        pushing('laptop', 'archivist'),
        pushing(),
      ];
    },
  },
  'a curator is at the same record': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const value = getNumber(random);
      const number = { kind: 'number', machine: 'laptop', find, value } as const;
      const isEqual = random.chance(0.4);
      return [
        pushingWith(random.chance(0.4) ? meeting(random.pick(UNKNOWN)) : {}),
        ...(random.chance(0.7) ? [number] : []),
        isEqual ? { kind: 'curator', find, does: 'number', value } : curating(random, find),
        ...(random.chance(0.5) ? [waiting(random, 1, 26, 130)] : []),
        pushingWith(random.chance(0.4) ? meeting(random.pick(UNKNOWN)) : {}),
        waiting(random, 26, 130),
        pushing(),
      ];
    },
  },
  'the index is late, and somebody looks early': {
    tell: (random, finds) => [
      ...(random.chance(0.7)
        ? [pushing(), waiting(random, 0.1, 9), entering(random, finds, 'laptop', 1, 1)]
        : []),
      { kind: 'index', delayMs: random.pick([8, 12, 14]) * MINUTE_MS },
      pushingWith(meeting(random.pick(['late', 'answer-lost', 'astray'] as const), 'late', 'late')),
      waiting(random, 5, 11, 13, 15),
      random.chance(0.5) ? looking() : pushing(),
      waiting(random, 0.1, 3, 5),
      looking(),
      pushing(),
    ],
  },
  'somebody who is shown nothing like it looks for what is in doubt': {
    alone: true,
    tell: (random, finds) => {
      // Nothing of the account is known to be at the service yet, and the lag of its index is
      // unknown.
      if (random.chance(0.4))
        return [
          { kind: 'index', delayMs: 60 * MINUTE_MS },
          pushingWith(meeting('answer-lost', 'answer-lost', 'answer-lost', 'answer-lost')),
          waiting(random, 26, 40),
          looking(),
          pushing(),
        ];
      // Records accepted since are not shown either, so the index lags more than expected.
      if (random.chance(0.4))
        return [
          pushing(),
          waiting(random, 13),
          { kind: 'index', delayMs: 60 * MINUTE_MS },
          entering(random, finds, 'laptop', 2, 2),
          pushingWith(meeting(random.pick(['answer-lost', 'bad-gateway-after'] as const))),
          waiting(random, 26, 40),
          looking(),
          pushing(),
        ];
      return [
        ...(random.chance(0.5) ? [pushing(), entering(random, finds, 'laptop', 2, 3)] : []),
        // A push that is stopped does not look any more.
        pushingWith(
          random.chance(0.3)
            ? doubtful(random)
            : meeting(random.pick(UNKNOWN), random.pick(['closed', 'lost'])),
        ),
        ...(random.chance(0.3) ? [pushing('laptop', 'researcher')] : []),
        waiting(random, 26, 130),
        looking('laptop', 'researcher'),
        pushing(),
      ];
    },
  },
  'many finds and photographs, and a push that is killed among them': {
    tell: (random, finds) => {
      const many = Array.from({ length: random.between(1, random.chance(0.2) ? 10 : 3) }, () =>
        importing(random, finds, 'laptop'),
      ).flat();
      return [
        ...many,
        pushingWith({ killedAfter: random.between(0, 60 * many.length) }),
        pushing(),
      ];
    },
  },
  'many finds at once': {
    tell: (random, finds) => [
      ...(random.chance(0.5) ? [{ kind: 'steady-way' } as const] : []),
      entering(random, finds, 'laptop', 14, 18),
      pushing(),
    ],
  },
  'the service saves slowly': {
    tell: (random, finds) => [
      { kind: 'saving', takesMs: random.pick([250, 450, 900]) },
      entering(random, finds, 'laptop', 2, 3),
      random.chance(0.7) ? pushing() : bothPushing([], random.between(0, 300), ...TWO_PLACES),
      pushing(),
    ],
  },
  'a token runs out': {
    tell: (random, finds) => [
      ...(random.chance(0.5) ? [pushing(), entering(random, finds)] : []),
      random.chance(0.5)
        ? waiting(random, 24 * 60 + 1, 30 * 60)
        : { kind: 'tokens', lastMs: random.pick([150, 400, 900]) },
      ...(random.chance(0.5) ? [entering(random, finds, 'laptop', 1, 4)] : []),
      pushing(),
    ],
  },
  'what waits for a find that is in doubt': {
    tell: (random, finds) => {
      const find = getLast(finds);
      const later: Step[] = [photographing(random, find), numbering(random, find)];
      return [
        ...later.filter(() => random.chance(0.7)),
        pushingWith(meeting('answer-lost', ...(random.chance(0.3) ? [random.pick(UNKNOWN)] : []))),
        ...(random.chance(0.5) ? [waiting(random, 0.1, 26)] : []),
        random.chance(0.5) ? looking() : pushing(),
      ];
    },
  },
  'two windows of one outbox': {
    tell: (random, finds) => [
      entering(random, finds, 'laptop', 1, 4),
      bothPushing(
        [1, 2, 3, 4].filter(() => random.chance(0.4)).map((nth) => [nth, 'slow-answer'] as const),
        random.between(50, 900),
        ['laptop', 'archaeologist'],
        // One person at two windows, or two.
        ['laptop', random.chance(0.7) ? 'archaeologist' : 'researcher'],
      ),
      waiting(random, 1, 26),
      pushing(),
    ],
  },
  'two places have finds of one account': {
    tell: (random, finds) => {
      const mine = finds[0] as PlannedFind;
      const twin = { ...mine, id: `F-${finds.length + 1}` };
      finds.push(twin);
      const theirs: Step = random.chance(0.6)
        ? { kind: 'import', machine: 'office', account: 'archaeologist', finds: [twin] }
        : entering(random, finds, 'office', 1, 1);
      return [
        theirs,
        ...(random.chance(0.7) ? [pushing('office')] : []),
        ...(random.chance(0.5) ? [waiting(random, 1, 26, 130)] : []),
        pushingWith(
          meeting(...Array.from({ length: 3 }, () => random.pick(['lost', 'cut'] as const))),
        ),
        ...(random.chance(0.5) ? [waiting(random, 1, 26)] : []),
        looking(),
      ];
    },
  },
  'two finds that are equal are in doubt': {
    tell: (random, finds) => {
      const [one] = finds as [PlannedFind];
      const equal = Array.from({ length: random.between(2, 3) }, () => {
        const find = { ...one, id: `F-${finds.length + 1}` };
        finds.push(find);
        return find;
      });
      // Once one has been decided several are sent at once, so that one may be made while another
      // is under way.
      const fates = equal.map(() =>
        random.pick(['late', 'unanswered', 'answer-lost', 'arrives', 'cut'] as const),
      );
      return [
        { kind: 'import', machine: 'laptop', account: 'archaeologist', finds: equal },
        pushingWith(meeting('arrives', ...fates)),
        waiting(random, 1, 13, 130),
        looking(),
      ];
    },
  },
  'a clock is put right': {
    tell: (random, finds) => {
      const byMs = Math.round(
        (random.chance(0.7) ? 1 : -1) * random.pick([3_600_000, 60_000_000, 300_000_000]),
      );
      return [
        ...(random.chance(0.3) ? [pushing()] : []),
        { kind: 'clock', machine: 'laptop', byMs },
        entering(random, finds, 'laptop', 1, 2),
        pushingWith(
          meeting(random.pick(['cut', ...UNKNOWN]), random.pick(['closed', 'arrives', 'closed'])),
        ),
        { kind: 'clock', machine: 'laptop', byMs: -byMs },
        ...(random.chance(0.5) ? [waiting(random, 1, 11, 26)] : []),
        ...(random.chance(0.3) ? [curating(random, random.pick(finds).id)] : []),
        random.chance(0.5) ? pushing() : looking(),
      ];
    },
  },
  'photographs of which nobody knows whether they arrived': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const isNamed = random.chance(0.5);
      const photo = (): Step => ({
        kind: 'photo',
        machine: 'laptop',
        find,
        shade: random.between(0, 40_000),
        ...(isNamed ? { name: 'photo.png' } : {}),
      });
      const fate = (): Fate => random.pick(['late', 'astray', 'answer-lost', 'lost', 'arrives']);
      return [
        pushing(),
        photo(),
        ...(random.chance(0.6) ? [photo()] : []),
        pushingWith(meeting(fate(), fate())),
        ...(random.chance(0.5) ? [photo()] : []),
        ...(random.chance(0.5) ? [numbering(random, find)] : []),
        ...(random.chance(0.5) ? [waiting(random, 0.1, 1, 3, 26)] : []),
        pushing(),
        looking(),
        pushing(),
      ];
    },
  },
  'what was lost is sent again, and lies somewhere': {
    tell: (random, finds) => [
      pushing(),
      entering(random, finds, 'laptop', 1, 1),
      pushingWith(meeting('lost', random.pick(['closed', 'arrives']))),
      waiting(random, 26, 40),
      pushingWith(meeting(random.pick(['late', 'astray']), 'arrives')),
      ...(random.chance(0.5) ? [waiting(random, 0.1, 1)] : []),
      looking(),
      pushing(),
    ],
  },
  'two homes of one machine': {
    tell: (random, finds) => [
      { kind: 'new-home' },
      entering(random, finds, 'laptop', 2, 5),
      entering(random, finds, 'second', 2, 4, 'researcher'),
      bothPushing(
        [],
        random.between(0, 400),
        ['laptop', 'archaeologist'],
        ['second', 'researcher'],
      ),
      pushing('second', 'researcher'),
    ],
  },
  'connections take their time': {
    tell: (random, finds) => [
      { kind: 'connecting', maxMs: random.pick([60, 150, 700]) },
      entering(random, finds, 'laptop', 4, 8),
      pushing(),
    ],
  },
  'what is in doubt is deleted or corrected at the service': {
    tell: (random, finds) => {
      const isShown = random.chance(0.7);
      const first = isShown ? finds.length : 0;
      return [
        ...(isShown ? [pushing()] : []),
        // The service gives the last identifier again, once its record is deleted.
        entering(random, finds, 'laptop', 1, 2),
        { kind: 'index', delayMs: 3 * MINUTE_MS },
        pushingWith(meeting(random.pick(['answer-lost', 'unanswered', 'bad-gateway-after']))),
        {
          kind: 'curator',
          find: finds[first]?.id ?? '',
          does: random.pick(['deletion', 'correction'] as const),
          value: getNumber(random),
        },
        waiting(random, 26, 130),
        looking(),
        pushing(),
      ];
    },
  },
  'a disk is full': {
    tell: (random, finds) => [
      entering(random, finds, 'laptop', 1, 3),
      photographing(random, getLast(finds)),
      pushingWith({
        disk: {
          kind: random.pick(['full', 'broken'] as const),
          afterWrites: random.between(0, 40),
        },
        ...(random.chance(0.4) ? doubtful(random) : {}),
      }),
      ...(random.chance(0.5) ? [waiting(random, 1, 26)] : []),
      pushing(),
    ],
  },
  'a user name is another person’s now': {
    alone: true,
    tell: (random, finds) => [
      ...(random.chance(0.8) ? [pushing(), entering(random, finds)] : []),
      { kind: 'other-account' },
      ...(random.chance(0.5) ? [waiting(random, 24 * 60 + 1)] : []),
      pushing(),
    ],
  },
  'a service is put back from its backup': {
    alone: true,
    tell: (random, finds) => {
      /** A number for a new find, or for one whose identifier the service may give again. */
      const numbering = (value: string): Step => {
        const find = /[17]$/.test(value) ? (finds[0]?.id ?? '') : getLast(finds);
        return { kind: 'number', machine: 'laptop', find, value };
      };
      return [
        ...(random.chance(0.7) ? [pushing()] : []),
        { kind: 'keep-service' },
        ...(random.chance(0.7) ? [entering(random, finds)] : []),
        photographing(random, getLast(finds)),
        pushingWith(
          random.chance(0.5) ? meeting('arrives', random.pick(['closed', ...UNKNOWN])) : {},
        ),
        { kind: 'put-service-back' },
        entering(random, finds),
        ...(random.chance(0.5) ? [numbering(getNumber(random))] : []),
        pushingWith(random.chance(0.5) ? meeting(random.pick(UNKNOWN)) : {}),
        waiting(random, 26, 130),
        pushing(),
      ];
    },
  },
  'a number is set back': {
    alone: true,
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const value = getNumber(random);
      const number = { kind: 'number', machine: 'laptop', find, value } as const;
      return [
        number,
        pushing(),
        { kind: 'curator', find, does: 'number', value: getNumber(random) },
        waiting(random, 1, 26),
        { kind: 'pull', machine: 'laptop', account: 'archaeologist', fates: [] },
        number,
        pushing(),
      ];
    },
  },
  'a push dies at a number, and a curator sets another': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      return [
        pushing(),
        numbering(random, find),
        pushingWith(
          meeting(
            random.pick(['dies', 'dies', 'lost', 'unanswered', 'answer-lost', 'bad-gateway-after']),
          ),
        ),
        { kind: 'curator', find, does: 'number', value: getNumber(random) },
        ...(random.chance(0.5) ? [waiting(random, 1, 26, 130)] : []),
        pushing(),
        waiting(random, 26, 130),
        pushing(),
      ];
    },
  },
  'a machine is rolled back': {
    alone: true,
    tell: (random, finds) => {
      const find = getLast(finds);
      const photo = (name?: string): Step => ({
        kind: 'photo',
        machine: 'laptop',
        find,
        shade: random.between(0, 40_000),
        name,
      });
      const findCount = finds.length;
      return [
        ...(random.chance(0.5) ? [pushing(), entering(random, finds), photo()] : [photo()]),
        ...(random.chance(0.4) ? [photo('photo.png')] : []),
        ...(random.chance(0.3) ? [numbering(random, find)] : []),
        atLaptop('keep-machine'),
        ...(random.chance(0.3) ? [entering(random, finds)] : []),
        ...(random.chance(0.3) ? [photo('photo.png')] : []),
        pushingWith(random.chance(0.3) ? meeting('arrives', random.pick(UNKNOWN)) : {}),
        // The index has had its time.
        waiting(random, 40, 130, 3000),
        atLaptop('roll-back'),
        ...(random.chance(0.3) ? [commanding(random, random.pick(finds).id, 'edit')] : []),
        ...(random.chance(0.5) ? [importingAgain((finds[findCount] ?? finds[0])?.id ?? '')] : []),
        pushing(),
        answering(),
        ...(random.chance(0.3) ? [atLaptop('roll-back'), pushing()] : []),
      ];
    },
  },
  'a second laptop has the same table': {
    alone: true,
    tell: (random, finds) => {
      const again = (): Step => ({
        kind: 'import-again',
        machine: 'office',
        find: finds[0]?.id ?? '',
        elsewhere: true,
      });
      const theirs = random.chance(0.5)
        ? [entering(random, finds, 'office', 1, 1), pushing('office')]
        : [];
      return [
        ...(random.chance(0.5) ? [...theirs, again()] : [pushing(), ...theirs]),
        pushingWith(
          random.chance(0.4) ? meeting(random.pick(['answer-lost', 'unanswered', 'lost'])) : {},
        ),
        waiting(random, 40, 130, 3000),
        ...(random.chance(0.5)
          ? [entering(random, finds, 'office', 1, 1), pushing('office'), waiting(random, 40, 3000)]
          : []),
        again(),
        {
          kind: 'photo',
          machine: 'office',
          find: finds[0]?.id ?? '',
          shade: random.between(0, 40_000),
        },
        pushing('office'),
        answering('office'),
        ...(random.chance(0.4) ? [looking(), pushing()] : []),
      ];
    },
  },
  'a home is lost': {
    tell: (random, finds) => {
      const again = (): Step => importingAgain(finds[0]?.id ?? '');
      return [
        ...(random.chance(0.3) ? [entering(random, finds)] : []),
        photographing(random, getLast(finds)),
        pushingWith(random.chance(0.6) ? doubtful(random) : meeting('dies')),
        atLaptop('lose-home'),
        ...(random.chance(0.5) ? [entering(random, finds)] : []),
        again(),
        pushing(),
        answering(),
        ...(random.chance(0.5) ? [waiting(random, 1, 26)] : []),
        pushing(),
      ];
    },
  },
  'two outboxes of one account on one machine': {
    tell: (random, finds) => [
      { kind: 'new-home' },
      pushingPerhapsInDoubt(random, 0.5),
      { kind: 'import-again', machine: 'second', find: random.pick(finds).id, elsewhere: true },
      ...(random.chance(0.5) ? [entering(random, finds, 'second')] : []),
      pushing('second'),
      answering('second'),
      ...(random.chance(0.5) ? [waiting(random, 13, 130)] : []),
      entering(random, finds, random.pick(['laptop', 'second'] as const)),
      pushing('second'),
      pushing(),
    ],
  },
  'a ledger is damaged or lost': {
    tell: (random, finds) => {
      const harm = (): Step =>
        random.chance(0.3)
          ? { kind: 'lose-ledger', machine: 'laptop' }
          : {
              kind: 'damage-ledger',
              machine: 'laptop',
              places: Array.from({ length: random.between(1, 8) }, () => random.next()),
            };
      return [
        pushingPerhapsInDoubt(random, 0.5),
        ...(random.chance(0.4) ? [atLaptop('keep-copy')] : []),
        entering(random, finds),
        pushingPerhapsInDoubt(random, 0.5),
        harm(),
        entering(random, finds),
        pushingPerhapsInDoubt(random, 0.3),
        pushing(),
        ...(random.chance(0.5)
          ? [{ kind: 'put-copy-back', machine: 'laptop', withLog: true } as const, pushing()]
          : []),
        ...(random.chance(0.3) ? [harm(), pushing()] : []),
      ];
    },
  },
  'a backup is restored': {
    tell: (random, finds) => {
      const restoring: Step = commanding(random, '', 'restore');
      return [
        ...(random.chance(0.6) ? [pushingPerhapsInDoubt(random, 0.4)] : []),
        atLaptop('backup'),
        entering(random, finds),
        photographing(random, getLast(finds)),
        pushingWith(random.pick([doubtful(random), meeting('dies'), meeting('arrives', 'dies')])),
        ...(random.chance(0.2) ? [atLaptop('lose-home')] : []),
        restoring,
        ...(random.chance(0.5) ? [importingAgain(getLast(finds))] : []),
        pushingPerhapsInDoubt(random, 0.4),
        ...(random.chance(0.3) ? [restoring, pushing()] : []),
      ];
    },
  },
  'a photograph is given up, and wanted again': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const photo: Step = photographing(random, find);
      return [
        pushing(),
        photo,
        pushingWith(meeting(random.pick(['dies', 'lost', 'late', 'astray', 'closed']))),
        commanding(random, find, 'drop'),
        photo,
        ...(random.chance(0.5) ? [waiting(random, 1, 26)] : []),
        pushing(),
      ];
    },
  },
  'people work beside a push': {
    tell: (random, finds) => {
      const beside = (...among: readonly Doing[]) => ({
        kind: 'beside' as const,
        fates: doubtful(random).fates ?? [],
        afterMs: random.between(0, 1500),
        ...doing(random, 'laptop', random.pick(finds).id, among),
      });
      /** Beside a push each, or both beside one that watches. */
      const besidePushes = (
        one: ReturnType<typeof beside>,
        other: ReturnType<typeof beside>,
      ): Step[] => {
        const { machine, account, fates, afterMs } = one;
        if (afterMs % 2 === 0) return [one, other];
        const restMs = [5000, 20_000, 700_000][other.afterMs % 3] ?? 0;
        return [
          {
            kind: 'watch',
            machine,
            account,
            fates,
            restMs,
            meanwhile: [one, { ...other, afterMs: 5 * other.afterMs }],
          },
        ];
      };
      return [
        entering(random, finds, 'laptop', 1, 4),
        photographing(random, getLast(finds)),
        ...(random.chance(0.4) ? [atLaptop('backup')] : []),
        ...besidePushes(
          beside(
            'edit',
            'remove',
            'number-import',
            'drop',
            'restore',
            'take-over',
            'check',
            'photo',
            'import-again',
            'curate',
            'decide',
          ),
          beside(
            'edit',
            'remove',
            'validate',
            'number-import',
            'take-back',
            'restore',
            'redo',
            'photo',
            'decide',
          ),
        ),
        pushing(),
      ];
    },
  },
  'a training service beside the real one': {
    tell: (random, finds) => {
      const by = (does: Doing): Step => ({
        kind: 'does',
        ...doing(random, 'laptop', random.pick(finds).id, [does]),
      });
      return [
        ...(random.chance(0.5) ? [numbering(random, getLast(finds))] : []),
        ...(random.chance(0.5)
          ? [by('rehearse')]
          : [by('train'), pushing('laptop', 'training', doubtful(random))]),
        pushingPerhapsInDoubt(random, 0.3),
        ...(random.chance(0.5) ? [by('train'), pushing('laptop', 'training')] : []),
        entering(random, finds),
        ...(random.chance(0.5) ? [by('rehearse')] : []),
        pushing(),
      ];
    },
  },
  'no clock is right': {
    tell: (random, finds) => {
      const set = (): Step => ({
        kind: 'clock',
        machine: 'laptop',
        byMs: Math.round(
          (random.next() - 0.5) * random.pick([3_600_000, 90_000_000, 2_000_000_000]),
        ),
      });
      const find = getLast(finds);
      return [
        set(),
        photographing(random, find),
        atLaptop('backup'),
        set(),
        pushingPerhapsInDoubt(random, 0.6),
        set(),
        ...(random.chance(0.5) ? [commanding(random, find, 'restore', 'edit')] : []),
        importingAgain(find),
        set(),
        pushing(),
        ...(random.chance(0.5) ? [waiting(random, 1, 26), looking()] : []),
        set(),
        pushing(),
      ];
    },
  },
  'numbers change to and fro': {
    tell: (random, finds) => {
      const find = random.pick(finds).id;
      const values = [getNumber(random), getNumber(random)];
      const changing = (nth: number): Step[] => [
        { kind: 'number', machine: 'laptop', find, value: values[nth % 2] ?? '' },
        ...(random.chance(0.2) ? [commanding(random, find, 'take-back', 'redo')] : []),
        ...(random.chance(0.2) ? [atLaptop('backup')] : []),
        ...(random.chance(0.8)
          ? [
              pushingWith(
                random.chance(0.4)
                  ? meeting(random.pick(['late', 'repeated', 'unanswered', 'lost', 'dies']))
                  : {},
              ),
            ]
          : []),
        ...(random.chance(0.15) ? [commanding(random, find, 'restore')] : []),
      ];
      return [pushing(), ...[0, 1, 2, 3].flatMap(changing), waiting(random, 1, 26), pushing()];
    },
  },
  'people undo what they did': {
    tell: (random, finds) => {
      const by = (...among: readonly Doing[]): Step =>
        commanding(random, random.pick(finds).id, ...among);
      const trying = (): Step[] =>
        random.chance(0.5)
          ? [
              pushingWith(
                meeting(
                  random.pick([...UNKNOWN, 'cut', 'closed', 'arrives']),
                  random.pick(['cut', 'arrives']),
                ),
              ),
            ]
          : [];
      return [
        ...trying(),
        ...Array.from({ length: random.between(2, 4) }, () => [
          ...(random.chance(0.3) ? [entering(random, finds)] : []),
          by('remove', 'drop', 'decide', 'number-import', 'photo', 'edit', 'import-again'),
          ...(random.chance(0.2) ? [atLaptop('backup')] : []),
          ...trying(),
          by('take-back'),
          ...(random.chance(0.4) ? [by('redo')] : []),
          ...(random.chance(0.3) ? [by('take-back', 'restore')] : []),
        ]).flat(),
        ...trying(),
        waiting(random, 1, 26),
        pushing(),
      ];
    },
  },
  'a table comes again under other local ids': {
    alone: true,
    tell: (random, finds) => [
      ...(random.chance(0.8) ? [pushingPerhapsInDoubt(random, 0.3)] : []),
      ...(random.chance(0.6) ? [atLaptop('lose-home')] : []),
      { kind: 'import-again', machine: 'laptop', find: random.pick(finds).id, renamed: true },
      pushing(),
      answering(),
    ],
  },
  'finds that differ little': {
    tell: (random, finds) => {
      const near = someFinds(random, finds, 1, 2).map((find) => ({
        ...find,
        longitude: finds[0]?.longitude ?? '',
      }));
      return [
        ...(random.chance(0.5) ? [pushing()] : []),
        { kind: 'import', machine: 'laptop', account: 'archaeologist', finds: near },
        ...(random.chance(0.4) ? [atLaptop('lose-home')] : []),
        importingAgain(near[0]?.id ?? ''),
        pushingPerhapsInDoubt(random, 0.4),
        answering(),
      ];
    },
  },
  'a colleague has the same table on the same machine': {
    alone: true,
    tell: (random, finds) => [
      pushingWith(random.chance(0.3) ? meeting('answer-lost') : {}),
      {
        kind: 'import-again',
        machine: 'laptop',
        find: random.pick(finds).id,
        elsewhere: true,
        account: 'researcher',
      },
      pushing('laptop', 'researcher'),
      answering('laptop', 'researcher'),
      pushing(),
    ],
  },
};
