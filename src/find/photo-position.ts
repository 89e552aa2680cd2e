import { messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { findRangeProblem } from './geometry.ts';
import { type PhotoExif, readPhotoExif } from './photo-exif.ts';
import type { Position } from './read-position.ts';
import { type Reading, unreadable } from './reading.ts';

/** Where a photograph was taken, as its GPS data say. */
export async function readPhotoPosition(path: string): Promise<Reading<Position>> {
  let exif: PhotoExif;
  try {
    exif = await readPhotoExif(path);
  } catch (thrown) {
    const problem = messageOf(thrown);
    return unreadable('photo-unreadable', t`${path} cannot be read: ${problem}`);
  }
  if (exif.place === undefined) {
    return unreadable('photo-position', t`${path} says nothing of where it was taken. Type the coordinates.`);
  }
  const { longitude, latitude } = exif.place;
  const range = findRangeProblem('4326', longitude, latitude);
  if (range !== undefined) return unreadable('photo-position', t`${path} has a strange position: ${range}`);
  return { value: { system: '4326', point: { x: digits(longitude), y: digits(latitude) } } };
}

function digits(degrees: number): string {
  return degrees.toFixed(7).replace(/\.?0+$/, '');
}
