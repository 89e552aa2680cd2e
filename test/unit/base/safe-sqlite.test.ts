import { expect, test } from 'vitest';
import { openSqlite } from '../../../src/base/disk/database.ts';

test('pas brings an SQLite without the race of processes on one WAL file (before 3.51.3)', () => {
  const [major = 0, minor = 0, patch = 0] = String(
    openSqlite(':memory:').prepare('select sqlite_version()').pluck().get(),
  )
    .split('.')
    .map(Number);
  expect(major * 1e6 + minor * 1e3 + patch).toBeGreaterThanOrEqual(3_051_003);
});
