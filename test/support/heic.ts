/** A HEIC file with an EXIF block and no picture (ISO/IEC 23008-12): what tells its place stands where a telephone puts it. */
export function heicWith(tiff: Buffer): Buffer {
  const exif = Buffer.concat([Buffer.from([0, 0, 0, 6]), Buffer.from('Exif\0\0', 'latin1'), tiff]);
  const type = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic', 'latin1'));
  const handler = box('hdlr', Buffer.from('\0\0\0\0\0\0\0\0pict\0\0\0\0\0\0\0\0\0\0\0\0\0', 'latin1'));
  const item = box('infe', Buffer.concat([Buffer.from([2, 0, 0, 0, 0, 1, 0, 0]), Buffer.from('Exif\0', 'latin1')]));
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
