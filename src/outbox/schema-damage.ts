/**
 * Messages of SQLite about a schema whose words are damaged, and about text in place of JSON. No statement of this program gives one of
 * them for a sound file.
 */
const SCHEMA_DAMAGE = /^(no such (table|column|function|index)|unknown function|foreign key mismatch|malformed)/;

export function isSchemaDamage(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'SQLITE_ERROR' && SCHEMA_DAMAGE.test(thrown.message);
}
