import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../../src/base/disk/database.ts';
import { DatabaseError, FileError } from '../../../src/base/errors.ts';
import { type Outbox, openOutbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import {
  assertSoundOutbox,
  backUpOutbox,
  isEmptyOutbox,
  openBackup,
  replaceOutboxContents,
} from '../../../src/outbox/repair-outbox.ts';
import { acceptEntry } from '../../support/attempted-entries.ts';
import { listAllEntries } from '../../support/list-all-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const CLOCK = manualClock();
const newFile = (): string => join(tempFolder(), 'file.sqlite');
const open = (backup: string): Outbox => openBackup(backup, newFile(), CLOCK);
const localIds = (outbox: Outbox): (string | null)[] =>
  listAllEntries(outbox).map(({ localId }) => localId);

function makeBackup(...names: readonly string[]): string {
  using outbox = tempOutbox();
  for (const name of names) queueImport(outbox, name);
  const backup = newFile();
  backUpOutbox(outbox, backup);
  return backup;
}

describe('a backup', () => {
  test('contains the outbox and its time, and can be read by its owner alone', () => {
    using outbox = tempOutbox();
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, 'C-202400101-N00001');
    const backup = newFile();
    backUpOutbox(outbox, backup);
    const opened = open(backup);
    expect(listAllEntries(opened)).toEqual(listAllEntries(outbox));
    expect(readHeader(opened)).toEqual({ ...readHeader(outbox), copyMadeAt: outbox.clock.now() });
    expect(statSync(backup).mode & 0o777).toBe(0o600);
    opened.close();
  });

  test('stays unchanged whatever happens to the opened outbox', () => {
    const backup = makeBackup('K-1');
    const before = readFileSync(backup);
    const opened = open(backup);
    queueImport(opened, 'K-2');
    opened.close();
    expect(readFileSync(backup).equals(before)).toBe(true);
  });

  test('is not replaced by an outbox with a damaged fact', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const backup = newFile();
    backUpOutbox(outbox, backup);
    const before = readFileSync(backup);
    outbox.sql(`update facts set body = '{}'`).run();
    expect(() => backUpOutbox(outbox, backup)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
    expect(readFileSync(backup).equals(before)).toBe(true);
  });

  test.each([
    ['a fact', `update facts set body = '{}'`],
    ['an intent', `update intents set content = replace(content, 'K-1', 'K-2')`],
    ['a reference', `pragma foreign_keys = off; update entries set fact = 'none'`],
  ])('cannot be made of an outbox that is damaged in %s', (_, damage) => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    for (const statement of damage.split('; ')) outbox.sql(statement).run();
    expect(() => assertSoundOutbox(outbox)).toThrow(
      expect.objectContaining({ damaged: true }) as Error,
    );
  });

  test('with a changed word in the schema is damaged', () => {
    const backup = makeBackup('K-1');
    const bytes = readFileSync(backup);
    writeFileSync(
      backup,
      Buffer.from(
        bytes.toString('latin1').replaceAll('united_fact text', 'united_fatc text'),
        'latin1',
      ),
    );
    expect(() => open(backup)).toThrow(/the backup is damaged/);
  });

  test('is not a text, or a database of another program', () => {
    const text = newFile();
    const other = newFile();
    writeFileSync(
      text,
      'these are my notes, not a database, and they are longer than a page header would be\n'.repeat(
        20,
      ),
    );
    expect(() => open(text)).toThrow(DatabaseError);
    const database = openSqlite(other);
    database.exec('create table facts (id)');
    database.close();
    expect(() => open(other)).toThrow(FileError);
  });
});

describe('the content of a backup', () => {
  test('replaces the old one, which is set aside', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-old');
    const aside = newFile();
    replaceOutboxContents(outbox, makeBackup('K-1', 'K-2'), aside);
    expect(localIds(outbox)).toEqual(['K-1', 'K-2']);
    expect(outbox.sql('select name from pragma_database_list').pluck().all()).not.toContain(
      'brought',
    );
    assertSoundOutbox(outbox);
    const old = openOutbox(aside, CLOCK);
    expect(localIds(old)).toEqual(['K-old']);
    old.close();
  });

  test('does not replace the old one if that cannot be set aside, and can be restored again', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-old');
    const backup = makeBackup('K-1');
    const nowhere = join(tempFolder(), 'no', 'folder', 'aside.sqlite');
    expect(() => replaceOutboxContents(outbox, backup, nowhere)).toThrow();
    expect([localIds(outbox), existsSync(nowhere)]).toEqual([['K-old'], false]);
    replaceOutboxContents(outbox, backup, newFile());
    expect(localIds(outbox)).toEqual(['K-1']);
  });
});

test('an outbox in which nothing was ever wanted is empty', () => {
  using outbox = tempOutbox();
  expect(isEmptyOutbox(outbox)).toBe(true);
  queueImport(outbox, 'K-1');
  expect(isEmptyOutbox(outbox)).toBe(false);
});
