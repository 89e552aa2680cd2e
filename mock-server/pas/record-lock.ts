import type { Mock } from '../mock.ts';
import { refusal } from './refusal.ts';
import type { WriteRequest } from './write-request.ts';

/**
 * Takes the record's lock, waiting as the service does (A-LOCK-3).
 * @returns gives it back
 * @throws HttpError 429 without `Retry-After` when somebody else keeps it
 */
export async function lockRecord(mock: Mock, { say, fault }: WriteRequest, ident: string): Promise<() => void> {
  const { retry_delay_ms, max_retries } = mock.settings.record_lock_params;
  if (fault === 'lock') {
    await mock.clock.sleep(retry_delay_ms * max_retries);
    throw refusal(429, say('record-locked'));
  }
  const release = await mock.locks.acquire(ident, mock.settings);
  if (release === undefined) throw refusal(429, say('record-locked'));
  return release;
}
