import { type FileHandle, open } from 'node:fs/promises';
import { FileError, messageOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';

/** Larger tables and documents are not read: no season, and no museum, has one. */
export const MAX_INPUT_BYTES = 256 * 1024 * 1024;

/**
 * The whole of a file that the user named.
 *
 * @throws FileError where it is missing, a folder or a device, not readable, or larger than {@link MAX_INPUT_BYTES}
 */
export async function readInputFile(path: string): Promise<Buffer> {
  const file = await openInputFile(path);
  try {
    const { size } = await file.stat();
    if (size > MAX_INPUT_BYTES) {
      throw new FileError(path, msg`${path} has ${size} bytes; at most ${MAX_INPUT_BYTES} are read.`, {
        hint: msg`Split the file.`,
      });
    }
    return await file.readFile();
  } catch (error) {
    throw error instanceof FileError ? error : new FileError(path, cannotBeRead(path, messageOf(error)), { cause: error });
  } finally {
    await file.close();
  }
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
