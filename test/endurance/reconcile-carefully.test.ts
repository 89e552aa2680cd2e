import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Database, openSqlite } from '../../src/store/database.ts';
import { tinyPng } from '../support/a-season.ts';
import { countMade } from '../support/count-made.ts';
import { findStates } from '../support/find-states.ts';
import { freePort } from '../support/free-port.ts';
import { hostRuns } from '../support/hosted-runs.ts';
import { type MockProcess, type MockState, startMockProcess } from '../support/mock-process.ts';
import { addressFlags, expectDone, type Home, makeHome, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

hostRuns();

/** The times that the profile has by default are over after half an hour of the service's clock. */
const HALF_AN_HOUR = 30 * 60_000;

const mock = useMock('--min-interval', '10');
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', ['--min-interval-ms', '10']);
});

const HEADER =
  'local_id;projekt;hloubka;okolnosti;obdobi;druh_nalezu;specifikace;nalezce;datum_nalezu;stav;geom_system;pristupnost;lokalizace;lon;lat;poznamka';

/** Queues a find; two of the same note are the same in every element. */
async function queue(find: string, note = find, ...flags: string[]): Promise<void> {
  const row = `${find};C-202400101;7;HES-000560;HES-000253;HES-000691;HES-000988;OS-001507;2024-06-01;1;4326;HES-000867;pole;14.4;50.08;${note}`;
  await expectDone(home.pas('import', home.file(`${find}.csv`, `${HEADER}\n${row}\n`), ...flags));
}

async function pushed(find: string, ...flags: string[]): Promise<void> {
  await queue(find, find, ...flags);
  await expectDone(home.pas('push', find, ...flags));
}

/** Pushes it while the service fails so, and then works again. */
async function pushFailing(find: string, fault: string, ...flags: string[]): Promise<void> {
  await mock.service.faults({ endpoint: 'import', when: { nth: 1 }, times: 1, fault });
  expect((await home.pas('push', find, ...flags)).code).toBe(6);
  await mock.service.faults();
}

const later = (ms: number) => mock.service.control('POST', '/clock', { advance_ms: ms });

type Told = { find: string; kind: string; verdict: string; reason: string; ident_cely: string | null; candidates: string[] };
const reconciled = async (...flags: string[]): Promise<Told[]> =>
  (await home.json<{ reconciled: Told[] }>('reconcile', ...flags)).reconciled;

function outbox<T>(work: (database: Database) => T): T {
  const database = openSqlite(join(home.folder, 'pas', 'outbox.sqlite'));
  try {
    return work(database);
  } finally {
    database.close();
  }
}

const identOf = (find: string): string =>
  outbox(
    (database) =>
      database
        .prepare('select ident_cely from entries join finds on finds.id = find_id where local_id = ? and kind = ?')
        .pluck()
        .get(find, 'import') as string,
  );

test('a find is not sent again as long as another one is missing that the service has accepted since', async () => {
  await pushed('A');
  await mock.service.control('PUT', '/settings', { index_delay_ms: 2 * HALF_AN_HOUR });
  await queue('B');
  await pushFailing('B', '500-after-save');
  await queue('C');
  await home.pas('push', 'C');
  expect(await findStates(home)).toMatchObject({ B: 'uncertain', C: 'accepted' });
  await later(HALF_AN_HOUR);
  const [told] = await reconciled();
  expect(told).toMatchObject({ find: 'B', verdict: 'undecided' });
  expect(told?.reason).toMatch(/index is behind/);
  await later(HALF_AN_HOUR);
  expect(await reconciled()).toMatchObject([{ find: 'B', verdict: 'found' }]);
  expect(await mock.made()).toMatchObject({ finds: 3 });
});

describe('two profiles of one service', () => {
  const OTHER = ['--profile', 'two'];
  beforeEach(async () => {
    await expectDone(
      home.pas(
        ...['init', '--name', 'two', '--kind', 'training', '--username', 'archaeologist', '--oai-auth', 'basic'],
        ...addressFlags(mock.service),
        ...['--min-interval-ms', '10'],
      ),
    );
    await expectDone(home.pas('login', ...OTHER));
    await expectDone(home.pas('profile', 'use', 'mock'));
  });

  test('a record that the one is known to have made is not taken for the other’s twin, nor given to it by hand', async () => {
    await pushed('A', ...OTHER);
    await queue('T2', 'twin', ...OTHER);
    await pushFailing('T2', '500-before-save', ...OTHER);
    await queue('T1', 'twin');
    // T2 is in doubt still, whichever of the profiles asks.
    expect((await home.pas('push', 'T1')).code).toBe(6);
    const [told] = await reconciled(...OTHER);
    expect(told).toMatchObject({ find: 'T2', verdict: 'undecided' });
    expect(told?.reason).toMatch(/still be working/);
    const refused = await home.pas('resolve', 'T2', '--created', identOf('T1'), ...OTHER);
    expect(refused.stderr).toMatch(/is the record of T1 already/);
    await later(HALF_AN_HOUR);
    expect(await reconciled(...OTHER)).toMatchObject([{ find: 'T2', verdict: 'absent' }]);
    await expectDone(home.pas('push', ...OTHER));
    expect(await mock.made()).toMatchObject({ finds: 3 });
  });

  test('a find that was imported under both is queued once, and sent once by whichever is first', async () => {
    await queue('A');
    await queue('A', 'A', ...OTHER);
    await expectDone(home.pas('push', ...OTHER));
    await expectDone(home.pas('push'));
    expect(await mock.made()).toMatchObject({ finds: 1 });
  });

  test('a record may be either of twins of which the other profile’s is uncertain', async () => {
    await queue('T2', 'twin', ...OTHER);
    await pushFailing('T2', 'reset-before-save', ...OTHER);
    await queue('T1', 'twin');
    await pushFailing('T1', '500-after-save');
    const told = (await reconciled()).find(({ find }) => find === 'T1');
    expect(told).toMatchObject({ verdict: 'undecided' });
    expect(told?.reason).toMatch(/another uncertain find/);
  });
});

test('a clock that was a day ahead at the first attempt hides no record, and nothing is sent twice', async () => {
  const now = new Date();
  await mock.service.control('POST', '/clock', { set: new Date(now.getTime() - 2 * 86_400_000).toISOString() });
  await mock.service.control('PUT', '/settings', { index_delay_ms: 60_000 });
  await queue('B');
  await pushFailing('B', 'reset-after-save');
  outbox((database) => {
    database.exec('update attempts set started_at = started_at + 86400000, ended_at = ended_at + 86400000; delete from evidence');
  });
  await mock.service.control('POST', '/clock', { set: now.toISOString() });
  await mock.service.control('PUT', '/settings', { index_delay_ms: 0 });
  await queue('C');
  await home.pas('push', 'C');
  await later(HALF_AN_HOUR);
  const [told] = await reconciled();
  expect(told).toMatchObject({ find: 'B', verdict: 'undecided', candidates: [expect.stringMatching(/^C-202400101-N/)] });
  await home.pas('push');
  expect(await mock.made()).toMatchObject({ finds: 2 });
});

test('what was sent after a backup is found although the clock was ahead when the backup was made', async () => {
  const copy = join(home.folder, 'copy.sqlite');
  await pushed('A');
  await queue('B');
  await expectDone(home.pas('backup', copy));
  await expectDone(home.pas('push'));
  const database = openSqlite(copy);
  database.exec('update copy_made set made_at = made_at + 172800000');
  database.close();
  await later(2 * HALF_AN_HOUR);
  await expectDone(home.pas('restore', copy, '--replace'));
  expect(await reconciled()).toMatchObject([{ find: 'B', verdict: 'found' }]);
});

describe('a record that was changed at the service', () => {
  beforeEach(async () => {
    await pushed('A');
    await mock.service.control('PUT', '/settings', { index_delay_ms: 60_000 });
    await queue('B');
    await pushFailing('B', 'reset-after-save');
    await later(2 * HALF_AN_HOUR);
    await mock.service.control('PUT', '/settings', { index_delay_ms: 0 });
  });
  const next = (): string => `C-202400101-N${String(Number(identOf('A').slice(-5)) + 1).padStart(5, '0')}`;

  test('is not overlooked because the profile has another account by now', async () => {
    await mock.service.control('POST', '/records', { ident: next(), changes: { poznamka: 'opraveno' } });
    await later(HALF_AN_HOUR);
    const config = join(home.folder, 'pas', 'config.toml');
    writeFileSync(config, readFileSync(config, 'utf8').replace('username = "archaeologist"', 'username = "archivist"'));
    home = home.with({ PAS_PASSWORD: 'archivist' });
    await expectDone(home.pas('login'));
    expect(await reconciled()).toMatchObject([{ find: 'B', verdict: 'undecided', candidates: [next()] }]);
  });

  test('and deleted there is not made again by itself: that is for a person', async () => {
    await mock.service.control('POST', `/records/${next()}/delete`);
    await later(HALF_AN_HOUR);
    const [told] = await reconciled();
    expect(told).toMatchObject({ find: 'B', verdict: 'undecided', candidates: [next()] });
    expect(told?.reason).toMatch(/deleted since/);
  });
});

describe('a service that was put back from a backup', () => {
  let data: string;
  let start: () => Promise<MockProcess>;
  let restored: MockProcess;
  let made: () => Promise<MockState>;

  /** Runs what happens after the backup of the service was made, and then puts it back, an hour later by its clock. */
  async function lose(work: () => Promise<void>): Promise<void> {
    await restored.stop();
    copyFileSync(data, `${data}.backup`);
    restored = await start();
    await work();
    await restored.stop();
    copyFileSync(`${data}.backup`, data);
    restored = await start();
    await restored.control('POST', '/clock', { advance_ms: 2 * HALF_AN_HOUR });
    made = await countMade(restored);
  }

  beforeEach(async () => {
    data = join(makeHome().folder, 'service.sqlite');
    const port = String(await freePort());
    start = () => startMockProcess('--min-interval', '10', '--data', data, '--port', port);
    restored = await start();
    home = await signedIn(restored, 'archaeologist', ['--min-interval-ms', '10']);
    await pushed('A');
  });
  afterEach(() => restored.stop());

  test('gives a record’s identifier again, and no photograph goes to another find’s record', async () => {
    await lose(() => pushed('B'));
    await queue('C');
    await expectDone(home.pas('photo', 'add', 'B', home.file('b.png', tinyPng(1))));
    const ident = identOf('B');
    const run = await home.pas('push', 'C');
    expect(run.stderr).toMatch(new RegExp(`C: the service gave it the record ${ident}, which was that of B`));
    expect(await findStates(home)).toMatchObject({ B: 'uncertain', C: 'accepted' });
    expect(identOf('C')).toBe(ident);
    // The service does not have B any more.
    expect(await reconciled()).toMatchObject([{ find: 'B', kind: 'import', verdict: 'absent' }]);
    await expectDone(home.pas('push'));
    expect(identOf('B')).not.toBe(ident);
    expect(await made()).toEqual({ finds: 2, photos: 1 });
    const uploads = (await restored.journal()).filter(({ method, path }) => method === 'POST' && path.includes('foto'));
    expect(uploads.map(({ path }) => path.includes(identOf('B')))).toEqual([true]);
  });

  test('and gives it to a find of which no answer comes: that find is not sent again for it', async () => {
    await lose(() => pushed('B'));
    const ident = identOf('B');
    await queue('C');
    await restored.faults({ endpoint: 'import', when: { nth: 1 }, times: 1, fault: '500-after-save' });
    await home.pas('push', 'C');
    await restored.faults();
    expect(await findStates(home)).toMatchObject({ C: 'accepted' });
    expect(identOf('C')).toBe(ident);
    await home.pas('reconcile');
    await home.pas('push');
    expect(await made()).toMatchObject({ finds: 2 });
  });
});
