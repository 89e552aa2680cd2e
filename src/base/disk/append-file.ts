import { createHash, type Hash } from 'node:crypto';
import { type BigIntStats, constants, fstatSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../errors.ts';
import { t } from '../language.ts';
import { toDatabaseError } from './database.ts';
import { flushFolder } from './folder.ts';

/**
 * Committed part of an append-only file, with its SHA-256. Without a digest only its length is
 * known.
 */
export type Extent = { readonly lengthBytes: number; readonly digest: string | null };

const CHUNK_BYTES = 1024 * 1024;

/**
 * Opens or creates a file, compares it with its recorded extent, and truncates bytes of a killed
 * process after it.
 * @param closedBytes size of the closed file; undefined where the last writer did not close it
 * @throws FileError where the content differs from the committed one, or the path is no file;
 * DatabaseError when the disk fails
 */
export async function openAppendFile(
  path: string,
  committed: Extent,
  closedBytes: number | undefined,
): Promise<AppendFile> {
  const file = await asDiskError(path, () =>
    open(path, constants.O_RDWR | constants.O_CREAT, 0o600),
  );
  try {
    return await asDiskError(path, async () => {
      const stat = statFile(file);
      if (!stat.isFile())
        throw new FileError(path, t`${path} is not a file.`, { hint: t`Use another --out.` });
      assertSize(path, stat, committed.lengthBytes, closedBytes);
      const content = await hashContent(file, committed);
      if (content === undefined) throw makeModifiedError(path);
      await file.truncate(committed.lengthBytes);
      flushFolder(dirname(path));
      return new AppendFile(path, file, content, committed.lengthBytes);
    });
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

/** An append-only file; the caller stores the committed extent. */
export class AppendFile {
  readonly #path: string;
  readonly #file: FileHandle;
  /** Checksums of all appended bytes, and of those up to the mark. */
  readonly #content: Hash;
  #marked: Hash;
  #stats: BigIntStats;
  #lengthBytes: number;
  #markedBytes: number;
  /** Bytes of a failed write may follow the appended ones. */
  #isRagged = false;
  /**
   * The file must be read again at the end. The change time is no proof: some drives set it late,
   * and a write by another program between a write of pas and the query of the time stays
   * unnoticed.
   */
  #isDoubtful = false;

  constructor(path: string, file: FileHandle, content: Hash, lengthBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#content = content;
    this.#marked = content.copy();
    this.#stats = statFile(file);
    this.#lengthBytes = this.#markedBytes = lengthBytes;
  }

  isEmpty(): boolean {
    return this.#lengthBytes === 0;
  }

  /**
   * Passes bytes to the operating system.
   * @throws DatabaseError when the disk fails, as do `flush` and `close`
   */
  append(bytes: Buffer): void {
    try {
      this.#assertUnmodified();
      this.#isRagged = this.#isDoubtful = true;
      writeAll(this.#file, bytes, this.#lengthBytes);
      this.#isRagged = false;
      this.#lengthBytes += bytes.length;
      this.#content.update(bytes);
      this.#stats = statFile(this.#file);
    } catch (thrown) {
      throw toDatabaseError(this.#path, thrown);
    }
  }

  markEnd(): void {
    this.#markedBytes = this.#lengthBytes;
    this.#marked = this.#content.copy();
  }

  /** Resolves to the committed extent once it is on disk. */
  flush(): Promise<Extent> {
    return asDiskError(this.#path, async () => {
      await this.#file.datasync();
      return { lengthBytes: this.#markedBytes, digest: getDigest(this.#marked) };
    });
  }

  /**
   * Truncates the file to the committed extent, appends `tail`, and closes it.
   * @returns its size in bytes
   * @throws FileError where another program changed the file meanwhile, which is then left
   * unchanged
   */
  close(extent: Extent, tail: string): Promise<number> {
    const path = this.#path;
    const file = this.#file;
    return asDiskError(path, async () => {
      try {
        this.#assertUnmodified();
        if (this.#isDoubtful && (await hashContent(file, extent)) === undefined)
          throw makeModifiedError(path);
        await file.truncate(extent.lengthBytes);
        writeAll(file, Buffer.from(tail), extent.lengthBytes);
        await file.datasync();
        const closed = statFile(file);
        assertSameFile(path, closed);
        return Number(closed.size);
      } finally {
        await file.close();
      }
    });
  }

  #assertUnmodified(): void {
    const before = this.#stats.ctimeNs;
    this.#stats = statFile(this.#file);
    assertSize(
      this.#path,
      this.#stats,
      this.#lengthBytes,
      this.#isRagged ? undefined : this.#lengthBytes,
    );
    // No program can set the change time, unlike the modification time.
    this.#isDoubtful ||= this.#stats.ctimeNs !== before;
  }
}

/** Synchronous: the thread pool takes many times as long. */
function statFile({ fd }: FileHandle): BigIntStats {
  return fstatSync(fd, { bigint: true });
}

function writeAll({ fd }: FileHandle, bytes: Buffer, position: number): void {
  for (let doneCount = 0; doneCount < bytes.length; )
    doneCount += writeSync(fd, bytes, doneCount, bytes.length - doneCount, position + doneCount);
}

/** Returns the hash of the committed bytes; undefined where they differ from the digest. */
async function hashContent(
  file: FileHandle,
  { lengthBytes, digest }: Extent,
): Promise<Hash | undefined> {
  const content = createHash('sha256');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let at = 0; at < lengthBytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, lengthBytes - at), at);
    if (bytesRead === 0) return undefined;
    content.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return digest === null || digest === getDigest(content) ? content : undefined;
}

/** Returns the digest so far; the hash can be continued. */
function getDigest(content: Hash): string {
  return content.copy().digest('base64');
}

function assertSize(
  path: string,
  { size }: BigIntStats,
  atLeast: number,
  exactly: number | undefined,
): void {
  if (size < atLeast || (exactly !== undefined && size < exactly)) {
    throw makeModifiedFileError(
      path,
      t`${path} is shorter than the data harvested into it: the file was changed.`,
    );
  }
  if (exactly === undefined || size === BigInt(exactly)) return;
  throw makeModifiedFileError(
    path,
    t`${path} was modified: something was added after the harvested data.`,
  );
}

/**
 * Asserts that a path still leads to the opened file; on Windows nothing is checked.
 * @throws FileError where the opened file was removed or replaced
 */
export function assertSameFile(path: string, { dev, ino }: BigIntStats): void {
  // Windows does not allow replacing an open file, and its network drives change file numbers.
  if (process.platform === 'win32') return;
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  if (there?.dev === dev && there.ino === ino) return;
  throw makeModifiedFileError(
    path,
    t`${path} has been removed or replaced since pas began to write.`,
  );
}

function makeModifiedError(path: string): FileError {
  return makeModifiedFileError(path, t`${path} was modified: the harvested data was changed.`);
}

/** Makes the error for an output that another program changed; the user must decide. */
function makeModifiedFileError(path: string, message: string): FileError {
  return new FileError(path, message, {
    hint: t`Add --verify to repair it from the service, or give another --out.`,
  });
}

async function asDiskError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
