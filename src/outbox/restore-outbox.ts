import { randomUUID } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../base/clock.ts';
import {
  deleteDatabase,
  findFreeBackupPath,
  isDatabaseFile,
  isSoundDatabase,
  replaceDatabaseFile,
} from '../base/disk/database-file.ts';
import { createFolder, deleteLeftovers } from '../base/disk/files.ts';
import { assertMayWrite } from '../base/disk/output-file.ts';
import { DatabaseError, FileError, isDamageError, UsageError } from '../base/errors.ts';
import { cmd, msg, t } from '../base/message.ts';
import { copyStoredFile, makeContentStore } from './changes/content-store.ts';
import { listSubjectsWithUnknownChanges } from './changes/undo-command.ts';
import type { PhotoEntry } from './entry.ts';
import { listEntriesInState, listUnacceptedPhotoEntries } from './entry-queries.ts';
import type { Photograph } from './facts.ts';
import {
  assertMayBelongTo,
  isEmptyOutbox,
  type Outbox,
  type Owner,
  openOutbox,
  readHeader,
} from './open-outbox.ts';
import { type PushLockOptions, withPushLock } from './push-lock.ts';
import { backUpOutbox, openCopyOfBackup, replaceOutboxContents } from './repair-outbox.ts';
import { countVisibleFinds, getSubjectName } from './stored-finds.ts';
import { NOTHING_UNITED, type UnionResult, uniteWithLedger } from './unite.ts';

/** Files of an outbox, its lock, and a function that opens it. */
export type OutboxFiles = {
  readonly outboxFile: string;
  readonly photosFolder: string;
  readonly lock: PushLockOptions;
  open(): Outbox;
};

type RestoreOptions = {
  readonly backup: string;
  /** Owner of the outbox to restore. */
  readonly owner: Owner;
  readonly outboxesFolder: string;
  /** Place of the profile's outbox. */
  readonly place: OutboxFiles;
  readonly clock: Clock;
  readonly replace: boolean;
  /** Called before each photograph that is searched. */
  readonly onPhotograph: (doneCount: number, total: number) => void;
};

/** `aside`: path of the replaced outbox; undefined where there was none, or an empty one. */
export type RestoreResult = Awaited<ReturnType<typeof restoreOutbox>>;

/**
 * Replaces an outbox by its backup, and unites it with the ledger, which adds what was sent since.
 * At any interruption either the old or the new outbox is in place. The old one is moved aside; an
 * empty one is deleted. The photographs of entries that are neither accepted nor dropped are copied
 * from beside the backup.
 * @throws UsageError where an outbox with finds exists and may not be replaced; ConfigError where
 * the backup is of another service or account; FileError, DatabaseError, DatabaseTooNewError for a
 * file that is no sound backup; OutboxLeasedError during a push
 */
export async function restoreOutbox(options: RestoreOptions) {
  const { backup, clock, outboxesFolder, place } = options;
  assertBackupFile(backup);
  createFolder(outboxesFolder);
  deleteLeftovers(outboxesFolder, UNFINISHED, clock.now() - UNFINISHED_MS);
  const draft = join(outboxesFolder, `${DRAFT}${randomUUID()}.tmp.sqlite`);
  try {
    const { id, madeMs } = readBackup(options, draft);
    assertOtherFile(backup, place.outboxFile);
    return await withPushLock(place.lock, async () => {
      const previous = replaceOutbox(draft, place, options);
      const united = await uniteAndRestorePhotographs(place, options, previous);
      return { id, madeMs, aside: previous?.aside, ...united };
    });
  } finally {
    deleteDatabase(draft);
  }
}

function assertBackupFile(backup: string): void {
  if (!existsSync(backup)) throw new FileError(backup, msg`There is no file ${backup}.`);
  if (!statSync(backup).isFile()) throw new FileError(backup, msg`${backup} is not a file.`);
  if (isDatabaseFile(backup)) return;
  throw new FileError(backup, msg`${backup} is not a backup: it is not a database.`, {
    hint: msg`Specify a file that ${cmd`pas backup`} created.`,
  });
}

/** @throws FileError where a name means the outbox itself */
function assertOtherFile(path: string, outboxFile: string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  const ownStats = statSync(outboxFile, { throwIfNoEntry: false });
  if (stats !== undefined && stats.ino === ownStats?.ino && stats.dev === ownStats.dev)
    throw new FileError(path, msg`${path} is the outbox itself.`);
}

/**
 * Names the finds and records that commands changed of which the restored outbox does not know;
 * none where the replaced one is damaged.
 */
function listLostWork(aside: string, restored: Outbox, clock: Clock): string[] {
  try {
    const previous = openOutbox(aside, clock);
    try {
      const subjects = listSubjectsWithUnknownChanges(previous, restored);
      return subjects.map((subject) => getSubjectName(previous, subject)).sort();
    } finally {
      previous.close();
    }
  } catch (thrown) {
    if (isDamageError(thrown)) return [];
    throw thrown;
  }
}

const DRAFT = 'restoring-';
/** Drafts of killed restores, and the age at which they are removed. */
const UNFINISHED = /^restoring-[\da-f-]{36}\.tmp\.sqlite/;
const UNFINISHED_MS = 24 * 3600 * 1000;

/** Copies the backup to the draft, and reads its outbox id. */
function readBackup(
  { backup, owner, clock }: RestoreOptions,
  draft: string,
): { readonly id: string; readonly madeMs: number } {
  const brought = openCopyOfBackup(backup, draft, clock);
  try {
    const { outbox: id, address, kind, username, copyMadeAt } = readHeader(brought);
    const init = cmd`pas init --base-url ${address} --kind ${kind} --username ${username ?? 'USER'} --name`;
    const move = cmd`pas profile set base_url=${owner.addresses[0] ?? ''} --profile`;
    const hint = msg`Choose a profile for these with --profile NAME, or create one: ${init} NAME. If the service only has a new address, set it there after the restore: ${move} NAME`;
    assertMayBelongTo(brought, owner, hint, backup);
    return { id, madeMs: copyMadeAt ?? statSync(backup).mtimeMs };
  } finally {
    brought.close();
  }
}

/**
 * The outbox that a restore replaced; `isDamaged`: it cannot be opened, and stays as it is, to the
 * byte.
 */
type Previous = { readonly aside: string; readonly isDamaged: boolean };

/** @returns the previous outbox; undefined where it was missing or empty */
function replaceOutbox(
  draft: string,
  { outboxFile, open }: OutboxFiles,
  { clock, replace }: RestoreOptions,
): Previous | undefined {
  const folder = dirname(outboxFile);
  createFolder(folder);
  const aside = findFreeBackupPath(join(folder, 'outbox-replaced'), clock.now());
  const isThere = existsSync(outboxFile);
  const present = isThere && isSoundDatabase(outboxFile) ? openUnlessDamaged(open) : undefined;
  if (present === undefined) {
    if (isThere && !replace) throw makeDamagedPresentError(outboxFile);
    replaceDatabaseFile(outboxFile, draft, aside);
    return isThere ? { aside, isDamaged: true } : undefined;
  }
  try {
    const isEmpty = isEmptyOutbox(present);
    if (!isEmpty && !replace)
      throw new UsageError(msg`${outboxFile} already has an outbox with finds.`, {
        hint: msg`Add --replace to replace it with the backup: the outbox is moved aside, not deleted. ${cmd`pas list`} shows its finds.`,
      });
    replaceOutboxContents(present, draft, aside);
    if (!isEmpty) return { aside, isDamaged: false };
    deleteDatabase(aside);
    return undefined;
  } finally {
    present.close();
  }
}

/** Opens the outbox; undefined where only its header is damaged. */
function openUnlessDamaged(open: () => Outbox): Outbox | undefined {
  try {
    return open();
  } catch (thrown) {
    if (isDamageError(thrown)) return undefined;
    throw thrown;
  }
}

function makeDamagedPresentError(outboxFile: string): DatabaseError {
  return new DatabaseError(msg`${outboxFile}: the existing outbox is damaged.`, {
    damaged: true,
    hint: msg`Add --replace: the outbox is moved aside, not deleted.`,
  });
}

async function uniteAndRestorePhotographs(
  place: OutboxFiles,
  options: RestoreOptions,
  previous: Previous | undefined,
) {
  const restored = place.open();
  try {
    const [united, ledgerProblem] = uniteIfUsable(restored, options.owner);
    return {
      united,
      /** Reason why the ledger was not united; undefined where it was. */
      ledgerProblem,
      /** Names of finds and records with changes that backup and ledger do not have. */
      lost:
        previous?.isDamaged !== false ? [] : listLostWork(previous.aside, restored, options.clock),
      /** Counted after the union with the ledger. */
      finds: countVisibleFinds(restored),
      uncertain:
        listEntriesInState(restored, 'uncertain').length +
        listEntriesInState(restored, 'sending').length,
      ...(await restorePhotographs(
        options,
        place.photosFolder,
        listUnacceptedPhotoEntries(restored),
      )),
    };
  } finally {
    restored.close();
  }
}

function uniteIfUsable(outbox: Outbox, owner: Owner): [UnionResult, string | undefined] {
  if (outbox.ledger === undefined) return [NOTHING_UNITED, outbox.ledgerProblem?.message];
  try {
    // A backup from before the first sign-in is of the account that the replaced outbox had.
    const known = readHeader(outbox).account === null ? owner.account : null;
    return [uniteWithLedger(outbox, known ?? undefined), undefined];
  } catch (thrown) {
    // The backup is in place, and the next push unites before it sends anything.
    if (thrown instanceof DatabaseError) return [NOTHING_UNITED, thrown.message];
    throw thrown;
  }
}

/**
 * Copies photographs from the folder that `pas backup --photos` made beside the copy. Those that
 * are here stay as they are; those that are not found, or damaged there, are `missing`.
 */
async function restorePhotographs(
  { backup, onPhotograph }: RestoreOptions,
  photosFolder: string,
  photographs: readonly PhotoEntry[],
) {
  const here = makeContentStore(photosFolder);
  const copies = makeContentStore(`${backup}.photos`);
  const missing: PhotoEntry[] = [];
  let photosCopied = 0;
  for (const [index, entry] of photographs.entries()) {
    onPhotograph(index, photographs.length);
    const { sha512 } = entry.photograph;
    if (existsSync(here.getPath(sha512))) continue;
    if (await copyStoredFile(sha512, copies, here)) photosCopied += 1;
    else missing.push(entry);
  }
  return { photosCopied, missing };
}

type BackupOptions = {
  readonly open: () => Promise<Outbox>;
  readonly target: string;
  readonly replace: boolean;
};

/**
 * Copies a snapshot of the outbox to the file `target`, without photographs.
 * @throws FileError or UsageError for a target that may not be written; DatabaseError where the
 * outbox is damaged: an existing copy stays then
 */
export async function createBackup(options: BackupOptions) {
  const { open, target } = options;
  const outbox = await open();
  const folder = dirname(target);
  if (!existsSync(folder)) throw new FileError(target, t`The folder ${folder} does not exist.`);
  assertMayWrite(target, options.replace);
  backUpOutbox(outbox, target);
  return {
    sizeBytes: statSync(target).size,
    /** Photographs whose copies are still needed, which can be backed up as well. */
    photographs: listUnacceptedPhotoEntries(outbox).map(({ photograph }) => photograph),
  };
}

/**
 * Copies photographs of the outbox from one folder of copies to another, and verifies each; after
 * an error the earlier copies stay.
 * @param onProgress called before each photograph
 * @throws DatabaseError where a photograph is missing or differs from the queued one, whose copy
 * may stay; FileError where one cannot be read or written, also for a full disk
 */
export async function backUpPhotographs(
  from: string,
  to: string,
  photographs: readonly Photograph[],
  onProgress: (doneCount: number, total: number) => void,
): Promise<void> {
  const source = makeContentStore(from);
  const copy = makeContentStore(to);
  for (const [index, { name, sha512 }] of photographs.entries()) {
    onProgress(index, photographs.length);
    if (await copyStoredFile(sha512, source, copy)) continue;
    const path = source.getPath(sha512);
    throw new DatabaseError(t`${path}: the queued photograph ${name} was removed or changed.`, {
      hint: t`Queue it again with \`${cmd`pas photo add`}\`. The outbox itself was copied.`,
    });
  }
}
