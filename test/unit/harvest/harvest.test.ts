import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OaiError } from '../../../src/base/errors.ts';
import { harvestList } from '../../../src/harvest/harvest-list.ts';
import { openStateInMemory } from '../../../src/harvest/harvest-state.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Order, PlayedList } from './played-list.ts';

type Event =
  | { readonly do: 'edit' | 'remove' | 'restore'; readonly name: string }
  | { readonly do: 'backdate'; readonly name: string; readonly agoMs: number }
  | { readonly do: 'order'; readonly order: Order }
  | { readonly do: 'page size'; readonly size: number }
  | { readonly do: 'tokens expire' | 'nothing' };

const HOUR_MS = 3_600_000;
const names = Array.from({ length: 16 }, (_, index) => `N-${String(index).padStart(2, '0')}`);

const NOTHING: Event = { do: 'nothing' };

function apply(list: PlayedList, event: Event): void {
  if (event.do === 'edit') list.edit(event.name);
  else if (event.do === 'backdate') list.backdate(event.name, event.agoMs);
  else if (event.do === 'remove') list.remove(event.name);
  else if (event.do === 'restore') list.restore(event.name);
  else if (event.do === 'order') list.order = event.order;
  else if (event.do === 'page size') list.pageSize = event.size;
  else if (event.do === 'tokens expire') list.expireTokens();
}

/**
 * @param events before each answer;
 * @returns what is kept, sorted, or undefined where the harvest fails as incomplete, and how often
 * the list was looked at
 */
async function harvested(
  list: PlayedList,
  events: readonly (Event | readonly Event[])[],
  untilMs: number | null = null,
) {
  const coming = [...events];
  const moments: string[] = [];
  const until = untilMs === null ? {} : { until: new Date(untilMs).toISOString() };
  const note = (): void => void moments.push(JSON.stringify(list.listed(until).sort()));
  note();
  list.beforeAnswer = () => {
    for (const event of [coming.shift() ?? NOTHING].flat()) {
      apply(list, event);
      note();
    }
  };
  const kept = new Map<string, string>();
  const state = openStateInMemory();
  let scans = 0;
  try {
    const { pass } = await harvestList({
      client: { listRecords: list.listRecords, listHeaders: list.listRecords },
      clock: manualClock(),
      setSpec: 'projekt',
      metadataPrefix: 'oai_svc',
      granularity: 'second',
      window: { fromMs: null, untilMs },
      overlapMs: 600_000,
      serverNowMs: list.nowMs,
      store: {
        state,
        commit: ({ records }) => {
          for (const { header, element } of records) kept.set(header.identifier, element.text);
          return [];
        },
      },
    });
    scans = pass.scan;
    const listed = new Set(state.listSeenIn(scans));
    for (const name of kept.keys()) if (!listed.has(name)) kept.delete(name);
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'incomplete') throw thrown;
    return { kept: undefined, moments, scans };
  }
  return { kept: JSON.stringify([...kept].sort()), moments, scans };
}

function aList(counts: boolean, order: Order = 'newest first', count = 10): PlayedList {
  const list = new PlayedList(counts);
  list.order = order;
  for (const name of names.slice(0, count)) {
    list.edit(name);
    list.nowMs += 1500;
  }
  list.nowMs += HOUR_MS;
  return list;
}

describe('a list that shrinks while it is walked loses nothing', () => {
  test.each([true, false])(
    'if a record leaves the window since it was edited (counted: %s)',
    async (counts) => {
      const list = aList(counts);
      const untilMs = list.nowMs - 1_800_000;
      const { kept: keptText, moments } = await harvested(
        list,
        [{ do: 'nothing' }, { do: 'edit', name: 'N-09' }],
        untilMs,
      );
      expect(keptText).toBe(moments.at(-1));
    },
  );

  test.each([true, false])('if a record is purged (counted: %s)', async (counts) => {
    const { kept: keptText, moments } = await harvested(aList(counts), [
      { do: 'nothing' },
      { do: 'remove', name: 'N-09' },
    ]);
    expect(keptText).toBe(moments.at(-1));
  });
});

const name = fc.constantFrom(...names);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ do: 'nothing' }) },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'remove' as const), name }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      order: fc.constantFrom<Order>('newest first', 'oldest first', 'by name'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('page size' as const),
      size: fc.integer({ min: 1, max: 5 }),
    }),
  },
  { weight: 1, arbitrary: fc.constant<Event>({ do: 'tokens expire' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('backdate' as const),
      name,
      agoMs: fc.integer({ min: HOUR_MS, max: HOUR_MS + 20_000 }),
    }),
  },
);
/**
 * One that comes back with its old datestamp in the moment in which another goes leaves no sign: it
 * comes by itself.
 */
const gap = fc.oneof(
  { weight: 3, arbitrary: event },
  { weight: 1, arbitrary: fc.array(event, { minLength: 2, maxLength: 4 }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restore' as const), name }) },
);

test('a list that grows all the time is scanned twice', async () => {
  const list = aList(true, 'newest first', 6);
  list.pageSize = 1;
  const { kept: keptText, scans } = await harvested(
    list,
    names.slice(6).flatMap((name) => [NOTHING, NOTHING, edit(name)]),
  );
  expect(keptText).toBe(JSON.stringify(list.listed().sort()));
  expect(scans).toBe(2);
});

/** Its second page is one that was read: no circle, as the next scan shows. */
const REORDERED: Event[] = [
  { do: 'page size', size: 1 },
  { do: 'order', order: 'newest first' },
];

test('a list that is reordered while it is read is not a cycle', async () => {
  const { kept: keptText, moments } = await harvested(aList(false, 'oldest first'), REORDERED);
  expect(keptText).toBe(moments.at(-1));
});

type Scenario = {
  readonly counts: boolean;
  readonly order: Order;
  readonly events: readonly (Event | readonly Event[])[];
  readonly isBounded: boolean;
};

async function endsAsItWas({ counts, order, events, isBounded }: Scenario): Promise<void> {
  const list = aList(counts, order);
  const { kept: keptText, moments } = await harvested(
    list,
    events,
    isBounded ? list.nowMs - 1_800_000 : null,
  );
  if (keptText !== undefined) expect(moments).toContain(keptText);
}

const TO_NEWEST = { do: 'order', order: 'newest first' } as const;
const TO_OLDEST = { do: 'order', order: 'oldest first' } as const;
const edit = (name: string): Event => ({ do: 'edit', name });
const remove = (name: string): Event => ({ do: 'remove', name });

test.each<[string, Omit<Scenario, 'isBounded'>]>([
  [
    'one was skipped, and another, which was seen, is gone when the list is counted again',
    {
      counts: true,
      order: 'by name',
      events: [NOTHING, TO_NEWEST, edit('N-00'), edit('N-00'), remove('N-03')],
    },
  ],
  [
    'one was skipped, and one that was met goes while another comes, so that the count stays',
    {
      counts: true,
      order: 'newest first',
      events: [
        NOTHING,
        NOTHING,
        NOTHING,
        { do: 'order', order: 'by name' },
        edit('N-12'),
        remove('N-07'),
      ],
    },
  ],
  [
    'one leaves it, comes back, and another leaves it in the second scan at the same place',
    {
      counts: false,
      order: 'newest first',
      events: [
        NOTHING,
        NOTHING,
        NOTHING,
        remove('N-02'),
        { do: 'restore', name: 'N-02' },
        NOTHING,
        NOTHING,
        remove('N-01'),
      ],
    },
  ],
  [
    'the list shrinks in the second scan as well',
    {
      counts: true,
      order: 'oldest first',
      events: [
        remove('N-02'),
        edit('N-05'),
        NOTHING,
        NOTHING,
        { do: 'restore', name: 'N-00' },
        remove('N-00'),
        edit('N-03'),
      ],
    },
  ],
  [
    'it is put into another order in each of two scans, at the same place',
    {
      counts: false,
      order: 'oldest first',
      events: [
        { do: 'page size', size: 4 },
        NOTHING,
        TO_NEWEST,
        TO_OLDEST,
        NOTHING,
        NOTHING,
        TO_NEWEST,
      ],
    },
  ],
  [
    'one is put back behind its place, one that was met goes, and another comes, all between two pages',
    {
      counts: true,
      order: 'newest first',
      events: [
        NOTHING,
        [remove('N-08'), { do: 'backdate', name: 'N-05', agoMs: HOUR_MS + 4000 }, edit('N-12')],
      ],
    },
  ],
  [
    'what a cut left is put into another order, and one that was met goes while another comes',
    {
      counts: true,
      order: 'by name',
      events: [
        remove('N-06'),
        { do: 'tokens expire' },
        [
          { do: 'page size', size: 4 },
          { do: 'backdate', name: 'N-00', agoMs: HOUR_MS },
        ],
        TO_OLDEST,
        NOTHING,
        edit('N-06'),
        remove('N-00'),
      ],
    },
  ],
  [
    'one moves among those read before a cut, one that was met goes, and another comes',
    {
      counts: true,
      order: 'newest first',
      events: [
        edit('N-14'),
        [{ do: 'backdate', name: 'N-00', agoMs: HOUR_MS }, { do: 'tokens expire' }],
        remove('N-14'),
        edit('N-12'),
      ],
    },
  ],
  [
    'a second scan skips one that the first has met',
    {
      counts: true,
      order: 'newest first',
      events: [
        NOTHING,
        edit('N-09'),
        NOTHING,
        { do: 'order', order: 'by name' } as const,
        remove('N-00'),
        NOTHING,
        [remove('N-01'), edit('N-00'), TO_NEWEST],
      ],
    },
  ],
])('the stored list is the list as of some moment if %s', (_, scenario) =>
  endsAsItWas({ ...scenario, isBounded: false }),
);

test('for any changes while a list is read, the stored list is the list as of some later moment', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        counts: fc.boolean(),
        order: fc.constantFrom<Order>('newest first', 'oldest first', 'by name'),
        events: fc.array(gap, { maxLength: 14 }),
        isBounded: fc.boolean(),
      }),
      endsAsItWas,
    ),
  ));
