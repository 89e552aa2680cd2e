import { resolve } from 'node:path';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { hasErrors, type Issue } from '../../base/issue.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd, joined, msg } from '../../base/message.ts';
import { shellWord } from '../../base/shell-word.ts';
import type { ColumnMap } from '../../columns/column-rule.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { lookInOtherOutboxes } from '../../context/other-outboxes.ts';
import { readFileOrInput, readMappingFile, readTableOrInput, type TableOptions } from '../../context/own-files.ts';
import { askAboutFinders, openValidationContext, photographKeeping, photoRootOf } from '../../context/validation.ts';
import type { LookupTerm } from '../../find/lookup.ts';
import { nearestTo } from '../../flows/finds/new-people.ts';
import type { Enqueued } from '../../flows/queue/enqueue-finds.ts';
import { foldPlaces, foldStrangeColumns, foldUnchecked } from '../../flows/queue/fold-issues.ts';
import { type CopiedTable, importTable } from '../../flows/queue/import-table.ts';
import { readMap } from '../../flows/queue/table-columns.ts';
import { issueValues, printIssues } from '../../ui/issues.ts';
import { printable } from '../../ui/terminal.ts';
import { findCount, photographCount } from '../counted.ts';
import { adviseSending } from '../next-command.ts';
import { personText } from '../sending/say-new-people.ts';

export type ImportOptions = GlobalOptions &
  TableOptions & {
    readonly dryRun?: boolean;
    readonly link?: boolean;
    readonly stripGps?: boolean;
    readonly photos?: string;
    readonly set?: readonly string[];
    readonly map?: string;
    readonly wizard?: boolean;
    readonly yes?: boolean;
    readonly issuesTo?: string;
    readonly onlyBad?: boolean;
    readonly strict?: boolean;
    readonly keepRows?: boolean;
    readonly force?: boolean;
  };

export async function importTables(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const copy = copyOf(files, options);
  const known = await openValidationContext(context);
  const outbox = await context.outbox();
  const request = {
    ...photographKeeping(context, options),
    outbox,
    known,
    issuedElsewhere: lookInOtherOutboxes(context, outbox),
    dryRun: options.dryRun === true,
    link: options.link === true,
    map: options.map === undefined ? undefined : await readColumnMap(context, options.map, known.lookupTerm),
    set: options.set,
    strict: options.strict,
    keepRows: options.keepRows,
    copy,
  };
  const issues: Issue[] = [...(await readMappingFile(context)).issues];
  const finds: Enqueued[] = [];
  const newPeople = new Map<string, number>();
  let [rows, unchecked] = [0, 0];
  for (const file of files) {
    const table = await readTableOrInput(context, file, options);
    if (table.sheet !== undefined) {
      terminal.note(
        table.unit === 'feature' ? t`${file}: layer ${table.sheet} is read.` : t`${file}: sheet ${table.sheet} is read.`,
      );
    }
    const progress = terminal.progress(t`Importing ${file}`);
    const report = await importTable(table, {
      ...request,
      known: await askAboutFinders(context, known, { table, map: request.map, set: options.set }),
      photoFolder: photoRootOf(table.file, options.photos),
      onProgress: (done) => progress.update(done, table.rowCount),
    }).finally(progress.end);
    for (const issue of report.issues) issues.push(issue);
    for (const find of report.finds) finds.push(find);
    for (const [name, count] of report.newPeople) newPeople.set(name, (newPeople.get(name) ?? 0) + count);
    rows += report.rows;
    unchecked += report.unchecked;
    if (report.copied !== undefined) printCopied(context, file, report.copied);
  }
  const told = foldUnchecked(issues, unchecked);
  const summary = {
    finds,
    rows,
    newPeople,
    lookupTerm: known.lookupTerm,
    issues: told,
    shown: request.map === undefined ? foldColumns(told, files, options) : told,
  };
  printSummary(context, summary, request.dryRun, copy !== undefined);
  return hasErrors(issues) || finds.some((find) => find.change === 'sent') ? 'dataRefused' : 'done';
}

/** The wizard looks at a file, and reads it as it was to be read here. */
function foldColumns(issues: readonly Issue[], files: readonly string[], { sheet, layer, headerRow }: ImportOptions) {
  const options = { sheet, layer, 'header-row': headerRow };
  const said = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [` --${name} ${shellWord(value)}`],
  );
  return foldStrangeColumns(issues, (file) =>
    files.includes('-') ? msg`${cmd`pas import`} TABLE --wizard` : joined([cmd`pas import ${file} --wizard`, ...said], ''),
  );
}

/** @throws UsageError where flags contradict one another, or the copy could not be written later */
function copyOf(files: readonly string[], { issuesTo: file, onlyBad, force }: ImportOptions) {
  if (file === undefined) {
    if (onlyBad === true) throw new UsageError(t`--only-bad says something of --issues-to FILE. Give both.`);
    return undefined;
  }
  if (file === '-') throw new UsageError(t`--issues-to needs the name of a file.`);
  if (files.length > 1) throw new UsageError(t`--issues-to copies one table. Import the tables one by one.`);
  if (files.some((table) => resolve(table) === resolve(file))) {
    throw new UsageError(t`${file} is the table itself. Choose another name for the copy.`);
  }
  return { file, rows: onlyBad === true ? 'bad' : 'all', overwrite: force === true } as const;
}

/** @throws UsageError where the map cannot be used; all that is wrong with it is printed before */
export async function readColumnMap(context: Context, given: string, lookupTerm: LookupTerm): Promise<ColumnMap> {
  const [file, bytes] = await readFileOrInput(context, given);
  const { map, issues } = readMap(file, bytes, lookupTerm);
  if (map !== undefined) return map;
  printIssues(context.terminal, issues, context.terminal.warn);
  const faults = issues.length;
  throw new UsageError(
    ngettext(
      msgid`${file} has ${faults} fault. Nothing was imported.`,
      `${file} has ${faults} faults. Nothing was imported.`,
      faults,
    ),
    { hint: t`Mend the file, or make it anew: ${cmd`pas import`} TABLE --wizard` },
  );
}

function printCopied({ terminal }: Context, table: string, { file, rows: count, left }: CopiedTable): void {
  terminal.note(
    ngettext(
      msgid`${file} has ${count} row, with what is wrong in the column issues. Mend it and import it.`,
      `${file} has ${count} rows, with what is wrong in the column issues. Mend them and import the file.`,
      count,
    ),
  );
  if (left.length === 0) return;
  const rows = left.join(', ');
  terminal.warn(t`Not in the copy, because they could not be taken apart: rows ${rows}. Mend them in ${table}.`);
}

type Imported = {
  readonly finds: readonly Enqueued[];
  readonly rows: number;
  readonly newPeople: ReadonlyMap<string, number>;
  readonly lookupTerm: LookupTerm;
  readonly issues: readonly Issue[];
  /** The issues as people read them. */
  readonly shown: readonly Issue[];
};

const MOST_PEOPLE = 20;

/** A person who is made by a slip of the pen cannot be taken away again from here. */
function sayNewPeople({ terminal }: Context, people: Imported['newPeople'], lookupTerm: LookupTerm): void {
  if (people.size === 0) return;
  const shown = [...people].slice(0, MOST_PEOPLE).map(([name, count]) => {
    const nearest = (nearestTo(name, lookupTerm) ?? []).map(personText).join(', ');
    return `${printable(name)} (${nearest === '' ? count : t`${count}; nearest: ${nearest}`})`;
  });
  const [names, count] = [[...shown, ...(people.size > MOST_PEOPLE ? ['…'] : [])].join('; '), people.size];
  terminal.note(
    ngettext(
      msgid`${count} finder is nobody that was harvested; the service makes a person of the name, with so many finds: ${names}`,
      `${count} finders are nobody that was harvested; the service makes a person of each name, with so many finds: ${names}`,
      count,
    ),
  );
}

function printSummary(
  context: Context,
  { finds, rows, newPeople, lookupTerm, issues, shown }: Imported,
  dryRun: boolean,
  isCopied: boolean,
): void {
  const { terminal } = context;
  const isAll = printIssues(terminal, foldPlaces(shown));
  if (!isAll && !isCopied) terminal.note(t`--issues-to FILE writes all of them beside the rows.`);
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
  sayNewPeople(context, newPeople, lookupTerm);
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
    new_people: [...newPeople].map(([name, count]) => {
      const nearest = (nearestTo(name, lookupTerm) ?? []).map(({ id, label }) => ({ id, label }));
      return { name, finds: count, ...(nearest.length === 0 ? {} : { nearest }) };
    }),
    issues: issueValues(issues),
  });
}
