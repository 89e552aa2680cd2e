import { hash, randomUUID } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConfigError, DatabaseError, getErrorCode } from '../errors.ts';
import { cmd, t } from '../message.ts';
import { createRowGuard, type GuardedType, isNumber, isText, toDatabaseError } from './database.ts';
import {
  deleteLeftovers,
  flushFolder,
  listNamesInFolder,
  makeFolder,
  renameOver,
} from './folder.ts';

/** Returns an unpredictable name for a temporary file, which no other process or link can have. */
export function makeTempPath(folder: string): string {
  return join(folder, `.${randomUUID()}.tmp`);
}

/** Longer than any write takes. */
const LEFT_AFTER_MS = 24 * 3600 * 1000;

/**
 * Removes abandoned temporary files beside a draft: not written to for a day by the disk's own
 * clock. Errors are ignored.
 */
export function removeStaleTemps(draft: string): void {
  try {
    const beforeMs = statSync(draft).mtimeMs - LEFT_AFTER_MS;
    deleteLeftovers(dirname(draft), /^\.[\da-f-]{36}\.tmp$/, beforeMs);
  } catch {
    // Not fatal; a later call may succeed.
  }
}

/** Tells if a process of this machine exists, also one of another user. */
export function isProcessAlive(pid: number): boolean {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (thrown) {
    return getErrorCode(thrown) !== 'ESRCH';
  }
}

/**
 * Writes a file for its owner only, atomically, flushed and read back.
 * @throws DatabaseError when the disk fails
 */
export function writePrivateFile(path: string, content: string | Buffer): void {
  const bytes = Buffer.from(content);
  const draft = makeTempPath(dirname(path));
  try {
    makeFolder(dirname(path));
    writeDurable(draft, bytes);
    if (!readFileSync(draft).equals(bytes)) throw makeVerificationError(path);
    removeStaleTemps(draft);
    renameOver(draft, path);
    flushFolder(dirname(path));
  } catch (thrown) {
    removeTemp(draft);
    throw toDatabaseError(path, thrown);
  }
}

/**
 * Creates a file for its owner only and flushes it.
 * @throws the error of the disk, unchanged
 */
export function writeDurable(path: string, bytes: Buffer): void {
  const file = openSync(path, 'wx', 0o600);
  try {
    // Unlike a single write, it reports a partial write on a full disk.
    writeFileSync(file, bytes);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** Removes a draft and ignores errors, so that the original error is reported. */
export function removeTemp(draft: string): void {
  try {
    rmSync(draft, { recursive: true, force: true });
  } catch {
    // The name is never reused.
  }
}

/**
 * Writes a file piece by piece, atomically. It gets its name when it is flushed; {@link
 * flushFolder} makes the name durable, once for all files of a folder.
 * @param chooseName inspects the finished draft and returns its final path
 * @throws the error of the disk, unchanged, and errors of the pieces and of `chooseName`
 */
export async function writeAtomic(
  folder: string,
  mode: number,
  pieces: Iterable<Buffer> | AsyncIterable<Buffer>,
  chooseName: (draft: string) => string | Promise<string>,
): Promise<void> {
  const draft = makeTempPath(folder);
  try {
    const file = await open(draft, 'wx', mode);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
      await file.sync();
    } finally {
      await file.close();
    }
    renameOver(draft, await chooseName(draft));
  } catch (thrown) {
    removeTemp(draft);
    throw thrown;
  }
}

/** Makes the error of a file from which other bytes are read than were written. */
export function makeVerificationError(path: string): DatabaseError {
  return new DatabaseError(t`${path}: the disk returns other data than was written.`, {
    hint: t`Check the disk or the network drive, then run the command again.`,
  });
}

/** A fetched file and its source. Times are milliseconds since 1970 UTC by this machine's clock. */
export type KeptFile = {
  readonly path: string;
  readonly url: string;
  readonly bytes: Buffer;
  readonly sha512Hex: string;
  readonly fetchedAtMs: number;
  /** Time of the last request to the source, whether it had changed or not. */
  readonly checkedAtMs: number;
};

const isCard = createRowGuard({
  url: isText,
  sha512Hex: isText,
  fetchedAtMs: isNumber,
  checkedAtMs: isNumber,
});
type Card = GuardedType<typeof isCard>;

const CARD = 'current.json';

/**
 * Reads the stored file of a folder; undefined where there is none.
 * @throws ConfigError where it differs from the fetched one
 */
export function readKeptFile(folder: string): KeptFile | undefined {
  const card = readCard(folder);
  if (card === undefined) return undefined;
  const path = getKeptPath(folder, card);
  const bytes = readOrUndefined(path);
  if (bytes === undefined || hashSha512(bytes) !== card.sha512Hex) throw makeDamagedError(path);
  return { ...card, path, bytes };
}

/**
 * Stores a file in place of the previous one. The card that names it by its digest is replaced last
 * and atomically.
 * @throws DatabaseError where the disk fails
 */
export function storeKeptFile(
  folder: string,
  { url, bytes, fetchedAtMs, checkedAtMs }: Omit<KeptFile, 'path' | 'sha512Hex'>,
): void {
  const card: Card = { url, sha512Hex: hashSha512(bytes), fetchedAtMs, checkedAtMs };
  const path = getKeptPath(folder, card);
  writePrivateFile(path, bytes);
  writePrivateFile(join(folder, CARD), `${JSON.stringify(card, null, 2)}\n`);
  removeKeptFiles(folder, basename(path));
}

/**
 * Removes the stored file of a folder, also a damaged one.
 * @returns false where there was none
 */
export function deleteKeptFile(folder: string): boolean {
  const had = existsSync(join(folder, CARD));
  // The card first: without it, the file is not in use.
  rmSync(join(folder, CARD), { force: true });
  removeKeptFiles(folder);
  return had;
}

/** @param except name of the file that the card names; without it, all are removed */
function removeKeptFiles(folder: string, except?: string): void {
  for (const name of listNamesInFolder(folder))
    if (/^[\da-f]{16}\.xsd$/.test(name) && name !== except)
      rmSync(join(folder, name), { force: true });
}

function getKeptPath(folder: string, { sha512Hex }: Card): string {
  return join(folder, `${sha512Hex.slice(0, 16)}.xsd`);
}

function readCard(folder: string): Card | undefined {
  const path = join(folder, CARD);
  const text = readOrUndefined(path);
  if (text === undefined) return undefined;
  try {
    const card: unknown = JSON.parse(String(text));
    if (isCard(card)) return card;
  } catch {
    // Reported below, together with JSON that is no card.
  }
  throw makeDamagedError(path);
}

function readOrUndefined(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (thrown) {
    if (['ENOENT', 'ENOTDIR'].includes(getErrorCode(thrown))) return undefined;
    throw new ConfigError(t`${path} cannot be read.`, {
      cause: thrown,
      hint: t`Check its permissions.`,
    });
  }
}

function makeDamagedError(path: string): ConfigError {
  return new ConfigError(t`${path} is damaged.`, {
    hint: t`Fetch it again with \`${cmd`pas schema --update`}\`.`,
  });
}

/** Returns the digest by which the contract and pas name content (A-DIGEST-1), hexadecimal. */
export function hashSha512(bytes: Buffer): string {
  return hash('sha512', bytes, 'hex');
}
