import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { packagePath } from './package-files.ts';
import { checkAgainstSchema } from './seed/check-schema.ts';
import { readSeedFolder } from './seed/read-folder.ts';
import { SeedError } from './seed/seed-files.ts';
import type { SeedContent, SeedSource } from './seed-content.ts';

export { SeedError } from './seed/seed-files.ts';
export { type SyntheticRow, syntheticFinds } from './seed/synthetic.ts';

/** Seeds that come with the package. The tests hold them against the schema, so that a start need not. */
const BUNDLED: readonly string[] = ['demo', 'empty'];

/** A seed as a data file remembers it: the name of a bundled one, or where the folder lies. */
export function seedName(source: SeedSource): string {
  return BUNDLED.includes(source) ? source : resolve(source);
}

export function isSeed(name: string): boolean {
  return BUNDLED.includes(name) || existsSync(name);
}

/**
 * A start state: `demo`, `empty` (one administrator and what that account refers to), or a folder laid out like the demo's.
 * @throws SeedError with the file, the place in it and the reason
 */
export async function loadSeed(source: SeedSource): Promise<SeedContent> {
  if (BUNDLED.includes(source)) return readSeedFolder(packagePath('mock-server', 'seed', source)).content;
  const folder = resolve(source);
  if (!existsSync(folder)) throw new SeedError(source, '', `is no seed: use ${BUNDLED.join(', ')} or a folder of JSON files`);
  if (!statSync(folder).isDirectory()) throw new SeedError(source, '', 'is a file: a seed is a folder of JSON files');
  const { content, seeded } = readSeedFolder(folder);
  await checkAgainstSchema(seeded);
  return content;
}
