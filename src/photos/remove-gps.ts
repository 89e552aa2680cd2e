import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { parsePhotoExif } from './photo-exif.ts';

/**
 * GPS data that were found in a photograph and removed, the most telling last: `other` without a
 * position, such as only the version, or a text that cannot be read.
 */
const FINDINGS = ['none', 'other', 'position'] as const;
/** Result of reading the GPS data of a photograph; see {@link FINDINGS}. */
type GpsFinding = (typeof FINDINGS)[number];

/** Returns the finding that comes last in the order of {@link FINDINGS}; `none` without any. */
function getMostTellingGpsFinding(...findings: readonly GpsFinding[]): GpsFinding {
  return FINDINGS.findLast((each) => findings.includes(each)) ?? 'none';
}

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

// Directories of a TIFF file (TIFF 6.0 and EXIF 2.32): an EXIF block is one without a picture.

const GPS_POINTER = 0x8825;
const EXIF_POINTER = 0x8769;
const XMP_TAG = 0x02bc;
/** Tags of latitude and longitude, and those of the destination. */
const TELLING: readonly number[] = [0x02, 0x04, 0x14, 0x16];
const LAST_GPS_TAG = 0x1f;
const BIG_TIFF = 43;
const ENTRY_BYTES = 12;
/** Bytes of one value, by type number. */
const TYPE_BYTES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
/** A file of many pages has a directory each; a damaged one may claim any number. */
const MAX_DIRECTORIES = 20_000;
/** Limit for a value of a GPS directory; a larger one is skipped as damaged. */
const MAX_VALUE_BYTES = 65_536;

type Tiff = {
  readonly bytes: Buffer;
  readonly u16: (at: number) => number;
  readonly u32: (at: number) => number;
  readonly setU16: (value: number, at: number) => void;
};

/**
 * An entry of a directory. `value` is the value itself where it has four bytes, else its offset.
 */
type Entry = {
  readonly at: number;
  readonly tag: number;
  readonly type: number;
  readonly count: number;
  readonly value: number;
};

/**
 * Removes from a TIFF structure, such as an EXIF block, the GPS directories with their pointers,
 * and XMP that has GPS properties. All other bytes stay, and so does the length.
 * @param bytes changed in place
 * @returns the most telling finding of what was removed; `none` also for bytes that are no TIFF,
 * and for a BigTIFF
 */
function removeTiffGps(bytes: Buffer): GpsFinding {
  const tiff = openTiff(bytes);
  if (tiff === undefined) return 'none';
  let finding: GpsFinding = 'none';
  const waiting = [tiff.u32(4)];
  const seen = new Set<number>();
  for (
    let at = waiting.pop();
    at !== undefined && seen.size < MAX_DIRECTORIES;
    at = waiting.pop()
  ) {
    if (at < 8 || at + 2 > bytes.length || seen.has(at)) continue;
    seen.add(at);
    finding = getMostTellingGpsFinding(finding, removeFromDirectory(tiff, at, waiting));
  }
  return finding;
}

/** Tells if bytes begin as a TIFF of either byte order, or as many raw images of cameras, does. */
function isTiff(bytes: Buffer): boolean {
  return ['II*\0', 'MM\0*'].includes(bytes.toString('latin1', 0, 4));
}

function openTiff(bytes: Buffer): Tiff | undefined {
  if (bytes.length < 8) return undefined;
  const order = bytes.toString('latin1', 0, 2);
  if (order !== 'II' && order !== 'MM') return undefined;
  const little = order === 'II';
  const tiff: Tiff = {
    bytes,
    u16: (at) => (little ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at)),
    u32: (at) => (little ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at)),
    setU16: (value, at) =>
      void (little ? bytes.writeUInt16LE(value, at) : bytes.writeUInt16BE(value, at)),
  };
  // Readers do not insist on the version number. BigTIFF has another layout.
  return tiff.u16(2) === BIG_TIFF ? undefined : tiff;
}

/** Lists the entries of a directory; fewer than stated where the file is truncated. */
function listEntries({ bytes, u16, u32 }: Tiff, directory: number): Entry[] {
  const count = Math.min(u16(directory), Math.floor((bytes.length - directory - 2) / ENTRY_BYTES));
  return Array.from({ length: count }, (_, index) => {
    const at = directory + 2 + index * ENTRY_BYTES;
    return { at, tag: u16(at), type: u16(at + 2), count: u32(at + 4), value: u32(at + 8) };
  });
}

/** Returns the offset of the next directory, 0 behind the last; undefined where it is truncated. */
function findNextDirectory({ bytes, u16, u32 }: Tiff, directory: number): number | undefined {
  if (directory + 2 > bytes.length) return undefined;
  const end = directory + 2 + u16(directory) * ENTRY_BYTES;
  return end + 4 > bytes.length ? undefined : u32(end);
}

/**
 * Removes the GPS data of one directory.
 * @param waiting receives the offsets of the directories to which this one leads, to be visited
 * later
 */
function removeFromDirectory(tiff: Tiff, directory: number, waiting: number[]): GpsFinding {
  // In a damaged file this directory may overlap the GPS directory. So all of it is read before
  // anything is cleared, and all is cleared before entries move.
  const count = tiff.u16(directory);
  const entries = listEntries(tiff, directory);
  const next = findNextDirectory(tiff, directory);
  const pointers = entries.filter(({ tag }) => tag === GPS_POINTER);
  const findings = [
    ...pointers.map(({ value }) => clearGpsDirectory(tiff, value)),
    ...entries.filter(({ tag }) => tag === XMP_TAG).map((entry) => removeFromXmp(tiff, entry)),
  ];
  if (pointers.length > 0) removeEntries(tiff, directory, count, pointers);
  for (const { tag, value } of entries) if (tag === EXIF_POINTER) waiting.push(value);
  if (next !== undefined) waiting.push(next);
  return getMostTellingGpsFinding(...findings);
}

/**
 * Removes entries, the last first, and moves up what follows with the offset of the next directory.
 */
function removeEntries(
  { bytes, setU16 }: Tiff,
  directory: number,
  count: number,
  entries: readonly Entry[],
): void {
  let remaining = count;
  for (const { at } of entries.toReversed()) {
    const end = Math.min(bytes.length, directory + 2 + remaining * ENTRY_BYTES + 4);
    bytes.copyWithin(at, at + ENTRY_BYTES, end);
    bytes.fill(0, end - ENTRY_BYTES, end);
    remaining -= 1;
  }
  setU16(remaining, directory);
}

/**
 * Overwrites a GPS directory, so that its data cannot be recovered. Values are overwritten only
 * where the directory is certainly one of GPS: in a damaged file the pointer may lead into the
 * picture.
 */
function clearGpsDirectory(tiff: Tiff, directory: number): 'other' | 'position' {
  const { bytes } = tiff;
  if (directory < 8 || directory + 2 > bytes.length) return 'other';
  const entries = listEntries(tiff, directory);
  const isGps = ({ tag, type }: Entry): boolean =>
    tag <= LAST_GPS_TAG && (TYPE_BYTES[type] ?? 0) > 0;
  if (entries.length === 0 || entries.length > LAST_GPS_TAG + 1 || !entries.every(isGps))
    return 'other';
  for (const { type, count, value } of entries) {
    const lengthBytes = (TYPE_BYTES[type] ?? 0) * count;
    if (lengthBytes > 4 && lengthBytes <= MAX_VALUE_BYTES && value >= 8 && value < bytes.length)
      bytes.fill(0, value, Math.min(bytes.length, value + lengthBytes));
  }
  bytes.fill(0, directory, directory + 2 + entries.length * ENTRY_BYTES);
  return entries.some(({ tag }) => TELLING.includes(tag)) ? 'position' : 'other';
}

function removeFromXmp({ bytes }: Tiff, { count, value }: Entry): GpsFinding {
  return value < 8 || value >= bytes.length
    ? 'none'
    : blankXmpWithGps(bytes.subarray(value, value + count));
}

// XMP packets.

/**
 * A GPS property of XMP under any prefix: those of EXIF and of drone makers, one of whom misspells
 * it.
 */
const XMP_PROPERTY = /[\s<][\w.-]+:(gps\w*|latitude|longitude|longtitude)(?=[\s=/>]|$)/gi;
const XMP_TELLING = /l(?:at|ong)i?t/i;
/** "GPS" in UTF-16 of either byte order. */
const WIDE = /G\0P\0S\0/i;

/**
 * Tells what GPS properties an XMP packet has, or a file with one: `position` with a latitude or
 * longitude, `other` with further ones only. "GPS" anywhere in UTF-16 counts as `position`.
 */
function findXmpGps(packet: Buffer): GpsFinding {
  const text = packet.toString('latin1');
  if (WIDE.test(text)) return 'position';
  const names = Array.from(text.matchAll(XMP_PROPERTY), ([, name = '']) => name);
  if (names.length === 0) return 'none';
  return names.some((name) => XMP_TELLING.test(name)) ? 'position' : 'other';
}

/**
 * Overwrites the whole of an XMP packet with blanks where it has GPS properties, so that no reader
 * finds any in it.
 * @param packet changed in place; its length stays
 * @returns the finding of {@link findXmpGps}; `none` where nothing was changed
 */
function blankXmpWithGps(packet: Buffer): GpsFinding {
  const finding = findXmpGps(packet);
  if (finding !== 'none') packet.fill(0x20);
  return finding;
}
