import { expect, test } from 'vitest';
import { startMock } from '../support/start-mock.ts';
import { fuzzControl, fuzzService } from './fuzzed-answers.ts';

test('10,000 requests generated from the description of the service get no undocumented answer and no failure', async () => {
  await using mock = await startMock();
  const { faults, statuses } = await fuzzService(mock, 10_000, 2);
  expect(faults).toEqual([]);
  expect(Object.keys(statuses)).toEqual(
    expect.arrayContaining(['200', '201', '400', '401', '403', '404', '405', '406', '415', '422']),
  );
  expect(Object.values(statuses).reduce((sum, count) => sum + count)).toBe(10_000);
});

test('2,000 requests generated from the description of the control interface get none either', async () => {
  await using mock = await startMock();
  const { faults, statuses } = await fuzzControl(mock, 2000, 2);
  expect(faults).toEqual([]);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '405']));
});
