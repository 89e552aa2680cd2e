import { msg } from '../../base/message.ts';
import type { HarvestedFind } from '../../find/harvested-find.ts';
import { projectOf } from '../../outbox/entries.ts';
import type { Entry } from '../../outbox/entry.ts';
import { parseStored } from '../../outbox/events.ts';
import { type Outbox, updateHeader } from '../../outbox/open-outbox.ts';
import { deleteUnexplained, saveLook, saveUnexplained, unexplainedRecords } from '../../outbox/project-looks.ts';
import type { ListedFind } from '../harvest/harvest-finds.ts';

/** Records as looks have shown them, and identifiers of those that were listed and not shown. */
type Unexplained = { readonly records: readonly HarvestedFind[]; readonly hidden: readonly string[] };

/** Judges a record that a look lists. */
export type IsUnexplained = (identCely: string, listed: ListedFind) => boolean;

/**
 * Keeps what a look shows and no event explains. A look shows only what changed since the one before, and a find or a photograph may be
 * queued after the look that showed its equal.
 */
export function rememberUnexplained(
  outbox: Outbox,
  listed: readonly (readonly [string, ListedFind])[],
  isUnexplained: IsUnexplained,
): void {
  outbox.change(() => {
    for (const [identCely, lookup] of listed) {
      if (isUnexplained(identCely, lookup))
        saveUnexplained(outbox, identCely, lookup.kind === 'shown' ? JSON.stringify(lookup.record) : null);
      // A record that was shown before still exists where it is no longer shown.
      else if (lookup.kind !== 'withheld') deleteUnexplained(outbox, identCely);
    }
  });
}

export function unexplainedSoFar(outbox: Outbox): Unexplained {
  const rows = unexplainedRecords(outbox);
  return {
    records: rows.flatMap(({ identCely, record }) =>
      record === null ? [] : [parseStored(outbox.path, msg`the looked-up state of ${identCely}`, record) as HarvestedFind],
    ),
    hidden: rows.flatMap(({ identCely, record }) => (record === null ? [identCely] : [])),
  };
}

/** Records the look at each project. While an entry is held, the next look begins where this one began, to see its match again. */
export function recordLookups(
  outbox: Outbox,
  projects: ReadonlySet<string>,
  held: readonly Entry[],
  at: { beganMs: number; endedMs: number },
): void {
  const open = new Set(held.map((entry) => projectOf(entry) ?? ''));
  for (const project of projects) {
    const isOpen = open.has(project);
    saveLook(outbox, project, isOpen ? at.beganMs : at.endedMs, isOpen);
  }
  if (held.length === 0) updateHeader(outbox, { mustLook: false });
}
