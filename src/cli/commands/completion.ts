import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { getLanguage, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import {
  type CommandOutline,
  defineCommand,
  type OptionOutline,
  type Outline,
  type Registration,
  readOutline,
} from '../command.ts';
import type { Context } from '../context/context.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

/** Registers `pas completion`, and `pas __complete`, by which its scripts ask for candidates. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'completion',
    t`Print a script that completes commands, flags and their values in your shell.`,
    [
      'pas completion bash >> ~/.bashrc',
      'pas completion fish > ~/.config/fish/completions/pas.fish',
    ],
  )
    .addArgument(new Argument('<shell>', t`the shell`).choices(SHELLS))
    .action(run(printScript));
  program
    .command('__complete [words...]', { hidden: true })
    // Without a context, which would load much code while the user waits after Tab.
    .action((words: string[]) => printCandidates(words));
};

async function printScript({ terminal, streams }: Context, shell: Shell): Promise<ExitReason> {
  const script = readFileSync(join(packageRoot, 'bin', 'completion', `pas.${shell}`), 'utf8');
  streams.stdout.write(terminal.json ? `${JSON.stringify({ shell, script })}\n` : script);
  return 'done';
}

/** Prints a candidate per line, with its meaning behind a tab; nothing where paths may follow. */
function printCandidates(words: readonly string[]): void {
  const outline = readOutline(getLanguage());
  for (const { text, summary } of outline === undefined ? [] : listCandidates(outline, words))
    process.stdout.write(`${text}\t${summary.replace(/\s+/g, ' ')}\n`);
}

/** A possible word, with its meaning where that is known. */
type Candidate = { readonly text: string; readonly summary: string };

/**
 * Lists what may stand at the end of a command line: subcommands, flags, or the choices of a value;
 * empty where only the user or the shell knows.
 * @param typed the words after `pas`; the last one is incomplete, and may be empty
 */
function listCandidates(
  { program, globalOptions }: Outline,
  typed: readonly string[],
): Candidate[] {
  const partial = typed.at(-1) ?? '';
  let command = program;
  /** The flag whose value comes next. */
  let pending: OptionOutline | undefined;
  const listOptions = () => [...command.options, ...globalOptions];
  for (const word of typed.slice(0, -1)) {
    if (pending !== undefined) pending = undefined;
    else if (word.startsWith('-'))
      pending = listOptions().find(
        ({ value, flags }) => value !== null && flags.split(/[ ,]+/).includes(word),
      );
    else command = command.commands.find(({ name }) => name === word) ?? command;
  }
  const isFlag = pending === undefined && partial.startsWith('-');
  const all = isFlag
    ? listOptions().map(({ long, summary }) => ({ text: long, summary }))
    : listWords(command, pending);
  return all.filter(({ text }) => text.startsWith(partial));
}

/** Lists the choices of the flag whose value is next, else subcommands and choices of arguments. */
function listWords(command: CommandOutline, pending: OptionOutline | undefined): Candidate[] {
  const choices = pending?.choices ?? command.arguments.flatMap((each) => each.choices);
  const words = choices.map((text) => ({ text, summary: '' }));
  if (pending !== undefined) return words;
  return [...command.commands.map(({ name, summary }) => ({ text: name, summary })), ...words];
}
