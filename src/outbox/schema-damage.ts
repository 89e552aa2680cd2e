/** Messages of SQLite about a damaged schema, or text in place of JSON; a sound file causes none of them. */
const SCHEMA_DAMAGE = /^(no such (table|column|function|index)|unknown function|foreign key mismatch|malformed)/;

export function isSchemaDamage(thrown: unknown): thrown is Error {
  return thrown instanceof Error && 'code' in thrown && thrown.code === 'SQLITE_ERROR' && SCHEMA_DAMAGE.test(thrown.message);
}
