import type { Clock } from '../base/clock.ts';
import type { Statement } from '../store/database.ts';

/** One source of the file. The modules beside this one hold what is done with it. */
export type Vocabulary = {
  readonly path: string;
  readonly clock: Clock;
  /** Row of `sources`. */
  readonly source: number;
  readonly oaiBase: string;
  /** A prepared statement, made once. */
  sql(text: string): Statement;
  /** All of `work` or nothing; what the disk refuses is thrown as DatabaseError. */
  change<T>(work: () => T): T;
};
