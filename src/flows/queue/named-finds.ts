import { UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { entriesOfTarget, recordKey, type Target } from '../../outbox/entry-queries.ts';
import { headerOf, type Outbox } from '../../outbox/open-outbox.ts';
import { assertSoundFinds, findByIdentCely, findByLocalId, type StoredFind } from '../../outbox/stored-finds.ts';
import { targetOf } from './enqueue-change.ts';

/** Returns stored finds by name. @throws UsageError with the unknown names */
export function findsNamed(outbox: Outbox, names: readonly string[]): StoredFind[] {
  const found = names.map((name) => findByLocalId(outbox, name) ?? findByIdentCely(outbox, name));
  const missing = names.filter((_, index) => found[index] === undefined);
  if (missing.length > 0) {
    assertSoundFinds(outbox);
    const named = missing.join(', ');
    throw new UsageError(msg`There is no find ${named}.`, { hint: msg`\`${cmd`pas list`}\` shows the finds.` });
  }
  return found.filter((find) => find !== undefined);
}

/** Returns the keys of records, by names as in {@link recordNamed}. */
export function recordsNamed(outbox: Outbox, names: readonly string[]): string[] {
  return names.map((name) => recordKey(recordNamed(outbox, name)));
}

/**
 * Returns the record of a find, or a record without a find here that has queued changes.
 * @throws UsageError for an unknown name
 */
export function recordNamed(outbox: Outbox, name: string): Target {
  const target = knownTarget(outbox, name);
  if (target.findId !== null || entriesOfTarget(outbox, target).length > 0) return target;
  const { address } = headerOf(outbox);
  throw new UsageError(msg`${name} is not stored here, and nothing is queued for it at ${address}.`, {
    hint: msg`You can queue a number or a photograph for it: ${cmd`pas number set ${name}`} VALUE, ${cmd`pas photo add ${name}`} FILE`,
  });
}

function knownTarget(outbox: Outbox, name: string): Target {
  try {
    return targetOf(outbox, name);
  } catch (thrown) {
    // A find with a damaged local id is not found by it.
    assertSoundFinds(outbox);
    throw thrown;
  }
}
