import { describe, expect, test } from 'vitest';
import { applySettlement } from '../../../src/outbox/claims.ts';
import { countsAreRight } from '../../../src/outbox/counts.ts';
import { allEntries, entriesInState, entryById, importOfFind, move } from '../../../src/outbox/entries.ts';
import type { Entry, EntryState } from '../../../src/outbox/entry.ts';
import type { ServiceOutbox } from '../../../src/outbox/open-outbox.ts';
import { findByIdentCely } from '../../../src/outbox/stored-finds.ts';
import { addOldAttempt, addOldEntry, broughtOn, JAN } from '../../support/earlier-outbox.ts';
import { inWords } from '../../support/in-words.ts';
import { type TempOutbox, USERNAME } from '../../support/temp-outbox.ts';

const stateOf = (outbox: ServiceOutbox, id: number): EntryState | undefined => entryById(outbox, id)?.state;

describe('a find that two profiles of one service had queued', () => {
  /** The import of `field` is entry 1, that of `twin` entry 2; both have a photograph (3 and 4, other bytes) and a number (5 and 6). */
  function withBoth(
    ofField: [EntryState, string?],
    ofTwin: [EntryState, string?],
    more: { isDoubted?: boolean } = {},
  ): TempOutbox {
    return broughtOn((old) => {
      const profiles = [
        ['field', ...ofField],
        ['twin', ...ofTwin],
      ] as const;
      for (const [profile, state, identCely] of profiles) {
        const id = addOldEntry(old, { find: 'K-1', profile, kind: 'import', state, identCely: identCely ?? null, ...more });
        if (['accepted', 'uncertain', 'sending'].includes(state) && more.isDoubted !== true) addOldAttempt(old, id);
      }
      const followers = [
        ['photo', 2],
        ['number', 4],
      ] as const;
      for (const [kind, first] of followers) {
        for (const [index, [profile, , identCely]] of profiles.entries()) {
          const id = first + index + 1;
          addOldEntry(old, {
            id,
            find: 'K-1',
            profile,
            kind,
            state: 'queued',
            identCely: identCely ?? null,
            byte: id,
            value: `A ${id}`,
          });
        }
      }
    });
  }

  const followers = (outbox: ServiceOutbox): Entry[] => allEntries(outbox).filter(({ kind }) => kind !== 'import');

  test.each<[string, [EntryState, string?], [EntryState, string?], number, EntryState]>([
    ['not sent under either', ['queued'], ['queued'], 2, 'queued'],
    ['a draft under one', ['draft'], ['queued'], 2, 'queued'],
    ['refused under one', ['queued'], ['refused'], 1, 'queued'],
    ['refused under the other', ['refused'], ['queued'], 2, 'queued'],
    ['sent under one', ['accepted', 'C-1'], ['queued'], 1, 'accepted'],
    ['sent under the other', ['refused'], ['accepted', 'C-1'], 2, 'accepted'],
    ['of unknown end under one', ['draft'], ['uncertain'], 2, 'uncertain'],
    ['under way under one', ['sending'], ['queued'], 1, 'sending'],
  ])('%s, has one import that stands', (_name, ofField, ofTwin, standing, state) => {
    using outbox = withBoth(ofField, ofTwin);
    const stands = outbox.sql(`select id from entries where kind = 'import' and state <> 'dropped'`).pluck().all();
    expect(stands).toHaveLength(1);
    if (ofField[0] !== 'queued' || ofTwin[0] !== 'queued') expect(stands).toEqual([standing]);
    expect(stateOf(outbox, Number(stands[0]))).toBe(state);
    expect(countsAreRight(outbox)).toBe(true);
  });

  test('keeps the photographs and numbers of both for the import that stands, each for the account that queued it', () => {
    using outbox = withBoth(['accepted', 'C-1'], ['queued']);
    expect(inWords(entryById(outbox, 2))).toMatchObject({ state: 'dropped', reason: expect.stringContaining('same service') });
    const ofEva = { state: 'queued', identCely: 'C-1', username: USERNAME, localId: 'K-1' };
    const ofJan = { ...ofEva, username: JAN.username };
    expect(followers(outbox)).toMatchObject([ofEva, ofJan, ofEva, ofJan]);
    expect(new Set(followers(outbox).map(({ recordKey }) => recordKey)).size).toBe(1);
  });

  test('lets them wait for it where it is not sent yet, and frees them all when it is', () => {
    using outbox = withBoth(['queued'], ['queued']);
    expect(followers(outbox).map(({ identCely }) => identCely)).toEqual([null, null, null, null]);
    const standing = importOfFind(outbox, 1);
    if (standing === undefined) throw new Error('no import stands');
    move(outbox, standing, 'sending');
    applySettlement(outbox, { ...standing, state: 'sending' }, { state: 'accepted', identCely: 'C-1' });
    expect(followers(outbox).map(({ identCely }) => identCely)).toEqual(['C-1', 'C-1', 'C-1', 'C-1']);
  });

  test('and that both have sent, is two finds from then on, for there are two records', () => {
    using outbox = withBoth(['accepted', 'C-1'], ['accepted', 'C-2']);
    const [one, other] = ['C-1', 'C-2'].map((identCely) => findByIdentCely(outbox, identCely));
    expect([one?.localId, other?.localId].sort()).toEqual(['K-1', 'K-1-2']);
    expect(one?.elements).toEqual(other?.elements);
    const of = (identCely: string) => allEntries(outbox).filter((entry) => entry.identCely === identCely);
    expect(of('C-1').map(({ id }) => id)).toEqual([1, 3, 5]);
    expect(of('C-2').map(({ id }) => id)).toEqual([2, 4, 6]);
    for (const [identCely, find] of [['C-1', one] as const, ['C-2', other] as const]) {
      expect(of(identCely).every(({ findId, recordKey }) => findId === find?.id && recordKey === `find:${find?.id}`)).toBe(true);
    }
    expect(countsAreRight(outbox)).toBe(true);
  });

  test('gets a name of its own for the second record that no find has', () => {
    using outbox = broughtOn((old) => {
      for (const [index, find] of ['K-1', 'K-1-2', 'K-1-3'].entries()) {
        addOldEntry(old, { find, profile: 'field', kind: 'import', state: 'accepted', identCely: `C-${index}` });
      }
      addOldEntry(old, { find: 'K-1', profile: 'twin', kind: 'import', state: 'accepted', identCely: 'C-9' });
    });
    const names = outbox.sql('select local_id from finds order by id').pluck().all();
    expect(names).toEqual(['K-1', 'K-1-2', 'K-1-3', 'K-1-4']);
  });

  test('and that both have as one and the same record, stays one find', () => {
    using outbox = withBoth(['accepted', 'C-1'], ['accepted', 'C-1']);
    expect(outbox.sql('select local_id from finds').pluck().all()).toEqual(['K-1']);
    expect(allEntries(outbox).filter(({ kind, state }) => kind === 'import' && state === 'accepted')).toHaveLength(1);
  });

  describe('whose end is not known', () => {
    /** What a look at the service comes to that proves none of what is in doubt to be there. */
    const proveAbsent = (outbox: ServiceOutbox): number => {
      for (const entry of entriesInState(outbox, 'uncertain')) {
        if (entry.kind === 'import') applySettlement(outbox, entry, { state: 'queued', reason: 'absent', notBeforeAt: 0 });
      }
      return allEntries(outbox).filter(({ kind, state }) => kind === 'import' && state === 'queued').length;
    };

    test.each([
      ['under both', ['uncertain'], ['uncertain'], 1],
      ['under one, while the other has its record', ['accepted', 'C-1'], ['uncertain'], 0],
      ['under the other, while the one has its record', ['uncertain'], ['accepted', 'C-1'], 0],
    ] as [string, [EntryState, string?], [EntryState, string?], number][])(
      '%s, is not sent a second time where nothing is found',
      (_name, ofField, ofTwin, sent) => {
        using outbox = withBoth(ofField, ofTwin);
        expect(proveAbsent(outbox)).toBeLessThanOrEqual(sent);
      },
    );

    test('since a copy was put back in which both had it queued, is sent once', () => {
      using outbox = withBoth(['uncertain'], ['uncertain'], { isDoubted: true });
      expect(proveAbsent(outbox)).toBeLessThanOrEqual(1);
    });
  });
});

describe('of a photograph that two profiles of one service had queued for one record', () => {
  test.each<[EntryState, EntryState, number]>([
    ['queued', 'queued', 2],
    ['queued', 'accepted', 2],
    ['accepted', 'queued', 1],
    ['uncertain', 'queued', 1],
    ['queued', 'uncertain', 2],
    ['accepted', 'uncertain', 1],
    ['uncertain', 'accepted', 2],
    ['refused', 'accepted', 2],
  ])('%s and %s, the one stands that the service is nearest to having', (ofField, ofTwin, standing) => {
    const photo = { find: null, kind: 'photo', identCely: 'C-1', byte: 5 } as const;
    using outbox = broughtOn((old) => {
      addOldEntry(old, { ...photo, profile: 'field', state: ofField });
      addOldEntry(old, { ...photo, profile: 'twin', state: ofTwin });
    });
    const stands = allEntries(outbox).filter(({ state }) => state !== 'dropped');
    expect(stands).toHaveLength(1);
    if (ofField !== ofTwin) expect(stands).toMatchObject([{ id: standing }]);
    expect(countsAreRight(outbox)).toBe(true);
  });

  test('both stand where one was given up by a person, or the bytes differ', () => {
    using outbox = broughtOn((old) => {
      const photo = { find: null, kind: 'photo', identCely: 'C-1' } as const;
      addOldEntry(old, { ...photo, profile: 'field', state: 'dropped', byte: 5 });
      addOldEntry(old, { ...photo, profile: 'twin', state: 'queued', byte: 5 });
      addOldEntry(old, { ...photo, profile: 'field', state: 'queued', byte: 6 });
    });
    expect(allEntries(outbox).map(({ state }) => state)).toEqual(['dropped', 'queued', 'queued']);
  });
});
