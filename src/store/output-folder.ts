import { mkdirSync, renameSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { FileError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { removeStaleTemps, removeTemp, tempPathIn, writeDurable } from './files.ts';
import { flushFolder } from './folder.ts';
import { asOutputError } from './output-file.ts';

type FolderContent = {
  readonly files: ReadonlyMap<string, Buffer>;
  /** Empty folders in it. */
  readonly folders: readonly string[];
};

/**
 * Makes a folder that the user named, atomically: it gets its name when all of it is on disk.
 * @param refuse throws for an existing folder that may not be replaced; undefined where none may be
 * @throws UsageError where a folder exists; DatabaseError when the disk is full; FileError when the path is not writable
 */
export function writeOutputFolder(path: string, { files, folders }: FolderContent, refuse?: (folder: string) => void): void {
  const target = resolve(path);
  const exists = refuseOther(target, path, refuse);
  const draft = tempPathIn(dirname(target));
  try {
    // Finds have exact locations: only the owner can read them.
    mkdirSync(draft, { mode: 0o700 });
    for (const name of folders) mkdirSync(join(draft, name), { mode: 0o700 });
    for (const [name, content] of files) writeDurable(join(draft, name), content);
    flushFolder(draft);
    removeStaleTemps(draft);
    if (exists) replaceFolder(draft, target, refuse);
    else renameSync(draft, target);
    flushFolder(dirname(target));
  } catch (thrown) {
    removeTemp(draft);
    throw asOutputError(path, thrown);
  }
}

function refuseOther(target: string, path: string, refuse?: (folder: string) => void): boolean {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isDirectory()) throw new FileError(path, t`${path} is a file, not a folder.`, { hint: t`Choose another name.` });
  if (refuse === undefined)
    throw new UsageError(t`There is already a folder ${path}.`, { hint: t`Choose another name, or replace it with --force.` });
  refuse(target);
  return true;
}

/** Another program may add files until the folder is renamed, so it is checked again. */
function replaceFolder(draft: string, target: string, refuse: (folder: string) => void = () => {}): void {
  const aside = tempPathIn(dirname(target));
  renameSync(target, aside);
  try {
    refuse(aside);
    renameSync(draft, target);
  } catch (thrown) {
    renameSync(aside, target);
    throw thrown;
  }
  removeTemp(aside);
}
