import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import reader from 'exifreader';
import sharp from 'sharp';
import { describe, expect, test } from 'vitest';
import { loadImageLibrary, makeThumbnail, type Thumbnail } from '../../../src/photos/photograph.ts';
import { tempFolder } from '../../support/temp-folder.ts';

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

/** A JPEG as a camera writes it: with its orientation and a position. */
async function photograph(orientation: number): Promise<Buffer> {
  return sharp(await picture(800, 600))
    .withMetadata({ orientation })
    .withExifMerge({
      IFD3: { GPSLatitudeRef: 'N', GPSLatitude: '49/1 17/1 3839/100' },
    })
    .jpeg()
    .toBuffer();
}

function asFile(bytes: Buffer): string {
  const path = join(tempFolder(), 'photo.jpg');
  writeFileSync(path, bytes);
  return path;
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
  const make = (path: string) => makeThumbnail(library, path);

  test('is no larger than a page shows, upright, and has no position', async () => {
    const bytes = await photograph(6);
    expect(reader.load(bytes).GPSLatitude).toBeDefined();
    const { jpeg, widthPx, heightPx } = image(await make(asFile(bytes)));
    expect([widthPx, heightPx]).toEqual([480, 640]);
    expect(await colours(jpeg)).toEqual(['red', 'blue']);
    expect(jpeg.includes('Exif')).toBe(false);
    expect(reader.load(jpeg).GPSLatitude).toBeUndefined();
  });

  test('is made of photographs only, whatever the file name', async () => {
    const drawing = Buffer.from(
      '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
    );
    expect(await make(asFile(drawing))).toMatchObject({ kind: 'none' });
  });

  test('reports why there is none', async () => {
    expect(await make(join(tempFolder(), 'gone.jpg'))).toMatchObject({
      why: expect.stringContaining('missing'),
    });
    expect(await make(asFile(Buffer.from('no picture')))).toMatchObject({
      why: expect.stringContaining('damaged'),
    });
  });
});

test('without an installed image library there is none, for that reason', async () => {
  expect(await makeThumbnail(undefined, asFile(await picture(80, 60)))).toMatchObject({
    why: expect.stringContaining('sharp'),
  });
});
