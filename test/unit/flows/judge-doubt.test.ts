import { describe, expect, test } from 'vitest';
import type { HarvestedElements, HarvestedFile, HarvestedFind } from '../../../src/find/harvested-find.ts';
import {
  type ImportDoubt,
  judgeImports,
  judgePhoto,
  type PhotoDoubt,
  sightOf,
  type View,
} from '../../../src/flows/judge-doubt.ts';

const START = Date.UTC(2024, 5, 1, 20, 0, 0);
const MINUTE = 60_000;
const USER = 'U-000408';
const SENT: HarvestedElements = {
  projekt: { id: 'C-1', text: 'C-1' },
  poznamka: 'přezka',
  stav: '2',
  geom_system: '4326',
  pristupnost: { id: 'HES-000867', text: '' },
  lokalizace: 'pole',
  geom_wkt: 'POINT (14.4 50.1)',
};

function doubt(entryId: number, more: Partial<ImportDoubt> = {}): ImportDoubt {
  return {
    entryId,
    elements: SENT,
    window: { fromMs: START, untilMs: START + 10 * MINUTE, settledMs: START + 10 * MINUTE },
    ...more,
  };
}

function record(
  identCely: string,
  more: { atMs?: number; user?: string; poznamka?: string; stav?: number; masked?: boolean; files?: HarvestedFile[] } = {},
): HarvestedFind {
  const { atMs = START + 1000, user = USER, poznamka = 'přezka', stav = 2, masked = false, files = [] } = more;
  return {
    identCely,
    stav,
    protectedWithheld: masked,
    area: undefined,
    district: undefined,
    files,
    history: [{ type: 'SN01', at: new Date(atMs).toISOString(), user, note: '' }],
    elements: {
      projekt: { id: 'C-1', text: 'C-1' },
      poznamka,
      geom_system: '4326',
      pristupnost: { id: 'HES-000867', text: 'archeolog' },
      ...(masked ? {} : { lokalizace: 'pole', geom_wkt: 'POINT (14.4 50.1)' }),
    },
  };
}

function view(records: readonly HarvestedFind[], more: Partial<View> = {}): View {
  return {
    finds: new Map(records.map((find) => [find.identCely, find])),
    nowMs: START + 60 * MINUTE,
    user: USER,
    owned: new Set(),
    sights: new Set([sightOf(SENT, 2)]),
    withheld: new Map(),
    ...more,
  };
}

function kinds(doubts: readonly ImportDoubt[], seen: View): Record<number, string> {
  return Object.fromEntries([...judgeImports(doubts, seen)].map(([id, verdict]) => [id, verdict.kind]));
}

describe('an import of unknown end', () => {
  test('is found where one record appeared since that is the same', () => {
    expect(judgeImports([doubt(1)], view([record('C-1-N00001')])).get(1)).toMatchObject({
      kind: 'found',
      identCely: 'C-1-N00001',
    });
  });

  test('is found although its protected part is withheld', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001', { masked: true })]))).toEqual({ 1: 'found' });
  });

  test('is proven absent only where others would be seen, and the service can no longer be working on it', () => {
    expect(kinds([doubt(1)], view([]))).toEqual({ 1: 'absent' });
    expect(kinds([doubt(1)], view([], { sights: new Set([sightOf(SENT, 1)]) }))).toEqual({ 1: 'undecided' });
    expect(kinds([doubt(1)], view([], { nowMs: START + 9 * MINUTE }))).toEqual({ 1: 'undecided' });
  });

  test('is not another entry’s record', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001')], { owned: new Set(['C-1-N00001']) }))).toEqual({ 1: 'absent' });
  });

  test('is left to a person where several records are the same', () => {
    expect(kinds([doubt(1)], view([record('C-1-N00001'), record('C-1-N00002')]))).toEqual({ 1: 'undecided' });
  });

  test.each([
    ['made long before', { atMs: START - 60 * MINUTE }],
    ['made by somebody else', { user: 'U-000001' }],
  ])('is neither found nor absent where the same record was %s', (_name, more) => {
    expect(kinds([doubt(1)], view([record('C-1-N00001', more)]))).toEqual({ 1: 'undecided' });
  });

  test('is not proven absent by the sight of another project’s or another receiver’s records', () => {
    const elsewhere = { ...SENT, projekt: { id: 'C-2', text: '' } };
    const received = { ...SENT, predano_organizace: { id: 'ORG-000091', text: '' } };
    for (const seen of [elsewhere, received]) {
      expect(kinds([doubt(1)], view([], { sights: new Set([sightOf(seen, 2)]) }))).toEqual({ 1: 'undecided' });
    }
  });

  test('is neither found nor absent where a record of that time and account may be it, corrected since', () => {
    const seen = view([record('C-1-N00001', { poznamka: 'přezka 2' })]);
    expect(judgeImports([doubt(1)], seen).get(1)).toMatchObject({ kind: 'undecided', candidates: ['C-1-N00001'] });
  });

  test('is absent where the records of that time are others’, or known to be other entries’', () => {
    const differs = { poznamka: 'přezka 2' };
    expect(kinds([doubt(1)], view([record('C-1-N00001', { ...differs, user: 'U-000001' })]))).toEqual({ 1: 'absent' });
    expect(kinds([doubt(1)], view([record('C-1-N00001', differs)], { owned: new Set(['C-1-N00001']) }))).toEqual({ 1: 'absent' });
    const other = doubt(2, { elements: { ...SENT, ...differs } });
    expect(kinds([doubt(1), other], view([record('C-1-N00001', differs)]))).toEqual({ 1: 'absent', 2: 'found' });
  });

  test('is not absent where a find of its project that changed since is withheld from this account', () => {
    const withheld = (identCely: string, atMs: number) => view([], { withheld: new Map([[identCely, atMs]]) });
    expect(kinds([doubt(1)], withheld('C-1-N00001', START + 1000))).toEqual({ 1: 'undecided' });
    expect(kinds([doubt(1)], withheld('C-1-N00001', START - MINUTE))).toEqual({ 1: 'absent' });
    expect(kinds([doubt(1)], withheld('C-11-N00001', START + 1000))).toEqual({ 1: 'absent' });
  });
});

describe('twins, both of unknown end', () => {
  test('are left to a person where one record is there', () => {
    expect(kinds([doubt(1), doubt(2)], view([record('C-1-N00001')]))).toEqual({ 1: 'undecided', 2: 'undecided' });
  });

  test('are told apart where they were sent at different times', () => {
    const later = { window: { fromMs: START + 30 * MINUTE, untilMs: START + 40 * MINUTE, settledMs: START + 40 * MINUTE } };
    const seen = view([record('C-1-N00001'), record('C-1-N00002', { atMs: START + 31 * MINUTE })]);
    const verdicts = judgeImports([doubt(1), doubt(2, later)], seen);
    expect(verdicts.get(1)).toMatchObject({ kind: 'found', identCely: 'C-1-N00001' });
    expect(verdicts.get(2)).toMatchObject({ kind: 'found', identCely: 'C-1-N00002' });
  });

  test('are both absent where nothing is there', () => {
    expect(kinds([doubt(1), doubt(2)], view([]))).toEqual({ 1: 'absent', 2: 'absent' });
  });
});

describe('a photograph of unknown end', () => {
  const photo: PhotoDoubt = {
    entryId: 7,
    identCely: 'C-1-N00001',
    fileName: 'IMG_1.jpg',
    sha512Hex: 'aa',
    window: { fromMs: START, untilMs: START + 10 * MINUTE, settledMs: START + 10 * MINUTE },
  };
  const file = (name: string, sha512Hex: string, note: string, atMs = START + 1000): HarvestedFile => ({
    name,
    mediaType: 'image/jpeg',
    sha512Hex,
    history: [{ type: 'SBR0', at: new Date(atMs).toISOString(), user: USER, note }],
  });
  const judge = (files: HarvestedFile[], settled: PhotoDoubt[] = [], doubts = [photo]) =>
    judgePhoto(photo, doubts, settled, record('C-1-N00001', { files }), view([])).kind;

  test('is found by its digest', () => {
    expect(judge([file('F01.jpg', 'aa', 'other name')])).toBe('found');
  });

  test('is found by its name and time where the service changed its bytes', () => {
    expect(judge([file('F01.jpg', 'bb', 'IMG_1.jpg')])).toBe('found');
  });

  test('is not a file of the same name that was there before, or that another photograph is known to be', () => {
    expect(judge([file('F01.jpg', 'bb', 'IMG_1.jpg', START - 60 * MINUTE)])).toBe('absent');
    expect(judge([file('F01.jpg', 'bb', 'IMG_1.jpg')], [{ ...photo, entryId: 8, sha512Hex: 'bb' }])).toBe('absent');
  });

  test('is left to a person where a file of another name was stored at that time, with other bytes', () => {
    expect(judge([file('F01.jpg', 'bb', 'renamed.jpg')])).toBe('undecided');
  });

  test('is left to a person where two photographs of one name are uncertain', () => {
    expect(judge([file('F01.jpg', 'bb', 'IMG_1.jpg')], [], [photo, { ...photo, entryId: 9, sha512Hex: 'cc' }])).toBe('undecided');
  });

  test('is left to a person where its record is not shown', () => {
    expect(judgePhoto(photo, [photo], [], undefined, view([])).kind).toBe('undecided');
  });
});
