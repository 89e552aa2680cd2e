import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnavailableError, UsageError } from '../../../src/base/errors.ts';
import { type Exchange, type HttpResponse, NoAnswerError } from '../../../src/http/exchange.ts';
import { passOf, watermarkOf } from '../../../src/ledger/pass.ts';
import { FakeRepository, type RepositoryHabits } from '../../support/fake-repository.ts';
import { type HarvestPlace, harvestPlace, type RunOptions, SET } from '../../support/record-harvest.ts';
import { answer, listXml, OAI_BASE, oaiError, oaiXml, recordXml } from '../../support/scripted-oai.ts';

const ident = (n: number): string => `HES-${String(n).padStart(6, '0')}`;

function aRepository(count: number, habits: Partial<RepositoryHabits> = {}): FakeRepository {
  const repository = new FakeRepository(habits);
  for (let n = 1; n <= count; n++) repository.put(ident(n), `věc ${n}`);
  return repository;
}

/** What the output says of each record now: its last line counts. */
function labels(place: HarvestPlace): Map<string, string> {
  const last = new Map(place.lines().map((line) => [line.identifier, line]));
  return new Map(
    [...last]
      .filter(([, { deleted }]) => deleted !== true)
      .map(([identifier, line]) => [identOf(identifier), labelOf(line.metadata)]),
  );
}

function labelOf(metadata: unknown): string {
  return (metadata as { heslo: { heslo: string } }).heslo.heslo;
}

const identOf = (identifier: string): string => identifier.slice(`${OAI_BASE}/id/`.length);
const sorted = (map: Map<string, string>): [string, string][] => [...map].sort();

/** Lines that say the same of the same record. */
function repetitions(place: HarvestPlace): string[] {
  const texts = place.lines().map((line) => JSON.stringify(line));
  return texts.filter((text, index) => texts.indexOf(text) !== index);
}

const listRequests = (repository: FakeRepository): string[] =>
  repository.requests.filter((query) => query.includes('ListRecords'));

/** Answers that stop coming from the n-th request for a page on. */
function cutAfter(repository: FakeRepository, pages: number): Exchange {
  let seen = 0;
  return async (request) => {
    if (request.url.includes('ListRecords') && ++seen > pages) throw new NoAnswerError('reset', true, 'the network is gone');
    return repository.exchange(request);
  };
}

/** What a harvest asks before its list. */
function ofService(url: string): HttpResponse | undefined {
  if (url.includes('verb=Identify')) return answer(oaiXml('<Identify/>'));
  if (url.includes('verb=ListSets')) return answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`));
  return undefined;
}

const HABITS: readonly (readonly [string, Partial<RepositoryHabits>])[] = [
  ['as deployed: newest first, ended by an empty page', { order: 'newest-first', end: 'empty-page' }],
  ['as the standard has it: oldest first, ended by an empty token', { order: 'oldest-first', end: 'empty-token' }],
  ['ended by no token', { order: 'oldest-first', end: 'no-token' }],
  ['that does not count, newest first', { order: 'newest-first', end: 'no-token', counts: false }],
  ['that does not count, oldest first', { order: 'oldest-first', end: 'empty-token', counts: false }],
];

describe.each(HABITS)('a service %s', (_, habits) => {
  test.each([0, 1, 3, 4, 10])('of %i records is harvested whole, each once', async (count) => {
    const place = harvestPlace();
    const repository = aRepository(count, habits);
    const result = await place.run(repository.exchange);
    expect(result).toMatchObject({ pass: 'full', records: count, written: count, held: count, broken: [] });
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    expect(place.lines()).toHaveLength(count);
  });

  test('that changes between two runs is asked only for what changed', async () => {
    const place = harvestPlace();
    const repository = aRepository(10, habits);
    repository.nowMs += 3600_000;
    await place.run(repository.exchange);
    repository.nowMs += 3600_000;
    repository.put(ident(2), 'změněno');
    repository.remove(ident(7));
    repository.requests.length = 0;
    const result = await place.run(repository.exchange);
    expect(result).toMatchObject({ pass: 'changes', records: 2, written: 2, deleted: 1, held: 10 });
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    expect(place.lines()).toHaveLength(12);
    expect(place.lines().filter(({ deleted }) => deleted)).toMatchObject([{ identifier: `${OAI_BASE}/id/${ident(7)}` }]);
    expect(listRequests(repository)).toHaveLength(1);
  });

  test('whose records change while they are read loses none and repeats none', async () => {
    const place = harvestPlace();
    const repository = aRepository(12, habits);
    let changes = 0;
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken') && changes < 4) repository.put(ident(++changes), `změněno ${changes}`);
    };
    await place.run(repository.exchange);
    await place.run(repository.exchange);
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    expect(repetitions(place)).toEqual([]);
  });
});

describe('a harvest that was cut off', () => {
  test.each(['killed', 'ended'])('and %s goes on at the page where it was', async (how) => {
    const place = harvestPlace();
    const repository = aRepository(12);
    const first = place.run(cutAfter(repository, 2), { killed: how === 'killed' });
    await expect(first).rejects.toBeInstanceOf(UnavailableError);
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({ pass: 'full', records: 12, written: 6 });
    expect(listRequests(repository)[0]).toBe('verb=ListRecords&resumptionToken=T2');
    expect(place.lines()).toHaveLength(12);
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
  });

  test('after its last page asks only for what it misses', async () => {
    const place = harvestPlace();
    const repository = aRepository(4, { end: 'empty-token' });
    // Two pages, and the first count was too high: the list is read to its end, then the network goes.
    const grown: Exchange = async (request) => {
      if (request.url.includes('from=')) throw new NoAnswerError('reset', true, 'gone');
      const given = await repository.exchange(request);
      return { ...given, body: Buffer.from(given.body.toString().replaceAll('completeListSize="4"', 'completeListSize="5"')) };
    };
    await expect(place.run(grown)).rejects.toBeInstanceOf(UnavailableError);
    repository.put(ident(5), 'nová');
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({ records: 5, written: 1 });
    expect(listRequests(repository)[0]).toContain('from=');
  });

  test('asks in the end for what changed since it began', async () => {
    const place = harvestPlace();
    const repository = aRepository(12);
    repository.nowMs += 3600_000;
    await place.run(cutAfter(repository, 1)).catch(() => {});
    const beganMs = place.ledger((ledger) => passOf(ledger)?.beganMs) ?? 0;
    repository.nowMs += 24 * 3600_000;
    repository.put(ident(12), 'změněno');
    await place.run(repository.exchange);
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    const from = `${new Date(beganMs - 600_000).toISOString().slice(0, 19)}Z`;
    expect(new URLSearchParams(listRequests(repository).at(-1)).get('from')).toBe(from);
  });
});

describe('a token that the service no longer knows', () => {
  test.each(['newest-first', 'oldest-first'] as const)('costs only the rest of a list that is ordered %s', async (order) => {
    const place = harvestPlace();
    const repository = aRepository(30, { order });
    repository.nowMs += 3600_000;
    await place.run(cutAfter(repository, 6)).catch(() => {});
    repository.expireTokens();
    repository.requests.length = 0;
    expect(await place.run(repository.exchange)).toMatchObject({ records: 30, held: 30 });
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
    expect(repetitions(place)).toEqual([]);
    // 30 records on pages of 3 are 10 pages, of which 6 were read and the last of them may be met again. Beside them: the
    // refused token, the empty page at the end, and what changed since.
    expect(listRequests(repository).length).toBeLessThanOrEqual(1 + 5 + 1 + 1);
  });

  test('does not hide what changed since', async () => {
    const place = harvestPlace();
    const repository = aRepository(30);
    await place.run(cutAfter(repository, 6)).catch(() => {});
    repository.expireTokens();
    repository.put(ident(1), 'změněno');
    repository.put(ident(99), 'nová');
    await place.run(repository.exchange);
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
  });

  test('may be every one, as long as the list is ordered', async () => {
    const place = harvestPlace();
    const repository = aRepository(12);
    repository.beforeAnswer = () => repository.expireTokens();
    expect(await place.run(repository.exchange)).toMatchObject({ records: 12 });
    expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
  });

  test('again and again, without anything new between, ends the harvest', async () => {
    const place = harvestPlace();
    const refusing: Exchange = async ({ url }) =>
      ofService(url) ??
      answer(
        url.includes('resumptionToken')
          ? oaiError('badResumptionToken')
          : listXml('ListRecords', [recordXml('A'), recordXml('B')], 'T1', 'completeListSize="5"'),
      );
    const failure = await place.run(refusing).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ oaiCode: 'incomplete', exitCode: 14 });
    expect(String(failure)).toMatch(/refuses its own resumption tokens.*3 are missing/);
    expect(place.lines()).toHaveLength(2);
  });
});

describe('a list that comes short', () => {
  const short = (request: { url: string }): ReturnType<Exchange> =>
    new Promise((done) => {
      const query = new URL(request.url).searchParams;
      if (query.get('verb') === 'Identify') done(answer(oaiXml('<Identify/>')));
      else if (query.get('verb') === 'ListSets')
        done(answer(oaiXml(`<ListSets><set><setSpec>${SET}</setSpec></set></ListSets>`)));
      else if (query.has('resumptionToken')) done(answer(listXml('ListRecords', [recordXml('B')], '', 'completeListSize="5"')));
      else done(answer(listXml('ListRecords', [recordXml('A')], 'T1', 'completeListSize="5"')));
    });

  test('is a failure that says how many are missing', async () => {
    const place = harvestPlace();
    const failure = await place.run(short).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ oaiCode: 'incomplete', exitCode: 14 });
    expect(String(failure)).toMatch(/counts 5 records and sent 2: 3 are missing/);
    expect(place.lines()).toHaveLength(2);
    expect(place.ledger(watermarkOf)).toBeNull();
  });

  test('is read again by the next run', async () => {
    const place = harvestPlace();
    await place.run(short).catch(() => {});
    const repository = new FakeRepository();
    for (const name of ['A', 'B', 'C', 'D', 'E']) repository.put(name, name);
    expect(await place.run(repository.exchange)).toMatchObject({ pass: 'full', records: 5 });
  });
});

describe('a list that never ends', () => {
  function endless(pageOf: (n: number) => string): Exchange {
    let pages = 0;
    return async ({ url }) => ofService(url) ?? answer(pageOf(pages++));
  }

  test.each([
    ['gives the same token again', (n: number) => listXml('ListRecords', [recordXml(`A${n}`)], 'T', 'completeListSize="9"')],
    ['goes round in a circle', (n: number) => listXml('ListRecords', [recordXml(`A${n % 3}`)], `T${n}`, 'completeListSize="9"')],
    [
      'shuffles the same records for ever',
      (n: number) =>
        listXml(
          'ListRecords',
          [...new Set([n % 7, (n * n) % 7, (n >> 2) % 7])].map((k) => recordXml(`A${k}`)),
          `T${n}`,
          'completeListSize="9"',
        ),
    ],
  ])('since it %s is a failure that says how many are missing', async (_, pageOf) => {
    const place = harvestPlace();
    const failure = await place.run(endless(pageOf)).catch((thrown: unknown) => thrown);
    expect(failure).toMatchObject({ oaiCode: 'loop', exitCode: 14 });
    expect(String(failure)).toMatch(/counts 9 records and sent \d: \d are missing/);
    expect(place.ledger((ledger) => passOf(ledger)?.token)).toBeNull();
    expect(repetitions(place)).toEqual([]);
  });
});

describe('what is asked for', () => {
  test('is bounded by the days that the user gave, both included', async () => {
    const place = harvestPlace();
    const repository = aRepository(3);
    const window: RunOptions = { from: '2025-05-01', until: '2025-06-01' };
    await place.run(repository.exchange, window);
    expect(listRequests(repository)).toEqual([
      `verb=ListRecords&metadataPrefix=oai_svc&set=${encodeURIComponent(SET)}&from=2025-05-01T00%3A00%3A00Z&until=2025-06-01T23%3A59%3A59Z`,
    ]);
  });

  test('is nothing once a window that lies in the past is complete', async () => {
    const place = harvestPlace();
    const repository = aRepository(3);
    const window: RunOptions = { until: '2025-06-01' };
    await place.run(repository.exchange, window);
    repository.nowMs += 30 * 24 * 3600_000;
    await place.run(repository.exchange, window);
    repository.requests.length = 0;
    expect(await place.run(repository.exchange, window)).toMatchObject({ records: 0, written: 0, held: 3 });
    expect(listRequests(repository)).toEqual([]);
  });

  test('must be a set that the service has', async () => {
    const place = harvestPlace();
    const exchange: Exchange = async () => answer(oaiXml('<ListSets><set><setSpec>projekt</setSpec></set></ListSets>'));
    await expect(place.run(exchange)).rejects.toBeInstanceOf(UsageError);
    expect(place.lines()).toEqual([]);
  });
});

test('a record that changed twice within one second is not taken for the one that is there', async () => {
  const place = harvestPlace();
  const repository = aRepository(3);
  await place.run(repository.exchange);
  const now = repository.nowMs;
  repository.nowMs -= 60_000;
  repository.put(ident(1), 'první změna');
  const changedMs = repository.nowMs;
  repository.nowMs = now;
  await place.run(repository.exchange);
  repository.nowMs = changedMs - 1000;
  repository.put(ident(1), 'druhá změna');
  repository.nowMs = now;
  expect(await place.run(repository.exchange)).toMatchObject({ written: 1 });
  expect(labels(place).get(ident(1))).toBe('druhá změna');
});

test('progress counts what was met against the whole', async () => {
  const place = harvestPlace();
  const seen: (readonly [number, number | undefined])[] = [];
  await place.run(aRepository(7).exchange, { onProgress: ({ done, total }) => seen.push([done, total]) });
  expect(seen.slice(0, 3)).toEqual([
    [3, 7],
    [6, 7],
    [7, 7],
  ]);
});

type Change = { readonly do: 'put' | 'remove' | 'page size'; readonly n: number } | { readonly do: 'tokens expire' | 'nothing' };
type Harvest = {
  readonly do: 'harvest';
  readonly pages: number;
  readonly killed: boolean;
  readonly during: readonly Change[];
};

const numbered = (name: 'put' | 'remove' | 'page size', max: number): fc.Arbitrary<Change> =>
  fc.record({ do: fc.constant(name), n: fc.integer({ min: 1, max }) });

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 5, arbitrary: numbered('put', 25) },
  { weight: 2, arbitrary: numbered('remove', 25) },
  { weight: 1, arbitrary: numbered('page size', 5) },
  { weight: 1, arbitrary: fc.constant({ do: 'tokens expire' as const }) },
);
const harvest: fc.Arbitrary<Harvest> = fc.record({
  do: fc.constant('harvest' as const),
  pages: fc.integer({ min: 0, max: 12 }),
  killed: fc.boolean(),
  during: fc.array(fc.oneof(change, fc.constant({ do: 'nothing' as const })), { maxLength: 8 }),
});
const story = fc.record({
  steps: fc.array(fc.oneof({ weight: 3, arbitrary: change }, { weight: 2, arbitrary: harvest }), { maxLength: 20 }),
  pageSize: fc.integer({ min: 1, max: 5 }),
  habits: fc.constantFrom(...HABITS.map(([, habits]) => habits)),
});

async function play({ steps, pageSize, habits }: typeof story extends fc.Arbitrary<infer Story> ? Story : never): Promise<void> {
  const place = harvestPlace();
  const repository = aRepository(10, { ...habits, pageSize });
  let version = 0;
  const apply = (one: Change): void => {
    if (one.do === 'put') repository.put(ident(one.n), `${one.n}, ${++version}`);
    else if (one.do === 'remove') repository.remove(ident(one.n));
    else if (one.do === 'page size') repository.habits.pageSize = one.n;
    else if (one.do === 'tokens expire') repository.expireTokens();
  };
  for (const one of steps) {
    if (one.do !== 'harvest') {
      apply(one);
      continue;
    }
    const coming = [...one.during];
    repository.beforeAnswer = () => apply(coming.shift() ?? { do: 'nothing' });
    await place.run(cutAfter(repository, one.pages), { killed: one.killed }).catch(() => {});
    repository.beforeAnswer = () => {};
  }
  await place.run(repository.exchange);
  expect(sorted(labels(place))).toEqual(sorted(repository.alive()));
  expect(repetitions(place)).toEqual([]);
}

test(
  'whatever happens between and during harvests, one quiet run makes the output equal to the service',
  { timeout: 300_000 },
  () => fc.assert(fc.asyncProperty(story, play), { numRuns: 60 }),
);
