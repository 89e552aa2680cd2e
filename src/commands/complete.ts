import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { type Language, languageFrom } from '../base/language.ts';
import { packageRoot } from '../base/package-root.ts';
import type { Context } from '../context.ts';
import { openDatabase } from '../store/database.ts';
import type { Runner } from './command.ts';
import { type Candidate, type NameKind, wishOf } from './completion-wish.ts';
import { readOutline } from './outline.ts';

type CompleteOptions = {
  /** The command line as bash has it, in place of the words. */
  readonly line?: string;
  /** Where the cursor is in it. */
  readonly point?: string;
  /** What bash takes for the end of a word. */
  readonly breaks?: string;
};

/** More than this many names help nobody. */
const MOST_NAMES = 500;

/**
 * What the completion scripts ask: one candidate a line, with its meaning behind a tab; `:files` or `:folders` where paths
 * fit. Whatever is missing or broken is left out: who presses Tab wants no message. Nothing is written and nothing locked.
 */
export function register(program: Command, run: Runner): void {
  program
    .command('__complete [words...]', { hidden: true })
    .option('--line <text>')
    .option('--point <n>')
    .option('--breaks <characters>')
    .action((words: string[], options: CompleteOptions) =>
      run({}, async (context) => {
        const typed = options.line === undefined ? words : wordsOf(options.line.slice(0, Number(options.point)));
        for (const line of answer(context, typed, options.breaks ?? '')) context.streams.stdout.write(`${line}\n`);
        return 'done';
      }),
    );
}

function answer(context: Context, typed: readonly string[], breaks: string): string[] {
  const language = languageFrom([], context.environment);
  const outline = readOutline(language);
  if (outline === undefined) return [];
  const { candidates, names, paths, before, partial } = wishOf(outline, typed);
  const all = [...candidates, ...names.flatMap((kind) => namesOf(context, kind, partial, language))];
  const whole = all.filter(({ text }) => text.startsWith(partial)).map((one) => ({ ...one, text: before + one.text }));
  const kept = keptByShell(before + partial, breaks);
  const lines = whole.map(({ text, summary }) => `${text.slice(kept)}\t${summary.replace(/\s+/g, ' ')}`);
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

function namesOf(context: Context, kind: NameKind, partial: string, language: Language): Candidate[] {
  try {
    switch (kind) {
      case 'finds':
        return findNames(context.places.outboxFile, partial);
      case 'sets':
        return setNames(language);
      case 'profiles':
        return [...context.config().profiles.keys()].map((text) => ({ text, summary: '' }));
    }
  } catch {
    // Damaged, locked, unreadable: for completion that is the same as empty.
    return [];
  }
}

function findNames(outboxFile: string, partial: string): Candidate[] {
  if (!existsSync(outboxFile)) return [];
  const outbox = openDatabase(outboxFile, { synchronous: 'normal', readonly: true, busyTimeoutMs: 50 });
  try {
    const begins = 'substr(text, 1, length(:partial)) = :partial';
    return outbox
      .prepare(
        `select text, '' as summary from (
           select local_id as text from finds
           union select ident_cely from entries where ident_cely is not null
         ) where ${begins} order by text limit ${MOST_NAMES}`,
      )
      .all({ partial }) as Candidate[];
  } finally {
    outbox.close();
  }
}

type KnownSet = { readonly setSpec: string; readonly cs: string; readonly en: string };

function setNames(language: Language): Candidate[] {
  const sets = JSON.parse(
    readFileSync(join(packageRoot, 'schemas', 'contract', 'set-specs.json'), 'utf8'),
  ) as readonly KnownSet[];
  return sets.map((set) => ({ text: set.setSpec, summary: set[language] }));
}
