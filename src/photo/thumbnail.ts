import { constants, open } from 'node:fs/promises';
import type { Sharp, SharpOptions } from 'sharp';
import { t } from '../base/language.ts';
import { bareJpeg } from './jpeg.ts';
import { readExifTags } from './photo-exif.ts';

export type Thumbnail =
  | {
      readonly kind: 'image';
      readonly jpeg: Buffer;
      readonly widthPx: number;
      readonly heightPx: number;
      /** EXIF 1 to 8: how whoever shows it has to turn it. */
      readonly orientation: number;
    }
  /** Why there is none, for people. */
  | { readonly kind: 'none'; readonly why: string };

/** @param expectedBytes what the photograph had when it was queued */
type MakeThumbnail = (path: string, expectedBytes: number) => Promise<Thumbnail>;

/** The part of sharp that is used. It is an optional dependency: not every platform has it. */
type ImageLibrary = (input: string | Buffer, options: SharpOptions) => Sharp;

type ThumbnailOptions = {
  /** The longer side at the most. */
  readonly maxPx: number;
  readonly library: ImageLibrary | undefined;
};

/** Undefined where it is not installed, or not for this platform. */
export async function loadImageLibrary(): Promise<ImageLibrary | undefined> {
  try {
    const { default: sharp } = await import('sharp');
    // Whatever a file calls itself, only these are read, and no reader that would open other files.
    sharp.block({ operation: ['VipsForeignLoad'] });
    sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadTiff', 'VipsForeignLoadHeif'] });
    sharp.cache(false);
    return sharp;
  } catch {
    return undefined;
  }
}

const QUALITY = 72;
const TIMEOUT_SECONDS = 30;
/** Where cameras put the small picture: near the beginning, behind which the large one follows. */
const HEAD_BYTES = 4 * 1024 * 1024;

/**
 * Small pictures of photographs, turned upright and without any metadata: neither place nor camera. Where the photograph itself
 * cannot be read, the small picture that its camera put into it serves.
 */
export function makeThumbnails({ maxPx, library }: ThumbnailOptions): MakeThumbnail {
  return async (path, expectedBytes) => {
    const head = await readHead(path, expectedBytes);
    if (typeof head === 'string') return { kind: 'none', why: head };
    const whole = library === undefined ? undefined : await reduced(library, path, maxPx, undefined);
    return whole ?? (await embedded(head, library, maxPx));
  };
}

async function reduced(
  library: ImageLibrary,
  input: string | Buffer,
  maxPx: number,
  orientation: number | undefined,
): Promise<Thumbnail | undefined> {
  try {
    const image = library(input, { failOn: 'error', sequentialRead: true }).timeout({ seconds: TIMEOUT_SECONDS });
    const upright = orientation === undefined ? image.autoOrient() : turned(image, orientation);
    const { data, info } = await upright
      .resize(maxPx, maxPx, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true });
    return { kind: 'image', jpeg: data, widthPx: info.width, heightPx: info.height, orientation: 1 };
  } catch {
    return undefined;
  }
}

/** The eight ways of EXIF to lay a picture: degrees clockwise, then whether it is mirrored before. */
const TURNS: Readonly<Record<number, readonly [degrees: number, mirrored: boolean]>> = {
  2: [0, true],
  3: [180, false],
  4: [180, true],
  5: [270, true],
  6: [90, false],
  7: [90, true],
  8: [270, false],
};

function turned(image: Sharp, orientation: number): Sharp {
  const [degrees, mirrored] = TURNS[orientation] ?? [0, false];
  return (mirrored ? image.flop() : image).rotate(degrees);
}

async function embedded(head: Buffer, library: ImageLibrary | undefined, maxPx: number): Promise<Thumbnail> {
  const found = await embeddedThumbnail(head);
  if (found === undefined) {
    return {
      kind: 'none',
      why:
        library === undefined
          ? t`No picture: what makes small pictures (sharp) is not installed, and the photograph holds none.`
          : t`No picture: the photograph is damaged, or of a kind that cannot be drawn here.`,
    };
  }
  const upright = library === undefined ? undefined : await reduced(library, found.jpeg, maxPx, found.orientation);
  return upright ?? found;
}

type FoundThumbnail = Thumbnail & { readonly kind: 'image' };

/** The small picture in the photograph's EXIF data, with nothing besides. */
async function embeddedThumbnail(head: Buffer): Promise<FoundThumbnail | undefined> {
  const { exif, Thumbnail: thumbnail } = (await readExifTags(head)) ?? {};
  const bare = thumbnail === undefined ? undefined : bareJpeg(Buffer.from(thumbnail.base64, 'base64'));
  if (bare === undefined) return undefined;
  const orientation = Number(exif?.Orientation?.value ?? 1);
  return {
    kind: 'image',
    jpeg: bare.bytes,
    widthPx: bare.widthPx,
    heightPx: bare.heightPx,
    orientation: orientation in TURNS ? orientation : 1,
  };
}

/** The beginning of the file; or, in words, why there is none. */
async function readHead(path: string, expectedBytes: number): Promise<Buffer | string> {
  try {
    // Without O_NONBLOCK the opening of a pipe would wait for somebody to write into it.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const { size } = await file.stat();
      if (size !== expectedBytes) return t`No picture: the file was changed since it was queued.`;
      const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, HEAD_BYTES)), 0);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? t`No picture: the file is no longer where it was.`
      : t`No picture: the file cannot be read.`;
  }
}
