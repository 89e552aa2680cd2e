import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { FindElements } from '../../../src/finds/fields.ts';
import { makeFindIndex, matchFinds, toComparableFind } from '../../../src/finds/match-finds.ts';
import { listFactsOfSubject } from '../../../src/outbox/append-facts.ts';
import { listLastCommands, undoCommand } from '../../../src/outbox/changes/undo-command.ts';
import { listEntriesOfSubject, listNumberEntries } from '../../../src/outbox/entry-queries.ts';
import { foldSlot } from '../../../src/outbox/fold.ts';
import { makeImportSlot, makeIntentId } from '../../../src/outbox/intents.ts';
import type { Outbox } from '../../../src/outbox/open-outbox.ts';
import { rebuildAllEntries } from '../../../src/outbox/repair-outbox.ts';
import { findByLocalId, iterateFinds } from '../../../src/outbox/stored-finds.ts';
import { addFromOutbox, uniteWithLedger } from '../../../src/outbox/unite.ts';
import {
  recordFindWish,
  recordNewFind,
  recordNumberWish,
  withdrawWish,
} from '../../../src/outbox/wishes.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import {
  acceptEntry,
  attemptEntry,
  listAllEntries,
  listFactsInLedger,
  NO_PLACE,
  openAnew,
  openAt,
  queueImport,
  type TempOutbox,
  tempOutbox,
} from '../../support/temp-outbox.ts';

const reference = fc.constantFrom('HES-1', 'HES-2').map((id) => ({ id, text: id }));
const elementsOf: fc.Arbitrary<FindElements> = fc.record(
  {
    projekt: fc.constantFrom('C-1', 'C-2').map((id) => ({ id, text: '' })),
    hloubka: fc.constantFrom(10, 20, 30),
    druh_nalezu: reference,
    specifikace: reference,
    poznamka: fc.constantFrom('nail', 'Nail', 'coin'),
    nalezce: fc.constantFrom(
      { id: 'OS-1', text: 'Nová, Eva' },
      { id: ':tba', text: 'Nová, Eva' },
      { id: ':tba', text: 'Malý, Jan' },
    ),
    datum_nalezu: fc.constantFrom('2024-05-01', '2024-05-02'),
    lokalizace: fc.constantFrom('U lesa', 'Na poli'),
    geom_system: fc.constant('4326' as const),
    geom_wkt: fc.constantFrom('POINT (15.1 49.8)', 'POINT (15.10001 49.8)', 'POINT (15.2 49.8)'),
    evidencni_cislo: fc.constantFrom('1', '2'),
  },
  { requiredKeys: ['projekt'] },
);

describe('two finds', () => {
  const find = fc
    .tuple(elementsOf, fc.constantFrom(undefined, 'K-1', 'K-2'))
    .map(([elements, localId]) => toComparableFind(elements, localId));

  test('match the same way in either order', () => {
    fc.assert(
      fc.property(find, find, fc.boolean(), (a, b, isEdition) => {
        expect(matchFinds(a, b, isEdition)).toBe(matchFinds(b, a, isEdition));
      }),
      { numRuns: 2000 },
    );
  });

  test('that match are found by the index, also if one is a record whose place is withheld', () => {
    fc.assert(
      fc.property(find, find, fc.boolean(), (a, b, isPlaceWithheld) => {
        const other = isPlaceWithheld ? { ...b, localId: undefined, isPlaceWithheld } : b;
        const index = makeFindIndex<number>();
        index.add(other, 1);
        if (matchFinds(a, other) !== 'other') expect(index.list(a)).toHaveLength(1);
      }),
      { numRuns: 2000 },
    );
  });

  test('that are the same are near once a note differs', () => {
    fc.assert(
      fc.property(elementsOf, (elements) => {
        const noted = toComparableFind({ ...elements, poznamka: 'another' }, 'K-2');
        expect(matchFinds(toComparableFind(elements, 'K-1'), noted)).toBe('near');
      }),
    );
  });

  test('are the same to themselves', () => {
    fc.assert(
      fc.property(find, (a) => {
        expect(matchFinds(a, a)).toBe('same');
      }),
    );
  });
});

test('the id of an intent is that of its content, whatever its labels and zeros', () => {
  const make = (elements: FindElements): string =>
    makeIntentId({ kind: 'import', subject: 'a', elements });
  const one: FindElements = {
    obdobi: { id: 'HES-1', text: 'pravěk' },
    geom_system: '4326',
    geom_wkt: 'POINT (15.10 49.80)',
  };
  expect(make({ ...one, obdobi: { id: 'HES-1', text: 'prehistory' } })).toBe(make(one));
  expect(make({ ...one, geom_wkt: 'POINT (15.1 49.8)' })).toBe(make(one));
  expect(make({ ...one, geom_wkt: 'POINT (15.1 49.9)' })).not.toBe(make(one));
});

type Step =
  | { readonly kind: 'add' | 'edit' | 'remove' | 'number' | 'undo' | 'redo'; readonly at: number }
  | {
      readonly kind: 'send';
      readonly at: number;
      readonly ends: 'accepted' | 'queued' | 'refused';
    };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('add', 'edit', 'remove', 'number', 'undo', 'redo'),
    at: fc.nat(3),
  }),
  fc.record({
    kind: fc.constant('send' as const),
    at: fc.nat(3),
    ends: fc.constantFrom('accepted', 'queued', 'refused'),
  }),
);

let notes = 0;
let records = 0;

function play(outbox: Outbox, { kind, at, ...step }: Step): void {
  outbox.command.id = undefined;
  outbox.command.words = kind;
  const localId = `K-${at}`;
  const find = findByLocalId(outbox, localId);
  const write = (poznamka: string): FindElements => ({
    projekt: { id: 'C-1', text: '' },
    poznamka,
  });
  const prepared = { document: Buffer.from('<x/>'), issues: [] };
  const place = { localId, ...NO_PLACE };
  switch (kind) {
    case 'add':
      if (find === undefined)
        recordNewFind(outbox, { ...place, elements: write(localId) }, prepared);
      return;
    case 'edit':
      if (find !== undefined && !find.isHidden)
        recordFindWish(outbox, find, { ...find.wish, elements: write(`${notes++}`) }, prepared);
      return;
    case 'remove':
      if (find !== undefined) withdrawWish(outbox, makeImportSlot(find.uuid), 'removed');
      return;
    case 'number':
      if (find !== undefined) recordNumberWish(outbox, find.uuid, `${at % 2}`, { expects: null });
      return;
    case 'undo':
      undoCommand(outbox);
      return;
    case 'redo': {
      const last = listLastCommands(outbox).find(
        ({ undoes, isUndone }) => undoes !== undefined && !isUndone,
      );
      if (last !== undefined) undoCommand(outbox, last.id);
      return;
    }
    case 'send': {
      const entry = (find === undefined ? [] : listEntriesOfSubject(outbox, find.uuid)).find(
        ({ state, held, kind: what, identCely }) =>
          state === 'queued' && held === null && (what === 'import' || identCely !== null),
      );
      if (entry === undefined || !('ends' in step)) return;
      const identCely = entry.identCely ?? `C-1-N${(records++).toString().padStart(5, '0')}`;
      attemptEntry(
        outbox,
        entry.id,
        {
          accepted: { state: 'accepted', identCely } as const,
          queued: { state: 'queued', reason: '', notBeforeAt: 0 } as const,
          refused: { state: 'refused', reason: '', issues: [] } as const,
        }[step.ends as 'accepted'],
      );
    }
  }
}

/** All that is wanted and that the service has, by local id. */
function describeAll(outbox: Outbox): unknown {
  return [...iterateFinds(outbox)]
    .map((find) => [
      find.localId,
      find.uuid,
      find.elements,
      listEntriesOfSubject(outbox, find.uuid)
        .filter(({ state, attempts }) => state !== 'dropped' || attempts > 0)
        .map(({ kind, intent, state, identCely }) => [kind, intent, state, identCely])
        .sort(),
    ])
    .sort();
}

const cut = fc.array(fc.tuple(fc.boolean(), step, fc.nat(7)), { maxLength: 14 });

/** Plays on two copies of one file with one ledger, each with local ids of its own for new finds. */
function playApart(steps: readonly (readonly [boolean, Step, number])[], onEnd: Apart): void {
  using one = tempOutbox();
  play(one, { kind: 'add', at: 0 });
  play(one, { kind: 'add', at: 1 });
  one.sql('pragma wal_checkpoint(truncate)').all();
  const path = join(tempFolder(), 'outbox.sqlite');
  copyFileSync(one.path, path);
  using other = openAt(path, one.ledger.path, { clock: one.clock });
  for (const [isFirst, each, which] of steps) {
    const outbox = isFirst ? one : other;
    const isNew = each.kind === 'add';
    // A push unites first.
    if (each.kind === 'send') uniteWithLedger(outbox);
    play(outbox, { ...each, at: isNew ? which + (isFirst ? 2 : 10) : which % 4 });
  }
  onEnd(one, other);
}

type Apart = (one: TempOutbox, other: TempOutbox) => void;

describe('any history of commands, attempts and undo', () => {
  test('means the same in whatever order its facts are folded, and twice as once', () => {
    fc.assert(
      fc.property(cut, fc.infiniteStream(fc.nat()), (steps, random) => {
        playApart(steps, (one, other) => {
          addFromOutbox(other, one);
          for (const { uuid } of iterateFinds(one)) {
            const facts = listFactsOfSubject(one, uuid);
            for (const slot of new Set(facts.map((fact) => fact.slot))) {
              const own = facts.filter((fact) => fact.slot === slot);
              const mixed = own
                .map((fact) => ({ fact, at: random.next().value ?? 0 }))
                .sort((a, b) => a.at - b.at)
                .map(({ fact }) => fact);
              expect(foldSlot([...mixed, ...own])).toStrictEqual(foldSlot(own));
            }
          }
        });
      }),
      { numRuns: 40 },
    );
  });

  test('is as before after a command and its undo, and as after it with the redo', () => {
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 8 }),
        step.filter(({ kind }) => ['add', 'edit', 'remove', 'number'].includes(kind)),
        (steps, last) => {
          using outbox = tempOutbox();
          for (const each of steps) play(outbox, each);
          const before = describeAll(outbox);
          const commands = listLastCommands(outbox).length;
          play(outbox, last);
          if (listLastCommands(outbox).length === commands) return;
          const after = describeAll(outbox);
          play(outbox, { kind: 'undo', at: 0 });
          expect(describeAll(outbox)).toStrictEqual(before);
          play(outbox, { kind: 'redo', at: 0 });
          expect(describeAll(outbox)).toStrictEqual(after);
          rebuildAllEntries(outbox);
          expect(describeAll(outbox)).toStrictEqual(after);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('two histories of one outbox, cut anywhere', () => {
  const describeByUuid = (outbox: Outbox): unknown =>
    [...iterateFinds(outbox)]
      .map(({ uuid, localId }) => [
        uuid,
        localId,
        listEntriesOfSubject(outbox, uuid)
          .map(({ key, state, identCely, attempts }) => `${key} ${state} ${identCely} ${attempts}`)
          .sort(),
      ])
      .sort();

  test('mean the same in whatever order they are united', () => {
    fc.assert(
      fc.property(cut, (steps) => {
        playApart(steps, (one, other) => {
          const united = [
            [one, other],
            [other, one],
          ].map((order) => {
            using empty = openAnew(one);
            for (const from of order) addFromOutbox(from, empty);
            return describeByUuid(empty);
          });
          expect(united[0]).toStrictEqual(united[1]);
        });
      }),
      { numRuns: 25 },
    );
  });

  test('send nothing twice, and agree about what was attempted', () => {
    fc.assert(
      fc.property(cut, (steps) => {
        playApart(steps, (one, other) => {
          for (const outbox of [one, other, one]) uniteWithLedger(outbox);
          const attempted = [one, other].map((outbox) =>
            listAllEntries(outbox)
              .filter(({ attempts }) => attempts > 0)
              .map(({ key, state, identCely }) => `${key} ${state} ${identCely}`)
              .sort(),
          );
          expect(attempted[0]).toStrictEqual(attempted[1]);
          for (const { uuid } of iterateFinds(one)) {
            const accepted = listFactsInLedger(one, uuid).filter(
              (fact) => fact.kind === 'answered' && fact.body.settles === 'accepted',
            );
            const ofImport = accepted.filter(({ slot }) => slot.startsWith('import '));
            expect(ofImport.length).toBeLessThan(2);
          }
        });
      }),
      { numRuns: 40 },
    );
  });
});

function copyOf(outbox: TempOutbox): string {
  outbox.sql('pragma wal_checkpoint(truncate)').all();
  const path = join(tempFolder(), 'outbox.sqlite');
  copyFileSync(outbox.path, path);
  return path;
}

test('X, Y, X, Y are four numbers, and a restored copy knows which were sent', () => {
  using outbox = tempOutbox();
  const { findId, entryId } = queueImport(outbox, 'K-1');
  acceptEntry(outbox, entryId, 'C-202400101-N00001');
  const path = copyOf(outbox);
  for (const value of ['X', 'Y', 'X', 'Y']) {
    recordNumberWish(outbox, findId, value, { expects: null });
    const last = listNumberEntries(outbox, findId).find(({ state }) => state === 'queued');
    acceptEntry(outbox, last?.id ?? 0, 'C-202400101-N00001');
  }
  recordNumberWish(outbox, findId, 'Y', { expects: null });
  using older = openAt(path, outbox.ledger.path, { clock: outbox.clock });
  uniteWithLedger(older);
  for (const each of [outbox, older]) {
    const numbers = listNumberEntries(each, findId);
    expect(numbers.map(({ value, state }) => [value, state])).toStrictEqual([
      ['X', 'accepted'],
      ['Y', 'accepted'],
      ['X', 'accepted'],
      ['Y', 'accepted'],
    ]);
  }
});
