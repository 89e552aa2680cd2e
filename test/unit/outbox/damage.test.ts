import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { DatabaseTooNewError, isDamaged } from '../../../src/base/errors.ts';
import { backUpOutbox, openBackup } from '../../../src/outbox/backup-copy.ts';
import { addNumber, addPhoto, schedule } from '../../../src/outbox/entries.ts';
import { listAllEntries } from '../../../src/outbox/entry-queries.ts';
import { computeChecksum, type EventRow, parseEvent } from '../../../src/outbox/events.ts';
import { type Journal, openJournal } from '../../../src/outbox/journal.ts';
import { mergeJournal, rebuildStates } from '../../../src/outbox/merge.ts';
import { type Outbox, openOutbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { openSqlite } from '../../../src/store/database.ts';
import { acceptEntry, attemptEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { seededRandom } from '../../support/random.ts';
import {
  openAt,
  queueImport,
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
      schedule(outbox, entryId, {
        held: { basis: 'equal-record', question: 'is it this one?', candidates: [identCely] },
      });
    const target = { findId, identCely: at % 4 === 0 ? identCely : null };
    addNumber(outbox, target, `A ${at}`, '');
    const photo = addPhoto(outbox, target, photograph);
    if (at % 8 === 0) acceptEntry(outbox, photo, identCely);
  }
  mergeJournal(outbox, { withOpen: true });
  return outbox;
}

/**
 * All that the header, finds, entries and events say; states are rebuilt first, since they are a
 * copy of what the events say.
 */
function getContent(outbox: Outbox): unknown {
  const finds = [...iterateFinds(outbox)].map(({ id: _, ...find }) => find);
  const rows = outbox.sql(`select * from events not indexed`).all() as EventRow[];
  const events = rows.map((row) => parseEvent(outbox.path, row));
  rebuildStates(outbox);
  const entries = listAllEntries(outbox).map(
    ({ id: _, findId: __, updatedAt: ___, ...entry }) => entry,
  );
  const { mergedSeq: _, mergedEvent: __, ...header } = readHeader(outbox);
  return { header, finds, entries, events };
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

  test('the journal, which is set aside if it is damaged, and complete again with the outbox', () => {
    using outbox = season();
    const { outbox: id } = readHeader(outbox);
    const eventsIn = (journal: Journal) => journal.listEventsSince(id, 0).map(({ event }) => event);
    const sound = eventsIn(outbox.journal);
    const content = getContent(outbox);
    outbox.sql('pragma wal_checkpoint(truncate)').all();
    const file = readFileSync(outbox.path);
    const bytes = journalBytes(outbox);
    for (let seed = 1; seed <= RUNS; seed += 1) {
      const folder = tempFolder();
      const path = join(folder, 'ledger.sqlite');
      const copy = join(folder, 'outbox.sqlite');
      writeFileSync(path, damaged(bytes, seed));
      const journal = openDamaged(path);
      if (journal === undefined) continue;
      const keptEvents = closing(journal, eventsIn);
      if (!journal.isSetAside) {
        expect([seed, keptEvents]).toEqual([seed, sound]);
        continue;
      }
      expect([seed, sound]).toEqual([seed, expect.arrayContaining(keptEvents)]);
      writeFileSync(copy, file);
      using again = openAt(copy, path);
      mergeJournal(again, { withOpen: true });
      const ids = (events: readonly { readonly id: string }[]) =>
        events.map((event) => event.id).sort();
      expect([seed, ids(eventsIn(again.journal))]).toEqual([seed, ids(sound)]);
      expect([seed, getContent(again)]).toEqual([seed, content]);
    }
  }, 240_000);
});

/** As a push opens it; undefined where it seems to be a newer pas's. */
function openDamaged(path: string): (Journal & { readonly isSetAside: boolean }) | undefined {
  let isSetAside = false;
  const onSetAside = (): void => {
    isSetAside = true;
  };
  try {
    return {
      ...openJournal(path, {
        machine: () => 'this-machine',
        clock: CLOCK,
        isChecked: true,
        onSetAside,
      }),
      isSetAside,
    };
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(DatabaseTooNewError);
    return undefined;
  }
}

function closing<T extends { close(): void }, R>(opened: T, work: (opened: T) => R): R {
  try {
    return work(opened);
  } finally {
    opened.close();
  }
}

function journalBytes({ journal }: TempOutbox): Buffer {
  const database = openSqlite(journal.path);
  database.pragma('wal_checkpoint(truncate)');
  database.close();
  return readFileSync(journal.path);
}

test('the checksum of a row is that of outboxes and journals that exist already', () => {
  expect(computeChecksum(['a', null, 1, 2])).toBe(400_058_204);
  expect(computeChecksum(['a', null, Buffer.from('xy')])).toBe(639_805_093);
});
