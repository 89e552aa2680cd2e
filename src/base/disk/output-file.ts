import {
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  DatabaseError,
  FileError,
  getErrorCode,
  getErrorMessage,
  PasError,
  UsageError,
} from '../errors.ts';
import { type Message, t } from '../message.ts';
import { toDatabaseError } from './database.ts';
import {
  createFolder,
  deleteStaleTempsBeside,
  deleteTemp,
  flushFolder,
  makeTempPath,
  renameOver,
  writeAtomicFile,
  writeDurableFile,
} from './files.ts';

type OutputOptions = {
  /** An existing file may be replaced. */
  readonly overwrite: boolean;
  /**
   * Permissions of the file. By default only its owner can read it; a replaced file keeps its own.
   */
  readonly mode?: number;
  readonly signal?: AbortSignal;
};

type Pieces = Iterable<string | Buffer> | AsyncIterable<string | Buffer>;

/** Finds have exact locations, so other users must not read them. */
const PRIVATE_MODE = 0o600;

function readMode(path: string): number | undefined {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats === undefined ? undefined : stats.mode & 0o777;
}

/** Pieces are buffered up to this size. */
const BLOCK_BYTES = 256 * 1024;

/**
 * Writes a file that the user named, atomically: an existing file stays until the last piece is on
 * disk. A symbolic link stays, and its target is written.
 * @returns the size in bytes
 * @throws UsageError where a file exists that may not be replaced; DatabaseError where the disk is
 * full; FileError where the path is not writable; the signal's reason; errors of the pieces
 */
export async function writeOutputFile(
  path: string,
  pieces: Pieces,
  options: OutputOptions,
): Promise<number> {
  const { overwrite, signal } = options;
  assertMayWrite(path, overwrite);
  const target = resolvePath(path);
  const mode = options.mode ?? readMode(target) ?? PRIVATE_MODE;
  let sizeBytes = 0;
  try {
    await writeAtomicFile(dirname(target), mode, joinToBlocks(pieces, signal), (draft) => {
      assertMayWrite(path, overwrite);
      deleteStaleTempsBeside(draft);
      sizeBytes = statSync(draft).size;
      return target;
    });
    flushFolder(dirname(target));
    return sizeBytes;
  } catch (thrown) {
    throw toOutputError(path, thrown);
  }
}

/** Joins pieces to blocks of at least BLOCK_BYTES; the last one may be smaller. */
async function* joinToBlocks(
  pieces: Pieces,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  let block: Buffer[] = [];
  let blockBytes = 0;
  for await (const piece of pieces) {
    signal?.throwIfAborted();
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    block.push(bytes);
    blockBytes += bytes.length;
    if (blockBytes < BLOCK_BYTES) continue;
    yield Buffer.concat(block);
    block = [];
    blockBytes = 0;
  }
  signal?.throwIfAborted();
  yield Buffer.concat(block);
}

/**
 * Asserts that there is nothing at a path, or a file that may be replaced. Permissions are not
 * checked.
 * @param overwrite true: an existing file may be replaced
 * @param hint of the UsageError
 * @throws UsageError where a file exists that may not be replaced; FileError for a folder or a
 * device
 */
export function assertMayWrite(
  path: string,
  overwrite: boolean,
  hint: Message = t`Choose another name, or replace it with --yes.`,
): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isDirectory()) throw new FileError(path, t`${path} is a folder, not a file.`);
  if (!stats.isFile()) throw new FileError(path, t`${path} is not a file.`);
  if (overwrite) return;
  throw new UsageError(t`There is already a file ${path}.`, { hint });
}

/** Resolves a symbolic link, so that the link itself stays. */
function resolvePath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

const PASSING = ['ENOSPC', 'EDQUOT', 'EFBIG'];

/**
 * Converts an error of the disk to one that names the output: DatabaseError where there is no space
 * or the file is too large, else FileError. Any other value is returned unchanged, also an error of
 * pas.
 */
export function toOutputError(path: string, thrown: unknown): unknown {
  if (thrown instanceof PasError) return thrown;
  const code = getErrorCode(thrown);
  if (PASSING.includes(code)) return toDatabaseError(path, thrown);
  const folder = dirname(path);
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new FileError(path, t`The folder ${folder} does not exist.`, { cause: thrown });
  if (code === 'EISDIR')
    return new FileError(path, t`${path} is a folder, not a file.`, { cause: thrown });
  if (!/^E[A-Z]+$/.test(code)) return thrown;
  const why = getErrorMessage(thrown);
  return new FileError(path, t`${path} cannot be written: ${why}.`, {
    cause: thrown,
    hint: t`Choose another place.`,
  });
}

/**
 * Writes pieces to stdout as fast as its reader takes them, and leaves stdout open.
 * @returns false where the reader closed the pipe early (`| head`), which is no failure
 * @throws FileError where stdout was closed before pas began; DatabaseError where stdout is a file
 * and the disk fails; errors of the pieces
 */
export async function writeToStdout(stdout: NodeJS.WriteStream, pieces: Pieces): Promise<boolean> {
  if (isClosed(stdout)) {
    throw new FileError('stdout', t`Standard output is closed, so nothing can be written to it.`, {
      hint: t`Name a file with --out.`,
    });
  }
  try {
    await pipeline(Readable.from(pieces), stdout, { end: false });
    return true;
  } catch (thrown) {
    if (getErrorCode(thrown) === 'EPIPE') return false;
    throw toDatabaseError('stdout', thrown);
  }
}

/**
 * Node replaces a closed standard output by the null device, opened for reading and writing; `>
 * /dev/null` opens it for writing. Only Linux shows the difference.
 */
function isClosed(stdout: NodeJS.WriteStream): boolean {
  if (!('fd' in stdout) || typeof stdout.fd !== 'number') return false;
  try {
    const ownStats = fstatSync(stdout.fd);
    const none = statSync('/dev/null');
    if (!ownStats.isCharacterDevice() || ownStats.rdev !== none.rdev) return false;
    const flags =
      /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/self/fdinfo/${stdout.fd}`, 'utf8'))?.[1] ?? '';
    return (Number.parseInt(flags, 8) & ACCESS_MODES) === constants.O_RDWR;
  } catch {
    return false;
  }
}

const ACCESS_MODES = 3;

type FolderContent = {
  /** Contents by path inside the folder, whose own folder is in `folders`. */
  readonly files: ReadonlyMap<string, Buffer>;
  readonly folders: readonly string[];
};

/**
 * Writes a new folder that the user named, for its owner only and atomically: the folder gets its
 * name once all of it is on disk.
 * @throws UsageError where something of that name exists; FileError where the path is not writable;
 * DatabaseError where the disk is full
 */
export function writeOutputFolder(path: string, { files, folders }: FolderContent): void {
  const target = resolve(path);
  if (existsSync(target))
    throw new UsageError(t`${path} exists already, and a folder is not replaced.`, {
      hint: t`Choose another name, or delete it when all in it was imported.`,
    });
  const draft = makeTempPath(dirname(target));
  try {
    // Finds have exact locations: only the owner can read them.
    mkdirSync(draft, { mode: 0o700 });
    for (const name of folders) mkdirSync(join(draft, name), { mode: 0o700 });
    for (const [name, content] of files) writeDurableFile(join(draft, name), content);
    flushFolder(draft);
    deleteStaleTempsBeside(draft);
    renameSync(draft, target);
    flushFolder(dirname(target));
  } catch (thrown) {
    deleteTemp(draft);
    throw toOutputError(path, thrown);
  }
}

/**
 * Writes a file of pas for its owner only, atomically, flushed and read back; a missing folder is
 * created. An existing file stays until the new one is complete.
 * @throws DatabaseError where the disk fails or returns other bytes; other errors of the system
 * unchanged
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const draft = makeTempPath(dirname(path));
  try {
    createFolder(dirname(path));
    writeDurableFile(draft, bytes);
    if (!readFileSync(draft).equals(bytes)) throw makeVerificationError(path);
    deleteStaleTempsBeside(draft);
    renameOver(draft, path);
    flushFolder(dirname(path));
  } catch (thrown) {
    deleteTemp(draft);
    throw toDatabaseError(path, thrown);
  }
}

/** Makes the error of a file from which other bytes are read than were written. */
export function makeVerificationError(path: string): DatabaseError {
  return new DatabaseError(t`${path}: the disk returns other data than was written.`, {
    hint: t`Check the disk or the network drive, then run the command again.`,
  });
}
