import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Argument, Command, type Option } from 'commander';
import type { Language } from '../base/language.ts';
import { packageRoot } from '../base/own-files.ts';
import { addGlobalOptions, getExamples } from './command.ts';

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

export type OptionOutline = {
  readonly flags: string;
  readonly long: string;
  /** Name of the value, such as `file`; null for a switch. */
  readonly value: string | null;
  readonly summary: string;
  readonly choices: readonly string[];
  readonly fallback: string | null;
};

export type Outline = {
  readonly program: CommandOutline;
  readonly globalOptions: readonly OptionOutline[];
};

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

/** Path of the file into which the build writes the outline in a language. */
export function getOutlinePath(language: Language): string {
  return join(packageRoot, 'dist', `outline-${language}.json`);
}

/**
 * Reads the outline of the build; undefined where there is none, or the commands were built again
 * since.
 */
export function readOutline(language: Language): Outline | undefined {
  const file = getOutlinePath(language);
  try {
    if (
      statSync(file).mtimeMs <
      statSync(join(packageRoot, 'dist', 'src', 'cli', 'program.js')).mtimeMs
    )
      return undefined;
    return JSON.parse(readFileSync(file, 'utf8')) as Outline;
  } catch {
    // Every command is loaded instead, which takes longer.
    return undefined;
  }
}

type WalkedCommand = {
  readonly command: CommandOutline;
  readonly path: readonly string[];
  readonly options: readonly OptionOutline[];
  readonly position: number;
  /** The flag whose value comes next. */
  readonly pending: OptionOutline | undefined;
  readonly flagsAreOver: boolean;
};

/**
 * Follows the words of a command line to the command that they name. `position` is the number of
 * arguments so far, `pending` the flag whose value comes next, `options` all flags of the
 * command; `flagsAreOver` after `--`. Unknown words count as arguments.
 */
export function walkOutline(
  program: CommandOutline,
  globalOptions: readonly OptionOutline[],
  words: readonly string[],
): WalkedCommand {
  let command = program;
  let position = 0;
  let pending: OptionOutline | undefined;
  let flagsAreOver = false;
  const path: string[] = [];
  const listOptions = () => [...command.options, ...globalOptions];
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (word === '--') flagsAreOver = true;
    else if (word.startsWith('-') && !flagsAreOver) {
      const option = listOptions().find(({ flags }) => flags.split(/[ ,]+/).includes(word));
      pending = option?.value === null ? undefined : option;
    } else if (word !== 'help' || path.length > 0) {
      const child = command.commands.find(({ name }) => name === word);
      if (child === undefined) position += 1;
      else {
        command = child;
        path.push(word);
      }
    }
  }
  return { command, path, options: listOptions(), position, pending, flagsAreOver };
}

/**
 * Adds the commands by name and summary, without their actions and own flags: enough for the
 * help, and for the error of an unknown word.
 */
export function registerOutline(program: Command, outline: Outline): void {
  for (const command of outline.program.commands) {
    const words = [command.name, ...command.arguments.map(formatArgument)];
    const stub = program.command(words.join(' ')).description(command.summary);
    if (command.commands.length === 0) addGlobalOptions(stub);
  }
}

/** Formats `<file...>`, `[find]`. */
export function formatArgument({ name, required, repeated }: ArgumentOutline): string {
  const inside = repeated ? `${name}...` : name;
  return required ? `<${inside}>` : `[${inside}]`;
}
