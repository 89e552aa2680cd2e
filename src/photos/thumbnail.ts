import type { Sharp, SharpOptions } from 'sharp';
import { t } from '../base/language.ts';
import { parseExifTags, readBeginning } from './photo-exif.ts';
import { reduceJpeg } from './remove-gps.ts';

export type Thumbnail =
  | {
      readonly kind: 'image';
      readonly jpeg: Buffer;
      readonly widthPx: number;
      readonly heightPx: number;
      /** EXIF orientation, 1 to 8, which the viewer applies. */
      readonly orientation: number;
    }
  /** Reason why there is no picture. */
  | { readonly kind: 'none'; readonly why: string };

/** @param expectedBytes size of the photograph when it was queued */
type MakeThumbnail = (path: string, expectedBytes: number) => Promise<Thumbnail>;

/** The used part of sharp, an optional dependency that some platforms lack. */
type ImageLibrary = (path: string, options: SharpOptions) => Sharp;

type ThumbnailOptions = {
  /** Maximum of the longer side. */
  readonly maxPx: number;
  readonly library: ImageLibrary | undefined;
};

/** Loads sharp; undefined where it is not installed for this platform. */
export async function loadImageLibrary(): Promise<ImageLibrary | undefined> {
  try {
    const { default: sharp } = await import('sharp');
    // Only these readers are allowed, whatever the file claims to be, since others could open
    // further files.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({
      operation: [
        'VipsForeignLoadJpeg',
        'VipsForeignLoadPng',
        'VipsForeignLoadTiff',
        'VipsForeignLoadHeif',
      ],
    });
    sharp.cache(false);
    return sharp;
  } catch {
    return undefined;
  }
}

const QUALITY = 72;
const TIMEOUT_SECONDS = 30;
/** Cameras store the thumbnail near the beginning, before the full picture. */
const HEAD_BYTES = 4 * 1024 * 1024;

/**
 * Makes a function that reads a photograph and returns a small picture without metadata: upright,
 * or the EXIF thumbnail where it cannot be decoded, which the page turns. `none` with the reason
 * where the file is missing, has another size than expected, or contains no preview.
 */
export function makeThumbnailMaker({ maxPx, library }: ThumbnailOptions): MakeThumbnail {
  return async (path, expectedBytes) => {
    const head = await readHead(path, expectedBytes);
    if (typeof head === 'string') return { kind: 'none', why: head };
    const whole = library === undefined ? undefined : await reduceImage(library, path, maxPx);
    const thumbnail = whole ?? (await findEmbeddedThumbnail(head));
    if (thumbnail !== undefined) return thumbnail;
    return {
      kind: 'none',
      why:
        library === undefined
          ? t`No preview: the library sharp is not installed, and the photograph contains no preview.`
          : t`No preview: the photograph is damaged, or pas cannot draw its format.`,
    };
  };
}

async function reduceImage(
  library: ImageLibrary,
  path: string,
  maxPx: number,
): Promise<Thumbnail | undefined> {
  try {
    const { data, info } = await library(path, { failOn: 'error', sequentialRead: true })
      .timeout({ seconds: TIMEOUT_SECONDS })
      .autoOrient()
      .resize(maxPx, maxPx, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true });
    return {
      kind: 'image',
      jpeg: data,
      widthPx: info.width,
      heightPx: info.height,
      orientation: 1,
    };
  } catch {
    return undefined;
  }
}

/** Returns the thumbnail in the EXIF data, without metadata. */
async function findEmbeddedThumbnail(head: Buffer): Promise<Thumbnail | undefined> {
  const { exif, Thumbnail: thumbnail } = (await parseExifTags(head)) ?? {};
  const bare =
    // A directory for a second page counts as a thumbnail, but has no JPEG.
    typeof thumbnail?.base64 !== 'string'
      ? undefined
      : reduceJpeg(Buffer.from(thumbnail.base64, 'base64'));
  if (bare === undefined) return undefined;
  const orientation = Number(exif?.Orientation?.value ?? 1);
  return {
    kind: 'image',
    jpeg: bare.bytes,
    widthPx: bare.widthPx,
    heightPx: bare.heightPx,
    orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
  };
}

/** Reads the beginning of the file, or returns the reason why it cannot. */
async function readHead(path: string, expectedBytes: number): Promise<Buffer | string> {
  try {
    const { bytes, size } = await readBeginning(path, HEAD_BYTES);
    return size === expectedBytes
      ? bytes
      : t`No preview: the file has changed since it was queued.`;
  } catch {
    // The reason would name its folder, which is nothing for the readers of a page.
    return t`No preview: the file is missing or cannot be read.`;
  }
}
