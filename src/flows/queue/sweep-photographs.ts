import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { getErrorCode } from '../../base/errors.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { listUsedPhotographs } from '../../outbox/removal.ts';
import { toDatabaseError } from '../../store/database.ts';

/**
 * A copy is made before its entry, so a young one may belong to a photograph that is being added.
 */
const MIN_AGE_MS = 3600_000;

/** Files per transaction: few enough that a parallel push waits only briefly. */
const BATCH = 50;

/**
 * Removes copies of photographs without an entry.
 * @returns their number
 * @throws DatabaseError where the disk fails
 */
export function sweepPhotographs(outbox: Outbox, photosFolder: string): number {
  const used = listUsedPhotographs(outbox);
  const unused = listCopies(photosFolder).filter(
    ({ digest, path }) => !used.has(digest) && isOld(outbox, path),
  );
  let removed = 0;
  for (let at = 0; at < unused.length; at += BATCH) {
    // The transaction prevents additions, and the second check keeps copies that were added since
    // the first.
    removed += outbox.change(() => {
      const usedNow = listUsedPhotographs(outbox);
      const rest = unused
        .slice(at, at + BATCH)
        .filter(({ digest, path }) => !usedNow.has(digest) && isOld(outbox, path));
      for (const { path } of rest) removeFile(path);
      return rest.length;
    });
  }
  return removed;
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

function isOld({ clock }: Outbox, path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && stats.mtimeMs < clock.now() - MIN_AGE_MS;
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
