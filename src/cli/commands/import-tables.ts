import { basename, dirname, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { type ExitReason, FileError, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { cmd, msgid, ngettext, t } from '../../base/message.ts';
import { storeQuestionsAboutNamedFinds } from '../../outbox/alike-finds.ts';
import type { EnqueuedFind } from '../../outbox/changes/enqueue-finds.ts';
import { planRemovalOfSubject } from '../../outbox/changes/remove-finds.ts';
import { findByLocalId } from '../../outbox/stored-finds.ts';
import { IssueCollector } from '../../tables/collapse-issues.ts';
import {
  type CopiedTable,
  type ImportReport,
  importTable,
  listFindsWithQuestion,
  makeCorrectionsWriter,
} from '../../tables/import-table.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import {
  makePhotographKeepingOfProfile,
  openConversionContext,
  readColumnMap,
  readTableOrInput,
  type TableOptions,
} from '../context/find-input.ts';
import { askAboutRow, importAnsweredRow } from '../interview/ask-about-table.ts';
import { listNewPeopleOfProfile, printNewPeople, toNewPeopleJson } from '../new-people.ts';
import {
  formatFindCount,
  formatPhotographCount,
  joinShellWords,
  printNextStep,
} from '../result-texts.ts';
import { printIssues, toIssuesJson, withProgress } from '../terminal.ts';

/** Answers of `--on-conflict`: `ask` leaves the conflict open where no person can answer. */
export const ON_CONFLICT = ['ask', 'table', 'mine'] as const;
type OnConflict = (typeof ON_CONFLICT)[number];

/** Flags of `pas import`, as commander parses them. */
export type ImportOptions = GlobalOptions &
  TableOptions & {
    readonly dryRun?: boolean;
    readonly photos?: string;
    readonly set?: readonly string[];
    readonly map?: string;
    readonly wizard?: boolean;
    readonly issuesTo?: string;
    readonly keepRows?: boolean;
    readonly onConflict?: OnConflict;
    readonly idPrefix?: string;
    readonly corrections?: string;
  };

/** Errors of an import that are listed; others are only counted. */
const MAX_ERRORS = 10_000;

type Request = Awaited<ReturnType<typeof openRequest>>;

/**
 * Imports tables in turn, prints one report about all, and on a terminal asks a person the
 * questions about rows that are left. One of several tables that cannot be read gives a warning,
 * and the others are imported; lock files of office programs are passed over. After an error, the
 * finds stored before stay.
 * @param files names, or `-` for standard input
 * @returns `dataRefused` where a row has an error or differs from its sent find, or a table is not
 * read; the answers about rows do not count
 * @throws FileError where the only table cannot be read; UsageError for flags that do not fit, and
 * where the mapping has an error; ConfigError where the schema cannot be used; DatabaseError where
 * the outbox cannot
 */
export async function importTables(
  context: Context,
  files: readonly string[],
  options: ImportOptions,
): Promise<ExitReason> {
  const corrections =
    options.corrections === undefined ? undefined : makeCorrectionsWriter(options.corrections);
  const issues = new IssueCollector(MAX_ERRORS);
  const request = await openRequest(context, files, options, issues);
  const { reports, unread } = await importFiles(context, files, request, options);
  const imported = joinReports(reports, issues.listAll());
  const isAll = printIssues(context.terminal, imported.issues);
  if (!isAll && request.copy === undefined)
    context.terminal.note(t`--issues-to FILE writes every error next to its row.`);
  await printSummary(context, imported, request);
  if (corrections !== undefined) {
    const { file, count } = await corrections.write(imported.finds);
    context.terminal.note(t`${file} lists what to correct on the service's pages: ${count}.`);
  }
  await askAboutRows(context, request);
  return hasErrors(imported.issues) ||
    unread > 0 ||
    imported.finds.some((find) => find.change === 'sent')
    ? 'dataRefused'
    : 'done';
}

/** Imports files in turn; `unread` is the number of those that could not be read. */
async function importFiles(
  context: Context,
  files: readonly string[],
  request: Request,
  options: ImportOptions,
) {
  const { terminal } = context;
  const reports: ImportReport[] = [];
  let unread = 0;
  for (const file of files) {
    if (isLockFile(file)) {
      terminal.note(t`${file} is the lock file of an office program and was passed over.`);
      continue;
    }
    try {
      reports.push(await importFile(context, file, request, options));
    } catch (thrown) {
      if (!(thrown instanceof FileError) || files.length === 1) throw thrown;
      unread += 1;
      const { message, hint = '' } = thrown;
      terminal.warn(t`${message} ${hint} The other tables are imported.`);
    }
  }
  return { reports, unread };
}

/** Tells if a file is the lock of a table that is open in Excel or LibreOffice. */
function isLockFile(file: string): boolean {
  return /^(?:~\$|\.~lock\..*#$)/.test(basename(file));
}

/** Checks the flags, and opens what is needed for all tables. */
async function openRequest(
  context: Context,
  files: readonly string[],
  options: ImportOptions,
  issues: IssueCollector,
) {
  const copy = parseIssuesCopy(files, options);
  const ruleContext = await openConversionContext(context);
  const outbox = await context.openOutbox();
  outbox.command.words = 'import';
  const { idPrefix, set, keepRows, onConflict } = options;
  return {
    ...makePhotographKeepingOfProfile(context),
    outbox,
    onIssue: (issue: Issue) => issues.add(issue),
    side: onConflict === 'ask' ? undefined : onConflict,
    ruleContext,
    copy,
    idPrefix,
    set,
    keepRows,
    queueNumbers: options.corrections !== undefined,
    dryRun: options.dryRun === true,
    map:
      options.map === undefined
        ? undefined
        : await readColumnMap(context, options.map, ruleContext.lookupTerm),
  };
}

/**
 * Imports a table, and prints what concerns it alone: its missing finds, and its copy with issues.
 * @throws FileError where it cannot be read; as {@link importTable}
 */
async function importFile(
  context: Context,
  file: string,
  request: Request,
  options: ImportOptions,
): Promise<ImportReport> {
  const { terminal } = context;
  const table = await readTableOrInput(context, file, options);
  if (table.sheet !== undefined) {
    terminal.note(t`${file}: only ${table.sheet} is read.`);
  }
  const photoFolder = resolve(options.photos ?? dirname(table.file));
  // Most objects live for one batch of finds; without this flag the heap grows more than needed.
  setFlagsFromString('--heap-growing-percent=50');
  const report = await withProgress(terminal, t`Importing ${file}`, (update) =>
    importTable(table, {
      ...request,
      photoFolder,
      onProgress: (done) => update(done, table.rowCount),
      isPiped: file === '-',
    }),
  );
  if (report.missing.length > 0) printMissing(context, file, report.missing, request);
  if (report.copied !== undefined) printCopied(context, file, report.copied);
  return report;
}

/**
 * Prompts for the stored questions about rows, also of earlier imports, and imports each answered
 * row at once; nothing where no person can answer.
 */
async function askAboutRows(context: Context, { outbox, dryRun }: Request): Promise<void> {
  const { terminal } = context;
  if (dryRun || !terminal.interactive || terminal.json) return;
  const answered = new Set<string>();
  for (const { stored } of listFindsWithQuestion(outbox))
    for (const asked of stored.wish.asked ?? []) {
      const answer = await askAboutRow(context, asked);
      if (answer === undefined) continue;
      const { find } = await importAnsweredRow(context, stored, asked, answer);
      answered.add(find);
    }
  storeQuestionsAboutNamedFinds(outbox, answered);
}

type ImportResult = ReturnType<typeof joinReports>;

function joinReports(reports: readonly ImportReport[], issues: readonly Issue[]) {
  return {
    finds: reports.flatMap(({ finds }) => finds),
    rows: reports.reduce((sum, { rows }) => sum + rows, 0),
    missing: reports.flatMap(({ missing }) => missing),
    issues,
  };
}

/**
 * Reports missing finds, which stay: only a person knows if they were corrected, moved to another
 * table, or are no finds.
 */
function printMissing(
  { terminal }: Context,
  file: string,
  missing: readonly string[],
  { outbox }: Request,
): void {
  const count = missing.length;
  const all = joinShellWords(missing, MAX_MISSING);
  terminal.warn(t`Finds that are no longer in ${file}, and were not changed (${count}): ${all}.`);
  const removable = missing.filter((localId) => {
    const uuid = findByLocalId(outbox, localId)?.uuid ?? '';
    return planRemovalOfSubject(outbox, uuid).because === undefined;
  });
  const names = joinShellWords(removable, MAX_MISSING);
  if (removable.length > 0) terminal.warn(t`If any is not a find: ${cmd`pas remove`} ${names}`);
}

const MAX_MISSING = 20;

/**
 * Returns where the table is copied with its issues; undefined without `--issues-to`.
 * @throws UsageError for stdout, several tables, or the table itself as its copy
 */
function parseIssuesCopy(
  files: readonly string[],
  { issuesTo: file }: ImportOptions,
): string | undefined {
  if (file === undefined) return undefined;
  if (files.length > 1)
    throw new UsageError(t`--issues-to copies one table. Import the tables one by one.`);
  if (file === '-' || resolve(files[0] ?? '') === resolve(file))
    throw new UsageError(t`--issues-to needs the name of a file other than the table.`);
  return file;
}

function printCopied(
  { terminal }: Context,
  table: string,
  { file, rows: count, left: remaining }: CopiedTable,
): void {
  terminal.note(
    t`Number of rows in ${file}, with their errors in the column issues: ${count}. Correct them and import the file.`,
  );
  if (remaining.length === 0) return;
  const rows = remaining.join(', ');
  terminal.warn(
    t`Row numbers that are not in the copy, which cannot show their faults: ${rows}. Correct them in ${table}.`,
  );
}

function countChanges({ finds, rows }: ImportResult) {
  const count = (change: EnqueuedFind['change']): number =>
    finds.filter((find) => find.change === change).length;
  return {
    added: count('added'),
    updated: count('updated'),
    unchanged: count('kept'),
    already_sent: count('sent'),
    questions: count('question'),
    conflicts: finds.filter(({ isConflict }) => isConflict === true).length,
    photos_removed: finds.reduce((sum, find) => sum + find.photosRemoved, 0),
    numbers: finds.filter(({ numberQueued }) => numberQueued === true).length,
    invalid: rows - finds.length,
    drafts: finds.filter((find) => !find.ready).length,
    photos: finds.reduce((sum, find) => sum + find.photosAdded, 0),
  };
}

function formatChanges({
  added,
  updated,
  unchanged,
  ...counts
}: ReturnType<typeof countChanges>): string {
  const { already_sent: sent, questions, invalid } = counts;
  const parts = [t`${added} added`, t`${updated} updated`, t`${unchanged} unchanged`];
  if (sent > 0) parts.push(t`${sent} already sent, unchanged`);
  if (questions > 0) parts.push(t`${questions} skipped until you decide`);
  if (invalid > 0)
    parts.push(ngettext(msgid`${invalid} row not read`, `${invalid} rows not read`, invalid));
  return parts.join(', ');
}

async function printSummary(
  context: Context,
  imported: ImportResult,
  { dryRun, outbox }: Request,
): Promise<void> {
  const { terminal } = context;
  const { finds, missing, issues } = imported;
  const counts = countChanges(imported);
  const { photos_removed: photosRemoved, numbers, drafts } = counts;
  const all = formatFindCount(finds.length);
  const changes = formatChanges(counts);
  const photographs = formatPhotographCount(counts.photos);
  terminal.printLine(
    dryRun
      ? t`Would import ${all}: ${changes}; ${photographs}.`
      : t`Imported ${all}: ${changes}; ${photographs} queued.`,
  );
  if (photosRemoved > 0) {
    const removed = formatPhotographCount(photosRemoved);
    terminal.printLine(
      t`Removed from the queue, since the row of their find no longer lists them: ${removed}.`,
    );
  }
  if (numbers > 0)
    terminal.printLine(t`Registration numbers queued for finds that were sent: ${numbers}.`);
  if (drafts > 0) {
    terminal.printLine(
      ngettext(
        msgid`${drafts} of them has errors; correct the table and import it again.`,
        `${drafts} of them have errors; correct the table and import it again.`,
        drafts,
      ),
    );
  }
  const isQueued = counts.added + counts.updated + counts.photos + numbers > 0;
  const people = isQueued ? await listNewPeopleOfProfile(context, outbox) : [];
  printNewPeople(context, people, terminal.note);
  if (!dryRun && isQueued && drafts < finds.length) printNextStep(context);
  terminal.printValue({
    dry_run: dryRun,
    ...counts,
    not_in_table: missing,
    new_people: toNewPeopleJson(people),
    issues: toIssuesJson(issues),
  });
}
