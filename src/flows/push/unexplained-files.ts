import type { HarvestedFile, HarvestedFind } from '../../find/harvested-find.ts';
import type { Entry, PhotoEntry } from '../../outbox/entry.ts';
import { entriesOfRecord } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { ownersOf, type SettledPhoto } from '../reconcile/judge-photograph.ts';
import { windowOf } from '../reconcile/verdict.ts';

/** Files of a record that no photograph from here explains and that equal a queued one by digest, or by the name that it was sent under. */
export function equalFiles(
  outbox: Outbox,
  queued: readonly Entry[],
  shown: ReadonlyMap<string, HarvestedFind>,
): Map<string, readonly string[]> {
  const photographs = queued.filter((entry) => entry.kind === 'photo');
  const free = new Map(
    [...new Set(photographs.map(({ identCely }) => identCely ?? ''))].map((identCely) => {
      const find = shown.get(identCely);
      return [identCely, find === undefined ? [] : unexplainedFiles(outbox, find)] as const;
    }),
  );
  return new Map(
    photographs.map((entry) => {
      const files = free.get(entry.identCely ?? '') ?? [];
      return [entry.uuid, files.filter((file) => isFileOf(entry, file)).map(({ name }) => name)];
    }),
  );
}

/** Each photograph that was sent explains one file: cameras give one name to many photographs. */
export function unexplainedFiles(outbox: Outbox, { identCely, files }: HarvestedFind): HarvestedFile[] {
  const sent = entriesOfRecord(outbox, identCely).flatMap((entry) =>
    entry.kind === 'photo' && entry.attempts > 0 ? [settledPhotograph(outbox, entry)] : [],
  );
  const owners = ownersOf(files, sent);
  return files.filter((file) => !owners.has(file));
}

function settledPhotograph(outbox: Outbox, entry: PhotoEntry): SettledPhoto {
  const { name, sha512 } = entry.photograph;
  return { fileName: name, sha512Hex: sha512.toString('hex'), window: windowOf(outbox, entry) };
}

function isFileOf({ photograph }: PhotoEntry, file: HarvestedFile): boolean {
  const digests = [photograph.sha512, photograph.originalSha512].flatMap((digest) => digest?.toString('hex') ?? []);
  return digests.includes(file.sha512Hex) || file.history.some(({ note }) => note === photograph.name);
}
