import { UsageError } from '../../base/errors.ts';
import { msg } from '../../base/message.ts';
import { thinContents } from '../../outbox/command-log.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { checkRemovable, type Removal, removeSubject } from '../../outbox/removal.ts';
import { isRemoved } from '../../outbox/stored-finds.ts';
import { resolveRecordName } from './resolve-finds.ts';
import { sweepPhotographs } from './sweep-photographs.ts';

export type PlannedRemoval = {
  readonly name: string;
  readonly subject: string;
  readonly entries: readonly Entry[];
  /** Entry that the service has, or may have, which prevents the removal. */
  readonly because: Entry | undefined;
};

/**
 * Plans a removal without changes.
 * @throws UsageError for an unknown name, or a find that was removed before
 */
export function planRemoval(outbox: Outbox, names: readonly string[]): PlannedRemoval[] {
  const named = new Map<string, string>();
  for (const name of names) {
    const subject = resolveRecordName(outbox, name);
    named.set(subject, named.get(subject) ?? name);
  }
  return [...named].map(([subject, name]) => {
    if (isRemoved(outbox, subject)) throw new UsageError(msg`${name} was removed before.`);
    return { name, subject, ...checkRemovable(outbox, subject) };
  });
}

/** Removes finds, each completely or not at all, and unused copies of photographs. */
export function removeFinds(
  outbox: Outbox,
  planned: readonly PlannedRemoval[],
  photosFolder: string,
): Removal[] {
  const removals = planned.map(({ subject }) => removeSubject(outbox, subject));
  if (removals.some(({ kind }) => kind === 'removed')) {
    thinContents(outbox);
    sweepPhotographs(outbox, photosFolder);
  }
  return removals;
}
