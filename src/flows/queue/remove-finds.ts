import { UsageError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import { thinContents } from '../../outbox/command-log.ts';
import type { Entry } from '../../outbox/entry.ts';
import { getSubject, type Target } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { checkRemovable, type Removal, removeTarget } from '../../outbox/removal.ts';
import { findById } from '../../outbox/stored-finds.ts';
import { resolveRecordName } from './resolve-finds.ts';
import { sweepPhotographs } from './sweep-photographs.ts';

export type PlannedRemoval = {
  readonly name: string;
  readonly target: Target;
  readonly entries: readonly Entry[];
  /** Entry that the service has, or may have, which prevents the removal. */
  readonly because: Entry | undefined;
};

/**
 * Plans a removal without changes.
 * @throws UsageError for an unknown name, or a find that was removed before
 */
export function planRemoval(outbox: Outbox, names: readonly string[]): PlannedRemoval[] {
  const targets = new Map<string, { readonly name: string; readonly target: Target }>();
  for (const name of names) {
    const target = resolveRecordName(outbox, name);
    const key = getSubject(outbox, target);
    targets.set(key, targets.get(key) ?? { name, target });
  }
  return [...targets.values()].map(({ name, target }) => {
    const isHidden = target.findId !== null && findById(outbox, target.findId)?.isHidden === true;
    if (isHidden) throw new UsageError(msg`${name} was removed before.`);
    return { name, target, ...checkRemovable(outbox, target) };
  });
}

/** Removes finds, each completely or not at all, and unused copies of photographs. */
export function removeFinds(
  outbox: Outbox,
  planned: readonly PlannedRemoval[],
  photosFolder: string,
): Removal[] {
  const removals = planned.map(({ target }) => removeTarget(outbox, target));
  if (removals.some(({ kind }) => kind === 'removed')) {
    thinContents(outbox);
    sweepPhotographs(outbox, photosFolder);
  }
  return removals;
}
