import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findStates, jsonLines, signedIn, WITHOUT_PAUSES } from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('A table and a list of numbers are imported, a backup is made and finds are validated during a push, which sends all that waited.', async () => {
  const home = await signedIn(mock.service, [...WITHOUT_PAUSES, '--set', 'max_in_flight=2']);
  await importSeason(home, 20);
  const table = writeSeason(home, 2000);
  const rows = Array.from(
    { length: 2000 },
    (_, index) => `C-202400102-N${String(index + 1).padStart(5, '0')};Z ${index + 1}`,
  );
  const numbers = home.file('numbers.csv', ['ident_cely;evidencni_cislo', ...rows].join('\n'));
  const copy = join(home.folder, 'beside.sqlite');
  await mock.service.settings({ latency_ms: 1000 });
  const push = home.start('push', '--limit', '20', '--json');
  await push.until(({ stdout }) => stdout.includes('"accepted"'));
  const beside = await Promise.all([
    home.start('import', table).ended,
    home.start('number', 'import', numbers).ended,
    home.start('backup', copy).ended,
    home.start('validate').ended,
  ]);
  const run = await push.ended;
  expect(beside.map(({ code, stderr }) => [code, stderr.includes('locked')])).toEqual(
    beside.map(() => [0, false]),
  );
  expect([run.code, run.stderr]).toEqual([0, expect.not.stringContaining('locked')]);
  expect(jsonLines(run.stdout).at(-1)).toMatchObject({
    type: 'summary',
    accepted: 20,
    uncertain: 0,
    refused: 0,
  });
  const states = Object.values(await findStates(home));
  expect(states.filter((state) => state === 'accepted')).toHaveLength(20);
  expect(states).toHaveLength(2000);
  await mock.expectMade({ finds: 20 });
});
