import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toDatabaseError } from './database.ts';
import { makeTempPath, removeTemp, TEMP_PATTERN } from './files.ts';
import { flushFolder, makeFolder, renameOver } from './folder.ts';

type NamedContent = { readonly name: string; readonly content: string | Buffer };

/**
 * Writes files into a folder, each atomically; existing files of these names are replaced. Until {@link flushFiles} a power cut
 * may undo it.
 * @param files names made by {@link makeSafeFileName}, each once
 * @throws DatabaseError when the disk fails
 */
export function writeFiles(folder: string, files: readonly NamedContent[]): void {
  try {
    makeFolder(folder);
    for (const { name, content } of files) {
      const draft = makeTempPath(folder);
      try {
        writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
        renameOver(draft, join(folder, name));
      } catch (thrown) {
        removeTemp(draft);
        throw thrown;
      }
    }
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

/** Number of files open at once: the disk completes parallel flushes sooner. */
const AT_ONCE = 128;

/**
 * Resolves when all files of a folder are flushed to disk. They are flushed one by one where the system cannot flush the whole
 * disk, which takes a tenth of the time.
 * @throws DatabaseError when the disk fails
 */
export async function flushFiles(folder: string): Promise<void> {
  if (await syncDisk(folder)) return;
  try {
    const names = await readdir(folder);
    for (let first = 0; first < names.length; first += AT_ONCE) {
      await Promise.all(names.slice(first, first + AT_ONCE).map((name) => flushFile(join(folder, name))));
    }
    flushFolder(folder);
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

/** Node has no syncfs(2); the program `sync` of GNU and BusyBox calls it. */
async function syncDisk(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return false;
  const sync = spawn('sync', ['-f', resolve(folder)], { stdio: 'ignore' });
  return new Promise((done) => sync.once('error', () => done(false)).once('close', (code) => done(code === 0)));
}

async function flushFile(path: string): Promise<void> {
  const file = openSync(path, 'r+');
  try {
    await new Promise<void>((done, fail) => fsync(file, (error) => (error === null ? done() : fail(error))));
  } finally {
    closeSync(file);
  }
}

/** Size, change time and digest of a file. */
export type FileStanding = { readonly sizeBytes: number; readonly changedNs: string; readonly digest: Buffer };

/**
 * Returns size, change time and digest of a file; undefined where there is none.
 * @param standing its digest is reused where the file was not touched since
 * @param content the bytes just written there, which saves reading them
 */
export function readFileStanding(path: string, standing?: FileStanding, content?: string | Buffer): FileStanding | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    const [sizeBytes, changedNs] = [Number(stat.size), String(stat.ctimeNs)];
    const isUntouched = standing?.sizeBytes === sizeBytes && standing.changedNs === changedNs;
    const digest = isUntouched
      ? standing.digest
      : createHash('sha256')
          .update(content ?? readFileSync(path))
          .digest();
    return { sizeBytes, changedNs, digest };
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}

/** Removes temporary files of processes that died; no other process may write there. */
export async function removeTemps(folder: string): Promise<void> {
  try {
    const drafts = (await readdir(folder)).filter((name) => TEMP_PATTERN.test(name));
    for (const name of drafts) await rm(join(folder, name), { force: true });
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

const MAX_CHARACTERS = 120;

/**
 * Makes a safe file name: groups of capitals and digits such as `C-202400101-N00001`, or of small letters and a number such as
 * `ruian-676730`, stay; other texts become their harmless characters and a digest. So no name leaves its folder, is hidden or a
 * device name, or stands for two texts, also on a case-insensitive disk.
 */
export function makeSafeFileName(text: string, extension: string): string {
  const plain = /^(?:[A-Z0-9]+(?:-[A-Z0-9]+)*|[a-z]+-\d+)$/.test(text) && !isDevice(text) && text.length <= MAX_CHARACTERS;
  if (plain) return text + extension;
  const readable = text.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_CHARACTERS);
  return `${readable}~${createHash('sha256').update(text).digest('hex').slice(0, 16)}${extension}`;
}

/** Tells if Windows reserves a name, with any extension. */
function isDevice(text: string): boolean {
  return /^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)$/i.test(text);
}
