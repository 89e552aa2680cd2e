import { createHash } from 'node:crypto';
import { type BigIntStats, constants, fstatSync, statSync, writeSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { createRowGuard, type GuardedType, isNumber, isText, toDatabaseError } from './database.ts';
import { flushFolder } from './folder.ts';

/** Committed part of an append-only file. Without a digest only its length is known. */
export type Extent = { readonly lengthBytes: number; readonly digest: ChainedDigest | null };

const isCheckpoint = createRowGuard({ sizeBytes: isNumber, changedNs: isText });
/** Size and change time of a file when it was closed. */
export type Checkpoint = GuardedType<typeof isCheckpoint>;

/** Returns a stored checkpoint; undefined where the value is not one. */
export function parseCheckpoint(stored: unknown): Checkpoint | undefined {
  return isCheckpoint(stored) ? stored : undefined;
}

/** An append-only file; the caller stores the committed extent. */
export type AppendFile = {
  isEmpty(): boolean;
  /**
   * Passes bytes to the operating system.
   * @throws DatabaseError when the disk fails, as do `flush` and `close`
   */
  append(bytes: Buffer): void;
  markEnd(): void;
  /** Resolves to the committed extent once it is on disk. */
  flush(): Promise<Extent>;
  /**
   * Truncates the file to the committed extent, appends `tail`, and closes it.
   * @throws FileError where another program changed the file meanwhile, which is then left
   * unchanged
   */
  close(committed: Extent, tail: string): Promise<Checkpoint>;
};

const CHUNK_BYTES = 1024 * 1024;

/**
 * Opens or creates a file, compares it with its recorded extent, and truncates bytes of a killed
 * process after it. The whole file is read if it changed since it was closed.
 * @param checkpoint undefined where the last writer did not close the file
 * @throws FileError where the content differs from the committed one, or the path is no file;
 * DatabaseError when the disk fails
 */
export async function openAppendFile(
  path: string,
  committed: Extent,
  checkpoint: Checkpoint | undefined,
): Promise<AppendFile> {
  const file = await asDiskError(path, () =>
    open(path, constants.O_RDWR | constants.O_CREAT, 0o600),
  );
  try {
    return await asDiskError(path, async () => {
      const stat = statFile(file);
      if (!stat.isFile())
        throw new FileError(path, t`${path} is not a file.`, { hint: t`Use another --out.` });
      assertSize(path, stat, committed.lengthBytes, checkpoint?.sizeBytes);
      const isUntouched = checkpoint !== undefined && checkpoint.changedNs === getChangedNs(stat);
      const chain = await readChain(file, committed, isUntouched);
      if (chain === undefined) throw makeModifiedError(path);
      await file.truncate(committed.lengthBytes);
      flushFolder(dirname(path));
      return new OpenFile(path, file, chain, committed.lengthBytes);
    });
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
}

class OpenFile implements AppendFile {
  readonly #path: string;
  readonly #file: FileHandle;
  readonly #chain: Chain;
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

  constructor(path: string, file: FileHandle, chain: Chain, lengthBytes: number) {
    this.#path = path;
    this.#file = file;
    this.#chain = chain;
    this.#stats = statFile(file);
    this.#lengthBytes = this.#markedBytes = lengthBytes;
  }

  isEmpty(): boolean {
    return this.#lengthBytes === 0;
  }

  append(bytes: Buffer): void {
    try {
      this.#assertUnmodified();
      this.#isRagged = this.#isDoubtful = true;
      writeAll(this.#file, bytes, this.#lengthBytes);
      this.#isRagged = false;
      this.#lengthBytes += bytes.length;
      this.#chain.add(bytes);
      this.#stats = statFile(this.#file);
    } catch (thrown) {
      throw toDatabaseError(this.#path, thrown);
    }
  }

  markEnd(): void {
    this.#markedBytes = this.#lengthBytes;
    this.#chain.mark();
  }

  flush(): Promise<Extent> {
    return asDiskError(this.#path, async () => {
      await this.#file.datasync();
      return { lengthBytes: this.#markedBytes, digest: this.#chain.getDigest() };
    });
  }

  close(extent: Extent, tail: string): Promise<Checkpoint> {
    const path = this.#path;
    const file = this.#file;
    return asDiskError(path, async () => {
      try {
        this.#assertUnmodified();
        if (this.#isDoubtful && (await readChain(file, extent, false)) === undefined)
          throw makeModifiedError(path);
        await file.truncate(extent.lengthBytes);
        writeAll(file, Buffer.from(tail), extent.lengthBytes);
        await file.datasync();
        const closed = statFile(file);
        assertSameFile(path, closed);
        return { sizeBytes: Number(closed.size), changedNs: getChangedNs(closed) };
      } finally {
        await file.close();
      }
    });
  }

  #assertUnmodified(): void {
    const before = getChangedNs(this.#stats);
    this.#stats = statFile(this.#file);
    assertSize(
      this.#path,
      this.#stats,
      this.#lengthBytes,
      this.#isRagged ? undefined : this.#lengthBytes,
    );
    this.#isDoubtful ||= getChangedNs(this.#stats) !== before;
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

/**
 * Returns the chain; undefined where the bytes differ from the committed ones.
 * @param isUntouched reads only the tail
 */
async function readChain(
  file: FileHandle,
  { lengthBytes, digest }: Extent,
  isUntouched: boolean,
): Promise<Chain | undefined> {
  const endOnly = isUntouched && digest !== null;
  const chain = beginChain(endOnly ? digest.chain : '');
  const buffer = Buffer.alloc(CHUNK_BYTES);
  for (let at = endOnly ? computeTailStart(lengthBytes) : 0; at < lengthBytes; ) {
    const { bytesRead } = await file.read(buffer, 0, Math.min(CHUNK_BYTES, lengthBytes - at), at);
    if (bytesRead === 0) return undefined;
    chain.add(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  chain.mark();
  if (digest === null) return chain;
  const chainedDigest = chain.getDigest();
  return chainedDigest.chain === digest.chain && chainedDigest.tail === digest.tail
    ? chain
    : undefined;
}

/** Returns the change time, which no program can set, unlike the modification time. */
function getChangedNs({ ctimeNs }: BigIntStats): string {
  return String(ctimeNs);
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

/** @throws FileError where the opened file was removed or replaced */
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

/** Digest of append-only bytes: `chain` of all except the end, `tail` of the chain and the end. */
type ChainedDigest = { readonly chain: string; readonly tail: string };

const BLOCK_BYTES = 64 * 1024;

/** Returns the offset at which the end begins: one or two blocks before `lengthBytes`, or 0. */
function computeTailStart(lengthBytes: number): number {
  return Math.max(0, Math.floor(lengthBytes / BLOCK_BYTES) - 1) * BLOCK_BYTES;
}

/** Digests appended bytes. Only their end is kept, from which another run can continue. */
type Chain = {
  add(bytes: Buffer): void;
  mark(): void;
  getDigest(): ChainedDigest;
};

/** @param chain digest of what precedes the first appended byte; empty at the beginning */
function beginChain(chain = ''): Chain {
  const end = Buffer.allocUnsafe(2 * BLOCK_BYTES);
  let complete = chain;
  let endBytes = 0;
  const markedEnd = Buffer.allocUnsafe(2 * BLOCK_BYTES);
  let markedChain = chain;
  let markedBytes = 0;
  return {
    add: (bytes) => {
      for (let doneCount = 0; doneCount < bytes.length; ) {
        const added = bytes.copy(end, endBytes, doneCount);
        doneCount += added;
        endBytes += added;
        if (endBytes < end.length) return;
        complete = linkDigest(complete, end.subarray(0, BLOCK_BYTES));
        end.copyWithin(0, BLOCK_BYTES);
        endBytes = BLOCK_BYTES;
      }
    },
    mark: () => {
      end.copy(markedEnd, 0, 0, endBytes);
      markedChain = complete;
      markedBytes = endBytes;
    },
    getDigest: () => ({
      chain: markedChain,
      tail: linkDigest(markedChain, markedEnd.subarray(0, markedBytes)),
    }),
  };
}

function linkDigest(chain: string, bytes: Buffer): string {
  return createHash('sha256').update(chain).update(bytes).digest('base64');
}
