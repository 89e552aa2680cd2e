import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DatabaseError, DatabaseTooNewError } from '../../../src/base/errors.ts';
import { backUpOutbox, openBackup } from '../../../src/outbox/backup-copy.ts';
import { addNumber, addPhoto, allEntries, schedule } from '../../../src/outbox/entries.ts';
import { EVENT_COLUMNS, type EventRow, parseEvent } from '../../../src/outbox/events.ts';
import { openJournal } from '../../../src/outbox/journal.ts';
import { mergeJournal, rebuildStates } from '../../../src/outbox/merge.ts';
import { headerOf, openOutbox, type Outbox } from '../../../src/outbox/open-outbox.ts';
import { allFinds } from '../../../src/outbox/stored-finds.ts';
import { acceptEntry, attemptEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { openAt, queueImport, type TempOutbox, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const RUNS = Number(process.env['DAMAGE_RUNS'] ?? 300);
const CLOCK = manualClock();

/** Everything that an outbox can hold, in all states. */
function season(): TempOutbox {
  const outbox = tempOutbox();
  outbox.sql('pragma synchronous = off').run();
  for (let at = 0; at < 24; at += 1) {
    const { findId, entryId } = queueImport(outbox, `K-${at}`, 'C-202400101', `a text of some length, number ${at}`);
    const identCely = `C-202400101-N${String(at).padStart(5, '0')}`;
    const photograph = { name: `${at}.jpg`, mediaType: 'image/jpeg', sha512: Buffer.alloc(64, at), sizeBytes: 3 };
    if (at % 4 === 0) acceptEntry(outbox, entryId, identCely);
    if (at % 4 === 1) attemptEntry(outbox, entryId, { state: 'uncertain', reason: 'no answer' });
    if (at % 8 === 2) attemptEntry(outbox, entryId, { state: 'refused', reason: 'no such period', issues: [] });
    if (at % 8 === 6) schedule(outbox, entryId, { held: { basis: 'equal-record', question: 'is it this one?', candidates: [identCely] } });
    const target = { findId, identCely: at % 4 === 0 ? identCely : null };
    addNumber(outbox, target, `A ${at}`, '');
    const photo = addPhoto(outbox, target, photograph);
    if (at % 8 === 0) acceptEntry(outbox, photo, identCely);
  }
  mergeJournal(outbox, { withOpen: true });
  return outbox;
}

/** All that is sent, and all that says what was sent. */
function contentOf(outbox: Outbox): unknown {
  const entries = (): unknown[] =>
    allEntries(outbox).map(({ id: _, findId: __, notBeforeAt: ___, createdAt: ____, updatedAt: _____, reason: ______, issues: _______, recordKey: ________, ...entry }) => entry);
  const finds = [...allFinds(outbox)].map(({ id: _, ...find }) => find);
  const before = entries();
  const events = (outbox.sql(`select ${EVENT_COLUMNS} from events not indexed`).all() as EventRow[]).map((row) => parseEvent(outbox.path, row));
  const wrong = rebuildStates(outbox);
  const after = entries();
  if (wrong.length === 0) expect(after).toEqual(before);
  return { finds, entries: after, events };
}

/** Numbers that look random, and are the same for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** One changed bit, or a few changed bytes. */
function damaged(bytes: Buffer, seed: number): Buffer {
  const random = randomFrom(seed);
  const copy = Buffer.from(bytes);
  const at = random(copy.length);
  if (seed % 2 === 0) copy.writeUInt8(copy.readUInt8(at) ^ (1 << random(8)), at);
  else for (let more = random(6) + 1; more > 0; more -= 1) copy.writeUInt8(random(256), Math.min(at + more, copy.length - 1));
  return copy;
}

/** What a damaged file does: an error that says so, or nothing at all. */
function outcomeOf(read: () => unknown, sound: unknown): 'noticed' | 'no matter' {
  let found: unknown;
  try {
    found = read();
  } catch (thrown) {
    if (thrown instanceof DatabaseTooNewError || (thrown instanceof DatabaseError && thrown.damaged)) return 'noticed';
    throw thrown;
  }
  expect(found).toEqual(sound);
  return 'no matter';
}

function checkpointed(outbox: TempOutbox): Buffer {
  outbox.sql('pragma wal_checkpoint(truncate)').all();
  return readFileSync(outbox.path);
}

function outcomes(bytes: Buffer, read: (path: string) => unknown, sound: unknown): Record<string, number> {
  const counts: Record<string, number> = { noticed: 0, 'no matter': 0 };
  const failed: string[] = [];
  for (let seed = 1; seed <= RUNS; seed += 1) {
    const path = join(tempFolder(), 'damaged.sqlite');
    writeFileSync(path, damaged(bytes, seed));
    try {
      counts[outcomeOf(() => read(path), sound)] += 1;
    } catch (thrown) {
      failed.push(`seed ${seed}: ${String(thrown).slice(0, 1500)}`);
    }
  }
  expect(failed).toEqual([]);
  return counts;
}

describe('a file with a changed bit, or a few changed bytes, is noticed or says what it said:', () => {
  test('the outbox', () => {
    using outbox = season();
    const sound = contentOf(outbox);
    const read = (path: string): unknown => {
      const opened = openOutbox(path, CLOCK);
      try {
        return contentOf(opened);
      } finally {
        opened.close();
      }
    };
    const { noticed } = outcomes(checkpointed(outbox), read, sound);
    expect(noticed).toBeGreaterThan(RUNS / 4);
  }, 120_000);

  test('a backup', () => {
    using outbox = season();
    const sound = contentOf(outbox);
    const backup = join(tempFolder(), 'backup.sqlite');
    backUpOutbox(outbox, backup);
    const read = (path: string): unknown => {
      const opened = openBackup(path, join(tempFolder(), 'draft.sqlite'), CLOCK);
      try {
        return contentOf(opened);
      } finally {
        opened.close();
      }
    };
    expect(outcomes(readFileSync(backup), read, sound)['noticed']).toBeGreaterThan(RUNS / 4);
  }, 240_000);

  test('the journal', () => {
    using outbox = season();
    const { outbox: id } = headerOf(outbox);
    const eventsOf = (path: string, isChecked: boolean): unknown => {
      const journal = openJournal(path, { machine: () => 'this-machine', clock: CLOCK, isChecked });
      try {
        return journal.eventsSince(id, 0).map(({ event }) => event);
      } finally {
        journal.close();
      }
    };
    const sound = outbox.journal.eventsSince(id, 0).map(({ event }) => event);
    const file = outbox.journal.path;
    outbox.close();
    outcomes(readFileSync(file), (path) => eventsOf(path, false), sound);
  }, 120_000);
});
void [copyFileSync, openAt];
