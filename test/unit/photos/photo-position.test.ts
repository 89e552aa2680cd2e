import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { readPhotoPosition } from '../../../src/photos/photo-exif.ts';
import { inWords } from '../../support/in-words.ts';
import { photoWithGps } from '../../support/photo-with-gps.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const folder = tempFolder();

function file(name: string, content: Buffer | string): string {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
}

test('the position of a photograph is read from it', async () => {
  expect(await readPhotoPosition(file('place.jpg', photoWithGps(50.0871, 14.4208)))).toEqual({
    value: { system: '4326', point: { x: '14.4208', y: '50.0871' } },
  });
});

test.each([
  ['a place in another hemisphere', photoWithGps(-50.0871, 14.4208), 'invalid position'],
  ['a device that had before it has a position', photoWithGps(0, 0), 'while it has no position'],
  ['a text', 'no picture', 'contains no position'],
  ['an empty file', '', 'contains no position'],
  ['half a picture', photoWithGps(50.0871, 14.4208).subarray(0, 40), 'contains no position'],
])('%s gives no point', async (name, content, problem) => {
  expect(inWords(await readPhotoPosition(file(`${name}.jpg`, content)))).toMatchObject({
    problem: expect.stringContaining(problem),
  });
});

test('a missing photograph gives no point', async () => {
  expect(await readPhotoPosition(join(folder, 'none.jpg'))).toMatchObject({
    rule: 'photo-unreadable',
  });
});

test('a library that reads a photograph prints nothing', async () => {
  const warn = vi.spyOn(console, 'warn');
  const whole = photoWithGps(50.0871, 14.4208);
  const segment = whole.subarray(2, -2);
  await readPhotoPosition(
    file('two.jpg', Buffer.concat([whole.subarray(0, 2), segment, segment, whole.subarray(-2)])),
  );
  expect(warn).not.toHaveBeenCalled();
  warn.mockRestore();
});
