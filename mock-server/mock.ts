import type { Database } from 'better-sqlite3';
import type { Accounts } from './accounts.ts';
import type { Addresses } from './addresses.ts';
import type { MockClock } from './clock.ts';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Locks } from './lock.ts';
import type { Photographs } from './photographs.ts';
import type { Archive } from './records/archive.ts';
import type { Settings } from './settings.ts';
import type { Throttle } from './throttle.ts';

/** Everything one running mock server knows. No module holds state, so servers in one process never meet. */
export type Mock = {
  readonly addresses: Addresses;
  readonly clock: MockClock;
  readonly database: Database;
  readonly archive: Archive;
  readonly accounts: Accounts;
  readonly photographs: Photographs;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly throttle: Throttle;
  readonly locks: Locks;
  /** Behaves as the deployed service where that differs from the contract; the differences are in quirks.ts. */
  readonly deployed: boolean;
  /** Only the write interface exists. */
  readonly training: boolean;
  /** Seeds what the contract leaves open, so that no client leans on accidents. */
  readonly seedNumber: number;
  /** Replaced as a whole by `PUT /settings`. */
  settings: Settings;
  /** Back to the seed. */
  reset(): void;
};
