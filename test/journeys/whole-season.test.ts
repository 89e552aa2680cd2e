import { test } from 'vitest';
import { expectNothingChanged } from '../support/mixed-season.ts';
import { expectDone, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');

test('forty rows in columns of their own, with names and days in every way, are at the service as they were meant', async () => {
  const home = await signedIn(mock.service, 'archaeologist', ['--min-interval-ms', '1']);
  await expectDone(home.pas('harvest-vocab'));
  await expectNothingChanged(home, 40, 7);
});
