import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { measureDisplayWidth } from '../../../src/base/characters.ts';
import { getExamples } from '../../../src/cli/command.ts';
import { buildWholeProgram } from '../../../src/cli/program.ts';

const silent = { write: () => true };

async function commandsAt(columns: number): Promise<Command[]> {
  const shownIn = (command: Command): Command[] =>
    command
      .createHelp()
      .visibleCommands(command)
      .filter((each) => command.commands.includes(each));
  const below = (command: Command): Command[] => [command, ...shownIn(command).flatMap(below)];
  return below(await buildWholeProgram({ stdout: { ...silent, columns }, stderr: silent }));
}

test('no help page is wider than a terminal of 80 or of 40 columns, except for a flag that is longer itself', async () => {
  for (const columns of [80, 40]) {
    const tooWide = (await commandsAt(columns)).flatMap((command) =>
      command
        .helpInformation()
        .split('\n')
        .filter((line) => measureDisplayWidth(line) > columns && line.trim().includes('  ')),
    );
    expect(tooWide).toEqual([]);
  }
});

test('every command has two examples', async () => {
  const bare = (await commandsAt(80)).filter(
    (command) => command.commands.length === 0 && getExamples(command).length < 2,
  );
  expect(bare.map((command) => command.name())).toEqual([]);
});
