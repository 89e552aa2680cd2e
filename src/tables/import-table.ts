import { extname, resolve } from 'node:path';
import { addToGroup, groupBy, once } from '../base/collections.ts';
import { assertMayWrite, writeOutputFile } from '../base/disk/output-file.ts';
import { UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { isElementName, replaceNumber } from '../finds/fields.ts';
import type { Find } from '../finds/find.ts';
import { FINDER_MATCHED } from '../finds/resolve-references.ts';
import { type ValidationContext, validateFind } from '../finds/rules.ts';
import { NOT_HARVESTED } from '../finds/value-rules.ts';
import { chooseFreeLocalId } from '../outbox/cache.ts';
import { makeNumberLookup } from '../outbox/changes/enqueue-change.ts';
import {
  type EnqueuedFind,
  type EnqueueOptions,
  type EnqueueReport,
  enqueueFinds,
} from '../outbox/changes/enqueue-finds.ts';
import type { PhotographKeeping } from '../outbox/changes/kept-photographs.ts';
import {
  isAskedAbout,
  listAskedRowsExcept,
  type MergeSide,
  type RowPlan,
} from '../outbox/changes/merge-row.ts';
import {
  type FindHere,
  getLocalIdOfPlan,
  isAskedAsAnother,
  type PlannedRows,
  planRows,
} from '../outbox/changes/plan-rows.ts';
import { findSubject, makeFindLookup, type NamedFind } from '../outbox/changes/resolve-finds.ts';
import type { Entry, RowAnswer } from '../outbox/entry.ts';
import {
  findImportOfFind,
  isDroppedFind,
  listEffectiveNumberEntries,
  listEntriesOfSubject,
  listEntriesWithQuestion,
} from '../outbox/entry-queries.ts';
import type { AskedRow } from '../outbox/facts.ts';
import { makeFindCandidate } from '../outbox/gate.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import {
  findByIdentCely,
  findByLocalId,
  findByUuid,
  findRowOfTable,
  iterateFinds,
  type StoredFind,
} from '../outbox/stored-finds.ts';
import { updateFindWish } from '../outbox/wishes.ts';
import { makePhotoResolver } from '../photos/photograph.ts';
import type { ColumnMap, Setting } from './columns/column-meaning.ts';
import type { KnownFind, MappedRow } from './columns/map-row.ts';
import { type MappedTable, mapTableToFinds, omitRowsWithoutFinds } from './columns/map-table.ts';
import { parseFixedValues } from './columns/settings.ts';
import type { RowIssues } from './exports/write-rows.ts';
import type { Table } from './table.ts';

type ImportContext = Omit<EnqueueOptions, 'onIssue'> & {
  /** Receives all issues, those of the table first. */
  readonly onIssue: (issue: Issue) => void;
  /** The table comes from standard input, without a path. */
  readonly isPiped?: boolean;
  /** A person's prefix of the local ids of the table. */
  readonly idPrefix?: string;
  readonly ruleContext: ValidationContext;
  /** Base folder of photographs that did not come with the table. */
  readonly photoFolder: string;
  /** Meanings of the columns of a foreign table. */
  readonly map?: ColumnMap;
  /** `element=value`, for finds whose own cell is empty. */
  readonly set?: readonly string[];
  /** Import also rows that look like no finds, such as totals. */
  readonly keepRows?: boolean;
  /** New file for a copy of the table with the issues of each row, to be corrected. */
  readonly copy?: string;
};

/** Counts of an import; in a dry run, those that it would have. */
export type ImportReport = Pick<EnqueueReport, 'finds'> & {
  /** Rows of finds, also those with errors, without those that look like no finds. */
  readonly rows: number;
  /**
   * Local ids of finds from an earlier import or edition of this table that it no longer has; empty
   * for standard input, and where an error of the header, a key or an unreadable row hides some.
   */
  readonly missing: readonly string[];
  /** Undefined where no copy was requested. */
  readonly copied: CopiedTable | undefined;
};

/** The copy of a table with its issues; `left`: numbers of the rows that it lacks. */
export type CopiedTable = {
  readonly file: string;
  readonly rows: number;
  readonly left: readonly number[];
};

/**
 * Imports a table into the outbox, in a transaction per batch of finds: complete finds are queued,
 * others are drafts. Rows that cannot be read are left out with errors, and rows that look like no
 * finds with warnings. Earlier questions about rows that are read, or that the table no longer has,
 * are removed first, and asked again where they still stand. With `dryRun` nothing is stored; a requested copy is written last in any case.
 * After an error the finds of earlier batches stay.
 * @param read table as its file was read
 * @throws UsageError where a photograph changed while it was read, and, before anything is stored,
 * for an invalid setting or a copy that may not be written; FileError where the folder of
 * photographs or one of them cannot be read, or, when all is stored, the copy is not writable;
 * DatabaseError where the disk fails
 */
export async function importTable(read: Table, context: ImportContext): Promise<ImportReport> {
  const { outbox, copy } = context;
  const fixed = parseFixedValues(context.set ?? []);
  if (copy !== undefined) assertMayCopy(read, copy);
  const advice = msg`To import it as a find: --keep-rows.`;
  const table = context.keepRows === true ? read : omitRowsWithoutFinds(read, context.map, advice);
  const mapped = mapImportedTable(table, fixed, context);
  const rowIssues: RowIssues = new Map();
  const onIssue = (issue: Issue): void => {
    context.onIssue(issue);
    if (copy !== undefined) addIssueToCopy(rowIssues, issue, table.file);
  };
  for (const issue of mapped.issues) onIssue(issue);
  const path = context.isPiped === true ? undefined : makeTablePath(table);
  const hasKey = (key: string): boolean => mapped.keys.has(key);
  const known = listKnownFinds(outbox, path ?? null);
  const planned = planRows(readFinds(mapped.rows, onIssue), known, {
    path,
    prefix: context.idPrefix,
    hasKey,
  });
  const missing: string[] = [];
  // Only then are there questions and finds of earlier imports.
  if (path !== undefined && known.length > 0) {
    const isUnread = makeUnreadTest(planned, mapped);
    if (!hasErrors(mapped.issues))
      missing.push(...listMissingFinds(known, path, planned, isUnread));
    if (!context.dryRun) forgetAskedRows(outbox, known, path, planned, isUnread);
  }
  const { finds } = await enqueuePlannedFinds(planned, path, context, onIssue);
  const copied = copy === undefined ? undefined : await writeCopy(read, copy, rowIssues);
  return { finds, rows: table.rowCount + countUnreadRows(table), missing, copied };
}

/** Reads the rows as finds, with what is known of the finds that they name. */
function mapImportedTable(
  table: Table,
  fixed: readonly Setting[],
  { outbox, ruleContext, photoFolder, map, idPrefix = '' }: ImportContext,
): MappedTable {
  const lookUp = makeFindLookup(outbox);
  return mapTableToFinds(table, {
    map,
    fixed,
    lookupTerm: ruleContext.lookupTerm,
    resolvePhoto: makePhotoResolver(table.photoFolder ?? photoFolder),
    findKnown: (number, identCely) => findKnownFind(outbox, lookUp(idPrefix + number), identCely),
    today: ruleContext.today,
  });
}

/**
 * Stores the finds of the rows as planned; their numbers are checked against each other as well.
 */
function enqueuePlannedFinds(
  planned: PlannedRows,
  path: string | undefined,
  context: ImportContext,
  onIssue: (issue: Issue) => void,
): Promise<EnqueueReport> {
  const lookupNumber = makeNumberLookup(context.outbox, {
    listComing: () => listComingNumbers(planned),
  });
  const findContext = { ...context.ruleContext, lookupNumber };
  return enqueueFinds(planned.finds, {
    ...context,
    table: { path, planRow: planned.planRow },
    validate: (find) => validateFind(find, findContext),
    onIssue,
  });
}

/** A matched finder, or an identifier that only lacks its vocabulary, needs no correction. */
const NOT_COPIED: readonly string[] = [FINDER_MATCHED, NOT_HARVESTED];

/**
 * Returns the numbers of a table's finds by local id, '' for an empty cell. Finds of a table
 * without the column are left out, since they keep theirs.
 */
function listComingNumbers({ finds, planRow }: PlannedRows): Map<string, string> {
  const numbers = new Map<string, string>();
  for (const find of finds)
    if (find.covered === undefined || find.covered.has('evidencni_cislo'))
      numbers.set(getLocalIdOfPlan(planRow(find)), find.elements.evidencni_cislo ?? '');
  return numbers;
}

/**
 * Returns what an exported table repeats of a stored find; undefined for none, and for several none
 * of which has this record.
 */
function findKnownFind(outbox: Outbox, named: NamedFind, record: string): KnownFind | undefined {
  if (named !== undefined && 'alike' in named) {
    const sent = findByIdentCely(outbox, record);
    return sent !== undefined && named.alike.includes(sent.localId)
      ? findKnownFind(outbox, sent, record)
      : undefined;
  }
  if (named === undefined) return undefined;
  const entries = listEntriesOfSubject(outbox, named.uuid).filter(
    ({ state }) => state !== 'dropped',
  );
  const identCely = entries.find(({ kind }) => kind === 'import')?.identCely ?? undefined;
  return {
    identCely,
    day: named.elements.datum_nalezu,
    photos: entries.flatMap((entry) => (entry.kind === 'photo' ? [entry.photograph.name] : [])),
  };
}

function listKnownFinds(outbox: Outbox, path: string | null): FindHere[] {
  const numbers = new Map(
    listEffectiveNumberEntries(outbox).map(({ subject, value }) => [subject, value]),
  );
  return [...iterateFinds(outbox, true)].map((stored) => {
    const { uuid, localId, isHidden } = stored;
    const { rows } = stored.wish;
    const own = findRowOfTable(stored, path);
    const last = own ?? rows[0];
    return {
      uuid,
      localId,
      keys: own === undefined ? rows.map(({ key }) => key) : [own.key],
      paths: rows.flatMap((row) => row.path ?? []),
      // An exported table has the number that was set since.
      elements: replaceNumber(stored.elements, numbers.get(uuid)),
      base: last && (last.elements ?? stored.elements),
      isGone: once(() => isHidden || isDroppedFind(outbox, uuid)),
    };
  });
}

/** Makes the test for numbers of rows that the table has, or may have, but that are not read. */
function makeUnreadTest({ finds }: PlannedRows, { keys, issues }: MappedTable) {
  const read = new Set(Array.from(finds, ({ localId }) => localId));
  const areKnown = !hasErrors(issues);
  return (key: string): boolean => !read.has(key) && (keys.has(key) || !areKnown);
}

/**
 * Removes the questions about rows of this table that are read, which the import asks anew, or that
 * it no longer has. They stay where the file is another table by now: no row may be one of its
 * earlier finds, or one about which it asked, or has the number and the content of such a row.
 */
function forgetAskedRows(
  outbox: Outbox,
  known: readonly FindHere[],
  path: string,
  { finds, planRow }: PlannedRows,
  isUnread: (key: string) => boolean,
): void {
  const asking = listFindsWithQuestion(outbox).filter(({ stored }) =>
    stored.wish.asked?.some((row) => row.path === path),
  );
  if (asking.length === 0) return;
  const asked = asking
    .flatMap(({ stored }) => stored.wish.asked ?? [])
    .filter((row) => row.path === path);
  const ofTable = [
    ...known.filter(({ paths }) => paths.includes(path)),
    ...asking.map(({ stored }) => stored),
  ];
  const names = new Set(ofTable.map(({ localId }) => localId));
  const isEarlierRow = (find: Find): boolean => {
    const plan = planRow(find);
    return (
      (!isAskedAsAnother(plan) && names.has(getLocalIdOfPlan(plan))) ||
      asked.some((row) => isAskedAbout(row, find, null))
    );
  };
  if (![...finds].some(isEarlierRow)) return;
  for (const { stored } of asking)
    updateFindWish(outbox, stored, {
      asked: listAskedRowsExcept(stored, (row) => row.path === path && !isUnread(row.key)),
    });
}

/** Returns the path of a table; each sheet of a workbook is a table of its own. */
function makeTablePath({ file, sheet }: Table): string {
  return sheet === undefined ? resolve(file) : `${resolve(file)}#${sheet}`;
}

/**
 * Returns the local ids of finds of which this table has no row, though they came from it, or from
 * one that it is an edition of and of whose finds it has at least half; removed ones are left out.
 */
function listMissingFinds(
  known: readonly FindHere[],
  path: string,
  { names, isEdition }: PlannedRows,
  isUnread: (key: string) => boolean,
): string[] {
  const ofTables = known.flatMap((find) => find.paths.map((from) => ({ from, find })));
  const missing = [...groupBy(ofTables, ({ from }) => from)].flatMap(([from, rows]) => {
    const finds = rows.map(({ find }) => find);
    const gone = finds.filter(({ localId, keys }) => !names.has(localId) && !keys.some(isUnread));
    const isEarlier = isEdition({ paths: [from] }) && gone.length * 2 <= finds.length;
    return from === path || isEarlier ? gone.filter((find) => !find.isGone()) : [];
  });
  return [...new Set(missing.map(({ localId }) => localId))];
}

/**
 * Reads the finds of the rows anew at each iteration; rows without a find are left out. Only the
 * first iteration reports the issues, so it must not end early.
 */
function readFinds(rows: Iterable<MappedRow>, onIssue: (issue: Issue) => void): Iterable<Find> {
  let isRead = false;
  const read = function* (): Generator<Find> {
    const isFirst = !isRead;
    isRead = true;
    for (const { find, issues } of rows) {
      if (isFirst) for (const issue of issues) onIssue(issue);
      if (find !== undefined) yield find;
    }
  };
  return { [Symbol.iterator]: read };
}

function countUnreadRows({ issues }: Table): number {
  const errors = issues.filter(({ row, severity }) => row !== undefined && severity === 'error');
  return new Set(errors.map(({ row }) => row)).size;
}

/** Hint of a command that replaces no files. */
const WITHOUT_FORCE = msg`Choose another name, or delete that file first.`;

/** @throws UsageError where the table is no CSV or XLSX, or the copy may not be written */
function assertMayCopy({ unit, file }: Table, copy: string): void {
  if (unit !== undefined) {
    throw new UsageError(msg`--issues-to copies tables of CSV and XLSX; ${file} is neither.`, {
      hint: msg`Leave it out: the errors are printed as well.`,
    });
  }
  assertMayWrite(copy, false, WITHOUT_FORCE);
}

/** Adds an issue to those of its row, except one without a row, of another file, or of no fault. */
function addIssueToCopy(issues: RowIssues, issue: Issue, file: string): void {
  if (issue.row === undefined || issue.file !== file || NOT_COPIED.includes(issue.rule)) return;
  addToGroup(issues, issue.row, issue);
}

/** Writes the copy of a table with its issues, in the format of the name of `file`. */
async function writeCopy(read: Table, file: string, issues: RowIssues): Promise<CopiedTable> {
  const { makeIssuesTable, renderTable } = await import('./exports/write-rows.ts');
  const { rows, count, left } = makeIssuesTable(read, issues);
  const extension = extname(file).slice(1).toLowerCase();
  const pieces = await renderTable(rows, extension, read.sheet ?? 'issues');
  await writeOutputFile(file, pieces, { overwrite: false });
  return { file, rows: count, left };
}

/**
 * Makes the writer of the curator's list of what differs between a table and finds that were sent.
 * `write` writes the CSV file, with a line for each element that differs, and returns their
 * `count`; without any, the file has only its headings. An existing file is never replaced.
 * @throws UsageError, also from `write`, where the file exists; FileError, from `write`, where it
 * is not writable; DatabaseError, from `write`, where the disk is full
 */
export function makeCorrectionsWriter(file: string) {
  assertMayWrite(file, false, WITHOUT_FORCE);
  return {
    async write(finds: readonly EnqueuedFind[]) {
      const { formatCsvLines } = await import('./exports/write-rows.ts');
      const rows = finds.flatMap(listCorrections);
      const lines = formatCsvLines([['find', 'record', 'element', 'sent', 'table'], ...rows]);
      await writeOutputFile(file, lines, { overwrite: false });
      return { file, count: rows.length };
    },
  };
}

/** Returns a row for each element of a sent find that the table has otherwise. */
function listCorrections({ find, correction }: EnqueuedFind): string[][] {
  const { record = '', differences = [] } = correction ?? {};
  return differences.map(({ element, ours = '', theirs = '' }) => [
    find,
    record,
    element,
    ours,
    theirs,
  ]);
}

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
 * held, and those, also sent ones, about which a row that an import left out asks. Questions about
 * numbers and photographs are left out.
 */
export function listFindsWithQuestion(outbox: Outbox): FindWithImport[] {
  return listEntriesWithQuestion(outbox).flatMap((entry) => {
    const stored = findByUuid(outbox, entry.subject);
    return stored === undefined || entry.kind !== 'import' ? [] : [{ stored, entry }];
  });
}

/**
 * Finds the find of a name, and its import; undefined for the name of a record without a find here,
 * and for a find without an import.
 * @param name local id, or identifier of the service
 * @throws UsageError where the name is neither, or may mean several finds
 */
export function findNamedFindWithImport(outbox: Outbox, name: string): FindWithImport | undefined {
  const subject = findSubject(outbox, name);
  const stored = findByUuid(outbox, subject);
  const entry = findImportOfFind(outbox, subject);
  return stored === undefined || entry === undefined ? undefined : { stored, entry };
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
      asked: listAskedRowsExcept(now, (each) => isAskedAbout(each, find, asked.path)),
    });
  return report;
}

function makePlan(outbox: Outbox, stored: StoredFind, asked: AskedRow, answer: RowAnswer): RowPlan {
  if (answer === 'new')
    return {
      kind: 'new',
      localId: chooseFreeLocalId(outbox, asked.localId, null),
      others: [makeFindCandidate(stored, asked.matched)],
    };
  return { kind: 'same', find: stored.localId, answered: asked };
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
