import { realpathSync } from 'node:fs';
import { isAbsolute, join, sep } from 'node:path';
import { FileError, messageOf } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import { type Reading, unreadable } from '../text/reading.ts';

/** The rule of a name that no file has. */
export const MISSING = 'photo-missing';

/** A photograph's name in a table -> the file's absolute path, or why it is refused. */
export type ResolvePhoto = (name: string) => Reading<string>;

/**
 * Names are relative to `root` and may not leave it, neither by `..` nor through a symbolic link. A backslash counts as a
 * slash, of an absolute path only the last name counts, and accents may be written composed or decomposed, since tables and photographs come from different systems.
 *
 * @throws FileError where `root` is no readable folder
 */
export function photoResolver(root: string): ResolvePhoto {
  const realRoot = realFolder(root);
  return (name) => {
    const path = name.replaceAll('\\', '/');
    const isFromElsewhere = isAbsolute(path) || /^[A-Za-z]:/.test(path);
    // A place on another computer, or on the device that took it, says only what the file is called.
    const relative = isFromElsewhere ? path.slice(path.lastIndexOf('/') + 1).replace(/^[A-Za-z]:/, '') : path;
    if (relative.split('/').includes('..')) {
      return unreadable('photo-path', msg`The photograph "${name}" leaves the folder ${root} by "..". Move it into that folder.`);
    }
    const real = firstExisting(
      [relative, relative.normalize('NFC'), relative.normalize('NFD')].map((path) => join(realRoot, path)),
    );
    if (real === undefined && isFromElsewhere) {
      return unreadable(
        MISSING,
        msg`The photograph "${name}" is an absolute path, and there is no "${relative}" in ${root}. Copy it there.`,
      );
    }
    if (real === undefined) {
      return unreadable(MISSING, msg`There is no photograph "${name}" in ${root}. Check the name, letter case included.`);
    }
    if (!real.startsWith(realRoot.endsWith(sep) ? realRoot : realRoot + sep)) {
      return unreadable(
        'photo-path',
        msg`The photograph "${name}" leads out of the folder ${root} through a symbolic link. Copy it there.`,
      );
    }
    return { value: real };
  };
}

function firstExisting(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    try {
      return realpathSync(path);
    } catch {
      // The next spelling may exist; that none does is reported by the caller.
    }
  }
  return undefined;
}

function realFolder(root: string): string {
  try {
    return realpathSync(root);
  } catch (error) {
    const problem = messageOf(error);
    throw new FileError(root, msg`The folder of photographs ${root} cannot be read: ${problem}`, { cause: error });
  }
}
