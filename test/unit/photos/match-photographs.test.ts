import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  indexFindNumbers,
  type MatchableFind,
  matchPhotographs,
  type PhotoInfo,
  searchNameForFinds,
} from '../../../src/photos/match-photographs.ts';

function said(name: string, ...ids: string[]): string[] {
  const { matches } = searchNameForFinds(
    name,
    indexFindNumbers(ids.map((localId) => ({ localId }))),
  );
  return matches.map(({ find: { localId }, isDoubtful }) => (isDoubtful ? `${localId}?` : localId));
}

/**
 * Letters and digits of an id, joined by one sign or none, without a letter or a digit before and
 * behind it; and no lone number.
 */
function standsIn(name: string, id: string): boolean {
  const fold = (text: string): string =>
    text
      .normalize('NFD')
      .replace(/\p{Mn}/gu, '')
      .toLowerCase();
  const runs = fold(id).match(/[a-z]+|\d+/g) ?? [];
  const parts = runs.map((run) => (/\d/.test(run) ? `0*${Number(run)}` : run));
  const join = id.includes(' ') ? '[-_. /]?' : '[-_./]?';
  return (
    /[a-z]/.test(fold(id)) &&
    new RegExp(`(?<![a-z\\d])${parts.join(join)}(?![a-z\\d])`).test(fold(name))
  );
}

describe('the find named by a file name', () => {
  test.each([
    ['K-12', ['K-1', 'K-12'], ['K-12']],
    ['K-1', ['K-1', 'K-12'], ['K-1']],
    ['K-12', ['K-1'], []],
    ['k_012', ['K-12'], ['K-12']],
    ['K12', ['K-012'], ['K-012']],
    ['K 12 (2)', ['K-12'], ['K-12?']],
    ['K-12 (2)', ['K-12'], ['K-12']],
    ['K-12-1', ['K-12'], ['K-12?']],
    ['K-12_detail', ['K-12'], ['K-12']],
    ['detail K-12', ['K-12'], ['K-12?']],
    ['K-12-1', ['K-12', 'K-12-1'], ['K-12-1']],
    ['K-12a', ['K-12', 'K-12a'], ['K-12a']],
    ['K-12b', ['K-12', 'K-12a'], ['K-12?']],
    ['2K-12', ['K-12'], ['K-12?']],
    ['NÁLEZ-7', ['nalez 7'], ['nalez 7']],
    ['C-202400101-N00012', ['C-202400101-N00012', 'N-12'], ['C-202400101-N00012']],
    ['C202400101N00012F01', ['C-202400101-N00012'], ['C-202400101-N00012']],
    ['K1', ['K-1', 'k 01'], ['K-1', 'k 01']],
    ['K-1 and K-2', ['K-1', 'K-2'], ['K-1', 'K-2?']],
    ['12', ['12'], ['12?']],
    ['0012_2', ['12'], ['12?']],
    ['IMG_0012', ['12'], []],
    ['find 12', ['12'], ['12?']],
    ['12-05-2024', ['12'], []],
    ['20240512_120102', ['12'], []],
    ['', ['K-1'], []],
    ['profil v 2 vrstvě', ['V-01', 'V-02', 'V-03'], ['V-02?']],
    ['profil-v-2-vrstve', ['V-02'], ['V-02?']],
    ['sonda v 3 metrech', ['V-03'], ['V-03?']],
    ['ve čtverci 12a', ['12a'], ['12a?']],
    ['sektor S7 celek', ['S-7'], ['S-7?']],
    ['Trench_K12', ['K-12'], ['K-12?']],
    ['K-12 sonda', ['K-12'], ['K-12']],
    ['v 2', ['V-02'], ['V-02?']],
    ['v02 profil', ['V-02'], ['V-02']],
    ['V-2-profil', ['V-2'], ['V-2']],
    ['IMG_0412 K-12', ['K-12'], ['K-12']],
    ['V-1.5.2024 celek', ['V-01', 'V-02'], []],
    ['V-1.5. celek', ['V-01'], []],
    ['V-01 1.5.2024 celek', ['V-01'], ['V-01']],
    ['V-01 2024-05-01 10.15.30', ['V-01'], ['V-01']],
    ['V-3 m hloubka', ['V-3'], ['V-3?']],
    ['V-03 30cm 1920x1080', ['V-03', 'V-30'], ['V-03']],
    ['IMG_E0017', ['E-17'], []],
    ['IMG-20240601-WA0017', ['WA-17'], []],
    ['WA-17 detail', ['WA-17'], ['WA-17']],
    ['P1040123', ['P-104', 'P-1040123'], ['P-1040123?']],
    ['IMG_0001', ['IMG-1', 'IMG-2'], ['IMG-1?']],
    ['101_0017', ['101-17', '17'], ['101-17?']],
    ['104_PANA', ['104'], []],
    ['100_K_12', ['K-12'], []],
    ['6F9619FF-8B86-D011-B42D-00CF4FC964FF', ['D-11'], []],
    ['K-12 K-1 (2)', ['K-12'], ['K-12?']],
    ['K-12_IMG_0412', ['K-12'], ['K-12']],
    ['foto 5 K-12', ['K-12', 'K-5'], ['K-12']],
    ['mince', ['mince'], ['mince?']],
  ])('%s, of %j: %j', (name, ids, matches) => {
    expect(said(name, ...ids)).toEqual(matches);
  });

  test('is never that of a shorter number, whatever surrounds it', () => {
    const number = fc.integer({ min: 1, max: 9999 });
    const separator = fc.constantFrom('-', '_', ' ', '', '-000', '.');
    const suffix = fc.constantFrom('', '-1', '_detail', ' (2)', '_IMG_0001');
    fc.assert(
      fc.property(
        number,
        fc.uniqueArray(number, { maxLength: 20 }),
        separator,
        suffix,
        (wanted, otherNumbers, between, behind) => {
          const ids = [...new Set([wanted, ...otherNumbers])].map((each) => `K-${each}`);
          const isSure = between !== ' ' && behind !== '-1';
          expect(said(`K${between}${wanted}${behind}`, ...ids)).toEqual([
            isSure ? `K-${wanted}` : `K-${wanted}?`,
          ]);
        },
      ),
    );
  });

  test('is certain only if the whole number stands alone in the name, whatever else a camera, a messenger or a person added', () => {
    const prefix = fc.constantFrom(
      'K',
      'V',
      'S',
      'E',
      'WA',
      'IMG',
      'P',
      'AB',
      'Nález',
      '2024',
      'S1-K',
      '',
    );
    const digits = fc
      .integer({ min: 1, max: 300 })
      .chain((value) => fc.constantFrom(`${value}`, `${value}`.padStart(4, '0')));
    const join = fc.constantFrom('-', '', ' ', '_', '/', '.');
    const written = fc
      .tuple(prefix, join, digits)
      .map(([before, between, number]) => (before === '' ? number : before + between + number));
    const number = fc.integer({ min: 1, max: 9999 });
    const name = fc.oneof(
      fc
        .tuple(
          fc.constantFrom('IMG_', 'IMG_E', 'DSC_', 'DSCN', '101_', '105_', 'WA', 'E', 'P104'),
          number,
        )
        .map(([camera, count]) => camera + `${count}`.padStart(4, '0')),
      fc
        .tuple(
          fc.constantFrom('IMG', 'VID', 'PXL'),
          fc.constantFrom('-20240601-WA', '_20240601_10'),
          number,
        )
        .map(([a, b, count]) => a + b + `${count}`.padStart(4, '0')),
      fc
        .tuple(
          fc.constantFrom('profil v ', 'sonda k ', 'S ', 'pohled-z-', 'řez_v_', 'v '),
          number,
          fc.constantFrom(' vrstvě', '-vrstve', ' metrech', ' m', '.5.2024', ' (2)'),
        )
        .map((parts) => parts.join('')),
      fc
        .tuple(
          written,
          fc.constantFrom('', '.5.2024 celek', 'b', '-1', ' (2)', ' detail', '_IMG_0412', ' 30 cm'),
        )
        .map((parts) => parts.join('')),
      fc
        .tuple(
          fc.constantFrom('detail ', 'x', '2', 'foto ', ''),
          written,
          fc.constantFrom('', ' a '),
          written,
        )
        .map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(
        fc.uniqueArray(written, { minLength: 1, maxLength: 30 }),
        name,
        (ids, fileName) => {
          for (const sure of said(fileName, ...ids).filter((each) => !each.endsWith('?')))
            expect(standsIn(fileName, sure), `${sure} in ${fileName}`).toBe(true);
        },
      ),
    );
  });

  test('is determined for any name without throwing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.string()), (name, ids) =>
        Array.isArray(said(name, ...ids)),
      ),
    );
  });
});

const DAY = '2024-05-06';
const HERE = [16.6, 49.2] as const;
/** Metres to the east of HERE. */
const east = (metres: number) => [16.6 + metres / 73_000, 49.2] as const;

function matched(shot: Partial<PhotoInfo>, ...finds: readonly MatchableFind[]) {
  const [match] = matchPhotographs([{ file: 'IMG_0001.jpg', ...shot }], finds, 25);
  const { file: _file, ...rest } = match ?? { file: '' };
  return rest;
}

describe('a photograph whose name names no find', () => {
  test('is likely of the one find nearby, of its day', () => {
    const finds = [
      { localId: 'K-1', foundOn: DAY, point: east(2) },
      { localId: 'K-2', foundOn: DAY, point: east(60) },
    ];
    const match = matched({ position: HERE, takenOn: DAY }, ...finds);
    expect(match).toMatchObject({ confidence: 'likely', find: 'K-1' });
    expect(match).toMatchObject({
      reasons: [{ kind: 'distance', metres: expect.closeTo(2, 0) }, { kind: 'same-day' }],
    });
  });

  test('is doubtful near a find of another day, and unmatched beyond the limit', () => {
    const find = { localId: 'K-1', foundOn: '2024-05-01', point: east(2) };
    expect(matched({ position: HERE, takenOn: DAY }, find)).toMatchObject({
      confidence: 'doubtful',
      find: 'K-1',
    });
    expect(matched({ position: HERE }, { localId: 'K-1', point: east(26) })).toMatchObject({
      confidence: 'none',
      candidates: [],
    });
  });

  test('is doubtful if another find is within reach, and both are offered', () => {
    const here = { localId: 'K-1', foundOn: DAY, point: east(2) };
    const matchedWith = (metres: number) =>
      matched({ position: HERE, takenOn: DAY }, { localId: 'K-2', point: east(metres) }, here);
    expect(matchedWith(20)).toMatchObject({
      confidence: 'doubtful',
      find: 'K-1',
      candidates: ['K-1', 'K-2'],
    });
    expect(matchedWith(26)).toMatchObject({ confidence: 'likely', find: 'K-1' });
  });

  test('is unmatched if only the day matches several finds, and doubtful for one', () => {
    const one = { localId: 'K-1', foundOn: DAY };
    const two = { localId: 'K-2', foundOn: DAY };
    expect(matched({ takenOn: DAY }, one, two)).toMatchObject({
      confidence: 'none',
      candidates: ['K-1', 'K-2'],
    });
    expect(matched({ takenOn: DAY }, one)).toMatchObject({ confidence: 'doubtful', find: 'K-1' });
  });

  test('is never certain, for any place and time', () => {
    const spot = fc.record({
      point: fc.tuple(
        fc.double({ min: 16.599, max: 16.601, noNaN: true }),
        fc.double({ min: 49.199, max: 49.201, noNaN: true }),
      ),
      foundOn: fc.constantFrom(DAY, '2024-05-07'),
    });
    fc.assert(
      fc.property(fc.array(spot, { maxLength: 8 }), (spots) => {
        const finds = spots.map((each, index) => ({ ...each, localId: `K-${index}` }));
        const match = matched({ position: HERE, takenOn: DAY }, ...finds);
        expect(match).not.toMatchObject({ confidence: 'sure' });
      }),
    );
  });
});

describe('a photograph that is named after a find', () => {
  const find: MatchableFind = {
    localId: 'K-1',
    identCely: 'C-202400101-N00007',
    foundOn: DAY,
    point: HERE,
  };

  test('is certainly of it, by either of its numbers, and from its folder as well', () => {
    expect(matched({ file: 'k1.jpg', takenOn: DAY }, find)).toMatchObject({
      confidence: 'sure',
      find: 'K-1',
    });
    expect(matched({ file: 'C-202400101-N00007.jpg' }, find)).toMatchObject({
      confidence: 'sure',
      find: 'K-1',
    });
    expect(matched({ file: 'trench/K-1/IMG_2.jpg' }, find)).toMatchObject({
      confidence: 'sure',
      find: 'K-1',
      reasons: [{ kind: 'folder', id: 'K-1' }],
    });
  });

  test('is only likely of it if taken before it was found, or far away', () => {
    expect(matched({ file: 'K-1.jpg', takenOn: '2024-05-05' }, find)).toMatchObject({
      confidence: 'likely',
    });
    expect(matched({ file: 'K-1.jpg', takenOn: '2024-06-05' }, find)).toMatchObject({
      confidence: 'sure',
    });
    expect(matched({ file: 'K-1.jpg', position: east(700) }, find)).toMatchObject({
      confidence: 'likely',
    });
  });

  test('is certainly of it although the camera clock was never set', () => {
    expect(matched({ file: 'K-1.jpg', takenOn: '2000-01-01' }, find)).toMatchObject({
      confidence: 'sure',
    });
  });

  test('and after another one as well is doubtful, with both offered', () => {
    expect(matched({ file: 'K-1 K-2.jpg' }, find, { localId: 'K-2' })).toMatchObject({
      confidence: 'doubtful',
      candidates: ['K-1', 'K-2'],
    });
  });
});
