import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readPhotoPosition } from '../../../src/photo/photo-exif.ts';
import { inWords } from '../../support/in-words.ts';
import { photoWithGps } from '../../support/photo-with-gps.ts';

const folder = mkdtempSync(join(tmpdir(), 'pas-gps-'));

function file(name: string, content: Buffer | string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test('the place where a photograph was taken is read from it', async () => {
  expect(await readPhotoPosition(file('place.jpg', photoWithGps(50.0871, 14.4208)))).toEqual({
    value: { system: '4326', point: { x: '14.4208', y: '50.0871' } },
  });
});

test.each([
  ['a place in another hemisphere', photoWithGps(-50.0871, 14.4208), 'strange position'],
  ['a device that had no position yet', photoWithGps(0, 0), 'no position yet'],
  ['a text', 'no picture', 'says nothing of where'],
  ['an empty file', '', 'says nothing of where'],
  ['half a picture', photoWithGps(50.0871, 14.4208).subarray(0, 40), 'says nothing of where'],
])('%s gives no point', async (name, content, problem) => {
  expect(inWords(await readPhotoPosition(file(`${name}.jpg`, content)))).toMatchObject({
    problem: expect.stringContaining(problem),
  });
});

test('a photograph that is not there gives no point', async () => {
  expect(await readPhotoPosition(join(folder, 'none.jpg'))).toMatchObject({ rule: 'photo-unreadable' });
});
