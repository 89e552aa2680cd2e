import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { inspectPhotograph, PHOTO_MAX_BYTES } from '../../../src/photos/photograph.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const JPEG_HEAD = Buffer.from([
  0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0,
]);
const JPEG = Buffer.concat([JPEG_HEAD, Buffer.from([0xff, 0xda, 0, 2, 1, 2, 0xff, 0xd9])]);

const tiff = (): Buffer => {
  const pixels = Buffer.alloc(10_000, 7);
  const entries = [
    [256, 3, 100],
    [257, 3, 100],
    [258, 3, 8],
    [259, 3, 1],
    [262, 3, 1],
    [273, 4, 8],
    [279, 4, 10_000],
  ] as const;
  const directory = Buffer.alloc(2 + entries.length * 12 + 4);
  directory.writeUInt16LE(entries.length, 0);
  entries.forEach(([tag, type, value], index) => {
    directory.writeUInt16LE(tag, 2 + index * 12);
    directory.writeUInt16LE(type, 4 + index * 12);
    directory.writeUInt32LE(1, 6 + index * 12);
    directory.writeUInt32LE(value, 10 + index * 12);
  });
  const header = Buffer.from([0x49, 0x49, 42, 0, 0, 0, 0, 0]);
  header.writeUInt32LE(header.length + pixels.length, 4);
  return Buffer.concat([header, pixels, directory]);
};

let folder = '';
const at = (name: string): string => join(folder, name);

beforeAll(() => {
  folder = tempFolder();
  writeFileSync(at('K-017.png'), PNG);
});

describe('a check of a photograph', () => {
  const heic = Buffer.concat([
    Buffer.from([0, 0, 0, 24]),
    Buffer.from('ftypheic\0\0\0\0mif1heic'),
    Buffer.alloc(64),
  ]);
  const heif = Buffer.concat([
    Buffer.from([0, 0, 0, 20]),
    Buffer.from('ftypmif1\0\0\0\0mif1'),
    Buffer.alloc(64),
  ]);

  test.each([
    ['image/png', () => PNG],
    ['image/jpeg', () => JPEG],
    ['image/tiff', tiff],
    ['image/heic', () => heic],
    ['image/heif', () => heif],
  ])('recognises %s by its bytes, whatever its name', async (mediaType, bytes) => {
    const path = at('no-extension');
    writeFileSync(path, bytes());
    expect(await inspectPhotograph(path)).toEqual({
      photograph: {
        path,
        mediaType,
        sizeBytes: bytes().length,
        sha512: createHash('sha512').update(bytes()).digest('hex'),
        gps: { kind: mediaType.startsWith('image/hei') ? 'unknown' : 'none' },
        hasVideo: false,
      },
      issues: [],
    });
  });

  test.each([
    [
      'text that is called a photograph',
      Buffer.from('this is not a photograph'),
      'photo-type',
      'an unknown format',
    ],
    [
      'a JPEG behind a byte order mark',
      Buffer.concat([Buffer.from('\ufeff'), JPEG]),
      'photo-type',
      'an unknown format',
    ],
    ['a GIF', Buffer.from('GIF89a\x01\0\x01\0\0\0\0;'), 'photo-type', 'image/gif'],
    [
      'a TIFF without its directory',
      Buffer.from('II*\0\xff\xff\xff\x7f', 'latin1'),
      'photo-type',
      'an unknown format',
    ],
    ['a PDF', Buffer.from('%PDF-1.7\n'), 'photo-type', 'application/pdf'],
    ['nothing', Buffer.alloc(0), 'photo-empty', 'empty'],
  ])('refuses %s', async (_, bytes, rule, message) => {
    const path = at('odd.jpg');
    writeFileSync(path, bytes);
    const { photograph, issues } = await inspectPhotograph(path);
    expect(photograph).toBeUndefined();
    expect(issues).toMatchObject([
      { rule, severity: 'error', message: expect.stringContaining(message) },
    ]);
    expect(issues[0]?.message).toContain(path);
  });

  test('accepts the size limit itself, but not one byte more', async () => {
    const path = at('large.png');
    writeFileSync(path, PNG);
    truncateSync(path, PHOTO_MAX_BYTES + 1);
    expect((await inspectPhotograph(path)).issues).toMatchObject([{ rule: 'photo-too-large' }]);
    expect((await inspectPhotograph(at('K-017.png'), PNG.length)).issues).toEqual([]);
    expect((await inspectPhotograph(at('K-017.png'), PNG.length - 1)).issues).toMatchObject([
      { rule: 'photo-too-large' },
    ]);
  });

  test('names a folder, a pipe and a missing file, and never waits for them', async () => {
    const pipe = at('pipe');
    execFileSync('mkfifo', [pipe]);
    expect((await inspectPhotograph(folder)).issues).toMatchObject([{ rule: 'photo-not-a-file' }]);
    expect((await inspectPhotograph(pipe)).issues).toMatchObject([{ rule: 'photo-not-a-file' }]);
    expect((await inspectPhotograph(at('none.png'))).issues).toMatchObject([
      { rule: 'photo-missing' },
    ]);
  });
});

describe('a truncated photograph', () => {
  const scan = [0xff, 0xda, 0, 2, 1, 2, 0xff, 0, 3, 0xff, 0xd9];
  const thumbnail = [0xff, 0xe1, 0, 6, 0xff, 0xd8, 0xff, 0xd9];
  const trailer = Array.from({ length: 70_000 }, (_, index) => index % 200);
  const cut = async (bytes: Buffer): Promise<boolean> => {
    writeFileSync(at('perhaps-cut'), bytes);
    const { photograph, issues } = await inspectPhotograph(at('perhaps-cut'));
    expect(photograph).toBeDefined();
    return issues.some(({ rule, severity }) => rule === 'photo-cut-off' && severity === 'warning');
  };
  const jpeg = (...parts: number[][]): Buffer =>
    Buffer.concat([JPEG_HEAD, Buffer.from(parts.flat())]);

  test('is recognised by its missing end, wherever it was cut', async () => {
    const whole = jpeg(thumbnail, scan);
    for (let length = JPEG_HEAD.length; length < whole.length; length += 1)
      expect(await cut(whole.subarray(0, length))).toBe(true);
    for (let length = 40; length < PNG.length; length += 1)
      expect(await cut(PNG.subarray(0, length))).toBe(true);
  });

  test('is not one that has an end, or data after it', async () => {
    expect(await cut(jpeg(thumbnail, scan))).toBe(false);
    expect(await cut(jpeg(thumbnail, scan, trailer))).toBe(false);
    expect(await cut(jpeg(scan.slice(0, 4), Array(65_535).fill(1), [0xff, 0xd9]))).toBe(false);
    expect(await cut(PNG)).toBe(false);
    expect(await cut(Buffer.concat([PNG, Buffer.from(trailer)]))).toBe(false);
  });
});

test('a video behind a picture, or behind further pictures, is named', async () => {
  const video = Buffer.from('\0\0\0\x14ftypmp42\0\0\0\0mp42', 'latin1');
  const rules = async (...parts: Buffer[]): Promise<string[]> => {
    writeFileSync(at('parts.jpg'), Buffer.concat(parts));
    return (await inspectPhotograph(at('parts.jpg'))).issues.map(({ rule }) => rule);
  };
  expect(await rules(JPEG)).toEqual([]);
  expect(await rules(JPEG, video)).toEqual(['photo-video']);
  expect(await rules(JPEG, JPEG)).toEqual([]);
  expect(await rules(JPEG, JPEG, video)).toEqual(['photo-video']);
});
