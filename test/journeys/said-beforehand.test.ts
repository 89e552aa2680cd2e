import { beforeEach, describe, expect, test } from 'vitest';
import {
  expectEnded,
  findStates,
  type Home,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--prefix', 'amcr');

type Checks = {
  readonly checks: readonly { name: string; level: string; message: string; todo: string | null }[];
};
type Verdict = { readonly issues: readonly { rule: string; severity: string; message: string }[] };

async function judge(home: Home) {
  const doctor = await home.pas('doctor', '--json');
  const validate = await home.pas('validate', '--json');
  return {
    doctor: [
      doctor.code,
      (JSON.parse(doctor.stdout) as Checks).checks.find(({ name }) => name === 'schema'),
    ],
    validate: [
      validate.code,
      (JSON.parse(validate.stdout) as Verdict).issues.filter(
        ({ rule }) => rule === 'schema-declaration',
      ),
    ],
  };
}

let base: string;
beforeEach(() => {
  base = mock.service.schema_base;
});

test('a wrong prefix is reported before anything is sent', async () => {
  const home = await signedIn(mock.service);
  const message = `The service refuses every import of this profile: its schema is amcr at ${base}, but the profile has svc at ${base}.`;
  const todo = `Set prefix = "amcr" and schema_base = "${base}" in the profile.`;
  expect(await judge(home)).toEqual({
    doctor: [12, { name: 'schema', level: 'problem', message, todo }],
    validate: [3, [expect.objectContaining({ severity: 'error', message: `${message} ${todo}` })]],
  });
  expect(
    (await mock.service.journal()).filter(
      ({ method, path }) => method === 'POST' && path.includes('import'),
    ),
  ).toEqual([]);
});

test('a schema version other than the service’s own is pointed out', async () => {
  const home = await signedIn(mock.service, [
    ...WITHOUT_PAUSES,
    '--set',
    'prefix=amcr',
    '--set',
    'schema_version=2.1',
  ]);
  const message =
    'The service may refuse every import of this profile: it uses schema version 2.2, but the profile has 2.1.';
  const todo = 'Ask the operator which schema_version imports need.';
  expect(await judge(home)).toEqual({
    doctor: [0, { name: 'schema', level: 'warning', message, todo }],
    validate: [
      0,
      [expect.objectContaining({ severity: 'warning', message: `${message} ${todo}` })],
    ],
  });
});

describe('after a change of the profile, a push sends the documents that it makes of', () => {
  const wrong = [...WITHOUT_PAUSES, '--set', 'prefix=amcr', '--set', 'schema_version=2.1'];

  test('finds that were queued before', async () => {
    const home = await signedIn(mock.service, wrong);
    await importSeason(home, 2);
    await home.do('profile', 'set', 'schema_version=2.2');
    expect((await home.do('show', 'K-1', '--xml')).stdout).toContain(`${base}/2.2/amcr.xsd`);
    await home.do('push');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'accepted' });
  });

  test('a refused find that is resent', async () => {
    const home = await signedIn(mock.service, wrong);
    await importSeason(home, 1);
    await expectEnded(home.pas('push'), 3);
    await home.do('profile', 'set', 'schema_version=2.2');
    await home.do('resolve', 'K-1', '--resend');
    await home.do('push');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted' });
  });

  test('a version that an undo brought back', async () => {
    const home = await signedIn(mock.service, wrong);
    await importSeason(home, 1);
    await home.do('edit', 'K-1', '--set', 'poznamka=another');
    await home.do('profile', 'set', 'schema_version=2.2');
    await home.do('push', '--limit', '0');
    await home.do('undo');
    await home.do('push');
    expect(await findStates(home)).toEqual({ 'K-1': 'accepted' });
  });
});

test('names that match the service are no issue', async () => {
  const home = await signedIn(mock.service, [...WITHOUT_PAUSES, '--set', 'prefix=amcr']);
  expect(await judge(home)).toEqual({
    doctor: [0, expect.objectContaining({ level: 'ok' })],
    validate: [0, []],
  });
});
