import { headerOf, isSameBinding, type Outbox } from '../../outbox/open-outbox.ts';
import { allFinds, type StoredFind } from '../../outbox/stored-finds.ts';
import { findsNamed } from '../queue/named-finds.ts';
import { isUnattempted } from './earlier-outboxes.ts';

/** Returns the named finds, or all. @throws UsageError with the unknown names */
export function chosenToCopy(outbox: Outbox, names: readonly string[]): StoredFind[] {
  return names.length === 0 ? [...allFinds(outbox)] : findsNamed(outbox, names);
}

/** Tells if an outbox can be moved completely into another: no attempt was made from it, and both have one service. */
export function canMergeOutbox(from: Outbox, to: Outbox): boolean {
  return isSameBinding(headerOf(from), headerOf(to)) && isUnattempted(from);
}
