import { type Message, msg } from '../base/message.ts';
import { isElementName } from '../finds/fields.ts';
import type { Find } from '../finds/find.ts';
import { type ValidationContext, validateFind } from '../finds/rules.ts';
import { chooseFreeLocalId } from '../outbox/cache.ts';
import { makeNumberLookup } from '../outbox/changes/enqueue-change.ts';
import { type EnqueueReport, enqueueFinds } from '../outbox/changes/enqueue-finds.ts';
import type { PhotographKeeping } from '../outbox/changes/kept-photographs.ts';
import { listAskedRowsExcept, type MergeSide, type RowPlan } from '../outbox/changes/merge-row.ts';
import { findSubject } from '../outbox/changes/resolve-finds.ts';
import type { Entry, RowAnswer } from '../outbox/entry.ts';
import { findImportOfFind, listEntriesWithQuestion } from '../outbox/entry-queries.ts';
import { type AskedRow, parseStoredMessage } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findByLocalId, findByUuid, type StoredFind } from '../outbox/stored-finds.ts';
import { updateFindWish } from '../outbox/wishes.ts';

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

/** A find with its import; a question about it is in either. */
type FindWithImport = { readonly stored: StoredFind; readonly entry: Entry };

/**
 * Returns the finds whose import has a question for a person, in the order of the queue: held ones,
 * and sent ones from which a row differs. Questions about numbers and photographs are left out.
 */
export function listAskedFinds(outbox: Outbox): FindWithImport[] {
  return listEntriesWithQuestion(outbox).flatMap((entry) => {
    const stored = findByUuid(outbox, entry.subject);
    return stored === undefined || entry.kind !== 'import' ? [] : [{ stored, entry }];
  });
}

/**
 * Returns the find of a name with its import, with or without a question; undefined for a record
 * without a find here, and for a find without an import.
 * @param name local id, or identifier of the service
 * @throws UsageError where the name is neither, or ambiguous
 */
export function findFindWithImport(outbox: Outbox, name: string): FindWithImport | undefined {
  const subject = findSubject(outbox, name);
  const stored = findByUuid(outbox, subject);
  const entry = findImportOfFind(outbox, subject);
  return stored === undefined || entry === undefined ? undefined : { stored, entry };
}

/** Returns the question about a row, which was stored as a message, in the current language. */
export function getRowQuestion({ question }: AskedRow): Message {
  return parseStoredMessage(question);
}

/**
 * Imports the row that a question was about, as the answer says: with `new` as a find of its own,
 * after which the question is removed from the find here; otherwise into that find, of whose
 * values those of the table or those here win. A failure before the removal leaves the question.
 * @param stored find that is asked about
 * @returns the report of the import; its issues say why a find is only a draft
 * @throws UsageError where a photograph changed while it was read; FileError where one cannot be
 * read; DatabaseError where the disk fails
 */
export async function answerRow(
  stored: StoredFind,
  asked: AskedRow,
  answer: RowAnswer,
  { ruleContext, ...context }: AnswerContext,
): Promise<EnqueueReport> {
  const { outbox } = context;
  const findContext = { ...ruleContext, lookupNumber: makeNumberLookup(outbox) };
  const find = makeFindOfRow(asked);
  const plan = makePlan(outbox, stored, asked, answer);
  const side: MergeSide | undefined = answer === 'table' || answer === 'mine' ? answer : undefined;
  const table = { path: asked.path ?? undefined, planRow: () => plan };
  const report = await enqueueFinds([find], {
    ...context,
    dryRun: false,
    validate: (each) => validateFind(each, findContext),
    side,
    table,
  });
  const now = findByLocalId(outbox, stored.localId);
  if (plan.kind === 'new' && now !== undefined)
    updateFindWish(outbox, now, {
      asked: listAskedRowsExcept(now, ({ key }) => key === asked.key),
    });
  return report;
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
      localId: chooseFreeLocalId(outbox, asked.localId, null),
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
