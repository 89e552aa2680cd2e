import type { Database } from 'better-sqlite3';
import type { Addresses } from '../base/addresses.ts';
import type { MockClock } from '../base/clock.ts';
import type { AccessLists } from './access.ts';
import type { Accounts } from './accounts.ts';
import type { Faults } from './active-faults.ts';
import type { Areas } from './areas.ts';
import type { Counters } from './counters.ts';
import type { Journal } from './journal.ts';
import type { Locks } from './lock.ts';
import type { Photographs } from './photographs.ts';
import type { Archive } from './records/archive.ts';
import type { HarvestIndex } from './records/harvest-index.ts';
import type { Schemas } from './schema.ts';
import type { SeedContent } from './seed-content.ts';
import type { Settings } from './settings.ts';
import type { Tenants } from './tenants.ts';
import type { Throttle } from './throttle.ts';

/**
 * State of one running mock server. Modules hold none, so servers in one process are independent.
 */
export type Mock = {
  readonly addresses: Addresses;
  readonly clock: MockClock;
  readonly database: Database;
  readonly archive: Archive;
  readonly harvestIndex: HarvestIndex;
  readonly accounts: Accounts;
  /** Numbers inside identifiers that the mock assigns. */
  readonly counters: Counters;
  /** Cadastral areas by place. */
  readonly areas: Areas;
  readonly photographs: Photographs;
  readonly journal: Journal;
  readonly faults: Faults;
  readonly throttle: Throttle;
  readonly locks: Locks;
  /** Other services on the same server; a tenant has none. */
  readonly tenants: Tenants<Mock & { dispose(): void }> | undefined;
  /** Undefined: any caller on this machine may use the control interface. */
  readonly controlToken: string | undefined;
  /** Origins whose web pages may use the service, separated by commas, or `*`. */
  readonly cors: string | undefined;
  /** Behaves as the deployed service where that deviates from the contract; see quirks.ts. */
  readonly deployed: boolean;
  /** Only the write interface exists. */
  readonly training: boolean;
  /** Varies what the contract leaves open, so that clients do not depend on it. */
  readonly seedNumber: number;
  readonly schemas: Schemas;
  /** State that a reset restores, and from which tenants start. */
  readonly seed: SeedContent;
  readonly settings: Settings;
  /** Access rules of `settings`, compiled. */
  readonly access: AccessLists;
  /** Replaces the named settings. */
  applySettings(patch: Partial<Settings>): void;
  /** Restores the seed; requests wait until it is done. */
  reset(): Promise<void>;
  /** Current reset. */
  readonly resetting: Promise<void> | undefined;
};
