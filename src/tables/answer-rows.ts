import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { toDatabaseError } from '../base/disk/database.ts';
import { isProcessAlive } from '../base/disk/files.ts';
import { FileError, getErrorCode } from '../base/errors.ts';
import { type Issue, makeErrorIssue, makeUnreadable } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import { isElementName } from '../finds/fields.ts';
import type { Find } from '../finds/find.ts';
import { type ValidationContext, validateFinds } from '../finds/rules.ts';
import { chooseLocalId } from '../outbox/cache.ts';
import { openNumberLookup } from '../outbox/changes/enqueue-change.ts';
import { type EnqueueReport, enqueueFinds } from '../outbox/changes/enqueue-finds.ts';
import type { PhotographKeeping } from '../outbox/changes/kept-photographs.ts';
import { listOpenAskedRows } from '../outbox/changes/merge-find.ts';
import type { MergeSide } from '../outbox/changes/merge-row.ts';
import type { RowPlan } from '../outbox/changes/plan-rows.ts';
import { findSubject } from '../outbox/changes/resolve-finds.ts';
import { type Entry, type HeldQuestion, isAboutRow } from '../outbox/entry.ts';
import { findImportOfFind, listEntriesWithQuestion } from '../outbox/entry-queries.ts';
import { type AskedRow, parseStoredMessage } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findByLocalId, findByUuid, type StoredFind } from '../outbox/stored-finds.ts';
import { updateFindWish } from '../outbox/wishes.ts';
import { PHOTO_MAX_BYTES, PHOTO_MISSING, type ResolvePhoto } from '../photos/photograph.ts';
import type { Attachments } from './table.ts';

/** Access to the photographs that came with a table, and their storage. */
export type EnclosedPhotographs = PhotographKeeping & {
  readonly resolvePhoto: ResolvePhoto;
  /** Removes unpacked files, and closes the archive. */
  close(): Promise<void>;
};

const UNPACKED = /^unpacked-(\d+)-/;

/**
 * Opens the photographs of an archive: each is unpacked in `home` for its inspection, and removed
 * when it is stored, so that they are never all unpacked. Leftovers of a killed run are removed
 * before the first is unpacked. `close` must be called.
 * @param file archive, named in messages
 * @param keeping inspects and stores an unpacked photograph, and those that are not in the archive
 * @throws DatabaseError, from `inspectPhotograph`, where the disk of `home` fails
 */
export function openEnclosedPhotographs(
  file: string,
  { paths, archive }: Attachments,
  home: string,
  keeping: PhotographKeeping,
): EnclosedPhotographs {
  const knownPaths = new Set(paths);
  let folder: string | undefined;
  const unpack = async (name: string): Promise<string> => {
    if (folder === undefined) {
      removeLeftovers(home);
      folder = mkdtempSync(join(home, `unpacked-${process.pid}-`));
    }
    const path = join(folder, basename(name));
    rmSync(path, { force: true });
    await archive?.unpack(name, path, PHOTO_MAX_BYTES);
    return path;
  };
  return {
    resolvePhoto: (name) => {
      const path = [name, name.normalize('NFC'), name.normalize('NFD')].find((each) =>
        knownPaths.has(each),
      );
      if (path !== undefined) return { value: path };
      return makeUnreadable(
        PHOTO_MISSING,
        msg`There is no photograph "${name}" in ${file}. Export it again with its files.`,
      );
    },
    async inspectPhotograph(name) {
      if (!knownPaths.has(name)) return keeping.inspectPhotograph(name);
      let path: string;
      try {
        path = await unpack(name);
      } catch (thrown) {
        return { issues: [makeUnpackIssue(name, home, thrown)] };
      }
      const inspected = await keeping.inspectPhotograph(path);
      if (inspected.photograph === undefined) rmSync(path, { force: true });
      return inspected;
    },
    async storePhotograph(photograph) {
      await keeping.storePhotograph(photograph);
      if (folder !== undefined && dirname(photograph.source) === folder)
        rmSync(photograph.source, { force: true });
    },
    async close() {
      if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
      await archive?.close();
    },
  };
}

/** @throws DatabaseError where the disk failed, and not the archive */
function makeUnpackIssue(name: string, home: string, thrown: unknown): Issue {
  const isTooLong = getErrorCode(thrown) === 'ENAMETOOLONG';
  if (!(thrown instanceof FileError) && !isTooLong) throw toDatabaseError(home, thrown);
  const problem = thrown instanceof FileError ? thrown.says : msg`its name is too long`;
  return makeErrorIssue(
    'photo-unreadable',
    msg`The photograph ${name} cannot be unpacked: ${problem}`,
  );
}

/** Removes the folders that killed runs have left unpacked. */
function removeLeftovers(home: string): void {
  for (const name of readdirSync(home)) {
    const pid = UNPACKED.exec(name)?.[1];
    if (pid !== undefined && !isProcessAlive(Number(pid)))
      rmSync(join(home, name), { recursive: true, force: true });
  }
}

/** Answers that `pas resolve --answer` takes about a row. */
export const ROW_ANSWERS = ['same', 'new', 'table', 'mine'] as const;
/** Answer of a person about a row: it is this find, another one, or whose values win. */
export type RowAnswer = (typeof ROW_ANSWERS)[number];

/** Possible answers by the question about a row. */
export const ANSWERS_OF_ROWS: Readonly<Record<AskedRow['basis'], readonly RowAnswer[]>> = {
  'row-near': ['same', 'new'],
  'row-another': ['same', 'new'],
  'row-changed': ['table', 'mine'],
};

/** The answers in words, for a person who chooses one. */
export const ANSWER_WORDS = {
  same: msg`the same find: use the row's values`,
  new: msg`another find: add it`,
  table: msg`use the values of the table`,
  mine: msg`keep the values here`,
} as const;

type AnswerContext = PhotographKeeping & {
  readonly outbox: Outbox;
  readonly ruleContext: ValidationContext;
};

/** A find with its import, about which something is asked. */
type AskedFind = { readonly stored: StoredFind; readonly entry: Entry };

/**
 * Returns the finds whose import is held with a question for a person; numbers and photographs
 * are left out.
 */
export function listAskedFinds(outbox: Outbox): AskedFind[] {
  return listEntriesWithQuestion(outbox).flatMap((entry) => {
    const stored = findByUuid(outbox, entry.subject);
    return stored === undefined || entry.kind !== 'import' ? [] : [{ stored, entry }];
  });
}

/**
 * Returns the find of a name with its import; undefined where that is a record that has no find
 * or no import here. It need not have a question.
 * @throws UsageError where there is neither a find nor a record of the name
 */
export function findAskedFind(outbox: Outbox, name: string): AskedFind | undefined {
  const subject = findSubject(outbox, name);
  const stored = findByUuid(outbox, subject);
  const entry = findImportOfFind(outbox, subject);
  return stored === undefined || entry === undefined ? undefined : { stored, entry };
}

/** Returns the possible answers to a question; undefined where it is not about a row. */
export function findRowAnswers(held: HeldQuestion | null): readonly RowAnswer[] | undefined {
  return held !== null && isAboutRow(held) ? ANSWERS_OF_ROWS[held.basis] : undefined;
}

/** Returns the question about a row, which was stored as a message, in the current language. */
export function getRowQuestion({ question }: AskedRow): Message {
  return parseStoredMessage(question);
}

/**
 * Imports the row that a question was about, as the answer says: as a find of its own, or into the
 * find that is asked about. With `new`, the question is removed from that find. Photographs are
 * read from the archive of the table.
 * @param stored find that is asked about
 * @returns the report of the import, whose issues may refuse the row
 * @throws FileError where that archive cannot be read; DatabaseError where the disk fails
 */
export async function answerRow(
  stored: StoredFind,
  asked: AskedRow,
  answer: RowAnswer,
  { ruleContext, ...context }: AnswerContext,
): Promise<EnqueueReport> {
  const { outbox } = context;
  const findContext = { ...ruleContext, lookupNumber: openNumberLookup(outbox) };
  const find = makeFindOfRow(asked);
  const plan = makePlan(outbox, stored, asked, answer);
  const side: MergeSide | undefined = answer === 'table' || answer === 'mine' ? answer : undefined;
  const table = { path: asked.path ?? undefined, planRow: () => plan };
  const enclosed = await openPhotographsOfRow(asked, context);
  const report = await enqueueFinds([find], {
    ...context,
    ...enclosed,
    dryRun: false,
    validate: (finds) => validateFinds(finds, findContext),
    side,
    table,
  }).finally(() => enclosed?.close());
  const now = findByLocalId(outbox, stored.localId);
  if (plan.kind === 'new' && now !== undefined)
    updateFindWish(outbox, now, { asked: listOpenAskedRows(now, ({ key }) => key === asked.key) });
  return report;
}

/** Opens the archive of a row's photographs, whose paths lead from its top. */
async function openPhotographsOfRow(
  { path, photos }: AskedRow,
  context: PhotographKeeping & { readonly outbox: Outbox },
): Promise<EnclosedPhotographs | undefined> {
  const enclosed = photos.filter((photo) => !isAbsolute(photo));
  if (enclosed.length === 0 || path === null) return undefined;
  const archive = findExisting(path);
  const { openAttachments } = await import('./formats/zip-entries.ts');
  const attachments = openAttachments(archive, enclosed);
  return openEnclosedPhotographs(archive, attachments, dirname(context.outbox.path), context);
}

/** Returns what exists of a path, which may lead on into an archive. */
function findExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findExisting(dirname(path));
}

function makePlan(
  outbox: Outbox,
  { localId, wish }: StoredFind,
  { key, matched, ...asked }: AskedRow,
  answer: RowAnswer,
): RowPlan {
  if (answer === 'new')
    return {
      kind: 'new',
      localId: chooseLocalId(outbox, asked.localId, null),
      others: [{ name: localId, matched }],
    };
  const isRenamed = asked.basis === 'row-near' && asked.localId !== (wish.key ?? localId);
  return { kind: 'same', find: localId, isRenamed };
}

function makeFindOfRow({ key, elements, covered, photos, file, row }: AskedRow): Find {
  return {
    localId: key,
    elements,
    photos,
    coversPhotos: photos.length > 0,
    covered: covered === undefined ? undefined : new Set(covered.filter(isElementName)),
    source: file === null || row === null ? undefined : { file, row },
  };
}
