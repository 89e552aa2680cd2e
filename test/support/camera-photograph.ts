/** A JPEG as a camera writes it: EXIF data with an orientation, a position, and a small picture of its own. */
export function withCameraData(jpeg: Buffer, thumbnail: Buffer, orientation: number): Buffer {
  const [gps, ifd1, data] = [8 + 2 + 2 * 12 + 4, 8 + 30 + 2 + 2 * 12 + 4, 8 + 30 + 30 + 30];
  const degrees = rationals([49, 1], [17, 1], [3839, 100]);
  const tiff = Buffer.concat([
    Buffer.from('4d4d002a00000008', 'hex'),
    directory([entry(0x0112, 3, 1, orientation * 0x1_0000), entry(0x8825, 4, 1, gps)], ifd1),
    directory([entry(0x0001, 2, 2, 0x4e00_0000), entry(0x0002, 5, 3, data)], 0),
    directory([entry(0x0201, 4, 1, data + degrees.length), entry(0x0202, 4, 1, thumbnail.length)], 0),
    degrees,
    thumbnail,
  ]);
  const exif = Buffer.concat([Buffer.from('Exif\0\0'), tiff]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(exif.length + 2);
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from('ffe1', 'hex'), length, exif, jpeg.subarray(2)]);
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
  const [count, link] = [Buffer.alloc(2), Buffer.alloc(4)];
  count.writeUInt16BE(entries.length);
  link.writeUInt32BE(next);
  return Buffer.concat([count, ...entries, link]);
}

function rationals(...values: readonly (readonly [number, number])[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (const [index, value] of values.flat().entries()) bytes.writeUInt32BE(value, index * 4);
  return bytes;
}
