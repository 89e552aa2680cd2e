import type { Clock } from '../base/clock.ts';
import type { Statement } from '../store/database.ts';

/** One source of the vocabulary file; the other modules of this folder work on it. */
export type Vocabulary = {
  readonly path: string;
  readonly clock: Clock;
  /** Id in `sources`. */
  readonly source: number;
  readonly oaiBase: string;
  /** Ids of the words that the transaction under way has met. */
  readonly wordIds: Map<string, number>;
  /** Returns a prepared statement from the cache. */
  sql(text: string): Statement;
  /** Runs `work` in a transaction; a failure of the disk is thrown as DatabaseError. */
  change<T>(work: () => T): T;
};
