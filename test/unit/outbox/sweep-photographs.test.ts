import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { deleteUnusedCopies, makeContentStore } from '../../../src/outbox/changes/content-store.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { recordPhotoWish } from '../../../src/outbox/wishes.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { tempOutbox } from '../../support/temp-outbox.ts';

const HOUR_MS = 3600_000;

function makeCopy(
  folder: string,
  byte: number,
  ageMs: number,
): { readonly path: string; readonly sha512: string } {
  const sha512 = Buffer.alloc(64, byte).toString('hex');
  const path = makeContentStore(folder).getPath(sha512);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, 'x');
  const seconds = (Date.now() - ageMs) / 1000;
  utimesSync(path, seconds, seconds);
  return { path, sha512 };
}

test('only copies without an entry are removed, an hour after they were made by the clock of the disk', () => {
  using outbox = tempOutbox();
  const folder = tempFolder();
  const used = makeCopy(folder, 1, 2 * HOUR_MS);
  const unused = makeCopy(folder, 2, 2 * HOUR_MS);
  const young = makeCopy(folder, 3, HOUR_MS / 2);
  const strange = join(dirname(unused.path), 'notes.txt');
  writeFileSync(strange, 'x');
  const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: used.sha512, sizeBytes: 1 };
  recordPhotoWish(outbox, makeRecordSubject('C-202400101-N00001'), photograph);
  deleteUnusedCopies(outbox, folder);
  expect([used.path, unused.path, young.path, strange].map(existsSync)).toEqual([
    true,
    false,
    true,
    true,
  ]);
  deleteUnusedCopies(outbox, join(folder, 'nothing'));
});

test('a photograph added during the scan of the folder stays', () => {
  using outbox = tempOutbox();
  const folder = tempFolder();
  const { path, sha512 } = makeCopy(folder, 1, 2 * HOUR_MS);
  let isFirst = true;
  const beside: Outbox = {
    ...outbox,
    change: (work) => {
      if (isFirst)
        recordPhotoWish(outbox, makeRecordSubject('C-202400101-N00001'), {
          name: 'a.jpg',
          mediaType: '',
          sha512,
          sizeBytes: 1,
        });
      isFirst = false;
      return outbox.change(work);
    },
  };
  deleteUnusedCopies(beside, folder);
  expect(existsSync(path)).toBe(true);
});
