import { beforeEach, expect, test } from 'vitest';
import { expectEnded, type Home, signedIn } from '../support/run-pas.ts';
import { sendSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const MINUTE_MS = 60_000;

const mock = useMock();
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service);
});

test('a number that the record had before another one is not found in an index that lags', async () => {
  await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'X');
  await home.do('push');
  await mock.service.clock({ advance_ms: 60 * MINUTE_MS });
  await mock.service.settings({ index_delay_ms: 14 * MINUTE_MS });
  await home.do('number', 'set', 'K-1', 'Y', '--replace');
  await home.do('push');
  await home.do('number', 'set', 'K-1', 'X', '--replace');
  await mock.service.faults({ endpoint: 'number', fault: 'reset-before-save', times: 1 });
  await expectEnded(home.pas('push'), 6);
  await mock.service.clock({ advance_ms: 11 * MINUTE_MS });
  await expectEnded(home.pas('reconcile'), 6);
  await mock.service.clock({ advance_ms: 20 * MINUTE_MS });
  await home.do('push');
  const { finds } = await mock.service.control<{ finds: { registration_number: unknown }[] }>(
    'GET',
    '/finds?limit=1',
  );
  expect(finds[0]?.registration_number).toBe('X');
});
