import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fetchToken } from '../support/contract-requests.ts';
import {
  accountFlags,
  expectEnded,
  makeHome,
  serviceAt,
  settledAfter,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('an uncertain find has a one-sentence summary beside a question about it, and its evidence on request', async () => {
  const home = await signedIn(mock.service, settledAfter(3_600_000));
  await importSeason(home, 2);
  await mock.service.faults({
    endpoint: 'import',
    when: { nth: 2 },
    times: 1,
    fault: '500-before-save',
  });
  const plain =
    /It is not known yet whether the service has this find; pas checks again after (\S+ )?\d\d:\d\d\./;
  const reason = /[Ii]nternal processing failed|Vnitřní zpracování selhalo/;
  const pushed = await home.pas('push');
  await expectEnded(pushed, 6, plain);
  expect(pushed.stderr).not.toMatch(reason);
  expect(pushed.stderr.match(new RegExp(plain, 'g'))).toHaveLength(1);
  const table = readFileSync(writeSeason(home, 2), 'utf8').replace('K-2', 'B-2');
  await home.pas('import', home.file('other.csv', table));
  const status = await home.do('status');
  expect(status.stdout).toMatch(/import of K-2: row 3 of .* is equal to K-2/);
  expect(status.stdout.match(new RegExp(plain, 'g'))).toHaveLength(1);
  expect(status.stdout).not.toMatch(reason);
  const details = await home.do('show', 'K-2');
  expect(details.stdout).toMatch(plain);
  expect(details.stdout).toMatch(reason);
  await home.pas('reconcile');
  const shown = await home.json('show', 'K-2');
  expect(shown.entries[0]).toMatchObject({
    reason: expect.stringMatching(reason),
    evidence: [{ verdict: 'undecided' }],
  });
});

test.each([
  ['http://127.0.0.1:9', /the connection was refused: nothing answers there/],
  [
    'https://nowhere.invalid',
    /there is no host with this name|the name of the host cannot be resolved now/,
  ],
])('no answer at %s is reported in plain words', async (address, words) => {
  const home = makeHome({ PAS_USERNAME: 'archaeologist', PAS_PASSWORD: 'archaeologist' });
  await home.init(serviceAt(address));
  for (const command of ['login', 'whoami']) {
    await expectEnded(home.pas(command), 5, words);
  }
});

test('a refused sign-in says what to check, and does not advise to sign in', async () => {
  const home = makeHome({ PAS_USERNAME: 'archaeologist', PAS_PASSWORD: 'mistyped' });
  await home.init(mock.service);
  const run = await home.pas('login');
  await expectEnded(run, 4, 'Check the user name and the password.');
  expect(run.stderr).not.toContain('pas login');
});

test('a target state that the role may not reach names the command for a new role', async () => {
  const home = await signedIn(mock.service, WITHOUT_PAUSES, 'researcher');
  const imported = await home.pas('import', writeSeason(home, 1, { state: 2 }));
  expect(imported.stdout).toContain('If the account now has another role: pas whoami');
  await mock.service.control('PUT', '/accounts/researcher', { role: 'archivist' });
  await home.do('whoami');
  await home.do('push');
});

test('a find that has only the local id of one of a colleague is not said to differ little, and may be called the same', async () => {
  const home = await signedIn(mock.service);
  await sendSeason(home, 1);
  await home.init(mock.service, '--name', 'colleague', ...accountFlags('archivist'));
  const colleague = home.with({ PAS_PASSWORD: 'archivist', PAS_PROFILE: 'colleague' });
  const other = readFileSync(writeSeason(home, 1), 'utf8')
    .replace('2024-06-01', '2023-05-05')
    .replace('14.40000', '15.17120')
    .replace('HES-000691', 'HES-000690')
    .replace('pole 1', 'les');
  await colleague.do('import', home.file('other.csv', other));
  await expectEnded(colleague.pas('push'), 6);
  expect((await colleague.do('status')).stdout).toMatch(/or has the same local id, was sent/);
  await colleague.do('resolve', 'K-1', '--answer', 'same');
});

test('a refused token of PAS_TOKEN says once that nothing is lost', async () => {
  const home = await signedIn(mock.service);
  await importSeason(home, 1);
  await mock.service.faults({ endpoint: 'import', fault: 'token-expired', times: 1 });
  const PAS_TOKEN = await fetchToken({ url: mock.service.base_url }, 'archaeologist');
  const { stderr } = await home.with({ PAS_TOKEN }).pas('push');
  expect(stderr.match(/stay queued/g)).toHaveLength(1);
});

test('no message advises to send what cannot be sent yet', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  await importSeason(home, 1, { photos: true });
  expect((await home.pas('status')).stdout).toContain('Send what is queued:');
  await mock.service.faults({
    endpoint: 'import',
    when: { nth: 1 },
    times: 1,
    fault: '500-before-save',
  });
  await home.pas('push', '--only', 'import');
  const { stdout } = await home.pas('status');
  expect(stdout).toContain('1 number or photograph waits for the import of its find');
  expect(stdout).not.toContain('Send what is queued:');
});

test('a find is shown by its field names, in the language of the reader and in local time', async () => {
  const home = await signedIn(mock.service, settledAfter(0));
  await sendSeason(home, 1);
  expect((await home.pas('show', 'K-1')).stdout).toMatch(
    /^ {2}Coordinates +\d[\s\S]+^ {2}\d{4}-\d\d-\d\d \d\d:\d\d {2}POST /m,
  );
  const { stdout } = await home.with({ PAS_LANG: 'cs' }).pas('show', 'K-1');
  expect(stdout).toMatch(/^ {2}Souřadnice +\d[\s\S]+^ {2}\d+\. \d+\. \d{4} \d+:\d\d {2}POST /m);
  expect(stdout).not.toMatch(/geom_|poznamka|\d\dT\d\d:/);
});
