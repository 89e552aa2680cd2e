import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { findsToCopy } from '../../../src/flows/queue/copy-finds.ts';
import { sha512Of } from '../../../src/http/digest.ts';
import { rememberAccount } from '../../../src/outbox/accounts.ts';
import { claim, recoverInterrupted, type Settlement, settle } from '../../../src/outbox/claims.ts';
import {
  countElsewhere,
  countEntries,
  countFinds,
  countOfOthers,
  countsAreRight,
  countWaiting,
  recount,
} from '../../../src/outbox/counts.ts';
import { addImport, addNumber, addPhoto, entryById, move } from '../../../src/outbox/entries.ts';
import { ENTRY_STATES, TRANSITIONS } from '../../../src/outbox/entry.ts';
import { type Outbox, openOutbox, type ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { givenUpWithWaiting } from '../../../src/outbox/overview.ts';
import { doubtUnsent, replaceContent } from '../../../src/outbox/put-back.ts';
import { removeTarget } from '../../../src/outbox/removal.ts';
import { allServices, moveService, openService } from '../../../src/outbox/services.ts';
import { allFinds, insertFind } from '../../../src/outbox/stored-finds.ts';
import { copyDatabase } from '../../../src/store/database-file.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { ACCOUNT_ID, queueImport, tempFolder, tempOutbox } from '../../support/temp-outbox.ts';

/** `twin` writes to the service that `field` writes to, by another account. */
const SEEN_BY = {
  field: { address: 'https://a.example.org', username: 'eva@example.org' },
  twin: { address: 'https://a.example.org', username: 'jan@example.org' },
  training: { address: 'https://b.example.org', username: 'eva@example.org' },
} as const;
const SEERS = Object.values(SEEN_BY);

type Step = (outbox: Outbox) => void;

const seer = fc.constantFrom(...SEERS);
/** Picks one of what there is, whatever there is. */
const pick = fc.nat({ max: 1000 });

const addsFind = fc.constant((outbox: Outbox) => void insertFind(outbox, { localId: `F-${nextNumber(outbox)}`, elements: {} }));

const addsImport = fc.tuple(pick, seer, fc.boolean()).map(
  ([which, as, isDraft]): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId === undefined) return;
      const document = isDraft ? null : Buffer.from(`<find>${findId}</find>`);
      const documentSha512 = document === null ? null : sha512Of(document);
      tolerantly(() => addImport(openService(outbox, as), findId, { document, documentSha512, project: null, issues: [] }));
    },
);

const addsFollower = fc.tuple(pick, seer, fc.boolean(), fc.boolean()).map(
  ([which, as, isPhoto, isOfRecord]): Step =>
    (outbox) => {
      const findId = isOfRecord ? null : pickedFind(outbox, which);
      if (findId === undefined) return;
      const seen = openService(outbox, as);
      const target = { findId, identCely: isOfRecord ? `C-${which}` : null };
      const photograph = { name: 'a.jpg', mediaType: 'image/jpeg', sha512: sha512Of(Buffer.from(String(which))), sizeBytes: 1 };
      tolerantly(() => (isPhoto ? addPhoto(seen, target, photograph) : addNumber(seen, target, String(which))));
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
      const claimed = claim(outbox, entry.id, () => ({ method: 'POST', path: '/', accountId: ACCOUNT_ID }));
      if (claimed !== undefined && settlement !== null) settle(outbox, claimed, settlement(entry.id), { outcome: 'tested' });
    },
);

const recovers = seer.map(
  (as): Step =>
    (outbox) =>
      void recoverInterrupted(openService(outbox, as)),
);

const removes = fc.tuple(pick, seer).map(
  ([which, as]): Step =>
    (outbox) => {
      const findId = pickedFind(outbox, which);
      if (findId !== undefined) removeTarget(openService(outbox, as), { findId, identCely: null });
    },
);

/** What no command does, and another program may. */
const changesService = fc.tuple(pick, seer).map(
  ([which, as]): Step =>
    (outbox) => {
      const entry = pickedEntry(outbox, which);
      if (entry === undefined) return;
      const { serviceId, username } = openService(outbox, as);
      const change = outbox.sql('update entries set service_id = ?, username = ? where id = ?');
      tolerantly(() => change.run(serviceId, username, entry.id));
    },
);

/** Two services turn out to be one, or one moved to where none was yet. */
const movesService = fc.tuple(pick, fc.constantFrom(...SEERS.map(({ address }) => address), 'https://c.example.org')).map(
  ([which, address]): Step =>
    (outbox) => {
      const services = allServices(outbox);
      const from = services.at(which % Math.max(services.length, 1));
      if (from !== undefined && from.address !== address) moveService(outbox, from, address);
    },
);

const putsBack = fc.constant((outbox: Outbox) => {
  const folder = tempFolder();
  const copy = join(folder, 'copy.sqlite');
  copyDatabase(outbox.path, copy);
  openOutbox(copy, outbox.clock).close();
  const [find] = allFinds(outbox, 1);
  if (find !== undefined) removeTarget(openService(outbox, SEEN_BY.field), { findId: find.id, identCely: null });
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
  { weight: 1, arbitrary: changesService },
  { weight: 1, arbitrary: movesService },
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
  expect(countEntries(outbox).import.queued).toBe(1);
});

/** Two finds, each with a photograph and a number that wait for its import. */
function beginSeason(empty: Outbox): void {
  const outbox = openService(empty, SEEN_BY.field);
  const account = { identCely: 'U-000001', name: 'Eva', email: outbox.username, organisation: 'Museum', role: 'archaeologist' };
  expect(rememberAccount(outbox, account)).toBe(ACCOUNT_ID);
  for (const localId of ['A', 'B']) {
    const findId = insertFind(outbox, { localId, elements: {} });
    const target = { findId, identCely: null };
    const document = Buffer.from(localId);
    const content = { document, documentSha512: sha512Of(document), project: null, issues: [] };
    addImport(outbox, findId, content);
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
  for (const seen of SEERS.map((as) => openService(outbox, as))) {
    for (const [kind, states] of Object.entries(countEntries(seen))) {
      for (const [state, count] of Object.entries(states)) {
        expect(count).toBe(
          plain('select count(*) from entries where service_id = ? and kind = ? and state = ?', seen.serviceId, kind, state),
        );
      }
    }
    const stands = `exists (select 1 from entries as made where made.find_id = entries.find_id and made.service_id = entries.service_id
      and made.kind = 'import' and made.state <> 'dropped')`;
    const waits = `select count(*) from entries where service_id = ? and kind <> 'import' and ident_cely is null
      and state in ('queued', 'uncertain')`;
    const waiting = countWaiting(seen);
    expect(waiting).toEqual({
      forImport: plain(`${waits} and ${stands}`, seen.serviceId),
      forGivenUp: plain(`${waits} and not ${stands}`, seen.serviceId),
      forTime: plain(
        `select count(*) from entries where service_id = ? and state = 'queued' and not_before_at > ?`,
        seen.serviceId,
        Math.floor(outbox.clock.now()),
      ),
    });
    if (waiting.forGivenUp === 0) expect(givenUpWithWaiting(seen)).toEqual([]);
    expect(countElsewhere(seen)).toBe(findsToCopy(seen, allFinds(outbox)).length);
    expect([...countOfOthers(seen)]).toEqual(queuedByOthers(seen));
  }
}

function queuedByOthers({ sql, serviceId, username }: ServiceOutbox): unknown[] {
  return sql(
    `select username, count(*) from entries where service_id = ? and username not in ('', ?) and state = 'queued' group by username`,
  )
    .raw()
    .all(serviceId, username);
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
