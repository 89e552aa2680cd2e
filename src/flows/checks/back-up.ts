import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseError, FileError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { backUpOutbox } from '../../outbox/backup-copy.ts';
import type { Photograph } from '../../outbox/entry.ts';
import { listUnsentPhotoEntries } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { openContentStore } from '../../store/content-store.ts';

type BackupOptions = {
  readonly outboxFile: string;
  readonly open: () => Promise<Outbox>;
  readonly target: string;
  readonly replace: boolean;
};

/**
 * Copies a snapshot of the outbox.
 * @throws FileError for a target that may not be written; DatabaseError where the outbox is damaged: an existing copy stays then
 */
export async function backUp(options: BackupOptions) {
  const { open, target } = options;
  const outbox = await open();
  assertTarget(options);
  backUpOutbox(outbox, target);
  const waiting = listUnsentPhotoEntries(outbox).map(({ photograph }) => photograph);
  const copies = waiting.filter(({ link }) => link === undefined);
  return {
    sizeBytes: statSync(target).size,
    /** Unsent photographs with a copy here, which can be backed up as well. */
    copies,
    /** Number of unsent photographs that are only linked. */
    linked: waiting.length - copies.length,
  };
}

function assertTarget({ outboxFile, target, replace }: BackupOptions): void {
  const folder = dirname(target);
  if (!existsSync(folder)) throw new FileError(target, t`The folder ${folder} does not exist.`);
  if (!existsSync(target)) return;
  const targetStats = statSync(target);
  const ownStats = statSync(outboxFile);
  if (targetStats.ino === ownStats.ino && targetStats.dev === ownStats.dev)
    throw new FileError(target, t`${target} is the outbox itself.`);
  if (!targetStats.isFile())
    throw new FileError(target, t`${target} is not a file.`, { hint: t`Give the name of the file to write.` });
  if (!replace) throw new FileError(target, t`${target} already exists.`, { hint: t`Add --force to replace it.` });
}

/** @throws DatabaseError when a photograph differs from the queued one */
export async function backUpPhotographs(
  from: string,
  to: string,
  photographs: readonly Photograph[],
  onProgress: (doneCount: number, total: number) => void,
): Promise<void> {
  const source = openContentStore(from);
  const copy = openContentStore(to);
  for (const [index, { name, sha512 }] of photographs.entries()) {
    onProgress(index, photographs.length);
    const path = source.getPath(sha512);
    const copied = existsSync(path) ? await copy.add(path) : undefined;
    if (copied?.sha512.equals(sha512) === true) continue;
    throw new DatabaseError(t`${path}: the queued photograph ${name} was removed or changed.`, {
      hint: t`Queue it again with \`${cmd`pas photo add`}\`. The outbox itself was copied.`,
    });
  }
}
