import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { configFile } from '../support/outbox-files.ts';
import { expectEnded } from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const NOWHERE = 'http://127.0.0.1:9';
const home = useHome(mock);

beforeEach(async () => {
  await home.init(
    { base_url: NOWHERE, schema_base: mock.service.schema_base },
    '--name',
    'museum',
    '--kind',
    'production',
  );
  await home.do('profile', 'use', 'museum');
});

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
  expect(await mock.made()).toMatchObject({ finds: 0 });
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
  expect(await mock.made()).toMatchObject({ finds: 3 });
  // Here nothing has changed, and nothing is left.
  expect(await home.json('list')).toMatchObject([{ state: 'queued' }, { state: 'queued' }]);
  expect(readdirSync(join(home.folder, 'pas', 'rehearsals'))).toEqual([]);
  expect(outboxes()).toEqual(before);
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
  expect(readFileSync(configFile(home), 'utf8')).toContain('C-209900999');
  expect(await home.json<Result>('rehearse', '--yes')).toMatchObject({ accepted: 1 });
});

test('nothing is rehearsed at an instance that is not for training, or that another profile calls production', async () => {
  await importSeason(home, 1);
  expect((await home.pas('rehearse', '--to', 'museum', '--yes')).stderr).toMatch(
    /not a training profile. Nothing was sent/,
  );
  await home.init(mock.service, '--name', 'real', '--kind', 'production');
  await expectEnded(
    home.pas('rehearse', '--to', 'mock', '--yes'),
    2,
    /as production, so pas does not rehearse there/,
  );
  expect(await mock.made()).toMatchObject({ finds: 0 });
  expect(existsSync(join(home.folder, 'pas', 'rehearsals'))).toBe(false);
});
