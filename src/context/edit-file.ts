import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { FileError, UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { shellWord } from '../base/shell-word.ts';
import type { StoredFind } from '../outbox/stored-finds.ts';
import { writePrivateFile } from '../store/files.ts';
import type { Context } from './context.ts';

/** Text of a find while it is edited. It stays in the data home until its find is changed, so that no input is lost. */
type EditFile = {
  readonly path: string;
  /** Text of an unfinished edit; undefined where there is none. */
  readonly left: string | undefined;
  write(text: string): void;
  /** Opens the editor and waits for it. @throws UsageError when there is none, or it fails: the text stays */
  open(): string;
  remove(): void;
};

export function editFile(context: Context, find: StoredFind): EditFile {
  const path = join(context.places.home, `edit-${find.id}.txt`);
  return {
    path,
    left: existsSync(path) ? readFileSync(path, 'utf8') : undefined,
    write: (text) => writePrivateFile(path, text),
    open: () => {
      runEditor(context, path);
      if (!existsSync(path)) throw new FileError(path, t`The editor took ${path} away.`, { hint: t`Nothing was changed.` });
      return readFileSync(path, 'utf8');
    },
    remove: () => rmSync(path, { force: true }),
  };
}

function runEditor({ environment, terminal }: Context, path: string): void {
  const chosen = environment['VISUAL'] || environment['EDITOR'];
  if (chosen === undefined && !terminal.interactive) {
    throw new UsageError(t`There is no terminal to edit on.`, {
      hint: t`Give the values: --set element=value; or name an editor in EDITOR.`,
    });
  }
  const editor = chosen ?? (process.platform === 'win32' ? 'notepad' : 'vi');
  // As in git, the editor may be a command with flags.
  const quoted = process.platform === 'win32' ? `"${path}"` : shellWord(path);
  const { status, error } = spawnSync(`${editor} ${quoted}`, { shell: true, stdio: 'inherit' });
  if (error === undefined && status === 0) return;
  throw new UsageError(t`The editor ${editor} did not end well. What you wrote is in ${path}.`, {
    hint: t`Run the command again to go on with it, or set VISUAL or EDITOR to another editor.`,
  });
}
