import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hashSha512 } from '../../../src/http/request-body.ts';
import { recoverInFlight, type Settlement } from '../../../src/outbox/claims.ts';
import { addNumber, addPhoto, schedule } from '../../../src/outbox/entries.ts';
import type { Entry } from '../../../src/outbox/entry.ts';
import {
  findEntryById,
  listDraftImports,
  listNeedingPerson,
} from '../../../src/outbox/entry-queries.ts';
import { mergeJournal, rebuildStates } from '../../../src/outbox/merge.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import {
  countEntries,
  countQueued,
  countWaiting,
  listDelays,
  listDroppedWithDependents,
} from '../../../src/outbox/overview.ts';
import { releaseRecord } from '../../../src/outbox/ownership.ts';
import { makeDecision, recordEvents, recordEvidence } from '../../../src/outbox/record-events.ts';
import { removeTarget, unhideFind } from '../../../src/outbox/removal.ts';
import { countFinds } from '../../../src/outbox/stored-finds.ts';
import { attemptEntry, claimEntry } from '../../support/attempted-entries.ts';
import { SLOW_RUNS } from '../../support/property-runs.ts';
import { openAnew, queueImport, type TempOutbox, tempOutbox } from '../../support/temp-outbox.ts';

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
      const findId = isOfRecord ? null : pickedFind(outbox, which);
      if (findId === undefined) return;
      const identCely =
        findId === null
          ? undefined
          : outbox
              .sql(`select ident_cely from entries where find_id = ? and kind = 'import'`)
              .pluck()
              .get(findId);
      const target = {
        findId,
        identCely: isOfRecord ? `C-1-N${which}` : typeof identCely === 'string' ? identCely : null,
      };
      if (isPhoto)
        addPhoto(outbox, target, {
          name: 'a.jpg',
          mediaType: 'image/jpeg',
          sha512: hashSha512(Buffer.from(String(which))),
          sizeBytes: 1,
        });
      else addNumber(outbox, target, String(which), '');
    },
);

const SETTLEMENTS: readonly ((id: number) => Settlement)[] = [
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

const decides = fc
  .tuple(pick, fc.constantFrom('created', 'send', 'abandon', 'found', 'absent', 'release', 'undo'))
  .map(
    ([which, answer]): Step =>
      (outbox) => {
        const entry = pickedEntry(outbox, which);
        if (entry === undefined) return;
        const identCely = entry.identCely ?? `C-D-N${entry.id}`;
        if (answer === 'found' || answer === 'absent') {
          const verdict = answer === 'found' ? { kind: answer, identCely } : { kind: answer };
          recordEvidence(
            outbox,
            entry,
            verdict,
            { basis: 'x', candidates: [], serverAt: null, reason: 'x' },
            null,
          );
        } else if (answer === 'release') {
          if (entry.kind === 'import' && entry.state === 'accepted')
            releaseRecord(outbox, entry, 'x');
        } else {
          const last = outbox
            .sql(`select id from events where kind = 'decided' and entry = ? order by seq desc`)
            .pluck()
            .get(entry.uuid);
          const of = answer === 'undo' && typeof last === 'string' ? last : null;
          recordEvents(outbox, [
            makeDecision(
              outbox,
              entry,
              { answer: answer as 'created', by: 'person', group: 'g', identCely, of },
              'x',
            ),
          ]);
        }
      },
  );

const holds = fc.tuple(pick, fc.boolean()).map(
  ([which, isHeld]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry?.state === 'queued')
        schedule(outbox, entry.id, {
          held: isHeld ? { basis: 'equal-record', question: '?', candidates: ['x'] } : null,
        });
    },
);

const removes = pick.map(
  (which): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId !== undefined) removeTarget(outbox, { findId, identCely: null });
    },
);

const others = fc.constantFrom<Step>(
  (outbox) => void recoverInFlight(outbox),
  (outbox) => void mergeJournal(outbox, { withOpen: true }),
  (outbox) => {
    for (const id of outbox
      .sql('select id from finds where hidden_at is not null')
      .pluck()
      .all() as number[])
      unhideFind(outbox, id);
  },
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
          addNumber(outbox, { findId, identCely: null }, '1', '');
        }
        for (const [step, chance] of steps) {
          if (chance > 0) step(outbox);
          else halfDone(outbox, step);
        }
        expectRight(outbox);
        expect(rebuildStates(outbox)).toEqual([]);
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
  const shown = `from entries left join finds on finds.id = find_id where finds.hidden_at is null`;
  expect(countFinds(outbox)).toBe(plain('select count(*) from finds where hidden_at is null'));
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

/** A new file that has the journal alone has the same attempts. */
function expectSameElsewhere(outbox: TempOutbox): void {
  mergeJournal(outbox, { withOpen: true });
  recoverInFlight(outbox);
  using anew = openAnew(outbox);
  anew.sql('pragma synchronous = off').run();
  mergeJournal(anew, { withOpen: true });
  const settled = (of: Outbox) =>
    of
      .sql(
        `select uuid, kind, case when state in ('queued', 'refused') then '' else state end, unknown_attempts, attempts from entries where attempts > 0 order by uuid`,
      )
      .raw()
      .all();
  expect(settled(anew)).toEqual(settled(outbox));
}

/**
 * As when the process dies, or the disk is full, before the change is whole: the journal may have
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

function pickedFind(outbox: Outbox, which: number): number | undefined {
  const ids = outbox.sql('select id from finds where hidden_at is null').pluck().all() as number[];
  return ids.at(which % Math.max(ids.length, 1));
}

function pickedEntry(outbox: Outbox, which: number): Entry | undefined {
  const ids = outbox.sql('select id from entries').pluck().all() as number[];
  const id = ids.at(which % Math.max(ids.length, 1));
  return id === undefined ? undefined : findEntryById(outbox, id);
}

test('waiting entries are counted by the cause of their wait', () => {
  using outbox = tempOutbox();
  const [queued, dropped] = ['K-1', 'K-2'].map((name) => queueImport(outbox, name));
  for (const find of [queued, dropped])
    addNumber(outbox, { findId: find?.findId ?? null, identCely: null }, 'A 1', '');
  const entry = findEntryById(outbox, dropped?.entryId ?? 0);
  if (entry === undefined) throw new Error('the entry is gone');
  recordEvents(outbox, [
    makeDecision(outbox, entry, { answer: 'abandon', by: 'person', group: 'g' }, 'dropped'),
  ]);
  schedule(outbox, queueImport(outbox, 'K-3').entryId, {
    held: { basis: 'equal-record', question: '?', candidates: ['x'] },
  });
  schedule(outbox, queueImport(outbox, 'K-4').entryId, { notBeforeAt: outbox.clock.now() + 1000 });
  expect(countWaiting(outbox)).toEqual({ forImport: 1, forDropped: 1, forPerson: 1, forTime: 1 });
  expect(listDroppedWithDependents(outbox)).toEqual(['K-2']);
  expect(countQueued(outbox, [`find:${queued?.findId}`])).toEqual({
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
  schedule(outbox, held, { held: { basis: 'equal-record', question: '?', candidates: ['x'] } });
  attemptEntry(outbox, busy, { state: 'queued', reason: 'locked', notBeforeAt: 5 });
  expect(listNeedingPerson(outbox, 9).map(({ localId }) => localId)).toEqual(['K-2', 'K-1']);
  expect(listNeedingPerson(outbox, 1).map(({ localId }) => localId)).toEqual(['K-2']);
  expect(listDelays(outbox, 9)).toEqual([
    { kind: 'import', reason: 'locked', count: 1, find: 'K-3', notBeforeAt: 5 },
  ]);
  expect(listDraftImports(outbox, undefined)).toEqual([]);
});
