import type { MockState, RunningMock } from './mock-process.ts';

/** Counts what a mock server has made since now. */
export async function countMade(service: RunningMock): Promise<() => Promise<MockState>> {
  const before = await service.state();
  return async () => {
    const { finds, photos } = await service.state();
    return { finds: finds - before.finds, photos: photos - before.photos };
  };
}
