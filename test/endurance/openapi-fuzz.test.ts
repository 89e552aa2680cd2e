import { expect, test } from 'vitest';
import { fuzzControl, fuzzService } from '../contract/fuzzed-answers.ts';
import { startMock } from '../support/start-mock.ts';

test('10,000 requests made from the description of the service get no undocumented answer and no failure', async () => {
  await using mock = await startMock();
  const { faults, statuses } = await fuzzService(mock, 10_000, 2);
  expect(faults).toEqual([]);
  expect(Object.values(statuses).reduce((sum, count) => sum + count)).toBe(10_000);
});

test('nor do 2,000 made from the description of the control interface', async () => {
  await using mock = await startMock();
  expect((await fuzzControl(mock, 2000, 2)).faults).toEqual([]);
});
