import type { ExitReason } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readMappingFile, readTableOrInput } from '../context/own-files.ts';
import { foldUnchecked, openLookups, openValidation, photographKeeping, photoRootOf } from '../context/validation.ts';
import { withColumnMap } from '../find/column-map/apply-column-map.ts';
import type { Find } from '../find/find.ts';
import type { MappedRow } from '../find/map-row.ts';
import { mapTable } from '../find/map-table.ts';
import { photoResolver } from '../find/photo-path.ts';
import type { Table } from '../find/table.ts';
import { readConstants, withConstants } from '../find/with-constants.ts';
import { type Enqueued, enqueueFinds } from '../flows/enqueue-finds.ts';
import { knownFind } from '../flows/export-finds.ts';
import { issuedElsewhere } from '../flows/issued-elsewhere.ts';
import { issueValues, printIssues } from '../ui/issues.ts';
import { readColumnMapFile } from './column-map-file.ts';
import { findCount, photographCount } from './counted.ts';
import { foldPlaces } from './fold-places.ts';
import { noteGap } from './gap-note.ts';
import { type IssuesFileOptions, refuseIssuesFile, writeIssuesFile } from './issues-file.ts';
import { adviseSending, copyCommand } from './next-command.ts';

export type ImportOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly link?: boolean;
  readonly stripGps?: boolean;
  readonly photos?: string;
  readonly sheet?: string;
  readonly layer?: string;
  readonly set?: readonly string[];
  readonly map?: string;
  readonly wizard?: boolean;
  readonly yes?: boolean;
} & IssuesFileOptions;

export async function importTables(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.profile();
  const constants = readConstants(options.set ?? []);
  refuseIssuesFile(files, options);
  const sheet = options.sheet ?? options.layer;
  const { lookupTerm } = await openLookups(context, profile);
  const validate = await openValidation(context);
  const outbox = await context.outbox();
  const map = options.map === undefined ? undefined : await readColumnMapFile(context, options.map, lookupTerm);
  const issues: Issue[] = [...readMappingFile(context).issues];
  const finds: Enqueued[] = [];
  let rows = 0;
  let unchecked = 0;
  for (const file of files) {
    const own = await readTableOrInput(context, file, sheet === undefined ? {} : { sheet });
    const table = withConstants(map === undefined ? own : withColumnMap(own, map), constants);
    if (table.sheet !== undefined) {
      terminal.note(
        table.unit === 'feature' ? t`${file}: layer ${table.sheet} is read.` : t`${file}: sheet ${table.sheet} is read.`,
      );
    }
    const mapped = mapTable(table, {
      lookupTerm,
      resolvePhoto: photoResolver(photoRootOf(file, options.photos)),
      known: (localId) => knownFind(outbox, localId),
      issuedElsewhere: (identCely) => {
        const found = issuedElsewhere(outbox, identCely);
        return found === undefined ? undefined : { ...found, command: copyCommand(profile) };
      },
    });
    for (const issue of mapped.issues) issues.push(issue);
    const progress = terminal.progress(t`Importing ${file}`);
    const report = await enqueueFinds(findsOf(mapped.rows, issues), {
      outbox,
      validate,
      ...photographKeeping(context, options),
      dryRun: options.dryRun === true,
      onProgress: (done) => progress.update(done, table.rowCount),
    }).finally(progress.end);
    for (const issue of report.issues) issues.push(issue);
    for (const find of report.finds) finds.push(find);
    unchecked += report.unchecked;
    rows += own.rowCount + unreadRows(own);
    if (options.issuesTo !== undefined) await writeIssuesFile(context, own, issues, options);
  }
  if (map === undefined && issues.filter(({ rule }) => rule === 'column-unknown').length > 1) {
    terminal.note(t`To say what the columns are without renaming them: pas import TABLE --wizard`);
  }
  printSummary(context, { finds, rows }, foldUnchecked(issues, unchecked), options.dryRun === true);
  if (options.dryRun !== true) noteGap(context, outbox);
  return hasErrors(issues) || finds.some((find) => find.change === 'sent') ? 'dataRefused' : 'done';
}

/** Rows that could not even be taken apart. */
function unreadRows({ issues }: Table): number {
  return new Set(issues.flatMap(({ row, severity }) => (row === undefined || severity === 'warning' ? [] : [row]))).size;
}

/** The finds as they are walked; what is wrong with the rows goes to `issues`. */
function* findsOf(rows: Iterable<MappedRow>, issues: Issue[]): Generator<Find> {
  for (const row of rows) {
    issues.push(...row.issues);
    if (row.find !== undefined) yield row.find;
  }
}

type Imported = { readonly finds: readonly Enqueued[]; readonly rows: number };

function printSummary(context: Context, { finds, rows }: Imported, issues: readonly Issue[], dryRun: boolean): void {
  const { terminal } = context;
  printIssues(terminal, foldPlaces(issues), terminal.json ? () => {} : terminal.line);
  const count = (change: Enqueued['change']): number => finds.filter((find) => find.change === change).length;
  const photos = finds.reduce((sum, find) => sum + find.photosAdded, 0);
  const drafts = finds.filter((find) => !find.ready).length;
  const [added, updated, kept, sent] = [count('added'), count('updated'), count('kept'), count('sent')];
  const parts = [t`${added} added`, t`${updated} updated`, t`${kept} unchanged`];
  if (sent > 0) parts.push(t`${sent} already sent and left as they are`);
  const invalid = rows - finds.length;
  const leftOut = ngettext(msgid`${invalid} row left out`, `${invalid} rows left out`, invalid);
  if (invalid > 0) parts.push(leftOut);
  const [all, changes, photographs] = [findCount(finds.length), parts.join(', '), photographCount(photos)];
  terminal.line(
    dryRun ? t`Would import ${all}: ${changes}; ${photographs}.` : t`Imported ${all}: ${changes}; ${photographs} queued.`,
  );
  if (drafts > 0) {
    terminal.line(
      ngettext(
        msgid`${drafts} of them is a draft until its errors are mended; mend the table and import it again.`,
        `${drafts} of them are drafts until their errors are mended; mend the table and import it again.`,
        drafts,
      ),
    );
  }
  if (!dryRun && drafts < finds.length) adviseSending(context);
  terminal.value({
    dry_run: dryRun,
    added,
    updated,
    unchanged: kept,
    already_sent: sent,
    invalid,
    drafts,
    photos,
    issues: issueValues(terminal, issues),
  });
}
