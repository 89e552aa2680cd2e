import { expect, test } from 'vitest';
import { startMock } from '../support/start-mock.ts';
import { fuzzControl, fuzzService } from './fuzzed-answers.ts';

// 10,000 more: test/endurance/openapi-fuzz.test.ts.
test('requests made from the description of the service get no undocumented answer and no failure', async () => {
  await using mock = await startMock();
  const { faults, statuses } = await fuzzService(mock, 400, 1);
  expect(faults).toEqual([]);
  expect(Object.keys(statuses)).toEqual(
    expect.arrayContaining(['200', '201', '400', '401', '403', '404', '405', '406', '415', '422']),
  );
});

test('nor do those made from the description of the control interface', async () => {
  await using mock = await startMock();
  const { faults, statuses } = await fuzzControl(mock, 200, 1);
  expect(faults).toEqual([]);
  expect(Object.keys(statuses)).toEqual(expect.arrayContaining(['200', '400', '404', '405']));
});
