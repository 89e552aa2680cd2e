/**
 * Just enough of JPEG (baseline, ITU-T T.81) and PNG to write a drawn picture without any package.
 */
import { crc32, deflateSync } from 'node:zlib';

/** Zigzag order of the 8×8 coefficients (T.81, figure 5). */
const ZIGZAG = [
  0, 1, 8, 16, 9, 2, 3, 10, 17, 24, 32, 25, 18, 11, 4, 5, 12, 19, 26, 33, 40, 48, 41, 34, 27, 20,
  13, 6, 7, 14, 21, 28, 35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52,
  45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63,
];
/** Luminance quantisation (T.81, table K.1). */
const QUANTISATION = [
  16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56,
  14, 17, 22, 29, 51, 87, 80, 62, 18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113,
  92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92, 95, 98, 112, 100, 103, 99,
];
/** Huffman codes as counts by length, then symbols (T.81, tables K.3 and K.5). */
const DC = {
  counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
  symbols: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
};
const AC = {
  counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125],
  symbols: [
    ...Buffer.from(
      '01020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a4344' +
        '45464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4' +
        'b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa',
      'hex',
    ),
  ],
};

/** @param {{width: number, height: number, rgb: Uint8Array}} picture */
export function encodeJpeg({ width, height, rgb }, quality) {
  const scale = quality < 50 ? 5000 / quality : 200 - quality * 2;
  const table = QUANTISATION.map((value) =>
    Math.min(255, Math.max(1, Math.round((value * scale) / 100))),
  );
  const components = [1, 2, 3].flatMap((id) => [id, 0x11, 0]);
  const head = [
    Buffer.from([0xff, 0xd8]),
    segment(0xe0, [...Buffer.from('JFIF\0'), 1, 1, 0, 0, 1, 0, 1, 0, 0]),
    segment(0xdb, [0, ...ZIGZAG.map((index) => table[index])]),
    segment(0xc0, [8, height >> 8, height & 255, width >> 8, width & 255, 3, ...components]),
    segment(0xc4, [0x00, ...DC.counts, ...DC.symbols]),
    segment(0xc4, [0x10, ...AC.counts, ...AC.symbols]),
    segment(0xda, [3, 1, 0, 2, 0, 3, 0, 0, 63, 0]),
  ];
  return Buffer.concat([
    ...head,
    scan(width, height, planes(width, height, rgb), table),
    Buffer.from([0xff, 0xd9]),
  ]);
}

/**
 * Adds the data that a camera writes into its pictures: when each was taken, and where (EXIF 2.3).
 * @param {Buffer} jpeg
 * @param {{taken: string, latitude: number, longitude: number}} shot `taken` as
 * `2024:10:12 10:04:00`; degrees north and east
 */
export function addExif(jpeg, { taken, latitude, longitude }) {
  const ascii = (text) => Buffer.from(`${text}\0`);
  const long = (value) => Buffer.from(new Uint32Array([value]).buffer);
  /** Degrees, minutes, and seconds in ten-thousandths. */
  const rationals = (degrees) => {
    const whole = Math.round(degrees * 36e6);
    const parts = [Math.floor(whole / 36e6), Math.floor((whole % 36e6) / 6e5), whole % 6e5];
    return Buffer.concat(parts.flatMap((part, nth) => [long(part), long(nth < 2 ? 1 : 1e4)]));
  };
  const directories = [
    [
      [0x8769, 4, 1, 'next 1'],
      [0x8825, 4, 1, 'next 2'],
    ],
    [[0x9003, 2, 20, ascii(taken)]],
    [
      [1, 2, 2, ascii('N')],
      [2, 5, 3, rationals(latitude)],
      [3, 2, 2, ascii('E')],
      [4, 5, 3, rationals(longitude)],
    ],
  ];
  const starts = [8];
  for (const entries of directories) starts.push(starts.at(-1) + 6 + 12 * entries.length);
  let valuesAt = starts.at(-1);
  const values = [];
  const written = directories.map((entries) => {
    const rows = entries.map(([tag, type, count, value]) => {
      const row = Buffer.alloc(12);
      row.writeUInt16LE(tag, 0);
      row.writeUInt16LE(type, 2);
      row.writeUInt32LE(count, 4);
      if (typeof value === 'string') row.writeUInt32LE(starts[Number(value.at(-1))], 8);
      else if (value.length <= 4) value.copy(row, 8);
      else {
        row.writeUInt32LE(valuesAt, 8);
        values.push(value);
        valuesAt += value.length;
      }
      return row;
    });
    return Buffer.concat([Buffer.from([entries.length, 0]), ...rows, Buffer.alloc(4)]);
  });
  const tiff = Buffer.concat([Buffer.from([0x49, 0x49, 42, 0, 8, 0, 0, 0]), ...written, ...values]);
  const block = segment(0xe1, [...Buffer.from('Exif\0\0'), ...tiff]);
  return Buffer.concat([jpeg.subarray(0, 2), block, jpeg.subarray(2)]);
}

function segment(marker, bytes) {
  return Buffer.from([0xff, marker, (bytes.length + 2) >> 8, (bytes.length + 2) & 255, ...bytes]);
}

/** YCbCr, each around zero. */
function planes(width, height, rgb) {
  const [luma, blue, red] = [0, 1, 2].map(() => new Float32Array(width * height));
  for (let i = 0; i < width * height; i++) {
    const [r, g, b] = rgb.subarray(i * 3, i * 3 + 3);
    luma[i] = 0.299 * r + 0.587 * g + 0.114 * b - 128;
    blue[i] = -0.1687 * r - 0.3313 * g + 0.5 * b;
    red[i] = 0.5 * r - 0.4187 * g - 0.0813 * b;
  }
  return [luma, blue, red];
}

function scan(width, height, channels, table) {
  const bits = bitWriter();
  const [dc, ac] = [DC, AC].map(codesOf);
  const previous = [0, 0, 0];
  for (let y = 0; y < height; y += 8) {
    for (let x = 0; x < width; x += 8) {
      channels.forEach((channel, index) => {
        const block = quantise(channel, width, height, x, y, table);
        writeBlock(bits, block, previous[index], dc, ac);
        previous[index] = block[0];
      });
    }
  }
  return bits.end();
}

const COSINE = Array.from(
  { length: 64 },
  (_, i) =>
    Math.cos((((i & 7) * 2 + 1) * (i >> 3) * Math.PI) / 16) *
    (i >> 3 === 0 ? Math.SQRT1_2 : 1) *
    0.5,
);

/** Discrete cosine transform of one block, quantised, in zigzag order. */
function quantise(channel, width, height, x0, y0, table) {
  const rows = new Float32Array(64);
  for (let y = 0; y < 8; y++) {
    for (let u = 0; u < 8; u++) {
      let sum = 0;
      for (let x = 0; x < 8; x++)
        sum +=
          channel[Math.min(height - 1, y0 + y) * width + Math.min(width - 1, x0 + x)] *
          COSINE[u * 8 + x];
      rows[y * 8 + u] = sum;
    }
  }
  return ZIGZAG.map((index) => {
    const [v, u] = [index >> 3, index & 7];
    let sum = 0;
    for (let y = 0; y < 8; y++) sum += rows[y * 8 + u] * COSINE[v * 8 + y];
    return Math.round(sum / table[index]);
  });
}

function writeBlock(bits, block, previous, dc, ac) {
  const difference = block[0] - previous;
  bits.code(dc[sizeOf(difference)]);
  bits.value(difference);
  let zeros = 0;
  const last = block.findLastIndex((value) => value !== 0);
  for (let i = 1; i <= last; i++) {
    if (block[i] === 0) {
      zeros++;
      continue;
    }
    for (; zeros > 15; zeros -= 16) bits.code(ac[0xf0]);
    bits.code(ac[(zeros << 4) | sizeOf(block[i])]);
    bits.value(block[i]);
    zeros = 0;
  }
  if (last < 63) bits.code(ac[0]);
}

function sizeOf(value) {
  return value === 0 ? 0 : 32 - Math.clz32(Math.abs(value));
}

function codesOf({ counts, symbols }) {
  const codes = [];
  let code = 0;
  let next = 0;
  counts.forEach((count, index) => {
    for (let i = 0; i < count; i++) codes[symbols[next++]] = { code: code++, length: index + 1 };
    code <<= 1;
  });
  return codes;
}

function bitWriter() {
  const bytes = [];
  let [held, count] = [0, 0];
  const write = (value, length) => {
    for (let i = length - 1; i >= 0; i--) {
      held = (held << 1) | ((value >> i) & 1);
      if (++count < 8) continue;
      bytes.push(held);
      if (held === 0xff) bytes.push(0);
      [held, count] = [0, 0];
    }
  };
  return {
    code: ({ code, length }) => write(code, length),
    value: (value) => write(value < 0 ? value - 1 : value, sizeOf(value)),
    end: () => {
      if (count > 0) write(0x7f, 8 - count);
      return Buffer.from(bytes);
    },
  };
}

/** @param {{width: number, height: number, rgb: Uint8Array}} picture */
export function encodePng({ width, height, rgb }) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const lines = Buffer.alloc(height * (width * 3 + 1));
  for (let y = 0; y < height; y++) {
    const start = y * (width * 3 + 1);
    // Filter 1 writes each sample as the difference from its left neighbour.
    lines[start] = 1;
    for (let i = 0; i < width * 3; i++)
      lines[start + 1 + i] = rgb[y * width * 3 + i] - (i < 3 ? 0 : rgb[y * width * 3 + i - 3]);
  }
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  return Buffer.concat([
    signature,
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
