import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the path of a file of this package, from the sources as well as from the build. */
export function getPackagePath(...parts: string[]): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'package.json'))) {
    if (folder === dirname(folder)) throw new Error('no package.json above the mock server');
    folder = dirname(folder);
  }
  return join(folder, ...parts);
}
