import type { NameKind } from '../../context/known-names.ts';
import type { CommandOutline, OptionOutline, Outline } from '../outline.ts';

/** A possible next word, with its meaning where that is known. */
type Candidate = { readonly text: string; readonly summary: string };

/** Possible completions at the end of a command line. */
type Suggestions = {
  readonly candidates: readonly Candidate[];
  readonly names: readonly NameKind[];
  readonly paths: 'files' | 'folders' | undefined;
  /** Text before the typed value: `--set=` in `--set=hes`. */
  readonly before: string;
  readonly partial: string;
};

type Value = Pick<Suggestions, 'names' | 'paths'>;

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
  mapping: { names: [], paths: 'files' },
  destination: { names: [], paths: 'files' },
  folder: { names: [], paths: 'folders' },
};
const NOTHING: Value = { names: [], paths: undefined };
const PROFILES: Value = { names: ['profiles'], paths: undefined };

/** @param typed the words after `pas`; the last one is incomplete, and may be empty */
export function suggestionsFor({ program, globalOptions }: Outline, typed: readonly string[]): Suggestions {
  const partial = typed.at(-1) ?? '';
  const walked = walk(program, globalOptions, typed.slice(0, -1));
  const { command, options } = walked;
  if (walked.pending !== undefined) return suggestValue(walked.pending, partial, '');
  const flag = /^(--[\w-]+=)(.*)$/.exec(partial);
  if (flag !== null && !walked.flagsAreOver) {
    const [, before = '', value = ''] = flag;
    const option = options.find(({ long }) => `${long}=` === before);
    return option === undefined ? suggest([], NOTHING, partial) : suggestValue(option, value, before);
  }
  if (partial.startsWith('-') && !walked.flagsAreOver) {
    const flags = options.map(({ long, summary }) => ({ text: long, summary }));
    const all = typed[0] === 'help' && walked.path.length === 0 ? [{ text: '--all', summary: '' }] : [];
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
  const argument = command.arguments[walked.position] ?? (last?.repeated === true ? last : undefined);
  if (argument === undefined) return suggest([], NOTHING, partial);
  const choices = argument.choices.map((text) => ({ text, summary: '' }));
  const isProfile = argument.name === 'name' && walked.path[0] === 'profile';
  return suggest(choices, isProfile ? PROFILES : (VALUES[argument.name] ?? NOTHING), partial);
}

type Walked = {
  readonly command: CommandOutline;
  readonly path: readonly string[];
  readonly options: readonly OptionOutline[];
  /** Number of complete arguments. */
  readonly position: number;
  /** The flag whose value comes next. */
  readonly pending: OptionOutline | undefined;
  readonly flagsAreOver: boolean;
};

function walk(program: CommandOutline, globalOptions: readonly OptionOutline[], words: readonly string[]): Walked {
  let command = program;
  let position = 0;
  let pending: OptionOutline | undefined;
  let flagsAreOver = false;
  const path: string[] = [];
  const options = () => [...command.options, ...globalOptions];
  for (const word of words) {
    if (pending !== undefined) pending = undefined;
    else if (word === '--') flagsAreOver = true;
    else if (word.startsWith('-') && !flagsAreOver) {
      const option = options().find(({ long }) => long === word);
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
  return { command, path, options: options(), position, pending, flagsAreOver };
}

function suggestValue({ long, value, choices }: OptionOutline, partial: string, before: string): Suggestions {
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

function suggest(candidates: readonly Candidate[], { names, paths }: Value, partial: string): Suggestions {
  return { candidates, names, paths, before: '', partial };
}
