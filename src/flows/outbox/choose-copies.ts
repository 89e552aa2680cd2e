import { headerOf, isSameBinding, type Outbox } from '../../outbox/open-outbox.ts';
import { allFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { findsNamed } from '../queue/named-finds.ts';
import { isUnattempted } from './earlier-outboxes.ts';

/** The finds that are named, or all. @throws UsageError naming those that are not there */
export function chosenToCopy(outbox: Outbox, names: readonly string[]): StoredFind[] {
  return names.length === 0 ? [...allFinds(outbox)] : findsNamed(outbox, names);
}

/**
 * Tells if all of an outbox, numbers included, can be taken into another one: nothing was attempted from it, and both are for one service
 * with the same documents.
 */
export function mayPour(from: Outbox, to: Outbox): boolean {
  return isSameBinding(headerOf(from), headerOf(to)) && isUnattempted(from);
}
