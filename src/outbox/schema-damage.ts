/**
 * What SQLite says where the words of the schema are not as they were written, or what must be JSON is none: statements of ours fail
 * otherwise in no file that is sound.
 */
const SCHEMA_DAMAGE = /^(no such (table|column|function|index)|unknown function|foreign key mismatch|malformed)/;

export function isSchemaDamage(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'SQLITE_ERROR' && SCHEMA_DAMAGE.test(thrown.message);
}
