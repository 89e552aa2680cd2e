import type { Command } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { announceInstance } from '../context/service.ts';
import { enqueueNumber } from '../flows/enqueue-change.ts';
import { targetForChange } from '../flows/issued-elsewhere.ts';
import { defineCommand, type Runner } from './command.ts';
import { registerNumberImport } from './number-import.ts';

export function register(program: Command, run: Runner): void {
  const parent = program.command('number').description(t`Queue museum registration numbers.`);
  defineCommand(parent, {
    name: 'set <find> <value>',
    summary: t`Queue a registration number. It is sent once the find has its identifier.`,
    examples: ["pas number set K-017 'A 1250/2024'", "pas number set C-202400101-N00001 'MB-77'"],
  }).action((find: string, value: string, options: GlobalOptions) => run(options, (context) => set(context, find, value)));
  registerNumberImport(parent, run);
}

async function set(context: Context, find: string, value: string): Promise<ExitReason> {
  const outbox = await context.outbox();
  const number = value.trim();
  const change = enqueueNumber(outbox, targetForChange(outbox, find), value);
  if (change !== 'kept') announceInstance(context);
  const said = {
    queued: t`Number ${number} for ${find} is queued.`,
    replaced: t`Number ${number} for ${find} replaces the one that was queued.`,
    kept: t`Number ${number} for ${find} is queued or set already.`,
  };
  context.terminal.line(said[change]);
  context.terminal.value({ find, value: number, change });
  return 'done';
}
