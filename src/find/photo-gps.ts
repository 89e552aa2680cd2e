import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { canRemoveGps, removeGps } from './gps/remove-gps.ts';
import { readPhotoExif } from './photo-exif.ts';

/** What a photograph says of where it was taken, and whether that can be taken out of it here. */
export type PhotoGps =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'removable';
      /** A latitude or a longitude; else only that there might be one. */
      readonly tells: boolean;
      /** Of the photograph without it, lower-case hexadecimal. */
      readonly withoutSha512Hex: string;
      readonly withoutBytes: number;
    }
  | { readonly kind: 'fixed' };

/** @throws Error when the file cannot be read */
export async function lookForGps(path: string, mimeType: string): Promise<PhotoGps> {
  if (!canRemoveGps(mimeType)) return (await readPhotoExif(path)).place === undefined ? { kind: 'none' } : { kind: 'fixed' };
  const { trace, parts } = removeGps(await readFile(path), mimeType);
  if (!trace.found) return { kind: 'none' };
  const hash = createHash('sha512');
  for (const part of parts) hash.update(part);
  const withoutBytes = parts.reduce((sum, { length }) => sum + length, 0);
  return { kind: 'removable', tells: trace.tells, withoutSha512Hex: hash.digest('hex'), withoutBytes };
}
