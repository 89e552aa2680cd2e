import { spawn } from 'node:child_process';
import { createHash, hash } from 'node:crypto';
import {
  type BigIntStats,
  closeSync,
  fstatSync,
  fsync,
  openSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { toDatabaseError } from './database.ts';
import { makeTempPath, removeTemp, TEMP_PATTERN } from './files.ts';
import { flushFolder, makeFolder, renameOver } from './folder.ts';

type NamedContent = { readonly name: string; readonly content: string | Buffer };

/**
 * Writes files into a folder, and returns their standings. Existing files of these names are
 * replaced atomically; of a new one, a killed process may leave a part. Until {@link flushFiles} a
 * power cut may undo it.
 * @param files names made by {@link makeSafeFileName}, each once
 * @throws DatabaseError when the disk fails
 */
export function writeFiles<File extends NamedContent>(
  folder: string,
  files: readonly File[],
): (File & FileStanding)[] {
  try {
    makeFolder(folder);
    return files.map((file) => {
      const path = join(folder, file.name);
      return { ...file, ...(createFile(path, file.content) ?? replaceFile(path, file.content)) };
    });
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
  }
}

/** Creates a file; undefined where the name is taken. */
function createFile(path: string, content: string | Buffer): FileStanding | undefined {
  let file: number;
  try {
    file = openSync(path, 'wx', 0o600);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST') return undefined;
    throw thrown;
  }
  try {
    writeFileSync(file, content);
    return makeStanding(fstatSync(file, { bigint: true }), content);
  } catch (thrown) {
    removeTemp(path);
    throw thrown;
  } finally {
    closeSync(file);
  }
}

function replaceFile(path: string, content: string | Buffer): FileStanding {
  const draft = makeTempPath(dirname(path));
  try {
    createFile(draft, content);
    renameOver(draft, path);
    return makeStanding(statSync(path, { bigint: true }), content);
  } catch (thrown) {
    removeTemp(draft);
    throw thrown;
  }
}

/** Number of files open at once: the disk completes parallel flushes sooner. */
const AT_ONCE = 128;

/**
 * Resolves when all files of a folder are flushed to disk. They are flushed one by one where the
 * system cannot flush the whole disk, which takes a tenth of the time.
 * @throws DatabaseError when the disk fails
 */
export async function flushFiles(folder: string): Promise<void> {
  if (await syncDisk(folder)) return;
  try {
    const names = await readdir(folder);
    for (let first = 0; first < names.length; first += AT_ONCE) {
      await Promise.all(
        names.slice(first, first + AT_ONCE).map((name) => flushFile(join(folder, name))),
      );
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
  return new Promise((done) =>
    sync.once('error', () => done(false)).once('close', (code) => done(code === 0)),
  );
}

async function flushFile(path: string): Promise<void> {
  const file = openSync(path, 'r+');
  try {
    await new Promise<void>((done, fail) =>
      fsync(file, (error) => (error === null ? done() : fail(error))),
    );
  } finally {
    closeSync(file);
  }
}

/** Size, change time and digest of a file. */
export type FileStanding = {
  readonly sizeBytes: number;
  readonly changedNs: string;
  readonly digest: string;
};

/**
 * Returns size, change time and digest of a file; undefined where there is none.
 * @param known its digest is reused where the file was not touched since
 */
export function readFileStanding(path: string, known?: FileStanding): FileStanding | undefined {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    if (stat?.isFile() !== true) return undefined;
    const isUntouched =
      known?.sizeBytes === Number(stat.size) && known.changedNs === String(stat.ctimeNs);
    return isUntouched ? known : makeStanding(stat, readFileSync(path));
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}

function makeStanding({ size, ctimeNs }: BigIntStats, content: string | Buffer): FileStanding {
  return {
    sizeBytes: Number(size),
    changedNs: String(ctimeNs),
    digest: hash('sha256', content, 'base64'),
  };
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
 * Makes a safe file name: groups of capitals and digits such as `C-202400101-N00001`, or of small
 * letters and a number such as `ruian-676730`, stay; other texts become their harmless characters
 * and a digest. So no name leaves its folder, is hidden or a device name, or stands for two texts,
 * also on a case-insensitive disk.
 */
export function makeSafeFileName(text: string, extension: string): string {
  const plain =
    /^(?:[A-Z0-9]+(?:-[A-Z0-9]+)*|[a-z]+-\d+)$/.test(text) &&
    !isDevice(text) &&
    text.length <= MAX_CHARACTERS;
  if (plain) return text + extension;
  const readable = text.replace(/[^A-Za-z0-9-]+/g, '_').slice(0, MAX_CHARACTERS);
  return `${readable}~${createHash('sha256').update(text).digest('hex').slice(0, 16)}${extension}`;
}

/** Tells if Windows reserves a name, with any extension. */
function isDevice(text: string): boolean {
  return /^(?:CON|PRN|AUX|NUL|COM\d|LPT\d)$/i.test(text);
}
