import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ExitReason } from '../base/errors.ts';
import { LANGUAGES, t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import type { Context } from './context/context.ts';

/**
 * Makes the action of a command from its work: it opens a context, calls `work` with the context,
 * the arguments (undefined for a missing one) and last the flags as one object, closes the
 * context, also after an error, and keeps the exit reason. Errors pass through; the main program
 * reports them. A module of `commands` exports `register(program, run)`, which adds its commands
 * by {@link defineCommand} and sets `run(work)` as their action. It runs nothing and opens
 * nothing.
 */
export type Runner = (
  work: (context: Context, ...given: never[]) => Promise<ExitReason>,
) => (...given: unknown[]) => Promise<void>;

/**
 * Adds the flags that every command takes, as a group of its own in the help; returns the
 * command.
 */
export function addGlobalOptions(command: Command): Command {
  return command
    .optionsGroup(formatCommonHeading())
    .addOption(new Option('--profile <name>', t`use this profile`))
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
 * arguments, flags and action. {@link completeOptions} adds the global flags later.
 * @param definition.name with its arguments, such as `import [file...]`
 */
export function defineCommand(
  program: Command,
  definition: {
    readonly name: string;
    readonly summary: string;
    readonly examples: readonly [string, string, ...string[]];
  },
): Command {
  const command = program.command(definition.name).description(definition.summary);
  EXAMPLES.set(command, definition.examples);
  command.addHelpText('after', `\n${formatExamples(definition.examples)}`);
  return command;
}

export function formatExamples(examples: readonly string[]): string {
  return `${t`Examples:`}\n${examples.map((example) => `  $ ${example}`).join('\n')}`;
}

/** Adds the first examples of the subcommands, at most three, to the help of each command group. */
export function addExamplesOfGroups(program: Command): void {
  for (const command of program.commands) {
    if (command.commands.length === 0) continue;
    addExamplesOfGroups(command);
    const examples = command.commands.flatMap((child) =>
      getExamples(child).slice(0, command.commands.length === 1 ? 2 : 1),
    );
    if (examples.length > 0)
      command.addHelpText('after', `\n${formatExamples(examples.slice(0, 3))}`);
  }
}

/** Short forms of flags, the same in every command. */
const SHORT_FLAGS: Readonly<Record<string, string>> = {
  '--out': '-o',
  '--dry-run': '-n',
};

/**
 * Groups of flags in the help, the same in every command; other flags are under Options. A flag
 * that has several meanings is named with its value.
 */
const FLAG_GROUPS: readonly (readonly [heading: Message, flags: readonly string[]])[] = [
  [
    msg`Table:`,
    ['--sheet', '--encoding', '--header-row', '--map', '--wizard', '--keep-rows', '--id-prefix'],
  ],
  [msg`Photographs:`, ['--photo', '--photos']],
  [
    msg`Conflicts and questions:`,
    [
      '--on-conflict',
      '--on-question',
      '--accept-new-people',
      '--corrections',
      '--answer',
      '--all <answer>',
      '--created',
      '--resend',
      '--drop',
    ],
  ],
  [
    msg`Selection:`,
    [
      '--state',
      '--project',
      '--from <date>',
      '--until',
      '--since',
      '--text',
      '--where',
      '--limit',
      '--only',
      '--set <set>',
    ],
  ],
  [msg`Output:`, ['--out', '--format', '--codes', '--for', '--issues-to', '--xml']],
];

/** Heading of the flags that every command takes; they are last. */
export function formatCommonHeading(): string {
  return t`Common:`;
}

/**
 * Adds to each command, also in groups, what all have in common: short forms, groups in the help,
 * global flags. To be called once, after all commands are defined.
 */
export function completeOptions(program: Command): void {
  for (const command of program.commands) {
    for (const option of command.options) {
      const group = FLAG_GROUPS.find(([, flags]) =>
        flags.some((flag) => option.flags === flag || option.flags.startsWith(`${flag} `)),
      );
      if (group !== undefined) option.helpGroup(String(group[0]));
      const short = SHORT_FLAGS[option.long ?? ''];
      if (short === undefined) continue;
      option.short = short;
      option.flags = `${short}, ${option.flags}`;
    }
    if (command.commands.length === 0) addGlobalOptions(command);
    completeOptions(command);
  }
}

/** Parses a flag that may be repeated: returns the earlier values with this one behind them. */
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

/**
 * Parses the value of a flag as {@link parseWholeNumber} does, but not 0.
 * @throws InvalidArgumentError for any other text
 */
export function parsePositiveNumber(text: string): number {
  const number = parseWholeNumber(text);
  if (number > 0) return number;
  throw new InvalidArgumentError(t`Enter a whole number, 1 or more.`);
}

/** Adds the selection of finds. */
export function addWhereOption(command: Command): Command {
  return command.option(
    '--where <name=value>',
    t`only finds that match: element=value, state=draft,refused, since=DAY or until=DAY of the find, or text=anywhere; may be repeated`,
    appendValue,
  );
}

/** Adds the flag that chooses a sheet or layer; returns the command. */
export function addSheetOption(command: Command): Command {
  return command.option(
    '--sheet <name>',
    t`sheet of a workbook, layer of a GeoPackage or shapefile of an archive to read, by name or number (default: the first with content)`,
  );
}

/**
 * Adds the flags that replace the detection of a table's form: sheet, encoding, rows of the
 * header. Returns the command.
 */
export function addReadingOptions(command: Command): Command {
  return addSheetOption(command)
    .option('--encoding <name>', t`encoding of a CSV table or a shapefile (default: detected)`)
    .option(
      '--header-row <n>',
      t`row with the column names, or two rows such as 2-3 (default: detected)`,
    );
}
