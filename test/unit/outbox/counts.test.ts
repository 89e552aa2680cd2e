import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findsToCopy } from '../../../src/flows/copy-finds.ts';
import { sha512Of } from '../../../src/http/digest.ts';
import { claim, recoverInterrupted, type Settlement, settle } from '../../../src/outbox/claims.ts';
import { countElsewhere, countEntries, countFinds, countsAreRight, countWaiting, recount } from '../../../src/outbox/counts.ts';
import { addImport, addNumber, addPhoto, entryById, move } from '../../../src/outbox/entries.ts';
import { ENTRY_STATES, TRANSITIONS } from '../../../src/outbox/entry.ts';
import { allFinds, insertFind } from '../../../src/outbox/finds.ts';
import { type Outbox, openOutbox } from '../../../src/outbox/outbox.ts';
import { givenUpWithWaiting } from '../../../src/outbox/overview.ts';
import { doubtUnsent, replaceContent } from '../../../src/outbox/put-back.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { copyDatabase } from '../../../src/store/database-file.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { PROFILE, queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

const PROFILES = ['field', 'training', 'twin'] as const;
/** `twin` writes to the service that `field` writes to. */
const SERVICE_OF = { field: 'a', twin: 'a', training: 'b' } as const;

type Profile = (typeof PROFILES)[number];
type Step = (outbox: Outbox) => void;

const profile = fc.constantFrom(...PROFILES);
/** Picks one of what there is, whatever there is. */
const pick = fc.nat({ max: 1000 });

const addsFind = fc.constant((outbox: Outbox) => void insertFind(outbox, { localId: `F-${nextNumber(outbox)}`, elements: {} }));

const addsImport = fc.tuple(pick, profile, fc.boolean()).map(
  ([which, name, isDraft]): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId === undefined) return;
      const document = isDraft ? null : Buffer.from(`<find>${findId}</find>`);
      const documentSha512 = document === null ? null : sha512Of(document);
      tolerantly(() => addImport(outbox, name, findId, { document, documentSha512, project: null, issues: [] }));
    },
);

const addsFollower = fc.tuple(pick, profile, fc.boolean(), fc.boolean()).map(
  ([which, name, isPhoto, isOfRecord]): Step =>
    (outbox) => {
      const findId = isOfRecord ? null : pickedFind(outbox, which);
      if (findId === undefined) return;
      const target = { profile: name, findId, identCely: isOfRecord ? `C-${which}` : null };
      const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: sha512Of(Buffer.from(String(which))), sizeBytes: 1 };
      tolerantly(() => (isPhoto ? addPhoto(outbox, target, photograph) : addNumber(outbox, target, String(which))));
    },
);

const moves = fc.tuple(pick, fc.constantFrom(...ENTRY_STATES)).map(
  ([which, to]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry === undefined || to === 'sending' || !TRANSITIONS[entry.state].includes(to)) return;
      tolerantly(() => move(outbox, entry, to, to === 'accepted' ? { identCely: `C-M-${entry.id}` } : {}));
    },
);

const SETTLEMENTS: readonly ((id: number) => Settlement)[] = [
  (id) => ({ state: 'accepted', identCely: `C-S-${id}` }),
  () => ({ state: 'refused', reason: 'no', issues: [] }),
  () => ({ state: 'queued', reason: 'later', notBeforeAt: 9e15 }),
  () => ({ state: 'uncertain', reason: 'unknown' }),
];

const sends = fc.tuple(pick, fc.option(fc.constantFrom(...SETTLEMENTS))).map(
  ([which, settlement]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry === undefined || (entry.kind !== 'import' && entry.identCely === null)) return;
      const claimed = claim(outbox, entry.id, () => ({ method: 'POST', path: '/' }));
      if (claimed !== undefined && settlement !== null) settle(outbox, claimed, settlement(entry.id), { outcome: 'tested' });
    },
);

const recovers = profile.map(
  (name): Step =>
    (outbox) =>
      void recoverInterrupted(outbox, name),
);

const removes = fc.tuple(pick, profile).map(
  ([which, name]): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId !== undefined) removeTarget(outbox, { profile: name, findId, identCely: null });
    },
);

/** What no command does, and another program may. */
const changesProfile = fc.tuple(pick, profile).map(
  ([which, name]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry !== undefined) tolerantly(() => outbox.sql('update entries set profile = ? where id = ?').run(name, entry.id));
    },
);

const putsBack = fc.constant((outbox: Outbox) => {
  const folder = tempFolder();
  const copy = join(folder, 'copy.sqlite');
  copyDatabase(outbox.path, copy);
  openOutbox(copy, outbox.clock).close();
  const [find] = allFinds(outbox, 1);
  if (find !== undefined) removeTarget(outbox, { profile: 'field', findId: find.id, identCely: null });
  replaceContent(outbox, copy, undefined);
});

const doubts = fc.constant((outbox: Outbox) => void doubtUnsent(outbox, { fromMs: 1, untilMs: 2 }));

const anyStep = fc.oneof(
  { weight: 4, arbitrary: addsFind },
  { weight: 6, arbitrary: addsImport },
  { weight: 6, arbitrary: addsFollower },
  { weight: 6, arbitrary: moves },
  { weight: 6, arbitrary: sends },
  { weight: 2, arbitrary: removes },
  { weight: 1, arbitrary: recovers },
  { weight: 1, arbitrary: changesProfile },
  { weight: 1, arbitrary: doubts },
);

test('the counts are those of what is there, whatever was done, and whatever was half done', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyStep, fc.boolean()), { minLength: 5, maxLength: 60, size: 'max' }), (steps) => {
      const outbox = openOutbox(':memory:', manualClock());
      beginSeason(outbox);
      for (const [step, succeeds] of steps) {
        if (succeeds) step(outbox);
        else halfDone(outbox, step);
      }
      expectRight(outbox);
      outbox.close();
    }),
    { numRuns: 40 },
  );
});

test('the counts follow when a copy is put back', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { minLength: 5, maxLength: 30, size: 'max' }), putsBack, (steps, putBack) => {
      using outbox = tempOutbox();
      for (const step of steps) step(outbox);
      putBack(outbox);
      expectRight(outbox);
    }),
    { numRuns: 5 },
  );
});

test('counts that somebody spoiled are found and counted anew', () => {
  using outbox = tempOutbox();
  queueImport(outbox, 'A');
  outbox.sql('update entry_counts set count = 5').run();
  expect(countsAreRight(outbox)).toBe(false);
  recount(outbox);
  expect(countsAreRight(outbox)).toBe(true);
  expect(countEntries(outbox, PROFILE).import.queued).toBe(1);
});

/** Two finds, each with a photograph and a number that wait for its import. */
function beginSeason(outbox: Outbox): void {
  for (const localId of ['A', 'B']) {
    const findId = insertFind(outbox, { localId, elements: {} });
    const target = { profile: 'field', findId, identCely: null };
    const document = Buffer.from(localId);
    const content = { document, documentSha512: sha512Of(document), project: null, issues: [] };
    addImport(outbox, 'field', findId, content);
    addNumber(outbox, target, '1');
    addPhoto(outbox, target, { name: 'a.jpg', mediaType: 'image/jpeg', sha512: sha512Of(document), sizeBytes: 1 });
  }
}

/** Each count against a plain one. */
function expectRight(outbox: Outbox): void {
  expect(countsAreRight(outbox)).toBe(true);
  const plain = (sql: string, ...values: unknown[]): unknown =>
    outbox
      .sql(sql)
      .pluck()
      .get(...values);
  expect(countFinds(outbox)).toBe(plain('select count(*) from finds'));
  for (const name of PROFILES) {
    for (const [kind, states] of Object.entries(countEntries(outbox, name))) {
      for (const [state, count] of Object.entries(states)) {
        expect(count).toBe(plain('select count(*) from entries where profile = ? and kind = ? and state = ?', name, kind, state));
      }
    }
    const stands = `exists (select 1 from entries as made where made.find_id = entries.find_id and made.profile = entries.profile
      and made.kind = 'import' and made.state <> 'dropped')`;
    const waits = `select count(*) from entries where profile = ? and kind <> 'import' and ident_cely is null
      and state in ('queued', 'uncertain')`;
    const waiting = countWaiting(outbox, name);
    expect(waiting).toEqual({
      forImport: plain(`${waits} and ${stands}`, name),
      forGivenUp: plain(`${waits} and not ${stands}`, name),
      forTime: plain(
        `select count(*) from entries where profile = ? and state = 'queued' and not_before_at > ?`,
        name,
        Math.floor(outbox.clock.now()),
      ),
    });
    if (waiting.forGivenUp === 0) expect(givenUpWithWaiting(outbox, name)).toEqual([]);
    const isOtherService = (other: string): boolean => SERVICE_OF[other as Profile] !== SERVICE_OF[name];
    const known = { outbox, profile: name, isOtherService };
    expect(countElsewhere(outbox, name, isOtherService)).toBe(findsToCopy(known, allFinds(outbox)).length);
  }
}

/** As when the process dies, or the disk is full, before the change is whole. */
function halfDone(outbox: Outbox, step: Step): void {
  expect(() =>
    outbox.change(() => {
      step(outbox);
      throw new Error('half done');
    }),
  ).toThrow('half done');
}

/** What the outbox itself refuses, such as a second import of a find. */
function tolerantly(work: () => unknown): void {
  try {
    work();
  } catch (thrown) {
    if (!String(thrown).includes('constraint')) throw thrown;
  }
}

function nextNumber(outbox: Outbox): number {
  return outbox.sql('select coalesce(max(id), 0) + 1 from finds').pluck().get() as number;
}

function pickedFind(outbox: Outbox, which: number): number | undefined {
  const ids = outbox.sql('select id from finds').pluck().all() as number[];
  return ids.at(which % Math.max(ids.length, 1));
}

function pickedEntry(outbox: Outbox, which: number): ReturnType<typeof entryById> {
  const ids = outbox.sql('select id from entries').pluck().all() as number[];
  const id = ids.at(which % Math.max(ids.length, 1));
  return id === undefined ? undefined : entryById(outbox, id);
}
