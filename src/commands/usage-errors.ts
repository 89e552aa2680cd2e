import type { CommanderError } from 'commander';
import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { findNearestNames, joinAlternatives } from '../text/names.ts';
import { translateCommanderError } from './commander-texts.ts';
import { type CommandOutline, type OptionOutline, type Outline, walkOutline } from './outline.ts';

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
 * Makes an error of a command line that commander refused.
 * @param outline all commands, among which the intended one is searched
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
  const alternatives = joinAlternatives(commands.map(formatPath));
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
