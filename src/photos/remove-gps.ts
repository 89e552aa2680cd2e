import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import {
  blankXmpWithGps,
  findXmpGps,
  type GpsFinding,
  getMostTellingGpsFinding,
  isTiff,
  parsePhotoExif,
  removeTiffGps,
} from './photo-exif.ts';

/** `parts`, concatenated, are the photograph without GPS data. */
type StrippedPhotograph = {
  readonly finding: GpsFinding;
  readonly parts: readonly Buffer[];
};

/** Types from which pas can remove GPS data; HEIC and HEIF are left as they are. */
const STRIPPABLE: readonly string[] = ['image/jpeg', 'image/png', 'image/tiff'];

/**
 * Removes GPS data from a photograph: the GPS directory of EXIF with its pointer, and XMP that has
 * GPS properties; of a PNG each text that has some, or that pas cannot read. All other bytes stay,
 * with the picture, its orientation and its time. Equal bytes give an equal result. Maker notes and
 * a video behind the picture are not searched. Of other types than JPEG, TIFF and PNG nothing is
 * removed, and the finding is `none`.
 * @param bytes changed in place, and shared by the result
 */
export function removeGps(bytes: Buffer, mediaType: string): StrippedPhotograph {
  switch (mediaType) {
    case 'image/jpeg':
      return { finding: removeJpegGps(bytes), parts: [bytes] };
    case 'image/tiff':
      return { finding: removeTiffGps(bytes), parts: [bytes] };
    case 'image/png':
      return removePngGps(bytes);
    default:
      return { finding: 'none', parts: [bytes] };
  }
}

/** GPS data of a photograph, and whether pas can remove them. */
export type PhotoGps =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'removable';
      readonly finding: GpsFinding;
      /** Checksum and size of the photograph without GPS data. */
      readonly without: { readonly sha512: string; readonly sizeBytes: number };
    }
  /** A position that pas cannot remove, or data that it cannot search for one. */
  | { readonly kind: 'fixed' | 'unknown' };

/**
 * Tells what GPS data a photograph has, by removing them from its bytes: `none`, or `removable`
 * with digest and size of the result. Types other than JPEG, PNG and TIFF are only searched:
 * `fixed` with a position, else `unknown`, since data that pas cannot search may have one.
 * @param bytes of the whole file; must not be used afterwards, since they are changed
 */
export async function tryGpsRemoval(bytes: Buffer, mediaType: string): Promise<PhotoGps> {
  if (!STRIPPABLE.includes(mediaType)) {
    const hasPosition =
      (await parsePhotoExif(bytes)).position !== undefined || findXmpGps(bytes) === 'position';
    return { kind: hasPosition ? 'fixed' : 'unknown' };
  }
  const { finding, parts } = removeGps(bytes, mediaType);
  if (finding === 'none') return { kind: 'none' };
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0);
  return { kind: 'removable', finding, without: { sha512: hash.digest('hex'), sizeBytes } };
}

// Chunks of a PNG file (W3C PNG, third edition).

const SIGNATURE_BYTES = 8;
/** Length and type before the data of a chunk, and its checksum behind them. */
const HEAD_BYTES = 8;
const FRAME_BYTES = 12;

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

/**
 * Removes GPS data from EXIF, and drops each text that may have some, so the result may be shorter.
 * @param bytes may be changed
 */
function removePngGps(bytes: Buffer): StrippedPhotograph {
  let finding: GpsFinding = 'none';
  const parts: Buffer[] = [bytes.subarray(0, SIGNATURE_BYTES)];
  let rest = SIGNATURE_BYTES;
  for (const { type, start, end } of listChunks(bytes)) {
    const isWhole = end <= bytes.length;
    if (type === 'IEND' || !(isWhole || type === 'eXIf')) break;
    const data = bytes.subarray(start + HEAD_BYTES, isWhole ? end - 4 : end);
    const ofChunk = type === 'eXIf' ? removeTiffGps(data) : findGpsInText(type, data);
    finding = getMostTellingGpsFinding(finding, ofChunk);
    if (!isWhole) break;
    rest = end;
    if (ofChunk !== 'none' && type !== 'eXIf') continue;
    if (ofChunk !== 'none') bytes.writeUInt32BE(crc32(bytes.subarray(start + 4, end - 4)), end - 4);
    parts.push(bytes.subarray(start, end));
  }
  return { finding, parts: [...parts, bytes.subarray(rest)] };
}

/**
 * Keywords of EXIF and XMP that ImageMagick writes in hexadecimal, which is not read, and of single
 * EXIF properties.
 */
const TELLING_KEYWORD = /^raw profile type (?:exif|app1|xmp)$|gps|l(?:at|ong)itude/i;

/** Finds GPS data in a text chunk; other chunks have none. Packed texts are not read. */
function findGpsInText(type: string, data: Buffer): GpsFinding {
  if (!['tEXt', 'zTXt', 'iTXt'].includes(type)) return 'none';
  const keywordEnd = data.indexOf(0);
  if (TELLING_KEYWORD.test(data.toString('latin1', 0, keywordEnd))) return 'position';
  const isPacked = type === 'zTXt' || (type === 'iTXt' && data[keywordEnd + 1] === 1);
  return isPacked ? 'other' : findXmpGps(data);
}

const APP1 = Buffer.from([0xff, 0xe1]);
const EXIF = Buffer.from('Exif\0', 'latin1');
const XMP = Buffer.from('http://ns.adobe.com/xap/1.0/\0', 'latin1');
/**
 * Extended XMP, for packets longer than a segment, behind the packet's digest, its length and the
 * part's offset.
 */
const EXTENDED_XMP = Buffer.from('http://ns.adobe.com/xmp/extension/\0', 'latin1');
const EXTENDED_HEAD_BYTES = 32 + 4 + 4;

/**
 * Searches segments in the whole file, since cameras append further pictures with GPS data of their
 * own. A marker cannot occur within the data of a picture (ITU-T T.81, B.1.1.5).
 * @param bytes changed in place; the length stays
 */
function removeJpegGps(bytes: Buffer): GpsFinding {
  const exif = listSegments(bytes, EXIF).map((segment) => segment.subarray(1));
  return getMostTellingGpsFinding(
    ...groupExif(exif).map(removeFromBlock),
    ...listSegments(bytes, XMP).map(blankXmpWithGps),
    removeFromExtended(listSegments(bytes, EXTENDED_XMP)),
  );
}

/** Returns the content behind the signature of each APP1 segment that begins with it. */
function listSegments(bytes: Buffer, signature: Buffer): Buffer[] {
  const segments: Buffer[] = [];
  for (let at = bytes.indexOf(signature); at !== -1; at = bytes.indexOf(signature, at + 1)) {
    if (at < 4 || !bytes.subarray(at - 4, at - 2).equals(APP1)) continue;
    const end = at - 2 + bytes.readUInt16BE(at - 2);
    if (end > at + signature.length) segments.push(bytes.subarray(at + signature.length, end));
  }
  return segments;
}

/** A segment without the head of a TIFF continues the block of the one before it. */
function groupExif(segments: readonly Buffer[]): Buffer[][] {
  const blocks: Buffer[][] = [];
  for (const segment of segments) {
    const last = blocks.at(-1);
    if (last === undefined || isTiff(segment)) blocks.push([segment]);
    else last.push(segment);
  }
  return blocks;
}

/** Changes a block in place that is stored in several parts, across whose borders values lie. */
function removeFromBlock(parts: readonly Buffer[]): GpsFinding {
  const whole = Buffer.concat(parts);
  const finding = removeTiffGps(whole);
  let from = 0;
  for (const part of parts) from += whole.copy(part, 0, from);
  return finding;
}

/** Blanks extended XMP where it has GPS data, also across the borders of its parts. */
function removeFromExtended(segments: readonly Buffer[]): GpsFinding {
  const parts = segments.map((segment) => segment.subarray(EXTENDED_HEAD_BYTES));
  const finding = blankXmpWithGps(Buffer.concat(parts));
  if (finding !== 'none') for (const part of parts) part.fill(0x20);
  return finding;
}
