import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { getLanguage, type Language, t } from '../../base/language.ts';
import { packageRoot } from '../../base/own-files.ts';
import {
  defineCommand,
  type OptionOutline,
  type Outline,
  type Runner,
  readOutline,
  walkOutline,
} from '../command.ts';
import type { Context } from '../context/context.ts';
import { type DataPaths, type Environment, makeDataPaths } from '../context/places.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function register(program: Command, run: Runner): void {
  registerCompletion(program, run);
  registerComplete(program, run);
}

function registerCompletion(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'completion',
    summary: t`Print a script that completes commands, flags, finds, sets and profiles in your shell.`,
    examples: [
      'pas completion bash >> ~/.bashrc',
      'pas completion fish > ~/.config/fish/completions/pas.fish',
    ],
  })
    .addArgument(new Argument('<shell>', t`the shell`).choices(SHELLS))
    .action(run(printScript));
}

async function printScript({ terminal, streams }: Context, shell: Shell): Promise<ExitReason> {
  const script = readFileSync(join(packageRoot, 'bin', 'completion', `pas.${shell}`), 'utf8');
  streams.stdout.write(terminal.json ? `${JSON.stringify({ shell, script })}\n` : script);
  return 'done';
}

type NameKind = 'finds' | 'sets' | 'profiles';

type KnownName = { readonly text: string; readonly summary: string };

/** More names are of no use. */
const MAX_NAMES = 500;

/**
 * Returns the names of a kind for completion; of finds only those that begin with `partial`. It
 * loads little code, since the user is waiting after Tab, and returns none where a file cannot be
 * read.
 */
async function listKnownNames(
  places: DataPaths,
  kind: NameKind,
  partial: string,
  language: Language,
): Promise<KnownName[]> {
  try {
    switch (kind) {
      case 'finds':
        return await findNames(await findOutboxFile(places), partial);
      case 'sets':
        return setNames(language);
      case 'profiles': {
        const { readConfigFile } = await import('../context/config.ts');
        return [...readConfigFile(places.configFile).profiles.keys()].map((text) => ({
          text,
          summary: '',
        }));
      }
    }
  } catch {
    // For completion, a damaged, locked or unreadable file counts as empty.
    return [];
  }
}

async function findOutboxFile(places: DataPaths): Promise<string | undefined> {
  const [{ findOutboxName, readConfigFile }, { makeOutboxPaths }] = await Promise.all([
    import('../context/config.ts'),
    import('../context/places.ts'),
  ]);
  const { defaultProfile, profiles } = readConfigFile(places.configFile);
  const settings = profiles.get(defaultProfile ?? [...profiles.keys()][0] ?? '');
  const outbox = findOutboxName(settings ?? {});
  return outbox === undefined ? undefined : makeOutboxPaths(places, outbox).outboxFile;
}

async function findNames(file: string | undefined, partial: string): Promise<KnownName[]> {
  if (file === undefined || !existsSync(file)) return [];
  const { openDatabase } = await import('../../base/disk/database.ts');
  const outbox = openDatabase(file, { synchronous: 'normal', readonly: true, busyTimeoutMs: 50 });
  try {
    return outbox
      .prepare(
        `select text from (
           select local_id as text from finds where hidden = 0
           union select ident_cely from entries where ident_cely is not null
         ) where substr(text, 1, length(:partial)) = :partial order by text limit ${MAX_NAMES}`,
      )
      .pluck()
      .all({ partial })
      .flatMap((text) => (typeof text === 'string' ? [{ text, summary: '' }] : []));
  } finally {
    outbox.close();
  }
}

type KnownSet = { readonly setSpec: string; readonly cs: string; readonly en: string };

function setNames(language: Language): KnownName[] {
  const sets = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'contract', 'set-specs.json'), 'utf8'),
  ) as readonly KnownSet[];
  return sets.map((set) => ({ text: set.setSpec, summary: set[language] }));
}

type CompleteOptions = {
  /** The command line of bash, in place of the words. */
  readonly line?: string;
  readonly point?: string;
  /** Characters that end a word in bash. */
  readonly breaks?: string;
};

/**
 * Answers the completion scripts: one candidate per line, with its meaning behind a tab; `:files`
 * or `:folders` for paths. Errors are ignored, since a message would disturb the prompt. It writes
 * and locks nothing.
 */
function registerComplete(program: Command, _run: Runner): void {
  program
    .command('__complete [words...]', { hidden: true })
    .option('--line <text>')
    .option('--point <n>')
    .option('--breaks <text>')
    .action(async (words: string[], options: CompleteOptions) => {
      const typed =
        options.line === undefined
          ? words
          : splitCommandLine(options.line.slice(0, Number(options.point)));
      // Without a context, which would load much code while the user waits after Tab.
      const lines = await answer(process.env, typed, options.breaks ?? '');
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}

async function answer(
  environment: Environment,
  typed: readonly string[],
  breaks: string,
): Promise<string[]> {
  const language = getLanguage();
  const outline = readOutline(language);
  if (outline === undefined) return [];
  const { candidates, names, paths, before, partial } = makeSuggestions(outline, typed);
  const places = makeDataPaths(environment);
  const named = await Promise.all(
    names.map((kind) => listKnownNames(places, kind, partial, language)),
  );
  const whole = [...candidates, ...named.flat()].filter(({ text }) => text.startsWith(partial));
  const prefixLength = countKeptByShell(before + partial, breaks);
  const lines = whole.map(
    ({ text, summary }) =>
      `${(before + text).slice(prefixLength)}\t${summary.replace(/\s+/g, ' ')}`,
  );
  return paths === undefined ? lines : [...lines, `:${paths}\t`];
}

/**
 * Bash replaces only the text behind the last of these characters, so candidates must not repeat
 * the text before.
 */
function countKeptByShell(word: string, breaks: string): number {
  return Math.max(
    ...[':', '='].map((mark) => (breaks.includes(mark) ? word.lastIndexOf(mark) + 1 : 0)),
  );
}

/** Splits a shell's line into words without quotes and backslashes, and drops the program. */
export function splitCommandLine(line: string): string[] {
  const words = [
    ...line.matchAll(/(?:[^\s"'\\]|\\[\s\S]?|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?)+/g),
  ].map(([word]) => unquote(word));
  return [...words.slice(1), ...(/(?<!\\)\s$/.test(line) ? [''] : [])];
}

function unquote(word: string): string {
  return word.replace(
    /\\([\s\S]?)|"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?/g,
    (_, escaped, double, single) => {
      return escaped ?? single ?? String(double).replace(/\\([\s\S])/g, '$1');
    },
  );
}

/** A possible next word, with its meaning where that is known. */
type Candidate = { readonly text: string; readonly summary: string };

/** Values that are looked up: known names, and paths. */
type Value = {
  readonly names: readonly NameKind[];
  readonly paths: 'files' | 'folders' | undefined;
};

/** Possible completions at the end of a command line. */
type Suggestions = Value & {
  readonly candidates: readonly Candidate[];
  /** Text before the typed value: `--set=` in `--set=hes`. */
  readonly before: string;
  readonly partial: string;
};

/** Completions of arguments and values, by their placeholder in the help. */
const VALUES: Readonly<Record<string, Value>> = {
  find: { names: ['finds'], paths: undefined },
  'find-or-file': { names: ['finds'], paths: 'files' },
  set: { names: ['sets'], paths: undefined },
  profile: { names: ['profiles'], paths: undefined },
  file: { names: [], paths: 'files' },
  table: { names: [], paths: 'files' },
  photo: { names: [], paths: 'files' },
  terms: { names: [], paths: 'files' },
  destination: { names: [], paths: 'files' },
  folder: { names: [], paths: 'folders' },
};
const NOTHING: Value = { names: [], paths: undefined };
const PROFILES: Value = { names: ['profiles'], paths: undefined };

/**
 * Finds what may stand at the end of a command line: subcommands, flags or values, and which
 * names or paths of the user must be listed in addition. Nothing is read.
 * @param typed the words after `pas`; the last one is incomplete, and may be empty
 */
export function makeSuggestions(
  { program, globalOptions }: Outline,
  typed: readonly string[],
): Suggestions {
  const partial = typed.at(-1) ?? '';
  const walked = walkOutline(program, globalOptions, typed.slice(0, -1));
  const { command, options } = walked;
  if (walked.pending !== undefined) return suggestValue(walked.pending, partial, '');
  const flag = /^(--[\w-]+=)(.*)$/.exec(partial);
  if (flag !== null && !walked.flagsAreOver) {
    const [, before = '', value = ''] = flag;
    const option = options.find(({ long }) => `${long}=` === before);
    return option === undefined
      ? suggest([], NOTHING, partial)
      : suggestValue(option, value, before);
  }
  if (partial.startsWith('-') && !walked.flagsAreOver) {
    const flags = options.map(({ long, summary }) => ({ text: long, summary }));
    const all =
      typed[0] === 'help' && walked.path.length === 0 ? [{ text: '--all', summary: '' }] : [];
    return suggest([...all, ...flags, { text: '--help', summary: '' }], NOTHING, partial);
  }
  if (command.commands.length > 0) {
    return suggest(
      command.commands.map(({ name, summary }) => ({ text: name, summary })),
      NOTHING,
      partial,
    );
  }
  const last = command.arguments.at(-1);
  const argument =
    command.arguments[walked.position] ?? (last?.repeated === true ? last : undefined);
  if (argument === undefined) return suggest([], NOTHING, partial);
  const choices = argument.choices.map((text) => ({ text, summary: '' }));
  const isProfile = argument.name === 'name' && walked.path[0] === 'profile';
  return suggest(choices, isProfile ? PROFILES : (VALUES[argument.name] ?? NOTHING), partial);
}

function suggestValue(
  { long, value, choices }: OptionOutline,
  partial: string,
  before: string,
): Suggestions {
  const kind = long === '--profile' ? PROFILES : (VALUES[value ?? ''] ?? NOTHING);
  return {
    ...suggest(
      choices.map((text) => ({ text, summary: '' })),
      kind,
      partial,
    ),
    before,
  };
}

function suggest(
  candidates: readonly Candidate[],
  { names, paths }: Value,
  partial: string,
): Suggestions {
  return { candidates, names, paths, before: '', partial };
}
