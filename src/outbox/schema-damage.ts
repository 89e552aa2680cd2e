/**
 * Messages of SQLite about a damaged schema, and about text in place of JSON. No statement of this program causes one of them in
 * a sound file.
 */
const SCHEMA_DAMAGE = /^(no such (table|column|function|index)|unknown function|foreign key mismatch|malformed)/;

export function isSchemaDamage(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'SQLITE_ERROR' && SCHEMA_DAMAGE.test(thrown.message);
}
