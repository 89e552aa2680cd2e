import { test } from 'vitest';
import { expectNothingChanged } from '../support/mixed-season.ts';
import { withVocabularies } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('forty rows with custom columns, name orders and date formats arrive at the service correctly', async () => {
  const home = await withVocabularies(mock.service);
  await expectNothingChanged(home, 40, 7);
});
