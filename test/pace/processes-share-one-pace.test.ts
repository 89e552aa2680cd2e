import { expect, test } from 'vitest';
import { startMockProcess } from '../support/mock-process.ts';
import { signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { FINDS_EACH, measurePushes, warmUp } from './measure-pushes.ts';

const ACCOUNTS = ['researcher', 'archaeologist', 'archivist', 'admin'];

test('four processes with their own homes and accounts share the pace of the address', async () => {
  await using service = await startMockProcess('--latency', '40');
  await warmUp(service);
  const state = { XDG_STATE_HOME: tempFolder() };
  const homes = await Promise.all(
    ACCOUNTS.map(async (account, index) => {
      const home = (await signedIn(service, [], account)).with(state);
      // Equal finds of two accounts of one machine would be a question.
      const day = `2024-06-0${index + 1}`;
      const table = writeSeason(home, FINDS_EACH, { day });
      await home.do('import', table, '--id-prefix', `${account}-`);
      return home;
    }),
  );

  const measured = await measurePushes(service, homes);

  expect(measured.smallestDepartureGapMs).toBeGreaterThanOrEqual(100);
  expect(measured).toMatchObject({
    accepted: 4 * FINDS_EACH,
    requests: 4 * FINDS_EACH + measured.throttled,
  });
});
