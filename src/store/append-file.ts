import { constants, type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { FileError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';
import { flushFolder } from './folder.ts';

/** A file that only grows, of which the caller remembers how much is committed. */
export type AppendFile = {
  /** Bytes that were appended since the file was begun, all of them on disk. */
  readonly lengthBytes: number;
  /** Resolves when the bytes are on disk, not only in the cache. @throws DatabaseError when the disk refuses */
  append(bytes: Buffer): Promise<void>;
  /** Cuts the file back to `committedBytes`, puts `tail` behind them, and closes it. */
  close(committedBytes: number, tail: string): Promise<void>;
};

/**
 * Opens or makes a file and cuts off what stands behind its committed bytes: a process that died had not finished it.
 * @throws FileError where the file has fewer bytes than were committed, or is none; DatabaseError when the disk refuses
 */
export async function openAppendFile(path: string, committedBytes: number): Promise<AppendFile> {
  const file = await asDiskError(path, () => open(path, constants.O_RDWR | constants.O_CREAT, 0o600));
  try {
    await asDiskError(path, async () => {
      const stat = await file.stat();
      if (!stat.isFile()) throw new FileError(path, t`${path} is not a file.`, { hint: t`Give another --out.` });
      if (stat.size < committedBytes) throw tooShort(path);
      await file.truncate(committedBytes);
      flushFolder(dirname(path));
    });
  } catch (thrown) {
    await file.close();
    throw thrown;
  }
  let lengthBytes = committedBytes;
  return {
    get lengthBytes() {
      return lengthBytes;
    },
    append: (bytes) =>
      asDiskError(path, async () => {
        await writeAll(file, bytes, lengthBytes);
        await file.datasync();
        lengthBytes += bytes.length;
      }),
    close: (committed, tail) =>
      asDiskError(path, async () => {
        try {
          await file.truncate(committed);
          await writeAll(file, Buffer.from(tail), committed);
          await file.datasync();
        } finally {
          await file.close();
        }
      }),
  };
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, position + done);
    done += bytesWritten;
  }
}

function tooShort(path: string): FileError {
  return new FileError(path, t`${path} is shorter than what was harvested into it: somebody changed it.`, {
    hint: t`Give another --out, or delete the file and its notes to begin anew.`,
  });
}

async function asDiskError<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
