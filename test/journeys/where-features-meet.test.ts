import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { outboxFolder } from '../support/outbox-files.ts';
import { findAt } from '../support/records-at-service.ts';
import {
  accountFlags,
  expectEnded,
  findStates,
  type Home,
  settledAfter,
  signedIn,
} from '../support/run-pas.ts';
import { sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const MINUTE_MS = 60_000;

const mock = useMock();
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service);
});

/** The number of the record that was made last. */
async function numberAtService(): Promise<unknown> {
  const { finds } = await mock.service.control<{ finds: { registration_number: unknown }[] }>(
    'GET',
    '/finds?limit=1',
  );
  return finds[0]?.registration_number;
}

test('a number that the record had before another one is not found in an index that lags', async () => {
  await sendSeason(home, 1);
  await home.do('number', 'set', 'K-1', 'X');
  await home.do('push');
  await mock.service.clock({ advance_ms: 60 * MINUTE_MS });
  await mock.service.settings({ index_delay_ms: 14 * MINUTE_MS });
  await home.do('number', 'set', 'K-1', 'Y', '--replace');
  await home.do('push');
  await home.do('number', 'set', 'K-1', 'X', '--replace');
  await mock.service.faults({ endpoint: 'number', fault: 'reset-before-save', times: 1 });
  await expectEnded(home.pas('push'), 6);
  await mock.service.clock({ advance_ms: 11 * MINUTE_MS });
  await expectEnded(home.pas('reconcile'), 6);
  await mock.service.clock({ advance_ms: 20 * MINUTE_MS });
  await home.do('push');
  expect(await numberAtService()).toBe('X');
});

describe('an entry of unknown outcome that was dropped', () => {
  beforeEach(async () => {
    home = await signedIn(mock.service, settledAfter(300));
    await sendSeason(home, 1);
  });

  const lose = (endpoint: string) =>
    mock.service.faults({ endpoint, fault: 'reset-before-save', times: 1 });

  const sendDropped = async (endpoint: string, name: string): Promise<void> => {
    await lose(endpoint);
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', name, '--drop');
    await home.do('resolve', name, '--resend');
    await mock.service.clock({ advance_ms: 20 * MINUTE_MS });
    await home.do('push');
  };

  test('is sent once a person wants it again', async () => {
    await home.do('import', writeSeason(home, 2));
    await sendDropped('import', 'K-2');
    await home.do('number', 'set', 'K-2', 'X');
    await sendDropped('number', 'K-2');
    await home.do('photo', 'add', 'K-2', home.file('a.png', tinyPng(7)));
    await sendDropped('photo', 'K-2');
    expect(await numberAtService()).toBe('X');
    await mock.expectMade({ finds: 2, photos: 1 });
  });

  test('stays dropped where a later number of the record is decided', async () => {
    await home.do('number', 'set', 'K-1', 'Y');
    await lose('number');
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', 'K-1', '--drop');
    await home.do('number', 'set', 'K-1', 'W', '--replace');
    await lose('number');
    await expectEnded(home.pas('push'), 6);
    await home.do('resolve', 'K-1', '--resend');
    await home.do('push');
    expect(await numberAtService()).toBe('W');
  });
});

/** A copy of the data home on this machine. */
function makeSecondCopy(): Home {
  const folder = join(home.folder, 'second');
  cpSync(join(home.folder, 'pas'), folder, { recursive: true });
  return home.with({ PAS_HOME: folder });
}

describe('a find that one copy removed and the other one changed or sent', () => {
  let second: Home;

  beforeEach(async () => {
    await sendSeason(home, 1);
    await home.do('import', writeSeason(home, 2, { photos: true }));
    await home.do('number', 'set', 'K-2', 'N 2');
    second = makeSecondCopy();
    await second.do('remove', 'K-2', '--yes');
  });

  test('keeps its number and photograph where it was sent', async () => {
    await home.do('push', 'K-2', '--only', 'import');
    await second.do('push');
    await home.do('push');
    await mock.expectMade({ finds: 2, photos: 2 });
    expect(await numberAtService()).toBe('N 2');
  });

  test('is listed with the question, and is not called sent', async () => {
    await home.do('edit', 'K-2', '--set', 'hloubka=11');
    await mock.service.faults({ endpoint: 'import', fault: '503', times: 1 });
    await expectEnded(home.pas('push', 'K-2'), 5);
    expect(await findStates(second)).toStrictEqual({ 'K-1': 'accepted', 'K-2': 'queued' });
    const { stdout } = await second.do('status');
    expect(stdout).toContain('pas edit K-2');
    expect(stdout).not.toContain('Everything is sent');
  });
});

test('a photograph that was deleted is found when it was sent again, not sent a third time', async () => {
  await home.do('import', writeSeason(home, 1, { photos: true }));
  await home.do('push');
  const [find] = await home.json('list');
  const changes = { soubor: null };
  await mock.service.clock({ advance_ms: MINUTE_MS });
  await mock.service.control('POST', '/records', { ident: find?.ident_cely, changes });
  await mock.service.clock({ advance_ms: MINUTE_MS });
  await home.do('pull');
  await home.do('photo', 'add', 'K-1', join(home.folder, 'photo-1.png'));
  await mock.service.faults({ endpoint: 'photo', fault: '500-after-save', times: 1 });
  await home.do('push');
  expect((await findAt(mock.service, find?.ident_cely)).soubor).toHaveLength(1);
});

test('a redo does not leave two finds with one record', async () => {
  await sendSeason(home, 1);
  await home.do('import', writeSeason(home, 3, { photos: true }));
  await mock.service.settings({ index_delay_ms: 60 * MINUTE_MS });
  await mock.service.faults({ endpoint: 'import', fault: 'reset-after-save', times: 2 });
  await expectEnded(home.pas('push', '--only', 'import'), 6);
  await mock.service.faults({ endpoint: 'oai', fault: '503' });
  const record = 'C-202400101-N00010';
  await home.do('resolve', 'K-2', '--created', record, '--yes');
  await home.do('undo');
  await home.do('resolve', 'K-3', '--created', record, '--yes');
  const log = await home.json<{ id: string; command: string }[]>('undo', '--list');
  await home.do('undo', log.find(({ command }) => command === 'undo')?.id ?? '');
  expect(await findStates(home)).toMatchObject({ 'K-2': 'uncertain', 'K-3': 'uncertain' });
});

test('undo takes a number back that a union gave to the find that was sent', async () => {
  await home.do('import', writeSeason(home, 1));
  const second = home.with({ PAS_HOME: join(home.folder, 'second') });
  await second.init(mock.service, ...accountFlags());
  await second.do('import', join(home.folder, 'season.csv'));
  await second.do('number', 'set', 'K-1', 'WRONG');
  await home.do('push');
  await second.do('login');
  expect((await second.do('undo')).stdout).toMatch(/Undone: pas number set .*; 1 find/);
  await second.do('push');
  expect(await numberAtService()).toBeNull();
});

describe('a find that is called the same as another one here', () => {
  beforeEach(async () => {
    const [head = '', row = ''] = readFileSync(writeSeason(home, 1), 'utf8').split('\n');
    await home.do('import', join(home.folder, 'season.csv'));
    await home.do('push');
    rmSync(outboxFolder(home), { recursive: true });
    home.file('other.png', tinyPng(9));
    const again = home.file(
      'again.csv',
      [head, `${row.replace('K-1', 'B-1')}other.png`].join('\n'),
    );
    await home.do('import', again);
    await home.do('number', 'set', 'B-1', 'N 1');
    await expectEnded(home.pas('push'), 6);
  });

  test('gives it its number and photograph', async () => {
    await home.do('resolve', 'B-1', '--answer', 'same');
    await home.do('push');
    await mock.expectMade({ finds: 1, photos: 1 });
    expect(await numberAtService()).toBe('N 1');
  });

  test('stays as it is where that would replace another number, until a person removes it', async () => {
    await home.do('number', 'set', 'K-1', 'N-2');
    const { stderr } = await home.pas('resolve', 'B-1', '--answer', 'same');
    expect(await findStates(home)).toStrictEqual({ 'B-1': 'queued', 'K-1': 'accepted' });
    const [, omit = ''] = /first: pas (edit B-1 .*)$/m.exec(stderr) ?? [];
    await home.do(...omit.split(' '), '--yes');
    await home.do('resolve', 'B-1', '--answer', 'same');
    await home.do('push');
    expect(await numberAtService()).toBe('N-2');
  });
});
