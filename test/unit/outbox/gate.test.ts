import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type {
  Entry,
  HeldBasis,
  ImportEntry,
  NumberEntry,
  PhotoEntry,
} from '../../../src/outbox/entry.ts';
import {
  type AttemptedElsewhere,
  checkDeparture,
  type GateFacts,
} from '../../../src/outbox/gate.ts';

const IDENT = 'C-202400101-N00001';
const BASE: Omit<ImportEntry, 'kind' | 'document' | 'documentSha512' | 'digest' | 'project'> = {
  ...({
    id: 1,
    uuid: 'u-1',
    findId: 1,
    findUuid: 'f-1',
    localId: 'K-1',
    state: 'queued',
    identCely: null,
  } as const),
  notBeforeAt: 0,
  recordKey: 'find:1',
  held: null,
  unknownAttempts: 0,
  attempts: 0,
  reason: null,
  issues: [],
  createdAt: 0,
  updatedAt: 0,
};
const IMPORT: ImportEntry = {
  ...BASE,
  kind: 'import',
  document: Buffer.from('x'),
  documentSha512: Buffer.alloc(64),
  digest: 'd-1',
  project: 'C-202400101',
};
const NUMBER: NumberEntry = {
  ...BASE,
  kind: 'number',
  identCely: IDENT,
  value: 'A 2',
  expects: 'A 1',
};
const PHOTO: PhotoEntry = {
  ...BASE,
  kind: 'photo',
  identCely: IDENT,
  photograph: { name: 'a.jpg', mediaType: 'image/jpeg', sha512: Buffer.alloc(64), sizeBytes: 1 },
};

const NOTHING: GateFacts = {
  attemptedByDigest: new Map(),
  attemptedByLocalId: new Map(),
  equalRecords: new Map(),
  equalFiles: new Map(),
  hiddenRecords: new Map(),
  shownNumbers: new Map(),
  rejected: () => new Set<string>(),
  ownNumbers: () => new Set<string>(),
};

const elsewhere = (
  identCely: string | null,
  localId: string | null = 'X-9',
): AttemptedElsewhere => ({
  identCely,
  localId,
  digest: null,
});

function getBasis(
  entry: Entry,
  facts: Partial<GateFacts>,
): [HeldBasis, readonly string[]] | 'leaves' {
  const decision = checkDeparture(entry, { ...NOTHING, ...facts });
  return decision.kind === 'leave' ? 'leaves' : [decision.held.basis, decision.held.candidates];
}

describe('the gate lets an entry pass', () => {
  test.each<Entry>([IMPORT, NUMBER, PHOTO])('if nothing is found against it', (entry) => {
    expect(getBasis(entry, {})).toBe('leaves');
  });

  test.each<[string, Entry, Partial<GateFacts>]>([
    [
      'what was attempted elsewhere reads otherwise',
      IMPORT,
      { attemptedByDigest: new Map([['d-2', [elsewhere(IDENT)]]]) },
    ],
    [
      'nothing was attempted elsewhere',
      IMPORT,
      { attemptedByDigest: new Map([['d-1', []]]), attemptedByLocalId: new Map([['K-1', []]]) },
    ],
    [
      'a number has the local id of a find that was sent elsewhere',
      NUMBER,
      { attemptedByLocalId: new Map([['K-1', [elsewhere(IDENT)]]]) },
    ],
    [
      'the equal record is one of another entry',
      IMPORT,
      { equalRecords: new Map([['u-2', [IDENT]]]) },
    ],
    [
      'the hidden records are of another project',
      IMPORT,
      { hiddenRecords: new Map([['C-202400102', ['C-202400102-N1']]]) },
    ],
    [
      'a photograph is for a project with hidden records',
      PHOTO,
      { hiddenRecords: new Map([['C-202400101', [IDENT]]]) },
    ],
    [
      'an import has no digest and no project',
      { ...IMPORT, digest: null, project: null, localId: null },
      { attemptedByDigest: new Map([['', [elsewhere(IDENT)]]]) },
    ],
    ['the record shows the expected number', NUMBER, { shownNumbers: new Map([[IDENT, 'A 1']]) }],
    [
      'the record shows the new number already',
      NUMBER,
      { shownNumbers: new Map([[IDENT, 'A 2']]) },
    ],
    [
      'the record shows a number that was sent from here',
      NUMBER,
      { shownNumbers: new Map([[IDENT, 'A 0']]), ownNumbers: () => new Set(['A 0']) },
    ],
    ['the record was not looked at', NUMBER, { shownNumbers: new Map([['C-1-N1', 'B 9']]) }],
    [
      'the record has no number, as expected',
      { ...NUMBER, expects: '' },
      { shownNumbers: new Map([[IDENT, '']]) },
    ],
    [
      'the record has no number, and what it had is not known',
      { ...NUMBER, expects: null },
      { shownNumbers: new Map([[IDENT, '']]) },
    ],
    [
      'its record is not known yet',
      { ...NUMBER, identCely: null },
      { shownNumbers: new Map([[IDENT, 'B 9']]) },
    ],
  ])('if %s', (_, entry, facts) => {
    expect(getBasis(entry, facts)).toBe('leaves');
  });
});

describe('the gate asks a person', () => {
  test.each<[string, Entry, Partial<GateFacts>, HeldBasis, readonly string[]]>([
    [
      'where a find that reads the same was sent from another outbox',
      IMPORT,
      {
        attemptedByDigest: new Map([
          ['d-1', [elsewhere(IDENT), elsewhere(null), elsewhere(IDENT)]],
        ]),
      },
      'attempted-elsewhere',
      [IDENT, 'X-9'],
    ],
    [
      'where a find with its local id was sent from another outbox',
      IMPORT,
      { attemptedByLocalId: new Map([['K-1', [elsewhere(null, 'K-1')]]]) },
      'local-id-sent-elsewhere',
      ['K-1'],
    ],
    [
      'where a record of the account reads the same',
      IMPORT,
      { equalRecords: new Map([['u-1', [IDENT]]]) },
      'equal-record',
      [IDENT],
    ],
    [
      'where the project has records that cannot be read',
      IMPORT,
      { hiddenRecords: new Map([['C-202400101', [IDENT]]]) },
      'hidden-records',
      [IDENT],
    ],
    [
      'where the record has an equal file',
      PHOTO,
      { equalFiles: new Map([['u-1', ['a.jpg']]]) },
      'equal-photograph',
      ['a.jpg'],
    ],
    [
      'where somebody else set another number',
      NUMBER,
      { shownNumbers: new Map([[IDENT, 'B 9']]) },
      'number-changed',
      ['B 9'],
    ],
    [
      'where somebody else took the number away',
      NUMBER,
      { shownNumbers: new Map([[IDENT, '']]) },
      'number-changed',
      [''],
    ],
    [
      'where the record has a number and it is not known what it had',
      { ...NUMBER, expects: null },
      { shownNumbers: new Map([[IDENT, 'B 9']]) },
      'number-changed',
      ['B 9'],
    ],
  ])('%s', (_, entry, facts, basis, candidates) => {
    expect(getBasis(entry, facts)).toEqual([basis, candidates]);
  });

  test('the first question first, and the next one after the answer', () => {
    const facts = {
      attemptedByDigest: new Map([['d-1', [elsewhere('R-1')]]]),
      attemptedByLocalId: new Map([['K-1', [elsewhere('R-2')]]]),
      equalRecords: new Map([['u-1', ['R-3']]]),
      hiddenRecords: new Map([['C-202400101', ['R-4']]]),
    };
    const rejected = new Set<string>();
    const bases = [1, 2, 3, 4, 5].map(() => {
      const found = getBasis(IMPORT, { ...facts, rejected: () => rejected });
      if (found === 'leaves') return found;
      for (const candidate of found[1]) rejected.add(candidate);
      return found[0];
    });
    expect(bases).toEqual([
      'attempted-elsewhere',
      'local-id-sent-elsewhere',
      'equal-record',
      'hidden-records',
      'leaves',
    ]);
  });

  test('about some of many by name, or about all of them', () => {
    const many = Array.from({ length: 40 }, (_, at) => `R-${at}`);
    const decision = checkDeparture(IMPORT, { ...NOTHING, equalRecords: new Map([['u-1', many]]) });
    expect(decision).toMatchObject({ kind: 'held', held: { candidates: many } });
    expect(String(decision.kind === 'held' && decision.held.question)).toContain(
      'R-0, R-1, R-2, R-3, R-4)',
    );
  });

  test('with the old and the new number', () => {
    const askDeparture = (shown: string) =>
      checkDeparture(NUMBER, { ...NOTHING, shownNumbers: new Map([[IDENT, shown]]) });
    expect(askDeparture('B 9')).toMatchObject({
      held: { question: { text: expect.stringContaining('the record has the number') } },
    });
    expect(askDeparture('')).toMatchObject({
      held: { question: { text: expect.stringContaining('no longer has a number') } },
    });
  });
});

const names = fc.uniqueArray(fc.constantFrom('R-1', 'R-2', 'R-3', 'R-4'));
const anyFacts = fc.record({
  byDigest: names,
  byLocalId: names,
  equalRecords: names,
  equalFiles: names,
  hidden: names,
  shown: fc.option(fc.constantFrom('', 'A 1', 'A 2', 'R-1', 'R-2')),
  own: names,
  rejected: names,
});
type AnyFacts = typeof anyFacts extends fc.Arbitrary<infer T> ? T : never;

function makeFacts({
  byDigest,
  byLocalId,
  equalRecords,
  equalFiles,
  hidden,
  shown,
  own,
  rejected,
}: AnyFacts): GateFacts {
  return {
    attemptedByDigest: new Map([['d-1', byDigest.map((ident) => elsewhere(ident))]]),
    attemptedByLocalId: new Map([['K-1', byLocalId.map((ident) => elsewhere(ident))]]),
    equalRecords: new Map([['u-1', equalRecords]]),
    equalFiles: new Map([['u-1', equalFiles]]),
    hiddenRecords: new Map([['C-202400101', hidden]]),
    shownNumbers: shown === null ? new Map<string, string>() : new Map([[IDENT, shown]]),
    rejected: () => new Set(rejected),
    ownNumbers: () => new Set(own),
  };
}

describe('for any findings,', () => {
  test('the gate is pure, asks only about what was found, and never about what was rejected', () => {
    fc.assert(
      fc.property(fc.constantFrom(IMPORT, NUMBER, PHOTO), anyFacts, (entry, found) => {
        const facts = makeFacts(found);
        const decision = checkDeparture(entry, facts);
        expect(checkDeparture(entry, makeFacts(found))).toEqual(decision);
        const all = [
          ...found.byDigest,
          ...found.byLocalId,
          ...found.equalRecords,
          ...found.equalFiles,
          ...found.hidden,
          found.shown,
        ];
        if (decision.kind === 'leave') return;
        expect(decision.held.candidates.length).toBeGreaterThan(0);
        for (const candidate of decision.held.candidates) {
          expect(all).toContain(candidate);
          expect(found.rejected).not.toContain(candidate);
        }
      }),
    );
  });

  test('an entry passes after as many answers as there are kinds of questions at most', () => {
    fc.assert(
      fc.property(fc.constantFrom(IMPORT, NUMBER, PHOTO), anyFacts, (entry, found) => {
        const rejected = new Set<string>();
        for (let askedCount = 0; askedCount < 5; askedCount += 1) {
          const decision = checkDeparture(entry, { ...makeFacts(found), rejected: () => rejected });
          if (decision.kind === 'leave') return;
          for (const candidate of decision.held.candidates) rejected.add(candidate);
        }
        throw new Error('it is asked about again and again');
      }),
    );
  });

  test('the gate compares each entry by its own keys, however many others there are', () => {
    const lookups: unknown[] = [];
    class Watched<V> extends Map<string, V> {
      override get(key: string): V | undefined {
        lookups.push(key);
        return super.get(key);
      }
    }
    const facts: GateFacts = {
      ...NOTHING,
      equalRecords: new Watched(
        Array.from({ length: 10_000 }, (_, at) => [`other-${at}`, [IDENT]]),
      ),
    };
    for (let at = 0; at < 100; at += 1) checkDeparture({ ...IMPORT, uuid: `u-${at}` }, facts);
    expect(lookups).toHaveLength(100);
  });
});
