import type { Command } from 'commander';
import { addExamplesOfGroups, type Runner } from './command.ts';

type CommandModule = { readonly register: (program: Command, run: Runner) => void };

/**
 * Every command, in the order in which `pas --help` shows them, with the words that it is called by. A module is loaded
 * when its word is typed, or for the help: most of what a command needs takes longer to load than to run.
 */
const MODULES: readonly (readonly [words: readonly string[], load: () => Promise<CommandModule>])[] = [
  [['demo'], () => import('./demo.ts')],
  [['init'], () => import('./init.ts')],
  [['profile'], () => import('./profile.ts')],
  [['service'], () => import('./service.ts')],
  [['login', 'logout', 'whoami'], () => import('./login.ts')],
  [['harvest-vocab'], () => import('./harvest-vocab.ts')],
  [['vocab'], () => import('./vocab.ts')],
  [['schema'], () => import('./schema.ts')],
  [['harvest'], () => import('./harvest.ts')],
  [['oai'], () => import('./oai.ts')],
  [['add'], () => import('./add.ts')],
  [['import'], () => import('./import.ts')],
  [['photo'], () => import('./photo.ts')],
  [['number'], () => import('./number.ts')],
  [['list'], () => import('./list.ts')],
  [['show'], () => import('./show.ts')],
  [['edit'], () => import('./edit.ts')],
  [['remove'], () => import('./remove.ts')],
  [['validate'], () => import('./validate.ts')],
  [['build'], () => import('./build.ts')],
  [['export'], () => import('./export.ts')],
  [['push'], () => import('./push.ts')],
  [['pull'], () => import('./pull.ts')],
  [['status'], () => import('./status.ts')],
  [['reconcile'], () => import('./reconcile.ts')],
  [['resolve'], () => import('./resolve.ts')],
  [['report'], () => import('./report.ts')],
  [['pace'], () => import('./pace.ts')],
  [['doctor'], () => import('./doctor.ts')],
  [['backup'], () => import('./backup.ts')],
  [['restore'], () => import('./restore.ts')],
  [['mock-server'], () => import('./mock-server.ts')],
  [['completion'], () => import('./completion.ts')],
  [['__complete'], () => import('./complete.ts')],
];

/** Whether a command line that begins with this word runs a command. */
export function isCommand(word: string): boolean {
  return MODULES.some(([words]) => words.includes(word));
}

/** @param word the first word of the command line; without one every command is registered */
export async function registerCommands(program: Command, run: Runner, word?: string): Promise<void> {
  const wanted = MODULES.filter(([words]) => word === undefined || words.includes(word));
  for (const [, load] of wanted) (await load()).register(program, run);
  addExamplesOfGroups(program);
}
