import { describe, expect, test } from 'vitest';
import { type HarvestState, memoryState, type SeenRecord, storedState } from '../../../src/oai/harvest-state.ts';
import { startPass, startScan } from '../../../src/oai/pass.ts';
import { getOrCreateVocabularyHarvest } from '../../../src/vocabulary/terms.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';

const WINDOW = { fromMs: null, untilMs: null };
const STATES: Readonly<Record<string, (use: (state: HarvestState) => void) => void>> = {
  'in memory': (use) => use(memoryState()),
  'in a file': (use) => {
    using store = tempVocabulary(manualClock());
    const vocabulary = store.source(OAI_BASE);
    use(storedState(vocabulary, getOrCreateVocabularyHarvest(vocabulary, 'heslo'), () => vocabulary.clock.now()));
  },
};

describe.each(Object.entries(STATES))('what a harvest remembers %s', (_, withState) => {
  test('is nothing at first', () =>
    withState((state) => {
      expect([state.watermarkMs(), state.pass(), state.lastLook(), state.findSeen('A')]).toEqual([null, undefined, 0, undefined]);
      expect([state.skipped(), [...state.metIn(1)], state.unmetIn(1)]).toEqual([[], [], []]);
    }));

  test('is the pass under way, and after its end when it began and how often it looked', () =>
    withState((state) => {
      const pass = startScan(startPass('full', WINDOW, 1234, 7), true);
      state.savePass(pass);
      expect([state.pass(), state.lastLook(), state.watermarkMs()]).toEqual([pass, 8, null]);
      state.complete();
      expect([state.pass(), state.lastLook(), state.watermarkMs()]).toEqual([undefined, 8, 1234]);
      state.savePass(startPass('changes', WINDOW, 0, 9));
      state.complete();
      expect(state.watermarkMs()).toBe(0);
    }));

  test('is each record as it was met last', () =>
    withState((state) => {
      const makeSeen = (look: number, more: Partial<SeenRecord> = {}): SeenRecord => ({
        ...{ datestampMs: look * 10, digest: Buffer.from([look]), look, skipped: false },
        ...more,
      });
      const records: Readonly<Record<string, SeenRecord>> = {
        before: makeSeen(2),
        now: makeSeen(3),
        later: makeSeen(4),
        vanished: makeSeen(0),
        'without text': makeSeen(2, { digest: Buffer.alloc(0) }),
        'left out': makeSeen(2, { skipped: true }),
        'left out now': makeSeen(3, { skipped: true, digest: Buffer.alloc(0) }),
      };
      for (const [identifier, record] of Object.entries(records)) state.markSeen(identifier, record);
      for (const [identifier, record] of Object.entries(records)) expect(state.findSeen(identifier)).toEqual(record);
      expect(state.skipped().toSorted()).toEqual(['left out', 'left out now']);
      expect([...state.metIn(3)].toSorted()).toEqual(['left out now', 'now']);
      expect(state.unmetIn(3)).toEqual(['before']);
      expect([...state.unmetIn(4)].toSorted()).toEqual(['before', 'now']);
      state.markSeen('before', makeSeen(3));
      expect([state.unmetIn(3), state.findSeen('before')?.look]).toEqual([[], 3]);
    }));

  test('changes as a whole', () => withState((state) => expect(state.change(() => 'done')).toBe('done')));
});
