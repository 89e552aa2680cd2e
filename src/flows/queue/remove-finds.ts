import { rmSync } from 'node:fs';
import { recoverAbandoned } from '../../outbox/abandoned.ts';
import type { Target } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import type { ServiceOutbox } from '../../outbox/open-outbox.ts';
import { type Removal, removable, removeTarget } from '../../outbox/removal.ts';
import { openContentStore } from '../../store/content-store.ts';
import { recordNamed } from './named-finds.ts';

export type Doomed = {
  /** As the user gave it. */
  readonly name: string;
  readonly target: Target;
  /** What would go with it. */
  readonly entries: readonly Entry[];
  /** What the service has of it, or may have: it stays. */
  readonly because: Entry | undefined;
};

/**
 * What would be removed; nothing is. What a killed push left is taken up first, as nothing else could be done about it.
 * @throws UsageError for a name of which nothing is known
 */
export function planRemoval(outbox: ServiceOutbox, names: readonly string[]): Doomed[] {
  recoverAbandoned(outbox);
  return [...new Set(names)].map((name) => {
    const target = recordNamed(outbox, name);
    return { name, target, ...removable(outbox, target) };
  });
}

/** Removes it for this service, all or nothing, with the copies of its photographs that nothing else needs. */
export function removeFind(outbox: ServiceOutbox, { target }: Doomed, photosFolder: string): Removal {
  const removal = removeTarget(outbox, target);
  const unused = removal.kind === 'removed' ? removal.unusedPhotographs : [];
  for (const sha512 of unused) rmSync(openContentStore(photosFolder).pathOf(sha512), { force: true });
  return removal;
}
