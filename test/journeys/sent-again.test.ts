import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { photoWithGps } from '../support/photo-with-gps.ts';
import { findAt } from '../support/records-at-service.ts';
import {
  expectEnded,
  findStates,
  type Home,
  readIdent,
  settledAfter,
  signedIn,
} from '../support/run-pas.ts';
import { importSeason, sendSeason, tinyPng, writeSeason } from '../support/season.ts';
import { useHome, useMock } from '../support/use-mock.ts';

const mock = useMock();
const home = useHome(mock, settledAfter(1000));

/** A push of one entry, which the service did not store and answered with 500. */
async function loseOne(endpoint: string, ...flags: string[]): Promise<void> {
  await mock.service.faults({ endpoint, fault: '500-before-save', times: 1 });
  await expectEnded(home.pas('push', ...flags), 6);
  await mock.service.faults();
  await mock.service.clock({ advance_ms: 60_000 });
}

describe('a find that was lost, and is sent again', () => {
  beforeEach(async () => {
    const [head, first = '', second = ''] = readFileSync(writeSeason(home, 2), 'utf8').split('\n');
    const twin = second.replace('K-2', 'K-3').replace(';1;', ';20;');
    await home.do('import', home.file('season.csv', [head, first, second, twin].join('\n')));
    await home.do('push', 'K-1');
    await loseOne('import', 'K-2');
  });

  test.each([
    ['as proven absent', []],
    ['by a person', ['resolve', 'K-2', '--resend']],
  ])('%s takes its number and photograph without a question', async (_, decision) => {
    if (decision.length > 0) await home.do(...decision);
    await home.do('push');
    await home.do('number', 'set', 'K-2', 'MMK 1/2026');
    await home.do('photo', 'add', 'K-2', home.file('a.png', tinyPng(1)));
    await home.do('push');
    expect(await findAt(mock.service, await readIdent(home, 'K-2'))).toMatchObject({
      evidencni_cislo: 'MMK 1/2026',
      soubor: [{}],
    });
  });

  test('takes them as well if a person names a record that was made later', async () => {
    const office = await signedIn(mock.service, settledAfter(1000));
    await office.do('import', join(home.folder, 'season.csv'));
    await expectEnded(office.pas('push', 'K-2'), 6);
    const ident = await readIdent(office, 'K-2');
    await home.do('resolve', 'K-2', '--created', ident, '--yes');
    await home.do('number', 'set', 'K-2', 'MMK 1/2026');
    await home.do('push', 'K-2');
    expect(await findAt(mock.service, ident)).toMatchObject({ evidencni_cislo: 'MMK 1/2026' });
  });

  test('keeps its record, also where a curator makes it equal to another lost find', async () => {
    await home.do('push', 'K-2');
    const ident = await readIdent(home, 'K-2');
    await loseOne('import', 'K-3');
    const changes = { hloubka: '20' };
    await mock.service.control('POST', '/records', { ident, changes });
    await home.pas('push');
    expect(await readIdent(home, 'K-2')).toBe(ident);
    expect(await readIdent(home, 'K-3')).not.toBe(ident);
  });
});

describe('on a second laptop, nothing is sent until the harvest takes the sign-in', () => {
  const push = async (laptop: Home): Promise<void> => {
    await sendSeason(home, 2);
    await importSeason(laptop, 2);
    await expectEnded(laptop.pas('push'), 4, /`pas login`/);
    await mock.expectMade({ finds: 2 });
    const signed = laptop.with({ PAS_PASSWORD: 'archaeologist' });
    await signed.do('login');
    await expectEnded(signed.pas('push'), 6);
    await mock.expectMade({ finds: 2 });
  };

  test('with a password that was changed since', async () => {
    await push((await signedIn(mock.service)).with({ PAS_PASSWORD: 'old' }));
  });

  test('with a token and no password', async () => {
    const laptop = (await signedIn(mock.service)).with({ PAS_PASSWORD: undefined });
    const file = join(laptop.folder, 'pas', 'secrets.json');
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"password"', '"former"'));
    await push(laptop);
  });
});

test('of two photographs with one file name, the second is not taken for the first', async () => {
  await sendSeason(home, 1);
  for (const latitude of [49, 50]) {
    await home.do('photo', 'add', 'K-1', home.file('IMG_1.jpg', photoWithGps(latitude, 15)));
    await loseOne('photo');
    await home.do('push');
  }
  await mock.expectMade({ finds: 1, photos: 2 });
  expect((await home.json('status')).entries.photo).toMatchObject({ accepted: 2 });
});

test('a picture that is queued for a find and for its record is sent once', async () => {
  await importSeason(home, 1, { photos: true });
  await mock.service.faults({ endpoint: 'import', fault: '500-after-save', times: 1 });
  await mock.service.settings({ index_delay_ms: 60_000 });
  await expectEnded(home.pas('push'), 6);
  const { finds } = await mock.service.control<{ finds: { ident: string }[] }>(
    'GET',
    '/finds?limit=1',
  );
  await home.do('photo', 'add', finds[0]?.ident ?? '', join(home.folder, 'photo-1.png'));
  await mock.service.clock({ advance_ms: 120_000 });
  await expectEnded(home.pas('push'), 6);
  await mock.expectMade({ finds: 1, photos: 1 });
  expect((await home.pas('status')).stdout).toContain('may be this photograph (photo-1.png)');
});

test('a deleted find is not sent again because another one has its identifier now', async () => {
  await sendSeason(home, 2);
  const deleted = await readIdent(home, 'K-2');
  await mock.service.control('POST', `/records/${deleted}/delete`);
  await home.do('import', writeSeason(home, 1, { day: '2024-07-01' }), '--id-prefix', 'L-');
  await expectEnded(home.pas('push'), 6);
  await mock.service.clock({ advance_ms: 60_000 });
  await expectEnded(home.pas('push'), 6);
  await mock.expectMade({ finds: 2 });
  expect(await findStates(home)).toMatchObject({ 'K-2': 'uncertain', 'L-K-1': 'accepted' });
  expect((await home.pas('show', 'K-2', '--verbose')).stdout).toContain('was deleted or lost');
});

test('a find whose record was found by a search is known as deleted once that is gone', async () => {
  await sendSeason(home, 1);
  await home.do('import', writeSeason(home, 1, { day: '2024-07-01' }), '--id-prefix', 'L-');
  await mock.service.faults({ endpoint: 'import', fault: '500-after-save', times: 1 });
  await home.do('push');
  const ident = await readIdent(home, 'L-K-1');
  await mock.service.control('POST', `/records/${ident}/delete`);
  expect((await home.do('pull')).stdout).toMatch(/^L-K-1 .* deleted$/m);
});

test('a find that another laptop sent is recognised under the identifier of a deleted one from here', async () => {
  await sendSeason(home, 1);
  const deleted = await readIdent(home, 'K-1');
  await mock.service.control('POST', `/records/${deleted}/delete`);
  const office = await signedIn(mock.service, settledAfter(1000));
  await mock.service.clock({ advance_ms: 60_000 });
  await sendSeason(office, 1, { day: '2024-07-01' });
  expect(await readIdent(office, 'K-1')).toBe(deleted);
  await home.do('import', writeSeason(home, 1, { day: '2024-07-01' }), '--id-prefix', 'L-');
  await expectEnded(home.pas('push'), 6);
  await mock.expectMade({ finds: 1 });
});
