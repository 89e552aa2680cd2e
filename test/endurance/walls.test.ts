import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import { settle } from '../../src/outbox/claims.ts';
import { allEntries } from '../../src/outbox/entries.ts';
import { openJournal } from '../../src/outbox/journal.ts';
import { openOutbox } from '../../src/outbox/open-outbox.ts';
import { tinyPng, writeSeason } from '../support/a-season.ts';
import { claimEntry } from '../support/attempted-entries.ts';
import { startCuttingWire, startPageProxy } from '../support/faulty-network.ts';
import { expectDone, type Home, jsonLines, type Run, settledAfter, signedIn } from '../support/run-pas.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '10');

type Status = {
  readonly entries: Record<'import' | 'number' | 'photo', Record<string, number>>;
  readonly waiting: {
    readonly reasons: readonly { kind: string; find: string; count: number; reason: string; not_before: string }[];
  };
};

const lines = (run: Pick<Run, 'stdout'>, type: string) => jsonLines(run.stdout).filter((line) => line['type'] === type);

async function importSeason(home: Home, finds: number, project = 'C-202400101', prefix = 'K'): Promise<void> {
  const table = readFileSync(writeSeason(home, finds), 'utf8');
  const rows = table.replaceAll('C-202400101', project).replaceAll('K-', `${prefix}-`);
  await expectDone(home.pas('import', home.file(`${prefix}.csv`, rows)));
}

test('finds of a project that is closed to the account stay queued, the others are sent, and it is said once', async () => {
  const home = await signedIn(mock.service, 'archaeologist', settledAfter(0));
  await importSeason(home, 40, 'C-202200058', 'A');
  await importSeason(home, 8);
  const run = await home.pas('push', '--json');
  expect(run.code).toBe(3);
  expect(lines(run, 'left_out')).toMatchObject([{ kind: 'import', project: 'C-202200058', status: 403, count: 40 }]);
  expect(lines(run, 'summary')).toMatchObject([{ accepted: 8, refused: 0, queued: 40, left_out: [{ project: 'C-202200058' }] }]);
  expect(run.stderr.match(/Not sent, still queued/g)).toHaveLength(1);
  expect(await mock.made()).toMatchObject({ finds: 8 });
  const { entries, waiting } = await home.json<Status>('status');
  expect(entries.import).toMatchObject({ queued: 40, refused: 0 });
  expect(waiting.reasons).toMatchObject([{ kind: 'import', count: 40 }]);
  expect((await home.pas('status')).stdout).toMatch(/import, 40 in all: left out with others/);
});

test('a proxy that lets no find through is asked ever more seldom, and no find is refused for it', async () => {
  const rule = { path: '/import-xml', status: 405, body: '{"detail":"no"}', contentType: 'application/json' };
  await using proxy = await startPageProxy(mock.service, { ...rule, passOn: false, times: 1e6 });
  const home = await signedIn(proxy.service, 'archaeologist', settledAfter(0));
  await importSeason(home, 60);
  const once = await home.pas('push', '--json');
  expect([once.code, lines(once, 'attempt').length < 25]).toEqual([5, true]);
  const watching = home.start('push', '--watch', '--json');
  let sent = 0;
  await watching.until(({ stdout }) => {
    sent = lines({ stdout }, 'attempt').length;
    return jsonLines(stdout).some(({ type }) => type === 'waiting');
  });
  watching.child.kill('SIGINT');
  const run = await watching.ended;
  expect(lines(run, 'attempt')).toHaveLength(sent);
  expect(lines(run, 'left_out')).toHaveLength(1);
  expect((await home.json<Status>('status')).entries.import).toMatchObject({ queued: 60, refused: 0 });
});

test('a photograph that was cut too often waits, is named, and is tried when it is asked for', async () => {
  await using wire = await startCuttingWire(mock.service, { head: '/upload-foto', afterBytes: 100_000, times: 1e6 });
  const home = await signedIn(wire.service, 'archaeologist', settledAfter(0));
  await importSeason(home, 1);
  await expectDone(home.pas('push'));
  const large = Buffer.concat([tinyPng(7), randomBytes(12_000_000)]);
  await expectDone(home.pas('photo', 'add', 'K-1', home.file('large.png', large)));
  await forgeCuts(home, 7);
  const first = await home.pas('push', '--json');
  expect([first.code, lines(first, 'attempt').length]).toEqual([5, 1]);
  expect(first.stderr).toMatch(/photo of K-1: .*tried 8 times/);
  const { waiting } = await home.json<Status>('status');
  expect(waiting.reasons).toMatchObject([
    { kind: 'photo', find: 'K-1', count: 1, reason: expect.stringContaining('tried 8 times') },
  ]);
  expect(Date.parse(waiting.reasons[0]?.not_before ?? '') - Date.now()).toBeGreaterThan(120_000);
  const second = await home.pas('push', '--json');
  expect([second.code, lines(second, 'attempt').length]).toEqual([5, 0]);
  expect(lines(await home.pas('push', 'K-1', '--json'), 'attempt')).toHaveLength(1);
});

/** So many pushes before this one have tried the photograph in vain. */
async function forgeCuts(home: Home, times: number): Promise<void> {
  const { file, journal } = await home.json<{ file: string; journal: { file: string } }>('outbox', 'show');
  const outbox = openOutbox(file, systemClock, {
    journal: () => openJournal(journal.file, { machine: () => '', clock: systemClock }),
  });
  const photo = allEntries(outbox).find(({ kind }) => kind === 'photo');
  for (let index = 0; index < times; index += 1) {
    const claimed = claimEntry(outbox, photo?.id ?? 0);
    settle(outbox, claimed, { state: 'queued', reason: 'cut', notBeforeAt: 0 }, { outcome: 'cut' });
  }
  outbox.close();
}
