import { type ExitReason, UsageError } from '../../base/errors.ts';
import { cmd, formatMoment, msg, t } from '../../base/message.ts';
import {
  findCommandToUndo,
  listCommandLog,
  undoCommand,
} from '../../outbox/changes/undo-command.ts';
import { defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { formatFindCount, joinShellWords } from '../result-texts.ts';
import { withProgress } from '../terminal.ts';

/** Registers `pas undo`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'undo [command]',
    t`Undo the last command that changed finds, numbers, photographs or answers, except for what was sent.`,
    ['pas undo', 'pas undo --list'],
  )
    .option('--list', t`list the commands, and with --json each find before and after`)
    .action(
      run((context, id: string | undefined, options: UndoOptions) =>
        options.list === true ? list(context) : undo(context, id),
      ),
    );
};

type UndoOptions = GlobalOptions & { readonly list?: boolean };

const LISTED = msg`\`${cmd`pas undo`} --list\` lists the commands.`;

/**
 * Undoes a command, by default the last one that can be undone.
 * @returns `dataRefused` where a find stays as it is
 * @throws UsageError where there is no such command, or nothing of it is left to undo
 */
async function undo(context: Context, id: string | undefined): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const undone = await withProgress(terminal, t`Undoing`, (onProgress) =>
    undoCommand(outbox, id, onProgress),
  );
  if (undone === undefined)
    throw new UsageError(
      id === undefined ? t`There is no command to undo.` : t`There is no command ${id} to undo.`,
      { hint: LISTED },
    );
  const { command, finds, kept } = undone;
  const name = `pas ${command.words}`;
  const at = formatMoment(command.at);
  if (finds === 0 && (command.isUndone || kept.size === 0))
    throw new UsageError(t`${name} of ${at} is undone already, as far as it can be.`, {
      hint: LISTED,
    });
  for (const localId of kept)
    terminal.warn(
      t`${localId} was not undone: it has been sent or attempted since, or a later command changed it.`,
    );
  const all = formatFindCount(finds);
  terminal.printLine(
    finds === 0
      ? t`${name} of ${at}: nothing could be undone.`
      : t`Undone: ${name} of ${at}; ${all}.`,
  );
  if (finds === 0) terminal.note(String(LISTED));
  terminal.printValue({
    undone: command.id,
    finds,
    kept: [...kept],
  });
  return kept.size > 0 ? 'dataRefused' : 'done';
}

async function list(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const commands = listCommandLog(outbox);
  const rows = commands.map(({ id, at, command, finds, undone }) => {
    const names = finds.map(({ local_id: localId }) => localId);
    return [
      id,
      formatMoment(Date.parse(at)),
      undone ? t`pas ${command} (undone)` : `pas ${command}`,
      `${finds.length}`,
      joinShellWords(names, MAX_NAMES),
    ];
  });
  await terminal.printTable([t`ID`, t`WHEN`, t`COMMAND`, t`FINDS`, t`FOR EXAMPLE`], rows);
  const next = findCommandToUndo(outbox);
  terminal.note(
    next === undefined
      ? t`There is no command to undo.`
      : t`Undone next by ${cmd`pas undo`}: pas ${next.words}, ${next.id}`,
  );
  terminal.printValue(commands);
  return 'done';
}

const MAX_NAMES = 5;
