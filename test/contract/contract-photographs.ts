import { crc32 } from 'node:zlib';

/**
 * Bytes that stand for the coordinates inside the GPS block of {@link tiff}; stored photographs
 * must not hold them.
 */
export const GPS_VALUE = Buffer.from('SECRET-PLACE-OF-FIND-50.0333N!!!');

type TiffOptions = { readonly order: 'II' | 'MM'; readonly gps: boolean; readonly pages?: number };

/**
 * A TIFF structure of page directories, each with an image width and, if wanted, a pointer to a GPS
 * directory whose one value lies outside it. It is also the payload of an EXIF block.
 */
export function tiff({ order, gps, pages = 1 }: TiffOptions): Buffer {
  const bytes = Buffer.alloc(8 + pages * 200);
  const u16 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at);
  const u32 = (value: number, at: number) =>
    order === 'II' ? bytes.writeUInt32LE(value, at) : bytes.writeUInt32BE(value, at);
  const entry = (at: number, tag: number, type: number, count: number, value: number) => {
    u16(tag, at);
    u16(type, at + 2);
    u32(count, at + 4);
    u32(value, at + 8);
  };
  bytes.write(order, 0, 'latin1');
  u16(42, 2);
  u32(8, 4);
  for (let page = 0; page < pages; page += 1) {
    const start = 8 + page * 200;
    const next = page + 1 < pages ? start + 200 : 0;
    u16(gps ? 3 : 2, start);
    entry(start + 2, 0x0100, 3, 1, order === 'II' ? 640 : 640 << 16);
    if (gps) entry(start + 14, 0x8825, 4, 1, start + 60);
    const last = start + (gps ? 26 : 14);
    entry(last, 0x9003, 2, 20, start + 140);
    u32(next, last + 12);
    bytes.write('2024:05:06 07:08:09\0', start + 140, 'latin1');
    if (!gps) continue;
    u16(1, start + 60);
    entry(start + 62, 0x0002, 7, GPS_VALUE.length, start + 90);
    GPS_VALUE.copy(bytes, start + 90);
  }
  return bytes;
}

export function jpeg(exif: Buffer | undefined, tail = 'picture'): Buffer {
  const segment = (marker: number, payload: Buffer) => {
    const head = Buffer.from([0xff, marker, 0, 0]);
    head.writeUInt16BE(payload.length + 2, 2);
    return Buffer.concat([head, payload]);
  };
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, Buffer.from('JFIF\0\x01\x01\0\0\x01\0\x01\0\0', 'latin1')),
    ...(exif === undefined
      ? []
      : [segment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), exif]))]),
    segment(0xda, Buffer.from([1, 1, 0, 0, 63, 0])),
    Buffer.from(tail),
    Buffer.from([0xff, 0xd9]),
  ]);
}

export function png(exif: Buffer | undefined): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const out = Buffer.alloc(body.length + 8);
    out.writeUInt32BE(data.length, 0);
    body.copy(out, 4);
    out.writeUInt32BE(crc32(body), body.length + 4);
    return out;
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000001000000010802000000', 'hex')),
    ...(exif === undefined ? [] : [chunk('eXIf', exif)]),
    chunk('IDAT', Buffer.from('789c63f8cfc0000003010100', 'hex')),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** The start of an ISO media file of a brand. */
export function isoMedia(brand: string): Buffer {
  return Buffer.concat([
    Buffer.from([0, 0, 0, 24]),
    Buffer.from(`ftyp${brand}\0\0\0\0mif1${brand}`, 'latin1'),
    Buffer.alloc(64),
  ]);
}

const RAR5_PROTECTED = '0b 02 01 04 00 00 00 00 03 01 00 00';

/** Archives as their headers begin; the second of each pair is protected by a password. */
export const ARCHIVES: ReadonlyArray<readonly [name: string, plain: Buffer, encrypted: Buffer]> = [
  ['zip', hex('504b0304 0a00 0000', 40), hex('504b0304 0a00 0900', 40)],
  ['zip with a folder first', zip('0000', '0000'), zip('0000', '0100')],
  ['7z', sevenZip('030101'), sevenZip('06f10701')],
  ['rar 4', rar4('0000', '0000'), rar4('0000', '0400')],
  ['rar 4 with a protected second file', rar4('0000', '0000'), rar4('0000', '0080', '0480')],
  ['rar 4 with hidden names', rar4('0000', '0000'), rar4('8000', '0000')],
  ['rar 5', rar5('08 02 00 00 00 00 00 00 00'), rar5(RAR5_PROTECTED)],
  [
    'rar 5 with a protected second file',
    rar5('04 02 02 00 00'),
    rar5(`04 02 02 00 00 00000000 ${RAR5_PROTECTED}`),
  ],
  [
    'rar 5 with hidden names',
    rar5('08 02 00 00 00 00 00 00 00'),
    hex('526172211a070100 00000000 05 04 00 00 00 00', 40),
  ],
];

function hex(text: string, zeros: number): Buffer {
  return Buffer.concat([Buffer.from(text.replaceAll(' ', ''), 'hex'), Buffer.alloc(zeros)]);
}

/** Start header, eight bytes of content, then an end header that names a codec. */
function sevenZip(codec: string): Buffer {
  const header = hex(`0104060001090b00070b0100012404${codec}`, 0);
  const start = hex('377abcaf271c0004', 24);
  start.writeBigUInt64LE(8n, 12);
  start.writeBigUInt64LE(BigInt(header.length), 20);
  return Buffer.concat([start, Buffer.alloc(8), header]);
}

/**
 * Main header of 13 bytes, then file headers of 32, each with four bytes of content where its flags
 * say so.
 */
function rar4(mainFlags: string, ...fileFlags: readonly string[]): Buffer {
  const files = fileFlags.map(
    (flags) => `0000 74 ${flags} 2000 04000000 ${'00'.repeat(flags.endsWith('80') ? 25 : 21)}`,
  );
  return hex(`526172211a0700 0000 73 ${mainFlags} 0d00 000000000000 ${files.join('')}`, 40);
}

/**
 * Two entries of empty content: local headers, a directory with the flags of both, and its end
 * record.
 */
function zip(...flags: readonly string[]): Buffer {
  const headers = hex(`504b0304 0a00 ${flags[0]}`, 22 + 30);
  const directory = hex(
    flags.map((flag) => `504b0102 0a00 0a00 ${flag} ${'00'.repeat(36)}`).join(''),
    0,
  );
  const end = hex('504b0506', 18);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(headers.length, 16);
  return Buffer.concat([headers, directory, end]);
}

/** Main header, then a block of its size, type and content. */
function rar5(block: string): Buffer {
  return hex(`526172211a070100 00000000 03 01 00 00 00000000 ${block}`, 40);
}
