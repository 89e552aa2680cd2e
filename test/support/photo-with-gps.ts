/**
 * The smallest JPEG that says where it was taken: EXIF with a GPS directory, and no picture.
 * Degrees, north and east positive.
 */
export function photoWithGps(latitude: number, longitude: number): Buffer {
  // TIFF header, a first directory with a pointer to the GPS directory, and that directory with its
  // values behind it.
  const gpsAt = 8 + directoryBytes(1);
  const valuesAt = gpsAt + directoryBytes(4);
  const tiff = Buffer.concat([
    Buffer.from([0x49, 0x49, 0x2a, 0, 8, 0, 0, 0]),
    directory([entry(0x8825, LONG, 1, long(gpsAt))]),
    directory([
      entry(1, ASCII, 2, Buffer.from(latitude < 0 ? 'S\0\0\0' : 'N\0\0\0')),
      entry(2, RATIONAL, 3, long(valuesAt)),
      entry(3, ASCII, 2, Buffer.from(longitude < 0 ? 'W\0\0\0' : 'E\0\0\0')),
      entry(4, RATIONAL, 3, long(valuesAt + 24)),
    ]),
    rationals(Math.abs(latitude)),
    rationals(Math.abs(longitude)),
  ]);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
  const start = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, exif.length + 2]);
  return Buffer.concat([start, exif, Buffer.from([0xff, 0xd9])]);
}

const ASCII = 2;
const LONG = 4;
const RATIONAL = 5;

function directoryBytes(entries: number): number {
  return 2 + 12 * entries + 4;
}

function directory(entries: readonly Buffer[]): Buffer {
  const count = Buffer.alloc(2);
  count.writeUInt16LE(entries.length);
  return Buffer.concat([count, ...entries, Buffer.alloc(4)]);
}

function entry(tag: number, type: number, count: number, value: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16LE(tag, 0);
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(count, 4);
  return Buffer.concat([head, value]);
}

function long(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** Degrees, minutes and ten-thousandths of seconds. */
function rationals(degrees: number): Buffer {
  const seconds = Math.round(degrees * 3600 * 10_000);
  const parts = [
    Math.floor(seconds / 36_000_000),
    1,
    Math.floor((seconds % 36_000_000) / 600_000),
    1,
    seconds % 600_000,
    10_000,
  ];
  return Buffer.concat(parts.map(long));
}
