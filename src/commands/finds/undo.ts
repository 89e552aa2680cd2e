import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { formatMoment, t } from '../../base/language.ts';
import { cmd, quoteShellWord } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { openValidation } from '../../context/validation.ts';
import {
  findLastCommand,
  listCommandLog,
  undoCommand as undoLogged,
} from '../../flows/queue/undo-command.ts';
import { toPrintable } from '../../text/characters.ts';
import { defineCommand, type Runner } from '../command.ts';
import { formatFindCount } from '../result-texts.ts';

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'undo',
    summary: t`Undo the last command that changed finds, except for what was sent.`,
    examples: ['pas undo', 'pas undo --json'],
  }).action((options: GlobalOptions) => run(options, (context) => undoCommand(context)));
  defineCommand(program, {
    name: 'log',
    summary: t`List the last commands that changed finds, and with --json each find before and after.`,
    examples: ['pas log', 'pas log --json'],
  }).action((options: GlobalOptions) => run(options, log));
}

/** @param words undo only a command of this name */
export async function undoCommand(context: Context, words?: string): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const command = findLastCommand(outbox, words);
  if (command === undefined) {
    throw new UsageError(
      words === undefined ? t`There is no command to undo.` : t`There is no import to undo.`,
      {
        hint: t`\`${cmd`pas log`}\` lists the commands that changed finds.`,
      },
    );
  }
  const progress = terminal.startProgress(t`Undoing`);
  const validate = await openValidation(context);
  const { finds, keptFinds } = (() => {
    try {
      return undoLogged(outbox, command, validate, progress.update);
    } finally {
      progress.end();
    }
  })();
  for (const { localId, because } of keptFinds) {
    const find = toPrintable(localId);
    terminal.warn(
      because === 'attempted'
        ? t`${find} was not undone: part of it has been sent or attempted since.`
        : t`${find} was not undone: a later command changed it. Undo the later ones first: ${cmd`pas undo`}`,
    );
  }
  const all = formatFindCount(finds);
  const name = `pas ${command.command.replaceAll('-', ' ')}`;
  const at = formatMoment(command.at);
  terminal.printLine(
    finds === 0
      ? t`${name} of ${at}: nothing could be undone.`
      : t`Undone: ${name} of ${at}; ${all}.`,
  );
  terminal.printValue({ undone: command.id, finds, kept: keptFinds.map(({ localId }) => localId) });
  return keptFinds.length > 0 ? 'dataRefused' : 'done';
}

async function log(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutboxToRead();
  const commands = listCommandLog(outbox);
  const rows = commands.map(({ at, command, finds }) => {
    const names = finds.slice(0, MAX_NAMES).map(({ local_id }) => quoteShellWord(local_id));
    return [
      formatMoment(Date.parse(at)),
      `pas ${command}`,
      `${finds.length}`,
      `${names.join(' ')}${finds.length > MAX_NAMES ? ' …' : ''}`,
    ];
  });
  await terminal.printTable([t`WHEN`, t`COMMAND`, t`FINDS`, t`FOR EXAMPLE`], rows);
  if (rows.length === 0) terminal.note(t`There is no command to undo.`);
  else terminal.note(t`To undo the first of them: ${cmd`pas undo`}`);
  terminal.printValue(commands);
  return 'done';
}

const MAX_NAMES = 5;
