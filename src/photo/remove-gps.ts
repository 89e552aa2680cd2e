import { createHash } from 'node:crypto';
import {
  type GpsFinding,
  getMostTelling,
  hasXmpPlace,
  isTiff,
  removeTiffGps,
  removeXmpGps,
} from './gps-tags.ts';
import { parsePhotoExif } from './photo-exif.ts';
import { removePngGps, type WithoutGps } from './png.ts';

/** Types from which pas can remove GPS data; HEIC and HEIF are left as they are. */
const STRIPPABLE: readonly string[] = ['image/jpeg', 'image/png', 'image/tiff'];

/**
 * Removes GPS data from a photograph: the GPS directory of EXIF with its pointer, and the GPS
 * properties of XMP. All other bytes stay: the picture, its orientation, its time. The result is
 * deterministic. Maker notes are not searched, nor a video behind the picture, with which
 * `--strip-gps` refuses a photograph.
 * @param bytes may be changed
 */
export function removeGps(bytes: Buffer, mediaType: string): WithoutGps {
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
  return getMostTelling(
    ...groupExif(exif).map(removeFromBlock),
    ...listSegments(bytes, XMP).map(removeXmpGps),
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

/** Blanks extended XMP as a whole where it has GPS data: its digest would not fit a part of it. */
function removeFromExtended(segments: readonly Buffer[]): GpsFinding {
  const parts = segments.map((segment) => segment.subarray(EXTENDED_HEAD_BYTES));
  const finding = removeXmpGps(Buffer.concat(parts));
  if (finding !== 'none') for (const part of parts) part.fill(0x20);
  return finding;
}

/** GPS data of a photograph, and whether pas can remove them. */
export type PhotoGps =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'removable';
      readonly finding: GpsFinding;
      /** Checksum and size of the photograph without GPS data. */
      readonly without: { readonly sha512: Buffer; readonly sizeBytes: number };
    }
  /** A place that pas cannot remove, or data that it cannot search for one. */
  | { readonly kind: 'fixed' | 'unknown' };

/** @param bytes may be changed */
export async function detectGps(bytes: Buffer, mediaType: string): Promise<PhotoGps> {
  if (!STRIPPABLE.includes(mediaType)) {
    const hasPlace = (await parsePhotoExif(bytes)).place !== undefined || hasXmpPlace(bytes);
    return { kind: hasPlace ? 'fixed' : 'unknown' };
  }
  const { finding, parts } = removeGps(bytes, mediaType);
  if (finding === 'none') return { kind: 'none' };
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  const sizeBytes = parts.reduce((sum, { length }) => sum + length, 0);
  return { kind: 'removable', finding, without: { sha512: hash.digest(), sizeBytes } };
}
