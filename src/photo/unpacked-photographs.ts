import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { FileError, messageOf } from '../base/errors.ts';
import { msg } from '../base/message.ts';
import type { ResolvePhoto } from './photo-path.ts';

/** Parts of an archive, by name. */
type Packed = ReadonlyMap<string, { unpack(): Buffer }>;

/**
 * Photographs that came in an archive: each is unpacked when it is asked for, into a folder that goes when this is disposed of.
 *
 * @param beside where those are looked for that are not in the archive
 * @throws FileError from `resolve` where there is no room to unpack
 */
export function unpackedPhotographs(
  packed: Packed | undefined,
  beside: ResolvePhoto,
): Disposable & { readonly resolve: ResolvePhoto } {
  const paths = new Map<string, string>();
  let folder: string | undefined;
  const unpack = (name: string, part: { unpack(): Buffer }): string => {
    folder ??= mkdtempSync(join(tmpdir(), 'pas-photos-'));
    // Two photographs of one name may lie in different folders of the archive.
    const own = join(folder, String(paths.size));
    const path = join(own, posix.basename(name));
    try {
      mkdirSync(own);
      writeFileSync(path, part.unpack(), { flag: 'wx', mode: 0o600 });
    } catch (thrown) {
      const problem = messageOf(thrown);
      throw new FileError(path, msg`The photograph ${name} cannot be unpacked to ${path}: ${problem}`, { cause: thrown });
    }
    paths.set(name, path);
    return path;
  };
  return {
    resolve: (given) => {
      const written = given.replaceAll('\\', '/');
      for (const name of [written, written.normalize('NFC'), written.normalize('NFD')]) {
        const part = packed?.get(name);
        if (part !== undefined) return { value: paths.get(name) ?? unpack(name, part) };
      }
      return beside(given);
    },
    [Symbol.dispose]: () => {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
    },
  };
}
