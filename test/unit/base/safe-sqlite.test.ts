import { expect, test } from 'vitest';
import {
  assertSafeSqlite,
  openSqlite,
  readSqliteVersion,
} from '../../../src/base/disk/database.ts';
import { DatabaseError } from '../../../src/base/errors.ts';

test.each(['3.51.2', '3.51', '3.9.9', '2.99.0', '3.50.7'])(
  'SQLite %s is refused for files that processes share',
  (version) => {
    expect(() => assertSafeSqlite('outbox.sqlite', version)).toThrow(DatabaseError);
    expect(() => assertSafeSqlite('outbox.sqlite', version)).toThrow(version);
  },
);

test.each(['3.51.3', '3.51.10', '3.52.0', '4.0.0', readSqliteVersion(openSqlite(':memory:'))])(
  'SQLite %s is accepted',
  (version) => {
    expect(() => assertSafeSqlite('outbox.sqlite', version)).not.toThrow();
  },
);
