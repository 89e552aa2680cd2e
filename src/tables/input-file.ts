import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { FileError, getErrorCode, getErrorMessage } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { assertInputSize } from './table.ts';

/**
 * Reads a file of the user.
 * @throws FileError where it is no readable file, or larger than {@link MAX_INPUT_BYTES}
 */
export async function readInputFile(path: string): Promise<Buffer> {
  const file = await openInputFile(path);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) return await readAtMost(path, readPipe(path, file));
    assertInputSize(path, stats.size);
    return await file.readFile();
  } catch (error) {
    if (error instanceof FileError) throw error;
    const problem = getErrorMessage(error);
    throw new FileError(path, msg`${path} cannot be read: ${problem}`, { cause: error });
  } finally {
    await file.close();
  }
}

/**
 * Reads a pipe to its end.
 * @throws FileError where it is more than {@link MAX_INPUT_BYTES}
 */
export async function readAtMost(name: string, pipe: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of pipe) {
    const bytes = Buffer.from(chunk as Buffer);
    size += bytes.length;
    assertInputSize(name, size);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/**
 * Limits in milliseconds for the first writer of a named pipe, and for a pause between its data.
 */
const MAX_WRITER_WAIT_MS = 5000;
const MAX_PIPE_WAIT_MS = 60_000;
const PIPE_POLL_MS = 20;
const PIPE_BYTES = 64 * 1024;

/**
 * Reads without blocking: neither a deadline nor a signal ends a read that waits in the operating
 * system.
 */
async function* readPipe(path: string, file: FileHandle): AsyncGenerator<Buffer> {
  let hasWriter = false;
  for (let waitedMs = 0; ; ) {
    const piece = await readSome(file);
    if (piece !== undefined && piece.length > 0) {
      [hasWriter, waitedMs] = [true, 0];
      yield piece;
      continue;
    }
    if (piece !== undefined && hasWriter) return;
    hasWriter ||= piece === undefined;
    const maxMs = hasWriter ? MAX_PIPE_WAIT_MS : MAX_WRITER_WAIT_MS;
    if (waitedMs >= maxMs) {
      const seconds = maxMs / 1000;
      throw new FileError(path, msg`${path} is a pipe, and sent nothing for ${seconds} seconds.`, {
        hint: msg`Start the program that writes to it first, or name a file.`,
      });
    }
    await sleep(PIPE_POLL_MS);
    waitedMs += PIPE_POLL_MS;
  }
}

/**
 * Returns an empty buffer where no program has the pipe open for writing; undefined while one has
 * written nothing new.
 */
async function readSome(file: FileHandle): Promise<Buffer | undefined> {
  try {
    const { bytesRead, buffer } = await file.read(
      Buffer.allocUnsafe(PIPE_BYTES),
      0,
      PIPE_BYTES,
      null,
    );
    return buffer.subarray(0, bytesRead);
  } catch (thrown) {
    if (getErrorCode(thrown) === 'EAGAIN') return undefined;
    throw thrown;
  }
}

async function openInputFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    // Opening a pipe would block until a program writes to it.
    file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw new FileError(path, explainNotOpened(path, error), { cause: error });
  }
  const kind = await file.stat();
  if (kind.isFile() || kind.isFIFO()) return file;
  await file.close();
  throw new FileError(
    path,
    kind.isDirectory()
      ? msg`${path} is a folder, not a file.`
      : msg`${path} is not a regular file.`,
  );
}

function explainNotOpened(path: string, error: unknown): Message {
  switch (getErrorCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return msg`There is no file ${path}.`;
    case 'EACCES':
    case 'EPERM':
      return msg`${path} cannot be read: permission denied.`;
    default: {
      const problem = getErrorMessage(error);
      return msg`${path} cannot be opened: ${problem}`;
    }
  }
}
