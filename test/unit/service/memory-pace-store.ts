import { type PaceState, type PaceStore, UNSEEN } from '../../../src/service/http/pace-store.ts';
import type { ManualClock } from '../../support/manual-clock.ts';

/** A pace that is kept in memory, on a clock that stands still until it is moved. */
export function memoryPaceStore(
  clock: ManualClock,
  states = new Map<string, PaceState>(),
): PaceStore {
  return {
    update: async (scopes, change) => {
      const { result, next } = change(
        scopes.map((scope) => states.get(scope) ?? UNSEEN),
        clock.monotonicMs(),
      );
      next?.forEach((state, index) => {
        states.set(scopes[index] ?? '', state);
      });
      return result;
    },
  };
}
