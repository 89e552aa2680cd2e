import { isDeepStrictEqual } from 'node:util';
import { memoize } from '../../base/collections.ts';
import { hasErrors, Issue } from '../../base/issue.ts';
import { msg } from '../../base/message.ts';
import { replaceNumber } from '../../finds/fields.ts';
import type { Find } from '../../finds/find.ts';
import type { ValidatedFind } from '../../finds/rules.ts';
import { storeQuestionsAboutNamedFinds } from '../alike-finds.ts';
import { recordDecision } from '../attempts.ts';
import { findImportOfFind } from '../entry-queries.ts';
import type { TableRow } from '../facts.ts';
import type { PreparedDocument } from '../intents.ts';
import { getOrMakeCommandId, type Outbox, runAsCommand, splitIntoBatches } from '../open-outbox.ts';
import { findByLocalId, type StoredFind } from '../stored-finds.ts';
import { packRow, recordFindWish, recordNewFind, updateFindWish } from '../wishes.ts';
import {
  applyRowPhotographs,
  enqueueNumber,
  getRowDigests,
  maySetNumbers,
  type PhotographChanges,
  planNumberChange,
  type RowPhotographs,
  withdrawQueuedNumber,
} from './enqueue-change.ts';
import type { PhotographKeeping, Sendable } from './kept-photographs.ts';
import {
  type FindMerge,
  getFileAndRow,
  hasSameElements,
  isAskedAbout,
  listAskedRowsExcept,
  type MergeSide,
  makeAskedRow,
  makeDroppedFindWarning,
  makeQuestionIssues,
  makeSentIssue,
  mergeRowIntoFind,
  mustStayUnchanged,
  type RowDifference,
  type RowPlan,
  selectCorrectableIssues,
} from './merge-row.ts';
import { getLocalIdOfPlan, type PlannedRows } from './plan-rows.ts';

/** How finds are stored, whatever they come from. */
export type EnqueueOptions = PhotographKeeping & {
  readonly outbox: Outbox;
  /** Reports the effect, and changes nothing. */
  readonly dryRun: boolean;
  /** Wins where a find and its row were both changed; undefined leaves a question. */
  readonly side?: MergeSide | undefined;
  /** Queues numbers that a table changes in sent finds. */
  readonly queueNumbers?: boolean;
  /** Called after each transaction. */
  readonly onProgress?: (doneCount: number) => void;
  /** Receives issues in place of the report. */
  readonly onIssue?: (issue: Issue) => void;
};

/** With the rules and the table of the finds. */
export type EnqueueContext = EnqueueOptions & {
  /** Returns the document of a find, and what is wrong with it. */
  readonly validate: (find: Find) => ValidatedFind;
  /** Absent for finds that are entered one by one and replace those of their local ids. */
  readonly table?: Pick<PlannedRows, 'planRow'> & {
    /** Full path of the table, with the sheet; undefined for standard input. */
    readonly path: string | undefined;
  };
};

/** Effect of the import on a find; in a dry run, the one that it would have. */
export type EnqueuedFind = {
  readonly find: string;
  /**
   * `kept`: no change. The last two leave the find unchanged: `sent`: the table differs from what
   * was sent; `question`: a person must say what the row is, or which values are right.
   */
  readonly change: 'added' | 'updated' | 'kept' | 'sent' | 'question';
  /** The find and the row changed an element to different values. */
  readonly isConflict?: boolean;
  /** Complete for its target state: what is added or updated is queued then, else a draft. */
  readonly ready: boolean;
  readonly photosAdded: number;
  readonly photosRemoved: number;
  /** Differences of the table from a find that the service has as this record. */
  readonly correction?: { readonly record: string; readonly differences: readonly RowDifference[] };
  readonly numberQueued?: boolean;
};

/** Effects on all finds, in their order. */
export type EnqueueReport = {
  readonly finds: readonly EnqueuedFind[];
  readonly issues: readonly Issue[];
};

/**
 * Stores finds in the outbox with their documents: queued, or with errors as drafts. Into a find
 * that is here its row is merged, as {@link mergeRowIntoFind} does; a sent one is never changed. Of
 * each batch of 100, photographs are copied and new rows validated first, which takes time; then
 * the batch is stored in one transaction. After an error the earlier batches stay. A dry run stores
 * nothing.
 * @throws UsageError where a photograph changed while it was read; FileError where one cannot be
 * read; DatabaseError where the disk fails
 */
export async function enqueueFinds(
  finds: Iterable<Find>,
  context: EnqueueContext,
): Promise<EnqueueReport> {
  const report: { finds: EnqueuedFind[]; issues: Issue[] } = { finds: [], issues: [] };
  const { onIssue = (issue) => report.issues.push(issue) } = context;
  for (const batch of splitIntoBatches(finds)) {
    const photographs = new Map<Find, KeptPhotographs>();
    for (const find of batch)
      if (find.photos.length > 0 && context.table?.planRow(find).kind !== 'question')
        photographs.set(find, await keepPhotographs(find, context));
    const prepare = memoize((find: Find) => makePreparedDocument(context.validate(find)));
    for (const find of batch) if (context.table?.planRow(find).kind === 'new') prepare(find);
    context.outbox.change(() => {
      for (const find of batch) {
        const kept = photographs.get(find) ?? NO_PHOTOGRAPHS;
        const planned = planFind(find, context, prepare);
        const { enqueued, issues } = store({ ...planned, ...kept }, context);
        report.finds.push(enqueued);
        for (const issue of issues) onIssue(issue);
      }
    });
    context.onProgress?.(report.finds.length);
  }
  if (!context.dryRun) askAboutUncomparedFinds(report.finds, context);
  return report;
}

/** Asks about finds that became like others; new rows of a table were compared by their plan. */
function askAboutUncomparedFinds(
  finds: readonly EnqueuedFind[],
  { outbox, table }: EnqueueContext,
): void {
  const isUncompared = ({ change }: EnqueuedFind): boolean =>
    change === 'updated' || (change === 'added' && table === undefined);
  storeQuestionsAboutNamedFinds(
    outbox,
    new Set(finds.filter(isUncompared).map(({ find }) => find)),
  );
}

type PlannedFind = {
  readonly find: Find;
  readonly row: RowPlan;
  /** Undefined for a new find. */
  readonly merge: FindMerge | undefined;
  readonly content: PreparedDocument;
};

type KeptPhotographs = {
  readonly photographs: RowPhotographs;
  readonly issuesOfPhotos: readonly Issue[];
};

type PhotographedFind = PlannedFind & KeptPhotographs;

const NO_PHOTOGRAPHS: KeptPhotographs = { photographs: new Map(), issuesOfPhotos: [] };

async function keepPhotographs(find: Find, context: EnqueueContext): Promise<KeptPhotographs> {
  const photographs = new Map<string, Sendable | undefined>();
  const issuesOfPhotos: Issue[] = [];
  for (const path of find.photos) {
    const { photograph, issues } = await context.inspectPhotograph(path);
    issuesOfPhotos.push(
      ...issues.map((issue) => issue.with({ find: find.localId, ...find.source })),
    );
    const sendable = hasErrors(issues) ? undefined : photograph;
    if (sendable !== undefined && !context.dryRun) await context.storePhotograph(sendable);
    photographs.set(path, sendable);
  }
  return { photographs, issuesOfPhotos };
}

/** Plans a find or row by what is here now: an equal one before it may be stored already. */
function planFind(
  find: Find,
  { outbox, table, side }: EnqueueContext,
  prepare: (find: Find) => PreparedDocument,
): PlannedFind {
  const { localId } = find;
  const row = table?.planRow(find) ?? { kind: 'new', localId, others: [] };
  const stored = findByLocalId(outbox, getLocalIdOfPlan(row));
  const merge = stored && mergeRowIntoFind(outbox, stored, find, side, table ?? null);
  const { document, issues } = prepare(getMergedFind(find, row, merge));
  const content = { document, issues: selectCorrectableIssues(issues, merge?.entry) };
  return { find, row, merge, content };
}

/** Returns the find as it is to be stored, with the elements of the find here that it keeps. */
function getMergedFind(find: Find, row: RowPlan, merge: FindMerge | undefined): Find {
  const localId = merge?.stored.localId ?? getNameOfRow(row);
  const elements = merge?.merged.elements ?? find.elements;
  return localId === find.localId && merge === undefined ? find : { ...find, localId, elements };
}

/** Returns the local id that a row has or gets; of a question its own, not that of the find. */
function getNameOfRow(row: RowPlan): string {
  return row.kind === 'same' ? row.find : row.localId;
}

/**
 * Makes what is stored of a validation: all issues, and the document; null where one of them is an
 * error, so that the find is a draft.
 */
export function makePreparedDocument({ document, issues }: ValidatedFind): PreparedDocument {
  return { document: hasErrors(issues) ? null : document, issues };
}

type StoreResult = { readonly enqueued: EnqueuedFind; readonly issues: readonly Issue[] };

function store(prepared: PhotographedFind, context: EnqueueContext): StoreResult {
  const { find, merge, row } = prepared;
  if (merge === undefined) return storeNew(prepared, context);
  const { stored, entry } = merge;
  if (stored.isHidden || entry?.state === 'dropped')
    return makeResult(stored.localId, 'kept', prepared, [makeDroppedFindWarning(stored, find)]);
  if (row.kind === 'question' || merge.kind === 'conflict')
    return storeAskedRow(prepared, merge, context);
  return storeMerged(prepared, merge, context);
}

const NO_PHOTOGRAPH_CHANGES: PhotographChanges = { photosAdded: 0, photosRemoved: 0, issues: [] };

function makeResult(
  name: string,
  change: EnqueuedFind['change'],
  { content }: PlannedFind,
  issues: readonly Issue[],
  { photosAdded, photosRemoved }: PhotographChanges = NO_PHOTOGRAPH_CHANGES,
): StoreResult {
  const ready = !hasErrors(content.issues);
  return { enqueued: { find: name, change, ready, photosAdded, photosRemoved }, issues };
}

/** Leaves a row out, and stores it with the find that it may be. */
function storeAskedRow(
  planned: PlannedFind,
  merge: FindMerge,
  { outbox, table, dryRun }: EnqueueContext,
): StoreResult {
  const { find, row } = planned;
  const { stored } = merge;
  const asked = makeAskedRow(merge, find, row, table?.path);
  if (!dryRun)
    updateFindWish(outbox, stored, {
      asked: [
        ...(listAskedRowsExcept(stored, (each) => isAskedAbout(each, find, asked.path)) ?? []),
        asked,
      ],
    });
  const issues = makeQuestionIssues(asked, merge, find);
  const { enqueued } = makeResult(stored.localId, 'question', planned, issues);
  return { enqueued: { ...enqueued, isConflict: asked.basis === 'row-changed' }, issues };
}

function storeNew(prepared: PhotographedFind, context: EnqueueContext): StoreResult {
  const { find, row, photographs } = prepared;
  const { outbox, table, dryRun } = context;
  const localId = getNameOfRow(row);
  const others = row.kind === 'new' ? row.others : [];
  const uuid = dryRun ? undefined : insertNew(localId, prepared, outbox, table?.path);
  const entry =
    uuid === undefined || others.length === 0 ? undefined : findImportOfFind(outbox, uuid);
  if (entry !== undefined)
    recordDecision(
      outbox,
      entry,
      { kind: 'resend', rejects: others },
      msg`a person decided: another find`,
    );
  const followed = applyRowPhotographs(find, photographs, undefined, uuid ?? '', context);
  return makeStoredResult(prepared, localId, 'added', followed);
}

function insertNew(
  localId: string,
  { find, content, photographs }: PhotographedFind,
  outbox: Outbox,
  path: string | undefined,
): string {
  const { elements } = find;
  const row = {
    path: path ?? null,
    ...getFileAndRow(find),
    key: find.localId,
    photos: getRowDigests(find, photographs, undefined),
  };
  return recordNewFind(outbox, { localId, elements, rows: [row] }, content);
}

function makeStoredResult(
  prepared: PhotographedFind,
  localId: string,
  change: EnqueuedFind['change'],
  photos: PhotographChanges,
): StoreResult {
  const { find, content, issuesOfPhotos } = prepared;
  const named = [...content.issues, ...issuesOfPhotos].map((issue) =>
    issue.find === undefined ? new Issue({ find: localId, ...find.source, ...issue }) : issue,
  );
  return makeResult(localId, change, prepared, [...named, ...photos.issues], photos);
}

/** Effects of importing a row on its find; in a dry run, those that it would have. */
type RowEffects = {
  readonly change: 'updated' | 'kept';
  readonly followed: PhotographChanges;
  readonly numberQueued: boolean;
};

/** A sent find stays unchanged; photographs and a number of its row are writes of their own. */
function storeMerged(
  prepared: PhotographedFind,
  merge: FindMerge,
  context: EnqueueContext,
): StoreResult {
  const { find, photographs, content } = prepared;
  const { stored } = merge;
  const change = classifyChange(content, merge);
  const numberQueued =
    merge.kind === 'sent' && context.queueNumbers === true && queueNumber(prepared, merge, context);
  const earlier = findEarlierRow(prepared.row, merge);
  const followed = applyRowPhotographs(find, photographs, earlier, stored.uuid, context);
  const effects = { change, followed, numberQueued };
  if (!context.dryRun) writeMerged(prepared, merge, effects, context);
  return merge.kind === 'sent'
    ? listCorrections(prepared, merge, effects, context)
    : makeStoredResult(prepared, stored.localId, change, followed);
}

function writeMerged(
  { find, row, content, photographs }: PhotographedFind,
  merge: FindMerge,
  { change, followed, numberQueued }: RowEffects,
  { outbox, table }: EnqueueContext,
): void {
  const { kind, stored, entry, before, base, merged, replacesNumber } = merge;
  const isUpdated = change === 'updated';
  const isMoved = isUpdated || before === undefined;
  const path = table?.path ?? null;
  const ofTable = packRow(
    {
      ...(isMoved ? getFileAndRow(find) : before),
      path,
      key: find.localId,
      elements: merged.base,
      base: mustStayUnchanged(entry)
        ? replaceNumber(base, numberQueued ? find.elements.evidencni_cislo : undefined)
        : undefined,
      photos: getRowDigests(find, photographs, findEarlierRow(row, merge)),
    },
    stored.elements,
  );
  const localId = chooseLocalId(row, merge, outbox);
  const wish = {
    ...stored.wish,
    localId,
    rows: isMoved
      ? [ofTable, ...stored.wish.rows.filter((each) => each !== before)].slice(0, MAX_TABLES)
      : stored.wish.rows.map((each) => (each === before ? ofTable : each)),
    asked: listAskedRowsExcept(stored, (each) => isAskedAbout(each, find, path)),
  };
  if (isUpdated && replacesNumber) withdrawQueuedNumber(outbox, stored.uuid);
  if (isUpdated) recordFindWish(outbox, stored, { ...wish, elements: merged.elements }, content);
  else if (JSON.stringify(wish) !== JSON.stringify(stored.wish)) {
    const isSeen =
      numberQueued ||
      followed.photosAdded + followed.photosRemoved > 0 ||
      (kind === 'taken' && merged.conflicts.length > 0) ||
      localId !== stored.localId ||
      wish.asked?.length !== stored.wish.asked?.length;
    // A person who sees no change would not expect an undo to take this.
    const command = isSeen ? getOrMakeCommandId(outbox) : null;
    runAsCommand(outbox, command, () => updateFindWish(outbox, stored, wish));
  }
}

/** The latest tables of a find are enough, such as the daily copies of one. */
const MAX_TABLES = 5;

/**
 * Returns the row with whose photographs a row is compared: that of another table too, of which
 * this one is an edition, but not where a person has answered that both are one find.
 */
function findEarlierRow(row: RowPlan, { before, stored }: FindMerge): TableRow | undefined {
  const isAnswered = row.kind === 'same' && row.answered !== undefined;
  return before ?? (isAnswered ? undefined : stored.wish.rows[0]);
}

/** A find that was never attempted gets the new number of its row as its local id, if it is free. */
function chooseLocalId(row: RowPlan, { stored, entry, before }: FindMerge, outbox: Outbox): string {
  const { answered } = row.kind === 'same' ? row : {};
  const last = before ?? stored.wish.rows[0];
  const isRenumbered = answered?.basis === 'row-near' && last?.key !== answered.key;
  return isRenumbered &&
    entry?.attempts === 0 &&
    findByLocalId(outbox, answered.localId) === undefined
    ? answered.localId
    : stored.localId;
}

function classifyChange(
  content: PreparedDocument,
  { stored, entry, merged, replacesNumber }: FindMerge,
): RowEffects['change'] {
  if (mustStayUnchanged(entry)) return 'kept';
  if (replacesNumber || entry === undefined || !hasSameElements(stored.elements, merged.elements))
    return 'updated';
  const isSameDocument = isDeepStrictEqual(content.document, entry.document);
  return isSameDocument || entry.state === 'refused' ? 'kept' : 'updated';
}

/** Lists the differences of a row from its sent find, but for a number that is queued. */
function listCorrections(
  prepared: PhotographedFind,
  merge: FindMerge,
  { followed, numberQueued }: RowEffects,
  context: EnqueueContext,
): StoreResult {
  const { find, content, issuesOfPhotos } = prepared;
  const { stored, entry } = merge;
  const differences = merge.merged.differences.filter(
    ({ element }) => !(numberQueued && element === 'evidencni_cislo'),
  );
  const isCorrect = differences.length === 0;
  const record = entry?.identCely ?? undefined;
  const correction = isCorrect || record === undefined ? undefined : { record, differences };
  const issues = isCorrect
    ? []
    : [makeSentIssue(merge, differences, find, context.queueNumbers === true)];
  const result = makeResult(
    stored.localId,
    isCorrect ? 'kept' : 'sent',
    prepared,
    [...issues, ...content.issues, ...issuesOfPhotos, ...followed.issues],
    followed,
  );
  return { ...result, enqueued: { ...result.enqueued, correction, numberQueued } };
}

/**
 * @returns true if the row's number is queued, or would be. A number that the account may not set
 * is a correction, and so is one that would replace another number than the find has here, such as
 * one that a curator set.
 */
function queueNumber(
  { find, content }: PlannedFind,
  { stored, entry, elements, merged }: FindMerge,
  context: EnqueueContext,
): boolean {
  const { outbox, dryRun } = context;
  const number = find.elements.evidencni_cislo;
  const isChanged = merged.differences.some(({ element }) => element === 'evidencni_cislo');
  if (!isChanged || number === undefined || entry?.identCely == null || !maySetNumbers(outbox))
    return false;
  if (hasErrors(content.issues)) return false;
  const { change, replaces } = planNumberChange(outbox, stored.uuid, number);
  if (change === 'kept' || (replaces !== undefined && replaces !== elements.evidencni_cislo))
    return false;
  if (!dryRun) enqueueNumber(outbox, stored.uuid, number);
  return true;
}

/** Converts a stored find to one that can be validated; its photographs are left out. */
export function convertStoredFind({ localId, elements, wish }: StoredFind): Find {
  const { file = null, row = null } = wish.rows[0] ?? {};
  const source = file === null || row === null ? undefined : { file, row };
  return { localId, elements, photos: [], source };
}
