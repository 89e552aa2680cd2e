import { addressesOf, NEWEST_VERSION } from '../addresses.ts';
import { renderRecord } from '../records/render.ts';
import { Schemas } from '../schema.ts';
import type { SeededRecord } from './read-folder.ts';
import { SeedError } from './seed-files.ts';

/** Any origin will do: only the shape of the records is judged. */
const ADDRESSES = addressesOf('http://seed.invalid');

/** Every record must be valid as it would be served in the newest version. @throws SeedError for the first that is not */
export async function checkAgainstSchema(seeded: readonly SeededRecord[]): Promise<void> {
  const schemas = new Schemas(ADDRESSES);
  try {
    for (const { row, record } of seeded) {
      const xml = renderRecord(record.body, record.entity, NEWEST_VERSION, ADDRESSES);
      const errors = await schemas.withDocument(Buffer.from(xml), (document) => schemas.errorsOf(document, NEWEST_VERSION));
      const reason = errors === undefined ? 'holds a character that XML cannot' : errors[0]?.message;
      if (reason !== undefined) throw new SeedError(row.file, row.place, reason.replace(/\{[^}]*\}/g, ''));
    }
  } finally {
    schemas.dispose();
  }
}
