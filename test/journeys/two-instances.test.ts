import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import {
  accountFlags,
  expectEnded,
  type Home,
  jsonLines,
  type Service,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';

let production: RunningMock;
let training: RunningMock;
/** The training instance, harvested from production, as the contract has it. */
let practice: Service;
let home: Home;

beforeAll(async () => {
  [production, training] = await Promise.all([
    serveMock('--min-interval', '10'),
    serveMock('--min-interval', '10', '--training'),
  ]);
  practice = { ...training, oai_base: production.oai_base };
});
afterAll(() => Promise.all([production.stop(), training.stop()]));
beforeEach(async () => {
  await Promise.all([production.control('POST', '/reset'), training.control('POST', '/reset')]);
  // `mock` is the training profile.
  home = await signedIn(practice, ['--set', 'min_interval_ms=10']);
  await home.init(
    production,
    '--name',
    'museum',
    '--kind',
    'production',
    ...accountFlags(),
    '--set',
    'min_interval_ms=10',
  );
  await home.do('profile', 'use', 'museum');
  await home.do('login');
});

const listed = async (...flags: string[]): Promise<Listed[]> => home.json('list', ...flags);

test('the same finds go to the training instance and then to production, as separate records', async () => {
  const before = await production.state();
  const practised = await training.state();
  const table = writeSeason(home, 3, { photos: true });
  await home.do('import', table);
  await home.do('import', table, '--profile', 'mock');
  const trained = await home.do('push', '--profile', 'mock');
  expect(trained.stderr).toMatch(/TRAINING: http.*account archaeologist, profile mock/);
  expect(await training.state()).toMatchObject({
    finds: practised.finds + 3,
    photos: practised.photos + 3,
  });
  expect(await production.state()).toMatchObject(before);
  expect((await listed()).map(({ state }) => state)).toEqual(['queued', 'queued', 'queued']);
  expect((await listed('--profile', 'mock')).map(({ state }) => state)).toEqual([
    'accepted',
    'accepted',
    'accepted',
  ]);

  const real = await home.do('push', '--yes');
  expect(real.stderr).toMatch(/PRODUCTION: http.*profile museum\. Records are real/);
  expect(await production.state()).toMatchObject({
    finds: before.finds + 3,
    photos: before.photos + 3,
  });
  expect(await training.state()).toMatchObject({ finds: practised.finds + 3 });
});

test('a table exported from the training instance is refused with its records, and sent to production without them', async () => {
  const training = ['--profile', 'mock'];
  await home.do('import', writeSeason(home, 2), ...training);
  await home.do('push', ...training);
  const { stdout } = await home.do('export', '--format', 'csv', ...training);
  const refused = await home.pas('import', home.file('trained.csv', stdout), '--json');
  await expectEnded(refused, 3);
  const { issues } = JSON.parse(refused.stdout) as { issues: { rule: string; message: string }[] };
  expect(issues.map(({ rule }) => rule)).toEqual(['already-recorded', 'already-recorded']);
  const before = await production.state();
  const cleared = stdout.replaceAll(/C-\d+-N\d+/g, '');
  await home.do('import', home.file('cleared.csv', cleared));
  await home.do('push', '--yes');
  expect((await production.state()).finds).toBe(before.finds + 2);
});

describe('a push that watches', () => {
  test('sends what is queued later, waits while the service is closed, and ends with 0 when all is sent', async () => {
    const before = await production.state();
    await importSeason(home, 1);
    const watching = home.start('push', '--watch', '--yes', '--json');
    await watching.until(({ stdout }) => stdout.includes('"for":"entries"'));
    await production.settings({ access_mode: 'closed' });
    await importSeason(home, 3);
    await watching.until(({ stdout }) => stdout.includes('"for":"service"'));
    await expectEnded(home.pas('push', '--yes'), 5);
    await production.settings({ access_mode: 'open' });
    await watching.until(
      ({ stdout }) =>
        jsonLines(stdout).filter(({ type, state }) => type === 'settled' && state === 'accepted')
          .length === 3,
    );
    expect((await production.state()).finds).toBe(before.finds + 3);
    watching.child.kill('SIGINT');
    const run = await watching.ended;
    await expectEnded(run, 0);
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({ type: 'summary', accepted: 3, queued: 0 });
  });

  test('ends with 130 if it is stopped with something queued', async () => {
    await production.settings({ access_mode: 'closed' });
    await importSeason(home, 1);
    await expectEnded(home.pas('push', '--yes'), 5, /Stopped: [^.]+\. Entries/);
    const watching = home.start('push', '--watch', '--yes');
    await watching.until(({ stderr }) => stderr.includes('Waiting for the service'));
    watching.child.kill('SIGINT');
    await expectEnded(watching.ended, 130);
    await production.settings({ access_mode: 'open' });
  });
});
