import { open } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { findRangeProblem } from './geometry.ts';
import type { Position } from './read-position.ts';
import { type Reading, unreadable } from './reading.ts';

/** What a camera writes about a picture stands near its beginning; a HEIC from a telephone has it within the first megabytes. */
const MOST_BYTES = 32 * 1024 * 1024;

/** Where a photograph was taken, as its GPS data say. */
export async function readPhotoPosition(path: string): Promise<Reading<Position>> {
  let bytes: Buffer;
  try {
    bytes = await beginningOf(path);
  } catch (thrown) {
    const problem = messageOf(thrown);
    return unreadable('photo-unreadable', t`${path} cannot be read: ${problem}`);
  }
  const found = await gpsOf(bytes);
  if (found === undefined) {
    return unreadable('photo-position', t`${path} says nothing of where it was taken. Type the coordinates.`);
  }
  const { longitude, latitude } = found;
  const range = findRangeProblem('4326', longitude, latitude);
  if (range !== undefined) return unreadable('photo-position', t`${path} has a strange position: ${range}`);
  return { value: { system: '4326', point: { x: digits(longitude), y: digits(latitude) } } };
}

async function beginningOf(path: string): Promise<Buffer> {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const buffer = Buffer.alloc(Math.min(size, MOST_BYTES));
    const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function gpsOf(bytes: Buffer): Promise<{ readonly longitude: number; readonly latitude: number } | undefined> {
  const { default: reader } = await import('exifreader');
  try {
    const { gps } = reader.load(bytes, { expanded: true });
    const { Longitude: longitude, Latitude: latitude } = gps ?? {};
    if (longitude === undefined || latitude === undefined || !Number.isFinite(longitude + latitude)) return undefined;
    return { longitude, latitude };
  } catch {
    // No picture, or one without anything beside the picture.
    return undefined;
  }
}

function digits(degrees: number): string {
  return degrees.toFixed(7).replace(/\.?0+$/, '');
}
