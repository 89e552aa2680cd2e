import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { countMade } from '../support/count-new-finds.ts';
import { eventually } from '../support/eventually.ts';
import { expectEnded } from '../support/expect-ended.ts';
import { findStates } from '../support/find-states.ts';
import { type Home, signedIn } from '../support/run-pas.ts';
import { importSeason, tinyPng } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');

/** A home whose push of one find was killed after the service had saved it. */
async function homeOfKilledPush(): Promise<Home> {
  const home = await signedIn(mock.service, [
    '--set',
    'min_interval_ms=10',
    '--set',
    'settle_ms=1000',
  ]);
  await importSeason(home, 1);
  await mock.service.faults({ endpoint: 'import', times: 1, fault: 'hang-after-save' });
  const countNow = await countMade(mock.service);
  const running = home.start('push');
  await eventually(countNow).toMatchObject({ finds: 1 });
  running.child.kill('SIGKILL');
  await running.ended;
  await mock.service.faults();
  expect(await findStates(home)).toEqual({ 'K-1': 'sending' });
  return home;
}

test('a find whose push was killed can be neither edited nor removed, and both commands say how to continue', async () => {
  const home = await homeOfKilledPush();
  await expectEnded(home.copy().pas('edit', 'K-1', '--set', 'hloubka=5'), 2, 'pas reconcile K-1');
  await expectEnded(home.pas('remove', 'K-1', '--yes'), 3, 'pas reconcile');
  expect(await findStates(home)).toEqual({ 'K-1': 'sending' });
});

test('a damaged stored photograph is repaired by adding the file again', async () => {
  const home = await signedIn(mock.service, ['--set', 'min_interval_ms=10']);
  await importSeason(home, 1);
  const photo = home.file('a.png', tinyPng(1));
  await home.do('photo', 'add', 'K-1', photo);
  execFileSync(
    'sh',
    [
      '-c',
      'for file in pas/outboxes/*/photos/*/*; do printf xx | dd of="$file" conv=notrunc status=none; done',
    ],
    {
      cwd: home.folder,
    },
  );
  await expectEnded(home.pas('push'), 3, 'pas photo add');
  await home.do('photo', 'add', 'K-1', photo);
  const countNow = await countMade(mock.service);
  await home.do('push');
  expect(await countNow()).toEqual({ finds: 0, photos: 1 });
});
