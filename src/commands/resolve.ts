import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../base/errors.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { applySettlement } from '../outbox/claims.ts';
import { entriesOfFind, move } from '../outbox/entries.ts';
import type { Entry } from '../outbox/entry.ts';
import { recordEvidence } from '../outbox/evidence.ts';
import { systemProcesses, takeLease } from '../outbox/lease.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { defineCommand, type Runner } from './command.ts';
import { findsNamed } from './finds.ts';

type ResolveOptions = GlobalOptions & { readonly created?: string; readonly resend?: boolean; readonly drop?: boolean };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'resolve <find>',
    summary: 'Decide what became of uncertain entries, after looking at the service.',
    examples: ['pas resolve K-017 --created C-202400101-N00042', 'pas resolve K-017 --resend'],
  })
    .option('--created <ident>', 'the service has the find under this identifier')
    .option('--resend', 'the service does not have it: send it again')
    .option('--drop', 'give the entry up')
    .action((find: string, options: ResolveOptions) => run(options, (context) => resolve(context, find, options)));
}

async function resolve(context: Context, name: string, options: ResolveOptions): Promise<ExitReason> {
  const given = [options.created, options.resend, options.drop].filter((option) => option !== undefined);
  if (given.length !== 1) throw new UsageError('Give one of --created IDENT, --resend and --drop.');
  const outbox = await context.outbox();
  const profile = context.profile().name;
  const [find] = findsNamed(outbox, profile, [name]);
  const lease = takeLease(outbox, systemProcesses);
  try {
    const uncertain =
      find === undefined ? [] : entriesOfFind(outbox, find.id, profile).filter((entry) => entry.state === 'uncertain');
    if (uncertain.length === 0) throw new UsageError(`Nothing about ${name} is uncertain.`, { hint: `pas show ${name}` });
    outbox.change(() => {
      for (const entry of uncertain) decide(outbox, entry, options);
    });
    context.terminal.line(`${uncertain.length} ${uncertain.length === 1 ? 'entry' : 'entries'} of ${name} settled.`);
    context.terminal.value({ find: name, settled: uncertain.map((entry) => ({ entry: entry.id, kind: entry.kind })) });
  } finally {
    lease.release();
  }
  return 'done';
}

function decide(outbox: Outbox, entry: Entry, options: ResolveOptions): void {
  const choice =
    options.created !== undefined ? `created as ${options.created}` : options.resend === true ? 'send again' : 'drop';
  recordEvidence(outbox, entry.id, { verdict: 'person', reason: `a person decided: ${choice}`, candidates: [] });
  if (options.created !== undefined) {
    const identCely = entry.identCely ?? options.created;
    if (!/^[A-Za-z0-9-]{3,64}$/.test(options.created))
      throw new UsageError(`${options.created} is not an identifier of the service.`);
    applySettlement(outbox, entry, { state: 'accepted', identCely, reason: 'a person found it at the service' });
    return;
  }
  if (options.resend === true) {
    move(outbox, entry, 'queued', { notBeforeAt: 0, reason: 'a person found that the service does not have it' });
    return;
  }
  move(outbox, entry, 'dropped', { reason: 'given up by a person' });
}
