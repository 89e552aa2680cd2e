import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { enqueueNumber, targetOf } from '../flows/enqueue-change.ts';
import { defineCommand, type Runner } from './command.ts';

export function register(program: Command, run: Runner): void {
  const parent = program.command('number').description(t`Queue museum registration numbers.`);
  defineCommand(parent, {
    name: 'set <find> <value>',
    summary: t`Queue a registration number. It is sent once the find has its identifier.`,
    examples: ["pas number set K-017 'A 1250/2024'", "pas number set C-202400101-N00001 'MB-77'"],
  }).action((find: string, value: string, options: GlobalOptions) => run(options, (context) => set(context, find, value)));
}

const SAID = { queued: 'is queued', replaced: 'replaces the one that was queued', kept: 'is queued or set already' } as const;

async function set(context: Context, find: string, value: string): Promise<ExitReason> {
  const outbox = await context.outbox();
  const change = enqueueNumber(outbox, targetOf(outbox, context.profile().name, find), value);
  context.terminal.line(`Number ${value.trim()} for ${find} ${SAID[change]}.`);
  context.terminal.value({ find, value: value.trim(), change });
  return 'done';
}
