import sharp from 'sharp';

/**
 * Photographs as telephones make them: with the place in EXIF and in XMP, the time, and an
 * orientation.
 */

export type PlacedOptions = {
  /** 0 to 255: photographs of different numbers are different pictures. */
  readonly shade?: number;
  /** Degrees; undefined for one without a place. */
  readonly place?: readonly [longitude: number, latitude: number];
  /** `2024:05:06 07:08:09` */
  readonly taken?: string;
  readonly xmp?: string;
};

export type PlacedFormat = 'jpeg' | 'png' | 'tiff';

export async function placedPhotograph(
  format: PlacedFormat,
  options: PlacedOptions = {},
): Promise<Buffer> {
  const { shade = 0, place, taken = '2024:05:06 07:08:09', xmp } = options;
  const noise = Buffer.from(
    Array.from({ length: 24 * 16 * 3 }, (_, at) => (at * 37 + shade * 11) % 256),
  );
  const exif = {
    IFD0: { Make: 'Testa' },
    IFD2: {
      DateTimeOriginal: taken,
    },
    ...(place === undefined ? {} : { IFD3: gpsDirectory(place) }),
  };
  let image = sharp(noise, { raw: { width: 24, height: 16, channels: 3 } })
    .withMetadata({ orientation: 6 })
    .withExifMerge(exif);
  if (xmp !== undefined) image = image.withXmp(xmp);
  if (format !== 'tiff') return image.toFormat(format).toBuffer();
  return withDirectories(
    await image.tiff({ compression: 'none' }).toBuffer(),
    await image.jpeg().toBuffer(),
  );
}

/**
 * The EXIF and GPS directories that a JPEG has, put into a TIFF, whose writer leaves them out. Both
 * are little endian.
 */
function withDirectories(tiff: Buffer, jpeg: Buffer): Buffer {
  const exifAt = jpeg.indexOf('Exif\0\0', 0, 'latin1') + 6;
  const block = Buffer.from(jpeg.subarray(exifAt, exifAt - 8 + jpeg.readUInt16BE(exifAt - 8)));
  const pointers = listEntries(block, block.readUInt32LE(4)).filter((entry) =>
    [0x8769, 0x8825].includes(entry.readUInt16LE(0)),
  );
  const first = tiff.readUInt32LE(4);
  const blockAt = tiff.length + (tiff.length % 2);
  for (const pointer of pointers) {
    const at = pointer.readUInt32LE(8);
    for (const entry of listEntries(block, at)) {
      const bytes = (BYTES_OF_TYPE[entry.readUInt16LE(2)] ?? 1) * entry.readUInt32LE(4);
      if (bytes > 4) entry.writeUInt32LE(entry.readUInt32LE(8) + blockAt, 8);
    }
    pointer.writeUInt32LE(at + blockAt, 8);
  }
  const entries = [...listEntries(tiff, first), ...pointers].sort(
    (a, b) => a.readUInt16LE(0) - b.readUInt16LE(0),
  );
  const count = Buffer.alloc(2);
  count.writeUInt16LE(entries.length, 0);
  const padding = Buffer.alloc(blockAt - tiff.length);
  const whole = Buffer.concat([
    tiff,
    padding,
    block,
    Buffer.alloc(block.length % 2),
    count,
    ...entries,
    Buffer.alloc(4),
  ]);
  whole.writeUInt32LE(blockAt + block.length + (block.length % 2), 4);
  return whole;
}

const BYTES_OF_TYPE: readonly number[] = [1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8];

function listEntries(bytes: Buffer, at: number): Buffer[] {
  const count = bytes.readUInt16LE(at);
  return Array.from({ length: count }, (_, index) =>
    bytes.subarray(at + 2 + index * 12, at + 14 + index * 12),
  );
}

function gpsDirectory([longitude, latitude]: readonly [number, number]): Record<string, string> {
  return {
    GPSLatitudeRef: latitude < 0 ? 'S' : 'N',
    GPSLatitude: dms(latitude),
    GPSLongitudeRef: longitude < 0 ? 'W' : 'E',
    GPSLongitude: dms(longitude),
  };
}

function dms(degrees: number): string {
  const seconds = Math.round(Math.abs(degrees) * 3600 * 10_000);
  const whole = Math.floor(seconds / (3600 * 10_000));
  const minutes = Math.floor((seconds - whole * 3600 * 10_000) / (60 * 10_000));
  return `${whole}/1 ${minutes}/1 ${seconds - whole * 3600 * 10_000 - minutes * 60 * 10_000}/10000`;
}

/** As telephones write it, and drones. */
export function placedXmp(): string {
  return [
    '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF',
    ' xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""',
    ' xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:drone-dji="http://www.dji.com/drone-dji/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"',
    ' exif:GPSLatitude="49,12.5N" exif:GPSLongitude="16,36.2E" drone-dji:GpsLongtitude="+16.6" dc:format="image/jpeg">',
    '<exif:GPSAltitude>250/1</exif:GPSAltitude><exif:GPSMapDatum/><dc:source>Trench 4</dc:source>',
    '</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>',
  ].join('');
}
