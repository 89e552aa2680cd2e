/** A JPEG file (ITU-T T.81, annex B) as far as it matters here: which parts of it are picture. */

const APP0 = 0xe0;
const APP14_ADOBE = 0xee;
const APP15 = 0xef;
const COMMENT = 0xfe;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
/** Frame headers; between them stand tables. */
const FRAMES: readonly number[] = [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf];

type BareJpeg = { readonly bytes: Buffer; readonly widthPx: number; readonly heightPx: number };

/**
 * The picture alone: no EXIF with its place, no XMP, no comment, no second picture, nothing behind the end. What says how colours
 * are kept stays.
 * @returns undefined where it is no JPEG, or one that is cut off
 */
export function bareJpeg(bytes: Buffer): BareJpeg | undefined {
  if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8) return undefined;
  const kept: Buffer[] = [bytes.subarray(0, 2)];
  let size: { readonly widthPx: number; readonly heightPx: number } | undefined;
  for (let at = 2; at + 1 < bytes.length; ) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return undefined;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) {
      kept.push(bytes.subarray(at, at + 2));
      return size === undefined ? undefined : { bytes: Buffer.concat(kept), ...size };
    }
    if (at + 4 > bytes.length) return undefined;
    const end = at + 2 + bytes.readUInt16BE(at + 2);
    if (end > bytes.length) return undefined;
    if (FRAMES.includes(marker) && end - at >= 9)
      size = { heightPx: bytes.readUInt16BE(at + 5), widthPx: bytes.readUInt16BE(at + 7) };
    const next = marker === START_OF_SCAN ? endOfScan(bytes, end) : end;
    const isMetadata = marker === COMMENT || (marker >= APP0 && marker <= APP15 && marker !== APP14_ADOBE);
    if (!isMetadata) kept.push(bytes.subarray(at, next));
    at = next;
  }
  return undefined;
}

/** Where the next marker stands that is not part of the data. */
function endOfScan(bytes: Buffer, from: number): number {
  for (let at = from; at + 1 < bytes.length; at++) {
    const next = bytes[at + 1] ?? 0;
    if (bytes[at] === 0xff && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return bytes.length;
}
