import type { Home } from '../support/run-pas.ts';
import { type ClockError, wrongClock } from '../support/wrong-clock.ts';
import type { Random } from './random.ts';
import type { Tally } from './tally.ts';

/** The machine that `pas` runs on: in some rounds its clock is wrong. */
export type Laptop = {
  /** A home as it is when the finds are queued, and at the end of the round. */
  atRest(home: Home): Home;
  /** A home as it is for the next push among the faults. */
  next(home: Home): Home;
};

const HOUR_MS = 3_600_000;
const ERRORS_MS = [-26, -5, -1, -0.05, 0.05, 1, 5, 26].map((hours) => hours * HOUR_MS);

/** Wrong for the whole round, for some of its pushes, or set anew for each of them and in its middle. */
export function openLaptop(dice: Random, tally: Tally): Laptop {
  const right = (home: Home): Home => home;
  const wrong = (error: ClockError): ((home: Home) => Home) => {
    tally.wrongClocks += 1;
    return (home) => withClock(home, error);
  };
  const kind = dice.chance(0.35) ? dice.pick(['round', 'push', 'jumps'] as const) : 'right';
  switch (kind) {
    case 'right':
      return { atRest: right, next: right };
    case 'round': {
      const atRest = wrong({ aheadMs: dice.pick(ERRORS_MS) });
      return { atRest, next: atRest };
    }
    case 'push':
      return { atRest: right, next: (home) => (dice.chance(0.5) ? wrong({ aheadMs: dice.pick(ERRORS_MS) }) : right)(home) };
    case 'jumps': {
      let aheadMs = 0;
      const next = (home: Home): Home => {
        const before = aheadMs;
        aheadMs = dice.pick(ERRORS_MS);
        return wrong({ aheadMs: before, setTo: { afterMs: dice.between(0, 900), aheadMs } })(home);
      };
      return { atRest: right, next };
    }
  }
}

/** Whatever else is told to Node there, as the name of the machine. */
function withClock(home: Home, error: ClockError): Home {
  return home.with({ NODE_OPTIONS: [home.env['NODE_OPTIONS'] ?? '', wrongClock(error).NODE_OPTIONS].join(' ') });
}
