import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { OaiError } from '../../../src/base/errors.ts';
import { harvest } from '../../../src/oai/harvest-engine.ts';
import { memoryState } from '../../../src/oai/harvest-state.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { type Order, PlayedList } from '../../support/played-list.ts';

type Event =
  | { readonly do: 'edit' | 'remove' | 'restore'; readonly name: string }
  | { readonly do: 'order'; readonly order: Order }
  | { readonly do: 'page size'; readonly size: number }
  | { readonly do: 'tokens expire' | 'nothing' };

const names = Array.from({ length: 16 }, (_, index) => `N-${String(index).padStart(2, '0')}`);

function apply(list: PlayedList, event: Event): void {
  if (event.do === 'edit') list.edit(event.name);
  else if (event.do === 'remove') list.remove(event.name);
  else if (event.do === 'restore') list.restore(event.name);
  else if (event.do === 'order') list.order = event.order;
  else if (event.do === 'page size') list.pageSize = event.size;
  else if (event.do === 'tokens expire') list.expireTokens();
}

/** @param events one before each answer; @returns what is kept, sorted, or undefined where the harvest fails as incomplete */
async function harvested(list: PlayedList, events: readonly Event[], untilMs: number | null = null) {
  const coming = [...events];
  const moments: string[] = [];
  const until = untilMs === null ? {} : { until: new Date(untilMs).toISOString() };
  const note = (): void => void moments.push(JSON.stringify(list.listed(until).sort()));
  note();
  list.beforeAnswer = () => {
    apply(list, coming.shift() ?? { do: 'nothing' });
    note();
  };
  const kept = new Map<string, string>();
  const state = memoryState();
  let waiting: () => void = () => {};
  try {
    await harvest(
      {
        client: {
          listRecords: list.listRecords,
          salvageRecords: () => undefined,
          getRecordPage: async (name) => list.page([name]),
        },
        ...{ clock: manualClock(), state, setSpec: 'projekt', metadataPrefix: 'oai_svc', granularity: 'second' },
        ...{ window: { fromMs: null, untilMs }, overlapMs: 600_000, serverNowMs: list.nowMs },
        sink: {
          write: async ({ records }) => {
            waiting = () => {
              for (const { header, element } of records) kept.set(header.identifier, element.text);
            };
          },
          commit: () => waiting(),
        },
      },
      ({ look }) => {
        const listed = new Set(state.metIn(look.number));
        for (const name of kept.keys()) if (!listed.has(name)) kept.delete(name);
      },
    );
  } catch (thrown) {
    if (!(thrown instanceof OaiError) || thrown.oaiCode !== 'incomplete') throw thrown;
    return { kept: undefined, moments };
  }
  return { kept: JSON.stringify([...kept].sort()), moments };
}

function aList(counts: boolean, order: Order = 'newest first', count = 10): PlayedList {
  const list = new PlayedList(counts);
  list.order = order;
  for (const name of names.slice(0, count)) {
    list.edit(name);
    list.nowMs += 1500;
  }
  list.nowMs += 3_600_000;
  return list;
}

describe('a list that shrinks while it is walked loses nothing', () => {
  test.each([true, false])('where a record leaves the window since it was edited (counted: %s)', async (counts) => {
    const list = aList(counts);
    const untilMs = list.nowMs - 1_800_000;
    const { kept, moments } = await harvested(list, [{ do: 'nothing' }, { do: 'edit', name: 'N-09' }], untilMs);
    expect(kept).toBe(moments.at(-1));
  });

  test.each([true, false])('where a record is deleted for good (counted: %s)', async (counts) => {
    const { kept, moments } = await harvested(aList(counts), [{ do: 'nothing' }, { do: 'remove', name: 'N-09' }]);
    expect(kept).toBe(moments.at(-1));
  });
});

const name = fc.constantFrom(...names);
const event: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Event>({ do: 'nothing' }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom('edit' as const, 'remove' as const, 'restore' as const), name }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('order' as const),
      order: fc.constantFrom<Order>('newest first', 'oldest first', 'by name'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('page size' as const), size: fc.integer({ min: 1, max: 5 }) }) },
  { weight: 1, arbitrary: fc.constant<Event>({ do: 'tokens expire' }) },
);

/** Its second page is one that was read: no circle, as the next look shows. */
const REORDERED: Event[] = [
  { do: 'page size', size: 1 },
  { do: 'order', order: 'newest first' },
];

test('a list that is put into another order while it is read is no circle', async () => {
  const { kept, moments } = await harvested(aList(false, 'oldest first'), REORDERED);
  expect(kept).toBe(moments.at(-1));
});

type Story = {
  readonly counts: boolean;
  readonly order: Order;
  readonly events: readonly Event[];
  readonly isBounded: boolean;
};

async function endsAsItWas({ counts, order, events, isBounded }: Story): Promise<void> {
  const list = aList(counts, order);
  const { kept, moments } = await harvested(list, events, isBounded ? list.nowMs - 1_800_000 : null);
  if (kept !== undefined) expect(moments).toContain(kept);
}

const NOTHING: Event = { do: 'nothing' };
const [TO_NEWEST, TO_OLDEST] = [
  { do: 'order', order: 'newest first' },
  { do: 'order', order: 'oldest first' },
] as const;
const edit = (name: string): Event => ({ do: 'edit', name });
const remove = (name: string): Event => ({ do: 'remove', name });

test.each<[string, Omit<Story, 'isBounded'>]>([
  [
    'one was skipped, and another, which was met, is gone when the list is counted again',
    { counts: true, order: 'by name', events: [NOTHING, TO_NEWEST, edit('N-00'), edit('N-00'), remove('N-03')] },
  ],
  [
    'one was skipped, and one that was met goes while another comes, so that the count stays',
    {
      ...{ counts: true, order: 'newest first' },
      events: [NOTHING, NOTHING, NOTHING, { do: 'order', order: 'by name' }, edit('N-12'), remove('N-07')],
    },
  ],
  [
    'one leaves it, comes back, and another leaves it in the second look at the same place',
    {
      ...{ counts: false, order: 'newest first' },
      events: [NOTHING, NOTHING, NOTHING, remove('N-02'), { do: 'restore', name: 'N-02' }, NOTHING, NOTHING, remove('N-01')],
    },
  ],
  [
    'the list shrinks in the second look as well',
    {
      ...{ counts: true, order: 'oldest first' },
      events: [remove('N-02'), edit('N-05'), NOTHING, NOTHING, { do: 'restore', name: 'N-00' }, remove('N-00'), edit('N-03')],
    },
  ],
  [
    'it is put into another order in each of two looks, at the same place',
    {
      ...{ counts: false, order: 'oldest first' },
      events: [{ do: 'page size', size: 4 }, NOTHING, TO_NEWEST, TO_OLDEST, NOTHING, NOTHING, TO_NEWEST],
    },
  ],
])('what is kept of a list is the list as it was at some moment where %s', (_, story) =>
  endsAsItWas({ ...story, isBounded: false }),
);

test('whatever happens while a list is read, what is kept is the list as it was at some moment since', () =>
  fc.assert(
    fc.asyncProperty(
      fc.record({
        counts: fc.boolean(),
        order: fc.constantFrom<Order>('newest first', 'oldest first', 'by name'),
        events: fc.array(event, { maxLength: 14 }),
        isBounded: fc.boolean(),
      }),
      endsAsItWas,
    ),
    { numRuns: 300 },
  ));
