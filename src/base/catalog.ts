import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Language } from './languages.ts';
import { packageRoot } from './package-root.ts';
import type { Forms } from './po-files.ts';

/** Reading .po files takes longer than most commands, so the build leaves their texts beside the code. */
export async function readCatalog(language: Language): Promise<Forms> {
  const folder = poFolder(language);
  return readBuilt(language, folder) ?? (await import('./po-files.ts')).readPoFiles(folder);
}

export function poFolder(language: Language): string {
  return join(packageRoot, 'src', 'language', language);
}

/** Path of the file into which the build writes the texts of a language. */
export function builtCatalog(language: Language): string {
  return join(packageRoot, 'dist', `language-${language}.json`);
}

/** Undefined where nothing was built, or a .po file was edited since. */
function readBuilt(language: Language, folder: string): Forms | undefined {
  try {
    const builtMs = statSync(builtCatalog(language)).mtimeMs;
    const edited = [folder, ...readdirSync(folder).map((name) => join(folder, name))].some(
      (path) => statSync(path).mtimeMs > builtMs,
    );
    return edited ? undefined : (JSON.parse(readFileSync(builtCatalog(language), 'utf8')) as Forms);
  } catch {
    return undefined;
  }
}
