import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { type GpsFinding, getMostTelling, removeTiffGps, removeXmpGps } from './gps-tags.ts';

/** Chunks of a PNG file (W3C PNG, third edition). */

const SIGNATURE_BYTES = 8;
/** Length and type before the data of a chunk, and its checksum behind them. */
const HEAD_BYTES = 8;
const FRAME_BYTES = 12;
/** Limit for an unpacked text; a larger one is no metadata. */
const MAX_TEXT_BYTES = 16 * 1024 * 1024;

/** `end` lies behind the file where the chunk is truncated. */
type Chunk = { readonly type: string; readonly start: number; readonly end: number };

function* listChunks(bytes: Buffer): Generator<Chunk> {
  let start = SIGNATURE_BYTES;
  while (start + HEAD_BYTES <= bytes.length) {
    const end = start + FRAME_BYTES + bytes.readUInt32BE(start);
    yield { type: bytes.toString('latin1', start + 4, start + HEAD_BYTES), start, end };
    start = end;
  }
}

export function isPngCutOff(bytes: Buffer): boolean {
  for (const { type, end } of listChunks(bytes)) if (type === 'IEND') return end > bytes.length;
  return true;
}

/** `parts`, concatenated, are the photograph without GPS data. */
export type WithoutGps = { readonly finding: GpsFinding; readonly parts: readonly Buffer[] };

/**
 * Rewrites chunks with GPS data; the others stay.
 * @param bytes may be changed
 */
export function removePngGps(bytes: Buffer): WithoutGps {
  let finding: GpsFinding = 'none';
  const parts: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)];
  let rest = SIGNATURE_BYTES;
  for (const { type, start, end } of listChunks(bytes)) {
    if (end > bytes.length && type === 'eXIf')
      finding = getMostTelling(finding, removeTiffGps(bytes.subarray(start + HEAD_BYTES)));
    if (end > bytes.length || type === 'IEND') break;
    rest = end;
    const scrubbed = scrubChunk(type, bytes.subarray(start + HEAD_BYTES, end - 4));
    finding = getMostTelling(finding, scrubbed.finding);
    if (scrubbed.finding === 'none') parts.push(bytes.subarray(start, end));
    else if (scrubbed.data !== undefined) parts.push(makeChunk(type, scrubbed.data));
  }
  return { finding, parts: [...parts, bytes.subarray(rest)] };
}

function makeChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(data.length + FRAME_BYTES);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), data.length + HEAD_BYTES);
  return framed;
}

/** GPS data in a chunk, and the chunk without them; no data where nothing may stay. */
type ScrubResult = { readonly finding: GpsFinding; readonly data?: Buffer };

const UNCHANGED: ScrubResult = { finding: 'none' };

type TextType = 'tEXt' | 'zTXt' | 'iTXt';

/** @param data may be changed */
function scrubChunk(type: string, data: Buffer): ScrubResult {
  switch (type) {
    case 'eXIf':
      return { finding: removeTiffGps(data), data };
    case 'tEXt':
    case 'zTXt':
    case 'iTXt':
      return scrubTextChunk(type, data);
    default:
      return UNCHANGED;
  }
}

/** Cleans a `tEXt`, `zTXt` or `iTXt` chunk. The text of the last is written unpacked. */
function scrubTextChunk(type: TextType, data: Buffer): ScrubResult {
  const keywordEnd = data.indexOf(0);
  const textAt = findText(type, data, keywordEnd);
  if (keywordEnd === -1 || textAt === undefined) return UNCHANGED;
  const isPacked = type === 'zTXt' || (type === 'iTXt' && data[keywordEnd + 1] === 1);
  const text = isPacked ? inflate(data.subarray(textAt)) : data.subarray(textAt);
  if (text === undefined) return UNCHANGED;
  const scrubbed = scrubText(data.toString('latin1', 0, keywordEnd), text);
  if (scrubbed.finding === 'none' || scrubbed.data === undefined) return scrubbed;
  const head = Buffer.from(data.subarray(0, textAt));
  if (type !== 'tEXt') head[keywordEnd + 1] = 0;
  const written = type === 'zTXt' ? deflateSync(scrubbed.data) : scrubbed.data;
  return { finding: scrubbed.finding, data: Buffer.concat([head, written]) };
}

/** Returns where the text begins: in `iTXt` behind two flags, a language and a translated keyword. */
function findText(type: TextType, data: Buffer, keywordEnd: number): number | undefined {
  switch (type) {
    case 'tEXt':
      return keywordEnd + 1;
    case 'zTXt':
      return keywordEnd + 2;
    case 'iTXt': {
      const languageEnd = data.indexOf(0, keywordEnd + 3);
      const translationEnd = languageEnd === -1 ? -1 : data.indexOf(0, languageEnd + 1);
      return translationEnd === -1 ? undefined : translationEnd + 1;
    }
  }
}

function inflate(packed: Buffer): Buffer | undefined {
  try {
    return inflateSync(packed, { maxOutputLength: MAX_TEXT_BYTES });
  } catch {
    return undefined;
  }
}

function scrubText(keyword: string, text: Buffer): ScrubResult {
  // ImageMagick writes each EXIF property as a text chunk, and whole blocks in hexadecimal.
  if (/gps|l(?:at|ong)itude/i.test(keyword)) return { finding: 'place-outside-exif' };
  if (/^raw profile type (?:exif|app1|xmp)$/i.test(keyword)) return scrubProfile(text);
  const finding = keyword === 'XML:com.adobe.xmp' ? removeXmpGps(text) : 'none';
  return { finding, data: text };
}

/** Cleans a profile: a line with its name, one with its length, then hexadecimal bytes. */
function scrubProfile(text: Buffer): ScrubResult {
  const match = /^(\s*\w+\s+\d+\s)([\da-f\s]*)$/i.exec(text.toString('latin1'));
  if (match === null) return UNCHANGED;
  const profile = Buffer.from((match[2] ?? '').replace(/\s+/g, ''), 'hex');
  const exifAt = profile.toString('latin1', 0, 6) === 'Exif\0\0' ? 6 : 0;
  const finding = getMostTelling(
    removeTiffGps(profile.subarray(exifAt)),
    exifAt === 0 ? removeXmpGps(profile) : 'none',
  );
  if (finding === 'none') return UNCHANGED;
  const lines = profile.toString('hex').replace(/.{72}/g, '$&\n');
  return { finding, data: Buffer.from(`${match[1]}${lines}\n`, 'latin1') };
}
