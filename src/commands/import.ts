import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { mapTable } from '../find/map-table.ts';
import { photoResolver } from '../find/photo-path.ts';
import { readTable } from '../find/table.ts';
import { type Enqueued, enqueueFinds } from '../flows/enqueue-finds.ts';
import { issueValue, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';
import { findCount, photographCount } from './counted.ts';
import { foldUnchecked, openLookups, openValidation, photographKeeping, photoRootOf } from './finds.ts';
import { readMappingFile } from './mapping-file.ts';

type ImportOptions = GlobalOptions & { readonly dryRun?: boolean; readonly link?: boolean; readonly photos?: string };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'import <file...>',
    summary: t`Read tables of finds, check every row and queue the finds. Importing the same table again changes nothing.`,
    examples: ['pas import season.csv', 'pas import season.csv --photos ./camera --dry-run'],
  })
    .option('--dry-run', t`say what would happen and change nothing`)
    .option('--link', t`keep a reference to the photographs instead of a copy`)
    .option('--photos <folder>', t`folder that photograph names start from (default: the folder of the table)`)
    .action((files: string[], options: ImportOptions) => run(options, (context) => importTables(context, files, options)));
}

export async function importTables(context: Context, files: readonly string[], options: ImportOptions): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.profile();
  const { lookupTerm } = await openLookups(context, profile);
  const validate = await openValidation(context);
  const outbox = await context.outbox();
  const issues: Issue[] = [...readMappingFile(context).issues];
  const finds: Enqueued[] = [];
  for (const file of files) {
    const mapped = mapTable(await readTable(file), {
      lookupTerm,
      resolvePhoto: photoResolver(photoRootOf(file, options.photos)),
    });
    issues.push(...mapped.issues);
    const progress = terminal.progress(t`Importing ${file}`);
    const report = await enqueueFinds(mapped.finds, {
      outbox,
      profile: profile.name,
      validate,
      ...photographKeeping(context, options.link === true),
      isOtherService: (name) => (context.config().profiles.get(name)?.base_url ?? profile.baseUrl) !== profile.baseUrl,
      dryRun: options.dryRun === true,
      onProgress: (done, total) => progress.update(done, total),
    });
    progress.end();
    issues.push(...report.issues);
    finds.push(...report.finds);
  }
  printSummary(context, finds, foldUnchecked(issues), options.dryRun === true);
  return hasErrors(issues) || finds.some((find) => find.change === 'sent') ? 'dataRefused' : 'done';
}

function printSummary({ terminal }: Context, finds: readonly Enqueued[], issues: readonly Issue[], dryRun: boolean): void {
  printIssues(terminal, issues, terminal.json ? () => {} : terminal.line);
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
