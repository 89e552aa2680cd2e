import type { Command } from 'commander';

/**
 * Converts `pas help vocab search` and `pas vocab help search` to `pas vocab search --help`. For an unknown command the word help
 * is removed, so that the error is that of a mistyped command. Other arguments are returned unchanged.
 * @param args as typed
 */
export function withoutHelpWord(program: Command, args: readonly string[]): readonly string[] {
  const languageAt = args.indexOf('--lang');
  const isWord = (arg: string, index: number): boolean => !arg.startsWith('-') && (languageAt < 0 || index !== languageAt + 1);
  const flags = args.filter((arg, index) => !isWord(arg, index));
  const names: string[] = [];
  let command = program;
  let isHelp = false;
  for (const word of args.filter(isWord)) {
    if (command !== program && command.commands.length === 0) break;
    if (word === 'help') {
      isHelp = true;
      continue;
    }
    const next = command.commands.find((child) => child.name() === word);
    if (next === undefined) return isHelp ? [...flags, ...names, word] : args;
    names.push(word);
    command = next;
  }
  return isHelp ? [...flags, ...names, '--help'] : args;
}
