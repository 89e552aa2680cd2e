import type { Incoming } from '../base/http-message.ts';
import type { Say } from '../base/messages.ts';
import type { Account } from '../state/accounts.ts';
import type { Mock } from '../state/mock.ts';
import type { FaultName } from '../state/parse-fault-rules.ts';
import { makeRefusal } from './refusal.ts';
import type { Hooks } from './run-under-fault.ts';

/** A write that has passed the preconditions. */
export type WriteRequest = {
  readonly incoming: Incoming;
  readonly account: Account;
  readonly say: Say;
  readonly hooks: Hooks;
  /** Triggered fault; operations handle those that only they can simulate. */
  readonly fault: FaultName | undefined;
};

/**
 * Takes the record's lock, waiting as the service does (A-LOCK-3).
 * @returns a function that releases it
 * @throws HttpError 429 without `Retry-After` while another request holds it
 */
export async function lockRecord(
  mock: Mock,
  { say, fault }: WriteRequest,
  ident: string,
): Promise<() => void> {
  const { retry_delay_ms, max_retries } = mock.settings.record_lock_params;
  if (fault === 'lock') {
    await mock.clock.sleep(retry_delay_ms * max_retries);
    throw makeRefusal(429, say('record-locked'));
  }
  const release = await mock.locks.acquire(ident, mock.settings);
  if (release === undefined) throw makeRefusal(429, say('record-locked'));
  return release;
}
