import { describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/errors.ts';
import { hashSha512 } from '../../../src/http/request-body.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  assignRecord,
  getProject,
  replaceImport,
  replaceNumber,
  replacePhoto,
  schedule,
  scheduleEach,
  setReason,
} from '../../../src/outbox/entries.ts';
import type {
  Entry,
  HeldQuestion,
  ImportEntry,
  NumberEntry,
  PhotoEntry,
} from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  isDropped,
  listEntriesOfTarget,
  listHeldEntries,
} from '../../../src/outbox/entry-queries.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { makeDecision, recordEvents } from '../../../src/outbox/record-events.ts';
import {
  findByLocalId,
  insertFind,
  renameFind,
  updateFind,
} from '../../../src/outbox/stored-finds.ts';
import { acceptEntry, attemptEntry, claimEntry } from '../../support/attempted-entries.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00012';
const RECORD = { findId: null, identCely: IDENT };
const PHOTOGRAPH = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1),
  sizeBytes: 3,
};
const LINKED = {
  ...PHOTOGRAPH,
  name: 'b.jpg',
  link: '/photos/b.jpg',
  originalSha512: Buffer.alloc(64, 2),
};
const REFUSED = { state: 'refused', reason: 'no', issues: [] } as const;
const UNCERTAIN = { state: 'uncertain', reason: 'no answer' } as const;
const HELD: HeldQuestion = {
  basis: 'equal-record',
  question: 'is it this one?',
  candidates: [IDENT],
};

function getEntry<T extends Entry = Entry>(outbox: Outbox, id: number): T {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('no such entry');
  return entry as T;
}

function abandon(outbox: Outbox, id: number): void {
  recordEvents(outbox, [
    makeDecision(
      outbox,
      getEntry(outbox, id),
      { answer: 'abandon', by: 'person', group: 'g' },
      'dropped',
    ),
  ]);
}

const makeContent = (text: string | null) => {
  const document = text === null ? null : Buffer.from(text);
  return {
    document,
    documentSha512: document === null ? null : hashSha512(document),
    digest: text,
    project: text === null ? null : 'C-2',
    issues: [],
  };
};

describe('a corrected entry', () => {
  test('is a number, which is queued again, even after a refusal', () => {
    using outbox = tempOutbox();
    const id = addNumber(outbox, RECORD, 'A 1', '');
    attemptEntry(outbox, id, REFUSED);
    replaceNumber(outbox, getEntry<NumberEntry>(outbox, id), 'A 2', 'A 0');
    expect(getEntry(outbox, id)).toMatchObject({
      state: 'queued',
      value: 'A 2',
      expects: 'A 0',
      notBeforeAt: 0,
      reason: null,
      attempts: 1,
    });
    attemptEntry(outbox, id, REFUSED);
    expect(getEntry(outbox, id).state).toBe('refused');
  });

  test('is a photograph, with new bytes or a new path', () => {
    using outbox = tempOutbox();
    const id = addPhoto(outbox, RECORD, PHOTOGRAPH);
    expect(getEntry(outbox, id)).toMatchObject({ state: 'queued', photograph: PHOTOGRAPH });
    expect(getEntry(outbox, id)).not.toHaveProperty('photograph.link');
    attemptEntry(outbox, id, REFUSED);
    replacePhoto(outbox, getEntry<PhotoEntry>(outbox, id), LINKED);
    expect(getEntry(outbox, id)).toMatchObject({
      state: 'queued',
      photograph: LINKED,
      reason: null,
    });
    replacePhoto(outbox, getEntry<PhotoEntry>(outbox, id), PHOTOGRAPH);
    expect(getEntry<PhotoEntry>(outbox, id).photograph).toEqual(PHOTOGRAPH);
  });

  test('is an import, which without a document is a draft', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    replaceImport(outbox, getEntry<ImportEntry>(outbox, entryId), makeContent(null));
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'draft', document: null });
    replaceImport(outbox, getEntry<ImportEntry>(outbox, entryId), makeContent('<x/>'));
    expect(getEntry(outbox, entryId)).toMatchObject({
      state: 'queued',
      digest: '<x/>',
      project: 'C-2',
    });
  });

  test('stays uncertain if it may have been sent before', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, UNCERTAIN);
    replaceImport(outbox, getEntry<ImportEntry>(outbox, entryId), makeContent('<x/>'));
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'uncertain', unknownAttempts: 1 });
  });

  test('has no open question any more', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    schedule(outbox, entryId, { held: HELD, notBeforeAt: 7 });
    expect([getEntry(outbox, entryId).held, listHeldEntries(outbox).map(({ id }) => id)]).toEqual([
      HELD,
      [entryId],
    ]);
    replaceImport(outbox, getEntry<ImportEntry>(outbox, entryId), makeContent('<x/>'));
    expect(getEntry(outbox, entryId)).toMatchObject({ held: null, notBeforeAt: 0 });
  });
});

describe('an open question', () => {
  test('ends when the entry is settled in another way', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    schedule(outbox, entryId, { held: HELD });
    abandon(outbox, entryId);
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'dropped', held: null });
  });

  test.each([`'{'`, `'{"basis":"equal-record","question":"\\"other?\\"","candidates":[]}'`, '0'])(
    'with damage, such as %s, is detected',
    (text) => {
      using outbox = tempOutbox();
      const { entryId } = queueImport(outbox, 'K-1');
      schedule(outbox, entryId, { held: HELD });
      outbox.sql('pragma ignore_check_constraints = on').run();
      outbox.sql(`update entries set held = ${text} where id = ?`).run(entryId);
      expect(() => findEntryById(outbox, entryId)).toThrow(
        expect.objectContaining({ damaged: true }) as Error,
      );
    },
  );

  test('can be removed from all entries that have it', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    schedule(outbox, entryId, { held: HELD });
    scheduleEach(outbox, [entryId], () => ({ held: null }));
    expect(claimEntry(outbox, entryId).entry.held).toBeNull();
  });
});

test('a missing entry cannot be changed', () => {
  using outbox = tempOutbox();
  for (const change of [
    () => schedule(outbox, 7, { notBeforeAt: 1 }),
    () => setReason(outbox, 7, null),
    () => assignRecord(outbox, 7, IDENT),
  ])
    expect(change).toThrow('changing entry 7 failed, because the entry changed');
});

describe('the project', () => {
  test.each([
    ['C-202400101-N00012', 'C-202400101'],
    ['X-M-202400101-N1', 'X-M-202400101'],
    ['C-1-N1-N2', 'C-1-N1'],
    ['C-202400101-N', null],
    ['C-202400101-N00012b', null],
    ['C-202400101-Nb', null],
    ['-N00012', null],
    ['line\nC-1-N1', null],
  ])('of the record %j is %j', (identCely, project) => {
    using outbox = tempOutbox();
    expect(
      getProject(getEntry(outbox, addNumber(outbox, { findId: null, identCely }, 'A 1', ''))),
    ).toBe(project);
  });

  test('of an import is the one that it names', () => {
    using outbox = tempOutbox();
    const { entryId, findId } = queueImport(outbox, 'K-1', 'C-7');
    acceptEntry(outbox, entryId, 'C-8-N1');
    expect(getProject(getEntry(outbox, entryId))).toBe('C-7');
    expect(
      getProject(getEntry(outbox, addNumber(outbox, { findId, identCely: null }, 'A 1', ''))),
    ).toBeNull();
  });
});

test('entries are looked up by their find, or else by their record', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  const number = addNumber(outbox, RECORD, 'A 1', '');
  const ids = (target: { findId: number | null; identCely: string | null }) =>
    listEntriesOfTarget(outbox, target).map(({ id }) => id);
  expect([
    ids({ findId, identCely: IDENT }),
    ids(RECORD),
    ids({ findId: null, identCely: null }),
  ]).toEqual([[entryId], [number], []]);
});

test('a find is dropped with its import, whatever else is queued for it', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  addNumber(outbox, { findId, identCely: null }, 'A 1', '');
  expect(isDropped(outbox, findId)).toBe(false);
  abandon(outbox, entryId);
  expect([isDropped(outbox, findId), isDropped(outbox, findId + 1)]).toEqual([true, false]);
});

test('a find has one import', () => {
  using outbox = tempOutbox();
  const { findId } = queueImport(outbox, 'K-1');
  expect(() => addImport(outbox, findId, makeContent('<x/>'))).toThrow(/unique/i);
});

describe('a find', () => {
  test('is changed only if it is as it was read', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    insertFind(outbox, {
      localId: 'K-1',
      elements: { poznamka: 'a' },
      source: { file: 'a.csv', row: 3 },
    });
    const read = findByLocalId(outbox, 'K-1');
    await clock.advance(1000);
    updateFind(outbox, { localId: 'K-1', elements: { poznamka: 'b' } }, read?.version);
    expect(findByLocalId(outbox, 'K-1')).toEqual({
      ...read,
      elements: { poznamka: 'b' },
      version: 2,
      updatedAt: clock.now(),
    });
    expect(() => updateFind(outbox, { localId: 'K-1', elements: {} }, read?.version)).toThrow(
      UsageError,
    );
    updateFind(outbox, {
      localId: 'K-1',
      elements: { poznamka: 'c' },
      source: { file: 'b.csv', row: 4 },
    });
    expect(findByLocalId(outbox, 'K-1')).toMatchObject({
      elements: { poznamka: 'c' },
      version: 3,
      sourceFile: 'b.csv',
      sourceRow: 4,
    });
    expect(() => updateFind(outbox, { localId: 'K-2', elements: {} })).toThrow(UsageError);
  });

  test('keeps its UUID and elements under another local id', () => {
    using outbox = tempOutbox();
    queueImport(outbox, 'K-1');
    const before = findByLocalId(outbox, 'K-1');
    renameFind(outbox, 'K-1', 'K-9');
    expect(findByLocalId(outbox, 'K-9')).toEqual({ ...before, localId: 'K-9', version: 2 });
    expect(() => renameFind(outbox, 'K-1', 'K-8')).toThrow(UsageError);
  });

  test.each(['elements', 'source_file', 'created_at', 'hidden_at', 'version', 'uuid'])(
    'whose %s is damaged is detected',
    (column) => {
      using outbox = tempOutbox();
      insertFind(outbox, { localId: 'K-1', elements: {}, source: { file: 'a.csv', row: 3 } });
      const value =
        column === 'elements' ? '{"a":1}' : ['uuid', 'source_file'].includes(column) ? 'x' : 77;
      outbox.sql(`update finds set ${column} = ?`).run(value);
      expect(() => findByLocalId(outbox, 'K-1')).toThrow(
        expect.objectContaining({ damaged: true }) as Error,
      );
    },
  );
});
