import { extname, resolve } from 'node:path';
import { addToGroup } from '../base/collections.ts';
import { assertMayWrite, writeOutputFile } from '../base/disk/output-file.ts';
import { UsageError } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msg } from '../base/message.ts';
import { replaceNumber } from '../finds/fields.ts';
import type { Find } from '../finds/find.ts';
import { FINDER_MATCHED } from '../finds/resolve-references.ts';
import { type ValidationContext, validateFind } from '../finds/rules.ts';
import { NOT_HARVESTED } from '../finds/value-rules.ts';
import { makeNumberLookup } from '../outbox/changes/enqueue-change.ts';
import {
  type EnqueuedFind,
  type EnqueueOptions,
  type EnqueueReport,
  enqueueFinds,
} from '../outbox/changes/enqueue-finds.ts';
import { listAskedRowsExcept } from '../outbox/changes/merge-row.ts';
import {
  type FindHere,
  getLocalIdOfPlan,
  type PlannedRows,
  planRows,
} from '../outbox/changes/plan-rows.ts';
import { makeFindLookup, type NamedFind } from '../outbox/changes/resolve-finds.ts';
import {
  isDroppedFind,
  listEffectiveNumberEntries,
  listEntriesOfSubject,
} from '../outbox/entry-queries.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import {
  getImportedRow,
  getRowKey,
  iterateFinds,
  listFindsOfTable,
} from '../outbox/stored-finds.ts';
import { updateFindWish } from '../outbox/wishes.ts';
import { makePhotoResolver } from '../photos/photograph.ts';
import { listFindsWithQuestion } from './answer-rows.ts';
import type { ColumnMap, Setting } from './columns/column-rule.ts';
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
   * Local ids of finds from an earlier import of this table that it no longer has; empty for
   * standard input, and where an error of the header, a key or an unreadable row hides some.
   */
  readonly missing: readonly string[];
  /** Undefined where no copy was requested. */
  readonly copied: CopiedTable | undefined;
};

/** The copy of a table with its issues; `left`: rows that could not be read, so it lacks them. */
export type CopiedTable = {
  readonly file: string;
  readonly rows: number;
  readonly left: readonly number[];
};

/**
 * Imports a table into the outbox, in a transaction per batch of finds: complete finds are queued,
 * others are drafts. Rows that cannot be read are left out with errors, and rows that look like no
 * finds with warnings. Earlier questions about its rows are removed first, and asked again where
 * they still stand. With `dryRun` nothing is stored; a requested copy is written last in any case.
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
  const planned = planRows(readFinds(mapped.rows, onIssue), listKnownFinds(outbox), {
    path,
    prefix: context.idPrefix,
    hasKey,
  });
  const missing =
    path === undefined || hasErrors(mapped.issues)
      ? []
      : listMissingFinds(outbox, path, planned.names, hasKey);
  if (!context.dryRun && path !== undefined) forgetAskedRows(outbox, path);
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
    findKnown: (number) => findKnownFind(lookUp(idPrefix + number), outbox),
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

/** Returns what an exported table repeats of a stored find; undefined for none, or several. */
function findKnownFind(named: NamedFind, outbox: Outbox): KnownFind | undefined {
  if (named === undefined || 'alike' in named) return undefined;
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

function listKnownFinds(outbox: Outbox): FindHere[] {
  const numbers = new Map(
    listEffectiveNumberEntries(outbox).map(({ subject, value }) => [subject, value]),
  );
  return [...iterateFinds(outbox, true)].map((stored) => {
    const { uuid, localId, wish, isHidden } = stored;
    return {
      uuid,
      localId,
      key: getRowKey(stored),
      path: wish.path,
      // An exported table has the number that was set since.
      elements: replaceNumber(stored.elements, numbers.get(uuid)),
      base: getImportedRow(stored)?.elements,
      isGone: () => isHidden || isDroppedFind(outbox, uuid),
    };
  });
}

/** Removes the questions about rows of a table that is imported again; the import asks anew. */
function forgetAskedRows(outbox: Outbox, path: string): void {
  for (const { stored } of listFindsWithQuestion(outbox)) {
    const asked = listAskedRowsExcept(stored, (row) => row.path === path);
    if (asked?.length !== stored.wish.asked?.length) updateFindWish(outbox, stored, { asked });
  }
}

/** Returns the path of a table; each sheet of a workbook is a table of its own. */
function makeTablePath({ file, sheet }: Table): string {
  return sheet === undefined ? resolve(file) : `${resolve(file)}#${sheet}`;
}

/**
 * Returns the local ids of finds that came from this table and of which no row is left; hidden ones
 * are left out.
 */
function listMissingFinds(
  outbox: Outbox,
  path: string,
  names: ReadonlySet<string>,
  hasKey: (key: string) => boolean,
): string[] {
  return listFindsOfTable(outbox, path).flatMap((find) =>
    names.has(find.localId) || hasKey(getRowKey(find)) ? [] : find.localId,
  );
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
