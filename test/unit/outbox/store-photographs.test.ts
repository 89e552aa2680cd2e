import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { makePhotographKeeping } from '../../../src/outbox/changes/kept-photographs.ts';
import { PHOTO_MAX_BYTES } from '../../../src/photos/photograph.ts';
import { ChangedFileError, openVerifiedFile } from '../../../src/service/http/request-body.ts';
import { placedPhotograph, placedXmp } from '../../support/placed-photograph.ts';
import { tempFolder } from '../../support/temp-folder.ts';

/**
 * A HEIC file with an EXIF block and no picture (ISO/IEC 23008-12): what tells its place stands
 * where a telephone puts it.
 */
function heicWith(tiff: Buffer): Buffer {
  const exif = Buffer.concat([Buffer.from([0, 0, 0, 6]), Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const type = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic', 'latin1'));
  const handler = box(
    'hdlr',
    Buffer.from('\0\0\0\0\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'),
  );
  const item = box(
    'infe',
    Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 1, 0, 0]), Buffer.from('Exif\0', 'latin1')]),
  );
  const items = box('iinf', Buffer.concat([Buffer.from([0, 0, 0, 0, 0, 1]), item]));
  const meta = (offset: number): Buffer => {
    const place = Buffer.alloc(22);
    place.set([0, 0, 0, 0, 0x44, 0, 0, 1, 0, 1, 0, 0, 0, 1]);
    place.writeUInt32BE(offset, 14);
    place.writeUInt32BE(exif.length, 18);
    return box('meta', Buffer.concat([Buffer.alloc(4), handler, items, box('iloc', place)]));
  };
  const dataAt = type.length + meta(0).length + 8;
  return Buffer.concat([type, meta(dataAt), box('mdat', exif)]);
}

function box(name: string, content: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length + 8, 0);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content]);
}

let folder = '';
const at = (name: string): string => join(folder, name);
const keeping = (options: Partial<Parameters<typeof makePhotographKeeping>[1]> = {}) =>
  makePhotographKeeping(at('kept'), { maxBytes: PHOTO_MAX_BYTES, ...options });

beforeAll(async () => {
  folder = tempFolder();
  const jpeg = await placedPhotograph('jpeg', { place: [16.6, 49.2] });
  writeFileSync(at('placed.jpg'), jpeg);
  const exifAt = jpeg.indexOf('Exif\0\0', 0, 'latin1') + 6;
  writeFileSync(
    at('placed.heic'),
    heicWith(jpeg.subarray(exifAt, exifAt - 8 + jpeg.readUInt16BE(exifAt - 8))),
  );
});

describe('an unreadable stored photograph', () => {
  const opened = (path: string) =>
    buffer(openVerifiedFile(path, { sha512: Buffer.alloc(64).toString('hex'), sizeBytes: 9 }));

  test('that is gone counts as changed', async () => {
    await expect(opened(at('nothing.png'))).rejects.toBeInstanceOf(ChangedFileError);
  });

  // It begins where no memory is, which reading reports as a disk does.
  test.skipIf(!existsSync('/proc/self/mem'))(
    'because of a disk error does not count as changed',
    async () => {
      await expect(opened('/proc/self/mem')).rejects.toThrow(/the disk reported an error/);
    },
  );
});

describe('a photograph with a position', () => {
  test('in the XMP of a HEIC alone causes a warning that it stays', async () => {
    const packet = Buffer.from(`<x:xmpmeta xmlns:x="adobe:ns:meta/">${placedXmp()}</x:xmpmeta>`);
    writeFileSync(at('xmp.heic'), Buffer.concat([heicWith(Buffer.alloc(8)), packet]));
    expect((await keeping().inspectPhotograph(at('xmp.heic'))).issues).toMatchObject([
      { rule: 'photo-gps-kept' },
    ]);
  });

  test('and a video is refused with strip_gps', async () => {
    const video = Buffer.from('\0\0\0\x14ftypmp42\0\0\0\0mp42', 'latin1');
    writeFileSync(at('motion.jpg'), Buffer.concat([readFileSync(at('placed.jpg')), video]));
    expect(await keeping({ stripGps: true }).inspectPhotograph(at('motion.jpg'))).toMatchObject({
      issues: [{ rule: 'photo-gps-stuck', severity: 'error' }],
    });
  });

  test.each([true, false])(
    'and changed since it was checked is not kept, strip_gps: %s',
    async (stripGps) => {
      writeFileSync(at('changing.jpg'), readFileSync(at('placed.jpg')));
      const { inspectPhotograph, storePhotograph } = keeping({ stripGps });
      const { photograph } = await inspectPhotograph(at('changing.jpg'));
      if (photograph === undefined) throw new Error('not taken');
      writeFileSync(
        at('changing.jpg'),
        await placedPhotograph('jpeg', { shade: 9, place: [16.6, 49.2] }),
      );
      await expect(storePhotograph(photograph)).rejects.toThrow('changed while it was read');
    },
  );

  test('as HEIC is refused with strip_gps; else a warning says that it stays', async () => {
    expect(await keeping({ stripGps: true }).inspectPhotograph(at('placed.heic'))).toMatchObject({
      issues: [{ rule: 'photo-gps-stuck', severity: 'error' }],
    });
    const { photograph, issues } = await keeping().inspectPhotograph(at('placed.heic'));
    expect(photograph?.originalSha512).toBeUndefined();
    expect(issues).toMatchObject([{ rule: 'photo-gps-kept', severity: 'warning' }]);
  });
});
