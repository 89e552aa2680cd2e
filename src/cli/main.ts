import { existsSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { indentText, toPrintable, wrapText } from '../base/characters.ts';
import { ConfigError, EXIT_CODES, getErrorMessage, PasError, UsageError } from '../base/errors.ts';
import {
  chooseLanguage,
  findLanguageFlag,
  LANGUAGES,
  parseLanguage,
  setLanguage,
  setProfileFlagSource,
  t,
} from '../base/message.ts';
import { getPackageVersion } from '../base/own-files.ts';
import type { Runtime } from './context/context.ts';
import { type Environment, makeDataPaths, readStoredLanguage } from './context/places.ts';

export { t } from '../base/message.ts';

/**
 * Chooses the language by flag, environment, configuration or locale, sets the cache of compiled
 * code, and then runs a command line as {@link runCommandLine}, which loads the other modules.
 * @param args words after `pas`
 * @returns the exit code
 */
export async function startCommandLine(args: readonly string[], runtime: Runtime): Promise<number> {
  setLanguage(
    chooseLanguage(args, runtime.environment, () => readStoredLanguage(runtime.environment)),
  );
  cacheCompiledCode(runtime.environment);
  return runCommandLine(args, runtime);
}

/**
 * Sets the cache of compiled modules (Node 22.1 and later) in the state folder, unless that is
 * missing or read-only.
 */
function cacheCompiledCode(environment: Environment): void {
  const { enableCompileCache } = module as {
    readonly enableCompileCache?: (folder: string) => unknown;
  };
  const state = dirname(makeDataPaths(environment).paceFile);
  if (existsSync(state)) enableCompileCache?.(join(state, 'compiled'));
}

/**
 * Runs a command line in the language that is set. An error that ends it, also a bug, is printed
 * and not thrown. The process is not ended.
 * @param args words after `pas`
 * @returns the exit code; see EXIT_CODES
 */
export async function runCommandLine(args: readonly string[], runtime: Runtime): Promise<number> {
  const json = args.includes('--json');
  setProfileFlagSource(() => '');
  try {
    assertKnownLanguage(args, runtime);
    assertNoTracing(runtime);
    assertCurrentFolder(runtime);
    const { runCommand } = await import('./program.ts');
    const reason = await runCommand(args, runtime);
    const [code, meaning] = EXIT_CODES[reason];
    if (code !== 0 && json) printExit(runtime, { code, message: String(meaning), hint: undefined });
    return code;
  } catch (thrown) {
    return printError(thrown, json, runtime);
  }
}

/**
 * Asserts that PAS_LANG is a language of pas, unless `--lang` replaces it, whose values commander
 * checks.
 * @throws UsageError where it is none
 */
function assertKnownLanguage(args: readonly string[], { environment }: Runtime): void {
  const named = environment['PAS_LANG'] ?? '';
  if (named === '' || parseLanguage(named) !== undefined || findLanguageFlag(args) !== undefined)
    return;
  const languages = LANGUAGES.join(', ');
  throw new UsageError(t`PAS_LANG is ${named}, but pas has no such language.`, {
    hint: t`Choose from ${languages}.`,
  });
}

/**
 * Parts of Node that print requests with their tokens where NODE_DEBUG names one. Node reads it
 * before any code runs.
 */
const TRACED = /^(?:http|net|stream|tls|undici|fetch)|\*/i;

/** @throws ConfigError where NODE_DEBUG would print secrets */
function assertNoTracing({ environment }: Runtime): void {
  const traced = environment['NODE_DEBUG']?.split(',').find((part) => TRACED.test(part.trim()));
  if (traced === undefined) return;
  const variable = `NODE_DEBUG=${traced.trim()}`;
  throw new ConfigError(t`${variable} makes Node print passwords and tokens.`, {
    hint: t`Run the command again without NODE_DEBUG.`,
  });
}

/** @throws UsageError where the current folder was removed: names of files mean nothing there */
function assertCurrentFolder({ cwd }: Runtime): void {
  if (cwd === '')
    throw new UsageError(t`The current folder was removed.`, {
      hint: t`Go to another one first: cd`,
    });
}

/**
 * Prints an error for people, and as a last line for programs under `--json`.
 * @returns the exit code
 */
function printError(thrown: unknown, json: boolean, runtime: Runtime): number {
  const failure = asFailure(thrown);
  const { code, message, hint } = failure;
  writeError(runtime, `pas: ${toPrintable(message)}`);
  if (hint !== undefined) writeError(runtime, indentText(toPrintable(hint), '     ', 5));
  if (json) printExit(runtime, failure);
  return code;
}

/** Prints the last line for programs. */
function printExit(runtime: Runtime, { code, message, hint }: Failure): void {
  writeError(runtime, JSON.stringify({ type: 'exit', code, message, hint: hint ?? null }));
}

type Failure = { code: number; message: string; hint: string | undefined };

/**
 * Converts an error to what is printed. One that is not of pas is a bug: its message is its stack.
 */
function asFailure(thrown: unknown): Failure {
  if (thrown instanceof PasError)
    return { code: thrown.exitCode, message: thrown.message, hint: thrown.hint };
  const stack =
    thrown instanceof Error && thrown.stack !== undefined ? thrown.stack : getErrorMessage(thrown);
  const version = getPackageVersion();
  const node = process.version;
  return {
    code: EXIT_CODES.bug[0],
    message: t`this is a bug in pas ${version} (Node ${node}): ${stack}`,
    hint: t`No saved data is lost. Please report this with the lines above.`,
  };
}

function writeError({ streams }: Runtime, text: string): void {
  const columns = streams.stderr.isTTY === true ? streams.stderr.columns : undefined;
  streams.stderr.write(
    `${columns === undefined || columns === 0 || text.startsWith('{') ? text : wrapText(text, columns)}\n`,
  );
}
