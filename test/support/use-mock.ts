import { afterAll, beforeAll, beforeEach } from 'vitest';
import { countMade } from './count-new-finds.ts';
import { type MockState, type RunningMock, serveMock, startMockProcess } from './mock-process.ts';

type UsedMock = {
  readonly service: RunningMock;
  /** State of the test so far. */
  made(): Promise<MockState>;
};

/**
 * One mock server for the tests of a file, as new before each of them. To be called beside them,
 * not in one.
 */
export function useMock(...flags: readonly string[]): UsedMock {
  return useStarted(() => serveMock(...flags));
}

/** The same in a process of its own, for tests that stand still while another process runs. */
export function useMockProcess(...flags: readonly string[]): UsedMock {
  return useStarted(() => startMockProcess(...flags));
}

function useStarted(start: () => Promise<RunningMock>): UsedMock {
  let service: RunningMock | undefined;
  let makeState: (() => Promise<MockState>) | undefined;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service?.stop());
  beforeEach(async () => {
    await started(service).control('POST', '/reset');
    makeState = await countMade(started(service));
  });
  return {
    get service() {
      return started(service);
    },
    made: () => started(makeState)(),
  };
}

function started<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('the mock runs only while a test does');
  return value;
}
