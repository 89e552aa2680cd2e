import { describe, expect, test } from 'vitest';
import { msg } from '../../../src/base/message.ts';
import {
  addImport,
  addNumber,
  addPhoto,
  entriesOfTarget,
  entryById,
  move,
  projectOf,
  replaceImport,
  replaceNumber,
  replacePhoto,
  wasGivenUp,
} from '../../../src/outbox/entries.ts';
import type { Entry, EntryState, ImportEntry } from '../../../src/outbox/entry.ts';
import { addGap } from '../../../src/outbox/gaps.ts';
import { attemptsInARow, attemptsOf, closeAttempt, openAttempt, reasonOfLostAttempt } from '../../../src/outbox/journal.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { sealOf } from '../../../src/outbox/seal.ts';
import { ACCOUNT_ID, queueImport, tempOutbox } from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00012';
const RECORD = { findId: null, identCely: IDENT };
const PHOTOGRAPH = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64, 1), sizeBytes: 3 };
const LINKED = { ...PHOTOGRAPH, name: 'b.jpg', link: '/photos/b.jpg' };
const DOUBT = { doubtFromAt: 1000, doubtUntilAt: 2000 };
const REQUEST = { method: 'POST', path: '/', accountId: ACCOUNT_ID };

function entryOf(outbox: ServiceOutbox, id: number): Entry {
  const entry = entryById(outbox, id);
  if (entry === undefined) throw new Error('no such entry');
  return entry;
}

function set(outbox: ServiceOutbox, id: number, state: EntryState): Entry {
  outbox.sql('update entries set state = ? where id = ?').run(state, id);
  return entryOf(outbox, id);
}

/** Waits for something, for a reason, and may have been sent before. */
function troubled(outbox: ServiceOutbox, id: number, state: EntryState): Entry {
  outbox
    .sql('update entries set not_before_at = 5, collided = 2, doubt_from_at = 1000, doubt_until_at = 2000 where id = ?')
    .run(id);
  outbox.sql(`update entries set reason = '"refused"', issues = '[]' where id = ?`).run(id);
  return set(outbox, id, state);
}

describe('what is mended', () => {
  test('is a number, which is queued under its new seal', () => {
    using outbox = tempOutbox();
    const id = addNumber(outbox, RECORD, 'A 1');
    replaceNumber(outbox, troubled(outbox, id, 'refused'), 'A 2');
    const seal = sealOf({ kind: 'number', recordKey: `record:${IDENT}`, value: 'A 2' });
    expect(entryOf(outbox, id)).toMatchObject({ state: 'queued', value: 'A 2', notBeforeAt: 0, reason: null, doubt: null, seal });
  });

  test('is a photograph, with its new bytes or its new place', () => {
    using outbox = tempOutbox();
    const id = addPhoto(outbox, RECORD, PHOTOGRAPH);
    expect(entryOf(outbox, id)).toMatchObject({ state: 'queued', photograph: PHOTOGRAPH });
    expect(entryOf(outbox, id)).not.toHaveProperty('photograph.link');
    replacePhoto(outbox, set(outbox, id, 'refused'), LINKED);
    const seal = sealOf({ kind: 'photo', recordKey: `record:${IDENT}`, photograph: LINKED });
    expect(entryOf(outbox, id)).toMatchObject({ state: 'queued', photograph: LINKED, seal, notBeforeAt: 0, reason: null });
  });

  test('is in doubt where it may have been mended and sent before', () => {
    using outbox = tempOutbox();
    const photo = addPhoto(outbox, RECORD, PHOTOGRAPH);
    replacePhoto(outbox, troubled(outbox, photo, 'refused'), LINKED);
    expect(entryOf(outbox, photo)).toMatchObject({ state: 'uncertain', doubt: { fromMs: 1000, untilMs: 2000 }, notBeforeAt: 0 });
    const { entryId } = queueImport(outbox, 'K-1');
    const content = { document: Buffer.from('<x/>'), documentSha512: Buffer.alloc(64), project: 'C-2', issues: [] };
    replaceImport(outbox, troubled(outbox, entryId, 'refused') as ImportEntry, content);
    expect(entryOf(outbox, entryId)).toMatchObject({ state: 'uncertain', project: 'C-2', collisions: 0, reason: null });
    replaceImport(outbox, troubled(outbox, entryId, 'refused') as ImportEntry, { ...content, document: null });
    expect(entryOf(outbox, entryId)).toMatchObject({ state: 'draft', document: null });
  });
});

describe('a move', () => {
  test.each<[EntryState, EntryState, boolean]>([
    ['uncertain', 'queued', false],
    ['uncertain', 'accepted', false],
    ['uncertain', 'dropped', true],
    ['draft', 'uncertain', true],
  ])('from %s to %s keeps the doubt: %s', (from, to, isKept) => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    outbox.sql('update entries set state = ?, doubt_from_at = 1, doubt_until_at = 2 where id = ?').run(from, entryId);
    move(outbox, entryOf(outbox, entryId), to, { identCely: IDENT });
    expect(entryOf(outbox, entryId).doubt).toEqual(isKept ? { fromMs: 1, untilMs: 2 } : null);
  });

  test('changes what it is given, and leaves the reason otherwise', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    move(outbox, entryOf(outbox, entryId), 'refused', { reason: msg`no such project` });
    expect(entryOf(outbox, entryId)).toMatchObject({ state: 'refused', reason: msg`no such project` });
    move(outbox, entryOf(outbox, entryId), 'queued', { notBeforeAt: 7 });
    expect(entryOf(outbox, entryId)).toMatchObject({ notBeforeAt: 7, reason: msg`no such project` });
  });

  test('of what another pas moved meanwhile is refused, by its number', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const read = entryOf(outbox, entryId);
    move(outbox, read, 'dropped');
    expect(() => move(outbox, read, 'dropped')).toThrow(`moving entry ${entryId} to dropped did not find the entry`);
  });

  test('half of a doubt is none', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    for (const [from, until] of [
      [1, null],
      [null, 1],
    ]) {
      outbox.sql('update entries set doubt_from_at = ?, doubt_until_at = ? where id = ?').run(from, until, entryId);
      expect(entryOf(outbox, entryId).doubt).toBeNull();
    }
  });
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
    expect(projectOf(entryOf(outbox, addNumber(outbox, { findId: null, identCely }, 'A 1')))).toBe(project);
  });

  test('of an import is the one that it names', () => {
    using outbox = tempOutbox();
    const { entryId, findId } = queueImport(outbox, 'K-1', 'C-7');
    outbox.sql(`update entries set ident_cely = 'C-8-N1' where id = ?`).run(entryId);
    expect(projectOf(entryOf(outbox, entryId))).toBe('C-7');
    expect(projectOf(entryOf(outbox, addNumber(outbox, { findId, identCely: null }, 'A 1')))).toBeNull();
  });

  test('tells which photographs a gap holds', () => {
    using outbox = tempOutbox();
    const { findId } = queueImport(outbox, 'K-1', 'C-7');
    const draft = { document: null, documentSha512: null, project: 'C-7', issues: [] };
    addGap(outbox, { project: 'C-7', fromMs: DOUBT.doubtFromAt, untilMs: DOUBT.doubtUntilAt });
    const states = [
      { findId, identCely: null },
      // Its import says more than the identifier, which may be of a record that was moved.
      { findId, identCely: 'C-8-N1' },
      { findId: null, identCely: 'C-7-N1' },
      { findId: null, identCely: 'C-8-N1' },
    ].map((target, nth) => entryOf(outbox, addPhoto(outbox, target, { ...PHOTOGRAPH, sha512: Buffer.alloc(64, nth) })).state);
    expect(states).toEqual(['uncertain', 'uncertain', 'uncertain', 'queued']);
    const held = queueImport(outbox, 'K-2', 'C-7').entryId;
    expect(String(entryOf(outbox, held).reason)).toBe('its like may have been sent before the copy of the outbox was put back');
    const { findId: other } = queueImport(outbox, 'K-3', 'C-8');
    outbox.sql('delete from entries where find_id = ?').run(other);
    expect(entryOf(outbox, addImport(outbox, other, draft)).state).toBe('draft');
  });
});

test('entries are found by their find, or else by their record', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  const number = addNumber(outbox, RECORD, 'A 1');
  const ids = (target: { findId: number | null; identCely: string | null }) =>
    entriesOfTarget(outbox, target).map(({ id }) => id);
  expect([ids({ findId, identCely: IDENT }), ids(RECORD), ids({ findId: null, identCely: null })]).toEqual([
    [entryId],
    [number],
    [],
  ]);
});

test('a find was given up when each of its imports was, whatever else is queued for it', () => {
  using outbox = tempOutbox();
  const { entryId, findId } = queueImport(outbox, 'K-1');
  addNumber(outbox, { findId, identCely: null }, 'A 1');
  expect(wasGivenUp(outbox, findId)).toBe(false);
  set(outbox, entryId, 'dropped');
  expect(wasGivenUp(outbox, findId)).toBe(true);
  addImport(outbox, findId, { document: null, documentSha512: null, project: null, issues: [] });
  expect(wasGivenUp(outbox, findId)).toBe(false);
  expect(wasGivenUp(outbox, findId + 1)).toBe(false);
});

describe('the attempts of an entry', () => {
  const tried = (outbox: ServiceOutbox, entryId: number, ...outcomes: readonly (string | null)[]) => {
    for (const outcome of outcomes) {
      const id = openAttempt(outbox, entryId, REQUEST);
      if (outcome !== null) closeAttempt(outbox, id, { outcome, reason: null });
    }
  };

  test.each<[readonly (string | null)[], number]>([
    [[], 0],
    [['unauthorised'], 1],
    [['unauthorised', 'unauthorised'], 2],
    [['unauthorised', 'cut'], 0],
    [['unauthorised', 'cut', 'unauthorised'], 1],
    [['unauthorised', 'unauthorised', null], 2],
    [[null], 0],
  ])('%j were refused in a row: %i', (outcomes, count) => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    tried(outbox, entryId, ...outcomes);
    expect(attemptsInARow(outbox, entryId, 'unauthorised')).toBe(count);
  });

  test('that a dead process left open are lost, and the others stay what they were', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    tried(outbox, entryId, 'cut', null);
    const before = attemptsOf(outbox, entryId)[0];
    const reason = reasonOfLostAttempt(outbox, entryId);
    expect(String(reason)).toMatch(/^pas stopped while the request was under way/);
    expect(attemptsOf(outbox, entryId)).toEqual([before, expect.objectContaining({ outcome: 'lost', reason })]);
    expect(attemptsOf(outbox, entryId)[1]?.endedAt).not.toBeNull();
  });
});
