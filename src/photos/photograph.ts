import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, sep } from 'node:path';
import { fileTypeFromBuffer } from 'file-type';
import type { Sharp, SharpOptions } from 'sharp';
import { hashSha512, listNamesInFolder } from '../base/disk/files.ts';
import { FileError, getErrorCode, getErrorMessage } from '../base/errors.ts';
import {
  type Issue,
  makeErrorIssue,
  makeRuleProblem,
  makeWarningIssue,
  type Reading,
} from '../base/issue.ts';
import { type Message, msg, quoteShellWord, t } from '../base/message.ts';
import { isPictureName } from '../base/names.ts';
import { type PhotoGps, tryGpsRemoval } from './remove-gps.ts';

/**
 * A photograph that the service accepts; `sha512` is the hexadecimal digest of the file as it is.
 */
export type PhotographFile = {
  readonly path: string;
  readonly mediaType: string;
  readonly sizeBytes: number;
  readonly sha512: string;
  readonly gps: PhotoGps;
  /** A video follows the picture, which pas does not search for a position. */
  readonly hasVideo: boolean;
};
/** A photograph with optional warnings, or at least one error. */
type InspectedPhotograph = {
  readonly photograph?: PhotographFile;
  readonly issues: readonly Issue[];
};

/** A-PHOTO-7: 250 MiB unless the profile has another limit. */
export const PHOTO_MAX_BYTES = 262_144_000;

/**
 * Types that the service accepts by content; names and extensions do not count (A-PHOTO-6,
 * A-PHOTO-19).
 */
const ACCEPTED_TYPES: readonly string[] = [
  'image/jpeg',
  'image/png',
  'image/tiff',
  'image/heic',
  'image/heif',
];

/**
 * Checks a photograph as the service will: a file, not empty and not too large, of an accepted type
 * by its bytes (A-PHOTO-6, A-PHOTO-7). It is read once, as a whole. Where it is refused, also since
 * it cannot be read, there is no `photograph`, and one error. An accepted one may have warnings.
 * Nothing is thrown.
 * @param maxBytes limit of the profile, by default {@link PHOTO_MAX_BYTES}
 */
export async function inspectPhotograph(
  path: string,
  maxBytes = PHOTO_MAX_BYTES,
): Promise<InspectedPhotograph> {
  let file: FileHandle | undefined;
  try {
    // Without O_NONBLOCK opening a pipe would block until a process writes to it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    return await inspectOpen(file, path, maxBytes);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(error)))
      return makeRefusal(
        PHOTO_MISSING,
        msg`There is no photograph ${path}. Check the name, letter case included.`,
      );
    const problem = getErrorMessage(error);
    return makeRefusal(
      'photo-unreadable',
      msg`The photograph ${path} cannot be read: ${problem}. Copy it again from its source.`,
    );
  } finally {
    await file?.close();
  }
}

async function inspectOpen(
  file: FileHandle,
  path: string,
  maxBytes: number,
): Promise<InspectedPhotograph> {
  const stats = await file.stat();
  if (!stats.isFile())
    return makeRefusal('photo-not-a-file', msg`${path} is not a file. Specify a photograph.`);
  if (stats.size === 0)
    return makeRefusal(
      'photo-empty',
      msg`The photograph ${path} is empty (0 bytes). Copy it again from the camera.`,
    );
  if (stats.size > maxBytes) {
    return makeRefusal(
      'photo-too-large',
      msg`The photograph ${path} has ${stats.size} bytes; the service accepts at most ${maxBytes}. Make it smaller.`,
    );
  }
  const bytes = await file.readFile();
  const mediaType = await detectMediaType(bytes);
  if (mediaType === undefined || !ACCEPTED_TYPES.includes(mediaType)) {
    const typeText = mediaType ?? msg`an unknown format`;
    return makeRefusal(
      'photo-type',
      msg`The content of ${path} is ${typeText}. The service accepts JPEG, PNG, TIFF, HEIC and HEIF; convert the file.`,
    );
  }
  const sha512 = hashSha512(bytes);
  const hasVideo = hasVideoBehindPicture(bytes);
  const issues = makeContentWarnings(path, isCutOff(bytes, mediaType), hasVideo);
  // Last, since removing the position from them, to know the digest without it, changes the bytes.
  const gps = await tryGpsRemoval(bytes, mediaType);
  const photograph = { path, mediaType, sizeBytes: bytes.length, sha512, gps, hasVideo };
  return { photograph, issues };
}

/** Returns the type of a file by its first bytes; the library would pass over a byte order mark. */
async function detectMediaType(bytes: Buffer): Promise<string | undefined> {
  if (bytes.toString('utf8', 0, 3) === '\ufeff') return undefined;
  return (await fileTypeFromBuffer(bytes))?.mime;
}

function makeRefusal(rule: string, message: Message): InspectedPhotograph {
  return { issues: [makeErrorIssue(rule, message)] };
}

const JPEG_SCAN = Buffer.from('ffda00', 'hex');
const JPEG_END = Buffer.from('ffd9', 'hex');
const PNG_END = Buffer.from('0000000049454e44ae426082', 'hex');

/**
 * Tells if a JPEG or PNG lacks its end. Cameras write data behind it, and a thumbnail with an end
 * of its own before the picture's scan. Other types are not checked.
 */
function isCutOff(bytes: Buffer, mediaType: string): boolean {
  if (mediaType === 'image/png') return !bytes.includes(PNG_END);
  const scan = bytes.lastIndexOf(JPEG_SCAN);
  return mediaType === 'image/jpeg' && (scan === -1 || bytes.lastIndexOf(JPEG_END) < scan);
}

const BOX_HEAD_BYTES = 8;
const MAX_FIRST_BOX_BYTES = 256;

/**
 * Tells if a file of ISO/IEC 14496-12, whose first box is `ftyp`, begins within another file, as
 * a video does in a Motion Photo. A HEIC begins with such a box itself, which does not count.
 */
function hasVideoBehindPicture(bytes: Buffer): boolean {
  for (
    let at = bytes.indexOf('ftyp', BOX_HEAD_BYTES);
    at !== -1;
    at = bytes.indexOf('ftyp', at + 1)
  ) {
    const length = bytes.readUInt32BE(at - 4);
    if (length > BOX_HEAD_BYTES && length <= MAX_FIRST_BOX_BYTES) return true;
  }
  return false;
}

function makeContentWarnings(path: string, isWithoutEnd: boolean, hasVideo: boolean): Issue[] {
  const issues: Issue[] = [];
  if (isWithoutEnd) {
    const message = msg`The photograph ${path} is cut off: its end is missing. It is queued as it is; copy it again from the camera if you can.`;
    issues.push(makeWarningIssue('photo-cut-off', message));
  }
  if (hasVideo) {
    const message = msg`${path} is a Motion Photo: a video follows the picture. Both are sent, and pas does not search the video for a place.`;
    issues.push(makeWarningIssue('photo-video', message));
  }
  return issues;
}

/** Rule of the issue of a name without a file. */
export const PHOTO_MISSING = 'photo-missing';
/** Rule of the warning that a file has another spelling than its name in the table. */
export const PHOTO_SPELLING = 'photo-spelling';

/** Resolves a photograph's name in a table to an absolute path, or explains the refusal. */
export type ResolvePhoto = (
  name: string,
) => Reading<string> & { /** It is the file of another name. */ readonly remark?: Message };

/**
 * Makes a resolver of names relative to the folder `root`, which a name may not leave by `..` or a
 * symbolic link (rule `photo-path`). Tables and photographs come from different systems, so a
 * backslash counts as a slash, only the last part of an absolute path is used, and the file may
 * have another spelling, as {@link findPhotoFile} allows. For a name without a file (rule
 * {@link PHOTO_MISSING}) the folders in `root` are searched; their list is read once.
 * @throws FileError where `root` does not exist or cannot be reached
 */
export function makePhotoResolver(root: string): ResolvePhoto {
  const realRoot = getRealFolder(root);
  let folders: readonly string[] | undefined;
  return (name) => {
    const relative = toRelativePath(name);
    const outside = msg`The photograph "${name}" points outside the folder ${root}. Copy it into that folder.`;
    if (relative.split('/').includes('..')) return makeRuleProblem('photo-path', outside);
    const found = findPhotoFile(join(realRoot, relative));
    if (found === undefined) {
      folders ??= listFolders(root);
      const [folder, another] = folders.filter((each) => existsSync(join(each, relative)));
      const only = another === undefined ? folder : undefined;
      return makeRuleProblem(PHOTO_MISSING, explainMissing(name, root, only));
    }
    const real = realpathSync(found.path);
    return real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)
      ? { value: real, remark: found.remark }
      : makeRuleProblem('photo-path', outside);
  };
}

/** Returns the path that a name in a table means; of an absolute path only the file's name. */
function toRelativePath(name: string): string {
  const path = name.replaceAll('\\', '/');
  const isFromElsewhere = isAbsolute(path) || /^[A-Za-z]:/.test(path);
  return isFromElsewhere ? path.slice(path.lastIndexOf('/') + 1).replace(/^[A-Za-z]:/, '') : path;
}

/** @param folder the only one in `root` that has such a photograph */
function explainMissing(name: string, root: string, folder: string | undefined): Message {
  if (folder === undefined)
    return msg`There is no photograph "${name}" in ${root}. Check the name, letter case included, and import again, or with the right folder: --photos FOLDER`;
  const quoted = quoteShellWord(folder);
  return msg`There is no photograph "${name}" in ${root}, but there is one in ${folder}. To take the photographs from there, import again with: --photos ${quoted}`;
}

function listFolders(root: string): string[] {
  const names = readdirSync(root, { withFileTypes: true }).filter((each) => each.isDirectory());
  return names.map(({ name }) => join(root, name));
}

/**
 * Finds the file of a path, else the only one in its folder that differs in how accents are
 * composed; without any, in letter case; without any, in the extension of pictures, also a missing
 * one: programs and people change these. `remark` states a difference, except in accents. Undefined
 * where none matches, or several do equally well. Blocks the thread while it reads the folder.
 */
export function findPhotoFile(
  path: string,
): { readonly path: string; readonly remark?: Message } | undefined {
  const spelt = findPathSpelling(path);
  // A dangling link is listed, too.
  if (spelt === undefined || !existsSync(spelt)) return undefined;
  if (spelt.normalize('NFC') === path.normalize('NFC')) return { path: spelt };
  const query = basename(path);
  const name = basename(spelt);
  return {
    path: spelt,
    remark: msg`There is no photograph "${query}"; pas uses ${name}, the only file that matches.`,
  };
}

function findPathSpelling(path: string): string | undefined {
  if (existsSync(path)) return path;
  const folder = dirname(path);
  const query = basename(path);
  if (!existsSync(folder)) return undefined;
  const mayBePicture = isPictureName(query) || extname(query) === '';
  const names = listNamesInFolder(folder);
  const fitting = [
    names.filter((name) => name.normalize('NFC') === query.normalize('NFC')),
    names.filter((name) => fold(name) === fold(query)),
    names.filter(
      (name) => mayBePicture && isPictureName(name) && fold(getStem(name)) === fold(getStem(query)),
    ),
  ];
  const [only, another] = fitting.find(({ length }) => length > 0) ?? [];
  return only === undefined || another !== undefined ? undefined : join(folder, only);
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function getStem(name: string): string {
  return isPictureName(name) ? name.slice(0, -extname(name).length) : name;
}

function getRealFolder(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    const problem = getErrorMessage(error);
    throw new FileError(root, msg`The folder of photographs ${root} cannot be read: ${problem}`, {
      cause: error,
    });
  }
}

/** A small picture of a photograph for a page, or the reason why there is none. */
export type Thumbnail =
  | {
      readonly kind: 'image';
      readonly jpeg: Buffer;
      readonly widthPx: number;
      readonly heightPx: number;
    }
  | { readonly kind: 'none'; readonly why: string };

/** The used part of sharp, an optional dependency that some platforms lack. */
type ImageLibrary = (path: string, options: SharpOptions) => Sharp;

/**
 * Loads the library sharp; undefined where it is not installed for this platform. For the whole
 * process, its readers are blocked except those of JPEG, PNG, TIFF and HEIF, and its cache is
 * switched off.
 */
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

/** Maximum of the longer side. */
const MAX_PX = 640;
const QUALITY = 72;
const TIMEOUT_SECONDS = 30;

/**
 * Reads the photograph of a path and returns a small JPEG, upright and without metadata. The result
 * is `none`, with the reason in the language of the command, where `library` is undefined, and
 * where the file is missing or cannot be drawn within {@link TIMEOUT_SECONDS}. Nothing is thrown.
 */
export async function makeThumbnail(
  library: ImageLibrary | undefined,
  path: string,
): Promise<Thumbnail> {
  if (library === undefined)
    return { kind: 'none', why: t`No preview: the library sharp is not installed.` };
  const image = await reduceImage(library, path);
  if (image !== undefined) return image;
  return {
    kind: 'none',
    why: t`No preview: the photograph is missing or damaged, or pas cannot draw its format.`,
  };
}

async function reduceImage(library: ImageLibrary, path: string): Promise<Thumbnail | undefined> {
  try {
    const { data, info } = await library(path, { failOn: 'error', sequentialRead: true })
      .timeout({ seconds: TIMEOUT_SECONDS })
      .autoOrient()
      .resize(MAX_PX, MAX_PX, { fit: 'inside', withoutEnlargement: true })
      .flatten({ background: '#ffffff' })
      .jpeg({ quality: QUALITY })
      .toBuffer({ resolveWithObject: true });
    return { kind: 'image', jpeg: data, widthPx: info.width, heightPx: info.height };
  } catch {
    return undefined;
  }
}
