import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { LANGUAGES, type Language, t } from '../base/message.ts';
import { packageRoot } from '../base/own-files.ts';
import type { Context } from './context/context.ts';

/**
 * Makes the action of a command from its work: it opens a context, calls `work` with the context,
 * the arguments (undefined for a missing one) and last the flags as one object, closes the
 * context, also after an error, and keeps the exit reason. Errors pass through; the main program
 * reports them.
 */
export type Runner = (
  work: (context: Context, ...given: never[]) => Promise<ExitReason>,
) => (...given: unknown[]) => Promise<void>;

/**
 * Adds the commands of a module, by {@link defineCommand} and with `run(work)` as their action, to
 * the program or to a group. It is the only function that a module of `commands` must export, as
 * `registerCommands`; it runs nothing and opens nothing.
 */
export type Registration = (program: Command, run: Runner) => void;

/**
 * Adds to a command the flags that every command takes, as a group of its own in the help; returns
 * the command.
 */
export function addGlobalOptions(command: Command): Command {
  return command
    .optionsGroup(formatCommonHeading())
    .addOption(new Option('--profile <profile>', t`use this profile`))
    .addOption(new Option('--json', t`print results as JSON`))
    .addOption(new Option('-y, --yes', t`do not ask for confirmation`))
    .addOption(new Option('-q, --quiet', t`print results and failures only`))
    .addOption(new Option('-v, --verbose', t`show details`))
    .addOption(new Option('--lang <language>', t`language of the output`).choices(LANGUAGES))
    .addOption(new Option('--no-color', t`no colours`));
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Returns the examples of a command that {@link defineCommand} added; empty for any other. */
export function getExamples(command: Command): readonly string[] {
  return EXAMPLES.get(command) ?? [];
}

/**
 * Adds a command with its summary and examples to the program or a group, and returns it for its
 * arguments, flags and action. {@link addCommonOptions} adds the global flags later.
 * @param name with its arguments, such as `import [file...]`
 */
export function defineCommand(
  program: Command,
  name: string,
  summary: string,
  examples: readonly [string, string, ...string[]],
): Command {
  const command = program.command(name).description(summary);
  EXAMPLES.set(command, examples);
  command.addHelpText('after', () => `\n${formatExamples(examples)}`);
  return command;
}

/** Formats the heading Examples, and below it a line `  $ pas …` for each example. */
export function formatExamples(examples: readonly string[]): string {
  return `${t`Examples:`}\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

/** Short forms of flags, the same in every command. */
const SHORT_FLAGS: Readonly<Record<string, string>> = {
  '--out': '-o',
  '--dry-run': '-n',
};

/** Formats the heading in the help of the flags that every command takes. */
export function formatCommonHeading(): string {
  return t`Common:`;
}

/**
 * Adds to each command of the program, also of its groups, the short forms of its flags and the
 * global flags; a group itself gets no global flags. To be called once, when all are defined.
 */
export function addCommonOptions(program: Command): void {
  for (const command of program.commands) {
    for (const option of command.options) {
      const short = SHORT_FLAGS[option.long ?? ''];
      if (short === undefined) continue;
      option.short = short;
      option.flags = `${short}, ${option.flags}`;
    }
    if (command.commands.length === 0) addGlobalOptions(command);
    addCommonOptions(command);
  }
}

/** Parses one value of a flag that may be repeated; returns all its values so far, in order. */
export function appendValue(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/**
 * Parses the value of a flag as a whole number of at most 9 digits, also 0.
 * @throws InvalidArgumentError for any other text
 */
export function parseWholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError(t`Enter a whole number.`);
  return Number(text);
}

/** Adds `--where`, which selects finds and may be repeated; returns the command. */
export function addWhereOption(command: Command): Command {
  return command.option(
    '--where <name=value>',
    t`only finds that match: element=value, state=draft,refused, since=DAY or until=DAY of the find, or text=anywhere; may be repeated`,
    appendValue,
  );
}

/** Adds `--sheet`, which chooses a sheet or layer of a table's file; returns the command. */
export function addSheetOption(command: Command): Command {
  return command.option(
    '--sheet <name>',
    t`sheet of a workbook or layer of a GeoPackage to read, by name or number (default: the first with content)`,
  );
}

/**
 * Structure of the command line as data: help, completion and reference then need not load the
 * commands.
 */
export type CommandOutline = {
  readonly name: string;
  readonly summary: string;
  readonly arguments: readonly ArgumentOutline[];
  /** Without the global flags. */
  readonly options: readonly OptionOutline[];
  readonly examples: readonly string[];
  readonly commands: readonly CommandOutline[];
};

type ArgumentOutline = {
  readonly name: string;
  readonly required: boolean;
  readonly repeated: boolean;
  readonly choices: readonly string[];
};

/** A flag; `flags` is `-o, --out <file>`, and `long` is `--out`. */
export type OptionOutline = {
  readonly flags: string;
  readonly long: string;
  /** Name of the value, such as `file`; null for a switch. */
  readonly value: string | null;
  readonly summary: string;
  readonly choices: readonly string[];
  readonly fallback: string | null;
};

/** Outline of the program with all commands; the global flags are listed once, beside it. */
export type Outline = {
  readonly program: CommandOutline;
  readonly globalOptions: readonly OptionOutline[];
};

/**
 * Makes the outline of a program from its commands, in the current language; hidden commands and
 * flags are left out.
 * @param program with all commands loaded
 */
export function buildOutline(program: Command): Outline {
  const globalOptions = addGlobalOptions(new Command()).options.map(makeOptionOutline);
  const isGlobal = (long: string): boolean => globalOptions.some((option) => option.long === long);
  return { program: makeCommandOutline(program, isGlobal), globalOptions };
}

function makeCommandOutline(command: Command, isGlobal: (long: string) => boolean): CommandOutline {
  const visible = command.createHelp().visibleCommands(command);
  return {
    name: command.name(),
    summary: command.description(),
    arguments: command.registeredArguments.map(makeArgumentOutline),
    options: command.options
      .filter(({ hidden }) => !hidden)
      .map(makeOptionOutline)
      .filter(({ long }) => !isGlobal(long)),
    examples: getExamples(command),
    commands: visible
      .filter((child) => child.name() !== 'help')
      .map((child) => makeCommandOutline(child, isGlobal)),
  };
}

function makeArgumentOutline(argument: Argument): ArgumentOutline {
  return {
    name: argument.name(),
    required: argument.required,
    repeated: argument.variadic,
    choices: argument.argChoices ?? [],
  };
}

function makeOptionOutline(option: Option): OptionOutline {
  const value = /[<[]([^<[\]>]+)[\]>]/.exec(option.flags)?.[1] ?? null;
  const fallback = option.defaultValueDescription ?? option.defaultValue;
  return {
    flags: option.flags,
    long: option.long ?? option.flags,
    value: value === null ? null : value.replace(/\.\.\.$/, ''),
    summary: option.description,
    choices: option.argChoices ?? [],
    // Defaults of switches are not described.
    fallback: value === null || fallback === undefined ? null : String(fallback),
  };
}

/** Returns the path of the outline that the build writes for a language; it need not exist. */
export function getOutlinePath(language: Language): string {
  return join(packageRoot, 'dist', `outline-${language}.json`);
}

/**
 * Reads the outline of the build; undefined where it is missing, unreadable, or older than the
 * built program.ts. Of the other modules no time is compared.
 */
export function readOutline(language: Language): Outline | undefined {
  const file = getOutlinePath(language);
  const programFile = join(packageRoot, 'dist', 'src', 'cli', 'program.js');
  try {
    if (statSync(file).mtimeMs < statSync(programFile).mtimeMs) return undefined;
    return JSON.parse(readFileSync(file, 'utf8')) as Outline;
  } catch {
    // Every command is loaded instead, which takes longer.
    return undefined;
  }
}

/**
 * Adds the commands of the outline to the program with name, arguments, summary and global flags,
 * but without actions, own flags and the commands of groups: enough for the help, and for the error
 * of an unknown word.
 */
export function registerOutlinedCommands(program: Command, outline: Outline): void {
  for (const command of outline.program.commands) {
    const words = [command.name, ...command.arguments.map(formatArgument)];
    const stub = program.command(words.join(' ')).description(command.summary);
    if (command.commands.length === 0) addGlobalOptions(stub);
  }
}

/** Formats an argument as in the help: `<file...>`, or `[find]` where it may be left out. */
export function formatArgument({ name, required, repeated }: ArgumentOutline): string {
  const inside = repeated ? `${name}...` : name;
  return required ? `<${inside}>` : `[${inside}]`;
}
