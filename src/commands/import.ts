import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import type { Find } from '../find/find.ts';
import type { MappedRow } from '../find/map-row.ts';
import { mapTable } from '../find/map-table.ts';
import { photoResolver } from '../find/photo-path.ts';
import { readConstants, withConstants } from '../find/with-constants.ts';
import { type Enqueued, enqueueFinds } from '../flows/enqueue-finds.ts';
import { knownFind } from '../flows/exported-finds.ts';
import { issueValue, printIssues } from '../ui/issues.ts';
import { collect, defineCommand, type Runner } from './command.ts';
import { otherService } from './copy-from-others.ts';
import { findCount, photographCount } from './counted.ts';
import { foldUnchecked, openLookups, openValidation, photographKeeping, photoRootOf } from './finds.ts';
import { foldPlaces } from './fold-places.ts';
import { readMappingFile, readTableOrInput } from './mapping-file.ts';

type ImportOptions = GlobalOptions & {
  readonly dryRun?: boolean;
  readonly link?: boolean;
  readonly stripGps?: boolean;
  readonly photos?: string;
  readonly sheet?: string;
  readonly layer?: string;
  readonly set?: readonly string[];
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'import <file...>',
    summary: t`Read tables of finds, check every row and queue the finds. Importing the same table again changes nothing.`,
    examples: [
      'pas import season.csv',
      'pas import season.xlsx --sheet 2024 --photos ./camera --dry-run',
      'pas import walk.gpx --set projekt=C-202400101 --set stav=1 --set pristupnost=archeolog',
    ],
  })
    .option('--dry-run', t`say what would happen and change nothing`)
    .option('--link', t`keep a reference to the photographs instead of a copy`)
    .option('--strip-gps', t`take the place (GPS) out of what is queued; the files themselves stay as they are`)
    .option('--photos <folder>', t`folder that photograph names start from (default: the folder of the table)`)
    .option('--sheet <name>', t`sheet of a workbook to read (default: the first that holds something)`)
    .option('--layer <name>', t`layer of a GeoPackage to read (default: the first with points)`)
    .option('--set <element=value>', t`for finds whose table leaves this element empty; may be repeated`, collect)
    .action((files: string[], options: ImportOptions) => run(options, (context) => importTables(context, files, options)));
}

export async function importTables(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.profile();
  const constants = readConstants(options.set ?? []);
  const sheet = options.sheet ?? options.layer;
  const { lookupTerm } = await openLookups(context, profile);
  const validate = await openValidation(context);
  const outbox = await context.outbox();
  const issues: Issue[] = [...readMappingFile(context).issues];
  const finds: Enqueued[] = [];
  let unchecked = 0;
  for (const file of files) {
    const table = withConstants(await readTableOrInput(context, file, sheet === undefined ? {} : { sheet }), constants);
    if (table.sheet !== undefined) {
      terminal.note(
        table.unit === 'feature' ? t`${file}: layer ${table.sheet} is read.` : t`${file}: sheet ${table.sheet} is read.`,
      );
    }
    const mapped = mapTable(table, {
      lookupTerm,
      resolvePhoto: photoResolver(photoRootOf(file, options.photos)),
      known: (localId) => knownFind(outbox, profile.name, localId),
    });
    for (const issue of mapped.issues) issues.push(issue);
    const progress = terminal.progress(t`Importing ${file}`);
    const report = await enqueueFinds(findsOf(mapped.rows, issues), {
      outbox,
      profile: profile.name,
      validate,
      ...photographKeeping(context, options),
      isOtherService: otherService(context),
      dryRun: options.dryRun === true,
      onProgress: (done) => progress.update(done, table.rowCount),
    }).finally(progress.end);
    for (const issue of report.issues) issues.push(issue);
    for (const find of report.finds) finds.push(find);
    unchecked += report.unchecked;
  }
  printSummary(context, finds, foldUnchecked(issues, unchecked), options.dryRun === true);
  return hasErrors(issues) || finds.some((find) => find.change === 'sent') ? 'dataRefused' : 'done';
}

/** The finds as they are walked; what is wrong with the rows goes to `issues`. */
function* findsOf(rows: Iterable<MappedRow>, issues: Issue[]): Generator<Find> {
  for (const row of rows) {
    issues.push(...row.issues);
    if (row.find !== undefined) yield row.find;
  }
}

function printSummary({ terminal }: Context, finds: readonly Enqueued[], issues: readonly Issue[], dryRun: boolean): void {
  printIssues(terminal, foldPlaces(issues), terminal.json ? () => {} : terminal.line);
  const count = (change: Enqueued['change']): number => finds.filter((find) => find.change === change).length;
  const photos = finds.reduce((sum, find) => sum + find.photosAdded, 0);
  const drafts = finds.filter((find) => !find.ready).length;
  const [added, updated, kept, sent] = [count('added'), count('updated'), count('kept'), count('sent')];
  const parts = [t`${added} added`, t`${updated} updated`, t`${kept} unchanged`];
  if (sent > 0) parts.push(t`${sent} already sent and left as they are`);
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
  if (!dryRun && drafts < finds.length) terminal.note(t`Next: \`pas status\`, then \`pas push\` when there is a network.`);
  terminal.value({
    dry_run: dryRun,
    added,
    updated,
    unchanged: kept,
    already_sent: sent,
    drafts,
    photos,
    issues: issues.map(issueValue),
  });
}
