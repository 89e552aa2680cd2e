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
import { makeFindCandidate } from '../outbox/gate.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { findByLocalId, findByUuid, getRowKey, type StoredFind } from '../outbox/stored-finds.ts';
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

/** A find and its import; a question is stored in the wish of the find, or in the entry. */
type FindWithImport = { readonly stored: StoredFind; readonly entry: Entry };

/**
 * Returns the finds with a question for a person, in the order of the queue: those whose import is
 * held, and those from which a row of a table differs. Questions about numbers and photographs are
 * left out.
 */
export function listFindsWithQuestion(outbox: Outbox): FindWithImport[] {
  return listEntriesWithQuestion(outbox).flatMap((entry) => {
    const stored = findByUuid(outbox, entry.subject);
    return stored === undefined || entry.kind !== 'import' ? [] : [{ stored, entry }];
  });
}

/**
 * Finds a find and its import by a name; undefined for the name of a record without a find here,
 * and for a find without an import.
 * @param name local id, or identifier of the service
 * @throws UsageError where the name is neither, or may mean several finds
 */
export function findByNameWithImport(outbox: Outbox, name: string): FindWithImport | undefined {
  const subject = findSubject(outbox, name);
  const stored = findByUuid(outbox, subject);
  const entry = findImportOfFind(outbox, subject);
  return stored === undefined || entry === undefined ? undefined : { stored, entry };
}

/** Returns the stored question about a row, as a message that is read in the current language. */
export function getRowQuestion({ question }: AskedRow): Message {
  return parseStoredMessage(question);
}

/**
 * Imports the row that a question is about, by a person's answer: `new` adds it as a find, and then
 * removes the question, in a transaction of its own; any other answer merges it into the find that
 * the question is about, if it was not sent. Where both changed a value, that of the row counts
 * with `table`, that of the find with `mine`, and with `same` a new question is stored.
 * @param stored find that the question is about
 * @param asked row with the question
 * @returns the report of the import; its issues say why a find is only a draft
 * @throws UsageError where a photograph changed while it was read; FileError where one cannot be
 * read; DatabaseError where the disk fails
 */
export async function importRowByAnswer(
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
  stored: StoredFind,
  { key, matched, ...asked }: AskedRow,
  answer: RowAnswer,
): RowPlan {
  if (answer === 'new')
    return {
      kind: 'new',
      localId: chooseFreeLocalId(outbox, asked.localId, null),
      others: [makeFindCandidate(stored, matched)],
    };
  const isRenamed = asked.basis === 'row-near' && asked.localId !== getRowKey(stored);
  return { kind: 'same', find: stored.localId, isRenamed };
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
