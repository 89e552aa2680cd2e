import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { makeAddresses, NEWEST_VERSION } from '../../base/addresses.ts';
import { getPackagePath } from '../../base/package-files.ts';
import { renderRecord } from '../records/render.ts';
import { Schemas } from '../schema.ts';
import type { SeedContent, SeedSource } from '../seed-content.ts';
import { readSeedFolder, type SeededRecord } from './read-folder.ts';
import { SeedError } from './seed-files.ts';

export { SeedError } from './seed-files.ts';
export { makeSyntheticFinds as syntheticFinds, type SyntheticRow } from './synthetic.ts';

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
  if (BUNDLED.includes(source)) return readSeedFolder(getPackagePath('mock-server', 'seed', source)).content;
  const folder = resolve(source);
  if (!existsSync(folder)) throw new SeedError(source, '', `is no seed: use ${BUNDLED.join(', ')} or a folder of JSON files`);
  if (!statSync(folder).isDirectory()) throw new SeedError(source, '', 'is a file: a seed is a folder of JSON files');
  const { content, seeded } = readSeedFolder(folder);
  await checkAgainstSchema(seeded);
  return content;
}

/** Any origin will do: only the shape of the records is judged. */
const ADDRESSES = makeAddresses('http://seed.invalid');

/** Every record must be valid as it would be served in the newest version. @throws SeedError for the first that is not */
async function checkAgainstSchema(seeded: readonly SeededRecord[]): Promise<void> {
  const schemas = new Schemas(ADDRESSES);
  try {
    for (const { row, record } of seeded) {
      const xml = renderRecord(record.body, record.entity, NEWEST_VERSION, ADDRESSES);
      const errors = await schemas.withDocument(Buffer.from(xml), (document) => schemas.findErrors(document, NEWEST_VERSION));
      const reason = errors === undefined ? 'holds a character that XML cannot' : errors[0]?.message;
      if (reason !== undefined) throw new SeedError(row.file, row.place, reason.replace(/\{[^{}]*\}/g, ''));
    }
  } finally {
    schemas.dispose();
  }
}
