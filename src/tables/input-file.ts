import { type FileHandle, open } from 'node:fs/promises';
import { FileError, messageOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** Maximum size of tables and documents: a season has a few MB, and parsing takes several times the size. */
export const MAX_INPUT_BYTES = 64 * 1024 * 1024;

/**
 * Reads a file that the user named.
 * @throws FileError where it is missing, a folder or a device, not readable, or larger than {@link MAX_INPUT_BYTES}
 */
export async function readInputFile(path: string): Promise<Buffer> {
  const file = await openInputFile(path);
  try {
    const found = await file.stat();
    if (!found.isFile()) return await readAtMost(path, file.createReadStream({ autoClose: false }));
    refuseLargeInput(path, found.size);
    return await file.readFile();
  } catch (error) {
    throw error instanceof FileError ? error : new FileError(path, cannotBeRead(path, messageOf(error)), { cause: error });
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
    refuseLargeInput(name, size);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** @throws FileError where it is more than {@link MAX_INPUT_BYTES} */
export function refuseLargeInput(name: string, size: number): void {
  if (size <= MAX_INPUT_BYTES) return;
  throw new FileError(name, msg`${name} has ${size} bytes; at most ${MAX_INPUT_BYTES} are read.`, {
    hint: msg`Split the table, or take away what is not part of it.`,
  });
}

async function openInputFile(path: string): Promise<FileHandle> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch (error) {
    throw new FileError(path, whyNotOpened(path, error), { cause: error });
  }
  const kind = await file.stat();
  if (kind.isFile() || kind.isFIFO()) return file;
  await file.close();
  throw new FileError(path, kind.isDirectory() ? msg`${path} is a folder, not a file.` : msg`${path} is not a regular file.`);
}

function whyNotOpened(path: string, error: unknown): Message {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'ENOENT':
    case 'ENOTDIR':
      return msg`There is no file ${path}.`;
    case 'EACCES':
    case 'EPERM':
      return msg`${path} may not be read: permission denied.`;
    default:
      return cannotBeOpened(path, messageOf(error));
  }
}

function cannotBeRead(path: string, problem: Message): Message {
  return msg`${path} cannot be read: ${problem}`;
}

function cannotBeOpened(path: string, problem: Message): Message {
  return msg`${path} cannot be opened: ${problem}`;
}
