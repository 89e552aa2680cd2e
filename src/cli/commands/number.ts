import type { ExitReason } from '../../base/errors.ts';
import { hasErrors } from '../../base/issue.ts';
import { cmd, t } from '../../base/message.ts';
import { parseRegistrationNumber } from '../../finds/value-rules.ts';
import {
  assertMaySetNumbers,
  enqueueNumber,
  planNumberChange,
} from '../../outbox/changes/enqueue-change.ts';
import { findSubject } from '../../outbox/changes/resolve-finds.ts';
import {
  assertNumberIsFree,
  planTableNumbers,
  queuePlannedNumbers,
  type TableNumber,
} from '../../tables/number-table.ts';
import { addSheetOption, defineCommand, type Registration } from '../command.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { readColumnMap, readTableOrInput } from '../context/find-input.ts';
import { announceService, openVocabularyLookups } from '../context/open-service.ts';
import {
  formatNumberCount,
  makeNotReplacedError,
  printNextStep,
  type Replacement,
} from '../result-texts.ts';
import { printIssues, toIssuesJson } from '../terminal.ts';

/** Registers the group `pas number` with its commands `set` and `import`. */
export const registerCommands: Registration = (program, run) => {
  const parent = program.command('number').description(t`Queue museum registration numbers.`);
  defineCommand(
    parent,
    'set <find> <value>',
    t`Queue a registration number. It is sent once the find has its identifier.`,
    ["pas number set K-017 'A 1250/2024'", "pas number set C-202400101-N00001 'MB-77' --replace"],
  )
    .option('--replace', t`replace the numbers of records`)
    .action(run(set));
  const command = defineCommand(
    parent,
    'import <table>',
    t`Queue the registration numbers of a table with the columns local_id or ident_cely, and evidencni_cislo. Importing it again changes nothing.`,
    ['pas number import numbers.csv --dry-run', 'pas number import register.xlsx --sheet 2024'],
  ).option('--dry-run', t`show what would happen and change nothing`);
  addSheetOption(command)
    .option('--map <file>', t`as in ${cmd`pas import`}`)
    .option('--replace', t`replace the numbers of records`)
    .action(run(importNumbers));
};

type SetOptions = GlobalOptions & { readonly replace?: boolean };
type NumberOptions = SetOptions & {
  readonly dryRun?: boolean;
  readonly sheet?: string;
  readonly map?: string;
};

/**
 * Queues a number for a find or record. That of a record is replaced only with `--replace`, or
 * after a question on a terminal.
 * @throws UsageError for an empty or invalid number or an unknown find, where another find has it,
 * it may not be replaced, or the account may not set numbers
 */
async function set(
  context: Context,
  find: string,
  value: string,
  options: SetOptions,
): Promise<ExitReason> {
  const outbox = await context.openOutbox();
  assertMaySetNumbers(outbox);
  outbox.command.words = 'number-set';
  const number = parseRegistrationNumber(value);
  const subject = findSubject(outbox, find);
  assertNumberIsFree(outbox, subject, number);
  const { replaces } = planNumberChange(outbox, subject, number);
  const replacements = replaces === undefined ? [] : [{ find, value: number, replaces }];
  const mayReplace = await mayReplaceNumbers(context, replacements, options.replace === true);
  // Another process may change the number while a person is asked.
  const change = enqueueNumber(outbox, subject, number, (now) => mayReplace && now === replaces);
  if (change === undefined)
    throw makeNotReplacedError({
      find,
      value: number,
      replaces: planNumberChange(outbox, subject, number).replaces ?? '',
    });
  if (change !== 'kept') announceService(context);
  context.terminal.printLine(
    change === 'kept'
      ? t`Number ${number} for ${find} is already queued or set.`
      : t`Number ${number} for ${find} is queued.`,
  );
  context.terminal.printValue({ find, value: number, change, replaces: replaces ?? null });
  return 'done';
}

/**
 * Tells if numbers may be replaced, and shows them: if that was said beforehand, or a person says
 * so now. They are not shown without a terminal, where the answer is no.
 */
async function mayReplaceNumbers(
  { terminal, prompt }: Context,
  replacements: readonly Replacement[],
  isSaid: boolean,
): Promise<boolean> {
  if (replacements.length === 0) return true;
  if (!isSaid && !terminal.interactive) return false;
  for (const { find, value, replaces } of replacements)
    terminal.note(`  ${find}: ${replaces} → ${value}`);
  return isSaid || (await prompt()).confirm(t`Replace what is already in the service?`);
}

/**
 * Queues the numbers of a table; those of records are replaced only with `--replace`, or after a
 * question on a terminal, and else left out.
 * @returns `dataRefused` where a row has an error; the other rows are queued
 */
async function importNumbers(
  context: Context,
  file: string,
  options: NumberOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  outbox.command.words = 'number-import';
  const dryRun = options.dryRun === true;
  const map =
    options.map === undefined
      ? undefined
      : await readColumnMap(
          context,
          options.map,
          (await openVocabularyLookups(context)).lookupTerm,
        );
  const table = await readTableOrInput(context, file, options);
  const planned = planTableNumbers(outbox, table, map);
  const replacements = planned.numbers.flatMap(({ replaces, ...number }) =>
    replaces === null ? [] : [{ ...number, replaces }],
  );
  const isSaid = options.replace === true;
  const replace = await mayReplaceNumbers(context, replacements, isSaid || dryRun);
  const { numbers, issues } = dryRun ? planned : queuePlannedNumbers(outbox, planned, replace);
  const count = (isCounted: (number: TableNumber) => boolean): number =>
    numbers.filter(isCounted).length;
  const current = count(({ change }) => change === 'kept');
  const replaced = count(({ change, replaces }) => change === 'replaced' || replaces !== null);
  const queued = numbers.length - current - replaced;
  if (queued + replaced > 0) announceService(context);
  printIssues(terminal, issues);
  const all = formatNumberCount(numbers.length);
  terminal.printLine(
    dryRun
      ? t`Would accept ${all}: ${queued} queued, ${replaced} replaced, ${current} unchanged.`
      : t`${all}: ${queued} queued, ${replaced} replaced, ${current} unchanged.`,
  );
  if (replacements.length > 0 && !isSaid && (dryRun || !replace))
    terminal.note(
      t`To replace the numbers that records have, run the command again with --replace.`,
    );
  if (!dryRun && queued + replaced > 0) printNextStep(context);
  terminal.printValue({
    dry_run: dryRun,
    queued,
    replaced,
    unchanged: current,
    numbers,
    issues: toIssuesJson(issues),
  });
  return hasErrors(issues) ? 'dataRefused' : 'done';
}
