import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSeason } from '../support/a-season.ts';
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

test('a dry run of a push counts the finds that are named, and no others', async () => {
  const home = await signedIn(service, 'archaeologist');
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  expect(await home.json('push', '--dry-run')).toMatchObject({ queued: { import: 3, number: 0, photo: 3 } });
  expect(await home.json('push', 'K-1', '--only', 'import', '--dry-run')).toMatchObject({ queued: { import: 1 } });
});
