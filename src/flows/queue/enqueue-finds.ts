import { isDeepStrictEqual } from 'node:util';
import { hasErrors, Issue } from '../../base/issue.ts';
import type { FindElements } from '../../find/fields.ts';
import type { Find } from '../../find/find.ts';
import type { Difference } from '../../find/merge-row.ts';
import type { ValidatedFind } from '../../find/rules.ts';
import { NOT_HARVESTED } from '../../find/value-rules.ts';
import type { Prepared } from '../../outbox/intent-rows.ts';
import { getDataVersion, type Outbox } from '../../outbox/open-outbox.ts';
import {
  findByLocalId,
  type ImportedRow,
  type StoredFind,
  serializeBase,
} from '../../outbox/stored-finds.ts';
import { changeWish, wantFind, wantNewFind } from '../../outbox/wishes.ts';
import { checkEnteredFinds } from './check-entered.ts';
import {
  enqueueNumber,
  followPhotographs,
  mayNumber,
  planNumber,
  type RowPhotographs,
} from './enqueue-change.ts';
import {
  type EqualFinds,
  type Existing,
  isMerged,
  isSent,
  type Merge,
  type MergeAnswers,
  makeDroppedIssue,
  makeEqualIssue,
  makeExistingFind,
  mergeFind,
  mergeIssues,
  openEqualFinds,
} from './merge-find.ts';
import type { KeptPhotograph, PhotographKeeping } from './store-photographs.ts';

export type EnqueueOptions = PhotographKeeping & {
  readonly outbox: Outbox;
  /** Reports the effect, and changes nothing. */
  readonly dryRun: boolean;
  readonly answers?: MergeAnswers;
  /** Queues numbers that a table changes in sent finds. */
  readonly queueNumbers?: boolean;
  readonly onProgress?: (doneCount: number) => void;
  /** Receives issues in place of the report. */
  readonly onIssue?: (issue: Issue) => void;
};

export type EnqueueContext = EnqueueOptions & {
  readonly validate: (find: Find) => ValidatedFind;
  /** Table of the finds; absent for finds that are entered one by one. */
  readonly table?: FindTable;
};

type FindTable = {
  /** Its full path, with the sheet; undefined for standard input. */
  readonly path: string | undefined;
  collectKeys(): { has(localId: string): boolean };
};

export type EnqueuedFind = {
  readonly find: string;
  /**
   * `kept`: no change. The last five leave the find unchanged: `sent`: the table differs from what
   * was sent; `conflict`: the find and the row changed an element to different values; `another`:
   * the row seems to describe another find; `asked`: the row comes from another table and differs;
   * `equal`: the row is equal to a find of another local id.
   */
  readonly change:
    | 'added'
    | 'updated'
    | 'kept'
    | 'sent'
    | 'conflict'
    | 'another'
    | 'asked'
    | 'equal';
  /** Complete for its target state, and so queued for sending. */
  readonly ready: boolean;
  readonly photosAdded: number;
  readonly photosRemoved: number;
  /** Differences of the table from a find that the service has as this record. */
  readonly correction?: { readonly record: string; readonly differences: readonly Difference[] };
  readonly numberQueued?: boolean;
};

export type EnqueueReport = {
  readonly finds: readonly EnqueuedFind[];
  /** Without warnings about vocabularies that were not harvested, which outnumber the rows. */
  readonly issues: readonly Issue[];
  /** Number of identifiers that could not be checked for that reason. */
  readonly unchecked: number;
};

/**
 * Finds per transaction: enough for speed, and few enough that a parallel push waits only briefly.
 */
const BATCH = 100;

/**
 * Validates finds and stores them with their documents in the outbox. An existing find is merged
 * with its row as in {@link mergeFind}; a sent one is never changed. Finds are consumed one by one,
 * so that they need not all be in memory.
 */
export async function enqueueFinds(
  finds: Iterable<Find>,
  context: EnqueueContext,
): Promise<EnqueueReport> {
  const report: { finds: EnqueuedFind[]; issues: Issue[]; unchecked: number } = {
    finds: [],
    issues: [],
    unchecked: 0,
  };
  const { onIssue = (issue) => report.issues.push(issue) } = context;
  const equals = openEqualFinds(context.outbox);
  for (const batch of splitIntoBatches(finds)) {
    const { plans, version } = context.outbox.read(() => ({
      plans: batch.map((find) => ({ find, plan: planFind(find, context) })),
      version: getDataVersion(context.outbox),
    }));
    const prepared: PreparedFind[] = [];
    for (const { find, plan } of plans) prepared.push(await prepare(find, plan, context));
    context.outbox.change(() => {
      const isChanged = getDataVersion(context.outbox) !== version;
      const storedIds = new Set<string>();
      for (const each of prepared) {
        const { localId } = each.find;
        const plan = isChanged || storedIds.has(localId) ? planFind(each.find, context) : each.plan;
        storedIds.add(localId);
        const { enqueued, issues } = store({ ...each, plan }, context, equals);
        report.finds.push(enqueued);
        for (const issue of issues) {
          if (issue.rule === NOT_HARVESTED) report.unchecked += 1;
          else onIssue(issue);
        }
      }
    });
    context.onProgress?.(report.finds.length);
  }
  const { id } = context.outbox.command;
  if (!context.dryRun && id !== undefined) {
    const keys = context.table?.collectKeys();
    checkEnteredFinds(context.outbox, {
      command: id,
      hasRow: (localId) => keys?.has(localId) === true,
    });
  }
  return report;
}

function* splitIntoBatches(finds: Iterable<Find>): Generator<readonly Find[]> {
  let batch: Find[] = [];
  for (const find of finds) {
    batch.push(find);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** Planned change of a find, based on its state when it was read. */
type Plan = {
  readonly existing: Existing | undefined;
  readonly merge: Merge | undefined;
  readonly content: Prepared;
  readonly issues: readonly Issue[];
};

type PreparedFind = {
  readonly find: Find;
  readonly plan: Plan;
  readonly photographs: RowPhotographs;
  readonly issues: readonly Issue[];
};

async function prepare(find: Find, plan: Plan, context: EnqueueContext): Promise<PreparedFind> {
  if (find.photos.length === 0) return { find, plan, photographs: NO_PHOTOGRAPHS, issues: [] };
  const photographs = new Map<string, KeptPhotograph | undefined>();
  const issuesOfPhotos: Issue[] = [];
  for (const path of find.photos) {
    const { photograph, issues } = await context.inspectPhotograph(path);
    issuesOfPhotos.push(
      ...issues.map((issue) => issue.with({ find: find.localId, ...find.source })),
    );
    if (photograph === undefined || hasErrors(issues)) {
      photographs.set(path, undefined);
      continue;
    }
    const keptPhotograph = context.dryRun
      ? {
          ...photograph,
          name: path,
          mediaType: photograph.mimeType,
          sha512: Buffer.from(photograph.sha512Hex, 'hex'),
        }
      : await context.storePhotograph(photograph);
    photographs.set(path, keptPhotograph);
  }
  return { find, plan, photographs, issues: issuesOfPhotos };
}

const NO_PHOTOGRAPHS: RowPhotographs = new Map();

function planFind(find: Find, { outbox, table, answers = {}, validate }: EnqueueContext): Plan {
  const stored = findByLocalId(outbox, find.localId);
  const existing = stored === undefined ? undefined : makeExistingFind(outbox, stored);
  const merge =
    existing === undefined ? undefined : mergeFind(existing, find, table?.path, answers);
  const merged = merge === undefined ? find : { ...find, elements: merge.merged.elements };
  const validated = validate(merged);
  return {
    existing,
    merge,
    content: makePrepared(validated),
    issues: validated.issues,
  };
}

/** Returns what is sent of a find; one with errors has no document, so it is a draft. */
export function makePrepared({ document, issues }: ValidatedFind): Prepared {
  return { document: hasErrors(issues) ? null : document, issues };
}

type StoreResult = { readonly enqueued: EnqueuedFind; readonly issues: readonly Issue[] };

function store(prepared: PreparedFind, context: EnqueueContext, equals: EqualFinds): StoreResult {
  const { find, plan } = prepared;
  const { existing, merge } = plan;
  if (existing === undefined || merge === undefined)
    return storeNew(prepared, plan, context, equals);
  const { stored } = existing;
  if (stored.isHidden || existing.entry?.state === 'dropped')
    return storeUnchanged(find, plan, 'kept', [makeDroppedIssue(find)]);
  if (merge.kind === 'taken') return storeMerged(prepared, plan, existing, merge, context);
  const issues = mergeIssues(merge, find, existing);
  return merge.kind === 'sent'
    ? storeSent(prepared, plan, existing, merge, context)
    : storeUnchanged(find, plan, merge.kind, issues);
}

function storeUnchanged(
  { localId }: Find,
  { content }: Plan,
  change: EnqueuedFind['change'],
  issues: readonly Issue[],
): StoreResult {
  return {
    enqueued: {
      find: localId,
      change,
      ready: content.document !== null,
      photosAdded: 0,
      photosRemoved: 0,
    },
    issues,
  };
}

/**
 * Stores a row with a new local id; one that equals a find of another local id is left out unless
 * an answer decides.
 */
function storeNew(
  prepared: PreparedFind,
  plan: Plan,
  context: EnqueueContext,
  equals: EqualFinds,
): StoreResult {
  const { find } = prepared;
  const { table, answers = {}, outbox, dryRun } = context;
  const equal =
    table === undefined || answers.asNew === true
      ? undefined
      : equals.take(find, (id) => table.collectKeys().has(id));
  if (equal !== undefined && (answers.rename !== true || equal.entry.attempts > 0)) {
    return storeUnchanged(find, plan, 'equal', [makeEqualIssue(find, equal)]);
  }
  if (equal !== undefined) {
    const existing = makeExistingFind(outbox, equal.stored);
    const merge = mergeFind(existing, find, table?.path, { ...answers, same: true });
    if (dryRun) return storeMerged(prepared, plan, existing, merge, context);
    changeWish(outbox, equal.stored, { localId: find.localId });
    const renamed = findByLocalId(outbox, find.localId) ?? equal.stored;
    return storeMerged(prepared, plan, { ...existing, stored: renamed }, merge, context, 'updated');
  }
  const findId = dryRun ? undefined : insertNew(find, plan.content, prepared.photographs, context);
  const followed = followPhotographs(find, prepared.photographs, undefined, findId, context);
  return toStoredIssues(prepared, plan, 'added', followed);
}

function insertNew(
  find: Find,
  content: Prepared,
  photographs: RowPhotographs,
  { outbox, table }: EnqueueContext,
): number {
  const base = { elements: find.elements, photos: digestPhotographs(find, photographs, undefined) };
  const { localId, elements } = find;
  return wantNewFind(
    outbox,
    {
      localId,
      elements,
      ...getPlaceOf(find),
      path: table?.path ?? null,
      base: serializeBase(base, elements),
    },
    content,
  );
}

/** Returns the photographs of the row with their digests, for the comparison at the next import. */
function digestPhotographs(
  find: Find,
  photographs: RowPhotographs,
  before: ImportedRow | undefined,
): ImportedRow['photos'] {
  if (find.coversPhotos === false) return before?.photos ?? {};
  const digestsBefore = before?.photos ?? {};
  const named = [...photographs].map(
    ([path, keptPhotograph]) =>
      [path, keptPhotograph?.sha512.toString('hex') ?? digestsBefore[path] ?? null] as const,
  );
  const missing = (find.missingPhotos ?? []).map(
    (name) => [name, digestsBefore[name] ?? null] as const,
  );
  return Object.fromEntries([...named, ...missing]);
}

function toStoredIssues(
  { find, issues }: PreparedFind,
  { content, issues: ofFind }: Plan,
  change: EnqueuedFind['change'],
  { photosAdded, photosRemoved, issues: ofPhotos }: ReturnType<typeof followPhotographs>,
): StoreResult {
  const named = [...ofFind, ...issues].map((issue) =>
    issue.find === undefined ? new Issue({ find: find.localId, ...find.source, ...issue }) : issue,
  );
  const enqueued = {
    find: find.localId,
    change,
    ready: content.document !== null,
    photosAdded,
    photosRemoved,
  };
  return { enqueued, issues: [...named, ...ofPhotos] };
}

/** @param forced change of a find that has changed already */
function storeMerged(
  prepared: PreparedFind,
  plan: Plan,
  existing: Existing,
  merge: Merge,
  context: EnqueueContext,
  forced?: EnqueuedFind['change'],
): StoreResult {
  const { find, photographs } = prepared;
  const { stored, entry } = existing;
  const change = forced ?? classifyChange(plan.content, existing, merge);
  const before = existing.row;
  if (!context.dryRun) {
    const base = {
      elements: isSent(entry) ? (before?.elements ?? {}) : merge.merged.base,
      photos: digestPhotographs(find, photographs, before),
    };
    writeMerged(
      find,
      plan.content,
      existing,
      change === 'updated' ? merge.merged.elements : undefined,
      base,
      context,
    );
  }
  return toStoredIssues(
    prepared,
    plan,
    change,
    followPhotographs(find, photographs, before, stored.id, context),
  );
}

/** @param elements undefined where they stay unchanged */
function writeMerged(
  find: Find,
  content: Prepared,
  { stored, row }: Existing,
  elements: FindElements | undefined,
  base: ImportedRow,
  { outbox, table, answers }: EnqueueContext,
): void {
  const isMoved = answers?.same === true && stored.sourcePath !== (table?.path ?? null);
  if (elements === undefined && !isMoved && isDeepStrictEqual(base, row)) return;
  const isNewPlace = elements !== undefined || isMoved;
  const place = isNewPlace ? { ...getPlaceOf(find), path: table?.path ?? null } : {};
  const kept = elements ?? (stored.elements as FindElements);
  const wish = { localId: find.localId, ...place, base: serializeBase(base, kept) };
  if (elements === undefined) changeWish(outbox, stored, wish);
  else wantFind(outbox, stored, { ...stored.wish, ...wish, elements }, content);
}

/** A waypoint or a feature is known by its name, not by its number. */
export function getPlaceOf({ source }: Find): { file: string | null; row: number | null } {
  const isRow = source !== undefined && source.unit === undefined;
  return { file: source?.file ?? null, row: isRow ? (source.row ?? null) : null };
}

function classifyChange(content: Prepared, existing: Existing, merge: Merge): 'updated' | 'kept' {
  const { entry } = existing;
  if (isSent(entry)) return 'kept';
  if (entry === undefined || !isMerged(existing, merge)) return 'updated';
  const isSameDocument =
    content.document === null
      ? entry.document === null
      : content.document.equals(entry.document ?? NO_DOCUMENT);
  return isSameDocument || entry.state === 'refused' ? 'kept' : 'updated';
}

const NO_DOCUMENT = Buffer.alloc(0);

/** Leaves a sent find unchanged, and queues its photographs and number as writes of their own. */
function storeSent(
  prepared: PreparedFind,
  plan: Plan,
  existing: Existing,
  merge: Merge,
  context: EnqueueContext,
): StoreResult {
  const { find, photographs } = prepared;
  const { stored, entry } = existing;
  const before = existing.row;
  if (!context.dryRun) {
    const base = {
      elements: before?.elements ?? {},
      photos: digestPhotographs(find, photographs, before),
    };
    if (before !== undefined) writeMerged(find, plan.content, existing, undefined, base, context);
  }
  const followed = followPhotographs(find, photographs, before, stored.id, context);
  const numberQueued = context.queueNumbers === true && queueNumber(find, existing, merge, context);
  const corrections = merge.merged.differences.filter(
    ({ element }) => !(numberQueued && element === 'evidencni_cislo'),
  );
  const remaining = { ...merge, merged: { ...merge.merged, differences: corrections } };
  const change = corrections.length === 0 ? 'kept' : 'sent';
  const issues =
    corrections.length === 0 ? [] : mergeIssues(remaining, find, existing, context.queueNumbers);
  const { enqueued } = toStoredIssues(prepared, plan, change, followed);
  const correction =
    entry?.identCely == null || corrections.length === 0
      ? undefined
      : { record: entry.identCely, differences: corrections };
  return {
    enqueued: { ...enqueued, correction, numberQueued },
    issues: [...issues, ...prepared.issues, ...followed.issues],
  };
}

/**
 * @returns true if the row's number is queued, or would be. A number that the account may not set
 * is a correction, and so is one that would replace another number than the find has here, such as
 * one that a curator set.
 */
function queueNumber(
  find: Find,
  { stored, entry, elements }: Existing,
  { merged }: Merge,
  context: EnqueueContext,
): boolean {
  const { outbox, dryRun } = context;
  const number = find.elements.evidencni_cislo;
  const isChanged = merged.differences.some(({ element }) => element === 'evidencni_cislo');
  if (!isChanged || number === undefined || entry?.identCely == null || !mayNumber(outbox))
    return false;
  const target = { findId: stored.id, identCely: entry.identCely };
  const { change, replaces } = planNumber(outbox, target, number);
  if (change === 'kept' || (replaces !== undefined && replaces !== elements.evidencni_cislo))
    return false;
  if (!dryRun) enqueueNumber(outbox, target, number);
  return true;
}

/**
 * Converts a stored find for the find layer, without its photographs, which are entries of their
 * own.
 */
export function asFind(stored: StoredFind): Find {
  const { localId, sourceFile: file, sourceRow: row } = stored;
  const source = file === null || row === null ? undefined : { file, row };
  return { localId, elements: stored.elements as FindElements, photos: [], source };
}
