import { createHash, randomUUID } from 'node:crypto';
import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { toDatabaseError } from '../../base/disk/database.ts';
import {
  createFolder,
  deleteStaleTempsBeside,
  flushFolder,
  readFileInPieces,
  writeAtomicFile,
} from '../../base/disk/files.ts';
import { makeVerificationError } from '../../base/disk/output-file.ts';
import { FileError, getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import type { Outbox } from '../open-outbox.ts';

/**
 * Content-addressed copies of files, named by SHA-512: equal files are stored once, and damage is
 * detectable.
 */
type ContentStore = ReturnType<typeof makeContentStore>;

/**
 * Copies a file from one store to another, and tells if the other has it then: false where `from`
 * lacks the file, or its copy is damaged. A damaged copy is stored under its digest of now.
 * @throws as `add` of the store
 */
export async function copyStoredFile(
  sha512: string,
  from: ContentStore,
  to: ContentStore,
): Promise<boolean> {
  const path = from.getPath(sha512);
  return existsSync(path) && (await to.add(path)).sha512 === sha512;
}

/**
 * Makes the store of copies in a folder: `getPath` returns the path of a copy by its SHA-512 in
 * hexadecimal, whether or not it is there. Nothing is read or written yet.
 */
export function makeContentStore(folder: string) {
  const getPath = (sha512: string): string => join(folder, sha512.slice(0, 2), sha512);
  return {
    getPath,
    /**
     * Adds a copy, which is verified before it gets its name, since it may become the only one. It
     * replaces the copy of that name, which may be damaged.
     * @param source a file's path, or the bytes
     * @returns SHA-512, in hexadecimal, and size of what was copied
     * @throws DatabaseError when the disk fails; FileError when the source cannot be read
     */
    async add(source: string | Readable) {
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
      let sha512 = '';
      try {
        createFolder(folder);
        await writeAtomicFile(folder, 0o600, measured(), async (draft) => {
          sha512 = hash.digest('hex');
          if (sha512 !== (await digestFile(draft))) throw makeVerificationError(getPath(sha512));
          deleteStaleTempsBeside(draft);
          createFolder(dirname(getPath(sha512)));
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
    for await (const piece of readFileInPieces(path)) yield piece;
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

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha512');
  for await (const piece of readFileInPieces(path)) hash.update(piece);
  return hash.digest('hex');
}

/**
 * A copy is made before its entry, so a young one may belong to a photograph that is being added.
 */
const MIN_AGE_MS = 3600_000;

/**
 * Returns the SHA-512, in hexadecimal, of photographs that are wanted, or would be after an undo.
 * The slots lie between the prefix and its upper bound, `photo!`.
 */
function listUsedDigests(outbox: Outbox): Set<string> {
  const digests = outbox.listTexts(
    `select distinct body ->> '$.photograph.sha512' as digest
     from facts join intents on intents.id = body ->> '$.intent'
     where facts.kind = 'current' and slot >= 'photo ' and slot < 'photo!' and content is not null
       and digest is not null`,
  );
  return new Set(digests);
}

/**
 * Deletes copies of photographs that are not wanted, and would not be after an undo. Those of the
 * last hour stay, since they may belong to a photograph that is being added.
 * @throws DatabaseError where the disk fails
 */
export function deleteUnusedCopies(outbox: Outbox, photosFolder: string): void {
  const copies = listCopies(photosFolder);
  if (copies.length === 0) return;
  const oldMs = readTimeOfDisk(photosFolder) - MIN_AGE_MS;
  // Nothing is added during the transaction.
  outbox.change(() => {
    const used = listUsedDigests(outbox);
    for (const { digest, path } of copies)
      if (!used.has(digest) && getWrittenMs(path) < oldMs) removeFile(path);
  });
}

type Copy = { readonly digest: string; readonly path: string };

/** Lists the files in the layout of the content store; other files are left alone. */
function listCopies(folder: string): Copy[] {
  return listNames(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) =>
      listNames(join(folder, name))
        .filter((digest) => /^[0-9a-f]{128}$/.test(digest) && digest.startsWith(name))
        .map((digest) => ({ digest, path: join(folder, name, digest) })),
    );
}

function listNames(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(thrown))) return [];
    throw toDatabaseError(folder, thrown);
  }
}

/**
 * Returns the time that a new file gets: a drive of a network has a clock of its own. 0 where none
 * can be written.
 */
function readTimeOfDisk(folder: string): number {
  const path = join(folder, `.${randomUUID()}.tmp`);
  try {
    writeFileSync(path, '');
    return getWrittenMs(path);
  } catch {
    // Safe to ignore: nothing is old then, and a later removal deletes the copies.
    return 0;
  } finally {
    removeFile(path);
  }
}

/** Returns the time of the last change; infinity for a missing file. */
function getWrittenMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Number.POSITIVE_INFINITY;
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
