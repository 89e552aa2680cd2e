import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, sep } from 'node:path';
import { FileError, messageOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { isPictureName } from '../text/names.ts';
import { type Reading, unreadable } from '../text/reading.ts';

/** Rules for a name without a file, and for a file with another spelling. */
export const MISSING = 'photo-missing';
export const OTHER_SPELLING = 'photo-spelling';

/** Resolves a photograph's name in a table to an absolute path, or explains the refusal. */
export type ResolvePhoto = (
  name: string,
) => Reading<string> & { /** It is the file of another name. */ readonly remark?: Message };

/**
 * Makes a resolver of names relative to `root`, which may not leave it by `..` or a symbolic link. Tables and photographs come
 * from different systems, so a backslash counts as a slash, only the last part of an absolute path is used, and accents may be
 * composed or decomposed.
 * @throws FileError where `root` is no readable folder
 */
export function photoResolver(root: string): ResolvePhoto {
  const realRoot = realFolder(root);
  return (name) => {
    const path = name.replaceAll('\\', '/');
    const isFromElsewhere = isAbsolute(path) || /^[A-Za-z]:/.test(path);
    // Of a path on another computer or device only the file name is used.
    const relative = isFromElsewhere ? path.slice(path.lastIndexOf('/') + 1).replace(/^[A-Za-z]:/, '') : path;
    if (relative.split('/').includes('..')) {
      return unreadable('photo-path', msg`The photograph "${name}" leaves the folder ${root} by "..". Move it into that folder.`);
    }
    const other = findOtherSpelling(join(realRoot, relative));
    const real = firstExisting([join(realRoot, relative), ...(other === undefined ? [] : [other.path])]);
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
    return { value: real, ...(other?.remark === undefined ? {} : { remark: other.remark }) };
  };
}

/**
 * Finds the one file for a path that does not exist: it ignores case, the composition of accents, and the extension among those
 * of pictures, since programs and people change them. `remark` states the difference, except for accents. Undefined where the
 * path exists, or none or several match.
 */
export function findOtherSpelling(path: string): { readonly path: string; readonly remark?: Message } | undefined {
  if (existsSync(path)) return undefined;
  const found = otherSpelling(path, true);
  if (found === undefined) return undefined;
  if (found.normalize('NFC') === path.normalize('NFC')) return { path: found };
  const [wanted, name] = [basename(path), basename(found)];
  return {
    path: found,
    remark: msg`There is no photograph "${wanted}"; ${name} is the only file that it can mean, and is used.`,
  };
}

function otherSpelling(path: string, isFile: boolean): string | undefined {
  if (existsSync(path)) return path;
  const [above, wanted] = [dirname(path), basename(path)];
  const folder = above === path ? undefined : otherSpelling(above, false);
  if (folder === undefined) return undefined;
  const names = namesIn(folder);
  const spelled = only(
    names,
    (name) => fold(name) === fold(wanted),
    (name) => name.normalize('NFC') === wanted.normalize('NFC'),
  );
  if (spelled !== undefined) return join(folder, spelled);
  if (!isFile || !(isPictureName(wanted) || extname(wanted) === '')) return undefined;
  const ofPicture = only(names, (name) => isPictureName(name) && fold(stemOf(name)) === fold(stemOf(wanted)));
  return ofPicture === undefined ? undefined : join(folder, ofPicture);
}

/** Returns the only name that matches, or the only best one of several. */
function only(names: readonly string[], ...fits: readonly ((name: string) => boolean)[]): string | undefined {
  let left = names;
  for (const fit of fits) {
    const fitting = left.filter(fit);
    if (fitting.length === 1) return fitting[0];
    if (fitting.length === 0) return undefined;
    left = fitting;
  }
  return undefined;
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

function stemOf(name: string): string {
  return isPictureName(name) ? name.slice(0, -extname(name).length) : name;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function firstExisting(paths: readonly string[]): string | undefined {
  for (const path of paths) {
    try {
      return realpathSync(path);
    } catch {
      // Try the next spelling; the caller reports that none exists.
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
