import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toDatabaseError } from './database.ts';
import { DRAFT_NAME, writeWhole } from './files.ts';
import { flushFolder, makeFolder } from './folder.ts';

export type NamedContent = { readonly name: string; readonly content: string | Buffer };

/** Files that are written at once: the disk answers several flushes together sooner than one after another. */
const AT_ONCE = 16;

/**
 * Puts files into a folder, each whole or not at all and on disk when the promise resolves. What had the name before is
 * replaced.
 * @param files names made by {@link safeFileName}, each once
 * @throws DatabaseError when the disk refuses
 */
export async function writeFiles(folder: string, files: readonly NamedContent[]): Promise<void> {
  const waiting = files.values();
  const work = async (): Promise<void> => {
    for (const { name, content } of waiting) await writeWhole(folder, 0o600, [Buffer.from(content)], () => join(folder, name));
  };
  try {
    makeFolder(folder);
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, files.length) }, work));
    flushFolder(folder);
  } catch (thrown) {
    throw toDatabaseError(folder, thrown);
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
