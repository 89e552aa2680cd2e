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
