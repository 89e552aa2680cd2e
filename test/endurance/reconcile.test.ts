import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { configFile } from '../support/outbox-files.ts';
import { settledAfter, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');
test('an anonymous harvest cannot decide, and says why', async () => {
  const anonymous = await signedIn(mock.service, settledAfter(0));
  writeFileSync(
    configFile(anonymous),
    readFileSync(configFile(anonymous), 'utf8').replace('oai_auth = "basic"', 'oai_auth = "none"'),
  );
  await importSeason(anonymous, 3);
  await mock.service.faults({
    endpoint: 'import',
    when: { nth: 2 },
    times: 1,
    fault: '500-after-save',
  });
  await anonymous.pas('push');
  const run = await anonymous.pas('reconcile');
  expect(run.code).toBe(6);
  expect(run.stdout).toMatch(/hidden.*pas resolve K-2/s);
});

test('the decision and its evidence are shown with the find', async () => {
  const home = await signedIn(mock.service, settledAfter(1000));
  await importSeason(home, 2);
  await mock.service.faults({
    endpoint: 'import',
    when: { nth: 2 },
    times: 1,
    fault: 'hang-after-save',
  });
  const running = home.start('push');
  await eventually(mock.made).toMatchObject({ finds: 2 });
  running.child.kill('SIGKILL');
  await running.ended;
  await mock.service.faults();
  await home.do('push');
  const shown = await home.do('show', 'K-2');
  expect(shown.stdout).toMatch(/lost/);
  expect(shown.stdout).toMatch(/evidence: found; C-202400101-N\d+ appeared since the attempt/);
  expect(await mock.made()).toMatchObject({ finds: 2 });
});
