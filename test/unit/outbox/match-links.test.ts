import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makePhotographKeeping } from '../../../src/outbox/changes/kept-photographs.ts';
import { matchFolder } from '../../../src/outbox/changes/match-folder.ts';
import { tinyPng } from '../../support/season.ts';
import { tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

test('photographs are found behind symbolic links, and cycles of links end', async () => {
  using outbox = tempOutbox();
  const card = tempFolder();
  const folder = tempFolder();
  writeFileSync(join(card, 'a.png'), tinyPng(1));
  mkdirSync(join(card, 'more'));
  writeFileSync(join(card, 'more', 'b.png'), tinyPng(2));
  symlinkSync(join(card, 'a.png'), join(folder, 'a.png'));
  symlinkSync(join(card, 'more'), join(folder, 'linked'));
  symlinkSync(folder, join(folder, 'round'));
  symlinkSync(join(card, 'nothing.png'), join(folder, 'gone.png'));
  const { inspectPhotograph } = makePhotographKeeping(tempFolder(), {
    maxBytes: 1_000_000,
  });
  const { fates } = await matchFolder(folder, {
    outbox,
    inspectPhotograph,
    withinM: 25,
    onProgress: () => {},
  });
  expect(fates.map(({ file, kind }) => `${file} ${kind}`)).toEqual([
    'a.png matched',
    'gone.png refused',
    'linked/b.png matched',
  ]);
});
