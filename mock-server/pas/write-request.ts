import type { Account } from '../accounts.ts';
import type { Hooks } from '../fault-hooks.ts';
import type { FaultName } from '../fault-rules.ts';
import type { Incoming } from '../http-message.ts';
import type { Say } from '../messages.ts';

/** A write that has passed the gates. */
export type WriteRequest = {
  readonly incoming: Incoming;
  readonly account: Account;
  readonly say: Say;
  readonly hooks: Hooks;
  /** The fault that strikes this request; operations look for the few that only they can act out. */
  readonly fault: FaultName | undefined;
};
