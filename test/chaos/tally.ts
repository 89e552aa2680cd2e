/** How often what happened, over all rounds of a run. */
export type Tally = {
  rounds: number;
  pushes: number;
  kills: number;
  serverKills: number;
  clockJumps: number;
  lateIndexes: number;
  /** Finds that are the same as another one in every element. */
  twins: number;
  /** Rounds or pushes for which the clock of the machine that sends was wrong. */
  wrongClocks: number;
  /** Rounds in which a second profile of the service sent finds of its own. */
  secondProfiles: number;
  /** Finds that both profiles imported. */
  shared: number;
  /** Finds that a colleague entered, too. */
  byHand: number;
  persons: number;
  finds: number;
  photos: number;
  numbers: number;
  faults: Record<string, number>;
};

export function emptyTally(): Tally {
  return {
    rounds: 0,
    pushes: 0,
    kills: 0,
    serverKills: 0,
    clockJumps: 0,
    lateIndexes: 0,
    twins: 0,
    wrongClocks: 0,
    secondProfiles: 0,
    shared: 0,
    byHand: 0,
    persons: 0,
    finds: 0,
    photos: 0,
    numbers: 0,
    faults: {},
  };
}
