import { constants, open } from 'node:fs/promises';
import type { ExpandedTags } from 'exifreader';
import { getErrorMessage } from '../base/errors.ts';
import { makeRuleProblem, type Reading } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { isRealDate } from '../finds/parse-cell.ts';
import { findRangeProblem, formatDegrees, type Point } from '../finds/place/geometry.ts';
import type { Position } from '../finds/place/read-position.ts';

/** EXIF data of a picture that concern finds. */
export type PhotoExif = {
  /** Longitude and latitude, WGS 84. */
  readonly position?: Point | undefined;
  /** The camera's day, YYYY-MM-DD. */
  readonly takenOn?: string | undefined;
};

/** EXIF is near the beginning of a file; a HEIC of a phone has it within the first megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads position and day from the first {@link MAX_BYTES} of a file; as {@link parsePhotoExif}.
 * @throws Error of the system where the file cannot be opened or read
 */
export async function readPhotoExif(path: string): Promise<PhotoExif> {
  // Without O_NONBLOCK opening a pipe would block until a process writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, MAX_BYTES)), 0);
    return await parsePhotoExif(buffer.subarray(0, bytesRead));
  } finally {
    await file.close();
  }
}

/**
 * Parses the EXIF position of a picture, and the day on which it was taken; each is absent where
 * the picture lacks it, and both where the bytes are no picture. Nothing is thrown.
 */
export async function parsePhotoExif(bytes: Buffer): Promise<PhotoExif> {
  const tags = await parseExifTags(bytes);
  if (tags === undefined) return {};
  return { position: getPosition(tags), takenOn: getDay(tags) };
}

function getPosition({ gps }: ExpandedTags): Point | undefined {
  const { Longitude: longitude, Latitude: latitude } = gps ?? {};
  if (longitude === undefined || latitude === undefined || !Number.isFinite(longitude + latitude))
    return undefined;
  return [longitude, latitude];
}

/** Returns the day of the exposure, not of the last change; undefined for a clock never set. */
function getDay({ exif }: ExpandedTags): string | undefined {
  return ['DateTimeOriginal' as const, 'DateTimeDigitized' as const]
    .map((tag) => (exif?.[tag]?.description ?? '').slice(0, 10).replaceAll(':', '-'))
    .find((day) => isRealDate(day) && day >= '1990');
}

/**
 * Parses the tags of a picture; undefined where it is no picture, or has no tags. Silences the
 * console while the library runs.
 */
async function parseExifTags(bytes: Buffer): Promise<ExpandedTags | undefined> {
  const { default: reader } = await import('exifreader');
  const { warn } = console;
  try {
    // The library reports oddities of a picture on the console, where they tell a person nothing.
    console.warn = () => {};
    return reader.load(bytes, { expanded: true });
  } catch {
    return undefined;
  } finally {
    console.warn = warn;
  }
}

/**
 * Reads the EXIF position of a photograph, in WGS 84 to a centimetre. Unreadable where the file
 * cannot be read (rule `photo-unreadable`), and where the position is absent or outside the range
 * of the service (`photo-position`); the problem has the path. Nothing is thrown.
 */
export async function readPhotoPosition(path: string): Promise<Reading<Position>> {
  let exif: PhotoExif;
  try {
    exif = await readPhotoExif(path);
  } catch (thrown) {
    const problem = getErrorMessage(thrown);
    return makeRuleProblem('photo-unreadable', msg`${path} cannot be read: ${problem}`);
  }
  if (exif.position === undefined) {
    return makeRuleProblem(
      'photo-position',
      msg`${path} contains no position. Type the coordinates.`,
    );
  }
  const [longitude, latitude] = exif.position;
  const range = findRangeProblem('4326', longitude, latitude);
  if (range !== undefined)
    return makeRuleProblem('photo-position', msg`${path} contains an invalid position: ${range}`);
  return {
    value: { system: '4326', point: { x: formatDegrees(longitude), y: formatDegrees(latitude) } },
  };
}

/** TIFF 6.0 and EXIF 2.32: an EXIF block is a TIFF file without a picture. */
const GPS_POINTER = 0x8825;
const EXIF_POINTER = 0x8769;
const XMP = 0x02bc;
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
export function removeTiffGps(bytes: Buffer): GpsFinding {
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
export function isTiff(bytes: Buffer): boolean {
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
    ...entries.filter(({ tag }) => tag === XMP).map((entry) => removeFromXmp(tiff, entry)),
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

/**
 * GPS data that were found in a photograph and removed, the most telling last: `other` without a
 * position, such as only the version, or a text that cannot be read.
 */
const FINDINGS = ['none', 'other', 'position'] as const;
/** Result of reading the GPS data of a photograph; see {@link FINDINGS}. */
export type GpsFinding = (typeof FINDINGS)[number];

/** Returns the finding that comes last in the order of {@link FINDINGS}; `none` without any. */
export function getMostTellingGpsFinding(...findings: readonly GpsFinding[]): GpsFinding {
  return FINDINGS.findLast((each) => findings.includes(each)) ?? 'none';
}

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
export function findXmpGps(packet: Buffer): GpsFinding {
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
export function blankXmpWithGps(packet: Buffer): GpsFinding {
  const finding = findXmpGps(packet);
  if (finding !== 'none') packet.fill(0x20);
  return finding;
}
