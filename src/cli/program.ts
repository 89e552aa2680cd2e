import { Command, CommanderError, type Help, type HelpConfiguration, Option } from 'commander';
import {
  indentText,
  measureDisplayWidth,
  padEndText,
  toPrintable,
  wrapText,
} from '../base/characters.ts';
import { EXIT_CODES, type ExitReason, UsageError } from '../base/errors.ts';
import {
  getLanguage,
  LANGUAGES,
  type Language,
  type Message,
  msg,
  setProfileFlagSource,
  t,
} from '../base/message.ts';
import { getPackageVersion } from '../base/own-files.ts';
import {
  addCommonOptions,
  addGlobalOptions,
  formatCommonHeading,
  formatExamples,
  type Runner,
  readOutline,
  registerOutlinedCommands,
} from './command.ts';
import type { GlobalOptions, Runtime } from './context/context.ts';
import type { TextOutput } from './terminal.ts';

const HEADINGS: Readonly<Record<string, Message>> = {
  'Usage:': msg`Usage:`,
  'Arguments:': msg`Arguments:`,
  'Options:': msg`Options:`,
  'Commands:': msg`Commands:`,
};

const HELP_TEXTS: HelpConfiguration = {
  styleTitle: (title) => String(HEADINGS[title] ?? title),
  optionDescription: (option) => {
    const extra = describeExtras(option).join(', ');
    return extra === '' ? option.description : `${option.description} (${extra})`;
  },
  argumentDescription: (argument) => {
    const choices = describeChoices(argument.argChoices).join(', ');
    return choices === '' ? argument.description : `${argument.description} (${choices})`;
  },
};

function describeChoices(argChoices: readonly string[] | undefined): string[] {
  if (argChoices === undefined) return [];
  const choices = argChoices.join(', ');
  return [t`choices: ${choices}`];
}

function describeExtras(option: Option): string[] {
  const extra = describeChoices(option.argChoices);
  const fallback: unknown = option.defaultValue;
  if (fallback !== undefined && (option.required || option.optional))
    extra.push(t`default: ${fallback}`);
  return extra;
}

/** Messages of commander, with the parts that come from the command line. */
const MESSAGES: readonly (readonly [RegExp, (...parts: readonly string[]) => string])[] = [
  [/^missing required argument '(.+)'$/, (name) => t`'${name}' is missing.`],
  [/^option '(.+)' argument missing$/, (flags) => t`The value of option '${flags}' is missing.`],
  [/^required option '(.+)' not specified$/, (flags) => t`'${flags}' is missing.`],
  [
    /^option '(.+)' cannot be used with option '(.+)'$/,
    (one, other) => t`Option '${one}' cannot be used with option '${other}'.`,
  ],
  [/^unknown option '(.*)'$/s, (flag) => t`Unknown option '${flag}'.`],
  [/^unknown command '(.*)'$/s, (name) => t`Unknown command '${name}'.`],
  [
    /^too many arguments(?: for '(.+)')?\. Expected (\d+) arguments? but got (\d+)\.$/,
    (_, most, count) => t`Too many arguments: ${count} given, at most ${most} expected.`,
  ],
  [
    /^option '([^']+)' argument '(.*)' is invalid\. (.*)$/s,
    (name, value, reason = '') => formatInvalid(name, value, reason),
  ],
  [
    /^command-argument value '(.*)' is invalid for argument '([^']+)'\. (.*)$/s,
    (value, name, reason = '') => formatInvalid(name, value, reason),
  ],
];

/** Messages of pas's own parsers are translated already. */
function formatInvalid(name = '', value = '', reason: string): string {
  const choices = /^Allowed choices are (.*)\.$/.exec(reason)?.[1];
  const why = choices === undefined ? reason : t`Choose from ${choices}.`;
  return t`The value '${value}' of '${name}' is invalid. ${why}`;
}

/** Translates an error message of commander; one that is not known stays in English. */
function translateCommanderError(message: string): string {
  for (const [pattern, say] of MESSAGES) {
    const parts = pattern.exec(message);
    if (parts !== null) return say(...parts.slice(1));
  }
  return message;
}

/**
 * Converts commander's refusal of a command line to an error in the current language; a message
 * that pas does not know stays in English. The hint is the flag or command that commander suggests,
 * else the command that prints help.
 * @param args the refused words, with those of the command first
 */
function toUsageError(
  { code, message }: CommanderError,
  program: Command,
  args: readonly string[],
): UsageError {
  // Commander has printed the help of the group.
  if (code === 'commander.help') return new UsageError(t`Name a command of this group.`);
  const [fault = '', suggestion = ''] = message
    .replace(/^error: /, '')
    .split(/\n(?=\(Did you mean)/);
  const near = /^\(Did you mean (?:one of )?(.*)\?\)$/.exec(suggestion)?.[1];
  const help = formatHelpCommand(program, args);
  return new UsageError(translateCommanderError(fault), {
    hint: near === undefined ? t`See \`${help}\`.` : t`Did you mean ${near}?`,
  });
}

/** Formats the command that prints the help of the command that the words begin with, or of pas. */
function formatHelpCommand(program: Command, args: readonly string[]): string {
  const path = ['pas'];
  let command = program;
  for (const word of args) {
    const child = command.commands.find((each) => each.name() === word);
    if (child === undefined) break;
    path.push(word);
    command = child;
  }
  return path.length === 1 ? 'pas help' : `${path.join(' ')} --help`;
}

/**
 * Runs the command that a command line names, in the language that is set.
 * @param args words after `pas`
 * @returns the exit reason; `done` after help and version
 * @throws UsageError for words that commander refuses; errors of the command
 */
export async function runCommand(args: readonly string[], runtime: Runtime): Promise<ExitReason> {
  const words = resolveAlias(moveGlobalFlags(args));
  let reason: ExitReason = 'done';
  const run = makeRunner(runtime, (ended) => {
    reason = ended;
  });
  const program = await buildProgram(run, runtime.streams, getLanguage(), words);
  try {
    await program.parseAsync([...words], { from: 'user' });
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown;
    // Help and version end by an error, too.
    if (thrown.exitCode !== 0) throw toUsageError(thrown, program, words);
  }
  return reason;
}

/** @param onEnd called with the exit reason of a command that ends without an error */
function makeRunner(runtime: Runtime, onEnd: (reason: ExitReason) => void): Runner {
  return (work) =>
    async (...given) => {
      // The last value is the command itself, and the one before it its flags.
      const words = given.slice(0, -1);
      // Help and a mistyped command need no context.
      const [{ restrictHomePermissions, makeContext }, { toDatabaseError }] = await Promise.all([
        import('./context/make-context.ts'),
        import('../base/disk/database.ts'),
      ]);
      const context = makeContext(runtime, words.at(-1) as GlobalOptions);
      setProfileFlagSource(context.getProfileFlag);
      try {
        restrictHomePermissions(context);
        onEnd(await work(context, ...(words as never[])));
      } catch (thrown) {
        // Errors that no lower layer explains: a damaged database page, a full or missing disk.
        const named = thrown instanceof Error && 'path' in thrown ? thrown.path : undefined;
        throw toDatabaseError(String(named ?? context.places.home), thrown);
      } finally {
        await context.close();
      }
    };
}

/** Streams of the help and of its errors. */
type Outputs = { readonly stdout: TextOutput; readonly stderr: TextOutput };

/**
 * Builds the program for one command line. Where its first word is a command, only that one is
 * loaded; else all are registered from the outline of the build, without their actions, or loaded
 * where the build has no outline. The help of the program lists only the first commands, unless
 * `args` has a word or `--all`.
 * @param run makes the actions of commands
 * @param args words after `pas`, with aliases resolved
 */
async function buildProgram(
  run: Runner,
  outputs: Outputs,
  language: Language,
  args: readonly string[],
): Promise<Command> {
  const word = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '--lang');
  const command = word !== undefined && isCommand(word) ? word : undefined;
  const program = makeEmptyProgram(outputs);
  if (word === undefined) program.option('--all', t`with --help: all commands and the exit codes`);
  if (word !== undefined || args.includes('--all')) addWholeHelp(program);
  else addFirstScreen(program);
  const outline = command === undefined ? readOutline(language) : undefined;
  if (outline === undefined) await loadCommands(program, run, command);
  else registerOutlinedCommands(program, outline);
  return program;
}

/** Makes the help list the commands of {@link FIRST_COMMANDS} only, and no flags. */
function addFirstScreen(program: Command): void {
  program
    .addHelpText(
      'after',
      `\n${t`All commands: \`pas help --all\`. Details of one command: \`pas help import\`.`}`,
    )
    .configureHelp({
      ...program.configureHelp(),
      visibleOptions: () => [],
      visibleCommands: ({ commands }) =>
        FIRST_COMMANDS.flatMap(([what, words]) =>
          words.flatMap((word) =>
            commands
              .filter((command) => command.name() === word)
              .map((each) => each.helpGroup(String(what))),
          ),
        ),
      subcommandTerm: (command) => command.name(),
      // The first sentence suffices.
      subcommandDescription: (command) => command.description().replace(/\. .*/, '.'),
    });
}

/**
 * Builds the program with all commands, for help and documentation; their actions do nothing.
 * @param outputs get the help and the errors of the command line
 */
export async function buildWholeProgram(outputs: Outputs): Promise<Command> {
  const program = makeEmptyProgram(outputs);
  addWholeHelp(program);
  await loadCommands(program, () => async () => {});
  return program;
}

/**
 * Makes the program without commands. Its parsing throws CommanderError where commander would end
 * the process, also after help and version; the error itself is not printed.
 */
function makeEmptyProgram({ stdout, stderr }: Outputs): Command {
  return new Command('pas')
    .description(t`Record archaeological finds offline and send each of them once.`)
    .option('--version', t`print the version`)
    .on('option:version', () => {
      stdout.write(`${getPackageVersion()}\n`);
      throw new CommanderError(0, 'commander.version', '');
    })
    .addOption(new Option('--lang <language>', t`language of the output`).choices(LANGUAGES))
    .addHelpOption(
      new Option('-h, --help', t`display help for command`).helpGroup(formatCommonHeading()),
    )
    .helpCommand('help [command]', t`display help for command`)
    .configureHelp({
      helpWidth: Math.min(stdout.columns ?? 100, 120),
      showGlobalOptions: false,
      formatItem: formatHelpItem,
      ...HELP_TEXTS,
    })
    .configureOutput({
      writeOut: (text) => stdout.write(text),
      writeErr: (text) => stderr.write(toPrintable(text)),
      // The caller prints it, with a hint.
      outputError: () => {},
    })
    .exitOverride();
}

/** Adds examples and exit codes to the help. */
function addWholeHelp(program: Command): void {
  program.addHelpText('after', () => {
    const lines = Object.values(EXIT_CODES).map(
      ([code, meaning]) => `  ${String(code).padStart(3)}  ${meaning}`,
    );
    return `\n${formatExamples(['pas demo', 'pas help import'])}\n\n${t`Exit codes:`}\n${lines.join('\n')}`;
  });
}

/** A narrower description is printed below its term. */
const NARROWEST = 28;

/** Formats a flag, an argument or a command of the help within the terminal's width. */
function formatHelpItem(
  term: string,
  termWidth: number,
  description: string,
  helper: Help,
): string {
  const columns = helper.helpWidth ?? 80;
  if (description === '') return `  ${term}`;
  const beside = columns - termWidth - 4;
  if (beside >= NARROWEST && measureDisplayWidth(term) <= termWidth) {
    return indentText(
      wrapText(description, beside),
      `  ${padEndText(term, termWidth)}  `,
      termWidth + 4,
    );
  }
  return `  ${term}\n${indentText(wrapText(description, Math.max(columns - 6, 12)), ' '.repeat(6), 6)}`;
}

type CommandModule = { readonly registerCommands: (program: Command, run: Runner) => void };

/**
 * All commands, in the order of `pas help --all`, by their names. A module is loaded for its
 * command, or for the help: most of them take longer to load than to run.
 */
const MODULES: readonly (readonly [
  words: readonly string[],
  load: () => Promise<CommandModule>,
])[] = [
  [['demo', 'mock-server'], () => import('./commands/mock-server.ts')],
  [['init'], () => import('./commands/init.ts')],
  [['profile'], () => import('./commands/profile.ts')],
  [['login', 'logout', 'whoami'], () => import('./commands/login.ts')],
  [['harvest-vocab', 'vocab'], () => import('./commands/vocab.ts')],
  [['schema'], () => import('./commands/schema.ts')],
  [['harvest'], () => import('./commands/harvest.ts')],
  [['oai'], () => import('./commands/oai.ts')],
  [['field'], () => import('./commands/field-make.ts')],
  [['add'], () => import('./commands/add.ts')],
  [['import'], () => import('./commands/import.ts')],
  [['photo'], () => import('./commands/photo.ts')],
  [['number'], () => import('./commands/number.ts')],
  [['list'], () => import('./commands/list.ts')],
  [['show'], () => import('./commands/show.ts')],
  [['edit'], () => import('./commands/edit.ts')],
  [['remove'], () => import('./commands/remove.ts')],
  [['undo'], () => import('./commands/undo.ts')],
  [['validate'], () => import('./commands/validate.ts')],
  [['export'], () => import('./commands/export.ts')],
  [['push'], () => import('./commands/push.ts')],
  [['pull'], () => import('./commands/pull.ts')],
  [['status'], () => import('./commands/status.ts')],
  [['reconcile', 'resolve'], () => import('./commands/resolve.ts')],
  [['report'], () => import('./commands/report.ts')],
  [['doctor'], () => import('./commands/doctor.ts')],
  [['backup', 'restore'], () => import('./commands/backup.ts')],
  [['rehearse'], () => import('./commands/rehearse.ts')],
  [['completion', '__complete'], () => import('./commands/completion.ts')],
];

/** Commands of the first screen, in the order that leads to the first push. */
const FIRST_COMMANDS: readonly (readonly [what: Message, words: readonly string[]])[] = [
  [msg`Try it without an account:`, ['demo']],
  [
    msg`Steps to the first push:`,
    ['init', 'login', 'harvest-vocab', 'import', 'validate', 'push', 'status'],
  ],
  [msg`Other commands:`, ['add', 'report', 'doctor']],
];

/** Words that people type first, and what they mean. */
const ALIASES: Readonly<Record<string, readonly string[]>> = {
  search: ['vocab', 'search'],
  version: ['--version'],
};

/**
 * Returns the words of a command line with `help` and an alias replaced: `help import` becomes
 * `import --help`, `search` becomes `vocab search`, and no word at all `--help`. `help` before an
 * unknown word is left out, so that commander refuses that word.
 * @param args words after `pas`
 */
function resolveAlias(args: readonly string[]): readonly string[] {
  const [first = 'help', ...rest] = args;
  if (first !== 'help') return [...(ALIASES[first] ?? [first]), ...rest];
  const [asked = 'help'] = rest;
  if (asked === 'help') return ['--help'];
  const alias = ALIASES[asked];
  // With --help commander would not refuse it.
  if (alias === undefined && !asked.startsWith('-') && !isCommand(asked)) return rest;
  return [...(alias ?? [asked]), ...rest.slice(1), '--help'];
}

function isCommand(word: string): boolean {
  return MODULES.some(([words]) => words.includes(word));
}

/** @param word a command; without it all are registered */
async function loadCommands(program: Command, run: Runner, word?: string): Promise<void> {
  const wanted = MODULES.filter(([words]) => word === undefined || words.includes(word));
  for (const [, load] of wanted) (await load()).registerCommands(program, run);
  addCommonOptions(program);
}

/**
 * Moves the global flags at the beginning of a command line behind the words of the command, where
 * commander reads them: `--json list K-1 --full` becomes `list K-1 --json --full`. Other command
 * lines are returned unchanged, such as global flags before no command or before another flag.
 * @param args words after `pas`
 */
function moveGlobalFlags(args: readonly string[]): readonly string[] {
  const start = countGlobalFlags(args);
  const rest = args.slice(start);
  if (start === 0 || rest[0] === undefined || rest[0].startsWith('-')) return args;
  const flag = rest.findIndex((arg) => arg.startsWith('-'));
  const at = flag === -1 ? rest.length : flag;
  return [...rest.slice(0, at), ...args.slice(0, start), ...rest.slice(at)];
}

/** Counts the words at the beginning that are global flags or values of these. */
function countGlobalFlags(args: readonly string[]): number {
  if (!args[0]?.startsWith('-')) return 0;
  const { options } = addGlobalOptions(new Command());
  let count = 0;
  for (;;) {
    const arg = args[count] ?? '';
    const option = options.find(
      ({ long, short, required }) =>
        arg === long || arg === short || (required && arg.startsWith(`${long}=`)),
    );
    if (option === undefined) return count;
    count += option.required && arg === option.long ? 2 : 1;
  }
}
