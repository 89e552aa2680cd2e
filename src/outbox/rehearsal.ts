import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { deleteLeftovers } from '../base/disk/files.ts';
import { UsageError } from '../base/errors.ts';
import { hasErrors, type Issue, isReadable, makeErrorIssue } from '../base/issue.ts';
import { type Message, msg } from '../base/message.ts';
import type { Find } from '../finds/find.ts';
import { parseProjectReference } from '../finds/resolve-references.ts';
import type { ValidatedFind } from '../finds/rules.ts';
import { listAttempts } from './attempts.ts';
import { copyStoredFile, makeContentStore } from './changes/content-store.ts';
import { convertStoredFind, makePreparedDocument } from './changes/enqueue-finds.ts';
import type { Entry } from './entry.ts';
import { findImportOfFind, listEntriesOfSubject } from './entry-queries.ts';
import type { Outbox } from './open-outbox.ts';
import { findByLocalId, iterateFinds, type StoredFind } from './stored-finds.ts';
import { recordNewFind, recordPhotoWish } from './wishes.ts';

/** The parts of a profile that a rehearsal needs. */
type Instance = {
  readonly name: string;
  readonly kind: 'production' | 'training';
  readonly baseUrl: string;
};

/**
 * Asserts that a profile is for training, and that its address is not that of production.
 * @param productionAddresses those of all profiles
 * @throws UsageError where finds sent there could be taken for real ones
 */
export function assertTrainingInstance(
  { name, kind, baseUrl }: Instance,
  productionAddresses: readonly string[],
): void {
  if (kind !== 'training')
    throw new UsageError(msg`Profile ${name} is not a training profile. Nothing was sent.`, {
      hint: msg`Specify a profile of the kind training with --to NAME.`,
    });
  if (productionAddresses.includes(baseUrl))
    throw new UsageError(
      msg`Another profile uses ${baseUrl} as production, so pas does not rehearse there. Nothing was sent.`,
      {
        hint: msg`Correct base_url or kind of one of the two profiles.`,
      },
    );
}

/** Returns the finds that are queued, also held ones, in the order of entry. */
export function listFindsToRehearse(outbox: Outbox): StoredFind[] {
  return [...iterateFinds(outbox)].filter(
    ({ uuid }) => findImportOfFind(outbox, uuid)?.state === 'queued',
  );
}

/** Parses the identifier of a project as a person types it; '' where the text is none. */
export function parseProjectCode(typed: string): string {
  const reading = parseProjectReference(typed);
  return isReadable(reading) ? reading.value.id : '';
}

/**
 * Collects what a rehearsal has shown: how many copies were sent and accepted, the refused ones
 * with their issues, and with the reason those that were not tested.
 * @param outbox that of the rehearsal
 * @param copies the finds that were copied into it
 * @param mapped local ids of those whose project was translated: a refusal of it counts
 */
export function collectRehearsalResult(
  outbox: Outbox,
  copies: readonly StoredFind[],
  mapped: ReadonlySet<string>,
) {
  const refused: { localId: string; issues: readonly Issue[] }[] = [];
  // Their result at the training instance does not apply to production.
  const notTested: { localId: string; reason: Message }[] = [];
  let sent = 0;
  let accepted = 0;
  for (const { localId } of copies) {
    const find = findByLocalId(outbox, localId);
    const entries = find === undefined ? [] : listEntriesOfSubject(outbox, find.uuid);
    if (entries.some(({ attempts }) => attempts > 0)) sent += 1;
    const result = getResult(outbox, entries, mapped.has(localId));
    if (result === 'accepted') accepted += 1;
    else if ('issues' in result) refused.push({ localId, issues: result.issues });
    else notTested.push({ localId, reason: result.reason });
  }
  return { sent, accepted, refused, notTested };
}

/** Answers of a training instance to copies of finds. */
export type RehearsalResult = ReturnType<typeof collectRehearsalResult>;

type Result = 'accepted' | { readonly issues: readonly Issue[] } | { readonly reason: Message };

function getResult(outbox: Outbox, entries: readonly Entry[], isMapped: boolean): Result {
  const issues = entries.flatMap((entry) => listIssues(entry));
  const open = entries.find(
    ({ state }) => state === 'queued' || state === 'uncertain' || state === 'sending',
  );
  if (!isMapped && entries.some((entry) => isAboutProject(outbox, entry)))
    return {
      reason: msg`its project has no counterpart in the training instance; name one: --project-map FROM=TO`,
    };
  if (issues.length > 0) return { issues };
  if (entries.length > 0 && entries.every(({ state }) => state === 'accepted')) return 'accepted';
  return { reason: open?.reason ?? msg`it was not sent` };
}

/**
 * Returns the issues of an entry: of a draft, those of validation; of a refused one, those of the
 * service.
 */
function listIssues({ state, issues, reason, kind }: Entry): readonly Issue[] {
  if (state !== 'draft' && state !== 'refused') return [];
  if (hasErrors(issues)) return issues;
  return kind === 'import' || state === 'refused'
    ? [...issues, makeErrorIssue('refused', reason ?? msg`refused without a reason`)]
    : [];
}

/** Tells if all errors concern the project, which the training instance may not have. */
function isAboutProject(outbox: Outbox, entry: Entry): boolean {
  const errors = entry.issues.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) return errors.every(({ element }) => element === 'projekt');
  const last = listAttempts(outbox, entry).at(-1);
  return (
    entry.kind === 'import' &&
    entry.state !== 'accepted' &&
    (last?.status === 403 || last?.status === 404)
  );
}

/** No rehearsal takes so long. */
const LEFT_AFTER_MS = 7 * 24 * 3600 * 1000;

/**
 * Returns the path of a new folder for a rehearsal, which is not made yet, and removes the folders
 * that killed rehearsals left more than a week ago.
 * @param home data home
 * @param nowMs milliseconds since 1970 UTC
 */
export function prepareRehearsalFolder(home: string, nowMs: number): string {
  const folder = join(home, 'rehearsals');
  deleteLeftovers(folder, /^[\da-f-]{36}$/, nowMs - LEFT_AFTER_MS);
  return join(folder, randomUUID());
}

type CopyOptions = {
  /** Validates by the rules of the training instance. */
  readonly validate: (find: Find) => ValidatedFind;
  readonly photosFolders: { readonly from: string; readonly to: string };
  /** Project codes here → codes at the training instance. */
  readonly projects: ReadonlyMap<string, string>;
};

/**
 * Copies finds into the outbox of a rehearsal, where they and their photographs are queued, or are
 * drafts where `validate` finds errors. A photograph that was dropped, or whose copy is missing or
 * damaged, is left out, and so is a number that was set later.
 * @throws DatabaseError where the disk fails; FileError where a photograph cannot be read
 */
export async function copyFindsForRehearsal(
  from: Outbox,
  to: Outbox,
  finds: readonly StoredFind[],
  { validate, photosFolders, projects }: CopyOptions,
): Promise<void> {
  const source = makeContentStore(photosFolders.from);
  const target = makeContentStore(photosFolders.to);
  for (const stored of finds) {
    const find = withProject(convertStoredFind(stored), projects);
    // A question about its row is not asked of the copy.
    const { asked: _asked, ...wish } = stored.wish;
    const uuid = recordNewFind(
      to,
      { ...wish, elements: find.elements },
      makePreparedDocument(validate(find)),
    );
    for (const entry of listEntriesOfSubject(from, stored.uuid)) {
      if (entry.kind !== 'photo' || entry.state === 'dropped') continue;
      const { photograph } = entry;
      if (await copyStoredFile(photograph.sha512, source, target))
        recordPhotoWish(to, uuid, photograph);
    }
  }
}

function withProject(find: Find, projects: ReadonlyMap<string, string>): Find {
  const { projekt } = find.elements;
  const other = projekt === undefined ? undefined : projects.get(projekt.id);
  if (other === undefined) return find;
  return { ...find, elements: { ...find.elements, projekt: { id: other, text: other } } };
}
