import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { FileError, getErrorCode } from '../../base/errors.ts';
import { makeErrorIssue, makeUnreadable } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { MISSING, PHOTO_MAX_BYTES, type ResolvePhoto } from '../../photo/photograph.ts';
import { toDatabaseError } from '../../store/database.ts';
import { isAlive } from '../../store/files.ts';
import type { Attachments } from '../../tables/table.ts';
import type { PhotographKeeping } from './store-photographs.ts';

export type EnclosedPhotographs = PhotographKeeping & {
  readonly resolvePhoto: ResolvePhoto;
  /** Removes unpacked files, and closes the archive. */
  close(): Promise<void>;
};

type Keeping = PhotographKeeping & {
  /** Resolver for photographs that are not in the archive; without it they are missing. */
  readonly beside?: ResolvePhoto | undefined;
};

const UNPACKED = /^unpacked-(\d+)-/;

/**
 * Opens the photographs of an archive: each is unpacked in `home` for its inspection, and removed
 * when it is stored, so that they are never all unpacked. Leftovers of a killed run are removed
 * first.
 */
export function openEnclosedPhotographs(
  file: string,
  { paths, archive }: Attachments,
  home: string,
  keeping: Keeping,
): EnclosedPhotographs {
  const knownPaths = new Set(paths);
  let folder: string | undefined;
  const makeUnpackedPath = (path: string): string => {
    if (folder === undefined) {
      cleanUp(home);
      folder = mkdtempSync(join(home, `unpacked-${process.pid}-`));
    }
    return join(folder, basename(path));
  };
  return {
    resolvePhoto: (name) => {
      const path = [name, name.normalize('NFC'), name.normalize('NFD')].find((each) =>
        knownPaths.has(each),
      );
      if (path !== undefined) return { value: path };
      return (
        keeping.beside?.(name) ??
        makeUnreadable(
          MISSING,
          msg`There is no photograph "${name}" in ${file}. Export it again with its files.`,
        )
      );
    },
    async inspectPhotograph(name) {
      if (!knownPaths.has(name)) return keeping.inspectPhotograph(name);
      let path: string;
      try {
        path = makeUnpackedPath(name);
        rmSync(path, { force: true });
        await archive?.unpack(name, path, PHOTO_MAX_BYTES);
      } catch (thrown) {
        const isTooLong = getErrorCode(thrown) === 'ENAMETOOLONG';
        if (!(thrown instanceof FileError) && !isTooLong) throw toDatabaseError(home, thrown);
        const problem = thrown instanceof FileError ? thrown.says : msg`its name is too long`;
        return {
          issues: [
            makeErrorIssue(
              'photo-unreadable',
              msg`The photograph ${name} cannot be unpacked: ${problem}`,
            ),
          ],
        };
      }
      const inspected = await keeping.inspectPhotograph(path);
      if (inspected.photograph === undefined) rmSync(path, { force: true });
      return inspected;
    },
    async storePhotograph(photograph) {
      await keeping.storePhotograph(photograph);
      if (folder !== undefined && dirname(photograph.source) === folder)
        rmSync(photograph.source, { force: true });
    },
    async close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      await archive?.close();
    },
  };
}

function cleanUp(home: string): void {
  for (const name of readdirSync(home)) {
    const pid = UNPACKED.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid)))
      rmSync(join(home, name), { recursive: true, force: true });
  }
}
