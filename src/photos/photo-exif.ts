import { constants, open } from 'node:fs/promises';
import type { ExpandedTags } from 'exifreader';
import { getErrorMessage } from '../base/errors.ts';
import { makeUnreadable, type Reading } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { findRangeProblem, formatDegrees, type Point } from '../finds/place/geometry.ts';
import type { Position } from '../finds/place/read-position.ts';

/** EXIF data of a picture that concern finds. */
export type PhotoExif = {
  /** Longitude and latitude, WGS 84. */
  readonly place?: Point;
  /** The camera's day, YYYY-MM-DD. */
  readonly takenOn?: string;
  /** Milliseconds since 1970 UTC. */
  readonly takenMs?: number;
};

/** EXIF is near the beginning of a file; a HEIC of a phone has it within the first megabytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Reads EXIF; empty where the file has none.
 * @throws Error when it cannot be read
 */
export async function readPhotoExif(path: string): Promise<PhotoExif> {
  return parsePhotoExif((await readBeginning(path, MAX_BYTES)).bytes);
}

export async function parsePhotoExif(bytes: Buffer): Promise<PhotoExif> {
  const tags = await parseExifTags(bytes);
  return tags === undefined ? {} : { ...getPlace(tags), ...getTakenAt(tags) };
}

/** Reads the first bytes of a file. */
export async function readBeginning(
  path: string,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly size: number }> {
  // Without O_NONBLOCK opening a pipe would block until a process writes to it.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size } = await file.stat();
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, maxBytes)), 0);
    return { bytes: buffer.subarray(0, bytesRead), size };
  } finally {
    await file.close();
  }
}

function getPlace({ gps }: ExifTags): PhotoExif {
  const { Longitude: longitude, Latitude: latitude } = gps ?? {};
  if (longitude === undefined || latitude === undefined || !Number.isFinite(longitude + latitude))
    return {};
  return { place: [longitude, latitude] };
}

/** Tags of the exposure, not of the last change: a time, and the offset of the clock from UTC. */
const TIMES = [
  ['DateTimeOriginal', 'OffsetTimeOriginal'],
  ['DateTimeDigitized', 'OffsetTimeDigitized'],
] as const;

/** Returns when it was taken. A time without an offset is taken in this machine's zone. */
function getTakenAt({ exif }: ExifTags): PhotoExif {
  for (const [time, offset] of TIMES) {
    const local = parseExifTime(exif?.[time]?.description);
    if (local === undefined) continue;
    const zone = parseOffset(exif?.[offset]?.description);
    return { takenOn: local.slice(0, 10), takenMs: Date.parse(`${local}${zone}`) };
  }
  return {};
}

/** Parses `2024:05:06 07:08:09`; undefined for a clock that was never set. */
function parseExifTime(text: string | undefined): string | undefined {
  const match = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text ?? '');
  if (match === null) return undefined;
  const [, year = '', month = '', day = '', hour = '', minute = '', second = ''] = match;
  const local = `${year}-${month}-${day}T${hour}:${minute}:${second}`;
  return Number(year) < 1990 || !isTime(local) ? undefined : local;
}

function isTime(local: string): boolean {
  const time = Date.parse(`${local}Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(local);
}

/** Parses `+02:00` or `Z`; empty for anything else. */
function parseOffset(text: string | undefined): string {
  return /^(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)/.exec(text ?? '')?.[0] ?? '';
}

type ExifTags = ExpandedTags;

/** Parses the tags of a picture; undefined where it is no picture, or has no tags. */
export async function parseExifTags(bytes: Buffer): Promise<ExifTags | undefined> {
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
 * Reads the EXIF position in WGS 84; unreadable where the file is, or where the position is absent
 * or out of range.
 */
export async function readPhotoPosition(path: string): Promise<Reading<Position>> {
  let exif: PhotoExif;
  try {
    exif = await readPhotoExif(path);
  } catch (thrown) {
    const problem = getErrorMessage(thrown);
    return makeUnreadable('photo-unreadable', msg`${path} cannot be read: ${problem}`);
  }
  if (exif.place === undefined) {
    return makeUnreadable(
      'photo-position',
      msg`${path} contains no position. Type the coordinates.`,
    );
  }
  const [longitude, latitude] = exif.place;
  const range = findRangeProblem('4326', longitude, latitude);
  if (range !== undefined)
    return makeUnreadable('photo-position', msg`${path} contains an invalid position: ${range}`);
  return {
    value: { system: '4326', point: { x: formatDegrees(longitude), y: formatDegrees(latitude) } },
  };
}
