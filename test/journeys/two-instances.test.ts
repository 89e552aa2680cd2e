import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Listed } from '../support/json-output.ts';
import { outboxFolder } from '../support/outbox-files.ts';
import {
  accountFlags,
  expectEnded,
  type Home,
  jsonLines,
  type Service,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importConflict, importSeason, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const production = useMock();
const training = useMock('--training');
/** The training instance, harvested from production, as the contract has it. */
let practice: Service;
let home: Home;

beforeAll(() => {
  practice = { ...training.service, oai_base: production.service.oai_base };
});
beforeEach(async () => {
  // `mock` is the training profile.
  home = await signedIn(practice);
  const flags = ['--name', 'museum', '--kind', 'production', ...accountFlags(), ...WITHOUT_PAUSES];
  await home.init(production.service, ...flags);
  await home.do('profile', 'use', 'museum');
  await home.do('login');
});

const listed = async (...flags: string[]): Promise<Listed[]> => home.json('list', ...flags);

test('the same finds go to the training instance and then to production, as separate records', async () => {
  const table = writeSeason(home, 3, { photos: true });
  await home.do('import', table);
  await home.do('import', table, '--profile', 'mock');
  const trained = await home.do('push', '--profile', 'mock');
  expect(trained.stderr).toMatch(/TRAINING: http.*account archaeologist, profile mock/);
  await training.expectMade({ finds: 3, photos: 3 });
  await production.expectMade({ finds: 0, photos: 0 });
  expect((await listed()).map(({ state }) => state)).toEqual(['queued', 'queued', 'queued']);
  expect((await listed('--profile', 'mock')).map(({ state }) => state)).toEqual([
    'accepted',
    'accepted',
    'accepted',
  ]);

  const real = await home.do('push', '--yes');
  expect(real.stderr).toMatch(/PRODUCTION: http.*profile museum\. Records are real/);
  await production.expectMade({ finds: 3, photos: 3 });
  await training.expectMade({ finds: 3 });
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
  const cleared = stdout.replaceAll(/C-\d+-N\d+/g, '');
  await home.do('import', home.file('cleared.csv', cleared));
  await home.do('push', '--yes');
  await production.expectMade({ finds: 2 });
});

describe('what was sent to the training instance never comes under the address of production', () => {
  const moveThere = async () =>
    expectEnded(
      home.pas(
        ...['profile', 'set', '--profile', 'mock', `base_url=${production.service.base_url}`],
        '--yes',
      ),
      12,
      /is for .* \(training, archaeologist\), not for .* \(production, archaeologist\)/,
    );

  test('where the same finds wait there', async () => {
    await importSeason(home, 2);
    await home.do('import', writeSeason(home, 2), '--profile', 'mock');
    await home.do('push', '--profile', 'mock');
    await moveThere();
    await home.do('push', '--yes');
    await production.expectMade({ finds: 2 });
  });

  test('where only the ledger still knows production', async () => {
    await importSeason(home, 2);
    await home.do('push', '--yes');
    rmSync(outboxFolder(home, 'museum'), { recursive: true });
    await home.do('import', writeSeason(home, 3), '--profile', 'mock');
    await moveThere();
    await home.do('push', '--yes');
    expect(await listed()).toHaveLength(2);
  });
});

describe('a push that watches', () => {
  test('sends what is queued later, waits while the service is closed, and ends with 0 when all is sent', async () => {
    await importSeason(home, 1);
    const watching = home.start('push', '--watch', '--yes', '--json');
    await watching.until(({ stdout }) => stdout.includes('"for":"entries"'));
    await production.service.settings({ access_mode: 'closed' });
    await importSeason(home, 3);
    await watching.until(({ stdout }) => stdout.includes('"for":"service"'));
    await expectEnded(home.pas('push', '--yes'), 5);
    await production.service.settings({ access_mode: 'open' });
    await watching.until(
      ({ stdout }) =>
        jsonLines(stdout).filter(({ type, state }) => type === 'settled' && state === 'accepted')
          .length === 3,
    );
    await production.expectMade({ finds: 3 });
    watching.child.kill('SIGINT');
    const run = await watching.ended;
    await expectEnded(run, 0);
    expect(jsonLines(run.stdout).at(-1)).toMatchObject({ type: 'summary', accepted: 3, queued: 0 });
  });

  test('ends with 130 if it is stopped with something queued', async () => {
    await production.service.settings({ access_mode: 'closed' });
    await importSeason(home, 1);
    await expectEnded(home.pas('push', '--yes'), 5, /Stopped: [^.]+\. Entries/);
    const watching = home.start('push', '--watch', '--yes');
    await watching.until(({ stderr }) => stderr.includes('Waiting for the service'));
    watching.child.kill('SIGINT');
    await expectEnded(watching.ended, 130);
  });
});

/** JSON of a rehearsal. */
type Result = {
  readonly sent: number;
  readonly accepted: number;
  readonly refused: { local_id: string }[];
  readonly not_tested: { local_id: string }[];
};

test('copies of queued finds are tried at the training instance, any number of times', async () => {
  await importSeason(home, 2, { photos: true });
  const outboxes = (): string[] => readdirSync(join(home.folder, 'pas', 'outboxes'));
  const before = outboxes();
  await expectEnded(home.pas('rehearse'), 2, /records of 2 finds in the training instance.*--yes/s);
  await training.expectMade({ finds: 0 });
  expect(await home.json<Result>('rehearse', '--yes')).toEqual({
    sent: 2,
    accepted: 2,
    refused: [],
    not_tested: [],
  });
  expect(await home.json<Result>('rehearse', 'K-1', '--to', 'mock', '--yes')).toMatchObject({
    sent: 1,
    accepted: 1,
  });
  await training.expectMade({ finds: 3 });
  await production.expectMade({ finds: 0 });
  // Here nothing has changed, and nothing is left.
  expect(await home.json('list')).toMatchObject([{ state: 'queued' }, { state: 'queued' }]);
  expect(readdirSync(join(home.folder, 'pas', 'rehearsals'))).toEqual([]);
  expect(outboxes()).toEqual(before);
});

test('a find is tried that waits here for an answer about its row', async () => {
  await importConflict(home);
  expect(await home.json<Result>('rehearse', '--yes')).toMatchObject({
    accepted: 1,
    not_tested: [],
  });
});

test('a rehearsal without a sign-in advises the one that works', async () => {
  await importSeason(home, 1);
  await home.do('logout', '--profile', 'mock');
  const run = await home.pas('rehearse', '--yes');
  await expectEnded(run, 4, 'pas login --profile mock');
  expect(run.stderr).not.toContain('PAS_PASSWORD');
});

test('what is uncertain at a training instance is not said to be searched', async () => {
  const trained = ['--profile', 'mock'];
  await home.do('import', writeSeason(home, 1), ...trained);
  await training.service.faults({ endpoint: 'import', fault: '500-after-save', times: 1 });
  await expectEnded(home.pas('push', ...trained), 6);
  const { stdout } = await home.pas('status', ...trained);
  expect(stdout).toContain('check its website, and decide');
  expect(stdout).toContain('pas resolve --profile mock K-1');
  expect(stdout).not.toContain('pas reconcile');
});

test('a project unknown to the training instance is not tested until it is mapped', async () => {
  const table = readFileSync(writeSeason(home, 1), 'utf8').replaceAll(/C-20\d+/g, 'C-209900999');
  await home.do('import', home.file('other.csv', table));
  const result = await home.json<Result>('rehearse', '--yes');
  expect([result.refused, result.not_tested.map((each) => each.local_id)]).toEqual([[], ['K-1']]);
  const mapped = await home.json<Result>(
    'rehearse',
    '--yes',
    '--project-map',
    'c-209900999 = C\u2013202400101',
  );
  expect(mapped).toMatchObject({ accepted: 1, not_tested: [] });
});

test('nothing is rehearsed at an instance that is not for training, or that another profile calls production', async () => {
  await importSeason(home, 1);
  expect((await home.pas('rehearse', '--to', 'museum', '--yes')).stderr).toMatch(
    /not a training profile. Nothing was sent/,
  );
  await home.init(training.service, '--name', 'real', '--kind', 'production');
  await expectEnded(
    home.pas('rehearse', '--to', 'mock', '--yes'),
    2,
    /as production, so pas does not rehearse there/,
  );
  await training.expectMade({ finds: 0 });
  expect(existsSync(join(home.folder, 'pas', 'rehearsals'))).toBe(false);
});
