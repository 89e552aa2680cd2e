import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hashSha512 } from '../../../src/http/request-body.ts';
import { claim, recoverInFlight, settle } from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, replaceImport, schedule } from '../../../src/outbox/entries.ts';
import type { Entry, ImportEntry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  findImportOfFind,
  listAllEntries,
  listEntriesOfFind,
  listNumbers,
} from '../../../src/outbox/entry-queries.ts';
import type { Journal } from '../../../src/outbox/journal.ts';
import { mergeJournal, rebuildStates, thinDocuments } from '../../../src/outbox/merge.ts';
import { type Outbox, readHeader, updateHeader } from '../../../src/outbox/open-outbox.ts';
import { supersedeEarlierNumbers } from '../../../src/outbox/ownership.ts';
import { saveStanding } from '../../../src/outbox/pulled-records.ts';
import { makeDecision, recordEvents } from '../../../src/outbox/record-events.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { findByLocalId } from '../../../src/outbox/stored-finds.ts';
import { acceptEntry, attemptEntry, claimEntry } from '../../support/attempted-entries.ts';
import {
  ACCOUNT_ID,
  hashDigest,
  openAnew,
  openAt,
  queueImport,
  type TempOutbox,
  tempFolder,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const IDENT = 'C-202400101-N00001';
const PHOTOGRAPH = {
  name: 'a.jpg',
  mediaType: 'image/jpeg',
  sha512: Buffer.alloc(64, 1),
  sizeBytes: 3,
};
const LOCKED = { withOpen: true } as const;
const UNLOCKED = { withOpen: false } as const;
const UNCERTAIN = { state: 'uncertain', reason: 'no answer' } as const;
const REFUSED = { state: 'refused', reason: 'no such period', issues: [] } as const;

function getEntry(outbox: Outbox, id: number): Entry {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) throw new Error('the entry is gone');
  return entry;
}

function getImport(outbox: Outbox, localId: string): ImportEntry {
  const find = findByLocalId(outbox, localId);
  const entry = find === undefined ? undefined : findImportOfFind(outbox, find.id);
  if (entry === undefined) throw new Error(`there is no find ${localId}`);
  return entry;
}

function listStates(outbox: Outbox): (string | null)[][] {
  return listAllEntries(outbox).map(({ localId, kind, state, identCely }) => [
    localId,
    kind,
    state,
    identCely,
  ]);
}

/** Closes the outbox into one file and copies that. */
function makeCopy(outbox: TempOutbox): string {
  const copy = join(tempFolder(), 'outbox.sqlite');
  outbox.sql('pragma wal_checkpoint(truncate)').all();
  copyFileSync(outbox.path, copy);
  return copy;
}

/** Records at the service that this outbox knows: each identifier once for each attempt. */
function sentTwice(outbox: Outbox): string[] {
  return listAllEntries(outbox)
    .filter(({ attempts }) => attempts > 1)
    .map(({ localId }) => localId ?? '');
}

describe('an older copy of the outbox that was restored', () => {
  test('knows after the merge what was accepted since, and nothing is uncertain', () => {
    using outbox = tempOutbox();
    const ids = ['K-1', 'K-2'].map((name) => queueImport(outbox, name).entryId);
    const number = addNumber(
      outbox,
      { findId: getImport(outbox, 'K-1').findId, identCely: null },
      'A 1',
      '',
    );
    mergeJournal(outbox, LOCKED);
    const copy = makeCopy(outbox);
    acceptEntry(outbox, ids[0] ?? 0, IDENT);
    acceptEntry(outbox, number, IDENT);
    const before = listStates(outbox);

    using old = openAt(copy, outbox.journal.path);
    expect(listStates(old).map(([, , state]) => state)).toEqual(['queued', 'queued', 'queued']);
    expect(mergeJournal(old, UNLOCKED)).toEqual({ events: 4, restoredFinds: 0 });
    expect(listStates(old)).toEqual(before);
    expect(listAllEntries(old).map(({ unknownAttempts }) => unknownAttempts)).toEqual([0, 0, 0]);
    expect(mergeJournal(old, LOCKED)).toEqual({ events: 0, restoredFinds: 0 });
  });

  test('gets the finds that were entered and sent since', () => {
    using outbox = tempOutbox();
    const copy = makeCopy(outbox);
    acceptEntry(outbox, queueImport(outbox, 'K-new').entryId, IDENT);
    using old = openAt(copy, outbox.journal.path);
    expect(mergeJournal(old, UNLOCKED).restoredFinds).toBe(1);
    expect(findByLocalId(old, 'K-new')?.elements).toEqual({ poznamka: 'K-new' });
    expect(getImport(old, 'K-new')).toMatchObject({
      state: 'accepted',
      identCely: IDENT,
      digest: hashDigest('K-new'),
      project: 'C-202400101',
    });
  });

  test('with an import that was corrected since has the sent version, and compares with it', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, REFUSED);
    const copy = makeCopy(outbox);
    correct(outbox, entryId, 'corrected');
    attemptEntry(outbox, entryId, UNCERTAIN);
    using old = openAt(copy, outbox.journal.path);
    mergeJournal(old, UNLOCKED);
    expect(getImport(old, 'K-1')).toMatchObject({
      state: 'uncertain',
      digest: hashDigest('corrected'),
      document: Buffer.from('<document>corrected</document>'),
    });
  });

  test('does not send again what a person decided since', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, UNCERTAIN);
    const copy = makeCopy(outbox);
    recordEvents(outbox, [
      makeDecision(
        outbox,
        getEntry(outbox, entryId),
        { answer: 'abandon', by: 'person', group: 'g' },
        'dropped',
      ),
    ]);
    using old = openAt(copy, outbox.journal.path);
    mergeJournal(old, UNLOCKED);
    expect(getImport(old, 'K-1')).toMatchObject({ state: 'dropped', unknownAttempts: 1 });
  });
});

describe('a lost outbox', () => {
  test('is rebuilt from the journal with everything sent: finds, numbers and photographs', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    acceptEntry(outbox, entryId, IDENT);
    acceptEntry(outbox, addNumber(outbox, { findId, identCely: IDENT }, 'A 1', ''), IDENT);
    attemptEntry(
      outbox,
      addPhoto(
        outbox,
        { findId, identCely: IDENT },
        { ...PHOTOGRAPH, originalSha512: Buffer.alloc(64, 2), link: '/p/a.jpg' },
      ),
      UNCERTAIN,
    );
    acceptEntry(
      outbox,
      addNumber(outbox, { findId: null, identCely: 'C-1-N1' }, 'B 1', 'B 0'),
      'C-1-N1',
    );
    using anew = openAnew(outbox);
    expect(mergeJournal(anew, LOCKED)).toEqual({ events: 9, restoredFinds: 1 });
    expect(listStates(anew)).toEqual(listStates(outbox));
    const contents = (of: Outbox) =>
      listAllEntries(of).map((entry) => [
        entry.uuid,
        entry.findUuid,
        entry.kind === 'photo'
          ? entry.photograph
          : entry.kind === 'number'
            ? [entry.value, entry.expects]
            : entry.document,
      ]);
    expect(contents(anew)).toEqual(contents(outbox));
    expect(readHeader(anew).account).toBe(ACCOUNT_ID);
  });

  test('is rebuilt with the last sent version if a find was corrected after a refusal', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, REFUSED);
    correct(outbox, entryId, 'corrected');
    acceptEntry(outbox, entryId, IDENT);
    using anew = openAnew(outbox);
    mergeJournal(anew, LOCKED);
    expect(getImport(anew, 'K-1')).toMatchObject({
      state: 'accepted',
      attempts: 2,
      digest: hashDigest('corrected'),
    });
  });

  test('knows its finds if the same table is imported again before the merge', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    acceptEntry(outbox, entryId, IDENT);
    const sentIds = [
      addNumber(outbox, { findId, identCely: IDENT }, 'A 1', ''),
      addPhoto(outbox, { findId, identCely: IDENT }, PHOTOGRAPH),
    ];
    for (const id of sentIds) acceptEntry(outbox, id, IDENT);

    using anew = openAnew(outbox);
    const again = queueImport(anew, 'K-1');
    addNumber(anew, { findId: again.findId, identCely: null }, 'A 1', '');
    addPhoto(anew, { findId: again.findId, identCely: null }, PHOTOGRAPH);
    addPhoto(
      anew,
      { findId: again.findId, identCely: null },
      { ...PHOTOGRAPH, sha512: Buffer.alloc(64, 9) },
    );
    expect(getImport(anew, 'K-1').uuid).not.toBe(getEntry(outbox, entryId).uuid);
    expect(mergeJournal(anew, UNLOCKED).restoredFinds).toBe(0);
    expect(listStates(anew)).toEqual([...listStates(outbox), ['K-1', 'photo', 'queued', IDENT]]);
    expect(findByLocalId(anew, 'K-1')?.uuid).toBe(findByLocalId(outbox, 'K-1')?.uuid);
    expect(sentTwice(anew)).toEqual([]);
  });

  test('asks about a find with the same local id but other values, and restores the one that was sent', () => {
    using outbox = tempOutbox();
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, IDENT);
    using anew = openAnew(outbox);
    const { entryId } = queueImport(anew, 'K-1', 'C-202400101', 'another find');
    queueImport(anew, 'K-1-2');
    expect(mergeJournal(anew, UNLOCKED).restoredFinds).toBe(1);
    expect(getImport(anew, 'K-1')).toMatchObject({
      state: 'queued',
      held: { basis: 'local-id-in-use', candidates: ['K-1'] },
    });
    expect(getImport(anew, 'K-1-3')).toMatchObject({ state: 'accepted', identCely: IDENT });
    expect(
      claim(anew, entryId, () => {
        throw new Error('not reached');
      }),
    ).toBeUndefined();
  });

  test('asks even after the find was changed, and about a draft', () => {
    using outbox = tempOutbox();
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, IDENT);
    using anew = openAnew(outbox);
    const { entryId } = queueImport(anew, 'K-1', 'C-202400101', 'another find');
    mergeJournal(anew, UNLOCKED);
    for (const document of [Buffer.from('<edited/>'), null, Buffer.from('<again/>')]) {
      const content = {
        document,
        documentSha512: document === null ? null : hashSha512(document),
        digest: 'x',
        project: 'C-1',
        issues: [],
      };
      replaceImport(anew, getEntry(anew, entryId) as ImportEntry, content);
      expect(getEntry(anew, entryId).held).toMatchObject({ basis: 'local-id-in-use' });
    }
  });

  test('loses nothing if both finds with one local id were sent already', () => {
    using outbox = tempOutbox();
    acceptEntry(outbox, queueImport(outbox, 'K-1').entryId, IDENT);
    using anew = openAnew(outbox);
    // Sent with another journal, as after an adoption.
    const elsewhere = tempOutbox();
    updateHeader(anew, { journal: elsewhere.journal.id });
    acceptEntry(
      { ...anew, journal: elsewhere.journal },
      queueImport(anew, 'K-1').entryId,
      'C-202400101-N00002',
    );
    elsewhere[Symbol.dispose]();
    expect(mergeJournal(anew, LOCKED).restoredFinds).toBe(1);
    expect(listStates(anew)).toEqual([
      ['K-1', 'import', 'accepted', 'C-202400101-N00002'],
      ['K-1-2', 'import', 'accepted', IDENT],
    ]);
  });

  test('has its removed finds as dropped ones', () => {
    using outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    attemptEntry(outbox, entryId, REFUSED);
    removeTarget(outbox, { findId, identCely: null });
    using anew = openAnew(outbox);
    mergeJournal(anew, LOCKED);
    expect(getImport(anew, 'K-1').state).toBe('dropped');
  });
});

describe('an attempt without an answer', () => {
  test('is merged under the lock only, and is available for the next merge until then', () => {
    using outbox = tempOutbox();
    const ids = ['K-1', 'K-2', 'K-3'].map((name) => queueImport(outbox, name).entryId);
    const copy = makeCopy(outbox);
    acceptEntry(outbox, ids[0] ?? 0, IDENT);
    const open = claimEntry(outbox, ids[1] ?? 0);
    acceptEntry(outbox, ids[2] ?? 0, 'C-202400101-N00003');

    using old = openAt(copy, outbox.journal.path);
    const states = () => listAllEntries(old).map(({ state }) => state);
    mergeJournal(old, UNLOCKED);
    expect(states()).toEqual(['accepted', 'queued', 'accepted']);
    const { mergedSeq } = readHeader(old);
    mergeJournal(old, UNLOCKED);
    expect(readHeader(old).mergedSeq).toBe(mergedSeq);
    settle(
      outbox,
      open,
      { state: 'accepted', identCely: 'C-202400101-N00002' },
      { outcome: 'accepted' },
    );
    mergeJournal(old, UNLOCKED);
    expect(listStates(old)).toEqual(listStates(outbox));
    expect(readHeader(old).mergedSeq).toBeGreaterThan(mergedSeq);
  });

  test('is uncertain under the lock, since no process waits for its answer any more', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const copy = makeCopy(outbox);
    const open = claimEntry(outbox, entryId);
    using old = openAt(copy, outbox.journal.path);
    mergeJournal(old, LOCKED);
    recoverInFlight(old);
    expect(getImport(old, 'K-1').state).toBe('uncertain');
    // The answer comes all the same.
    settle(outbox, open, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' });
    mergeJournal(old, LOCKED);
    expect(getImport(old, 'K-1')).toMatchObject({
      state: 'accepted',
      identCely: IDENT,
      unknownAttempts: 0,
    });
  });

  test('that is the first event does not move the watermark', () => {
    using outbox = tempOutbox();
    mergeJournal(outbox, LOCKED);
    const { entryId } = queueImport(outbox, 'K-1');
    const copy = makeCopy(outbox);
    claimEntry(outbox, entryId);
    using old = openAt(copy, outbox.journal.path);
    const before = readHeader(old).mergedSeq;
    expect(mergeJournal(old, UNLOCKED).events).toBe(0);
    expect(readHeader(old).mergedSeq).toBe(before);
    expect(mergeJournal(old, LOCKED).events).toBe(1);
  });
});

describe('two copies on one machine', () => {
  test('that are pushed in turn send nothing twice', () => {
    using first = tempOutbox();
    for (const name of ['K-1', 'K-2', 'K-3', 'K-4']) queueImport(first, name);
    using second = openAt(makeCopy(first), first.journal.path);
    let count = 0;
    for (const [outbox, names] of [
      [first, ['K-1', 'K-2']],
      [second, ['K-2', 'K-3']],
      [first, ['K-3', 'K-4']],
      [second, ['K-1', 'K-4']],
    ] as const) {
      mergeJournal(outbox, LOCKED);
      for (const name of names)
        if (getImport(outbox, name).state === 'queued')
          acceptEntry(outbox, getImport(outbox, name).id, `C-202400101-N${++count}`);
    }
    mergeJournal(first, LOCKED);
    expect(count).toBe(4);
    expect(listStates(first)).toEqual(listStates(second));
    expect([...sentTwice(first), ...sentTwice(second)]).toEqual([]);
  });

  test('with the same imported table send its finds once', () => {
    using first = tempOutbox();
    using second = openAt(makeCopy(first), first.journal.path);
    acceptEntry(first, queueImport(first, 'K-1').entryId, IDENT);
    queueImport(second, 'K-1');
    mergeJournal(second, LOCKED);
    expect(listStates(second)).toEqual([['K-1', 'import', 'accepted', IDENT]]);
    expect(getImport(second, 'K-1').uuid).toBe(getImport(first, 'K-1').uuid);
  });

  test('keep a number that one of them queued while the other sent one: it is still to be sent, and is the later one', () => {
    using first = tempOutbox();
    using second = openAt(makeCopy(first), first.journal.path);
    const target = { findId: null, identCely: IDENT };
    acceptEntry(first, addNumber(first, target, 'A 1', ''), IDENT);
    const { uuid } = getEntry(second, addNumber(second, target, 'B 7', ''));
    mergeJournal(second, LOCKED);
    supersedeEarlierNumbers(second);
    const numbers = () => listNumbers(second, target).map((entry) => [entry.value, entry.state]);
    expect(numbers()).toEqual([
      ['A 1', 'accepted'],
      ['B 7', 'queued'],
    ]);
    const [, later] = listNumbers(second, target);
    expect(later?.uuid).toBe(uuid);
    acceptEntry(second, later?.id ?? 0, IDENT);
    mergeJournal(first, LOCKED);
    expect(listNumbers(first, target).map((entry) => [entry.value, entry.state])).toEqual(
      numbers(),
    );
  });

  test('with different decisions at the same place agree on the result', () => {
    using first = tempOutbox();
    const { entryId } = queueImport(first, 'K-1');
    attemptEntry(first, entryId, UNCERTAIN);
    using second = openAt(makeCopy(first), first.journal.path);
    const decide = (outbox: Outbox, answer: 'abandon' | 'send') => {
      const entry = getImport(outbox, 'K-1');
      recordEvents(outbox, [
        makeDecision(outbox, entry, { answer, by: 'person', group: answer }, answer),
      ]);
    };
    decide(first, 'abandon');
    decide(second, 'send');
    for (const outbox of [first, second, first]) mergeJournal(outbox, LOCKED);
    expect(getImport(first, 'K-1').state).toBe(getImport(second, 'K-1').state);
  });
});

describe('removed documents', () => {
  const show = (outbox: Outbox, identCely: string) =>
    saveStanding(outbox, {
      identCely,
      standing: 'shown',
      datestampMs: 1,
      shown: { stav: 1, record: {} },
    });

  /** K-1 accepted and shown, K-2 accepted, K-3 uncertain; a photograph of K-1. */
  function season(): TempOutbox {
    const outbox = tempOutbox();
    const { findId, entryId } = queueImport(outbox, 'K-1');
    acceptEntry(outbox, entryId, IDENT);
    acceptEntry(outbox, addPhoto(outbox, { findId, identCely: IDENT }, PHOTOGRAPH), IDENT);
    acceptEntry(outbox, queueImport(outbox, 'K-2').entryId, 'C-202400101-N00002');
    attemptEntry(outbox, queueImport(outbox, 'K-3').entryId, UNCERTAIN);
    show(outbox, IDENT);
    show(outbox, 'C-202400101-N00003');
    saveStanding(outbox, { identCely: 'C-202400101-N00002', standing: 'withheld', datestampMs: 1 });
    return outbox;
  }

  const kept = (outbox: TempOutbox) =>
    outbox.journal
      .listEventsSince(readHeader(outbox).outbox, 0)
      .flatMap(({ event }) =>
        event.kind === 'attempted' && event.body.entryKind === 'import'
          ? [[event.body.localId, event.body.content !== null, event.body.digest !== null]]
          : [],
      );

  test('are those of accepted records that the service shows; their digests stay', () => {
    using outbox = season();
    const before = outbox.sql('select count(*) from events').pluck().get();
    expect([thinDocuments(outbox), thinDocuments(outbox)]).toEqual([1, 0]);
    expect(kept(outbox)).toEqual([
      ['K-1', false, true],
      ['K-2', true, true],
      ['K-3', true, true],
    ]);
    const here = outbox
      .sql(
        `select body ->> 'localId', body ->> 'content' is null from events where body ->> 'entryKind' = 'import'`,
      )
      .raw()
      .all();
    expect(here).toEqual([
      ['K-1', 1],
      ['K-2', 0],
      ['K-3', 0],
    ]);
    expect(outbox.sql('select count(*) from events').pluck().get()).toBe(before);
    expect(rebuildStates(outbox)).toEqual([]);
    expect(getImport(outbox, 'K-1').document).not.toBeNull();
  });

  test('are no loss if the table is imported again: nothing is sent twice, with its photographs', () => {
    using outbox = season();
    thinDocuments(outbox);
    using anew = openAnew(outbox);
    expect(mergeJournal(anew, UNLOCKED).restoredFinds).toBe(2);
    expect(findByLocalId(anew, 'K-1')).toBeUndefined();
    const { findId } = queueImport(anew, 'K-1');
    addPhoto(anew, { findId, identCely: null }, PHOTOGRAPH);
    mergeJournal(anew, LOCKED);
    expect(
      listEntriesOfFind(anew, findId)
        .map(({ kind, state, identCely }) => [kind, state, identCely])
        .sort(),
    ).toEqual([
      ['import', 'accepted', IDENT],
      ['photo', 'accepted', IDENT],
    ]);
    expect(listAllEntries(anew).filter(({ state }) => state === 'queued')).toEqual([]);
    expect(mergeJournal(anew, LOCKED)).toEqual({ events: 0, restoredFinds: 0 });
  });

  test('cause one question about a find with the same local id but other values', () => {
    using outbox = season();
    thinDocuments(outbox);
    using anew = openAnew(outbox);
    const { entryId } = queueImport(anew, 'K-1', 'C-202400101', 'another find');
    mergeJournal(anew, LOCKED);
    const { held } = getEntry(anew, entryId);
    expect(held).toMatchObject({ basis: 'local-id-in-use' });
    const decided = {
      answer: 'send',
      by: 'person',
      group: 'g',
      candidates: held?.candidates ?? [],
    } as const;
    recordEvents(anew, [makeDecision(anew, getEntry(anew, entryId), decided, 'send')]);
    schedule(anew, entryId, { held: null });
    mergeJournal(anew, LOCKED);
    expect(getEntry(anew, entryId)).toMatchObject({ state: 'queued', held: null });
  });
});

describe('a failed transaction', () => {
  const failing = (outbox: Outbox, work: () => void): void =>
    expect(() =>
      outbox.change(() => {
        work();
        throw new Error('the disk is full');
      }),
    ).toThrow('the disk is full');

  test.each(['send', 'abandon', 'created'] as const)(
    'leaves no decision behind for the next merge: %s',
    (answer) => {
      using outbox = tempOutbox();
      const { entryId } = queueImport(outbox, 'K-1');
      attemptEntry(outbox, entryId, UNCERTAIN);
      const decided = {
        answer,
        by: 'person',
        group: 'g',
        identCely: answer === 'created' ? IDENT : null,
      } as const;
      const decide = () =>
        recordEvents(outbox, [makeDecision(outbox, getEntry(outbox, entryId), decided, 'decided')]);
      failing(outbox, decide);
      mergeJournal(outbox, LOCKED);
      expect(getEntry(outbox, entryId)).toMatchObject({ state: 'uncertain', unknownAttempts: 1 });
      decide();
      const { outbox: id } = readHeader(outbox);
      expect(
        outbox.journal.listEventsSince(id, 0).filter(({ event }) => event.kind === 'decided'),
      ).toHaveLength(1);
    },
  );

  test('keeps the answer of the service', () => {
    using outbox = tempOutbox();
    const { entryId } = queueImport(outbox, 'K-1');
    const claimed = claimEntry(outbox, entryId);
    failing(outbox, () =>
      settle(outbox, claimed, { state: 'accepted', identCely: IDENT }, { outcome: 'accepted' }),
    );
    mergeJournal(outbox, LOCKED);
    expect(getEntry(outbox, entryId)).toMatchObject({ state: 'accepted', identCely: IDENT });
  });
});

describe('states', () => {
  test('are recomputed from the events, and each difference is named', () => {
    using outbox = tempOutbox();
    const ids = ['K-1', 'K-2', 'K-3'].map((name) => queueImport(outbox, name).entryId);
    acceptEntry(outbox, ids[0] ?? 0, IDENT);
    attemptEntry(outbox, ids[1] ?? 0, UNCERTAIN);
    const before = listStates(outbox);
    outbox.sql(`update entries set state = 'queued', attempts = 7 where id in (1, 2)`).run();
    outbox.sql(`update entries set state = 'dropped' where id = 3`).run();
    expect(rebuildStates(outbox)).toEqual(['K-1', 'K-2', 'K-3']);
    expect(listStates(outbox)).toEqual(before);
    expect(rebuildStates(outbox)).toEqual([]);
  });
});

test('the time of a merge of thousands of events grows linearly', () => {
  using outbox = tempOutbox();
  const count = 300;
  // Without waiting for the disk.
  outbox.sql('pragma synchronous = off').run();
  const events = outbox.change(() =>
    Array.from({ length: count }, (_, at) => {
      const { entryId } = queueImport(outbox, `K-${at}`);
      acceptEntry(
        { ...outbox, journal: { ...outbox.journal, append: () => {} } },
        entryId,
        `C-202400101-N${at}`,
      );
      return entryId;
    }),
  );
  outbox.sql('update events set in_journal = 0').run();
  mergeJournal(outbox, LOCKED);
  using anew = openAnew(outbox);
  const statements = (size: number): number => {
    let run = 0;
    const counting: Outbox = {
      ...anew,
      sql: (text) => {
        run += 1;
        return anew.sql(text);
      },
    };
    const listEventsSince = (...args: Parameters<Journal['listEventsSince']>) =>
      anew.journal.listEventsSince(...args).filter(({ seq }) => seq <= size);
    const some = { ...anew.journal, listEventsSince };
    mergeJournal({ ...counting, journal: some }, LOCKED);
    return run;
  };
  const few = statements(60);
  const many = statements(540);
  expect(events).toHaveLength(count);
  expect(many).toBeLessThan(10 * few);
  mergeJournal(anew, LOCKED);
  expect(listStates(anew)).toEqual(listStates(outbox));
}, 30_000);

test('an attempt whose answer comes thousands of events later is merged with it, and no read has more than some hundreds', () => {
  using outbox = tempOutbox();
  outbox.sql('pragma synchronous = off').run();
  const { entryId } = queueImport(outbox, 'K-first');
  const claimed = claimEntry(outbox, entryId);
  outbox.change(() => {
    for (let at = 0; at < 600; at += 1)
      acceptEntry(outbox, queueImport(outbox, `K-${at}`).entryId, `C-202400101-N${at}`);
  });
  settle(
    outbox,
    claimed,
    { state: 'accepted', identCely: IDENT },
    { outcome: 'accepted', status: 201 },
  );
  using anew = openAnew(outbox);
  const sizes: number[] = [];
  const listEventsSince = (...args: Parameters<Journal['listEventsSince']>) => {
    const events = anew.journal.listEventsSince(...args);
    sizes.push(events.length);
    return events;
  };

  const { restoredFinds } = mergeJournal(
    { ...anew, journal: { ...anew.journal, listEventsSince } },
    { withOpen: false },
  );

  expect(restoredFinds).toBe(601);
  expect(Math.max(...sizes)).toBeLessThan(1000);
  expect(listStates(anew)).toEqual(listStates(outbox));
});

function correct(outbox: Outbox, id: number, text: string): void {
  const document = Buffer.from(`<document>${text}</document>`);
  const content = {
    document,
    documentSha512: hashSha512(document),
    digest: hashDigest(text),
    project: 'C-202400101',
    issues: [],
  };
  replaceImport(outbox, getEntry(outbox, id) as ImportEntry, content);
}
