import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { toDatabaseError } from './database.ts';
import { readAhead } from './read-ahead.ts';

/** Copies of files, each named by its SHA-512, so that the same file is kept once and a damaged one shows. */
type ContentStore = {
  /**
   * @param source a file's path, or the bytes themselves
   * @throws DatabaseError when the disk refuses; @throws Error when the source cannot be read
   */
  add(source: string | Readable): Promise<StoredContent>;
  pathOf(sha512: Buffer): string;
  open(sha512: Buffer): Readable;
};

type StoredContent = { readonly sha512: Buffer; readonly sizeBytes: number };

export function openContentStore(folder: string): ContentStore {
  const pathOf = (sha512: Buffer): string => {
    const hex = sha512.toString('hex');
    return join(folder, hex.slice(0, 2), hex);
  };
  return {
    pathOf,
    open: (sha512) => readAhead(pathOf(sha512)),
    async add(source) {
      const draft = join(folder, `${randomUUID()}.tmp`);
      try {
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const content = await copyHashed(typeof source === 'string' ? readAhead(source) : source, draft);
        const place = pathOf(content.sha512);
        await mkdir(join(place, '..'), { recursive: true, mode: 0o700 });
        // Also over a copy of that name: it may be damaged, and this one was just read.
        await rename(draft, place);
        return content;
      } catch (thrown) {
        await rm(draft, { force: true }).catch(() => {});
        throw toDatabaseError(folder, thrown);
      }
    },
  };
}

/** On disk, not only in the cache, before it gets its name: what has a name is whole. */
async function copyHashed(source: Readable, targetPath: string): Promise<StoredContent> {
  const hash = createHash('sha512');
  let sizeBytes = 0;
  const target = await open(targetPath, 'wx', 0o600);
  try {
    for await (const chunk of source) {
      const bytes = chunk as Buffer;
      hash.update(bytes);
      sizeBytes += bytes.length;
      await target.write(bytes);
    }
    await target.sync();
  } finally {
    await target.close();
  }
  return { sha512: hash.digest(), sizeBytes };
}
