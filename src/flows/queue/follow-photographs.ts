import { basename } from 'node:path';
import { type Issue, warningIssue } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import type { Find } from '../../find/find.ts';
import { recordBefore } from '../../outbox/change-log.ts';
import { removeEntry } from '../../outbox/entries.ts';
import type { PhotoEntry } from '../../outbox/entry.ts';
import { entriesOfFind, importOfFind, type Target } from '../../outbox/entry-queries.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { ImportedRow } from '../../outbox/stored-finds.ts';
import { addOrReplacePhoto, photographsLike, replaceVariant } from './enqueue-change.ts';
import type { KeptPhotograph } from './store-photographs.ts';

/** Photographs of a row by path; undefined for those that cannot be sent. */
export type RowPhotographs = ReadonlyMap<string, KeptPhotograph | undefined>;

type FollowedPhotographs = { readonly photosAdded: number; readonly photosRemoved: number; readonly issues: readonly Issue[] };

/**
 * Queues the photographs that a row names, and removes those that it named at its last import and no longer names, unless an
 * attempt was made for them. A photograph that a person dropped stays dropped.
 * @param findId undefined where the find does not exist, in a dry run
 */
export function followPhotographs(
  find: Find,
  photographs: RowPhotographs,
  before: ImportedRow | undefined,
  findId: number | undefined,
  context: { readonly outbox: Outbox; readonly dryRun: boolean },
): FollowedPhotographs {
  const keptPhotographs = [...photographs.values()].filter((photograph) => photograph !== undefined);
  const removed = before === undefined || find.coversPhotos === false ? [] : listRemovedDigests(find, photographs, before);
  if (keptPhotographs.length === 0 && removed.length === 0) return { photosAdded: 0, photosRemoved: 0, issues: [] };
  const { photosAdded, sentBefore } = addPhotographs(keptPhotographs, findId, context);
  const { photosRemoved, sent } = removePhotographs(removed, findId, context);
  const issues = [
    ...sentBefore.map((name) =>
      photoIssue(find, msg`Another photograph was sent as ${name} before; this one is queued as well.`),
    ),
    ...sent.map((name) =>
      photoIssue(find, msg`The row no longer names ${name}, but it was sent or may have been: it stays with the record.`),
    ),
  ];
  return { photosAdded, photosRemoved, issues };
}

function photoIssue({ localId, source }: Find, message: Issue['says']): Issue {
  return warningIssue('photo-name-sent', message, { find: localId, ...source });
}

/** Returns digests that the row no longer names. A file under another name, or one that is missing now, is still named. */
function listRemovedDigests(find: Find, photographs: RowPhotographs, { photos }: ImportedRow): string[] {
  const isMissing = new Set((find.missingPhotos ?? []).map((name) => basename(name)));
  const ofRow = new Set(
    [...photographs.values()].flatMap((keptPhotograph) => (keptPhotograph === undefined ? [] : listDigests(keptPhotograph))),
  );
  return Object.entries(photos).flatMap(([path, digest]) =>
    digest === null || photographs.has(path) || ofRow.has(digest) || isMissing.has(basename(path)) ? [] : [digest],
  );
}

function addPhotographs(
  photographs: readonly KeptPhotograph[],
  findId: number | undefined,
  { outbox, dryRun }: { readonly outbox: Outbox; readonly dryRun: boolean },
): { readonly photosAdded: number; readonly sentBefore: readonly string[] } {
  const identCely = findId === undefined ? null : (importOfFind(outbox, findId)?.identCely ?? null);
  const target: Target | undefined = findId === undefined ? undefined : { findId, identCely };
  const ofRow = new Set(photographs.flatMap(listDigests));
  const seen = new Set<string>();
  const sentBefore: string[] = [];
  let photosAdded = 0;
  for (const photograph of photographs) {
    const isTwice = listDigests(photograph).some((digest) => seen.has(digest));
    for (const digest of listDigests(photograph)) seen.add(digest);
    const same = target === undefined ? [] : photographsLike(outbox, target, photograph);
    if (same.length > 0 && !dryRun) replaceVariant(outbox, same, photograph);
    if (same.length > 0 || isTwice) continue;
    photosAdded += 1;
    if (dryRun || target === undefined || findId === undefined) continue;
    recordBefore(outbox, findId);
    const isWanted = (entry: PhotoEntry): boolean => ofRow.has(entry.photograph.sha512.toString('hex'));
    if (addOrReplacePhoto(outbox, target, photograph, isWanted).sameFile === 'sent') sentBefore.push(photograph.name);
  }
  return { photosAdded, sentBefore };
}

function listDigests({ sha512, counterpartSha512Hex }: KeptPhotograph): string[] {
  return [sha512.toString('hex'), ...(counterpartSha512Hex === undefined ? [] : [counterpartSha512Hex])];
}

/** @returns the number of removed photographs, and the names of sent ones */
function removePhotographs(
  digests: readonly string[],
  findId: number | undefined,
  { outbox, dryRun }: { readonly outbox: Outbox; readonly dryRun: boolean },
): { readonly photosRemoved: number; readonly sent: readonly string[] } {
  if (findId === undefined || digests.length === 0) return { photosRemoved: 0, sent: [] };
  const entries = entriesOfFind(outbox, findId).filter(
    (entry): entry is PhotoEntry =>
      entry.kind === 'photo' && entry.state !== 'dropped' && digests.includes(entry.photograph.sha512.toString('hex')),
  );
  const unsent = entries.filter(({ attempts, state }) => attempts === 0 && state === 'queued');
  if (!dryRun && unsent.length > 0) recordBefore(outbox, findId);
  if (!dryRun) for (const { id } of unsent) removeEntry(outbox, id);
  const sent = entries.filter((entry) => !unsent.includes(entry)).map(({ photograph }) => photograph.name);
  return { photosRemoved: unsent.length, sent };
}
