import type { Command } from 'commander';
import { currentLanguage } from '../../base/language.ts';
import { knownNames } from '../../context/known-names.ts';
import { type Environment, placesFrom } from '../../context/places.ts';
import type { Runner } from '../command.ts';
import { readOutline } from '../outline.ts';
import { suggestionsFor } from './completion-suggestions.ts';

type CompleteOptions = {
  /** The command line of bash, in place of the words. */
  readonly line?: string;
  /** Position of the cursor. */
  readonly point?: string;
  /** Characters that end a word in bash. */
  readonly breaks?: string;
};

/**
 * Answers the completion scripts: one candidate per line, with its meaning behind a tab; `:files` or `:folders` for paths. Errors
 * are ignored, since a message would disturb the prompt. It writes and locks nothing.
 */
export function register(program: Command, _run: Runner): void {
  program
    .command('__complete [words...]', { hidden: true })
    .option('--line <text>')
    .option('--point <n>')
    .option('--breaks <text>')
    .action(async (words: string[], options: CompleteOptions) => {
      const typed = options.line === undefined ? words : completionWords(options.line.slice(0, Number(options.point)));
      // Without a context, which would load much code while the user waits after Tab.
      const lines = await answer(process.env, typed, options.breaks ?? '');
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}

async function answer(environment: Environment, typed: readonly string[], breaks: string): Promise<string[]> {
  const language = currentLanguage();
  const outline = readOutline(language);
  if (outline === undefined) return [];
  const { candidates, names, paths, before, partial } = suggestionsFor(outline, typed);
  const places = placesFrom(environment);
  const named = await Promise.all(names.map((kind) => knownNames(places, kind, partial, language)));
  const whole = [...candidates, ...named.flat()].filter(({ text }) => text.startsWith(partial));
  const kept = keptByShell(before + partial, breaks);
  const lines = whole.map(({ text, summary }) => `${(before + text).slice(kept)}\t${summary.replace(/\s+/g, ' ')}`);
  return paths === undefined ? lines : [...lines, `:${paths}\t`];
}

/** Bash replaces only the text behind the last of these characters, so candidates must not repeat the text before. */
function keptByShell(word: string, breaks: string): number {
  return Math.max(...[':', '='].map((mark) => (breaks.includes(mark) ? word.lastIndexOf(mark) + 1 : 0)));
}

/** Splits a shell's line into words without quotes and backslashes, and drops the program. */
export function completionWords(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"'\\]|\\[\s\S]?|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?)+/g)].map(([word]) => unquoted(word));
  return [...words.slice(1), ...(/(?<!\\)\s$/.test(line) ? [''] : [])];
}

function unquoted(word: string): string {
  return word.replace(/\\([\s\S]?)|"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?/g, (_, escaped, double, single) => {
    return escaped ?? single ?? String(double).replace(/\\([\s\S])/g, '$1');
  });
}
