import { type GpsTrace, NO_GPS } from './gps-trace.ts';
import { removeJpegGps } from './jpeg-gps.ts';
import { removePngGps } from './png-gps.ts';
import { removeTiffGps } from './tiff-gps.ts';

/** `parts` make up the photograph without its place, one after the other. */
type WithoutGps = { readonly trace: GpsTrace; readonly parts: readonly Buffer[] };

/** Types whose place can be taken out here. Of the others (HEIC, HEIF) it is left as it is. */
const STRIPPABLE: readonly string[] = ['image/jpeg', 'image/png', 'image/tiff'];

export function canRemoveGps(mimeType: string): boolean {
  return STRIPPABLE.includes(mimeType);
}

/**
 * The photograph without what GPS wrote into it: the GPS directory of EXIF with its pointer, and the GPS properties of XMP. Everything else
 * stays as it is, byte for byte: the picture, its orientation, its time. The same photograph always gives the same bytes.
 *
 * Not looked into: what makers keep in formats of their own, and a film behind the picture.
 * @param bytes may be changed
 */
export function removeGps(bytes: Buffer, mimeType: string): WithoutGps {
  switch (mimeType) {
    case 'image/jpeg':
      return { trace: removeJpegGps(bytes), parts: [bytes] };
    case 'image/tiff':
      return { trace: removeTiffGps(bytes), parts: [bytes] };
    case 'image/png':
      return removePngGps(bytes);
    default:
      return { trace: NO_GPS, parts: [bytes] };
  }
}
