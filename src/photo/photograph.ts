import { createHash } from 'node:crypto';
import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, sep } from 'node:path';
import { fileTypeFromFile } from 'file-type';
import { FileError, getErrorCode, getErrorMessage } from '../base/errors.ts';
import {
  type Issue,
  makeErrorIssue,
  makeUnreadable,
  makeWarningIssue,
  type Reading,
} from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { isPictureName } from '../text/names.ts';

export type Photograph = {
  readonly path: string;
  readonly sizeBytes: number;
  readonly mimeType: string;
  /** Digest of the file's bytes, lower-case hexadecimal. */
  readonly sha512Hex: string;
};
/** A photograph with optional warnings, or at least one error. */
export type InspectedPhotograph = {
  readonly photograph?: Photograph;
  readonly issues: readonly Issue[];
};

type InspectOptions = {
  /** A-PHOTO-7: 250 MiB unless the profile has another limit. */
  readonly maxBytes?: number;
  readonly signal?: AbortSignal;
};

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

const CHUNK_BYTES = 256 * 1024;

/**
 * Checks a photograph as the service will: a regular file, not too large, an image by its bytes.
 * Reads it once.
 */
export async function inspectPhotograph(
  path: string,
  options: InspectOptions = {},
): Promise<InspectedPhotograph> {
  let file: FileHandle;
  try {
    // Without O_NONBLOCK opening a pipe would block until a process writes to it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    return makeRefusal('photo-missing', explainNotOpened(path, error));
  }
  try {
    return await inspectOpen(file, path, options);
  } catch (error) {
    options.signal?.throwIfAborted();
    const problem = getErrorMessage(error);
    return makeRefusal(
      'photo-unreadable',
      msg`The photograph ${path} cannot be read: ${problem}. Copy it again from its source.`,
    );
  } finally {
    await file.close();
  }
}

async function inspectOpen(
  file: FileHandle,
  path: string,
  options: InspectOptions,
): Promise<InspectedPhotograph> {
  const { maxBytes = PHOTO_MAX_BYTES, signal } = options;
  const stat = await file.stat();
  if (stat.isDirectory())
    return makeRefusal(
      'photo-not-a-file',
      msg`${path} is a folder. Specify the photographs in it one by one.`,
    );
  if (!stat.isFile())
    return makeRefusal(
      'photo-not-a-file',
      msg`${path} is not a regular file. Specify a photograph.`,
    );
  if (stat.size === 0)
    return makeRefusal(
      'photo-empty',
      msg`The photograph ${path} is empty (0 bytes). Copy it again from the camera.`,
    );
  if (stat.size > maxBytes) {
    return makeRefusal(
      'photo-too-large',
      msg`The photograph ${path} has ${stat.size} bytes; the service accepts at most ${maxBytes}. Make it smaller.`,
    );
  }
  // Reads the whole file: the end of a TIFF distinguishes it from a raw image.
  const mimeType = (await fileTypeFromFile(path))?.mime;
  if (mimeType === undefined || !ACCEPTED_TYPES.includes(mimeType)) {
    const typeText = mimeType ?? msg`an unknown format`;
    return makeRefusal(
      'photo-type',
      msg`The content of ${path} is ${typeText}. The service accepts JPEG, PNG, TIFF, HEIC and HEIF; convert the file.`,
    );
  }
  const { sha512Hex, sizeBytes } = await digestContent(file, signal);
  if (sizeBytes !== stat.size) {
    return makeRefusal(
      'photo-changed',
      msg`The photograph ${path} changed while it was read. Try again when it is no longer being written.`,
    );
  }
  const issues = (await isCutOff(file, mimeType, sizeBytes))
    ? [
        makeWarningIssue(
          'photo-cut-off',
          msg`The photograph ${path} is cut off: its end is missing. It is queued as it is; copy it again from the camera if you can.`,
        ),
      ]
    : [];
  return { photograph: { path, sizeBytes, mimeType, sha512Hex }, issues };
}

async function digestContent(file: FileHandle, signal: AbortSignal | undefined) {
  const hash = createHash('sha512');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let sizeBytes = 0;
  for (;;) {
    signal?.throwIfAborted();
    const { bytesRead } = await file.read(chunk, 0, chunk.length, sizeBytes);
    if (bytesRead === 0) return { sha512Hex: hash.digest('hex'), sizeBytes };
    hash.update(chunk.subarray(0, bytesRead));
    sizeBytes += bytesRead;
  }
}

function makeRefusal(rule: string, message: Message): InspectedPhotograph {
  return { issues: [makeErrorIssue(rule, message)] };
}

function explainNotOpened(path: string, error: unknown): Message {
  const code = getErrorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return msg`There is no photograph ${path}. Check the name, letter case included.`;
  if (code === 'EACCES' || code === 'EPERM')
    return msg`The photograph ${path} cannot be read: permission denied.`;
  const problem = getErrorMessage(error);
  return msg`The photograph ${path} cannot be opened: ${problem}`;
}

const SCAN_BYTES = 64 * 1024;
const START_OF_SCAN = 0xda;
const END_OF_IMAGE = 0xd9;
const END_OF_IMAGE_BYTES = Buffer.from([0xff, END_OF_IMAGE]);
const PNG_SIGNATURE_BYTES = 8;
/** Length, type and checksum of a PNG chunk. */
const PNG_CHUNK_BYTES = 12;
/** No picture has so many parts; each costs a read, and a crafted file could have millions. */
const MAX_PARTS = 50_000;

/**
 * Tells if a photograph is truncated, as by an interrupted copy. Cameras write data behind the end,
 * and a thumbnail with an end of its own before it, so the parts are followed (ITU-T T.81, annex B;
 * PNG, "Datastream structure").
 */
async function isCutOff(file: FileHandle, mimeType: string, sizeBytes: number): Promise<boolean> {
  switch (mimeType) {
    case 'image/jpeg':
      return isJpegCutOff(file, sizeBytes);
    case 'image/png':
      return isPngCutOff(file, sizeBytes);
    default:
      return false;
  }
}

async function isJpegCutOff(file: FileHandle, sizeBytes: number): Promise<boolean> {
  let at = 2;
  for (let parts = 0; at < sizeBytes; parts += 1) {
    const head = await readAt(file, at, 4);
    const [mark, marker = 0] = head;
    // Bytes other than a marker are malformed, but no truncation.
    if (mark !== 0xff || marker === END_OF_IMAGE || parts === MAX_PARTS) return false;
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    if (head.length < 4) return true;
    at += 2 + head.readUInt16BE(2);
    if (marker === START_OF_SCAN) return !(await hasEnd(file, at));
  }
  return true;
}

async function hasEnd(file: FileHandle, from: number): Promise<boolean> {
  for (let at = from; ; at += SCAN_BYTES) {
    // One byte more, so that an end across two blocks is found.
    const chunk = await readAt(file, at, SCAN_BYTES + 1);
    if (chunk.includes(END_OF_IMAGE_BYTES)) return true;
    if (chunk.length <= SCAN_BYTES) return false;
  }
}

async function isPngCutOff(file: FileHandle, sizeBytes: number): Promise<boolean> {
  let at = PNG_SIGNATURE_BYTES;
  for (let parts = 0; at < sizeBytes; parts += 1) {
    const head = await readAt(file, at, 8);
    if (parts === MAX_PARTS) return false;
    if (head.length < 8) return true;
    at += PNG_CHUNK_BYTES + head.readUInt32BE(0);
    if (head.toString('latin1', 4) === 'IEND') return at > sizeBytes;
  }
  return true;
}

async function readAt(file: FileHandle, at: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafe(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
}

/** Rules for a name without a file, and for a file with another spelling. */
export const MISSING = 'photo-missing';
export const OTHER_SPELLING = 'photo-spelling';

/** Resolves a photograph's name in a table to an absolute path, or explains the refusal. */
export type ResolvePhoto = (
  name: string,
) => Reading<string> & { /** It is the file of another name. */ readonly remark?: Message };

/**
 * Makes a resolver of names relative to `root`, which may not leave it by `..` or a symbolic link.
 * Tables and photographs come from different systems, so a backslash counts as a slash, only the
 * last part of an absolute path is used, and accents may be composed or decomposed.
 * @throws FileError where `root` is no readable folder
 */
export function makePhotoResolver(root: string): ResolvePhoto {
  const realRoot = getRealFolder(root);
  return (name) => {
    const path = name.replaceAll('\\', '/');
    const isFromElsewhere = isAbsolute(path) || /^[A-Za-z]:/.test(path);
    // Only the file name of a path on another computer or device is used.
    const relative = isFromElsewhere
      ? path.slice(path.lastIndexOf('/') + 1).replace(/^[A-Za-z]:/, '')
      : path;
    if (relative.split('/').includes('..')) {
      return makeUnreadable(
        'photo-path',
        msg`The photograph "${name}" points outside the folder ${root} (".."). Move it into that folder.`,
      );
    }
    const other = findOtherSpelling(join(realRoot, relative));
    const real = findFirstExisting([
      join(realRoot, relative),
      ...(other === undefined ? [] : [other.path]),
    ]);
    if (real === undefined && isFromElsewhere) {
      return makeUnreadable(
        MISSING,
        msg`The photograph "${name}" is an absolute path, and there is no "${relative}" in ${root}. Copy it there.`,
      );
    }
    if (real === undefined) {
      return makeUnreadable(
        MISSING,
        msg`There is no photograph "${name}" in ${root}. Check the name, letter case included, or name the folder: --photos FOLDER`,
      );
    }
    if (!real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) {
      return makeUnreadable(
        'photo-path',
        msg`The photograph "${name}" points outside the folder ${root} (symbolic link). Copy it into that folder.`,
      );
    }
    return { value: real, remark: other?.remark };
  };
}

/**
 * Finds the one folder in `root` that has all photographs of these names; undefined where `root`
 * has one of them itself.
 */
export function findFolderOfAll(root: string, names: readonly string[]): string | undefined {
  const hasName = (folder: string): ((name: string) => boolean) => {
    const resolvePhoto = makePhotoResolver(folder);
    return (name) => 'value' in resolvePhoto(name);
  };
  if (names.length === 0 || names.some(hasName(root))) return undefined;
  const folders = readdirSync(root, { withFileTypes: true }).filter((each) => each.isDirectory());
  const [only, other] = folders
    .map(({ name }) => join(root, name))
    .filter((folder) => names.every(hasName(folder)));
  return other === undefined ? only : undefined;
}

/**
 * Finds the one file for a path that does not exist: it ignores case, the composition of accents,
 * and the extension among those of pictures, since programs and people change them. `remark` states
 * the difference, except for accents. Undefined where the path exists, or none or several match.
 */
export function findOtherSpelling(
  path: string,
): { readonly path: string; readonly remark?: Message } | undefined {
  if (existsSync(path)) return undefined;
  const spelt = findPathSpelling(path, true);
  if (spelt === undefined) return undefined;
  if (spelt.normalize('NFC') === path.normalize('NFC')) return { path: spelt };
  const query = basename(path);
  const name = basename(spelt);
  return {
    path: spelt,
    remark: msg`There is no photograph "${query}"; pas uses ${name}, the only file that matches.`,
  };
}

function findPathSpelling(path: string, isFile: boolean): string | undefined {
  if (existsSync(path)) return path;
  const above = dirname(path);
  const query = basename(path);
  const folder = above === path ? undefined : findPathSpelling(above, false);
  if (folder === undefined) return undefined;
  const names = listNames(folder);
  const spelled = findOnly(
    names,
    (name) => fold(name) === fold(query),
    (name) => name.normalize('NFC') === query.normalize('NFC'),
  );
  if (spelled !== undefined) return join(folder, spelled);
  if (!isFile || !(isPictureName(query) || extname(query) === '')) return undefined;
  const ofPicture = findOnly(
    names,
    (name) => isPictureName(name) && fold(getStem(name)) === fold(getStem(query)),
  );
  return ofPicture === undefined ? undefined : join(folder, ofPicture);
}

/** Returns the only name that matches, or the only best one of several. */
function findOnly(
  names: readonly string[],
  ...fits: readonly ((name: string) => boolean)[]
): string | undefined {
  let remaining = names;
  for (const fit of fits) {
    const fitting = remaining.filter(fit);
    if (fitting.length === 1) return fitting[0];
    if (fitting.length === 0) return undefined;
    remaining = fitting;
  }
  return undefined;
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function getStem(name: string): string {
  return isPictureName(name) ? name.slice(0, -extname(name).length) : name;
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function findFirstExisting(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    try {
      return realpathSync(path);
    } catch {
      // Try the next spelling; the caller reports that none exists.
    }
  }
  return undefined;
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
