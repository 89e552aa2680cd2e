import { UsageError } from '../../base/errors.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import type { Target } from '../../outbox/entries.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { madeElsewhere } from '../../outbox/owners.ts';
import { targetOf } from './enqueue-change.ts';

/** Why an identifier is not taken for a record of this service, and what to name instead. */
export function elsewhereText(
  identCely: string,
  { localId, address }: { readonly localId: string; readonly address: string },
): { message: Message; hint: Message } {
  return {
    message: msg`${identCely} was given to ${localId} by ${address}; at this service it is another record, or none.`,
    hint: msg`Name the find: ${localId}. To send it to this service, too: ${cmd`pas push ${localId}`}`,
  };
}

/**
 * The record that FIND names, to queue something for.
 * @throws UsageError where it is none, or the identifier is known from another service only
 */
export function targetForChange(outbox: ServiceOutbox, find: string): Target {
  const target = targetOf(outbox, find);
  const found = target.findId === null ? madeElsewhere(outbox, find) : undefined;
  if (found === undefined) return target;
  const { message, hint } = elsewhereText(find, found);
  throw new UsageError(message, { hint });
}
