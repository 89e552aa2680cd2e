import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import reader from 'exifreader';
import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import {
  loadImageLibrary,
  makeThumbnailMaker,
  type Thumbnail,
} from '../../../src/photos/photograph.ts';
import { reduceJpeg } from '../../../src/photos/remove-gps.ts';
import { tempFolder } from '../../support/temp-outbox.ts';

/**
 * A JPEG as a camera writes it: EXIF data with an orientation, a position, and a small picture of
 * its own.
 */
function withCameraData(jpeg: Buffer, thumbnail: Buffer, orientation: number): Buffer {
  const gps = 8 + 2 + 2 * 12 + 4;
  const ifd1 = 8 + 30 + 2 + 2 * 12 + 4;
  const data = 8 + 30 + 30 + 30;
  const degrees = rationals([49, 1], [17, 1], [3839, 100]);
  const tiff = Buffer.concat([
    Buffer.from('4d4d002a00000008', 'hex'),
    directory([entry(0x0112, 3, 1, orientation * 0x1_0000), entry(0x8825, 4, 1, gps)], ifd1),
    directory([entry(0x0001, 2, 2, 0x4e00_0000), entry(0x0002, 5, 3, data)], 0),
    directory(
      [entry(0x0201, 4, 1, data + degrees.length), entry(0x0202, 4, 1, thumbnail.length)],
      0,
    ),
    degrees,
    thumbnail,
  ]);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return Buffer.concat([
    jpeg.subarray(0, 2),
    Buffer.from('ffe1', 'hex'),
    length,
    exif,
    jpeg.subarray(2),
  ]);
}

function entry(tag: number, type: number, count: number, value: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeUInt16BE(tag, 0);
  bytes.writeUInt16BE(type, 2);
  bytes.writeUInt32BE(count, 4);
  bytes.writeUInt32BE(value, 8);
  return bytes;
}

function directory(entries: readonly Buffer[], next: number): Buffer {
  const count = Buffer.alloc(2);
  const link = Buffer.alloc(4);
  count.writeUInt16BE(entries.length);
  link.writeUInt32BE(next);
  return Buffer.concat([count, ...entries, link]);
}

function rationals(...values: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.flat().entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}

const library = await loadImageLibrary();

/** The left half red, the right half blue. */
async function picture(width: number, height: number): Promise<Buffer> {
  const half = await sharp({
    create: { width: width / 2, height, channels: 3, background: '#f00' },
  })
    .png()
    .toBuffer();
  return sharp({ create: { width, height, channels: 3, background: '#00f' } })
    .composite([{ input: half, left: 0, top: 0 }])
    .jpeg()
    .toBuffer();
}

async function photograph(orientation: number): Promise<Buffer> {
  return withCameraData(await picture(800, 600), await picture(160, 120), orientation);
}

function asFile(bytes: Buffer, name = 'photo.jpg'): readonly [path: string, bytes: number] {
  const path = join(tempFolder(), name);
  writeFileSync(path, bytes);
  return [path, bytes.length];
}

function image(thumbnail: Thumbnail): Thumbnail & { readonly kind: 'image' } {
  if (thumbnail.kind === 'none') throw new Error(thumbnail.why);
  return thumbnail;
}

/** Colours at the top and at the bottom of an upright picture. */
async function colours(jpeg: Buffer): Promise<string[]> {
  const { data, info } = await sharp(jpeg)
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true });
  return [5, info.height - 6].map((row) => {
    const at = (row * info.width + Math.floor(info.width / 2)) * info.channels;
    return (data[at] ?? 0) > (data[at + 2] ?? 0) ? 'red' : 'blue';
  });
}

describe('a thumbnail of a photograph', () => {
  const make = makeThumbnailMaker({ maxPx: 320, library });

  test('is no larger than requested, upright, and has no position', async () => {
    const bytes = await photograph(6);
    expect(reader.load(bytes).GPSLatitude).toBeDefined();
    const { jpeg, widthPx, heightPx, orientation } = image(await make(...asFile(bytes)));
    expect([widthPx, heightPx, orientation]).toEqual([240, 320, 1]);
    expect(await colours(jpeg)).toEqual(['red', 'blue']);
    expect(jpeg.includes('Exif')).toBe(false);
    expect(reader.load(jpeg).GPSLatitude).toBeUndefined();
  });

  test('is the camera’s own if the photograph itself is cut off', async () => {
    const whole = await photograph(8);
    const { widthPx, heightPx, orientation } = image(
      await make(...asFile(whole.subarray(0, whole.length - 3000))),
    );
    expect([widthPx, heightPx, orientation]).toEqual([160, 120, 8]);
  });

  test('is made of photographs only, whatever the file name', async () => {
    const drawing = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    );
    expect(await make(...asFile(drawing))).toMatchObject({ kind: 'none' });
  });

  test('reports why there is none', async () => {
    const [path, size] = asFile(await photograph(1));
    expect(await make(join(path, 'gone.jpg'), 1)).toMatchObject({
      why: expect.stringContaining('missing'),
    });
    expect(await make(path, size + 1)).toMatchObject({
      why: expect.stringContaining('has changed'),
    });
    expect(await make(...asFile(Buffer.from('no picture')))).toMatchObject({
      why: expect.stringContaining('damaged'),
    });
  });
});

describe('without an installed image library', () => {
  const make = makeThumbnailMaker({ maxPx: 320, library: undefined });

  test('the camera’s own thumbnail is used without its metadata, to be rotated by the page', async () => {
    const { jpeg, widthPx, heightPx, orientation } = image(
      await make(...asFile(await photograph(6))),
    );
    expect([widthPx, heightPx, orientation]).toEqual([160, 120, 6]);
    expect(jpeg.includes('Exif')).toBe(false);
  });

  test('a photograph without one gives the reason', async () => {
    expect(await make(...asFile(await picture(80, 60)))).toMatchObject({
      why: expect.stringContaining('sharp'),
    });
  });
});

describe('the picture of a JPEG alone', () => {
  test('is the same picture, without metadata, comments, and trailing data', async () => {
    const plain = await picture(80, 60);
    const comment = Buffer.from('fffe000a49.29 16.7', 'latin1');
    const marked = Buffer.concat([
      plain.subarray(0, 2),
      Buffer.from('fffe000a', 'hex'),
      Buffer.from('49.29 16'),
      plain.subarray(2),
    ]);
    const whole = Buffer.concat([withCameraData(marked, plain, 3), comment]);
    const bare = reduceJpeg(whole);
    expect(bare).toMatchObject({ widthPx: 80, heightPx: 60 });
    expect(bare?.bytes.includes('49.29')).toBe(false);
    expect(await sharp(bare?.bytes).raw().toBuffer()).toEqual(await sharp(plain).raw().toBuffer());
  });

  test('is empty if the file is cut off or not a JPEG, and never more than the file', () => {
    expect(reduceJpeg(Buffer.from('ffd8ffe0', 'hex'))).toBeUndefined();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const file = Buffer.concat([Buffer.from('ffd8', 'hex'), bytes]);
        expect(reduceJpeg(file)?.bytes.length ?? 0).toBeLessThanOrEqual(file.length);
      }),
    );
  });
});
