import { describe, expect, test } from 'vitest';
import {
  type HarvestState,
  makeMemoryState,
  makeStoredState,
  type SeenRecord,
} from '../../../src/oai/harvest-state.ts';
import { startScan } from '../../../src/oai/pass.ts';
import { getOrCreateVocabularyHarvest } from '../../../src/vocabulary/terms.ts';
import { begunPass } from '../../support/begun-pass.ts';
import { manualClock } from '../../support/manual-clock.ts';
import { OAI_BASE } from '../../support/scripted-oai.ts';
import { tempVocabulary } from '../../support/temp-vocabulary.ts';

const WINDOW = { fromMs: null, untilMs: null };
const STATES: Readonly<Record<string, (use: (state: HarvestState) => void) => void>> = {
  'in memory': (use) => use(makeMemoryState()),
  'in a file': (use) => {
    using store = tempVocabulary(manualClock());
    const vocabulary = store.openSource(OAI_BASE);
    use(
      makeStoredState(vocabulary, getOrCreateVocabularyHarvest(vocabulary, 'heslo'), () =>
        vocabulary.clock.now(),
      ),
    );
  },
};

describe.each(Object.entries(STATES))('the state of a harvest %s', (_, withState) => {
  test('is empty at first', () =>
    withState((state) => {
      expect([
        state.getWatermarkMs(),
        state.getPass(),
        state.getLastScan(),
        state.findSeen('A'),
      ]).toEqual([null, undefined, 0, undefined]);
      expect([state.listSkipped(), [...state.listSeenIn(1)], state.listUnseenIn(1)]).toEqual([
        [],
        [],
        [],
      ]);
    }));

  test('is the pass under way, and after its end its start and its number of scans', () =>
    withState((state) => {
      const pass = startScan(begunPass('full', WINDOW, 1234, 7), true);
      state.savePass(pass);
      expect([state.getPass(), state.getLastScan(), state.getWatermarkMs()]).toEqual([
        pass,
        8,
        null,
      ]);
      state.complete();
      expect([state.getPass(), state.getLastScan(), state.getWatermarkMs()]).toEqual([
        undefined,
        8,
        1234,
      ]);
      state.savePass(begunPass('changes', WINDOW, 0, 9));
      state.complete();
      expect(state.getWatermarkMs()).toBe(0);
    }));

  test('has each record as it was last read', () =>
    withState((state) => {
      const makeSeen = (scan: number, more: Partial<SeenRecord> = {}): SeenRecord => ({
        datestampMs: scan * 10,
        digest: 'of the text',
        scan,
        skipped: false,
        ...more,
      });
      const records: Readonly<Record<string, SeenRecord>> = {
        before: makeSeen(2),
        now: makeSeen(3),
        later: makeSeen(4),
        vanished: makeSeen(0),
        'without text': makeSeen(2, { digest: '' }),
        'left out': makeSeen(2, { skipped: true }),
        'left out now': makeSeen(3, { skipped: true, digest: '' }),
      };
      for (const [identifier, record] of Object.entries(records))
        state.markSeen(identifier, record);
      for (const [identifier, record] of Object.entries(records))
        expect(state.findSeen(identifier)).toEqual(record);
      expect(state.listSkipped().toSorted()).toEqual(['left out', 'left out now']);
      expect([...state.listSeenIn(3)].toSorted()).toEqual(['left out now', 'now']);
      expect(state.listUnseenIn(3)).toEqual(['before']);
      expect([...state.listUnseenIn(4)].toSorted()).toEqual(['before', 'now']);
      state.markSeen('before', makeSeen(3));
      expect([state.listUnseenIn(3), state.findSeen('before')?.scan]).toEqual([[], 3]);
    }));

  test('changes as a whole', () =>
    withState((state) => expect(state.change(() => 'done')).toBe('done')));
});
