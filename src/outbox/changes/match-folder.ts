import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { makeIdKey } from '../../base/characters.ts';
import { groupBy } from '../../base/collections.ts';
import { FileError, getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { type Issue, makeWarningIssue } from '../../base/issue.ts';
import { type Message, msg } from '../../base/message.ts';
import { findPointInBothSystems } from '../../finds/match-finds.ts';
import {
  type Confidence,
  type MatchableFind,
  matchPhotographs,
  type PhotoInfo,
  type PhotoMatch,
} from '../../photos/match-photographs.ts';
import { type PhotoExif, readPhotoExif } from '../../photos/photo-exif.ts';
import type { PhotoEntry } from '../entry.ts';
import { findIdentOfSubject, isDroppedFind, listPhotoEntries } from '../entry-queries.ts';
import { getOriginalDigest } from '../facts.ts';
import type { Outbox } from '../open-outbox.ts';
import { iterateFinds } from '../stored-finds.ts';
import { isPhotoGoneAtService } from '../views/records-at-service.ts';
import { enqueuePhoto, isQueuedWithDigest } from './enqueue-change.ts';
import type { PhotographKeeping, Sendable } from './kept-photographs.ts';
import { findSubject, indexAskedNumbers, listRowNumbers } from './resolve-finds.ts';

/** A file of the folder, and what it is. */
export type FileStatus = { readonly file: string } & (
  | { readonly kind: 'matched'; readonly match: PhotoMatch; readonly photograph: Sendable }
  /** Queued, sent or dropped before, by these entries. */
  | {
      readonly kind: 'known';
      readonly entries: readonly PhotoEntry[];
      readonly photograph: Sendable;
    }
  /** Duplicate of another file of the folder. */
  | { readonly kind: 'copy'; readonly of: string }
  /** The service would refuse it; the issues have these rules. */
  | { readonly kind: 'refused'; readonly rules: readonly string[] }
);

type MatchedFile = FileStatus & { readonly kind: 'matched' };

/** The files in their order, and the issues of files and subfolders. */
export type MatchedFolder = {
  readonly files: readonly FileStatus[];
  readonly issues: readonly Issue[];
};

type MatchSources = {
  /** See {@link matchPhotographs}. */
  readonly withinM: number;
  readonly outbox: Outbox;
  readonly inspectPhotograph: PhotographKeeping['inspectPhotograph'];
  readonly onProgress: (doneCount: number, total: number) => void;
};

/**
 * Inspects every file of a folder and its subfolders, without hidden ones, and matches the
 * photographs that are not known yet to finds; nothing is stored.
 * @throws FileError where the folder itself cannot be read
 */
export async function matchFolder(folder: string, sources: MatchSources): Promise<MatchedFolder> {
  const { files, issues } = await searchFolder(folder);
  const byDigest = groupBy(listPhotoEntries(sources.outbox), ({ photograph }) =>
    getOriginalDigest(photograph),
  );
  const statuses = new Map<string, FileStatus>();
  const shots: Shot[] = [];
  for (const [index, file] of files.entries()) {
    sources.onProgress(index, files.length);
    const inspected = await inspectFile(folder, file, byDigest, sources);
    issues.push(...inspected.issues);
    if ('shot' in inspected) shots.push(inspected.shot);
    else statuses.set(file, inspected.status);
  }
  const matches = matchPhotographs(shots, listMatchableFinds(sources), sources.withinM);
  const matched = shots.flatMap(({ file, photograph }, index): MatchedFile[] => {
    const match = matches[index];
    return match === undefined ? [] : [{ file, kind: 'matched', match, photograph }];
  });
  for (const status of withCopies(matched)) statuses.set(status.file, status);
  return { files: files.flatMap((file) => statuses.get(file) ?? []), issues };
}

/** A photograph that is to be matched. */
type Shot = PhotoInfo & { readonly photograph: Sendable };

type InspectedFile = { readonly issues: readonly Issue[] } & (
  | { readonly status: FileStatus }
  | { readonly shot: Shot }
);

/** @param byDigest photographs of the outbox */
async function inspectFile(
  folder: string,
  file: string,
  byDigest: ReadonlyMap<string, readonly PhotoEntry[]>,
  { outbox, inspectPhotograph }: MatchSources,
): Promise<InspectedFile> {
  const path = join(folder, file);
  const { photograph, issues } = await inspectPhotograph(path);
  if (photograph === undefined) {
    const rules = issues.map(({ rule }) => rule);
    return {
      status: { file, kind: 'refused', rules },
      // Other files are common on cards.
      issues: issues.map((issue) =>
        issue.rule === 'photo-type' ? issue.with({ severity: 'warning' }) : issue,
      ),
    };
  }
  const entries = (byDigest.get(getOriginalDigest(photograph)) ?? []).filter(
    (entry) => !isPhotoGoneAtService(outbox, entry),
  );
  if (entries.length > 0)
    return { status: { file, kind: 'known', entries, photograph }, issues: [] };
  return { shot: { file, ...(await readExifOrNothing(path)), photograph }, issues };
}

type QueueOptions = {
  readonly outbox: Outbox;
  readonly storePhotograph: PhotographKeeping['storePhotograph'];
  readonly dryRun: boolean;
  /** Asks a person if likely matches are queued too, all or none. */
  readonly confirmLikely: (count: number) => Promise<boolean>;
};

/** Names of finds by file, and the number of photographs whose GPS data were removed. */
export type QueueResult = {
  readonly queued: ReadonlyMap<string, string>;
  readonly stripped: number;
};

/**
 * Queues the certain matches, and the likely ones if a person confirms them, and replaces queued
 * photographs with GPS data by files without them. Each is stored by itself, so that an
 * interruption loses none. In a dry run nothing is stored, and `queued` has what would be.
 * @throws UsageError where a file changed since its inspection, or its find was removed
 */
export async function queueMatches(
  files: readonly FileStatus[],
  options: QueueOptions,
): Promise<QueueResult> {
  const { outbox, storePhotograph, dryRun, confirmLikely } = options;
  const queued = new Map<string, string>();
  const together = new Set(
    files.flatMap((status) => ('photograph' in status ? getOriginalDigest(status.photograph) : [])),
  );
  let stripped = dryRun ? 0 : await stripKnown(files, together, options);
  const queueAll = async (confidence: Confidence): Promise<void> => {
    for (const { file, photograph, match } of selectMatched(files, confidence)) {
      if (match.find === undefined) continue;
      if (!dryRun) {
        const subject = findSubject(outbox, match.find);
        await storePhotograph(photograph);
        if (enqueuePhoto(outbox, subject, photograph, together) === 'kept') continue;
        if (photograph.originalSha512 !== undefined) stripped += 1;
      }
      queued.set(file, match.find);
    }
  };
  await queueAll('sure');
  const { length } = selectMatched(files, 'likely');
  if (length > 0 && (await confirmLikely(length))) await queueAll('likely');
  return { queued, stripped };
}

function selectMatched(files: readonly FileStatus[], confidence: Confidence): MatchedFile[] {
  return files.filter(
    (status): status is MatchedFile =>
      status.kind === 'matched' && status.match.confidence === confidence,
  );
}

/** Replaces queued photographs with GPS data by stripped ones. */
async function stripKnown(
  files: readonly FileStatus[],
  together: ReadonlySet<string>,
  { outbox, storePhotograph }: QueueOptions,
): Promise<number> {
  let stripped = 0;
  for (const status of files) {
    if (status.kind !== 'known') continue;
    const { entries, photograph } = status;
    const { originalSha512 } = photograph;
    if (originalSha512 === undefined) continue;
    const waiting = entries.filter((entry) => isQueuedWithDigest(entry, originalSha512));
    if (waiting.length === 0) continue;
    await storePhotograph(photograph);
    for (const entry of waiting) enqueuePhoto(outbox, entry.subject, photograph, together);
    stripped += 1;
  }
  return stripped;
}

const BY_CONFIDENCE: readonly Confidence[] = ['sure', 'likely', 'doubtful', 'none'];

/**
 * Keeps the best match of a picture under several names; the others count only where they certainly
 * name another find.
 */
function withCopies(matched: readonly MatchedFile[]): FileStatus[] {
  const best = new Map<string, MatchedFile>();
  const rank = ({ match }: MatchedFile): number => BY_CONFIDENCE.indexOf(match.confidence);
  for (const each of matched) {
    const digest = getOriginalDigest(each.photograph);
    const before = best.get(digest);
    if (before === undefined || rank(each) < rank(before)) best.set(digest, each);
  }
  return matched.map((each) => {
    const first = best.get(getOriginalDigest(each.photograph)) ?? each;
    const isOwn =
      first === each || (each.match.confidence === 'sure' && each.match.find !== first.match.find);
    return isOwn ? each : { file: each.file, kind: 'copy', of: first.file };
  });
}

/**
 * Returns the files of a folder and its subfolders, sorted by number, and an issue for each
 * subfolder that cannot be read, as some of a memory card's.
 * @throws FileError where the folder itself cannot be read
 */
async function searchFolder(folder: string): Promise<{ files: string[]; issues: Issue[] }> {
  const issues: Issue[] = [];
  try {
    const files = await listFiles(folder, '', issues);
    files.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
    return { files, issues };
  } catch (thrown) {
    throw new FileError(folder, explainNotListed(folder, thrown), { cause: thrown });
  }
}

/**
 * Lists files as relative paths with `/`, without hidden ones. Links to folders count as files.
 * @param below path of the searched folder in `folder`; '' or with a final `/`
 */
async function listFiles(folder: string, below: string, issues: Issue[]): Promise<string[]> {
  const files: string[] = [];
  for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = `${below}${entry.name}`;
    if (entry.name.startsWith('.')) continue;
    if (!entry.isDirectory()) {
      files.push(path);
      continue;
    }
    try {
      files.push(...(await listFiles(folder, `${path}/`, issues)));
    } catch (thrown) {
      const problem = explainNotListed(join(folder, path), thrown);
      issues.push(makeWarningIssue('folder-unreadable', problem));
    }
  }
  return files;
}

function explainNotListed(folder: string, thrown: unknown): Message {
  switch (getErrorCode(thrown)) {
    case 'ENOENT':
      return msg`The folder ${folder} does not exist.`;
    case 'ENOTDIR':
      return msg`${folder} is a file, not a folder.`;
  }
  const problem = getErrorMessage(thrown);
  return msg`The folder of photographs ${folder} cannot be read: ${problem}`;
}

/** Reads EXIF; empty on an error, so that only the name counts. */
async function readExifOrNothing(path: string): Promise<PhotoExif> {
  try {
    return await readPhotoExif(path);
  } catch {
    return {};
  }
}

/** Returns finds for which a photograph can be queued. */
function listMatchableFinds({ outbox }: MatchSources): MatchableFind[] {
  const asked = indexAskedNumbers(outbox);
  return [...iterateFinds(outbox)]
    .filter(({ uuid }) => !isDroppedFind(outbox, uuid))
    .map((find) => {
      const { uuid, localId, elements } = find;
      const { datum_nalezu: foundOn } = elements;
      const identCely = findIdentOfSubject(outbox, uuid) ?? undefined;
      const point = findPointInBothSystems(elements)?.wgs84;
      return {
        localId,
        identCely,
        number: listRowNumbers(outbox, find)[0],
        isNumberAsked: find.wish.rows.some(({ key }) => asked.has(makeIdKey(key))),
        foundOn,
        point,
      };
    });
}
