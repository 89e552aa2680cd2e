import { CommanderError } from 'commander';
import { toPrintable, wrapText } from '../base/characters.ts';
import {
  ConfigError,
  EXIT_CODES,
  type ExitReason,
  getErrorMessage,
  PasError,
  UsageError,
} from '../base/errors.ts';
import {
  findLanguageFlag,
  getLanguage,
  LANGUAGES,
  parseLanguage,
  setProfileFlagSource,
  t,
} from '../base/message.ts';
import { getPackageVersion } from '../base/own-files.ts';
import type { Runner } from './command.ts';
import type { GlobalOptions, Runtime } from './context/context.ts';
import {
  buildProgram,
  indentText,
  moveGlobalFlags,
  resolveAlias,
  toUsageError,
} from './program.ts';

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
    const reason = await runCommand(resolveAlias(moveGlobalFlags(args)), runtime);
    const [code, meaning] = EXIT_CODES[reason];
    if (code !== 0 && json) printExit(runtime, { code, message: String(meaning), hint: undefined });
    return code;
  } catch (thrown) {
    // Help and version end by an error, too.
    return thrown instanceof CommanderError
      ? EXIT_CODES.done[0]
      : printError(thrown, json, runtime);
  }
}

/**
 * Runs the command that the words begin with, and returns its exit reason.
 * @throws CommanderError with exit code 0 after help and version; UsageError for other words that
 * commander refuses; errors of the command
 */
async function runCommand(words: readonly string[], runtime: Runtime): Promise<ExitReason> {
  let reason: ExitReason = 'done';
  const run = makeRunner(runtime, (ended) => {
    reason = ended;
  });
  const program = await buildProgram(run, runtime.streams, getLanguage(), words);
  await program.parseAsync([...words], { from: 'user' }).catch((thrown: unknown) => {
    throw thrown instanceof CommanderError && thrown.exitCode !== 0
      ? toUsageError(thrown, program, words)
      : thrown;
  });
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
