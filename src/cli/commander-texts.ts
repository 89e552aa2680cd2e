import type { CommanderError, HelpConfiguration, Option } from 'commander';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Message, msg } from '../base/message.ts';
import { findNearestNames, joinWithOr } from '../base/names.ts';
import { type CommandOutline, type OptionOutline, type Outline, walkOutline } from './outline.ts';

const HEADINGS: Readonly<Record<string, Message>> = {
  'Usage:': msg`Usage:`,
  'Arguments:': msg`Arguments:`,
  'Options:': msg`Options:`,
  'Commands:': msg`Commands:`,
};

export const HELP_TEXTS: HelpConfiguration = {
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

/**
 * Returns an error message of commander in the current language, without `error: `; one that is
 * not known stays in English.
 */
export function translateCommanderError(text: string): string {
  const message = text.replace(/^error: /, '');
  for (const [pattern, say] of MESSAGES) {
    const parts = pattern.exec(message);
    if (parts !== null) return say(...parts.slice(1));
  }
  return message;
}

/** Words of other programs for what commands do here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  check: 'validate',
  config: 'profile',
  create: 'add',
  delete: 'remove',
  ls: 'list',
  mock: 'mock-server',
  new: 'add',
  project: 'vocab',
  projects: 'vocab',
  rm: 'remove',
  send: 'push',
  sync: 'push',
  upload: 'push',
};

/** Proposals of one error. */
const MOST = 3;

/**
 * Makes the error of a command line that commander refused, with the most similar commands or
 * flags as hint, else how to get help.
 * @param outline all commands, among which the intended one is searched; without it there is no
 * hint
 */
export function makeUsageError(
  { message }: CommanderError,
  args: readonly string[],
  outline: Outline | undefined,
): UsageError {
  const what = translateCommanderError(message);
  if (outline === undefined) return new UsageError(what);
  const [, kind, unknown = ''] = /^error: unknown (command|option) '(.*)'$/s.exec(message) ?? [];
  const known = kind === 'command' ? args.slice(0, args.indexOf(unknown)) : args;
  const { path, options } = walkOutline(outline.program, outline.globalOptions, known);
  const hint =
    kind === 'command'
      ? proposeCommands(outline, path, unknown)
      : proposeFlags(outline, options, unknown);
  return new UsageError(what, { hint: hint ?? proposeHelp(path) });
}

function proposeHelp(path: readonly string[]): string {
  const help = path.length === 0 ? 'pas help' : ['pas', ...path, '--help'].join(' ');
  return t`See \`${help}\`.`;
}

type CommandPath = { readonly command: CommandOutline; readonly path: readonly string[] };

/** Proposes similar commands of the typed group, or else of any, or else the whole group. */
function proposeCommands(
  { program }: Outline,
  group: readonly string[],
  typed: string,
): string | undefined {
  const all = listCommands(program, []);
  const inGroup = all.filter(({ path }) => path.slice(0, -1).join(' ') === group.join(' '));
  const near = [inGroup, all]
    .map((commands) => findNamed(commands, typed))
    .find(({ length }) => length > 0);
  if (near === undefined) return group.length === 0 ? undefined : proposeAll(inGroup);
  const shortest = near.sort((one, other) => one.path.length - other.path.length);
  return askIfMeant(shortest.slice(0, MOST).map(formatPath));
}

function proposeAll(commands: readonly CommandPath[]): string {
  const alternatives = joinWithOr(commands.map(formatPath));
  return t`Write ${alternatives}.`;
}

function findNamed(commands: readonly CommandPath[], typed: string): CommandPath[] {
  const names = [...new Set(commands.map(({ command }) => command.name))];
  const meant = [SYNONYMS[typed] ?? typed, ...findNearestNames(typed, names)];
  const best = meant.find((name) => names.includes(name));
  return commands.filter(({ command }) => command.name === best);
}

/** Proposes flags of the command, or else names the commands that have the flag. */
function proposeFlags(
  { program }: Outline,
  options: readonly OptionOutline[],
  typed: string,
): string | undefined {
  const names = options.map(({ long }) => long);
  const longer = names.find((long) => typed.startsWith(long) || long.startsWith(typed));
  const near = longer ?? findNearestNames(typed, names)[0];
  if (near !== undefined && typed.startsWith('--')) return askIfMeant([near]);
  const owners = listCommands(program, []).filter(({ command }) =>
    command.options.some((option) => listForms(option).includes(typed)),
  );
  if (owners.length === 0) return undefined;
  const commands = owners.map(formatPath).join(', ');
  return t`It is an option of ${commands}.`;
}

/** Returns the short and the long form of a flag. */
function listForms({ flags }: OptionOutline): readonly string[] {
  return flags.split(/[ ,]+/).filter((form) => form.startsWith('-'));
}

function listCommands({ commands }: CommandOutline, group: readonly string[]): CommandPath[] {
  return commands.flatMap((command) => {
    const path = [...group, command.name];
    return [{ command, path }, ...listCommands(command, path)];
  });
}

function formatPath({ path }: CommandPath): string {
  return `\`${['pas', ...path].join(' ')}\``;
}

function askIfMeant(proposals: readonly string[]): string {
  const nearest = proposals.join(', ');
  return t`Did you mean ${nearest}?`;
}
