import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DatabaseTooNewError, isDamaged } from '../../../src/base/errors.ts';
import {
  assertSound,
  backUpOutbox,
  openBackup,
  refoldAll,
  removeDamaged,
} from '../../../src/outbox/backup-copy.ts';
import { listAllEntries, storeQuestion } from '../../../src/outbox/entry-queries.ts';
import { parseFact } from '../../../src/outbox/facts.ts';
import { assertSoundLedger, openLedger } from '../../../src/outbox/ledger.ts';
import { type Outbox, openOutbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { restartUnion, uniteWithLedger } from '../../../src/outbox/unite.ts';
import { openSqlite } from '../../../src/store/database.ts';
import { acceptEntry, attemptEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/random.ts';
import {
  ACCOUNT_ID,
  MACHINE,
  queueImport,
  queueNumber,
  queuePhoto,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const RUNS = Number(process.env['DAMAGE_RUNS'] ?? 16);
const CLOCK = manualClock();

/** Everything that an outbox can hold, in all states. */
function season(): TempOutbox {
  const outbox = tempOutbox();
  outbox.sql('pragma synchronous = off').run();
  for (let at = 0; at < 24; at += 1) {
    const { findId, entryId } = queueImport(
      outbox,
      `K-${at}`,
      'C-202400101',
      `a text of some length, number ${at}`,
    );
    const identCely = `C-202400101-N${String(at).padStart(5, '0')}`;
    const photograph = {
      name: `${at}.jpg`,
      mediaType: 'image/jpeg',
      sha512: Buffer.alloc(64, at),
      sizeBytes: 3,
    };
    if (at % 4 === 0) acceptEntry(outbox, entryId, identCely);
    if (at % 4 === 1) attemptEntry(outbox, entryId, { state: 'uncertain', reason: 'no answer' });
    if (at % 8 === 2)
      attemptEntry(outbox, entryId, { state: 'refused', reason: 'no such period', issues: [] });
    if (at % 8 === 6)
      storeQuestion(outbox, entryId, {
        basis: 'equal-record',
        question: 'is it this one?',
        candidates: [identCely],
        matched: 'same',
      });
    const target = { findId, identCely: at % 4 === 0 ? identCely : null };
    queueNumber(outbox, target, `A ${at}`, '');
    const photo = queuePhoto(outbox, target, photograph);
    if (at % 8 === 0) acceptEntry(outbox, photo, identCely);
  }
  uniteWithLedger(outbox);
  return outbox;
}

/** All that the header, finds, entries and facts say, with the caches made again from the facts. */
function getContent(outbox: Outbox): unknown {
  assertSound(outbox);
  refoldAll(outbox);
  const finds = [...iterateFinds(outbox)].map(({ id: _, ...find }) => find);
  const facts = outbox
    .sql('select * from facts not indexed')
    .all()
    .map((row) => parseFact(outbox.path, row));
  const entries = listAllEntries(outbox).map(
    ({ id: _, findId: __, updatedAt: ___, held: ____, ...entry }) => entry,
  );
  const { unitedSeq: _, unitedFact: __, ...header } = readHeader(outbox);
  return { header, finds, entries, facts };
}

/** One changed bit, or a few changed bytes. */
function damaged(bytes: Buffer, seed: number): Buffer {
  const { between } = seededRandom(seed);
  const copy = Buffer.from(bytes);
  const at = between(0, copy.length - 1);
  if (seed % 2 === 0) copy.writeUInt8(copy.readUInt8(at) ^ (1 << between(0, 7)), at);
  else
    for (let more = between(1, 6); more > 0; more -= 1)
      copy.writeUInt8(between(0, 255), Math.min(at + more, copy.length - 1));
  return copy;
}

/** A damaged file says that it is damaged, or reads as before. */
function expectNoticed(bytes: Buffer, read: (path: string) => unknown, sound: unknown): void {
  const outcomes = Array.from({ length: RUNS }, (_, index) => {
    const seed = index + 1;
    const path = join(tempFolder(), 'damaged.sqlite');
    writeFileSync(path, damaged(bytes, seed));
    try {
      return isDeepStrictEqual(read(path), sound)
        ? 'no matter'
        : `seed ${seed}: it reads otherwise`;
    } catch (thrown) {
      const isNoticed = thrown instanceof DatabaseTooNewError || isDamaged(thrown);
      return isNoticed
        ? 'noticed'
        : `seed ${seed}: ${thrown instanceof Error ? thrown.stack : String(thrown)}`;
    }
  });
  expect(outcomes.filter((outcome) => outcome.startsWith('seed'))).toEqual([]);
  expect(outcomes.filter((outcome) => outcome === 'noticed').length).toBeGreaterThan(RUNS / 10);
}

describe('a file with a changed bit, or a few changed bytes, is reported or reads as before:', () => {
  test('the outbox', () => {
    using outbox = season();
    const sound = getContent(outbox);
    outbox.sql('pragma wal_checkpoint(truncate)').all();
    expectNoticed(
      readFileSync(outbox.path),
      (path) => closing(openOutbox(path, CLOCK), getContent),
      sound,
    );
  }, 120_000);

  test('a backup', () => {
    using outbox = season();
    const backup = join(tempFolder(), 'backup.sqlite');
    backUpOutbox(outbox, backup);
    const draft = (): string => join(tempFolder(), 'draft.sqlite');
    const sound = closing(openBackup(backup, draft(), CLOCK), getContent);
    expectNoticed(
      readFileSync(backup),
      (path) => closing(openBackup(path, draft(), CLOCK), getContent),
      sound,
    );
  }, 240_000);

  test('the ledger', () => {
    using outbox = season();
    const scope = { service: readHeader(outbox).service, account: ACCOUNT_ID };
    const read = (path: string): unknown => {
      assertSoundLedger(path);
      return closing(openLedger(path, { machine: () => MACHINE, isChecked: true }), (ledger) =>
        ledger.listSince(scope, 0, 10_000),
      );
    };
    const sound = read(outbox.ledger.path);
    expectNoticed(ledgerBytes(outbox), read, sound);
  }, 240_000);
});

test('facts that are damaged are removed, and come back from the ledger as far as they were attempted', () => {
  using outbox = season();
  outbox.sql(`update facts set body = body || ' ' where kind = 'answered'`).run();
  expect(removeDamaged(outbox)).not.toHaveLength(0);
  restartUnion(outbox);
  uniteWithLedger(outbox);
  refoldAll(outbox);
  using sound = season();
  const states = (of: Outbox) =>
    listAllEntries(of)
      .map(({ localId, kind, state }) => `${localId} ${kind} ${state}`)
      .sort();
  expect(states(outbox)).toStrictEqual(states(sound));
});

function closing<T extends { close(): void }, R>(opened: T, work: (opened: T) => R): R {
  try {
    return work(opened);
  } finally {
    opened.close();
  }
}

function ledgerBytes({ ledger }: TempOutbox): Buffer {
  const database = openSqlite(ledger.path);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
  return readFileSync(ledger.path);
}
