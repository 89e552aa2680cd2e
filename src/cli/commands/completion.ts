import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { packageRoot } from '../../base/own-files.ts';
import { defineCommand, type Runner } from '../command.ts';
import type { Context } from '../context/context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'completion',
    summary: t`Print a script that completes commands, flags, finds, sets and profiles in your shell.`,
    examples: [
      'pas completion bash >> ~/.bashrc',
      'pas completion fish > ~/.config/fish/completions/pas.fish',
    ],
  })
    .addArgument(new Argument('<shell>', t`the shell`).choices(SHELLS))
    .action(run(printScript));
}

async function printScript({ terminal, streams }: Context, shell: Shell): Promise<ExitReason> {
  const script = readFileSync(join(packageRoot, 'bin', 'completion', `pas.${shell}`), 'utf8');
  streams.stdout.write(terminal.json ? `${JSON.stringify({ shell, script })}\n` : script);
  return 'done';
}
