import { Command, type Help, Option } from 'commander';
import { EXIT_CODES } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { LANGUAGES, type Language } from '../base/languages.ts';
import { packageVersion } from '../base/package-root.ts';
import { printable } from '../text/characters.ts';
import { displayWidth, padded, wrapped } from '../text/width.ts';
import type { Streams } from '../ui/terminal.ts';
import { FIRST_COMMANDS, isCommand, registerCommands } from './all.ts';
import { examplesHelp, type Runner } from './command.ts';
import { commanderText, HELP_TEXTS } from './commander-texts.ts';
import { readOutline, registerOutline } from './outline.ts';

type Outputs = {
  readonly stdout: Pick<Streams['stdout'], 'columns' | 'write'>;
  readonly stderr: Pick<Streams['stderr'], 'write'>;
};

/** Builds the program for this command line: one command, or an outline of all. */
export async function buildProgram(run: Runner, outputs: Outputs, language: Language, args: readonly string[]): Promise<Command> {
  const [first, second] = args.filter((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--lang');
  const word = first === 'help' ? second : first;
  const program = emptyProgram(outputs);
  if (word === undefined) program.option('--all', t`with --help: every command, and the exit codes`);
  if (word !== undefined || args.includes('--all')) addWholeHelp(program);
  else addFirstScreen(program);
  const outline = word !== undefined && isCommand(word) ? undefined : readOutline(language);
  if (outline === undefined) await registerCommands(program, run, word !== undefined && isCommand(word) ? word : undefined);
  else registerOutline(program, outline);
  return program;
}

/** Adds the help of `pas` without arguments. */
function addFirstScreen(program: Command): void {
  program
    .addHelpText('after', `\n${t`All commands: \`pas help --all\`. Details of one command: \`pas help import\`.`}`)
    .configureHelp({
      ...program.configureHelp(),
      visibleOptions: () => [],
      visibleCommands: ({ commands }) =>
        FIRST_COMMANDS.flatMap(([what, words]) =>
          words.flatMap((word) =>
            commands.filter((command) => command.name() === word).map((each) => each.helpGroup(String(what))),
          ),
        ),
      subcommandTerm: (command) => command.name(),
      // The first sentence suffices.
      subcommandDescription: (command) => command.description().replace(/\. .*/, '.'),
    });
}

/** Builds the program with every command. */
export async function buildWholeProgram(outputs: Outputs): Promise<Command> {
  const program = emptyProgram(outputs);
  addWholeHelp(program);
  await registerCommands(program, async () => {});
  return program;
}

function emptyProgram({ stdout, stderr }: Outputs): Command {
  return new Command('pas')
    .description(t`Record archaeological finds offline and send each of them once.`)
    .version(packageVersion(), '--version', t`print the version`)
    .addOption(new Option('--lang <language>', t`language of the output`).choices(LANGUAGES))
    .helpOption('-h, --help', t`display help for command`)
    .helpCommand('help [command]', t`display help for command`)
    .showSuggestionAfterError()
    .showHelpAfterError(t`(run with --help for usage)`)
    .configureHelp({
      helpWidth: Math.min(stdout.columns ?? 100, 120),
      showGlobalOptions: false,
      formatItem: helpItem,
      ...HELP_TEXTS,
    })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(printable(text)),
      outputError: (text, write) => write(`${commanderText(text.trimEnd())}\n`),
    })
    .exitOverride();
}

function addWholeHelp(program: Command): void {
  const lines = Object.values(EXIT_CODES).map(([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`);
  program.addHelpText('after', `\n${examplesHelp(['pas demo', 'pas help import'])}\n\n${t`Exit codes:`}\n${lines.join('\n')}`);
}

/** A narrower description is printed below its term. */
const NARROWEST = 28;

/** Formats a flag, an argument or a command of the help within the terminal's width. */
function helpItem(term: string, termWidth: number, description: string, helper: Help): string {
  const columns = helper.helpWidth ?? 80;
  if (description === '') return `  ${term}`;
  const beside = columns - termWidth - 4;
  if (beside >= NARROWEST && displayWidth(term) <= termWidth) {
    return indented(wrapped(description, beside), `  ${padded(term, termWidth)}  `, termWidth + 4);
  }
  return `  ${term}\n${indented(wrapped(description, Math.max(columns - 6, 12)), ' '.repeat(6), 6)}`;
}

function indented(text: string, head: string, indent: number): string {
  return head + text.replaceAll('\n', `\n${' '.repeat(indent)}`);
}
