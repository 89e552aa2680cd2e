import { beforeEach, expect, test } from 'vitest';
import {
  addressFlags,
  expectDone,
  type Home,
  signedIn,
  WITHOUT_PAUSES,
} from '../support/run-pas.ts';
import { writeSeason } from '../support/season.ts';
import { useMock } from '../support/use-mock.ts';

const mock = useMock('--min-interval', '0');
const NOWHERE = 'http://127.0.0.1:9';
let home: Home;

beforeEach(async () => {
  home = await signedIn(mock.service, 'archaeologist', WITHOUT_PAUSES);
  await expectDone(
    home.pas(
      'init',
      '--name',
      'museum',
      '--kind',
      'production',
      '--base-url',
      NOWHERE,
      '--schema-base',
      mock.service.schema_base,
    ),
  );
});

test('finds are copied with their photographs, but without numbers and states', async () => {
  await expectDone(home.pas('import', writeSeason(home, 3, { photos: true })));
  await expectDone(home.pas('push', 'K-1'));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
  expect(await home.json('copy', 'K-1', 'K-2', '--to', 'museum')).toMatchObject({
    to: 'museum',
    copied: 2,
    photos: 2,
    taken: [],
  });
  expect(await home.json('status', '--profile', 'museum')).toMatchObject({
    finds: 2,
    entries: { import: { queued: 2, accepted: 0 }, photo: { queued: 2 }, number: { queued: 0 } },
  });
  expect(await home.json('list')).toMatchObject([
    { state: 'accepted' },
    { state: 'queued' },
    { state: 'queued' },
  ]);
});

test('a local id that exists at the destination is not copied, and is named', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2)));
  await expectDone(home.pas('copy', 'K-1', '--to', 'museum'));
  const again = await home.pas('copy', '--all', '--to', 'museum');
  expect([again.code, again.stderr]).toEqual([3, expect.stringMatching(/same local ids: K-1/)]);
  expect(await home.json('list', '--profile', 'museum')).toHaveLength(2);
});

test('a whole unsent outbox is copied into another outbox of the same service', async () => {
  await expectDone(home.pas('import', writeSeason(home, 2, { photos: true })));
  await expectDone(home.pas('number', 'set', 'K-1', 'A 1'));
  await expectDone(
    home.pas(
      'init',
      '--name',
      'other',
      '--kind',
      'training',
      '--username',
      'archivist',
      ...addressFlags(mock.service),
    ),
  );
  expect(await home.json('copy', '--all', '--to', 'other')).toMatchObject({
    copied: 2,
    changes: 3,
    renamed: [],
  });
  expect(await home.json('copy', '--all', '--to', 'other')).toMatchObject({
    copied: 0,
    changes: 0,
    same: 2,
  });
  expect(await home.json('status', '--profile', 'other')).toMatchObject({
    entries: { number: { queued: 1 }, photo: { queued: 2 } },
  });
});

test('a profile with the same outbox, and an empty selection, are refused', async () => {
  await expectDone(home.pas('import', writeSeason(home, 1)));
  expect((await home.pas('copy', 'K-1', '--to', 'mock')).code).toBe(2);
  expect((await home.pas('copy', '--to', 'museum')).code).toBe(2);
  expect((await home.pas('copy', '--all', '--to', 'nowhere')).code).toBe(12);
});
