import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { entriesOfRecord, recordKey } from '../outbox/entries.ts';
import { findByIdentCely, findByLocalId, type StoredFind } from '../outbox/finds.ts';
import type { ServiceOutbox } from '../outbox/outbox.ts';
import { targetOf } from './enqueue-change.ts';

/** Names as the user gave them → stored finds. @throws UsageError naming those that are not there */
export function findsNamed(outbox: ServiceOutbox, names: readonly string[]): StoredFind[] {
  const found = names.map((name) => findByLocalId(outbox, name) ?? findByIdentCely(outbox, name));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) {
    const named = missing.join(', ');
    throw new UsageError(t`There is no find ${named}.`, { hint: t`\`pas list\` shows the finds.` });
  }
  return found.filter((find) => find !== undefined);
}

/**
 * Names as the user gave them → the keys of their records: of finds, or of records of the service that are not kept here
 * and that something was queued for.
 * @throws UsageError naming those of which nothing is known
 */
export function recordsNamed(outbox: ServiceOutbox, names: readonly string[]): string[] {
  return names.map((name) => {
    const target = targetOf(outbox, name);
    if (target.findId === null) refuseUntouched(outbox, name);
    return recordKey(target);
  });
}

/** @throws UsageError where nothing was queued for a record that is no find here */
export function refuseUntouched(outbox: ServiceOutbox, identCely: string): void {
  if (entriesOfRecord(outbox, identCely).length > 0) return;
  const { address } = outbox;
  throw new UsageError(t`${identCely} is not kept here, and nothing is queued for it at ${address}.`, {
    hint: t`A number or a photograph for it can be queued: pas number set ${identCely} VALUE, pas photo add ${identCely} FILE`,
  });
}
