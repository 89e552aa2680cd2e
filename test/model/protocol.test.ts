import { describe, expect, test } from 'vitest';
import { type EntryState, TRANSITIONS } from '../../src/outbox/entry.ts';
import { explore } from './explore.ts';
import { firstState, GUARDS } from './protocol.ts';

describe('the protocol of the outbox, in every order in which things can happen', () => {
  test.each([
    ['three finds, two senders, two kills', firstState(3, 2, 0)],
    ['the same, and a copy that is put back', firstState(3, 2, 1)],
  ])('%s: nothing is made twice, nothing is called made that was not, and all can still get there', (_what, first) => {
    const { wrong, stuck, states, moves } = explore(first);
    expect(wrong, wrong?.way.join('\n')).toBeUndefined();
    expect(stuck).toBe(0);
    expect(states).toBeGreaterThan(3_000);
    // It moves entries as the outbox itself allows, and no other way.
    for (const move of moves) {
      const [from, to] = move.split(' -> ') as [EntryState, EntryState];
      expect(TRANSITIONS[from], move).toContain(to);
    }
  });

  test.each(GUARDS)('without "%s" it is wrong, and the model says how', (guard) => {
    const { wrong } = explore(firstState(2, 2, 1), guard);
    expect(wrong?.what).toBe('a find was made twice');
    expect(wrong?.way.length).toBeLessThanOrEqual(20);
  });
});
