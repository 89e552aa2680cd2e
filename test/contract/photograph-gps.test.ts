import { crc32 } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { elementText, postFile, rawAnswer } from '../support/contract-requests.ts';
import { useMock } from './contract-import.ts';
import { GPS_VALUE, jpeg, png, tiff } from './contract-photographs.ts';

const { mock, token } = await useMock();
const ARCHIVED = 'C-202400101-N00006';

/** Uploads to an archived find, whose photographs are public, and fetches what was stored. */
async function stored(bytes: Buffer): Promise<{
  readonly bytes: Buffer;
  readonly sha512: string | undefined;
  readonly size: string | undefined;
}> {
  const answer = await postFile(
    mock,
    `/api/pas/nalez/${ARCHIVED}/upload-foto`,
    { name: 'file', fileName: 'a.tif', bytes },
    { token: token() },
  );
  const file = answer.text.split('F02.tif')[1] ?? '';
  const response = await fetch(elementText(file, 'url') ?? '');
  return {
    bytes: Buffer.from(await response.arrayBuffer()),
    sha512: elementText(file, 'sha_512'),
    size: elementText(file, 'size_mb'),
  };
}

const withGps = { order: 'II', gps: true } as const;

describe('GPS of photographs (A-FILE-3)', () => {
  test.each([
    ['JPEG, little endian', jpeg(tiff(withGps))],
    ['JPEG, big endian', jpeg(tiff({ order: 'MM', gps: true }))],
    ['PNG', png(tiff(withGps))],
    ['TIFF', tiff(withGps)],
    ['TIFF of several pages', tiff({ order: 'MM', gps: true, pages: 3 })],
  ])(
    '%s: the GPS block is removed from the stored bytes, other EXIF stays',
    async (_, uploaded) => {
      expect(uploaded.includes(GPS_VALUE)).toBe(true);
      const { bytes, sha512 } = await stored(uploaded);
      expect(bytes.includes(GPS_VALUE)).toBe(false);
      expect(bytes.includes(Buffer.from('8825', 'hex'))).toBe(false);
      expect(bytes.includes(Buffer.from('2588', 'hex'))).toBe(false);
      expect(bytes.includes('2024:05:06 07:08:09')).toBe(true);
      const { createHash } = await import('node:crypto');
      expect(sha512).toBe(createHash('sha512').update(bytes).digest('hex'));
      expect(sha512).not.toBe(createHash('sha512').update(uploaded).digest('hex'));
    },
  );

  test('the directory that held the pointer stays well formed', async () => {
    const { bytes } = await stored(tiff(withGps));
    expect(bytes.readUInt16LE(8)).toBe(2);
    expect([bytes.readUInt16LE(10), bytes.readUInt16LE(22)]).toEqual([0x0100, 0x9003]);
    expect(bytes.readUInt32LE(34)).toBe(0);
  });

  test('the checksum of a PNG is corrected', async () => {
    const { bytes } = await stored(png(tiff(withGps)));
    const at = bytes.indexOf('eXIf');
    const length = bytes.readUInt32BE(at - 4);
    expect(bytes.readUInt32BE(at + 4 + length)).toBe(crc32(bytes.subarray(at, at + 4 + length)));
  });

  test.each([
    ['an EXIF block that ends too early', jpeg(tiff(withGps).subarray(0, 40))],
    ['a directory that points at itself', loop()],
    [
      'a segment longer than the file',
      Buffer.concat([Buffer.from('ffd8ffe1ffff', 'hex'), Buffer.from('Exif\0\0II*\0\x08\0\0\0')]),
    ],
  ])('%s is stored without harm', async (_, bytes) => {
    expect((await stored(bytes)).bytes.length).toBe(bytes.length);
    expect((await rawAnswer(await fetch(`${mock.server.control_url}/health`))).status).toBe(200);
  });
});

function loop(): Buffer {
  const bytes = tiff({ order: 'II', gps: false });
  bytes.writeUInt32LE(8, 34);
  return bytes;
}
