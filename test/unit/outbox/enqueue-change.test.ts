import { describe, expect, test } from 'vitest';
import {
  enqueueNumber,
  enqueuePhoto,
  findKnownNumber,
} from '../../../src/outbox/changes/enqueue-change.ts';
import type { Sendable } from '../../../src/outbox/changes/kept-photographs.ts';
import { planRemoval, removeFinds } from '../../../src/outbox/changes/remove-finds.ts';
import { findSubject } from '../../../src/outbox/changes/resolve-finds.ts';

import { ENTRY_KINDS } from '../../../src/outbox/entry.ts';
import {
  type ClaimableQuery,
  findEntryById,
  findNextClaimableEntry,
  listEntriesOfSubject,
  listPhotoEntries,
} from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { storePulledRecord } from '../../../src/outbox/views/records-at-service.ts';
import { resolveEntries } from '../../../src/push/resolve-entries.ts';
import { parseCsvTable } from '../../../src/tables/formats/csv-table.ts';
import { planTableNumbers, queuePlannedNumbers } from '../../../src/tables/number-table.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  acceptEntry,
  attemptEntry,
  listAllEntries,
  queueImport,
  queueNumber,
  queuePhoto,
  tempOutbox,
} from '../../support/temp-outbox.ts';
import { record } from '../push/doubt-scene.ts';

const IDENT = 'C-202400101-N00001';
const ALONE: ReadonlySet<string> = new Set();
const PHOTOGRAPH: Sendable = {
  source: '/card/IMG_0001.jpg',
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1).toString('hex'),
  sizeBytes: 3,
};
const RECORD = makeRecordSubject(IDENT);

function getNext(outbox: Outbox) {
  const all: ClaimableQuery = {
    kinds: ENTRY_KINDS,
    subjects: undefined,
    busyRecords: [],
    closed: [],
  };
  return findNextClaimableEntry(outbox, all);
}

function nextId(outbox: Outbox): number {
  return getNext(outbox)?.id ?? 0;
}

function drop(outbox: Outbox, id: number): void {
  resolveEntries(outbox, IDENT, { kind: 'drop' }, id, true);
}

test('a photograph and a number queued at the moment of their find’s acceptance do not wait for it forever', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  const lookedUpBefore = findSubject(outbox, 'K-1');
  acceptEntry(outbox, entryId, IDENT);
  enqueuePhoto(outbox, lookedUpBefore, PHOTOGRAPH, ALONE);
  enqueueNumber(outbox, lookedUpBefore, 'A 1');
  const followers = listEntriesOfSubject(outbox, findId).filter(({ kind }) => kind !== 'import');
  expect(followers.map(({ identCely }) => identCely)).toEqual([IDENT, IDENT]);
});

test('nothing is queued for a find that another command removed since it was looked up', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'K-1');
  const lookedUpBefore = findSubject(outbox, 'K-1');
  removeFinds(outbox, planRemoval(outbox, ['K-1']), tempFolder());
  const removed = expect.objectContaining({ message: 'K-1 was removed.' });
  expect(() => enqueuePhoto(outbox, lookedUpBefore, PHOTOGRAPH, ALONE)).toThrow(removed);
  expect(() => enqueueNumber(outbox, lookedUpBefore, 'A 1')).toThrow(removed);
});

describe('a photograph', () => {
  test('that was refused is queued again when it is added again, from its new path', () => {
    using outbox = tempOutbox();
    const id = queuePhoto(outbox, RECORD, { ...PHOTOGRAPH, source: '/media/usb/a.jpg' });
    attemptEntry(outbox, id, { state: 'refused', reason: 'gone', issues: [] });
    expect(enqueuePhoto(outbox, RECORD, PHOTOGRAPH, ALONE)).toBe('queued');
    const entry = findEntryById(outbox, id);
    expect(entry).toMatchObject({ state: 'queued', photograph: PHOTOGRAPH });
  });

  const UNCERTAIN = { state: 'uncertain', reason: 'no answer' } as const;
  test.each<[string, (outbox: Outbox, id: number) => void, string, string]>([
    [
      'uncertain is not queued a second time',
      (outbox, id) => attemptEntry(outbox, id, UNCERTAIN),
      'kept',
      'uncertain',
    ],
    ['dropped is restored', drop, 'queued', 'queued'],
    [
      'dropped while uncertain stays uncertain',
      (outbox, id) => {
        attemptEntry(outbox, id, UNCERTAIN);
        drop(outbox, id);
      },
      'queued',
      'uncertain',
    ],
  ])('that was %s when it is added again', (_what, change, expected, state) => {
    using outbox = tempOutbox();
    const id = queuePhoto(outbox, RECORD, PHOTOGRAPH);
    change(outbox, id);
    expect(enqueuePhoto(outbox, RECORD, PHOTOGRAPH, ALONE)).toBe(expected);
    expect(findEntryById(outbox, id)?.state).toBe(state);
  });

  test('is kept if a pull in the second of its answer shows the record without it', () => {
    using outbox = tempOutbox();
    const now = outbox.clock.now();
    const seen = { datestampMs: Math.floor(now / 1000) * 1000, seenMs: now };
    storePulledRecord(outbox, {
      identCely: IDENT,
      standing: 'shown',
      ...seen,
      record: record(IDENT),
    });
    acceptEntry(outbox, queuePhoto(outbox, RECORD, PHOTOGRAPH), IDENT);
    expect(enqueuePhoto(outbox, RECORD, PHOTOGRAPH, ALONE)).toBe('kept');
  });

  test('with other content replaces an unsent one of its file, unless both are wanted', () => {
    using outbox = tempOutbox();
    const [second, third] = [2, 3].map((byte) => ({
      ...PHOTOGRAPH,
      sha512: Buffer.alloc(64, byte).toString('hex'),
    })) as [Sendable, Sendable];
    enqueuePhoto(outbox, RECORD, PHOTOGRAPH, ALONE);
    expect(enqueuePhoto(outbox, RECORD, second, ALONE)).toBe('replaced');
    expect(listPhotoEntries(outbox)).toMatchObject([
      { state: 'queued', photograph: { sha512: second.sha512 } },
    ]);
    const together = new Set([second.sha512]);
    expect(enqueuePhoto(outbox, RECORD, third, together)).toBe('queued');
  });
});

describe('a new number', () => {
  const table = parseCsvTable(
    'numbers.csv',
    Buffer.from(`ident_cely;evidencni_cislo\n${IDENT};A 1`),
  );
  const sendNext = (outbox: Outbox): void => acceptEntry(outbox, nextId(outbox), IDENT);
  const show = (outbox: Outbox, number: string | undefined): void =>
    storePulledRecord(outbox, {
      identCely: IDENT,
      standing: 'shown',
      datestampMs: outbox.clock.now(),
      seenMs: outbox.clock.now(),
      record: {
        ...record(IDENT),
        elements: number === undefined ? {} : { evidencni_cislo: number },
      },
    });

  test('for a find is sent again if another one was set by its identifier since', () => {
    using outbox = tempOutbox();
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, IDENT);
    expect(enqueueNumber(outbox, findSubject(outbox, 'K-1'), 'A 1')).toBe('queued');
    sendNext(outbox);
    expect(planTableNumbers(outbox, table, undefined).numbers).toMatchObject([{ change: 'kept' }]);
    expect(enqueueNumber(outbox, RECORD, 'A 2')).toBe('queued');
    sendNext(outbox);
    expect(
      queuePlannedNumbers(outbox, planTableNumbers(outbox, table, undefined), true).numbers,
    ).toMatchObject([{ change: 'queued' }]);
    expect(getNext(outbox)).toMatchObject({ kind: 'number', value: 'A 1', expects: 'A 2' });
  });

  test('expects the last sent value, not that of an older pull', async () => {
    const clock = manualClock();
    using outbox = tempOutbox(clock);
    show(outbox, 'A 0');
    await clock.advance(60_000);
    enqueueNumber(outbox, RECORD, 'A 1');
    expect(getNext(outbox)).toMatchObject({ expects: 'A 0' });
    sendNext(outbox);
    expect(findKnownNumber(outbox, RECORD)).toBe('A 1');
  });
});

test('a number replaces no other one than a person was shown', () => {
  using outbox = tempOutbox();
  const setNumber = (value: string) =>
    acceptEntry(outbox, queueNumber(outbox, RECORD, value, null), IDENT);
  setNumber('A 1');
  const table = parseCsvTable(
    'numbers.csv',
    Buffer.from(`ident_cely;evidencni_cislo\n${IDENT};B 2`),
  );
  const planned = planTableNumbers(outbox, table, undefined);
  expect(planned.numbers).toMatchObject([{ replaces: 'A 1' }]);
  setNumber('CURATOR');
  expect(queuePlannedNumbers(outbox, planned, true)).toMatchObject({
    numbers: [],
    issues: [{ rule: 'number-replaces' }],
  });
  expect(
    queuePlannedNumbers(outbox, planTableNumbers(outbox, table, undefined), true),
  ).toMatchObject({
    numbers: [{ replaces: 'CURATOR' }],
    issues: [],
  });
});

test('a find that was removed after the numbers were planned costs no other one its number', () => {
  using outbox = tempOutbox();
  for (const name of ['K-1', 'K-2']) queueImport(outbox, name);
  const table = parseCsvTable(
    'numbers.csv',
    Buffer.from('local_id;evidencni_cislo\nK-1;A 1\nK-2;A 2'),
  );
  const planned = planTableNumbers(outbox, table, undefined);
  removeFinds(outbox, planRemoval(outbox, ['K-1']), tempFolder());
  expect(queuePlannedNumbers(outbox, planned, true)).toMatchObject({
    numbers: [{ find: 'K-2', value: 'A 2' }],
    issues: [{ rule: 'number-find', row: 2 }],
  });
});

test('the numbers of a large table are queued in small transactions', () => {
  using outbox = tempOutbox();
  let most = 0;
  let depth = 0;
  const countAll = () => listAllEntries(outbox).length;
  const counting: Outbox = {
    ...outbox,
    change: (work) => {
      const before = depth === 0 ? countAll() : 0;
      depth += 1;
      const result = outbox.change(work);
      depth -= 1;
      if (depth === 0) most = Math.max(most, countAll() - before);
      return result;
    },
  };
  const rows = Array.from(
    { length: 450 },
    (_, index) => `C-202400101-N${String(index + 1).padStart(5, '0')};A ${index}`,
  );
  const table = parseCsvTable(
    'numbers.csv',
    Buffer.from(['ident_cely;evidencni_cislo', ...rows].join('\n')),
  );
  expect(
    queuePlannedNumbers(
      counting,
      planTableNumbers(counting, table, undefined),
      true,
    ).numbers.filter(({ change }) => change === 'queued'),
  ).toHaveLength(450);
  expect(most).toBeLessThanOrEqual(100);
});
