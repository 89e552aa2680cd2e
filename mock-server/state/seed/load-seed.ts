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
export { makeSyntheticFinds as syntheticFinds } from './synthetic.ts';

/** Bundled seeds. Tests validate them by the schema, so a start need not. */
const BUNDLED: readonly string[] = ['demo', 'empty'];

/** Returns the name of a bundled seed or the path of a folder, as stored in a data file. */
export function seedName(source: SeedSource): string {
  return BUNDLED.includes(source) ? source : resolve(source);
}

/** Tells if a name is a bundled seed, or a path that exists. */
export function isSeed(name: string): boolean {
  return BUNDLED.includes(name) || existsSync(name);
}

/**
 * Loads an initial state: `demo`, `empty` (one administrator and the records it refers to), or a
 * folder in the demo's layout.
 * @throws SeedError with the file, the place in it and the reason
 */
export async function loadSeed(source: SeedSource): Promise<SeedContent> {
  if (BUNDLED.includes(source))
    return readSeedFolder(getPackagePath('mock-server', 'seed', source)).content;
  const folder = resolve(source);
  if (!existsSync(folder))
    throw new SeedError(
      source,
      '',
      `is no seed: use ${BUNDLED.join(', ')} or a folder of JSON files`,
    );
  if (!statSync(folder).isDirectory())
    throw new SeedError(source, '', 'is a file: a seed is a folder of JSON files');
  const { content, seeded } = readSeedFolder(folder);
  await checkAgainstSchema(seeded);
  return content;
}

/** Any origin suffices: only the form of the records is checked. */
const ADDRESSES = makeAddresses('http://seed.invalid');

/**
 * Validates every record in the newest version.
 * @throws SeedError for the first invalid one
 */
async function checkAgainstSchema(seeded: readonly SeededRecord[]): Promise<void> {
  const schemas = new Schemas(ADDRESSES);
  try {
    for (const { row, record } of seeded) {
      const xml = renderRecord(record.body, record.entity, NEWEST_VERSION, ADDRESSES);
      const errors = await schemas.withDocument(Buffer.from(xml), (document) =>
        schemas.findErrors(document, NEWEST_VERSION),
      );
      const reason =
        errors === undefined ? 'holds a character that XML cannot' : errors[0]?.message;
      if (reason !== undefined)
        throw new SeedError(row.file, row.place, reason.replace(/\{[^{}]*\}/g, ''));
    }
  } finally {
    schemas.dispose();
  }
}
