import type { Copying } from './copies.ts';

/** How often what happened, over all rounds of a run. */
export type Tally = {
  rounds: number;
  pushes: number;
  kills: number;
  serverKills: number;
  clockJumps: number;
  lateIndexes: number;
  /** Rounds in which a later record was listed before an earlier one. */
  oddIndexes: number;
  /** Finds that are the same as another one in every element. */
  twins: number;
  /** Rounds or pushes for which the clock of the machine that sends was wrong. */
  wrongClocks: number;
  /** Pushes whose account the environment named, by password or by token. */
  lentAccounts: number;
  /** Times that a profile named another service for a while, or spelt its address otherwise. */
  repointed: number;
  /** Pushes whose files could not grow beyond some byte. */
  fullDisks: number;
  /** Numbers that were replaced while it was open what had become of them. */
  renumbered: number;
  /** Data folders that were rolled back, lost their log, were copied or moved. */
  copies: Record<Copying, number>;
  /** Pushes of two copies at once. */
  atOnce: number;
  /** Rounds in which a second profile of the service sent finds of its own. */
  secondProfiles: number;
  /** Finds that both profiles had imported. */
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
    lentAccounts: 0,
    repointed: 0,
    fullDisks: 0,
    renumbered: 0,
    copies: { 'rolled-back': 0, 'lost-log': 0, beside: 0, elsewhere: 0, moved: 0 },
    atOnce: 0,
    oddIndexes: 0,
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
