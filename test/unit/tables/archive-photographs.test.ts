import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { DatabaseError, FileError } from '../../../src/base/errors.ts';
import { makePhotographKeeping } from '../../../src/outbox/changes/kept-photographs.ts';
import { openEnclosedPhotographs } from '../../../src/tables/answer-rows.ts';
import { openAttachments } from '../../../src/tables/formats/zip-entries.ts';
import type { Attachments } from '../../../src/tables/table.ts';
import { tinyPng } from '../../support/season.ts';
import { tempFolder } from '../../support/temp-folder.ts';

type Unpack = NonNullable<Attachments['archive']>['unpack'];

const inOrder: Unpack = async (_, to) => writeFileSync(to, tinyPng(1));

function enclosed(home: string, unpack: Unpack = inOrder, path = 'media/1.png') {
  const keeping = makePhotographKeeping(join(home, 'photos'), { maxBytes: 1_000_000 });
  const attachments = { paths: [path], archive: { unpack, close: async () => {} } };
  return openEnclosedPhotographs('finds.zip', attachments, home, keeping);
}

const unpackedIn = (home: string): string[] =>
  readdirSync(home).filter((name) => name.startsWith('unpacked-'));

test('a full disk stops the import with an error; a damaged part affects its photograph only', async () => {
  const home = tempFolder();
  const full = enclosed(home, async () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
  });
  await expect(full.inspectPhotograph('media/1.png')).rejects.toBeInstanceOf(DatabaseError);
  await full.close();
  const damaged = enclosed(home, async (_, to) => {
    writeFileSync(to, 'half');
    throw new FileError('finds.zip', 'finds.zip is damaged');
  });
  expect(await damaged.inspectPhotograph('media/1.png')).toMatchObject({
    issues: [{ rule: 'photo-unreadable', severity: 'error' }],
  });
  await damaged.close();
  expect(unpackedIn(home)).toEqual([]);
});

test('a name that is too long for the disk affects its photograph only', async () => {
  const name = `${'n'.repeat(300)}.png`;
  const photographs = enclosed(tempFolder(), inOrder, name);
  expect((await photographs.inspectPhotograph(name)).issues).toMatchObject([
    { rule: 'photo-unreadable', message: expect.stringContaining('its name is too long') },
  ]);
  await photographs.close();
});

test('an archive that is gone affects its photographs only, and is closed without an error', async () => {
  const home = tempFolder();
  const { archive } = openAttachments(join(home, 'gone.zip'), ['media/1.png']);
  const gone = enclosed(home, async (...wanted) => archive?.unpack(...wanted));
  expect(await gone.inspectPhotograph('media/1.png')).toMatchObject({
    issues: [{ rule: 'photo-unreadable', severity: 'error' }],
  });
  await archive?.close();
});
