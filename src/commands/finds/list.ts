import { type Command, InvalidArgumentError } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { standingText } from '../../flows/finds/at-service.ts';
import { STATE_WORDS } from '../../flows/finds/entry-words.ts';
import { listFinds } from '../../flows/queue/known-finds.ts';
import { defineCommand, type Runner } from '../command.ts';

type ListOptions = GlobalOptions & { readonly limit?: number };

export function register(program: Command, run: Runner): void {
  defineCommand(program, {
    name: 'list',
    summary: t`List the finds of the outbox with their states.`,
    examples: ['pas list', 'pas list --limit 20 --json'],
  })
    .option('--limit <n>', t`at most this many`, wholeNumber)
    .action((options: ListOptions) => run(options, (context) => list(context, options)));
}

export function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError(t`Give a whole number.`);
  return Number(text);
}

async function list(context: Context, options: ListOptions): Promise<ExitReason> {
  const finds = listFinds(await context.outboxToRead(), options.limit);
  const rows = finds.map(({ find, entry, pulled }) => [
    find.localId,
    entry === undefined ? t`not queued` : STATE_WORDS[entry.state],
    pulled === undefined ? '' : standingText(pulled),
    entry?.identCely ?? '',
    labelOf(find.elements['druh_nalezu']),
    labelOf(find.elements['projekt']),
  ]);
  await context.terminal.table([t`FIND`, t`STATE`, t`AT SERVICE`, t`IDENTIFIER`, t`OBJECT`, t`PROJECT`], rows);
  context.terminal.value(
    finds.map(({ find, entry, pulled }) => ({
      find: find.id,
      local_id: find.localId,
      ident_cely: entry?.identCely ?? null,
      state: entry?.state ?? null,
      at_service: pulled === undefined ? null : { standing: pulled.standing, stav: pulled.stav },
      elements: find.elements,
    })),
  );
  return 'done';
}

function labelOf(value: unknown): string {
  if (typeof value !== 'object' || value === null || !('id' in value)) return '';
  return 'text' in value && typeof value.text === 'string' && value.text !== '' ? value.text : String(value.id);
}
