import { describe, expect, test } from 'vitest';
import type { HarvestedFile } from '../../../src/finds/harvested-find.ts';
import { judgePhoto, type SentPhoto } from '../../../src/push/judge-change.ts';
import { CLOCK_MARGIN_MS } from '../../../src/push/judge-import.ts';
import { inWords } from '../../support/in-words.ts';
import {
  MINUTE,
  OTHER_USER,
  record,
  START,
  TIME_UNKNOWN,
  USER,
  view,
  window,
} from './doubt-scene.ts';

const photo: SentPhoto = {
  entryId: 7,
  identCely: 'C-1-N00001',
  fileName: 'IMG_1.jpg',
  sha512Hex: 'aa',
  window: window(START),
};
const file = (
  name: string,
  sha512Hex: string,
  note: string,
  atMs = START + 1000,
): HarvestedFile => ({
  name,
  mediaType: 'image/jpeg',
  sha512Hex,
  history: [{ type: 'SBR0', at: new Date(atMs).toISOString(), user: USER, note }],
});

describe('an uncertain photograph', () => {
  const judge = (files: HarvestedFile[], settled: SentPhoto[] = [], doubts = [photo]) =>
    judgePhoto(
      photo,
      doubts,
      settled,
      { kind: 'shown', record: record('C-1-N00001', { files }), datestampMs: START },
      view([]),
    ).kind;

  test('is not a file of the same name that was there before, or that belongs to another photograph', () => {
    expect(judge([file('F01.jpg', 'bb', 'IMG_1.jpg', START - 60 * MINUTE)])).toBe('absent');
    expect(
      judge([file('F01.jpg', 'bb', 'IMG_1.jpg')], [{ ...photo, entryId: 8, sha512Hex: 'bb' }]),
    ).toBe('absent');
  });

  test('is left to a person if two photographs with one name are uncertain', () => {
    expect(
      judge(
        [file('F01.jpg', 'bb', 'IMG_1.jpg')],
        [],
        [photo, { ...photo, entryId: 9, sha512Hex: 'cc' }],
      ),
    ).toBe('undecided');
  });

  describe('that its record does not show', () => {
    const basis = (changedMs: number, nowMs: number, settled: SentPhoto[] = []): string => {
      const seen = view([], { nowMs });
      return judgePhoto(
        photo,
        [photo],
        settled,
        { kind: 'shown', record: record('C-1-N00001'), datestampMs: changedMs },
        seen,
      ).basis;
    };

    test('is not absent before its record is shown as of after the attempt, or the time limit has passed', () => {
      expect(basis(START, START + 24 * MINUTE)).toBe('index-may-lag');
      expect(basis(START, START + 26 * MINUTE)).toBe('not-among-those-shown');
      expect(basis(START + 11 * MINUTE, START + 12 * MINUTE)).toBe('not-among-those-shown');
    });

    test('is not absent while another one that was accepted since is missing', () => {
      expect(
        basis(START, START + 60 * MINUTE, [
          { ...photo, entryId: 8, sha512Hex: 'bb', fileName: 'IMG_2.jpg' },
        ]),
      ).toBe('index-behind');
    });
  });
});

/** A service whose record has these files. */
function judged(
  files: HarvestedFile[],
  more: Partial<SentPhoto> = {},
  settled: SentPhoto[] = [],
  beside: SentPhoto[] = [],
) {
  const doubt = { ...photo, ...more };
  const shown = {
    kind: 'shown' as const,
    record: record('C-1-N00001', { files }),
    datestampMs: START,
  };
  return inWords(judgePhoto(doubt, [doubt, ...beside], settled, shown, view([])));
}

const kept = file('F01.jpg', 'bb', 'IMG_1.jpg');
const second = { ...photo, entryId: 8, fileName: 'IMG_2.jpg', sha512Hex: 'dd' };

describe('a verdict on a photograph names its evidence, in words and with the considered files', () => {
  const timeUnknown = { window: TIME_UNKNOWN };
  test.each([
    [
      'same-digest',
      ['F01.jpg'],
      'F01.jpg has the same digest',
      [file('F01.jpg', 'aa', 'other name')],
      {},
    ],
    [
      'same-name-and-new',
      ['F01.jpg'],
      'F01.jpg was stored from a file of this name since the attempt',
      [kept],
      {},
    ],
    [
      'time-unknown',
      ['F01.jpg'],
      'the service did not state its time before the attempt',
      [kept],
      timeUnknown,
    ],
    [
      'time-unknown',
      ['F01.jpg'],
      'so a person decides',
      [file('F01.jpg', 'aa', 'other name')],
      timeUnknown,
    ],
    [
      'several-files',
      ['F01.jpg', 'F02.jpg'],
      'several files could be',
      [kept, { ...kept, name: 'F02.jpg', sha512Hex: 'cc' }],
      {},
    ],
    [
      'other-name-and-new',
      ['F01.jpg'],
      'under another name',
      [file('F01.jpg', 'bb', 'renamed.jpg')],
      {},
    ],
    [
      'not-among-those-shown',
      [],
      'the harvest shows the files of C-1-N00001, and this is not one of them',
      [],
      {},
    ],
    ['time-unknown', [], 'so a person decides', [], timeUnknown],
  ])('%s', (basis, candidates, words, files, more) => {
    const verdict = judged(files, more);
    expect(verdict).toMatchObject({ basis, candidates });
    expect(verdict.reason).toContain(words);
  });

  test('record-not-shown', () => {
    expect(inWords(judgePhoto(photo, [photo], [], { kind: 'missing' }, view([])))).toMatchObject({
      basis: 'record-not-shown',
      reason: 'the harvest does not show C-1-N00001 to this account',
      candidates: [],
    });
  });
});

describe('a file of the record', () => {
  test('belongs to another uncertain photograph if it can only be that one', () => {
    const files = [file('F02.jpg', 'ee', 'IMG_2.jpg')];
    expect(judged(files, {}, [], [second]).basis).toBe('not-among-those-shown');
    expect(judged(files).basis).toBe('other-name-and-new');
  });

  test('belongs to another photograph known to be there, by its checksum, or by its name, time and account', () => {
    for (const theirs of [file('F02.jpg', 'dd', 'renamed.jpg'), file('F02.jpg', 'ee', 'IMG_2.jpg')])
      expect(judged([theirs], {}, [second]).basis).toBe('not-among-those-shown');
  });

  test('has no certain owner if another account stored it, or the account is unknown', () => {
    const byOther = {
      ...kept,
      history: kept.history.map((entry) => ({ ...entry, user: OTHER_USER })),
    };
    const unsaid = { ...kept, history: kept.history.map((entry) => ({ ...entry, type: 'SBR1' })) };
    expect([byOther, unsaid].map((each) => judged([each]).basis)).toEqual([
      'not-among-those-shown',
      'not-among-those-shown',
    ]);
  });

  test('was stored by its storing entry, wherever that is in the history', () => {
    const [stored] = kept.history;
    if (stored === undefined) throw new Error('a file has a history');
    const renamed = {
      ...stored,
      type: 'SBR1',
      note: 'x.jpg',
      at: new Date(START + 50 * MINUTE).toISOString(),
    };
    expect(judged([{ ...kept, history: [renamed, stored] }]).basis).toBe('same-name-and-new');
  });
});

test('a photograph accepted before the attempt does not show how current the index is', () => {
  const acceptedUntil = (untilMs: number) =>
    judged([], {}, [{ ...second, window: window(START - 60 * MINUTE, { untilMs }) }]).basis;
  expect(acceptedUntil(START - CLOCK_MARGIN_MS)).toBe('index-behind');
  expect(acceptedUntil(START - CLOCK_MARGIN_MS - 1)).toBe('not-among-those-shown');
});

test('one missing photograph does not replace another that is shown', () => {
  const shown = file('F02.jpg', 'dd', 'IMG_2.jpg');
  const third = { ...second, entryId: 9, fileName: 'IMG_3.jpg', sha512Hex: 'ff' };
  expect(judged([shown], {}, [second]).basis).toBe('not-among-those-shown');
  expect(judged([shown], {}, [second, third])).toMatchObject({
    basis: 'index-behind',
    reason: expect.stringContaining('IMG_3.jpg'),
  });
});
