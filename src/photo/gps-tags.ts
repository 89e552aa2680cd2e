/** TIFF 6.0 and EXIF 2.32: an EXIF block is a TIFF file without a picture. */
const GPS_POINTER = 0x8825;
const EXIF_POINTER = 0x8769;
const SUB_DIRECTORIES = 0x014a;
const XMP = 0x02bc;
const LATITUDE = 2;
const LONGITUDE = 4;
const DESTINATION_LATITUDE = 0x14;
const DESTINATION_LONGITUDE = 0x16;
const TELLING: readonly number[] = [
  LATITUDE,
  LONGITUDE,
  DESTINATION_LATITUDE,
  DESTINATION_LONGITUDE,
];
const LAST_GPS_TAG = 0x1f;
const BIG_TIFF = 43;
const ENTRY_BYTES = 12;
/** Bytes of one value, by type number. */
const TYPE_BYTES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4];
/** A file of many pages has a directory each; a damaged one may claim any number. */
const MAX_DIRECTORIES = 20_000;
/** Limit for a value of a GPS directory; a larger one is skipped as damaged. */
const MAX_VALUE_BYTES = 65_536;

type Reader = { readonly u16: (at: number) => number; readonly u32: (at: number) => number };
type Writer = { readonly setU16: (value: number, at: number) => void };
type Tiff = Reader & Writer & { readonly bytes: Buffer };

/**
 * Removes the GPS directories of a TIFF structure, their pointers, and the GPS properties of its
 * XMP. All other bytes stay, and so does the length.
 * @param bytes changed in place
 */
export function removeTiffGps(bytes: Buffer): GpsTrace {
  const tiff = openTiff(bytes);
  if (tiff === undefined) return NO_GPS;
  let trace = NO_GPS;
  const waiting = [tiff.u32(4)];
  const seen = new Set<number>();
  for (
    let at = waiting.pop();
    at !== undefined && seen.size < MAX_DIRECTORIES;
    at = waiting.pop()
  ) {
    if (at < 8 || at + 2 > bytes.length || seen.has(at)) continue;
    seen.add(at);
    trace = mergeTraces(trace, removeFromDirectory(tiff, at, waiting));
  }
  return trace;
}

export function isTiff(bytes: Buffer): boolean {
  return ['II*\0', 'MM\0*'].includes(bytes.toString('latin1', 0, 4));
}

/** Tags that locate the data of a picture: strips or tiles, and their lengths. */
const PICTURE_TAGS: readonly (readonly [offsets: number, lengths: number])[] = [
  [0x0111, 0x0117],
  [0x0144, 0x0145],
  [0x0201, 0x0202],
];

/** Tells if a directory or data of a picture are missing in a TIFF. */
export function isTiffDamaged(bytes: Buffer): boolean {
  const tiff = openTiff(bytes);
  if (tiff === undefined) return false;
  const seen = new Set<number>();
  let at = tiff.u32(4);
  let hasPicture = false;
  while (at !== 0 && !seen.has(at) && seen.size < MAX_DIRECTORIES) {
    seen.add(at);
    const next = at + 2 + (at + 2 > bytes.length ? 0 : tiff.u16(at)) * ENTRY_BYTES;
    if (next + 4 > bytes.length) return true;
    for (const [offsetTag, lengthTag] of PICTURE_TAGS) {
      const offsets = readNumbers(tiff, at, offsetTag);
      const lengths = readNumbers(tiff, at, lengthTag);
      if (offsets === undefined || lengths === undefined) return true;
      if (offsets.some((offset, index) => offset + (lengths[index] ?? 0) > bytes.length))
        return true;
      hasPicture ||= offsets.length > 0;
    }
    at = tiff.u32(next);
  }
  return !hasPicture;
}

/** Returns the numbers of a tag; undefined where they lie outside the file. */
function readNumbers(tiff: Tiff, at: number, wanted: number): number[] | undefined {
  const { bytes, u16, u32 } = tiff;
  for (let index = 0; index < countEntriesAt(tiff, at); index++) {
    const entry = at + 2 + index * ENTRY_BYTES;
    if (u16(entry) !== wanted) continue;
    const isShort = u16(entry + 2) === 3;
    const size = isShort ? 2 : 4;
    const count = u32(entry + 4);
    const from = count * size <= 4 ? entry + 8 : u32(entry + 8);
    if (from + count * size > bytes.length) return undefined;
    return Array.from({ length: count }, (_, each) => (isShort ? u16 : u32)(from + each * size));
  }
  return [];
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

/** Returns the number of entries in a directory; fewer than stated where the file is truncated. */
function countEntriesAt({ bytes, u16 }: Tiff, at: number): number {
  return Math.min(u16(at), Math.floor((bytes.length - at - 2) / ENTRY_BYTES));
}

function removeFromDirectory(tiff: Tiff, at: number, waiting: number[]): GpsTrace {
  const { bytes, u16, u32 } = tiff;
  let trace = NO_GPS;
  let count = countEntriesAt(tiff, at);
  // In a damaged file the GPS directory may overlap this one, so that clearing it changes the entry
  // count.
  let entryCount = u16(at);
  for (let index = 0; index < count; ) {
    const entry = at + 2 + index * ENTRY_BYTES;
    const tag = u16(entry);
    const value = u32(entry + 8);
    if (tag === GPS_POINTER) {
      trace = mergeTraces(trace, {
        found: true,
        tells: clearGpsDirectory(tiff, value),
        tellsOutsideExif: false,
      });
      const end = Math.min(bytes.length, at + 2 + entryCount * ENTRY_BYTES + 4);
      bytes.copyWithin(entry, entry + ENTRY_BYTES, end);
      bytes.fill(0, end - ENTRY_BYTES, end);
      count -= 1;
      entryCount -= 1;
      tiff.setU16(entryCount, at);
      continue;
    }
    if (tag === EXIF_POINTER) waiting.push(value);
    if (tag === SUB_DIRECTORIES) waiting.push(...listSubDirectories(tiff, entry));
    if (tag === XMP) trace = mergeTraces(trace, removeFromXmp(tiff, entry));
    index += 1;
  }
  const next = at + 2 + count * ENTRY_BYTES;
  if (entryCount === count && next + 4 <= bytes.length) waiting.push(u32(next));
  return trace;
}

/**
 * Overwrites a GPS directory, so that its data cannot be recovered. Values are overwritten only
 * where the directory is certainly one of GPS: in a damaged file the pointer may lead into the
 * picture.
 * @returns true if it held a position
 */
function clearGpsDirectory(tiff: Tiff, at: number): boolean {
  const { bytes, u16, u32 } = tiff;
  if (at < 8 || at + 2 > bytes.length) return false;
  const count = countEntriesAt(tiff, at);
  const entries = Array.from({ length: count }, (_, index) => at + 2 + index * ENTRY_BYTES);
  const isGps = (entry: number): boolean =>
    u16(entry) <= LAST_GPS_TAG && (TYPE_BYTES[u16(entry + 2)] ?? 0) > 0;
  if (count === 0 || count > LAST_GPS_TAG + 1 || !entries.every(isGps)) return false;
  const tells = entries.some((entry) => TELLING.includes(u16(entry)));
  for (const entry of entries) {
    const lengthBytes = (TYPE_BYTES[u16(entry + 2)] ?? 0) * u32(entry + 4);
    const value = u32(entry + 8);
    if (lengthBytes > 4 && lengthBytes <= MAX_VALUE_BYTES && value >= 8 && value < bytes.length)
      bytes.fill(0, value, Math.min(bytes.length, value + lengthBytes));
  }
  bytes.fill(0, at, at + 2 + count * ENTRY_BYTES);
  return tells;
}

function listSubDirectories({ bytes, u32 }: Tiff, entry: number): number[] {
  const count = u32(entry + 4);
  if (count === 1) return [u32(entry + 8)];
  const at = u32(entry + 8);
  const there = Math.max(0, Math.min(count, 64, Math.floor((bytes.length - at) / 4)));
  return Array.from({ length: there }, (_, index) => u32(at + index * 4));
}

function removeFromXmp({ bytes, u32 }: Tiff, entry: number): GpsTrace {
  const count = u32(entry + 4);
  const at = u32(entry + 8);
  return at < 8 || at >= bytes.length ? NO_GPS : removeXmpGps(bytes.subarray(at, at + count));
}

/** GPS data that were found in a photograph and removed. */
export type GpsTrace = {
  /** GPS data of any kind were present, even only the version. */
  readonly found: boolean;
  /** A latitude or a longitude was present. */
  readonly tells: boolean;
  /** A position was outside EXIF, the only source from which the service reads one. */
  readonly tellsOutsideExif: boolean;
};

export const NO_GPS: GpsTrace = { found: false, tells: false, tellsOutsideExif: false };

export function mergeTraces(...traces: readonly GpsTrace[]): GpsTrace {
  return {
    found: traces.some(({ found }) => found),
    tells: traces.some(({ tells }) => tells),
    tellsOutsideExif: traces.some(({ tellsOutsideExif }) => tellsOutsideExif),
  };
}

/**
 * Names of position properties in XMP with any prefix: those of EXIF and of drone makers, one of
 * whom misspells it.
 */
const NAME = String.raw`[\w.-]+:(?:gps\w*|latitude|longitude|longtitude)`;
const ATTRIBUTE = new RegExp(
  String.raw`[ \t\r\n]${NAME}[ \t\r\n]*=[ \t\r\n]*(?:"[^"]*"|'[^']*')`,
  'gi',
);
const ELEMENT = new RegExp(`<(${NAME})(?=[ \\t\\r\\n/>])`, 'gi');
const XMP_TELLING = /l(?:at|ong)i?t/i;
/** "GPS" in UTF-16 of either byte order. */
const WIDE = /G\0P\0S\0/i;

/**
 * Overwrites the GPS properties of an XMP packet with blanks.
 * @param packet changed in place; its length stays
 */
export function removeXmpGps(packet: Buffer): GpsTrace {
  // Latin-1 maps each byte to one character, so offsets in the text are offsets in the packet.
  const text = packet.toString('latin1');
  if (WIDE.test(text)) {
    packet.fill(0x20);
    return { found: true, tells: true, tellsOutsideExif: true };
  }
  if (!/gps|titude/i.test(text)) return NO_GPS;
  const spans = [...findAttributeSpans(text), ...findElementSpans(text)];
  for (const [start, end] of spans) packet.fill(0x20, start, end);
  const tells = spans.some(([start]) => XMP_TELLING.test(text.slice(start, start + 60)));
  return { found: spans.length > 0, tells, tellsOutsideExif: tells };
}

const PACKET_START = '<x:xmpmeta';
const PACKET_END = '</x:xmpmeta>';

/** Tells if an XMP packet anywhere in a file has a position. */
export function hasXmpPlace(file: Buffer): boolean {
  for (let at = file.indexOf(PACKET_START); at !== -1; at = file.indexOf(PACKET_START, at + 1)) {
    const end = file.indexOf(PACKET_END, at);
    if (removeXmpGps(Buffer.from(file.subarray(at, end === -1 ? undefined : end))).tells)
      return true;
  }
  return false;
}

type Span = readonly [start: number, end: number];

function findAttributeSpans(text: string): Span[] {
  return [...text.matchAll(ATTRIBUTE)].map((match) => [match.index, match.index + match[0].length]);
}

function findElementSpans(text: string): Span[] {
  const spans: Span[] = [];
  ELEMENT.lastIndex = 0;
  for (let match = ELEMENT.exec(text); match !== null; match = ELEMENT.exec(text)) {
    const end = findEndOfElement(text, match.index, match[1] ?? '');
    spans.push([match.index, end ?? text.length]);
    // The element is truncated, so the rest of the packet belongs to it.
    if (end === undefined) break;
    ELEMENT.lastIndex = end;
  }
  return spans;
}

function findEndOfElement(text: string, start: number, name: string): number | undefined {
  const opened = text.indexOf('>', start);
  if (opened === -1) return undefined;
  if (text[opened - 1] === '/') return opened + 1;
  const closing = text.indexOf(`</${name}`, opened);
  const closed = closing === -1 ? -1 : text.indexOf('>', closing);
  return closed === -1 ? undefined : closed + 1;
}
