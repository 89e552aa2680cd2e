import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashSha512 } from '../../../src/base/disk/files.ts';
import {
  type AttemptSettlement,
  decide,
  detachRecord,
  recordOrphanedAttempts,
} from '../../../src/outbox/attempts.ts';
import { removeSubject } from '../../../src/outbox/changes/remove-finds.ts';
import { undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  listDraftImports,
  listEntriesNeedingPerson,
  storeQuestion,
} from '../../../src/outbox/entry-queries.ts';
import { makeRecordSubject } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { rebuildAllEntries } from '../../../src/outbox/repair-outbox.ts';
import { countFinds } from '../../../src/outbox/stored-finds.ts';
import { uniteWithLedger } from '../../../src/outbox/unite.ts';
import {
  countEntries,
  countQueued,
  countWaiting,
  listDelays,
  listDroppedWithDependents,
} from '../../../src/outbox/views/outbox-status.ts';
import { withdrawWish } from '../../../src/outbox/wishes.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import {
  attemptEntry,
  claimEntry,
  getEntry,
  openAnew,
  queueImport,
  queueNumber,
  queuePhoto,
  type TempOutbox,
  tempOutbox,
} from '../../support/temp-outbox.ts';

type Step = (outbox: TempOutbox) => void;

/** Picks one of what there is, whatever there is. */
const pick = fc.nat({ max: 1000 });

const addsFind = fc.constant<Step>(
  (outbox) =>
    void queueImport(
      outbox,
      `F-${outbox.sql('select coalesce(max(id), 0) + 1 from finds').pluck().get() as number}`,
    ),
);

const addsDependent = fc.tuple(pick, fc.boolean(), fc.boolean()).map(
  ([which, isPhoto, isOfRecord]): Step =>
    (outbox) => {
      const target = isOfRecord ? makeRecordSubject(`C-1-N${which}`) : pickedFind(outbox, which);
      if (target === undefined) return;
      if (isPhoto)
        queuePhoto(outbox, target, {
          name: 'a.jpg',
          mediaType: 'image/jpeg',
          sha512: hashSha512(Buffer.from(String(which))),
          sizeBytes: 1,
        });
      else queueNumber(outbox, target, String(which), '');
    },
);

const SETTLEMENTS: readonly ((id: number) => AttemptSettlement)[] = [
  (id) => ({ state: 'accepted', identCely: `C-S-N${id}` }),
  () => ({ state: 'refused', reason: 'no', issues: [] }),
  () => ({ state: 'queued', reason: 'later', notBeforeAt: 9e15 }),
  () => ({ state: 'uncertain', reason: 'unknown' }),
];

const sends = fc.tuple(pick, fc.option(fc.constantFrom(...SETTLEMENTS))).map(
  ([which, settlement]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (
        entry?.state !== 'queued' ||
        entry.held !== null ||
        (entry.kind !== 'import' && entry.identCely === null)
      )
        return;
      if (settlement === null) claimEntry(outbox, entry.id);
      else attemptEntry(outbox, entry.id, settlement(entry.kind === 'import' ? entry.id : 0));
    },
);

const HELD = {
  basis: 'equal-record',
  question: '?',
  candidates: ['x'],
  near: [],
} as const;

const decides = fc
  .tuple(pick, fc.constantFrom('created', 'resend', 'abandon', 'release', 'drop', 'undo'))
  .map(
    ([which, answer]): Step =>
      (outbox) => {
        const entry = pickedEntry(outbox, which);
        if (entry === undefined) return;
        const identCely = entry.identCely ?? `C-D-N${entry.id}`;
        switch (answer) {
          case 'created':
            decide(outbox, entry, { kind: answer, identCely }, 'x');
            return;
          case 'resend':
            decide(outbox, entry, { kind: answer, rejects: [] }, 'x');
            return;
          case 'abandon':
            decide(outbox, entry, { kind: answer }, 'x');
            return;
          case 'drop':
            if (entry.kind === 'import') withdrawWish(outbox, entry, false);
            return;
          case 'release':
            if (entry.kind === 'import' && entry.state === 'accepted')
              detachRecord(outbox, entry, identCely, 'x');
            return;
          case 'undo':
            undoCommand(outbox);
        }
      },
  );

const holds = fc.tuple(pick, fc.boolean()).map(
  ([which, isHeld]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry?.state === 'queued') storeQuestion(outbox, entry.id, isHeld ? HELD : null);
    },
);

const removes = pick.map(
  (which): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId !== undefined) removeSubject(outbox, findId);
    },
);

const others = fc.constantFrom<Step>(
  (outbox) => void recordOrphanedAttempts(outbox),
  (outbox) => void uniteWithLedger(outbox),
);

const anyStep = fc.oneof(
  { weight: 6, arbitrary: addsFind },
  { weight: 6, arbitrary: addsDependent },
  { weight: 10, arbitrary: sends },
  { weight: 6, arbitrary: decides },
  { weight: 2, arbitrary: holds },
  { weight: 2, arbitrary: removes },
  { weight: 2, arbitrary: others },
);

test('the counts match the entries, and the states match the events, after any operations, even interrupted ones', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyStep, fc.integer({ min: 0, max: 5 })), {
        minLength: 5,
        maxLength: 40,
        size: 'max',
      }),
      (steps) => {
        using outbox = quick();
        for (const name of ['A', 'B']) {
          const { findId } = queueImport(outbox, name);
          queueNumber(outbox, findId, '1', '');
        }
        for (const [step, chance] of steps) {
          outbox.command.id = undefined;
          outbox.command.words = 'edit';
          if (chance > 0) step(outbox);
          else halfDone(outbox, step);
        }
        expectRight(outbox);
        expect(rebuildAllEntries(outbox)).toEqual([]);
        expectSameElsewhere(outbox);
      },
    ),
    SLOW_RUNS,
  );
}, 60_000);

function quick(): TempOutbox {
  const outbox = tempOutbox();
  outbox.sql('pragma synchronous = off').run();
  return outbox;
}

/** Each count against a plain one. */
function expectRight(outbox: Outbox): void {
  const plain = (sql: string): unknown => outbox.sql(sql).pluck().get();
  const shown = `from entries where not exists (select 1 from finds where uuid = subject and finds.hidden = 1)`;
  expect(countFinds(outbox)).toBe(
    plain('select count(*) from finds where coalesce(hidden, 0) = 0'),
  );
  for (const [kind, states] of Object.entries(countEntries(outbox)))
    for (const [state, count] of Object.entries(states))
      expect(count).toBe(
        plain(`select count(*) ${shown} and kind = '${kind}' and state = '${state}'`),
      );
  expect(countWaiting(outbox).forPerson).toBe(
    plain(`select count(*) from entries where state = 'queued' and held is not null`),
  );
  expect(Object.values(countQueued(outbox, undefined)).reduce((sum, count) => sum + count, 0)).toBe(
    plain(`select count(*) from entries where state = 'queued' and held is null`),
  );
}

/** A new file that has the ledger alone has the same attempts. */
function expectSameElsewhere(outbox: TempOutbox): void {
  uniteWithLedger(outbox);
  recordOrphanedAttempts(outbox);
  using anew = openAnew(outbox);
  anew.sql('pragma synchronous = off').run();
  uniteWithLedger(anew);
  const settled = (of: Outbox) =>
    of
      .sql(
        `select subject, key, kind, case when state in ('queued', 'refused') then '' else state end, unknown_attempts, attempts from entries where attempts > 0 order by subject, key`,
      )
      .raw()
      .all();
  expect(settled(anew)).toEqual(settled(outbox));
}

/**
 * As when the process dies, or the disk is full, before the change is whole: the ledger may have
 * it.
 */
function halfDone(outbox: TempOutbox, step: Step): void {
  expect(() =>
    outbox.change(() => {
      step(outbox);
      throw new Error('half done');
    }),
  ).toThrow('half done');
}

function pickedFind(outbox: Outbox, which: number): string | undefined {
  const uuids = outbox.sql('select uuid from finds where hidden = 0').pluck().all() as string[];
  return uuids.at(which % Math.max(uuids.length, 1));
}

function pickedEntry(outbox: Outbox, which: number): Entry | undefined {
  const ids = outbox.sql('select id from entries').pluck().all() as number[];
  const id = ids.at(which % Math.max(ids.length, 1));
  return id === undefined ? undefined : findEntryById(outbox, id);
}

test('waiting entries are counted by the cause of their wait', () => {
  using outbox = tempOutbox();
  const [queued, dropped] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name));
  for (const find of [queued, dropped]) queueNumber(outbox, find?.findId ?? '', 'A 1', '');
  withdrawWish(outbox, getEntry(outbox, dropped?.entryId ?? 0), false);
  storeQuestion(outbox, queueImport(outbox, 'K-3').entryId, HELD);
  attemptEntry(outbox, queueImport(outbox, 'K-4').entryId, {
    state: 'queued',
    reason: 'busy',
    notBeforeAt: outbox.clock.now() + 1000,
  });
  expect(countWaiting(outbox)).toEqual({ forImport: 1, forDropped: 1, forPerson: 1, forTime: 1 });
  expect(listDroppedWithDependents(outbox)).toEqual(['K-2']);
  expect(countQueued(outbox, [queued?.subject ?? ''])).toEqual({
    import: 1,
    number: 1,
    photo: 0,
  });
});

test('entries that need a person are listed with their questions first, and the others by reason', () => {
  using outbox = tempOutbox();
  const [refused, held, busy] = ['K-1', 'K-2', 'K-3'].map(
    (name) => queueImport(outbox, name).entryId,
  ) as [number, number, number];
  attemptEntry(outbox, refused, { state: 'refused', reason: 'no', issues: [] });
  storeQuestion(outbox, held, HELD);
  attemptEntry(outbox, busy, { state: 'queued', reason: 'locked', notBeforeAt: 5 });
  expect(listEntriesNeedingPerson(outbox, 9).map(({ localId }) => localId)).toEqual(['K-2', 'K-1']);
  expect(listEntriesNeedingPerson(outbox, 1).map(({ localId }) => localId)).toEqual(['K-2']);
  expect(listDelays(outbox)).toEqual([
    { kind: 'import', reason: 'locked', count: 1, find: 'K-3', notBeforeAt: 5 },
  ]);
  expect(listDraftImports(outbox, undefined)).toEqual([]);
});
