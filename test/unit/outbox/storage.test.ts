import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

import { listNumberEntries } from '../../../src/outbox/entry-queries.ts';

import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import { wantNumber } from '../../../src/outbox/wishes.ts';
import {
  acceptEntry,
  openAt,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

function copyOf(outbox: TempOutbox): string {
  outbox.sql('pragma wal_checkpoint(truncate)').all();
  const path = join(tempFolder(), 'outbox.sqlite');
  copyFileSync(outbox.path, path);
  return path;
}

test('X, Y, X, Y are four numbers, and a restored copy knows which were sent', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  const path = copyOf(outbox);
  for (const value of ['X', 'Y', 'X', 'Y']) {
    wantNumber(outbox, findId, value, { expects: null });
    const last = listNumberEntries(outbox, findId).find(({ state }) => state === 'queued');
    acceptEntry(outbox, last?.id ?? 0, 'C-202400101-N00001');
  }
  wantNumber(outbox, findId, 'Y', { expects: null });
  using older = openAt(path, outbox.ledger.path, { clock: outbox.clock });
  uniteWithLedger(older);
  for (const each of [outbox, older]) {
    const numbers = listNumberEntries(each, findId);
    expect(numbers.map(({ value, state }) => [value, state])).toStrictEqual([
      ['X', 'accepted'],
      ['Y', 'accepted'],
      ['X', 'accepted'],
      ['Y', 'accepted'],
    ]);
  }
});
