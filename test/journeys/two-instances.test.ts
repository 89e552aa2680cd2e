import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { addressFlags, expectDone, type Home, jsonLines, type Service, signedIn } from '../support/run-pas.ts';

hostRuns();

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
  home = await signedIn(practice, 'archaeologist', ['--min-interval-ms', '10']);
  await expectDone(
    home.pas(
      ...['init', '--name', 'museum', '--kind', 'production', '--username', 'archaeologist', '--oai-auth', 'basic'],
      ...addressFlags(production),
      ...['--min-interval-ms', '10'],
    ),
  );
  await expectDone(home.pas('profile', 'use', 'museum'));
  await expectDone(home.pas('login'));
});

type Listed = { local_id: string; state: string | null; ident_cely: string | null }[];
const listed = async (...flags: string[]): Promise<Listed> => home.json<Listed>('list', ...flags);
const stateOf = (list: Listed, find: string): string | null | undefined => list.find(({ local_id }) => local_id === find)?.state;

describe('training first', () => {
  test('the same finds go to the training instance and then to production, each as records of their own', async () => {
    const [before, practised] = [await production.state(), await training.state()];
    await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
    await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
    const trained = await expectDone(home.pas('push', '--profile', 'mock'));
    expect(trained.stderr).toMatch(/TRAINING: http.*account archaeologist, profile mock/);
    expect(trained.stderr).toMatch(/3 finds of other services are queued for this one as well/);
    await expectDone(home.pas('push', '--profile', 'mock'));
    expect(await training.state()).toMatchObject({ finds: practised.finds + 3, photos: practised.photos + 3 });
    expect(await production.state()).toMatchObject(before);
    expect((await listed()).map(({ state }) => state)).toEqual(['queued', 'queued', 'queued']);
    expect((await listed('--profile', 'mock')).map(({ state }) => state)).toEqual(['accepted', 'accepted', 'accepted']);

    const real = await expectDone(home.pas('push', '--yes'));
    expect(real.stderr).toMatch(/PRODUCTION: http.*profile museum\. Records are real/);
    await expectDone(home.pas('push', '--yes'));
    expect(await production.state()).toMatchObject({ finds: before.finds + 3, photos: before.photos + 3 });
    expect(await training.state()).toMatchObject({ finds: practised.finds + 3 });
    expect((await expectDone(home.pas('show', 'K-1'))).stdout).toMatch(/for http:\S+: accepted as C-202400101-N\d+/);
  });

  test('what was made for practice is not sent to production unless it is named, or all is asked for', async () => {
    await expectDone(home.pas('import', writeSeason(home, 2, { photos: true }), '--profile', 'mock'));
    await expectDone(home.pas('photo', 'add', 'K-2', home.file('more.png', tinyPng(7)), '--profile', 'mock'));
    await expectDone(home.pas('push', '--profile', 'mock'));
    const before = await production.state();
    const run = await expectDone(home.pas('push', '--yes'));
    expect(run.stderr).toMatch(/2 finds of other services are not queued for this one.*--copy/);
    expect((await expectDone(home.pas('status'))).stdout).toMatch(
      /2 finds are queued for, or were sent to, other services only.*\n {2}pas push --profile museum --copy/,
    );
    expect(await production.state()).toMatchObject(before);
    await expectDone(home.pas('push', 'K-2', '--yes'));
    await expectDone(home.pas('push', '--yes'));
    expect(await production.state()).toMatchObject({ finds: before.finds + 1, photos: before.photos + 2 });
    expect(stateOf(await listed(), 'K-1')).toBe(null);
    await expectDone(home.pas('push', '--copy', '--yes'));
    expect(await production.state()).toMatchObject({ finds: before.finds + 2 });
  });
});

test('what became of a number at the training instance is not read at production, which has another record of that identifier', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  await expectDone(home.pas('push', '--profile', 'mock'));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
  await expectDone(home.pas('push', '--yes'));
  const [real, practised] = [await listed(), await listed('--profile', 'mock')];
  expect(practised.map(({ ident_cely }) => ident_cely)).toEqual(real.map(({ ident_cely }) => ident_cely));

  await expectDone(home.pas('number', 'set', 'K-1', 'A 1', '--profile', 'mock'));
  await training.faults({ endpoint: 'number', fault: '500-before-save', when: { nth: 1 }, times: 1 });
  await home.pas('push', '--profile', 'mock');
  await expectDone(home.pas('push', '--profile', 'mock'));
  const sent = (await training.journal()).filter(({ method }) => method === 'PATCH');
  expect(sent.map(({ status }) => status)).toEqual([500, 200]);
  const reconciled = await home.pas('reconcile', '--profile', 'mock');
  expect(reconciled).toMatchObject({ code: 12, stderr: expect.stringMatching(/that of another instance/) });
});

describe('a push that watches', () => {
  test('sends what is queued later, waits while the service is closed, and ends with 0 when all is sent', async () => {
    const before = await production.state();
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const watching = home.start('push', '--watch', '--yes', '--json');
    await watching.until(({ stdout }) => stdout.includes('"for":"entries"'));
    await production.control('PUT', '/settings', { access_mode: 'closed' });
    await expectDone(home.pas('import', writeSeason(home, 3)));
    await watching.until(({ stdout }) => stdout.includes('"for":"service"'));
    expect((await home.pas('push', '--yes')).code).not.toBe(11);
    await production.control('PUT', '/settings', { access_mode: 'open' });
    await watching.until(
      ({ stdout }) => jsonLines(stdout).filter(({ type, state }) => type === 'settled' && state === 'accepted').length === 3,
    );
    expect((await production.state()).finds).toBe(before.finds + 3);
    watching.child.kill('SIGINT');
    const run = await watching.ended;
    expect(run.code).toBe(0);
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({ type: 'summary', accepted: 3, queued: 0 });
  });

  test('that is stopped with something queued ends with 130', async () => {
    await production.control('PUT', '/settings', { access_mode: 'closed' });
    await expectDone(home.pas('import', writeSeason(home, 1)));
    const watching = home.start('push', '--watch', '--yes');
    await watching.until(({ stderr }) => stderr.includes('Waiting for the service'));
    watching.child.kill('SIGINT');
    expect((await watching.ended).code).toBe(130);
    await production.control('PUT', '/settings', { access_mode: 'open' });
  });
});
