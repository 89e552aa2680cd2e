import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import {
  backUpOutbox,
  openBackup,
  replaceOutboxContents,
} from '../../../src/outbox/repair-outbox.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { listAllEntries, queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

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
  test('stays unchanged whatever happens to the opened outbox', () => {
    const backup = makeBackup('K-1');
    const before = readFileSync(backup);
    const opened = open(backup);
    queueImport(opened, 'K-2');
    opened.close();
    expect(readFileSync(backup).equals(before)).toBe(true);
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
});

describe('the content of a backup', () => {
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
