import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, type Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { getLanguage, type Language, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import {
  defineCommand,
  locateCommand,
  type OptionOutline,
  type Outline,
  type Runner,
  readOutline,
} from '../command.ts';
import type { Context } from '../context/context.ts';
import {
  type DataPaths,
  type Environment,
  makeDataPaths,
  makeOutboxPaths,
} from '../context/places.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function register(program: Command, run: Runner): void {
  registerCompletion(program, run);
  registerComplete(program, run);
}

function registerCompletion(program: Command, run: Runner): void {
  defineCommand(
    program,
    'completion',
    t`Print a script that completes commands, flags, finds, sets and profiles in your shell.`,
    [
      'pas completion bash >> ~/.bashrc',
      'pas completion fish > ~/.config/fish/completions/pas.fish',
    ],
  )
    .addArgument(new Argument('<shell>', t`the shell`).choices(SHELLS))
    .action(run(printScript));
}

async function printScript({ terminal, streams }: Context, shell: Shell): Promise<ExitReason> {
  const script = readFileSync(join(packageRoot, 'bin', 'completion', `pas.${shell}`), 'utf8');
  streams.stdout.write(terminal.json ? `${JSON.stringify({ shell, script })}\n` : script);
  return 'done';
}

/** Kind of the possible words: known names, or paths, which the shell itself completes. */
type Lookup = 'finds' | 'sets' | 'profiles' | 'files' | 'folders';

/** A possible word, with its meaning where that is known. */
type Candidate = { readonly text: string; readonly summary: string };

/** More names are of no use. */
const MAX_NAMES = 500;

/**
 * Returns the known names for completion; of finds only those that begin with `partial`, and none
 * of paths. It loads little code, since the user is waiting after Tab, and returns none where a
 * file cannot be read.
 */
async function listKnownNames(
  places: DataPaths,
  kind: Lookup,
  partial: string,
  language: Language,
): Promise<Candidate[]> {
  try {
    switch (kind) {
      case 'finds':
        return toCandidates(await listFindNames(await findOutboxFile(places), partial));
      case 'sets':
        return listSetNames(language);
      case 'profiles': {
        const { readConfigFile } = await import('../context/config.ts');
        return toCandidates([...readConfigFile(places.configFile).profiles.keys()]);
      }
      default:
        return [];
    }
  } catch {
    // For completion, a damaged, locked or unreadable file counts as empty.
    return [];
  }
}

function toCandidates(texts: readonly string[]): Candidate[] {
  return texts.map((text) => ({ text, summary: '' }));
}

async function findOutboxFile(places: DataPaths): Promise<string | undefined> {
  const { findOutboxName, readConfigFile } = await import('../context/config.ts');
  const { defaultProfile, profiles } = readConfigFile(places.configFile);
  const settings = profiles.get(defaultProfile ?? [...profiles.keys()][0] ?? '');
  const outbox = findOutboxName(settings ?? {});
  return outbox === undefined ? undefined : makeOutboxPaths(places, outbox).outboxFile;
}

async function listFindNames(file: string | undefined, partial: string): Promise<string[]> {
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
      .filter((text) => typeof text === 'string');
  } finally {
    outbox.close();
  }
}

type KnownSet = { readonly setSpec: string; readonly cs: string; readonly en: string };

function listSetNames(language: Language): Candidate[] {
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
  const { candidates, lookups, before, partial } = makeSuggestions(outline, typed);
  const places = makeDataPaths(environment);
  const known = await Promise.all(
    lookups.map((kind) => listKnownNames(places, kind, partial, language)),
  );
  const whole = [...candidates, ...known.flat()].filter(({ text }) => text.startsWith(partial));
  const prefixLength = countKeptByShell(before + partial, breaks);
  const paths = lookups.filter((kind) => kind === 'files' || kind === 'folders');
  return [
    ...whole.map(
      ({ text, summary }) =>
        `${(before + text).slice(prefixLength)}\t${summary.replace(/\s+/g, ' ')}`,
    ),
    ...paths.map((kind) => `:${kind}\t`),
  ];
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

/** Possible completions at the end of a command line. */
type Suggestions = {
  readonly candidates: readonly Candidate[];
  readonly lookups: readonly Lookup[];
  /** Text before the typed value: `--set=` in `--set=hes`. */
  readonly before: string;
  readonly partial: string;
};

/** Lookups for an argument or a value, by its placeholder in the help. */
const LOOKUPS: Readonly<Record<string, readonly Lookup[]>> = {
  find: ['finds'],
  'find-or-file': ['finds', 'files'],
  set: ['sets'],
  profile: ['profiles'],
  file: ['files'],
  table: ['files'],
  photo: ['files'],
  terms: ['files'],
  destination: ['files'],
  folder: ['folders'],
};

/**
 * Finds what may stand at the end of a command line: subcommands, flags or values, and which
 * names or paths of the user must be looked up in addition. Nothing is read.
 * @param typed the words after `pas`; the last one is incomplete, and may be empty
 */
export function makeSuggestions(
  { program, globalOptions }: Outline,
  typed: readonly string[],
): Suggestions {
  const partial = typed.at(-1) ?? '';
  const { command, options, path, pending, position, flagsAreOver } = locateCommand(
    program,
    globalOptions,
    typed.slice(0, -1),
  );
  const nothing: Suggestions = { candidates: [], lookups: [], before: '', partial };
  if (pending !== undefined) return { ...nothing, ...listValues(pending) };
  const flag = flagsAreOver ? null : /^(--[\w-]+=)(.*)$/.exec(partial);
  if (flag !== null) {
    const [, before = '', value = ''] = flag;
    const option = options.find(({ long }) => `${long}=` === before);
    return option === undefined ? nothing : { ...listValues(option), before, partial: value };
  }
  if (partial.startsWith('-') && !flagsAreOver) {
    const flags = options.map(({ long, summary }) => ({ text: long, summary }));
    const isOfProgram = typed[0] === 'help' && path.length === 0;
    const general = toCandidates(isOfProgram ? ['--all', '--help'] : ['--help']);
    return { ...nothing, candidates: [...flags, ...general] };
  }
  if (command.commands.length > 0) {
    const names = command.commands.map(({ name, summary }) => ({ text: name, summary }));
    return { ...nothing, candidates: names };
  }
  const last = command.arguments.at(-1);
  const argument = command.arguments[position] ?? (last?.repeated === true ? last : undefined);
  return argument === undefined
    ? nothing
    : { ...nothing, ...listValues({ value: argument.name, choices: argument.choices }) };
}

function listValues({ value, choices }: Pick<OptionOutline, 'value' | 'choices'>) {
  return { candidates: toCandidates(choices), lookups: LOOKUPS[value ?? ''] ?? [] };
}
