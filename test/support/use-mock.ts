import { afterAll, beforeAll, beforeEach, expect } from 'vitest';
import { type MockState, type RunningMock, serveMock, startMockProcess } from './mock-process.ts';
import { type Home, signedIn, withVocabularies } from './run-pas.ts';

type SharedMock = { readonly service: RunningMock };
type UsedMock = SharedMock & {
  /** Counts of all that the test has made so far. */
  made(): Promise<MockState>;
  /** The test has made so many so far. */
  expectMade(counts: Partial<MockState>): Promise<void>;
};

/** Servers that no file uses now, by their flags: a file gets one of them before a new one. */
const idleMocks = new Map<string, RunningMock[]>();

/** One mock server for the tests of a file, as new before each of them. */
export function useMock(...flags: readonly string[]): UsedMock {
  return resetBeforeEach(shareMock(...flags));
}

/** The same in a process of its own, for tests that stand still while another process runs. */
export function useMockProcess(...flags: readonly string[]): UsedMock {
  return resetBeforeEach(
    useStarted(
      () => startMockProcess('--min-interval', '0', ...flags),
      (service) => service.stop(),
    ),
  );
}

/** One mock server for the tests of a file, as new before the first of them. */
export function shareMock(...flags: readonly string[]): SharedMock {
  const key = flags.join(' ');
  return useStarted(
    async () => {
      const idle = idleMocks.get(key)?.pop();
      await idle?.control('POST', '/reset');
      return idle ?? serveMock(...flags);
    },
    (service) => {
      idleMocks.set(key, [...(idleMocks.get(key) ?? []), service]);
    },
  );
}

function useStarted(
  start: () => Promise<RunningMock>,
  end: (service: RunningMock) => Promise<void> | void,
): SharedMock {
  let service: RunningMock | undefined;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => (service === undefined ? undefined : end(service)));
  return {
    get service() {
      return started(service);
    },
  };
}

/** A home that is signed in at the mock server, another one before each test of a file. */
export function useHome(mock: SharedMock, flags?: readonly string[]): Home {
  return latest(beforeEach, () => signedIn(mock.service, flags));
}

/** One home for the tests of a file: signed in, with all vocabularies. */
export function useVocabularies(mock: SharedMock): Home {
  return latest(beforeAll, () => withVocabularies(mock.service));
}

function latest(hook: typeof beforeAll, make: () => Promise<Home>): Home {
  let home: Home | undefined;
  hook(async () => {
    home = await make();
  });
  return new Proxy({} as Home, { get: (_, name) => Reflect.get(started(home), name) });
}

function resetBeforeEach(mock: SharedMock): UsedMock {
  let makeState: (() => Promise<MockState>) | undefined;
  beforeEach(async () => {
    await mock.service.control('POST', '/reset');
    makeState = await countMade(mock.service);
  });
  const made = (): Promise<MockState> => started(makeState)();
  return {
    get service() {
      return mock.service;
    },
    made,
    expectMade: async (counts) => expect(await made()).toMatchObject(counts),
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the mock runs only while a test does');
  return value;
}

/** Counts what a mock server has made since now. */
async function countMade(service: RunningMock): Promise<() => Promise<MockState>> {
  const before = await service.state();
  return async () => {
    const { finds, photos } = await service.state();
    return { finds: finds - before.finds, photos: photos - before.photos };
  };
}
