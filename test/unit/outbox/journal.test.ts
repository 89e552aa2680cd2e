import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { DatabaseError, DatabaseTooNewError } from '../../../src/base/errors.ts';
import { type Claim, claim, recoverInFlight, settle } from '../../../src/outbox/claims.ts';
import { findEntryById } from '../../../src/outbox/entry-queries.ts';
import type { OutboxEvent } from '../../../src/outbox/events.ts';
import { assertSoundJournal, type Journal, openJournal } from '../../../src/outbox/journal.ts';
import { mergeJournal } from '../../../src/outbox/merge.ts';
import { type Outbox, openOutbox, readHeader } from '../../../src/outbox/open-outbox.ts';
import { makeDecision, recordEvents } from '../../../src/outbox/record-events.ts';
import { openSqlite } from '../../../src/store/database.ts';
import { acquireLockFile } from '../../../src/store/lock-file.ts';
import { acceptEntry, attemptEntry, claimEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import {
  ACCOUNT_ID,
  ADDRESS,
  BINDING,
  hashDigest,
  openAnew,
  openAt,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const OPTIONS = { machine: () => 'this-machine', clock: manualClock() };

function newFile(): string {
  return join(tempFolder(), 'journal.sqlite');
}

function boundEvent(id: string, outbox = 'o-1'): OutboxEvent {
  return {
    id,
    outbox,
    find: null,
    entry: null,
    position: 1,
    kind: 'bound',
    body: { account: ACCOUNT_ID, address: ADDRESS, at: 1 },
  };
}

/** Identifiers of all events of an outbox in the journal. */
function idsIn(journal: Journal, outbox = 'o-1'): string[] {
  return journal.listEventsSince(outbox, 0).map(({ event }) => event.id);
}

function listIds(outbox: Outbox): string[] {
  return outbox.sql('select id from events order by seq').pluck().all() as string[];
}

describe('the journal', () => {
  test('returns what was written, in this order, once, and separately for each outbox', () => {
    const journal = openJournal(newFile(), OPTIONS);
    journal.append([boundEvent('a'), boundEvent('b', 'o-2')]);
    journal.append([boundEvent('c'), boundEvent('a')]);
    journal.append([]);
    expect([idsIn(journal), idsIn(journal, 'o-2')]).toEqual([['a', 'c'], ['b']]);
    const [first, last] = journal.listEventsSince('o-1', 0);
    expect(first?.event).toEqual(boundEvent('a'));
    expect(journal.listEventsSince('o-1', first?.seq ?? 0).map(({ event }) => event.id)).toEqual([
      'c',
    ]);
    expect([journal.findEventAt(last?.seq ?? 0), journal.findEventAt(99)]).toEqual([
      'c',
      undefined,
    ]);
    expect([journal.has('b'), journal.has('x')]).toEqual([true, false]);
    journal.close();
  });

  test('keeps its identity and its events, and can be read by its owner alone', () => {
    const path = newFile();
    const first = openJournal(path, OPTIONS);
    first.append([boundEvent('a')]);
    first.close();
    const second = openJournal(path, { ...OPTIONS, machine: () => 'renamed' });
    expect([second.id, second.machine, idsIn(second)]).toEqual([first.id, 'this-machine', ['a']]);
    expect([
      statSync(path).mode & 0o777,
      statSync(path.replace('.sqlite', '.id')).mode & 0o777,
    ]).toEqual([0o600, 0o600]);
    expect(second.getSizeBytes()).toBeGreaterThan(0);
    second.close();
  });

  test('that was lost with its file is recognised by the identity beside it', () => {
    const path = newFile();
    const first = openJournal(path, OPTIONS);
    first.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    const second = openJournal(path, OPTIONS);
    expect([second.id, idsIn(second)]).toEqual([first.id, []]);
    second.close();
  });

  test('writes all events of one call or none', () => {
    const journal = openJournal(newFile(), OPTIONS);
    const wrong = { ...boundEvent('b'), kind: 'nonsense' } as unknown as OutboxEvent;
    expect(() => journal.append([boundEvent('a'), wrong])).toThrow();
    expect(idsIn(journal)).toEqual([]);
    journal.close();
  });

  test('lists attempts of the account from other outboxes, with the resulting record', () => {
    using outbox = tempOutbox();
    const { outbox: id } = readHeader(outbox);
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, IDENT);
    attemptEntry(outbox, queueImport(outbox, 'K-2').entryId, { state: 'uncertain', reason: 'x' });
    const { journal } = outbox;
    expect(journal.listOtherOutboxes(ACCOUNT_ID, ADDRESS, 'another')).toMatchObject([
      { outbox: id, attempts: 2 },
    ]);
    expect([
      journal.listOtherOutboxes(ACCOUNT_ID, ADDRESS, id),
      journal.listOtherOutboxes('U-2', ADDRESS, 'another'),
      journal.listOtherOutboxes(ACCOUNT_ID, 'https://x', 'another'),
    ]).toEqual([[], [], []]);
    expect(
      journal.listEarlierAttempts(ACCOUNT_ID, 'another', { digest: hashDigest('K-1') }),
    ).toMatchObject([{ localId: 'K-1', identCely: IDENT }]);
    expect(journal.listEarlierAttempts(ACCOUNT_ID, 'another', { localId: 'K-2' })).toMatchObject([
      { digest: hashDigest('K-2'), identCely: null },
    ]);
    expect([
      journal.listEarlierAttempts(ACCOUNT_ID, id, { localId: 'K-2' }),
      journal.listEarlierAttempts('U-2', 'another', { localId: 'K-2' }),
    ]).toEqual([[], []]);
  });
});

describe('a journal of a newer pas', () => {
  test('is left unchanged, and everything but a push works', () => {
    const path = newFile();
    openJournal(path, OPTIONS).close();
    const database = openSqlite(path);
    database.pragma('user_version = 99');
    database.close();
    const before = readFileSync(path);
    const outbox = openOutbox(join(tempFolder(), 'outbox.sqlite'), manualClock(), {
      binding: BINDING,
      journal: () => openJournal(path, OPTIONS),
    });
    expect([outbox.journal, outbox.journalProblem]).toEqual([
      undefined,
      expect.any(DatabaseTooNewError),
    ]);
    const { entryId } = queueImport(outbox, 'K-1');
    expect(mergeJournal(outbox, { withOpen: true })).toEqual({ events: 0, restoredFinds: 0 });
    expect(() => claimEntry(outbox, entryId)).toThrow(DatabaseTooNewError);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'queued', attempts: 0 });
    outbox.close();
    expect(readFileSync(path).equals(before)).toBe(true);
  });
});

describe('without a journal', () => {
  test.each<[string, (folder: string) => string]>([
    ['its folder is a file', (folder) => join(folder, 'file', 'journal.sqlite')],
    ['a folder stands in its place', (folder) => join(folder, 'folder')],
  ])('because %s, nothing is sent and the rest works', (_, pathIn) => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'file'), '');
    mkdirSync(join(folder, 'folder'));
    const outbox = openOutbox(join(folder, 'outbox.sqlite'), manualClock(), {
      binding: BINDING,
      journal: () => openJournal(pathIn(folder), OPTIONS),
    });
    expect(outbox.journalProblem).toBeInstanceOf(DatabaseError);
    const { entryId } = queueImport(outbox, 'K-1');
    expect(() => claimEntry(outbox, entryId)).toThrow(DatabaseError);
    expect(findEntryById(outbox, entryId)?.state).toBe('queued');
    outbox.close();
  });

  test('an outbox refuses to send', () => {
    const outbox = openOutbox(join(tempFolder(), 'outbox.sqlite'), manualClock(), {
      binding: BINDING,
    });
    const { entryId } = queueImport(outbox, 'K-1');
    expect(() =>
      claim(outbox, entryId, () => {
        throw new Error('not reached');
      }),
    ).toThrow(/there is no journal/);
    outbox.close();
  });
});

describe('a power cut between the journal and the outbox', () => {
  test('leaves an attempt in the journal, and the entry is uncertain after the next merge', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const { journal } = outbox;
    const dies = (): never => {
      throw new Error('power cut');
    };
    // Nothing can be written any more, also no word that nothing left.
    let written = 0;
    const dead: Outbox = {
      ...outbox,
      journal: {
        ...journal,
        append: (events) => {
          if (written++ === 0) journal.append(events);
          dies();
        },
      },
    };
    expect(() => claimEntry(dead, entryId)).toThrow('power cut');
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'queued', attempts: 0 });

    expect(mergeJournal(outbox, { withOpen: false })).toEqual({ events: 0, restoredFinds: 0 });
    expect(findEntryById(outbox, entryId)?.state).toBe('queued');
    expect(mergeJournal(outbox, { withOpen: true }).events).toBe(1);
    expect(findEntryById(outbox, entryId)?.state).toBe('sending');
    recoverInFlight(outbox);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'uncertain', attempts: 1 });
  });

  test('after the answer is in the journal loses no answer', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const claimed = claimEntry(outbox, entryId);
    const { journal } = outbox;
    const dying: TempOutbox = {
      ...outbox,
      change: (work) =>
        outbox.change(() => {
          work();
          throw new Error('power cut');
        }),
    };
    expect(() => acceptClaimed(dying, claimed)).toThrow('power cut');
    expect(findEntryById(outbox, entryId)?.state).toBe('sending');
    mergeJournal({ ...outbox, journal }, { withOpen: true });
    recoverInFlight(outbox);
    expect(findEntryById(outbox, entryId)).toMatchObject({ state: 'accepted', identCely: IDENT });
  });
});

describe('a damaged journal', () => {
  const damages: Readonly<Record<string, (path: string) => void>> = {
    'bytes of the head flipped': (path) => flip(path, [0, 5, 21]),
    'its first pages gone': (path) =>
      writeFileSync(path, Buffer.concat([Buffer.alloc(8192), readFileSync(path).subarray(8192)])),
    'its end gone': (path) => truncateSync(path, Math.floor(statSync(path).size / 4096 / 2) * 4096),
    'a text in its place': (path) =>
      writeFileSync(path, 'not a database, but longer than a head of one would be\n'.repeat(50)),
    'nothing but zeros': (path) => writeFileSync(path, Buffer.alloc(statSync(path).size)),
    'a table renamed': (path) =>
      writeFileSync(
        path,
        Buffer.from(readFileSync(path).toString('latin1').replaceAll('events', 'evenst'), 'latin1'),
      ),
  };

  test.each(Object.entries(damages))(
    '(%s) is set aside and rebuilt with its identity, and the outbox writes its events to it',
    (_, damage) => {
      const { outbox, path, file } = season();
      const { id } = outbox.journal;
      const events = listIds(outbox);
      const states = listStates(outbox);
      outbox.close();
      damage(path);
      const lines: string[] = [];
      const journal = openJournal(path, {
        ...OPTIONS,
        isChecked: true,
        onSetAside: (aside) => lines.push(aside),
      });
      expect(lines).toEqual([expect.stringContaining('journal-damaged-')]);
      expect(existsSync(lines[0] ?? '')).toBe(true);
      expect(journal.id).toBe(id);
      journal.close();

      using again = openAt(file, path);
      mergeJournal(again, { withOpen: true });
      expect(idsIn(again.journal, readHeader(again).outbox).sort()).toEqual([...events].sort());
      expect(listStates(again)).toEqual(states);
      assertSoundJournal(again.journal);
    },
  );

  test('keeps its readable events, even those that no outbox has', () => {
    const { outbox, path } = season(60);
    const events = listIds(outbox);
    const { outbox: id } = readHeader(outbox);
    outbox.close();
    // A page in the middle of the table.
    flip(
      path,
      Array.from(
        { length: 3000 },
        (_, index) => Math.floor(statSync(path).size / 4096 / 2) * 4096 + index,
      ),
    );
    const journal = openJournal(path, { ...OPTIONS, isChecked: true });
    const keptNames = idsIn(journal, id);
    expect(keptNames.length).toBeGreaterThan(events.length / 4);
    expect(keptNames.length).toBeLessThanOrEqual(events.length);
    expect(events).toEqual(expect.arrayContaining(keptNames));
    journal.close();
  });

  test('with a changed bit within a row is detected by a check', () => {
    const { outbox, path } = season();
    outbox.close();
    const bytes = readFileSync(path);
    // SQLite leaves old copies of rows in what is free.
    for (
      let at = bytes.indexOf('"entryKind"');
      at !== -1;
      at = bytes.indexOf('"entryKind"', at + 1)
    )
      bytes.writeUInt8(bytes.readUInt8(at + 14) ^ 1, at + 14);
    writeFileSync(path, bytes);
    const aside: string[] = [];
    openJournal(path, { ...OPTIONS, onSetAside: (at) => aside.push(at) }).close();
    expect(aside).toEqual([]);
    openJournal(path, { ...OPTIONS, isChecked: true, onSetAside: (at) => aside.push(at) }).close();
    expect(aside).toHaveLength(1);
  });

  test('is rebuilt once by two processes that find the damage at the same moment', () => {
    const path = newFile();
    writeFileSync(path, 'x'.repeat(5000));
    const lock = acquireLockFile(`${path}.lock`);
    let other: Journal | undefined;
    const hold = (): void => {
      rmSync(path);
      other = openJournal(path, OPTIONS);
      lock?.release();
    };
    const journal = openJournal(path, { ...OPTIONS, clock: { ...OPTIONS.clock, hold } });
    other?.append([boundEvent('a')]);
    expect(idsIn(journal)).toEqual(['a']);
    other?.close();
    journal.close();
  });

  test('that was damaged twice at the same moment is set aside twice', () => {
    const path = newFile();
    for (const _ of [1, 2]) {
      writeFileSync(path, 'x'.repeat(5000));
      openJournal(path, OPTIONS).close();
    }
    expect(
      readdirSync(dirname(path)).filter(
        (name) => name.includes('-damaged-') && name.endsWith('.sqlite'),
      ),
    ).toHaveLength(2);
  });
});

describe('a journal that differs from the last one', () => {
  test.each<[string, boolean]>([
    ['before the first merge', false],
    ['after a merge', true],
  ])('gets all events of the outbox: it was lost %s', (_, isMerged) => {
    const { outbox, path, file } = season();
    if (isMerged) mergeJournal(outbox, { withOpen: true });
    const events = listIds(outbox);
    outbox.close();
    for (const suffix of ['', '-wal', '-shm']) rmSync(path + suffix, { force: true });
    using again = openAt(file, path);
    mergeJournal(again, { withOpen: false });
    expect(idsIn(again.journal, readHeader(again).outbox)).toEqual(events);
  });

  test('gets missing events if an older copy of it was restored', () => {
    const { outbox, path, file } = season();
    mergeJournal(outbox, { withOpen: true });
    outbox.close();
    const older = readFileSync(path);
    const later = openAt(file, path);
    acceptEntry(later, queueImport(later, 'K-later').entryId, 'C-202400101-N00099');
    const events = listIds(later);
    later.close();
    for (const suffix of ['-wal', '-shm']) rmSync(path + suffix, { force: true });
    writeFileSync(path, older);
    using again = openAt(file, path);
    mergeJournal(again, { withOpen: false });
    expect(idsIn(again.journal, readHeader(again).outbox)).toEqual(events);
  });

  test('is not written to without new events', () => {
    const { outbox } = season();
    mergeJournal(outbox, { withOpen: true });
    const appended: number[] = [];
    const counting: Outbox = {
      ...outbox,
      journal: { ...outbox.journal, append: (events) => void appended.push(events.length) },
    };
    expect(mergeJournal(counting, { withOpen: false })).toEqual({ events: 0, restoredFinds: 0 });
    expect(appended).toEqual([]);
    outbox.close();
  });
});

test('decisions made without a journal are written to it by the next merge', () => {
  using outbox = tempOutbox();
  const { entryId } = queueImport(outbox, 'K-1');
  attemptEntry(outbox, entryId, { state: 'uncertain', reason: 'x' });
  const without: Outbox = { ...outbox, journal: undefined };
  abandon(without, entryId);
  mergeJournal(outbox, { withOpen: false });
  expect(idsIn(outbox.journal, readHeader(outbox).outbox)).toEqual(listIds(outbox));
  using anew = openAnew(outbox);
  mergeJournal(anew, { withOpen: true });
  expect(listStates(anew)).toEqual(listStates(outbox));
});

function acceptClaimed(outbox: Outbox, claimed: Claim): void {
  settle(
    outbox,
    claimed,
    { state: 'accepted', identCely: IDENT },
    { outcome: 'accepted', status: 201 },
  );
}

function abandon(outbox: Outbox, id: number): void {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('the entry is gone');
  recordEvents(outbox, [
    makeDecision(outbox, entry, { answer: 'abandon', by: 'person', group: 'g' }, 'dropped'),
  ]);
}

/** Finds in several states, closed into the files themselves. */
function season(finds = 12): { outbox: TempOutbox; path: string; file: string } {
  const outbox = tempOutbox();
  for (let at = 0; at < finds; at += 1) {
    const { entryId } = queueImport(outbox, `K-${at}`);
    if (at % 3 === 0) acceptEntry(outbox, entryId, `C-202400101-N${String(at).padStart(5, '0')}`);
    if (at % 3 === 1) attemptEntry(outbox, entryId, { state: 'uncertain', reason: 'no answer' });
  }
  return { outbox, path: outbox.journal.path, file: outbox.path };
}

function listStates(outbox: Outbox): unknown[] {
  return outbox
    .sql(
      'select local_id, state, entries.ident_cely, attempts from entries join finds on finds.id = find_id where attempts > 0 order by local_id',
    )
    .raw()
    .all();
}

function flip(path: string, places: readonly number[]): void {
  const bytes = readFileSync(path);
  for (const place of places) bytes.writeUInt8(bytes.readUInt8(place) ^ 0xff, place);
  writeFileSync(path, bytes);
}
