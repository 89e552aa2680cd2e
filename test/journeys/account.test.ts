import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
import { tokenOf } from '../support/contract-requests.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { expectDone, signedIn } from '../support/run-pas.ts';

hostRuns();

let service: RunningMock;
beforeAll(async () => {
  service = await serveMock();
});
afterAll(() => service.stop());

type Who = { readonly role: string };

test('the token of one account is not used for the account that PAS_USERNAME names, nor replaced by its token', async () => {
  const home = await signedIn(service, 'archaeologist');
  const without = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: undefined });
  expect((await without.pas('whoami')).code).toBe(4);
  const other = home.with({ PAS_USERNAME: 'researcher', PAS_PASSWORD: 'researcher' });
  expect((await other.json<Who>('whoami')).role).toBe('researcher');
  await expectDone(other.pas('login'));
  expect((await home.json<Who>('whoami')).role).toBe('archaeologist');
  expect((await without.json<Who>('whoami')).role).toBe('researcher');
});

test('signing out forgets the password and the token, and until then whoami and doctor say where they are', async () => {
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

test('a dry run of a push counts the finds that are named, and no others', async () => {
  const home = await signedIn(service, 'archaeologist');
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  expect(await home.json('push', '--dry-run')).toMatchObject({ queued: { import: 3, number: 0, photo: 3 } });
  expect(await home.json('push', 'K-1', '--only', 'import', '--dry-run')).toMatchObject({ queued: { import: 1 } });
});

test('what waits for the profile’s account is named, and is no success, where the token is another one’s', async () => {
  const home = await signedIn(service, 'archaeologist');
  await expectDone(home.pas('import', writeSeason(home, 2)));
  const lent = home.with({ PAS_TOKEN: await tokenOf({ url: service.base_url }, 'archivist') });
  const pushed = await lent.pas('push');
  expect(pushed.stdout).toContain('0 accepted, 0 refused, 0 uncertain, 2 still queued');
  expect(pushed.stderr).toContain('2 entries here were queued by archaeologist');
  expect(pushed.code).toBe(4);
  expect((await expectDone(lent.pas('push', '--any-account'))).stdout).toContain('2 accepted');
});
