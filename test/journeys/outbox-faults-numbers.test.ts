import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import type { RunningMock } from '../support/mock-process.ts';
import { curatorSets, findAt } from '../support/records-at-service.ts';
import {
  accountFlags,
  expectEnded,
  type Home,
  readIdent,
  settledAfter,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const production = useMock();
const training = useMock('--training');

const numbersSent = async (service: RunningMock): Promise<number> =>
  (await service.journal()).filter(({ method }) => method === 'PATCH').length;

test('A number that was tried at the training instance does not follow the find to production.', async () => {
  // A training instance has no harvesting.
  const { base_url, schema_base } = training.service;
  const { oai_base } = production.service;
  const home = await signedIn({ base_url, schema_base, oai_base }, WITHOUT_PAUSES);
  await home.init(
    production.service,
    '--name',
    'museum',
    '--kind',
    'production',
    ...accountFlags(),
    ...WITHOUT_PAUSES,
  );
  const museum = ['--profile', 'museum'];
  const table = writeSeason(home, 3);
  await home.do('import', table);
  for (const find of ['K-1', 'K-2', 'K-3']) await home.do('number', 'set', find, `TRY ${find}`);
  await home.do('push');
  await home.do('import', table, ...museum);
  await home.do('number', 'set', 'K-2', 'MMK A 77/2024', ...museum);
  const register = home.file('register.csv', 'local_id;evidencni_cislo\nK-3;MMK A 78/2024\n');
  await home.do('number', 'import', register, ...museum);
  await home.do('push', ...museum, '--yes');
  const madeFinds = await home.json('list', ...museum);
  const made = await Promise.all(
    madeFinds.map(({ ident_cely }) => findAt(production.service, ident_cely)),
  );
  expect(made.map(({ evidencni_cislo }) => evidencni_cislo)).toEqual([
    undefined,
    'MMK A 77/2024',
    'MMK A 78/2024',
  ]);
});

/**
 * A find is at the service; a push of its number was killed during the request, and then a curator
 * has set another one.
 */
async function killedDuringNumber(
  service: RunningMock,
  flags: readonly string[],
): Promise<{ readonly home: Home; readonly ident: string }> {
  const home = await signedIn(service, flags);
  await sendSeason(home, 1);
  const ident = await readIdent(home, 'K-1');
  await home.do('number', 'set', 'K-1', 'MMK 1/2026');
  await service.faults({ endpoint: 'number', fault: 'hang-before-save', times: 1 });
  const push = home.start('push');
  await eventually(() => numbersSent(service)).toBe(1);
  push.child.kill('SIGKILL');
  await push.ended;
  await service.faults();
  await curatorSets(service, ident, 'CURATOR');
  return { home, ident };
}

test.each<[string, readonly string[], NodeJS.ProcessEnv]>([
  [
    'the service no longer takes the password for harvesting',
    settledAfter(0, 0),
    { PAS_PASSWORD: 'changed-meanwhile' },
  ],
  [
    'the profile does not sign in for harvesting',
    [...settledAfter(0, 0), '--oai-auth', 'none'],
    {},
  ],
])(
  'An uncertain number is not sent again over a curator’s number if %s.',
  async (_, flags, env) => {
    const { service } = production;
    const { home, ident } = await killedDuringNumber(service, flags);
    const sentNumbers = await numbersSent(service);
    for (const _again of [1, 2]) {
      const run = await home.with({ PAS_PASSWORD: 'archaeologist', ...env }).pas('push');
      expect(run.code, run.stderr).toBe(6);
    }
    expect(await findAt(service, ident)).toMatchObject({ evidencni_cislo: 'CURATOR' });
    expect(await numbersSent(service)).toBe(sentNumbers);
    const { needs_person } = await home.json('status');
    expect(needs_person).toMatchObject([{ find: 'K-1', kind: 'number', state: 'uncertain' }]);
  },
);

test('A number that a curator changed is overwritten only after the change was shown.', async () => {
  const { service } = production;
  const home = await signedIn(service, settledAfter(0, 0));
  await importSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'MMK 1/2026');
  await home.do('push');
  const ident = await readIdent(home, 'K-1');
  await curatorSets(service, ident, 'WRONG');
  await home.do('pull');
  expect((await home.do('show', 'K-1')).stdout).toContain('WRONG');
  expect(await home.json('number', 'set', 'K-1', 'MMK 1/2026', '--replace')).toMatchObject({
    change: 'queued',
    replaces: 'WRONG',
  });
  const register = home.file('register.csv', 'local_id;evidencni_cislo\nK-1;MMK 1/2026\n');
  await home.do('number', 'import', register, '--replace');
  await home.do('push');
  expect(await findAt(service, ident)).toMatchObject({ evidencni_cislo: 'MMK 1/2026' });
});

test('A number that a curator gave one find is refused for another, and that of before is free.', async () => {
  const { service } = production;
  const home = await signedIn(service, settledAfter(0, 0));
  await importSeason(home, 2);
  await home.do('number', 'set', 'K-1', 'MMK 5/2026');
  await home.do('push');
  await curatorSets(service, await readIdent(home, 'K-1'), 'MMK 6/2026');
  await home.do('pull');
  await expectEnded(
    home.pas('number', 'set', 'K-2', 'MMK 6/2026'),
    2,
    'MMK 6/2026 is also the number of K-1',
  );
  await home.do('number', 'set', 'K-2', 'MMK 5/2026');
});

test('A number is sent where a draft has the same one, which is not sent.', async () => {
  const home = await signedIn(production.service);
  await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'X');
  const draft = ['local_id=A', 'evidencni_cislo=X'].flatMap((value) => ['--set', value]);
  const added = await home.pas('add', '--draft', ...draft);
  expect(added.stdout + added.stderr).toContain('X is also the number of K-1');
  await home.do('push', 'K-1');
  expect(await numbersSent(production.service)).toBe(1);
});
