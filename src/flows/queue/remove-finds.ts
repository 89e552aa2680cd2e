import { UsageError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import type { Target } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { type Removal, removable, removeTarget } from '../../outbox/removal.ts';
import { findById } from '../../outbox/stored-finds.ts';
import { recordNamed } from './named-finds.ts';
import { sweepPhotographs } from './sweep-photographs.ts';

export type PlannedRemoval = {
  /** As the user gave it. */
  readonly name: string;
  readonly target: Target;
  /** What would go with it. */
  readonly entries: readonly Entry[];
  /** What the service has of it, or may have: it stays. */
  readonly because: Entry | undefined;
};

/**
 * Says what would be removed; nothing is.
 * @throws UsageError for a name of which nothing is known, or that was removed before
 */
export function planRemoval(outbox: Outbox, names: readonly string[]): PlannedRemoval[] {
  return [...new Set(names)].map((name) => {
    const target = recordNamed(outbox, name);
    const isHidden = target.findId !== null && findById(outbox, target.findId)?.isHidden === true;
    if (isHidden) throw new UsageError(msg`${name} was removed before.`);
    return { name, target, ...removable(outbox, target) };
  });
}

/** Removes finds, each with all that belongs to it or not at all, and copies of photographs that are of no use then. */
export function removeFinds(outbox: Outbox, planned: readonly PlannedRemoval[], photosFolder: string): Removal[] {
  const removals = planned.map(({ target }) => removeTarget(outbox, target));
  if (removals.some(({ kind }) => kind === 'removed')) sweepPhotographs(outbox, photosFolder);
  return removals;
}
