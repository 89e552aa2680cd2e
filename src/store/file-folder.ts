import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, fsync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { toDatabaseError } from './database.ts';
import { DRAFT_NAME, draftIn, removeDraft } from './files.ts';
import { flushFolder, makeFolder } from './folder.ts';
import { renameOver } from './rename-over.ts';

type NamedContent = { readonly name: string; readonly content: string | Buffer };

/**
 * Puts files into a folder, each whole or not at all. What had the name before is replaced. Until {@link flushFiles} a
 * power cut may take them away, or what is in them.
 * @param files names made by {@link safeFileName}, each once
 * @throws DatabaseError when the disk refuses
 */
export function writeFiles(folder: string, files: readonly NamedContent[]): void {
  try {
    makeFolder(folder);
    for (const { name, content } of files) {
      const draft = draftIn(folder);
      try {
        writeFileSync(draft, content, { flag: 'wx', mode: 0o600 });
        renameOver(draft, join(folder, name));
      } catch (thrown) {
        removeDraft(draft);
        throw thrown;
      }
    }
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

/** Files that are open at once: the disk answers several flushes together sooner than one after another. */
const AT_ONCE = 128;

/**
 * All files of a folder are on disk when the promise resolves. They are flushed one by one where the system cannot flush a
 * disk as a whole, which takes a tenth of the time.
 * @throws DatabaseError when the disk refuses
 */
export async function flushFiles(folder: string): Promise<void> {
  if (await hasFlushedDiskOf(folder)) return;
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

/** By syncfs(2), which Node does not offer: the program of GNU and BusyBox does. */
async function hasFlushedDiskOf(folder: string): Promise<boolean> {
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

/** How a file stands on the disk. */
export type FileStanding = { readonly sizeBytes: number; readonly changedNs: string; readonly digest: Buffer };

/**
 * Undefined where there is no such file.
 * @param known whose digest is taken over where nothing has touched the file since
 * @param content what has just been written there, and need not be read
 */
export function standingOf(path: string, known?: FileStanding, content?: string | Buffer): FileStanding | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    const [sizeBytes, changedNs] = [Number(stat.size), String(stat.ctimeNs)];
    const isUntouched = known?.sizeBytes === sizeBytes && known.changedNs === changedNs;
    const digest = isUntouched
      ? known.digest
      : createHash('sha256')
          .update(content ?? readFileSync(path))
          .digest();
    return { sizeBytes, changedNs, digest };
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}

/** Takes away what a process that died had not finished; nobody else may be writing there. */
export async function removeDrafts(folder: string): Promise<void> {
  try {
    const drafts = (await readdir(folder)).filter((name) => DRAFT_NAME.test(name));
    for (const name of drafts) await rm(join(folder, name), { force: true });
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

const MOST_CHARACTERS = 120;

/**
 * A file name for any text: the text itself where it is made of groups of capitals and digits such as `C-202400101-N00001`
 * or of small letters and a number such as `ruian-676730`; else what of it is harmless with a digest of the whole. So no
 * name leaves its folder, hides, means a device, or stands for two texts, also where case does not count.
 */
export function safeFileName(text: string, extension: string): string {
  const plain = /^(?:[A-Z0-9]+(?:-[A-Z0-9]+)*|[a-z]+-\d+)$/.test(text) && !isDevice(text) && text.length <= MOST_CHARACTERS;
  if (plain) return text + extension;
  const readable = text.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MOST_CHARACTERS);
  return `${readable}~${createHash('sha256').update(text).digest('hex').slice(0, 16)}${extension}`;
}

/** Names that Windows keeps for itself, whatever follows the dot. */
function isDevice(text: string): boolean {
  return /^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)$/i.test(text);
}
