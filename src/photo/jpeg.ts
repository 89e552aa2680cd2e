/** Structure of a JPEG file (ITU-T T.81, annex B). */

const START_OF_IMAGE = Buffer.from([0xff, 0xd8, 0xff]);
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

/** `end`: behind the picture, or where it cannot be followed. */
type Walk = { readonly kind: 'whole' | 'cut-off' | 'malformed'; readonly end: number };

/** Follows the parts of one picture; the data of a scan belong to its header. */
function walkPicture(
  bytes: Buffer,
  from: number,
  onPart: (marker: number, start: number, end: number) => void,
): Walk {
  let at = from + 2;
  while (at + 1 < bytes.length) {
    const marker = bytes[at + 1] ?? 0;
    if (bytes[at] !== 0xff) return { kind: 'malformed', end: at };
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (marker === END_OF_IMAGE) return { kind: 'whole', end: at + 2 };
    if (at + 4 > bytes.length) break;
    const headEnd = at + 2 + bytes.readUInt16BE(at + 2);
    const end = marker === START_OF_SCAN ? findEndOfScan(bytes, headEnd) : headEnd;
    if (end > bytes.length) break;
    onPart(marker, at, end);
    at = end;
  }
  return { kind: 'cut-off', end: bytes.length };
}

/** Returns the position of the next marker that is not part of the scan data. */
function findEndOfScan(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const next = bytes[at + 1] ?? 0;
    if (next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
  }
  return Math.max(from, bytes.length);
}

export type JpegContents = {
  readonly isCutOff: boolean;
  /** Whole pictures, one behind another: cameras append stereo pictures, previews and depths. */
  readonly pictures: number;
  /** Where these pictures end. */
  readonly end: number;
};

export function describeJpeg(bytes: Buffer): JpegContents {
  const first = walkPicture(bytes, 0, () => {});
  let pictures = 1;
  let last = first;
  while (last.kind === 'whole') {
    const at = bytes.indexOf(START_OF_IMAGE, last.end);
    const next = at === -1 ? undefined : walkPicture(bytes, at, () => {});
    if (next?.kind !== 'whole') break;
    pictures += 1;
    last = next;
  }
  return { isCutOff: first.kind === 'cut-off', pictures, end: last.end };
}

type BareJpeg = { readonly bytes: Buffer; readonly widthPx: number; readonly heightPx: number };

/**
 * Reduces a JPEG to the picture: without EXIF and its GPS data, XMP, comments, further pictures,
 * and data behind the end. Segments that describe the colours stay.
 * @returns undefined where it is no JPEG, or a truncated one
 */
export function reduceJpeg(bytes: Buffer): BareJpeg | undefined {
  if (!bytes.subarray(0, 2).equals(START_OF_IMAGE.subarray(0, 2))) return undefined;
  const keptParts: Buffer[] = [bytes.subarray(0, 2)];
  let size: { readonly widthPx: number; readonly heightPx: number } | undefined;
  const { kind, end } = walkPicture(bytes, 0, (marker, start, partEnd) => {
    if (FRAMES.includes(marker) && partEnd - start >= 9)
      size = { heightPx: bytes.readUInt16BE(start + 5), widthPx: bytes.readUInt16BE(start + 7) };
    const isMetadata =
      marker === COMMENT || (marker >= APP0 && marker <= APP15 && marker !== APP14_ADOBE);
    if (!isMetadata) keptParts.push(bytes.subarray(start, partEnd));
  });
  if (kind !== 'whole' || size === undefined) return undefined;
  return { bytes: Buffer.concat([...keptParts, bytes.subarray(end - 2, end)]), ...size };
}
