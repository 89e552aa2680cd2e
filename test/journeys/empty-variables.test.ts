import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeDataPaths } from '../../src/cli/context/places.ts';
import { makeHome, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock();

test('an empty account variable counts as unset: the profile applies', async () => {
  const home = await signedIn(mock.service);
  const empty = { PAS_TOKEN: '', PAS_PASSWORD: '', PAS_USERNAME: '', PAS_PROFILE: '' };
  const run = await home.with(empty).do('push', '--dry-run');
  expect(run.stderr).toContain('account archaeologist');
});

test('an empty folder variable writes nothing into the current folder', async () => {
  const { folder, init } = makeHome({ PAS_HOME: '', XDG_DATA_HOME: '' });
  await init(mock.service, '--name', 'field', '--username', 'eva', '--oai-auth', 'none');
  expect(existsSync(join(folder, 'config.toml'))).toBe(false);
  expect(existsSync(join(folder, '.local', 'share', 'pas', 'config.toml'))).toBe(true);
});

test('the pace is in one place, even if the variable of its folder is empty or relative', () => {
  const usual = makeDataPaths({ HOME: '/home/eva' });
  for (const value of ['', 'state', './state'])
    expect(
      makeDataPaths({
        HOME: '/home/eva',
        XDG_STATE_HOME: value,
        XDG_DATA_HOME: value,
        PAS_HOME: '',
      }),
    ).toEqual(usual);
});
