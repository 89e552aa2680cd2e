import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { hasErrors, type Issue } from '../base/issue.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { enqueuePhoto, targetOf } from '../flows/enqueue-change.ts';
import { issueValue, printIssues } from '../ui/issues.ts';
import { defineCommand, type Runner } from './command.ts';
import { photographKeeping } from './finds.ts';
import { announceInstance } from './service.ts';

type PhotoOptions = GlobalOptions & { readonly link?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('photo').description(t`Queue photographs of finds.`);
  defineCommand(parent, {
    name: 'add <find> <file...>',
    summary: t`Queue photographs for a find. They are sent once the find has its identifier.`,
    examples: ['pas photo add K-017 IMG_0412.jpg IMG_0413.jpg', 'pas photo add C-202400101-N00001 detail.png --link'],
  })
    .option('--link', t`keep a reference instead of a copy`)
    .action((find: string, files: string[], options: PhotoOptions) =>
      run(options, (context) => add(context, find, files, options)),
    );
}

async function add(context: Context, find: string, files: readonly string[], options: PhotoOptions): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.outbox();
  const target = targetOf(outbox, context.profile().name, find);
  announceInstance(context);
  const keeping = photographKeeping(context, options.link === true);
  const issues: Issue[] = [];
  let queued = 0;
  for (const file of files) {
    const inspected = await keeping.inspectPhotograph(file);
    issues.push(...inspected.issues);
    if (inspected.photograph === undefined || hasErrors(inspected.issues)) continue;
    const change = enqueuePhoto(outbox, target, await keeping.keepPhotograph(file, inspected.photograph.mimeType));
    if (change === 'kept') terminal.note(t`${file} is queued for ${find} already, or sent.`);
    else queued += 1;
  }
  printIssues(terminal, issues, terminal.json ? () => {} : terminal.line);
  const all = files.length;
  terminal.line(
    ngettext(
      msgid`${queued} of ${all} photograph queued for ${find}.`,
      `${queued} of ${all} photographs queued for ${find}.`,
      all,
    ),
  );
  terminal.value({ find, queued, issues: issues.map(issueValue) });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
