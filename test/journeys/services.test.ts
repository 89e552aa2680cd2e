import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type RunningMock, serveMock } from '../support/mock-process.ts';
import { accountFlags, type Home, type Service, signedIn } from '../support/run-pas.ts';
import { importSeason, writeSeason } from '../support/season.ts';

let first: RunningMock;
let second: RunningMock;
let home: Home;

beforeAll(async () => {
  [first, second] = await Promise.all([
    serveMock('--min-interval', '10'),
    serveMock('--min-interval', '10'),
  ]);
});
afterAll(() => Promise.all([first.stop(), second.stop()]));
beforeEach(async () => {
  await Promise.all([first, second].map((mock) => mock.control('POST', '/reset')));
  home = await signedIn(first, ['--set', 'min_interval_ms=10']);
});

type Listed = {
  readonly local_id: string;
  readonly state: string | null;
  readonly ident_cely: string | null;
}[];
type Seen = { readonly method: string; readonly path: string; readonly user: string | null };

const pointAt = (service: Service, name = 'mock', user = 'archaeologist') =>
  home.init(service, '--name', name, ...accountFlags(user), '--set', 'min_interval_ms=10');
const journal = async (mock: RunningMock): Promise<Seen[]> =>
  (await mock.control('GET', '/journal')) as unknown as Seen[];

describe('a service', () => {
  test('can be written in several spellings', async () => {
    await importSeason(home, 1);
    await home.do('push');
    const { port } = new URL(first.base_url);
    await pointAt({ ...first, base_url: `HTTP://127.0.0.1:${port}///` }, 'other');
    expect(await home.json<Listed>('list', '--profile', 'other')).toMatchObject([
      { state: 'accepted' },
    ]);
    await home.do('import', writeSeason(home, 1), '--profile', 'other');
    await home.do('push', '--profile', 'other');
    expect((await journal(first)).filter(({ path }) => path.endsWith('/import-xml'))).toHaveLength(
      1,
    );
  });
});

test('a profile of another account has its own outbox', async () => {
  await pointAt(first, 'other', 'archivist');
  await importSeason(home, 1);
  expect(await home.json<Listed>('list', '--profile', 'other')).toEqual([]);
  const run = await home.with({ PAS_USERNAME: 'archivist', PAS_PASSWORD: 'archivist' }).pas('push');
  expect(readdirSync(join(home.folder, 'pas', 'outboxes'))).toHaveLength(2);
  expect(run.code).not.toBe(1);
});
