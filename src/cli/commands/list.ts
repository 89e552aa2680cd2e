import { Option } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { type Message, quoteShellWord, t } from '../../base/message.ts';
import type { Reference } from '../../finds/fields.ts';
import { ENTRY_STATES, type Entry } from '../../outbox/entry.ts';
import { STATE_WORDS } from '../../outbox/views/entry-words.ts';
import { formatStanding, listFinds } from '../../outbox/views/records-at-service.ts';
import { addWhereOption, defineCommand, parseWholeNumber, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { toHeldQuestionJson } from '../result-texts.ts';

/** Filters of `--where` that have an option of their own. */
const NAMED_FILTERS = ['state', 'project', 'since', 'until', 'text'] as const;

type NamedFilter = (typeof NAMED_FILTERS)[number];

type ListOptions = GlobalOptions & {
  readonly [name in NamedFilter]?: string | readonly string[];
} & {
  readonly where?: readonly string[];
  readonly limit?: number;
};

/** Registers `pas list`. */
export const registerCommands: Registration = (program, run) => {
  const command = defineCommand(
    program,
    'list',
    t`List the finds of the outbox with their states.`,
    ['pas list', 'pas list --state draft refused --since 2024-06-01'],
  );
  command
    .addOption(makeFilterOption('state', '<state...>').choices(ENTRY_STATES))
    .addOption(makeFilterOption('project', '<id>'))
    .addOption(makeFilterOption('since', '<date>'))
    .addOption(makeFilterOption('until', '<date>'))
    .addOption(makeFilterOption('text', '<text>'));
  addWhereOption(command)
    .option('--limit <n>', t`maximum number`, parseWholeNumber)
    .action(run(list));
};

function makeFilterOption(name: NamedFilter, value: string): Option {
  return new Option(`--${name} ${value}`, t`short for --where ${name}=…`);
}

async function list(context: Context, options: ListOptions): Promise<ExitReason> {
  const where = [...(options.where ?? []), ...listNamedFilters(options)];
  // Loaded where it is used, since it reads values like tables.
  const filters =
    where.length === 0
      ? []
      : (await import('../../tables/find-filters.ts')).parseFindFilters(where);
  const finds = listFinds(await context.openOutbox(), filters, options.limit);
  const rows = finds.map(({ find, elements, entry, pulled }) => [
    quoteShellWord(find.localId),
    formatEntryState(entry),
    pulled === undefined ? '' : formatStanding(pulled),
    entry?.identCely ?? '',
    formatLabel(elements.druh_nalezu),
    formatLabel(elements.projekt),
  ]);
  await context.terminal.printTable(
    [t`FIND`, t`STATE`, t`IN THE SERVICE`, t`IDENTIFIER`, t`OBJECT`, t`PROJECT`],
    rows,
  );
  context.terminal.printValue(
    finds.map(({ find, elements, entry, pulled }) => ({
      find: find.uuid,
      local_id: find.localId,
      ident_cely: entry?.identCely ?? null,
      state: entry?.state ?? null,
      ...(entry === undefined ? {} : toHeldQuestionJson(entry)),
      at_service: pulled === undefined ? null : { standing: pulled.standing, stav: pulled.stav },
      elements,
    })),
  );
  return 'done';
}

function listNamedFilters(options: ListOptions): string[] {
  return NAMED_FILTERS.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`${name}=${[value].flat().join(',')}`];
  });
}

function formatLabel(reference: Reference | undefined): string {
  return reference?.text || reference?.id || '';
}

function formatEntryState(entry: Entry | undefined): Message {
  if (entry === undefined) return t`not queued`;
  if (entry.held !== null) return t`held`;
  return entry.differsFromAccepted ? t`accepted, changed here` : STATE_WORDS[entry.state];
}
