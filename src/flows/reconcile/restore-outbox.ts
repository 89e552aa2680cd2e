import { existsSync, readdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { DatabaseError, FileError, UsageError } from '../../base/errors.ts';
import { cmd, msg } from '../../base/message.ts';
import { copyMadeMs, lastAnswerMs, openBackup } from '../../outbox/backup-copy.ts';
import { countFinds } from '../../outbox/counts.ts';
import type { Entry, PhotoEntry } from '../../outbox/entry.ts';
import { addGap } from '../../outbox/gaps.ts';
import { beginHistory } from '../../outbox/history.ts';
import { takeLease } from '../../outbox/lease.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import { unsentPhotoEntries } from '../../outbox/photographs.ts';
import { doubtUnsent, isEmpty, replaceContent } from '../../outbox/put-back.ts';
import { allServices, type NamedService, nameServices, openService, unnamedServices } from '../../outbox/services.ts';
import { openContentStore } from '../../store/content-store.ts';
import { isDatabase, isUnusable, removeDatabase, replaceUnusable } from '../../store/database-file.ts';

type RestoreOptions = {
  readonly backup: string;
  readonly outboxFile: string;
  readonly photosFolder: string;
  readonly clock: Clock;
  /** Opens the outbox that is there, or makes an empty one. */
  readonly openPresent: () => Promise<Outbox>;
  readonly replace: boolean;
  /** A person knows that nothing was sent since the backup was made. */
  readonly nothingSent: boolean;
  /** Their services may have been sent something of which the backup knows nothing. */
  readonly profiles: readonly NamedService[];
  readonly takeOver: boolean;
  /** Told before each photograph that is looked for. */
  readonly onPhotograph: (done: number, total: number) => void;
};

export type Restored = {
  readonly madeMs: number;
  readonly finds: number;
  readonly doubtful: readonly Entry[];
  /** Where the outbox is that was replaced; undefined where there was none, or nothing in it. */
  readonly aside: string | undefined;
  readonly photosCopied: number;
  /** Photographs that were not sent when the backup was made and that are nowhere. */
  readonly missing: readonly PhotoEntry[];
  /** Names of profiles that an earlier pas kept entries under and whose address is not known. */
  readonly unnamed: readonly string[];
};

/**
 * Makes a backup the outbox. What was to be sent when it was made may have been sent since, so it is in doubt. Whenever
 * this is stopped, the outbox is the old one or the new one, and the old one is never deleted.
 * @throws UsageError where an outbox with finds is there and is not to be replaced; FileError, DatabaseError,
 *   DatabaseTooNewError for a file that is no sound backup; OutboxLeasedError during a push
 */
export async function restoreOutbox(options: RestoreOptions): Promise<Restored> {
  const { outboxFile, clock } = options;
  refuseFile(options);
  const draft = join(dirname(outboxFile), DRAFT);
  const aside = asideOf(outboxFile, clock.now());
  const unusable = isUnusable(outboxFile);
  if (unusable && !options.replace) {
    throw new DatabaseError(msg`${outboxFile}: the outbox that is there is damaged.`, {
      hint: msg`Add --replace: it is moved aside, not deleted.`,
    });
  }
  const present = unusable ? undefined : await options.openPresent();
  const empty = present !== undefined && isEmpty(present);
  if (present !== undefined && !empty && !options.replace) {
    throw new UsageError(msg`There is an outbox with finds in ${outboxFile}.`, {
      hint: msg`Add --replace to put the backup in its place: it is moved aside, not deleted. ${cmd`pas list`} shows what it has.`,
    });
  }
  const lease = present === undefined ? undefined : takeLease(present, { takeOver: options.takeOver });
  try {
    sweep(outboxFile);
    const brought = openBackup(options.backup, draft, clock);
    const facts = prepare(brought, options);
    brought.close();
    if (present === undefined) replaceUnusable(outboxFile, draft, aside);
    else replaceContent(present, draft, empty ? undefined : aside);
    return { ...facts, ...(await bringPhotographs(options, facts.photographs)), aside: empty ? undefined : aside };
  } finally {
    lease?.release();
    removeDatabase(draft);
  }
}

function refuseFile({ backup, outboxFile }: RestoreOptions): void {
  if (!existsSync(backup)) throw new FileError(backup, msg`There is no file ${backup}.`);
  const found = statSync(backup);
  if (!found.isFile()) throw new FileError(backup, msg`${backup} is not a file.`);
  if (!isDatabase(backup)) {
    throw new FileError(backup, msg`${backup} is no backup: it is not a database.`, {
      hint: msg`Name a file that ${cmd`pas backup`} made.`,
    });
  }
  if (!existsSync(outboxFile)) return;
  const own = statSync(outboxFile);
  if (found.ino === own.ino && found.dev === own.dev) throw new FileError(backup, msg`${backup} is the outbox itself.`);
}

const DRAFT = 'restoring.tmp.sqlite';
/** What a restore that was killed left unfinished. */
const UNFINISHED = /^(restoring\.tmp\.sqlite.*|outbox-replaced-.*\.sqlite\.[\da-f-]+\.tmp(-\w+)?)$/;

function sweep(outboxFile: string): void {
  const home = dirname(outboxFile);
  for (const name of readdirSync(home).filter((each) => UNFINISHED.test(each))) rmSync(join(home, name), { force: true });
}

function asideOf(outboxFile: string, nowMs: number): string {
  const stamp = new Date(nowMs)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-');
  const name = (more: string): string => join(dirname(outboxFile), `outbox-replaced-${stamp}${more}.sqlite`);
  // Nothing that was put aside is replaced, also where a restore is run again at once.
  for (let more = '', count = 2; ; more = `-${count++}`) if (!existsSync(name(more))) return name(more);
}

function prepare(brought: Outbox, { clock, nothingSent, profiles: known }: RestoreOptions) {
  const nowMs = clock.now();
  const madeMs = copyMadeMs(brought);
  // This machine's clock may have been ahead when the copy was made; the service's answers in it are certainly older.
  const unseen = { fromMs: Math.min(madeMs, nowMs, lastAnswerMs(brought) ?? nowMs), untilMs: nowMs };
  // First of all: of one find that two names had for one service, only one import is to be in doubt.
  nameServices(brought, known);
  for (const service of known) openService(brought, service);
  const doubtful = nothingSent ? [] : doubtUnsent(brought, unseen);
  if (!nothingSent)
    for (const { id } of allServices(brought)) addGap({ ...brought, serviceId: id }, { project: null, ...unseen });
  // Where it becomes the outbox as it is, it is none that the machine knows.
  beginHistory(brought, '');
  const unnamed = unnamedServices(brought).map(({ knownAs }) => knownAs);
  return { madeMs, finds: countFinds(brought), doubtful, unnamed, photographs: unsentPhotoEntries(brought) };
}

/** From the folder that `pas backup --photos` made beside the copy. What is linked stays where it lies. */
async function bringPhotographs({ backup, photosFolder, onPhotograph }: RestoreOptions, photographs: readonly PhotoEntry[]) {
  const here = openContentStore(photosFolder);
  const copies = openContentStore(`${backup}.photos`);
  const missing: PhotoEntry[] = [];
  let photosCopied = 0;
  for (const [index, entry] of photographs.entries()) {
    onPhotograph(index, photographs.length);
    const { sha512, link } = entry.photograph;
    if (existsSync(link ?? here.pathOf(sha512))) continue;
    const copy = copies.pathOf(sha512);
    const added = link === undefined && existsSync(copy) ? await here.add(copy) : undefined;
    if (added?.sha512.equals(sha512) === true) photosCopied += 1;
    else missing.push(entry);
  }
  return { photosCopied, missing };
}
