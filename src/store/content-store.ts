import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { FileError, getErrorMessage } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { toDatabaseError } from './database.ts';
import { removeStaleTemps, writeAtomic, writeVerificationError } from './files.ts';
import { flushFolder, makeFolder } from './folder.ts';

/**
 * Content-addressed copies of files, named by SHA-512: equal files are stored once, and damage is
 * detectable.
 */
type ContentStore = ReturnType<typeof openContentStore>;

type StoredContent = { readonly sha512: Buffer; readonly sizeBytes: number };

/**
 * Copies content from one store to another.
 * @returns false where the first store lacks it, or it is damaged
 */
export async function copyContent(
  sha512: Buffer,
  from: ContentStore,
  to: ContentStore,
): Promise<boolean> {
  const path = from.getPath(sha512);
  return existsSync(path) && (await to.add(path)).sha512.equals(sha512);
}

/** Opens a folder of files named by SHA-512; `add` reads each back. */
export function openContentStore(folder: string) {
  const getPath = (sha512: Buffer): string => {
    const hex = sha512.toString('hex');
    return join(folder, hex.slice(0, 2), hex);
  };
  return {
    getPath,
    /**
     * Adds a copy and verifies it before it gets its name, since it may become the only one.
     * @param source a file's path, or the bytes
     * @throws DatabaseError when the disk fails; FileError when the source cannot be read
     */
    async add(source: string | Readable): Promise<StoredContent> {
      const hash = createHash('sha512');
      let sizeBytes = 0;
      const pieces: AsyncIterable<Buffer> =
        typeof source === 'string' ? readPieces(source) : source;
      const measured = async function* (): AsyncGenerator<Buffer> {
        for await (const piece of pieces) {
          hash.update(piece);
          sizeBytes += piece.length;
          yield piece;
        }
      };
      let sha512 = Buffer.alloc(0);
      try {
        makeFolder(folder);
        await writeAtomic(folder, 0o600, measured(), async (draft) => {
          sha512 = hash.digest();
          if (!sha512.equals(await digestFile(draft)))
            throw writeVerificationError(getPath(sha512));
          removeStaleTemps(draft);
          makeFolder(dirname(getPath(sha512)));
          // Overwrites an existing copy: it may be damaged, and this one was verified.
          return getPath(sha512);
        });
        flushFolder(dirname(getPath(sha512)));
        return { sha512, sizeBytes };
      } catch (thrown) {
        throw toDatabaseError(folder, thrown);
      }
    },
  };
}

async function* readPieces(path: string): AsyncGenerator<Buffer> {
  try {
    for await (const piece of readAhead(path)) yield piece;
  } catch (thrown) {
    const problem = getErrorMessage(thrown);
    throw new FileError(
      path,
      t`The photograph ${path} cannot be read: ${problem}. Copy it again from its source.`,
      {
        cause: thrown,
      },
    );
  }
}

async function digestFile(path: string): Promise<Buffer> {
  const hash = createHash('sha512');
  for await (const piece of readAhead(path)) hash.update(piece);
  return hash.digest();
}

const PIECE_BYTES = 1024 * 1024;

/**
 * Reads a file in pieces of up to a mebibyte, the next one while the consumer processes the last,
 * which Node's own file streams do not do: a digest and the disk would wait for each other.
 */
export async function* readAhead(path: string): AsyncGenerator<Buffer, void> {
  const file = await open(path);
  try {
    // Not much larger than the file: otherwise many small photographs would produce as much garbage
    // as large ones.
    const pieceBytes = Math.min((await file.stat()).size + 1, PIECE_BYTES);
    for (let coming = readPiece(file, pieceBytes); ; ) {
      const piece = await coming;
      if (piece.length === 0) return;
      coming = readPiece(file, pieceBytes);
      // Suppresses an unhandled rejection where the consumer stops early.
      coming.catch(() => undefined);
      yield piece;
    }
  } finally {
    await file.close();
  }
}

async function readPiece(file: FileHandle, sizeBytes: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.allocUnsafeSlow(sizeBytes));
  return bytesRead === buffer.length ? buffer : buffer.subarray(0, bytesRead);
}
