import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DatabaseError, OaiError, UnavailableError, UsageError } from '../../../src/base/errors.ts';
import { type HarvestProgress, harvestVocabulary, type SetHarvest } from '../../../src/flows/harvest-vocabulary.ts';
import { NoAnswerError } from '../../../src/http/exchange.ts';
import { openOaiClient } from '../../../src/oai/client.ts';
import { harvestOf, isHarvested } from '../../../src/vocabulary/harvests.ts';
import { termByIdent, termsOfSet } from '../../../src/vocabulary/terms.ts';
import type { Vocabulary } from '../../../src/vocabulary/vocabulary.ts';
import { FakeRepository, type RepositoryHabits } from '../../support/fake-repository.ts';
import { type ManualClock, manualClock } from '../../support/manual-clock.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';

const SET = 'heslo:predmet_druh';

type Options = {
  readonly full?: boolean;
  readonly sets?: readonly string[];
  readonly skipBroken?: boolean;
  readonly onProgress?: (progress: HarvestProgress) => void;
};

/** Runs a harvest, and time with it wherever it waits. */
async function harvest(repository: FakeRepository, vocabulary: Vocabulary, options: Options = {}): Promise<SetHarvest[]> {
  const clock: ManualClock = manualClock();
  const client = openOaiClient({
    oaiBase: OAI_BASE,
    version: '2.2',
    exchange: repository.exchange,
    credentials: { kind: 'none' },
  });
  let over = false;
  const running = harvestVocabulary({
    client,
    vocabulary,
    clock,
    sets: options.sets ?? [SET],
    metadataPrefix: 'oai_svc',
    full: options.full === true,
    skipBroken: options.skipBroken === true,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  }).finally(() => {
    over = true;
  });
  running.catch(() => {});
  while (!over) await clock.advance(10_000);
  return running;
}

function aRepository(count: number, habits: Partial<RepositoryHabits> = {}): FakeRepository {
  const repository = new FakeRepository(habits);
  for (let n = 1; n <= count; n++) repository.put(ident(n), `věc ${n}`);
  return repository;
}

const ident = (n: number): string => `HES-${String(n).padStart(6, '0')}`;

function stored(vocabulary: Vocabulary): Map<string, string> {
  return new Map([...termsOfSet(vocabulary, SET)].map((term) => [term.ident, term.label]));
}

const sorted = (map: Map<string, string>): [string, string][] => [...map].sort();

const HABITS: readonly (readonly [string, Partial<RepositoryHabits>])[] = [
  ['as deployed: newest first, ended by an empty page', { order: 'newest-first', end: 'empty-page' }],
  ['as the standard has it: ended by an empty token', { order: 'oldest-first', end: 'empty-token' }],
  ['ended by no token', { order: 'oldest-first', end: 'no-token' }],
  ['that does not count, newest first', { order: 'newest-first', end: 'no-token', counts: false }],
  ['that does not count, oldest first', { order: 'oldest-first', end: 'empty-token', counts: false }],
];

describe.each(HABITS)('a service %s', (_, habits) => {
  test.each([0, 1, 3, 4, 10])('of %i records is harvested whole', async (count) => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(count, habits);
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({
      setSpec: SET,
      pass: 'full',
      records: count,
      deleted: 0,
      vanished: 0,
      unreadable: [],
      broken: [],
    });
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
    expect(isHarvested(vocabulary, SET)).toBe(true);
  });

  test('whose records change while they are read loses none', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12, habits);
    let changes = 0;
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken') && changes < 4) repository.put(ident(++changes), `změněno ${changes}`);
    };
    await harvest(repository, vocabulary);
    await harvest(repository, vocabulary);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });
});

describe('a harvest that was cut off', () => {
  test('goes on at the page where it was', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12);
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('T3')) throw new NoAnswerError('reset', true, 'the network is gone');
    };
    await expect(harvest(repository, vocabulary)).rejects.toBeInstanceOf(UnavailableError);
    expect(stored(vocabulary).size).toBe(9);
    expect([isHarvested(vocabulary, SET), harvestOf(vocabulary, SET).pass?.token]).toEqual([false, 'T3']);
    repository.beforeAnswer = () => {};
    repository.requests.length = 0;
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'full', records: 12 });
    const [first, second, followUp, ...more] = repository.requests.filter((query) => query.includes('ListRecords'));
    expect([first, second, more]).toEqual(['verb=ListRecords&resumptionToken=T3', 'verb=ListRecords&resumptionToken=T4', []]);
    // What changed since the first page, which the first run had seen.
    expect(followUp).toContain('from=2025-06-01T00%3A00%3A1');
  });

  test('begins its list again when the token ran out, and keeps what it had', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12);
    let cut = true;
    repository.beforeAnswer = ({ url }) => {
      if (!cut || !url.includes('T2')) return;
      cut = false;
      repository.expireTokens();
    };
    const [result] = await harvest(repository, vocabulary);
    expect(result?.records).toBe(12);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });

  test('begins its list again when a token of its follow-up ran out', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12);
    let [changes, refused] = [0, false];
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken') && changes < 6) repository.put(ident(++changes), `změněno ${changes}`);
      if (refused || !url.includes('resumptionToken') || !repository.requests.some((query) => query.includes('from='))) return;
      refused = true;
      repository.expireTokens();
    };
    const [result] = await harvest(repository, vocabulary);
    expect([result?.records, refused]).toEqual([12, true]);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });

  test('gives up with a failure when the service refuses every token', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12);
    repository.beforeAnswer = () => repository.expireTokens();
    await expect(harvest(repository, vocabulary)).rejects.toMatchObject({ oaiCode: 'incomplete', exitCode: 14 });
    expect([stored(vocabulary).size, isHarvested(vocabulary, SET)]).toEqual([3, false]);
  });
});

describe('later harvests', () => {
  test('ask only for what changed, with an overlap, by the server’s own clock', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(9);
    repository.nowMs += 3_600_000;
    await harvest(repository, vocabulary);
    repository.nowMs += 3_600_000;
    repository.put(ident(2), 'nový název');
    repository.requests.length = 0;
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ pass: 'changes', records: 1 });
    expect(termByIdent(vocabulary, ident(2))?.label).toBe('nový název');
    const from = new URLSearchParams(repository.requests.find((query) => query.includes('from='))).get('from') ?? '';
    // Ten minutes before the first page of the last harvest: one hour after the nine records, three requests on.
    expect(Date.parse(from)).toBe(Date.UTC(2025, 5, 1) + 9000 + 3_600_000 + 3000 - 600_000);
  });

  test('mark what was deleted, and leave the rest alone', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    repository.remove(ident(4));
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ deleted: 1, vanished: 0 });
    expect(termByIdent(vocabulary, ident(4))).toMatchObject({ label: 'věc 4', gone: 'deleted' });
    expect(stored(vocabulary).size).toBe(4);
  });

  test('find what has vanished without a trace only when everything is read again', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    repository.forget(ident(1));
    await harvest(repository, vocabulary);
    expect(termByIdent(vocabulary, ident(1))?.gone).toBeNull();
    const [result] = await harvest(repository, vocabulary, { full: true });
    expect(result).toMatchObject({ pass: 'full', records: 4, vanished: 1 });
    expect(termByIdent(vocabulary, ident(1))?.gone).toBe('vanished');
    repository.put(ident(1), 'zase zde');
    await harvest(repository, vocabulary);
    expect(termByIdent(vocabulary, ident(1))).toMatchObject({ label: 'zase zde', gone: null });
  });

  test('take nothing for vanished that merely moved in a list that is not counted', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(12, { order: 'newest-first', end: 'no-token', counts: false });
    await harvest(repository, vocabulary);
    let moved = false;
    repository.beforeAnswer = ({ url }) => {
      if (!url.includes('resumptionToken') || moved) return;
      moved = true;
      repository.put(ident(1), 'změněno');
    };
    const [result] = await harvest(repository, vocabulary, { full: true });
    expect(result).toMatchObject({ records: 12, vanished: 0 });
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });

  test('take nothing for vanished where a record was left out that nobody can name', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    const { exchange } = repository;
    const unnamed = Object.assign(repository, {
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const given = await exchange(request);
        return { ...given, body: Buffer.from(given.body.toString().replace(`/id/${ident(4)}<`, '/id/& <')) };
      },
    });
    const [result] = await harvest(unnamed, vocabulary, { full: true, skipBroken: true });
    expect(result).toMatchObject({ vanished: 0, broken: [{ identifier: undefined }] });
    expect(termByIdent(vocabulary, ident(4))?.gone).toBeNull();
  });

  test('do not count a harvest of changes that was cut off as done', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(5);
    await harvest(repository, vocabulary);
    for (let n = 1; n <= 5; n++) repository.put(ident(n), `druhá verze ${n}`);
    repository.beforeAnswer = ({ url }) => {
      if (url.includes('resumptionToken')) throw new NoAnswerError('reset', true, 'gone');
    };
    await expect(harvest(repository, vocabulary)).rejects.toThrow();
    repository.beforeAnswer = () => {};
    await harvest(repository, vocabulary);
    expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
  });
});

describe('a list that is not complete', () => {
  test('is a failure that says how many are missing', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(10);
    const { exchange } = repository;
    const lying = Object.assign(repository, {
      exchange: async (request: Parameters<typeof exchange>[0]) => {
        const given = await exchange(request);
        return {
          ...given,
          body: Buffer.from(given.body.toString().replaceAll('completeListSize="10"', 'completeListSize="13"')),
        };
      },
    });
    const failure = harvest(lying, vocabulary);
    await expect(failure).rejects.toMatchObject({ oaiCode: 'incomplete', exitCode: 14 });
    await expect(failure).rejects.toThrow(/13 records and sent 10, so 3 are missing/);
    expect([isHarvested(vocabulary, SET), stored(vocabulary).size]).toEqual([false, 10]);
  });

  test('because of a set that the service does not know is refused before it begins', async () => {
    using store = tempVocabulary();
    const failure = harvest(aRepository(1), store.source(OAI_BASE), { sets: ['heslo:obdobi'] });
    await expect(failure).rejects.toBeInstanceOf(UsageError);
    await expect(failure).rejects.toThrow('heslo:obdobi');
  });

  test('because of a broken record can be finished without it, by name', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(10);
    repository.put(ident(5), 'sůl & pepř');
    await expect(harvest(repository, vocabulary)).rejects.toMatchObject({
      oaiCode: 'malformed',
      record: `${OAI_BASE}/id/${ident(5)}`,
    });
    const [result] = await harvest(repository, vocabulary, { skipBroken: true });
    expect(result?.broken).toEqual([{ identifier: `${OAI_BASE}/id/${ident(5)}`, reason: expect.stringContaining('&amp;') }]);
    expect(stored(vocabulary).size).toBe(9);
  });

  test('a record that is no term is named, and the rest is stored', async () => {
    using store = tempVocabulary();
    const vocabulary = store.source(OAI_BASE);
    const repository = aRepository(4);
    repository.put(ident(5), '');
    const [result] = await harvest(repository, vocabulary);
    expect(result).toMatchObject({ records: 5, unreadable: [ident(5)] });
    expect(stored(vocabulary).size).toBe(4);
  });
});

test('progress counts up to the service’s own figure', async () => {
  using store = tempVocabulary();
  const seen: HarvestProgress[] = [];
  await harvest(aRepository(7), store.source(OAI_BASE), { onProgress: (progress) => seen.push(progress) });
  expect(seen.map(({ done, total }) => [done, total])).toEqual([
    [3, 7],
    [6, 7],
    [7, 7],
    [7, 7],
  ]);
});

test('a full disk ends the harvest with the page before it kept', async () => {
  using store = tempVocabulary();
  const vocabulary = store.source(OAI_BASE);
  let changes = 0;
  const filling: Vocabulary = {
    ...vocabulary,
    change: (work) => {
      if (++changes > 2) throw new DatabaseError('the disk is full');
      return vocabulary.change(work);
    },
  };
  await expect(harvest(aRepository(10), filling)).rejects.toBeInstanceOf(DatabaseError);
  expect(stored(vocabulary).size).toBe(3);
  await harvest(aRepository(10), vocabulary);
  expect(stored(vocabulary).size).toBe(10);
});

test('a second harvest of the same set takes it over; the first one stops, and nothing is lost', async () => {
  using store = tempVocabulary();
  const vocabulary = store.source(OAI_BASE);
  const repository = aRepository(12);
  let second: Promise<SetHarvest[]> | undefined;
  repository.beforeAnswer = ({ url }) => {
    if (url.includes('T2') && second === undefined) second = harvest(repository, vocabulary);
  };
  const first = harvest(repository, vocabulary);
  await expect(first).rejects.toThrow(/another pas has taken this harvest over/);
  expect((await second)?.[0]?.records).toBe(12);
  expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
});

type Event =
  | { readonly kind: 'put' | 'remove'; readonly n: number }
  | { readonly kind: 'page size'; readonly n: number }
  | { readonly kind: 'tokens expire' | 'network goes' | 'nothing' }
  | { readonly kind: 'harvest'; readonly full: boolean };

describe('whatever happens between and during harvests', () => {
  const n = fc.integer({ min: 1, max: 14 });
  const change = fc.oneof(
    fc.record({ kind: fc.constantFrom('put' as const, 'put' as const, 'remove' as const), n }),
    fc.record({ kind: fc.constant('page size' as const), n: fc.integer({ min: 1, max: 5 }) }),
  );
  const trouble = fc.oneof(
    { weight: 3, arbitrary: fc.constant<Event>({ kind: 'nothing' }) },
    { weight: 2, arbitrary: change },
    { weight: 1, arbitrary: fc.constantFrom<Event>({ kind: 'tokens expire' }, { kind: 'network goes' }) },
  );
  const story = fc.record({
    habits: fc.constantFrom(...HABITS.map(([, habits]) => habits)),
    between: fc.array(
      fc.oneof(
        { weight: 3, arbitrary: change },
        { weight: 1, arbitrary: fc.record({ kind: fc.constant('harvest' as const), full: fc.boolean() }) },
      ),
      { maxLength: 25 },
    ),
    during: fc.array(trouble, { maxLength: 40 }),
  });

  test('the store equals the service after one quiet harvest', async () => {
    await fc.assert(
      fc.asyncProperty(story, async ({ habits, between, during }) => {
        using store = tempVocabulary();
        const vocabulary = store.source(OAI_BASE);
        const repository = aRepository(6, habits);
        const troubles = [...during];
        let version = 0;
        const apply = (event: Event): void => {
          if (event.kind === 'put') repository.put(ident(event.n), `verze ${++version}`);
          if (event.kind === 'remove') repository.remove(ident(event.n));
          if (event.kind === 'page size') repository.habits.pageSize = event.n;
          if (event.kind === 'tokens expire') repository.expireTokens();
          if (event.kind === 'network goes') throw new NoAnswerError('reset', true, 'gone');
        };
        repository.beforeAnswer = () => apply(troubles.shift() ?? { kind: 'nothing' });
        for (const event of between) {
          if (event.kind !== 'harvest') apply(event);
          else {
            await harvest(repository, vocabulary, event).catch((thrown: unknown) => {
              if (!(thrown instanceof OaiError || thrown instanceof UnavailableError)) throw thrown;
            });
          }
        }
        troubles.length = 0;
        await harvest(repository, vocabulary);
        expect(sorted(stored(vocabulary))).toEqual(sorted(repository.alive()));
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
