import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { usedPhotographs } from '../../outbox/removal.ts';
import { toDatabaseError } from '../../store/database.ts';

/** A copy is made before its entry: one that is younger may belong to a photograph that is being added. */
const MIN_AGE_MS = 3600_000;

/** Files that are removed in one transaction: few enough that a push beside it does not wait for long. */
const BATCH = 50;

/**
 * Removes copies of photographs that no entry refers to any more.
 * @returns how many were removed
 * @throws DatabaseError where the disk refuses
 */
export function sweepPhotographs(outbox: Outbox, photosFolder: string): number {
  const used = usedPhotographs(outbox);
  const unused = copiesIn(photosFolder).filter(({ digest, path }) => !used.has(digest) && isOld(outbox, path));
  let removed = 0;
  for (let at = 0; at < unused.length; at += BATCH) {
    // No photograph is added meanwhile; one that was added since it was looked for stays.
    removed += outbox.change(() => {
      const usedNow = usedPhotographs(outbox);
      const rest = unused.slice(at, at + BATCH).filter(({ digest, path }) => !usedNow.has(digest) && isOld(outbox, path));
      for (const { path } of rest) removeFile(path);
      return rest.length;
    });
  }
  return removed;
}

type Copy = { readonly digest: string; readonly path: string };

/** As the content store lays them out; what else lies there is left alone. */
function copiesIn(folder: string): Copy[] {
  return namesIn(folder)
    .filter((name) => /^[0-9a-f]{2}$/.test(name))
    .flatMap((name) =>
      namesIn(join(folder, name))
        .filter((digest) => /^[0-9a-f]{128}$/.test(digest) && digest.startsWith(name))
        .map((digest) => ({ digest, path: join(folder, name, digest) })),
    );
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && (thrown.code === 'ENOENT' || thrown.code === 'ENOTDIR')) return [];
    throw toDatabaseError(folder, thrown);
  }
}

function isOld({ clock }: Outbox, path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found !== undefined && found.mtimeMs < clock.now() - MIN_AGE_MS;
}

function removeFile(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch (thrown) {
    throw toDatabaseError(path, thrown);
  }
}
