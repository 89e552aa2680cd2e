import type { HarvestedFile, HarvestedFind } from '../find/harvested-find.ts';
import type { ListedFind } from '../flows/harvest/harvest-finds.ts';
import type { Entry, PhotoEntry } from '../outbox/entry.ts';
import { getProject, listEntriesOfRecord } from '../outbox/entry-queries.ts';
import { type Outbox, updateHeader } from '../outbox/open-outbox.ts';
import {
  deleteUnexplained,
  listUnexplained,
  recordSearch,
  storeUnexplained,
} from '../outbox/searches.ts';
import { assignFiles, makeSentPhoto } from './judge-photograph.ts';

/** Records that searches have shown, and identifiers of records that were listed but not shown. */
type Unexplained = {
  readonly records: readonly HarvestedFind[];
  readonly hidden: readonly string[];
};

export type IsUnexplained = (identCely: string, listed: ListedFind) => boolean;

/**
 * Stores shown records that no fact explains: later searches show only changes, and an equal find
 * may be queued later.
 */
export function keepUnexplained(
  outbox: Outbox,
  listed: readonly (readonly [string, ListedFind])[],
  isUnexplained: IsUnexplained,
): void {
  outbox.change(() => {
    for (const [identCely, lookup] of listed) {
      if (isUnexplained(identCely, lookup))
        storeUnexplained(
          outbox,
          identCely,
          lookup.kind === 'shown' ? JSON.stringify(lookup.record) : null,
        );
      // A record that was shown before still exists where it is no longer shown.
      else if (lookup.kind !== 'withheld') deleteUnexplained(outbox, identCely);
    }
  });
}

/** Returns the unexplained records; `hidden` has those without a stored state. */
export function readUnexplained(outbox: Outbox): Unexplained {
  const rows = listUnexplained(outbox);
  return {
    records: rows.flatMap(({ record }) => (record === null ? [] : [JSON.parse(record)])),
    hidden: rows.flatMap(({ identCely, record }) => (record === null ? [identCely] : [])),
  };
}

/**
 * Records the search of each project. While an entry is held, the next search includes the period
 * of this one.
 */
export function recordSearches(
  outbox: Outbox,
  projects: ReadonlySet<string>,
  held: readonly Entry[],
  at: { beganMs: number; endedMs: number },
): void {
  const open = new Set(held.map((entry) => getProject(entry)));
  for (const project of projects) {
    const isOpen = open.has(project);
    recordSearch(outbox, project, isOpen ? at.beganMs : at.endedMs, isOpen);
  }
  if (held.length === 0) updateHeader(outbox, { mustLook: false });
}

/**
 * Returns files that no photograph from here explains and that equal a queued one by digest, or by
 * name.
 */
export function findEqualFiles(
  outbox: Outbox,
  queued: readonly Entry[],
  shown: ReadonlyMap<string, HarvestedFind>,
): Map<string, readonly string[]> {
  const photographs = queued.filter((entry) => entry.kind === 'photo');
  const free = new Map(
    [...new Set(photographs.map(({ identCely }) => identCely ?? ''))].map((identCely) => {
      const find = shown.get(identCely);
      return [identCely, find === undefined ? [] : findUnexplainedFiles(outbox, find)] as const;
    }),
  );
  return new Map(
    photographs.map((entry) => {
      const files = free.get(entry.identCely ?? '') ?? [];
      return [entry.key, files.filter((file) => isStoredAs(entry, file)).map(({ name }) => name)];
    }),
  );
}

/**
 * Returns the files without a photograph from here. Each sent photograph explains one file, since
 * cameras reuse names.
 */
export function findUnexplainedFiles(
  outbox: Outbox,
  { identCely, files }: HarvestedFind,
): HarvestedFile[] {
  const sent = listEntriesOfRecord(outbox, identCely).flatMap((entry) =>
    entry.kind === 'photo' && entry.attempts > 0 ? [makeSentPhoto(outbox, entry)] : [],
  );
  const owners = assignFiles(files, sent);
  return files.filter((file) => !owners.has(file));
}

function isStoredAs({ photograph }: PhotoEntry, file: HarvestedFile): boolean {
  const digests = [photograph.sha512, photograph.originalSha512].flatMap(
    (digest) => digest?.toString('hex') ?? [],
  );
  return (
    digests.includes(file.sha512Hex) || file.history.some(({ note }) => note === photograph.name)
  );
}
