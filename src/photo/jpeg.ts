/** Structure of a JPEG file (ITU-T T.81, annex B). */

const APP0 = 0xe0;
const APP14_ADOBE = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Markers of frame headers; tables stand between them. */
const FRAMES: readonly number[] = [
  0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf,
];

type BareJpeg = { readonly bytes: Buffer; readonly widthPx: number; readonly heightPx: number };

/**
 * Reduces a JPEG to the picture: without EXIF and its GPS data, XMP, comments, further pictures,
 * and data behind the end. Segments that describe the colours stay.
 * @returns undefined where it is no JPEG, or a truncated one
 */
export function reduceJpeg(bytes: Buffer): BareJpeg | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  const keptParts: Buffer[] = [bytes.subarray(0, 2)];
  let size: { readonly widthPx: number; readonly heightPx: number } | undefined;
  for (let at = 2; at + 1 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return undefined;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) {
      keptParts.push(bytes.subarray(at, at + 2));
      return size === undefined ? undefined : { bytes: Buffer.concat(keptParts), ...size };
    }
    if (at + 4 > bytes.length) return undefined;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) return undefined;
    if (FRAMES.includes(marker) && end - at >= 9)
      size = { heightPx: bytes.readUInt16BE(at + 5), widthPx: bytes.readUInt16BE(at + 7) };
    const next = marker === START_OF_SCAN ? findEndOfScan(bytes, end) : end;
    const isMetadata =
      marker === COMMENT || (marker >= APP0 && marker <= APP15 && marker !== APP14_ADOBE);
    if (!isMetadata) keptParts.push(bytes.subarray(at, next));
    at = next;
  }
  return undefined;
}

/** Returns the position of the next marker that is not part of the scan data. */
function findEndOfScan(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const next = bytes[at + 1] ?? 0;
    if (bytes[at] === 0xff && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}
