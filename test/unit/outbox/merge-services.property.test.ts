import fc from 'fast-check';
import { expect, test } from 'vitest';
import { countsAreRight } from '../../../src/outbox/counts.ts';
import { ENTRY_STATES, type EntryState } from '../../../src/outbox/entry.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { nameServices, unnamedServices } from '../../../src/outbox/services.ts';
import type { Database } from '../../../src/store/database.ts';
import { addOldAttempt, addOldEntry, broughtOn, JAN, PROFILES } from '../../support/earlier-outbox.ts';

/** Three profiles of one service, one of another, and one that is gone. */
const NAMED = [...PROFILES, { ...JAN, profile: 'third' }];
const NAMES = ['field', 'twin', 'third', 'training', 'gone'] as const;

const IMPORT_STATES = ENTRY_STATES.filter((state) => state !== 'dropped');
/** What waits for an import can only wait, or be given up; what a record was given may be in any state but a draft. */
const WAITING_STATES: readonly EntryState[] = ['queued', 'dropped'];
const SENT_STATES = ENTRY_STATES.filter((state) => state !== 'draft');

const follower = fc.record({ byte: fc.integer({ min: 1, max: 3 }), state: fc.nat({ max: 20 }), isPhoto: fc.boolean() });
const share = fc.record({
  state: fc.option(fc.constantFrom(...IMPORT_STATES), { freq: 5 }),
  givenUpBefore: fc.boolean(),
  followers: fc.uniqueArray(follower, { maxLength: 3, selector: ({ byte, isPhoto }) => `${byte}${isPhoto}` }),
  attempts: fc.array(fc.constantFrom('U-1', 'U-2', null), { maxLength: 2 }),
});
/** What each profile has of a find; of a season, three finds, one called as another's second record would be. */
const season = fc.array(fc.array(fc.option(share, { freq: 4 }), { minLength: 5, maxLength: 5 }), { minLength: 3, maxLength: 3 });
type Season = typeof season extends fc.Arbitrary<infer Value> ? Value : never;
const LOCAL_IDS = ['K-1', 'K-1-2', 'K-2'];

function fill(old: Database, finds: Season): void {
  for (const [index, shares] of finds.entries()) {
    for (const [which, each] of shares.entries()) {
      const [find, profile] = [LOCAL_IDS[index] ?? '', NAMES[which] ?? ''];
      if (each === null) continue;
      const identCely = each.state === 'accepted' ? `C-${profile}-${index}` : null;
      if (each.givenUpBefore) addOldEntry(old, { find, profile, kind: 'import', state: 'dropped' });
      if (each.state !== null) {
        const id = addOldEntry(old, { find, profile, kind: 'import', state: each.state, identCely });
        for (const account of each.attempts) addOldAttempt(old, id, account);
      }
      const states = identCely === null ? WAITING_STATES : SENT_STATES;
      for (const { byte, state, isPhoto } of each.followers) {
        const as = { find, profile, identCely, byte, value: `${byte}`, state: states[state % states.length] ?? 'queued' };
        addOldEntry(old, { ...as, kind: isPhoto ? 'photo' : 'number' });
        if (isPhoto) addOldEntry(old, { ...as, find: null, identCely: `R-${byte}-${index}`, kind: 'photo' });
      }
    }
  }
  old.exec(`insert into gaps select profile, null, id, id + 1 from entries`);
  old.exec(
    `insert into pulled select profile, ident_cely, 'missing', null, null, null, 1, 2 from entries where ident_cely is not null group by 1, 2`,
  );
}

type Row = {
  readonly id: number;
  readonly service: string;
  readonly what: string | null;
  readonly localId: string | null;
  readonly kind: string;
  readonly state: EntryState;
  readonly identCely: string | null;
  readonly recordKey: string;
  readonly findId: number | null;
  readonly content: string | null;
  readonly username: string;
};

const CONTENT = `hex(coalesce(document, photo_sha512, value)) as content, entries.id, kind, state, ident_cely as identCely, record_key as recordKey,
  find_id as findId, local_id as localId, elements as what`;

/** Every entry before, by the service that its profile's name means. */
function before(old: Database): Row[] {
  const rows = old
    .prepare(`select profile, ${CONTENT} from entries left join finds on finds.id = find_id order by entries.id`)
    .all() as (Omit<Row, 'service' | 'username'> & { profile: string })[];
  return rows.map(({ profile, ...row }) => {
    const meant = NAMED.find((each) => each.profile === profile);
    return { ...row, service: meant?.address ?? profile, username: meant?.username ?? '' };
  });
}

function after(outbox: Outbox): Row[] {
  return outbox
    .sql(
      `select coalesce(address, known_as) as service, username, ${CONTENT} from entries join services on services.id = service_id
       left join finds on finds.id = find_id order by entries.id`,
    )
    .all() as Row[];
}

const stands = ({ state }: Row): boolean => state !== 'dropped';

function expectAllThere(outbox: Outbox, was: readonly Row[], is: readonly Row[]): void {
  expect(is.map(({ id, kind, content, service, username, what }) => [id, kind, content, service, username, what])).toEqual(
    was.map(({ id, kind, content, service, username, what }) => [id, kind, content, service, username, what]),
  );
  const changed = is.filter(({ state }, index) => state !== was[index]?.state);
  expect(changed.filter(({ state, kind }) => state !== 'dropped' || kind === 'number')).toEqual([]);
  // What was given up is given up for another one.
  for (const one of changed) {
    const others = is.filter(
      (other) => stands(other) && other.service === one.service && other.kind === one.kind && other.what === one.what,
    );
    expect(others.some(({ content, findId }) => (one.kind === 'photo' ? content === one.content : findId === one.findId))).toBe(
      true,
    );
  }
  // Whatever the service is known to have, it is known to have afterwards.
  const records = (rows: readonly Row[]) =>
    [
      ...new Set(
        rows
          .filter(({ kind, state }) => kind === 'import' && state === 'accepted')
          .map((row) => `${row.service} ${row.identCely}`),
      ),
    ].sort();
  expect(records(is)).toEqual(records(was));
  expect(outbox.sql('pragma foreign_key_check').all()).toEqual([]);
}

function expectInOrder(outbox: Outbox, is: readonly Row[]): void {
  expect(countsAreRight(outbox)).toBe(true);
  const imports = is.filter((row) => row.kind === 'import' && stands(row));
  expect(new Set(imports.map(({ service, findId }) => `${service} ${findId}`)).size).toBe(imports.length);
  const photographs = is.filter((row) => row.kind === 'photo' && stands(row));
  expect(new Set(photographs.map(({ service, recordKey, content }) => `${service} ${recordKey} ${content}`)).size).toBe(
    photographs.length,
  );
  for (const { findId, recordKey, kind, service, identCely } of is) {
    if (findId === null) continue;
    expect(recordKey).toBe(`find:${findId}`);
    const made = imports.find((each) => each.service === service && each.findId === findId);
    if (kind !== 'import' && made?.state === 'accepted') expect(identCely).toBe(made.identCely);
  }
}

test('whatever an outbox held under the names of profiles, it holds for their services', () => {
  fc.assert(
    fc.property(season, (finds) => {
      let was: Row[] = [];
      let attempts: unknown[] = [];
      using outbox = broughtOn((old) => {
        fill(old, finds);
        was = before(old);
        attempts = old.prepare('select id, started_at, account from attempts order by id').all();
      }, NAMED);
      const is = after(outbox);
      expectAllThere(outbox, was, is);
      expectInOrder(outbox, is);
      const account = '(select ident_cely from accounts where accounts.id = account_id) as account';
      expect(outbox.sql(`select id, started_at, ${account} from attempts order by id`).all()).toEqual(attempts);
      expect(outbox.sql('select count(*) from gaps').pluck().get()).toBe(was.length);
      expect(outbox.sql('select count(*) from pulled').pluck().get()).toBe(
        new Set(
          was.flatMap(({ service, username, identCely }) => (identCely === null ? [] : [`${service} ${username} ${identCely}`])),
        ).size,
      );
      expect(unnamedServices(outbox).map(({ knownAs }) => knownAs)).toEqual(
        was.some(({ service }) => service === 'gone') ? ['gone'] : [],
      );
      nameServices(outbox, NAMED);
      expect(after(outbox)).toEqual(is);
    }),
    { numRuns: 60 },
  );
});
