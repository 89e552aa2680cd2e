import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { expectEnded, signedIn } from '../support/run-pas.ts';
import { importSeason } from '../support/season.ts';
import { shareMock } from '../support/use-mock.ts';

const mock = shareMock();

type Who = { readonly role: string };

test('the token of one account is not used for the account in PAS_USERNAME, nor replaced by that account’s token', async () => {
  const home = await signedIn(mock.service);
  const without = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: undefined });
  await expectEnded(without.pas('whoami'), 4);
  const other = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: 'researcher' });
  expect((await other.json<Who>('whoami')).role).toBe('researcher');
  // The outbox stays the archaeologist's, but the sign-in is kept.
  await expectEnded(other.pas('login'), 12);
  expect((await home.json<Who>('whoami')).role).toBe('archaeologist');
  expect((await without.json<Who>('whoami')).role).toBe('researcher');
});

test('logout deletes the password and the token, and until then whoami and doctor say where they are', async () => {
  const home = (await signedIn(mock.service)).with({ PAS_PASSWORD: undefined });
  const kept = (): string => readFileSync(join(home.folder, 'pas', 'secrets.json'), 'utf8');
  const place = async () =>
    (
      await home.json<{ checks: { name: string; message: string }[] }>('doctor', '--offline')
    ).checks.find(({ name }) => name === 'secrets');
  expect(kept()).toMatch(/"password".*"token"/s);
  expect((await home.do('whoami')).stderr).toContain('secrets.json');
  expect(await place()).toMatchObject({
    level: 'ok',
    message: expect.stringContaining('secrets.json'),
  });
  await home.do('logout');
  expect(kept()).not.toMatch(/password|token|archaeologist/);
  expect(await place()).toMatchObject({ level: 'warning' });
  await expectEnded(home.pas('whoami'), 4);
});

test('a dry run of a push counts the named finds, and no others', async () => {
  const home = await signedIn(mock.service);
  await importSeason(home, 3, { photos: true });
  expect(await home.json('push', '--dry-run')).toMatchObject({
    queued: { import: 3, number: 0, photo: 3 },
  });
  expect(await home.json('push', 'K-1', '--only', 'import', '--dry-run')).toMatchObject({
    queued: { import: 1 },
  });
});
