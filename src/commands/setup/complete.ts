import type { Command } from 'commander';
import { spokenLanguage } from '../../base/language.ts';
import { knownNames } from '../../context/known-names.ts';
import { type Environment, placesFrom } from '../../context/places.ts';
import type { Runner } from '../command.ts';
import { readOutline } from '../outline.ts';
import { suggestionsFor } from './completion-suggestions.ts';

type CompleteOptions = {
  /** The command line as bash has it, in place of the words. */
  readonly line?: string;
  /** Where the cursor is in it. */
  readonly point?: string;
  /** What bash takes for the end of a word. */
  readonly breaks?: string;
};

/**
 * What the completion scripts ask: one candidate a line, with its meaning behind a tab; `:files` or `:folders` where paths
 * fit. Whatever is missing or broken is left out: who presses Tab wants no message. Nothing is written and nothing locked.
 */
export function register(program: Command, _run: Runner): void {
  program
    .command('__complete [words...]', { hidden: true })
    .option('--line <text>')
    .option('--point <n>')
    .option('--breaks <text>')
    .action(async (words: string[], options: CompleteOptions) => {
      const typed = options.line === undefined ? words : wordsOf(options.line.slice(0, Number(options.point)));
      // Without a context: that would load much of what a command needs, and somebody waits with a finger on Tab.
      const lines = await answer(process.env, typed, options.breaks ?? '');
      process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    });
}

async function answer(environment: Environment, typed: readonly string[], breaks: string): Promise<string[]> {
  const language = spokenLanguage();
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

/** Bash replaces only what stands behind the last of these, so candidates must not repeat what is before. */
function keptByShell(word: string, breaks: string): number {
  return Math.max(...[':', '='].map((mark) => (breaks.includes(mark) ? word.lastIndexOf(mark) + 1 : 0)));
}

/** The words of a shell's line, quotes and backslashes taken off; the first is the program. */
export function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/(?:[^\s"'\\]|\\[\s\S]?|"(?:[^"\\]|\\[\s\S])*"?|'[^']*'?)+/g)].map(([word]) => unquoted(word));
  return [...words.slice(1), ...(/(?<!\\)\s$/.test(line) ? [''] : [])];
}

function unquoted(word: string): string {
  return word.replace(/\\([\s\S]?)|"((?:[^"\\]|\\[\s\S])*)"?|'([^']*)'?/g, (_, escaped, double, single) => {
    return escaped ?? single ?? String(double).replace(/\\([\s\S])/g, '$1');
  });
}
