import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ElementName, FindElements } from '../../../src/finds/fields.ts';
import { toWgs84 } from '../../../src/finds/place/geometry.ts';
import {
  hasSameElements,
  listDifferingTraits,
  mergeRow,
} from '../../../src/outbox/changes/merge-row.ts';

/** Entries of one label. */
const TERM = fc.constantFrom('HES-000605', 'HES-000691').map((id) => ({ id, text: 'spona' }));
const POINT = fc.constantFrom(
  { geom_system: '4326', geom_wkt: 'POINT (14.42 50.08)' } as const,
  { geom_system: '5514', geom_sjtsk_wkt: 'POINT (-743000 -1043000)' } as const,
  {},
);

/** Finds of few values, so that they are often equal in an element. */
const elements: fc.Arbitrary<FindElements> = fc
  .record(
    {
      druh_nalezu: TERM,
      hloubka: fc.constantFrom(10, 20, 30),
      poznamka: fc.constantFrom('spona', 'nůž', 'nůž'.normalize('NFD')),
      datum_nalezu: fc.constantFrom('2024-06-01', '2024-06-02'),
      predano: fc.boolean(),
      nalezce: fc.constantFrom({ id: ':tba', text: 'Novák, Jan' }, { id: 'OS-001507', text: '' }),
    },
    { requiredKeys: [] },
  )
  .chain((find) => POINT.map((point) => ({ ...find, ...point })));

const covered = fc.uniqueArray(
  fc.constantFrom<ElementName>(
    'druh_nalezu',
    'hloubka',
    'poznamka',
    'datum_nalezu',
    'predano',
    'nalezce',
  ),
);
const side = fc.constantFrom('mine', 'table', undefined);

const same = (one: FindElements, other: FindElements): boolean => hasSameElements(one, other);

describe('a row merged with its find and its last import', () => {
  test('changes nothing if it equals its last import, whatever was edited', () => {
    fc.assert(
      fc.property(elements, elements, side, (base, find, taken) => {
        const merged = mergeRow(base, find, base, undefined, taken);
        expect(same(merged.elements, find)).toBe(true);
        expect([merged.differences, merged.conflicts]).toEqual([[], []]);
      }),
    );
  });

  test('is taken whole if the find was not changed since', () => {
    fc.assert(
      fc.property(elements, elements, side, (base, row, taken) => {
        const merged = mergeRow(base, base, row, undefined, taken);
        expect(same(merged.elements, row)).toBe(true);
        expect(merged.conflicts).toEqual([]);
      }),
    );
  });

  test('changes nothing when it is merged a second time', () => {
    fc.assert(
      fc.property(
        elements,
        elements,
        elements,
        covered,
        side,
        (base, find, row, columns, taken) => {
          const first = mergeRow(base, find, row, new Set(columns), taken);
          const second = mergeRow(first.base, first.elements, row, new Set(columns));
          expect(same(second.elements, first.elements)).toBe(true);
          expect([second.differences, second.conflicts]).toEqual([[], []]);
        },
      ),
    );
  });

  test('has each element from one of the two sides, and shows where they differ', () => {
    fc.assert(
      fc.property(elements, elements, elements, (base, find, row) => {
        const merged = mergeRow(base, find, row);
        const names = [...Object.keys(find), ...Object.keys(row)] as ElementName[];
        for (const name of names)
          expect([find[name], row[name]]).toContainEqual(merged.elements[name]);
        for (const { ours, theirs } of merged.differences) expect(ours).not.toBe(theirs);
        const kept = mergeRow(base, find, row, undefined, 'mine');
        const taken = mergeRow(base, find, row, undefined, 'table');
        expect(merged.elements).toEqual(kept.elements);
        if (merged.conflicts.length === 0) expect(taken.elements).toEqual(kept.elements);
      }),
    );
  });

  test('ignores elements without a column in its table', () => {
    fc.assert(
      fc.property(
        elements,
        elements,
        elements,
        covered,
        side,
        (base, find, row, columns, taken) => {
          const merged = mergeRow(base, find, row, new Set(columns), taken);
          const others = (['druh_nalezu', 'hloubka', 'poznamka', 'geom_wkt'] as const).filter(
            (name) => !columns.some((column) => column === name),
          );
          for (const name of others) expect(merged.elements[name]).toEqual(find[name]);
          for (const name of others) expect(merged.base[name]).toEqual(base[name]);
        },
      ),
    );
  });

  test('keeps the measured point where it has that in the other system', () => {
    const find = { geom_system: '5514', geom_sjtsk_wkt: 'POINT (-743000 -1043000)' } as const;
    const degrees = toWgs84([-743000, -1043000]).join(' ');
    const row = { geom_system: '4326', geom_wkt: `POINT (${degrees})` } as const;
    expect(mergeRow(find, find, row).elements).toEqual(find);
  });

  test('is the same whatever the order of tables with different columns', () => {
    fc.assert(
      fc.property(
        elements,
        elements,
        elements,
        elements,
        covered,
        (base, find, one, other, columns) => {
          const first = new Set(columns);
          const rest = new Set(
            (['hloubka', 'poznamka', 'predano'] as const).filter(
              (name) => !columns.some((column) => column === name),
            ),
          );
          const both = (
            a: readonly [FindElements, Set<ElementName>],
            b: readonly [FindElements, Set<ElementName>],
          ) => {
            const once = mergeRow(base, find, ...a);
            return mergeRow(once.base, once.elements, ...b);
          };
          const forward = both([one, first], [other, rest]);
          const backward = both([other, rest], [one, first]);
          expect(forward.elements).toEqual(backward.elements);
          expect(forward.base).toEqual(backward.base);
        },
      ),
    );
  });
});

describe('object, place and date distinguish finds', () => {
  const find: FindElements = {
    druh_nalezu: { id: 'HES-000605', text: '' },
    datum_nalezu: '2024-06-01',
    geom_system: '4326',
    geom_wkt: 'POINT (14.42 50.08)',
    lokalizace: 'pole',
  };

  test.each<[what: string, row: FindElements, expected: string[]]>([
    ['nothing', find, []],
    ['the object', { ...find, druh_nalezu: { id: 'HES-000691', text: '' } }, ['druh_nalezu']],
    ['the point', { ...find, geom_wkt: 'POINT (14.43 50.08)' }, ['geom_wkt']],
    ['the last digit of the point', { ...find, geom_wkt: 'POINT (14.42000001 50.08)' }, []],
    ['the words for one and the same point', { ...find, lokalizace: 'les' }, []],
  ])('if the row has %s', (_what, row, expected) => {
    expect(listDifferingTraits(find, find, row)).toEqual(expected);
  });

  test('and previously unknown values do not count', () => {
    expect(listDifferingTraits({}, {}, find)).toEqual([]);
  });
});
