import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fetchToken } from '../support/contract-requests.ts';
import { findStates } from '../support/find-states.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { expectDone, signedIn } from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';

let service: RunningMock;
beforeAll(async () => {
  service = await serveMock();
});
afterAll(() => service.stop());

type Who = { readonly role: string };

test('the token of one account is not used for the account in PAS_USERNAME, nor replaced by that account’s token', async () => {
  const home = await signedIn(service, 'archaeologist');
  const without = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: undefined });
  expect((await without.pas('whoami')).code).toBe(4);
  const other = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: 'researcher' });
  expect((await other.json<Who>('whoami')).role).toBe('researcher');
  await expectDone(other.pas('login'));
  expect((await home.json<Who>('whoami')).role).toBe('archaeologist');
  expect((await without.json<Who>('whoami')).role).toBe('researcher');
});

test('logout deletes the password and the token, and until then whoami and doctor say where they are', async () => {
  const home = (await signedIn(service, 'archaeologist')).with({ PAS_PASSWORD: undefined });
  const kept = (): string => readFileSync(join(home.folder, 'pas', 'secrets.json'), 'utf8');
  const place = async () =>
    (await home.json<{ checks: { name: string; message: string }[] }>('doctor', '--offline')).checks.find(
      ({ name }) => name === 'secrets',
    );
  expect(kept()).toMatch(/"password".*"token"/s);
  expect((await expectDone(home.pas('whoami'))).stderr).toContain('secrets.json');
  expect(await place()).toMatchObject({ level: 'ok', message: expect.stringContaining('secrets.json') });
  await expectDone(home.pas('logout'));
  expect(kept()).not.toMatch(/password|token|archaeologist/);
  expect(await place()).toMatchObject({ level: 'warning' });
  expect((await home.pas('whoami')).code).toBe(4);
});

test('a dry run of a push counts the named finds, and no others', async () => {
  const home = await signedIn(service, 'archaeologist');
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  expect(await home.json('push', '--dry-run')).toMatchObject({ queued: { import: 3, number: 0, photo: 3 } });
  expect(await home.json('push', 'K-1', '--only', 'import', '--dry-run')).toMatchObject({ queued: { import: 1 } });
});

test('with the token of another account nothing is sent; both accounts and the ways out are named', async () => {
  const home = await signedIn(service, 'archaeologist');
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await expectDone(home.pas('push', 'K-1'));
  const [{ finds }, { account }] = [await service.state(), await home.json<{ account: string }>('outbox', 'show')];
  const lent = home.with({ PAS_TOKEN: await fetchToken({ url: service.base_url }, 'archivist') });
  const pushed = await lent.pas('push');
  expect(pushed).toMatchObject({
    code: 12,
    stderr: expect.stringMatching(
      new RegExp(`as the account ${account}.* as U-\\d+\\. Nothing was sent[\\s\\S]*pas login[\\s\\S]*pas init`),
    ),
  });
  expect(await service.state()).toMatchObject({ finds });
  expect(await findStates(home)).toEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
});
