import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { type Decision, resolveDoubts } from '../../flows/reconcile/resolve-doubt.ts';
import { defineCommand, type Runner } from '../command.ts';
import { wholeNumber } from '../finds/list.ts';

type ResolveOptions = GlobalOptions & {
  readonly created?: string;
  readonly resend?: boolean;
  readonly drop?: boolean;
  readonly entry?: number;
  readonly takeOver?: boolean;
};

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'resolve <find>',
    summary: t`Decide what became of uncertain entries, after looking at the service; send again or give up what was refused.`,
    examples: ['pas resolve K-017 --created C-202400101-N00042', 'pas resolve K-017 --resend --entry 12'],
  })
    .option('--created <ident>', t`the service has it, in the record of this identifier`)
    .option('--resend', t`the service does not have it: send it again`)
    .option('--drop', t`give it up; an import of the table leaves it given up`)
    .option('--entry <n>', t`only this entry, by the number that \`${cmd`pas status`}\` names`, wholeNumber)
    .option('--take-over', t`take the outbox from a pas that you know is gone, where that cannot be seen from here`)
    .action((find: string, options: ResolveOptions) => run(options, (context) => resolve(context, find, options)));
}

async function resolve(context: Context, name: string, options: ResolveOptions): Promise<ExitReason> {
  const decision = decisionOf(options);
  const outbox = await context.outbox();
  const { settled, waiting } = resolveDoubts(outbox, name, decision, {
    entryId: options.entry,
    takeOver: options.takeOver === true,
  });
  const count = settled.length;
  context.terminal.line(ngettext(msgid`${count} entry of ${name} settled.`, `${count} entries of ${name} settled.`, count));
  if (waiting !== undefined) sayWhatWaits(context, name, waiting);
  context.terminal.value({ find: name, settled: settled.map((entry) => ({ entry: entry.id, kind: entry.kind })) });
  return 'done';
}

/** A find that is given up leaves its photographs and numbers behind. */
function sayWhatWaits({ terminal }: Context, name: string, waiting: number): void {
  if (waiting > 0)
    terminal.line(
      ngettext(
        msgid`${waiting} number or photograph of it waits and is not sent without it.`,
        `${waiting} numbers and photographs of it wait and are not sent without it.`,
        waiting,
      ),
    );
  terminal.note(t`Take it back with ${cmd`pas resolve ${name} --resend`}, or remove all of it with ${cmd`pas remove ${name}`}.`);
}

function decisionOf({ created, resend, drop }: ResolveOptions): Decision {
  const given: Decision[] = [];
  if (created !== undefined) given.push({ kind: 'created', identCely: created });
  if (resend === true) given.push({ kind: 'resend' });
  if (drop === true) given.push({ kind: 'drop' });
  const [decision, ...others] = given;
  if (decision === undefined || others.length > 0) throw new UsageError(t`Give one of --created IDENT, --resend and --drop.`);
  return decision;
}
