import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { t } from '../../base/language.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openValidation } from '../../context/validation.ts';
import { getDocumentOfFind } from '../../flows/queue/known-finds.ts';
import { resolveFindNames } from '../../flows/queue/resolve-finds.ts';
import { printIssues, toIssuesJson } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'build <find>',
    summary: t`Print the import document of a find: the one that was sent or will be, byte for byte.`,
    examples: ['pas build K-017', 'pas build K-017 > K-017.xml'],
  }).action((find: string, options: GlobalOptions) =>
    run(options, (context) => build(context, find)),
  );
}

async function build(context: Context, name: string): Promise<ExitReason> {
  const { terminal, streams } = context;
  const outbox = await context.openOutbox();
  const [stored] = resolveFindNames(outbox, [name]);
  if (stored === undefined) return 'done';
  const { document, contentDigest, issues } = await getDocumentOfFind(outbox, stored, () =>
    openValidation(context),
  );
  if (!terminal.json) streams.stdout.write(document);
  printIssues(terminal, issues, terminal.warn);
  terminal.printValue({
    find: stored.localId,
    document: document.toString('utf8'),
    content_digest: contentDigest,
    issues: toIssuesJson(issues),
  });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
