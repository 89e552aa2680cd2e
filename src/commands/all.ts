import type { Command } from 'commander';
import { type Message, msg } from '../base/message.ts';
import { addExamplesOfGroups, type Runner } from './command.ts';

type CommandModule = { readonly register: (program: Command, run: Runner) => void };

/**
 * All commands, in the order of `pas help --all`, by their names. A module is loaded for its command, or for the help: most of
 * them take longer to load than to run.
 */
const MODULES: readonly (readonly [words: readonly string[], load: () => Promise<CommandModule>])[] = [
  [['demo'], () => import('./service/demo.ts')],
  [['init'], () => import('./setup/init.ts')],
  [['profile'], () => import('./setup/profile.ts')],
  [['service'], () => import('./service/service.ts')],
  [['outbox'], () => import('./service/outboxes.ts')],
  [['login', 'logout', 'whoami'], () => import('./setup/login.ts')],
  [['harvest-vocab'], () => import('./vocabulary/harvest-vocab.ts')],
  [['vocab'], () => import('./vocabulary/vocab.ts')],
  [['schema'], () => import('./service/schema.ts')],
  [['harvest'], () => import('./harvest/harvest.ts')],
  [['oai'], () => import('./harvest/oai.ts')],
  [['field'], () => import('./field/field-make.ts')],
  [['add'], () => import('./finds/add.ts')],
  [['import'], () => import('./finds/import.ts')],
  [['photo'], () => import('./finds/photo.ts')],
  [['number'], () => import('./finds/number.ts')],
  [['list'], () => import('./finds/list.ts')],
  [['show'], () => import('./finds/show.ts')],
  [['edit'], () => import('./finds/edit.ts')],
  [['remove'], () => import('./finds/remove.ts')],
  [['undo', 'log'], () => import('./finds/undo.ts')],
  [['validate'], () => import('./finds/validate.ts')],
  [['build'], () => import('./finds/build.ts')],
  [['export'], () => import('./finds/export.ts')],
  [['push'], () => import('./sending/push.ts')],
  [['pull'], () => import('./harvest/pull.ts')],
  [['status'], () => import('./sending/status.ts')],
  [['reconcile'], () => import('./sending/reconcile.ts')],
  [['resolve'], () => import('./sending/resolve.ts')],
  [['report'], () => import('./finds/report.ts')],
  [['pace'], () => import('./service/pace.ts')],
  [['doctor'], () => import('./service/doctor.ts')],
  [['backup'], () => import('./service/backup.ts')],
  [['restore'], () => import('./service/restore.ts')],
  [['copy'], () => import('./service/copy.ts')],
  [['rehearse'], () => import('./service/rehearse.ts')],
  [['mock-server'], () => import('./service/mock-server.ts')],
  [['completion'], () => import('./setup/completion.ts')],
  [['setup-path'], () => import('./setup/setup-path.ts')],
  [['__complete'], () => import('./setup/complete.ts')],
];

/** Commands of the first screen, in the order that leads to the first push. */
export const FIRST_COMMANDS: readonly (readonly [what: Message, words: readonly string[]])[] = [
  [msg`Try it without an account:`, ['demo']],
  [msg`Steps to the first push:`, ['init', 'login', 'harvest-vocab', 'import', 'validate', 'push', 'status']],
  [msg`Other commands:`, ['add', 'report', 'doctor']],
];

export function isCommand(word: string): boolean {
  return MODULES.some(([words]) => words.includes(word));
}

/** @param word the first word of the command line; without it every command is registered */
export async function registerCommands(program: Command, run: Runner, word?: string): Promise<void> {
  const wanted = MODULES.filter(([words]) => word === undefined || words.includes(word));
  for (const [, load] of wanted) (await load()).register(program, run);
  addExamplesOfGroups(program);
}
