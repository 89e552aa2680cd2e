import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import reader from 'exifreader';
import fc from 'fast-check';
import sharp from 'sharp';
import { beforeAll, describe, expect, test } from 'vitest';
import { removeGps } from '../../../src/photos/remove-gps.ts';
import { jpeg, png, tiff } from '../../contract/contract-photographs.ts';
import { type PlacedFormat, placedPhotograph, placedXmp } from '../../support/placed-photograph.ts';

const FORMATS: readonly PlacedFormat[] = ['jpeg', 'png', 'tiff'];
const photographs = new Map<PlacedFormat, Buffer>();

beforeAll(async () => {
  for (const format of FORMATS)
    photographs.set(
      format,
      await placedPhotograph(format, { place: [16.6, 49.2], xmp: placedXmp() }),
    );
});

function photograph(format: PlacedFormat): Buffer {
  return Buffer.from(photographs.get(format) ?? Buffer.alloc(0));
}

function stripped(bytes: Buffer, format: string) {
  const { finding, parts } = removeGps(Buffer.from(bytes), `image/${format}`);
  return { finding, bytes: Buffer.concat(parts) };
}

function gpsTags(bytes: Buffer): string[] {
  try {
    const { exif, gps } = reader.load(bytes, { expanded: true });
    return [
      ...Object.keys(exif ?? {}).filter((name) => name.startsWith('GPS')),
      ...Object.keys(gps ?? {}),
    ];
  } catch {
    return [];
  }
}

describe.each(FORMATS)('a %s with a position in EXIF and XMP', (format) => {
  test('loses it, and keeps the picture, the orientation and the time', async () => {
    const before = photograph(format);
    expect(gpsTags(before)).toContain('GPSLatitude');
    const { finding, bytes: after } = stripped(before, format);
    expect(finding).toBe('position');
    expect(gpsTags(after)).toEqual([]);
    expect(after.toString('latin1')).not.toMatch(/GPSL|GpsL|49,12\.5N/);
    expect(await sharp(after).raw().toBuffer()).toEqual(await sharp(before).raw().toBuffer());
    const { exif } = reader.load(after, { expanded: true });
    expect(exif?.Orientation?.value).toBe(6);
    expect(exif?.DateTimeOriginal?.description).toBe('2024:05:06 07:08:09');
    expect(after.toString('latin1')).not.toContain('Trench 4');
  });

  test('gives the same bytes each time, and a second removal finds nothing', () => {
    const once = stripped(photograph(format), format);
    expect(stripped(photograph(format), format).bytes.equals(once.bytes)).toBe(true);
    const again = stripped(once.bytes, format);
    expect(again.finding).toBe('none');
    expect(again.bytes.equals(once.bytes)).toBe(true);
  });

  test('keeps every byte outside the GPS block and the XMP', () => {
    const before = photograph(format);
    const { bytes: after } = stripped(before, format);
    if (format === 'png') {
      // Packed texts get another length; the other chunks stay as they are.
      const picture = (bytes: Buffer): Buffer => bytes.subarray(bytes.indexOf('IDAT') - 4);
      expect(picture(after).equals(picture(before))).toBe(true);
      return;
    }
    expect(after.length).toBe(before.length);
    const differing = [...after.keys()].filter((at) => after[at] !== before[at]);
    expect(differing.length).toBeGreaterThan(0);
    expect(differing.length).toBeLessThan(600 + placedXmp().length);
  });

  test('is unchanged without a position', async () => {
    const before = await placedPhotograph(format);
    const { finding, bytes } = stripped(before, format);
    expect(finding).toBe('none');
    expect(bytes.equals(before)).toBe(true);
  });

  test('loses it wherever the file is cut off', () => {
    const whole = photograph(format);
    fc.assert(
      fc.property(fc.nat(whole.length), (keep) => {
        const { bytes } = stripped(whole.subarray(0, keep), format);
        expect(gpsTags(bytes).filter((name) => /l(at|ong)itude/i.test(name))).toEqual([]);
        expect(stripped(bytes, format).finding).toBe('none');
      }),
    );
  });

  test('with any bytes overwritten neither throws nor hangs', () => {
    const whole = photograph(format);
    const writes = fc.array(fc.tuple(fc.nat(Math.min(600, whole.length)), fc.nat(255)), {
      minLength: 1,
      maxLength: 12,
    });
    fc.assert(
      fc.property(writes, (harm) => {
        const harmed = Buffer.from(whole);
        for (const [at, value] of harm) harmed[at] = value;
        expect(stripped(harmed, format).bytes.length).toBeGreaterThan(0);
      }),
      // The GPS directory of a TIFF comes to lie over the one that points to it.
      { examples: [[[[4, 224]]]] },
    );
  });
});

test.each(['jpeg', 'png', 'tiff', 'heic', 'x-unknown'])(
  'any bytes as %s neither throw nor hang',
  (format) => {
    const heads = [
      '',
      'ffd8ffe10040457869660000',
      '89504e470d0a1a0a',
      '49492a0008000000',
      '4d4d002a00000008',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 400 }), (head, rest) => {
        const { parts } = removeGps(
          Buffer.concat([Buffer.from(head, 'hex'), rest]),
          `image/${format}`,
        );
        expect(parts.length).toBeGreaterThan(0);
      }),
    );
  },
);

test.each(['II', 'MM'] as const)(
  'all pages of a TIFF, byte order %s, lose their positions',
  (order) => {
    const { finding, bytes } = stripped(tiff({ order, gps: true, pages: 3 }), 'tiff');
    expect(finding).toBe('position');
    expect(bytes.includes('SECRET-PLACE')).toBe(false);
  },
);

test('cyclic directories end', () => {
  const bytes = tiff({ order: 'II', gps: false });
  bytes.writeUInt32LE(8, 34);
  expect(stripped(bytes, 'tiff').finding).toBe('none');
});

test('a pointer into the picture is removed, and the picture is not overwritten', () => {
  const bytes = tiff({ order: 'II', gps: true });
  bytes.writeUInt32LE(100, 8 + 2 + 12 + 8);
  bytes.fill(0xee, 100, 160);
  const { finding, bytes: after } = stripped(bytes, 'tiff');
  expect(finding).toBe('other');
  expect(after.subarray(100, 160).equals(bytes.subarray(100, 160))).toBe(true);
});

test.each(['II', 'MM'] as const)(
  'a damaged count of entries, byte order %s, that reaches into the GPS directory leaves no position',
  (order) => {
    const bytes = tiff({ order, gps: true });
    if (order === 'II') bytes.writeUInt16LE(16, 8);
    else bytes.writeUInt16BE(16, 8);
    const { finding, bytes: after } = stripped(bytes, 'tiff');
    expect(finding).toBe('position');
    expect(after.includes('SECRET-PLACE')).toBe(false);
  },
);

test('a further picture after the first loses its position, too', () => {
  const first = photograph('jpeg');
  const { bytes } = stripped(
    Buffer.concat([stripped(first, 'jpeg').bytes, jpeg(tiff({ order: 'MM', gps: true }))]),
    'jpeg',
  );
  expect(bytes.includes('SECRET-PLACE')).toBe(false);
});

test('XMP over several segments with a position across their border goes as a whole', () => {
  const packet = Buffer.from(
    `<x xmlns:exif="e">${' '.repeat(40)}<exif:GPSLatitude>49,12.5N</exif:GPSLatitude></x>`,
  );
  const guid = createHash('md5').update(packet).digest('hex').toUpperCase();
  const border = packet.indexOf('Latitude');
  const part = (from: number, to: number): Buffer => {
    const numbers = Buffer.alloc(8);
    numbers.writeUInt32BE(packet.length, 0);
    numbers.writeUInt32BE(from, 4);
    const text = Buffer.from(`http://ns.adobe.com/xmp/extension/\0${guid}`, 'latin1');
    return segment(Buffer.concat([text, numbers, packet.subarray(from, to)]));
  };
  const main = segment(
    Buffer.from(`http://ns.adobe.com/xap/1.0/\0<x xmpNote:HasExtendedXMP="${guid}"/>`, 'latin1'),
  );
  const file = Buffer.concat([
    Buffer.from('ffd8', 'hex'),
    main,
    part(0, border),
    part(border, packet.length),
    jpeg(undefined).subarray(2),
  ]);
  const { finding, bytes } = stripped(file, 'jpeg');
  expect(finding).toBe('position');
  expect(bytes.toString('latin1')).not.toMatch(/GPS|49,12|xmlns:exif/);
  expect(bytes.length).toBe(file.length);
  expect(stripped(bytes, 'jpeg').finding).toBe('none');
});

function segment(payload: Buffer): Buffer {
  const head = Buffer.from([0xff, 0xe1, 0, 0]);
  head.writeUInt16BE(payload.length + 2, 2);
  return Buffer.concat([head, payload]);
}

function withChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(body.length + 8);
  frame.writeUInt32BE(data.length, 0);
  body.copy(frame, 4);
  frame.writeUInt32BE(crc32(body), body.length + 4);
  const plain = png(undefined);
  return Buffer.concat([plain.subarray(0, 33), frame, plain.subarray(33)]);
}

describe('a PNG', () => {
  const rawProfile = (): Buffer => {
    const exif = Buffer.concat([
      Buffer.from('Exif\0\0', 'latin1'),
      tiff({ order: 'II', gps: true }),
    ]);
    return Buffer.from(
      `\nexif\n${exif.length}\n${exif.toString('hex').replace(/.{72}/g, '$&\n')}\n`,
    );
  };

  test.each([
    [
      'packed XMP',
      withChunk(
        'iTXt',
        Buffer.concat([
          Buffer.from('XML:com.adobe.xmp\0\x01\0\0\0', 'latin1'),
          deflateSync(placedXmp()),
        ]),
      ),
    ],
    [
      'plain XMP',
      withChunk(
        'iTXt',
        Buffer.concat([
          Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1'),
          Buffer.from(placedXmp()),
        ]),
      ),
    ],
    [
      'EXIF as text',
      withChunk(
        'tEXt',
        Buffer.concat([Buffer.from('Raw profile type exif\0', 'latin1'), rawProfile()]),
      ),
    ],
    [
      'EXIF as packed text',
      withChunk(
        'zTXt',
        Buffer.concat([
          Buffer.from('Raw profile type APP1\0\0', 'latin1'),
          deflateSync(rawProfile()),
        ]),
      ),
    ],
    [
      'a property as text',
      withChunk('tEXt', Buffer.from('exif:GPSLatitude\x0049/1, 12/1', 'latin1')),
    ],
  ])('with a position in %s loses it and stays readable', async (place, before) => {
    const { finding, bytes } = stripped(before, 'png');
    // A packed text is not read, and may have one.
    expect(finding).toBe(place === 'packed XMP' ? 'other' : 'position');
    expect(stripped(bytes, 'png').finding).toBe('none');
    expect(await sharp(bytes).raw().toBuffer()).toEqual(await sharp(before).raw().toBuffer());
  });
});

test('XMP that opens an element a million times and closes none is handled at once', () => {
  const packet = Buffer.from(Array.from({ length: 200_000 }, (_, at) => `<a:GPS${at}>`).join(''));
  const before = withChunk(
    'iTXt',
    Buffer.concat([Buffer.from('XML:com.adobe.xmp\0\0\0\0\0', 'latin1'), packet]),
  );
  expect(stripped(before, 'png').finding).toBe('other');
});

test('a position in EXIF that continues in a second segment is removed', () => {
  const before = photograph('jpeg');
  const at = before.indexOf('Exif\0\0', 0, 'latin1');
  const end = at - 2 + before.readUInt16BE(at - 2);
  const segment = (block: Buffer): Buffer => {
    const head = Buffer.from([0xff, 0xe1, 0, 0]);
    head.writeUInt16BE(block.length + 8, 2);
    return Buffer.concat([head, Buffer.from('Exif\0\0', 'latin1'), block]);
  };
  const block = before.subarray(at + 6, end);
  const split = Buffer.concat([
    before.subarray(0, at - 4),
    segment(block.subarray(0, 40)),
    segment(block.subarray(40)),
    before.subarray(end),
  ]);
  const { finding, bytes: after } = stripped(split, 'jpeg');
  expect(finding).toBe('position');
  expect(after.length).toBe(split.length);
  expect(stripped(after, 'jpeg').finding).toBe('none');
});
