import { test } from 'vitest';
import { expectNothingChanged } from '../support/mixed-season.ts';
import { signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('two thousand rows with custom columns, name orders and date formats arrive at the service correctly', async () => {
  const home = await signedIn(mock.service, ['--set', 'min_interval_ms=1']);
  await home.do('harvest-vocab');
  await expectNothingChanged(home, 2000, 11);
});
