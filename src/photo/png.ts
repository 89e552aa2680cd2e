import { crc32, inflateSync } from 'node:zlib';
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
 * Removes GPS data from EXIF and XMP in place. A packed text, and a property as text, goes as a
 * whole.
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
    if (scrubbed.isWhole === true && scrubbed.finding !== 'none') continue;
    if (scrubbed.finding !== 'none')
      bytes.writeUInt32BE(crc32(bytes.subarray(start + 4, end - 4)), end - 4);
    parts.push(bytes.subarray(start, end));
  }
  return { finding, parts: [...parts, bytes.subarray(rest)] };
}

/** GPS data in a chunk; all of it must go unless they were removed in place. */
type ScrubResult = { readonly finding: GpsFinding; readonly isWhole?: boolean };

const NOTHING: ScrubResult = { finding: 'none' };

/** @param data may be changed */
function scrubChunk(type: string, data: Buffer): ScrubResult {
  if (type === 'eXIf') return { finding: removeTiffGps(data) };
  const keywordEnd = data.indexOf(0);
  const textAt = findText(type, data, keywordEnd);
  if (keywordEnd === -1 || textAt === undefined) return NOTHING;
  const keyword = data.toString('latin1', 0, keywordEnd);
  // ImageMagick writes each EXIF property as a text chunk, and whole blocks in hexadecimal.
  if (/gps|l(?:at|ong)itude/i.test(keyword))
    return { finding: 'place-outside-exif', isWhole: true };
  const isPacked = type === 'zTXt' || (type === 'iTXt' && data[keywordEnd + 1] === 1);
  const text = isPacked ? inflate(data.subarray(textAt)) : data.subarray(textAt);
  const isProfile = /^raw profile type (?:exif|app1|xmp)$/i.test(keyword);
  if (isProfile) return { finding: findGpsInProfile(text), isWhole: true };
  const finding = keyword === 'XML:com.adobe.xmp' ? removeXmpGps(text) : 'none';
  return { finding, isWhole: isPacked };
}

/** Returns where the text begins: in `iTXt` behind two flags, a language and a translated keyword. */
function findText(type: string, data: Buffer, keywordEnd: number): number | undefined {
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
    default:
      return undefined;
  }
}

/** Unpacks a text; empty where that is damaged, or too large for metadata. */
function inflate(packed: Buffer): Buffer {
  try {
    return inflateSync(packed, { maxOutputLength: MAX_TEXT_BYTES });
  } catch {
    return Buffer.alloc(0);
  }
}

/** Searches a profile: a line with its name, one with its length, then hexadecimal bytes. */
function findGpsInProfile(text: Buffer): GpsFinding {
  const [, digits = ''] = /^\s*\w+\s+\d+\s([\da-f\s]*)$/i.exec(text.toString('latin1')) ?? [];
  const profile = Buffer.from(digits.replace(/\s+/g, ''), 'hex');
  return profile.indexOf('Exif\0\0') === 0
    ? removeTiffGps(profile.subarray(6))
    : getMostTelling(removeTiffGps(profile), removeXmpGps(profile));
}
