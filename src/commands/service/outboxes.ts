import type { Command } from 'commander';
import { type ExitReason, PasError } from '../../base/errors.ts';
import { msgid, ngettext, t } from '../../base/language.ts';
import { type Message, msg } from '../../base/message.ts';
import { listProfilesOfOutbox } from '../../context/config.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { withLock } from '../../context/other-outboxes.ts';
import { isOutboxId } from '../../context/places.ts';
import { getBinding } from '../../context/profile-outbox.ts';
import {
  catchUnusable,
  type Description,
  describeOutbox,
  listOutboxFolders,
  repairOutbox,
  verifyOutbox,
} from '../../flows/outbox/describe-outbox.ts';
import type { Fence } from '../../flows/outbox/fence.ts';
import { printable } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';
import { registerAdopt } from './adopt.ts';

type CheckOptions = GlobalOptions & { readonly repair?: boolean };

type ShowOptions = GlobalOptions & { readonly all?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program
    .command('outbox')
    .description(t`Show what an outbox is for, who owns it and whether it is intact.`);
  defineCommand(parent, {
    name: 'show',
    summary: t`Show the service and the account of the outbox, and the journal that it uses.`,
    examples: ['pas outbox show', 'pas outbox show --all --json'],
  })
    .option('--all', t`all outboxes of the data home, with the profiles that use them`)
    .action((options: ShowOptions) =>
      run(options, (context) => (options.all === true ? showAll(context) : show(context))),
    );
  registerAdopt(parent, run);
  defineCommand(parent, {
    name: 'check',
    summary: t`Check the whole outbox and its journal, and correct states of entries that differ from the recorded events.`,
    examples: ['pas outbox check', 'pas outbox check --json'],
  })
    .option('--repair', t`rewrite a damaged header from the profile`)
    .action((options: CheckOptions) => run(options, (context) => check(context, options)));
}

const FENCE_WORDS: Readonly<Record<Fence['kind'], Message>> = {
  own: msg`this machine's`,
  new: msg`not pushed yet`,
  foreign: msg`another machine's, or a copy of it`,
  'lost-journal': msg`this machine's; its journal was lost`,
};

async function show(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const outbox = await context.openOutboxToRead();
  const described = describeOutbox(outbox, context.getMachineId());
  const { header, account, username, fence, finds, unsent } = described;
  const lines: readonly (readonly [Message, string])[] = [
    [msg`outbox`, header.outbox],
    [msg`file`, outbox.path],
    [msg`service`, header.address],
    [msg`documents`, `${header.prefix} ${header.schemaVersion}`],
    [
      msg`account`,
      [account?.name, username, header.account ?? t`not bound yet`]
        .filter((part) => part !== undefined)
        .join(', '),
    ],
    [msg`profiles`, listProfilesOfOutbox(context.getConfig(), header.outbox).join(', ')],
    [
      msg`journal`,
      outbox.journalProblem?.message ?? context.getJournalPlaces(header.outbox).journalFile,
    ],
    [msg`belongs to`, fence === undefined ? t`not known` : String(FENCE_WORDS[fence.kind])],
    [msg`content`, formatContent(finds, unsent)],
  ];
  for (const [name, text] of lines) terminal.printLine(`${name}: ${printable(text)}`);
  if (header.mustLook)
    terminal.printLine(
      t`Before sending, pas searches the service for entries that are not sent yet.`,
    );
  terminal.printValue(toDescriptionJson(context, described, outbox.path, outbox.journalProblem));
  return 'done';
}

function formatContent(finds: number, unsent: number): string {
  const all = ngettext(msgid`${finds} find`, `${finds} finds`, finds);
  const open = ngettext(msgid`${unsent} entry not sent`, `${unsent} entries not sent`, unsent);
  return `${all}, ${open}`;
}

function toDescriptionJson(
  context: Context,
  { header, account, username, fence, ...counts }: Description,
  file: string,
  problem?: PasError,
) {
  const { journalFile, layout } = context.getJournalPlaces(header.outbox);
  return {
    outbox: header.outbox,
    file,
    service: header.address,
    prefix: header.prefix,
    schema_version: header.schemaVersion,
    account: header.account,
    account_name: account?.name ?? null,
    username: username ?? null,
    profiles: listProfilesOfOutbox(context.getConfig(), header.outbox),
    journal: {
      file: journalFile,
      layout,
      pushed_with: header.journal === '' ? null : header.journal,
      problem: problem?.message ?? null,
    },
    belongs_to: fence?.kind ?? null,
    must_look: header.mustLook,
    separate_from: header.separateFrom,
    ...counts,
  };
}

async function showAll(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const ids = listOutboxFolders(context.places.outboxesFolder).filter(isOutboxId);
  const all: { id: string; description: Description | PasError; file: string }[] = [];
  for (const id of ids) {
    const description = await catchUnusable(async () =>
      describeOutbox(await context.openOutboxById(id), context.getMachineId()),
    );
    all.push({ id, description: description, file: context.getOutboxPlaces(id).outboxFile });
  }
  const rows = all.map(({ id, description }) => {
    const profiles = listProfilesOfOutbox(context.getConfig(), id).join(', ');
    if (description instanceof PasError) return [id, '', profiles, '', '', t`cannot be used`];
    const { header, username, finds, unsent } = description;
    return [
      id,
      header.address,
      profiles,
      username ?? header.account ?? '',
      String(finds),
      String(unsent),
    ];
  });
  await terminal.printTable(
    [t`OUTBOX`, t`SERVICE`, t`PROFILES`, t`ACCOUNT`, t`FINDS`, t`NOT SENT`],
    rows,
  );
  for (const { description } of all)
    if (description instanceof PasError) terminal.warn(description.message);
  terminal.printValue(
    all.map(({ id, description, file }) =>
      description instanceof PasError
        ? {
            outbox: id,
            file,
            profiles: listProfilesOfOutbox(context.getConfig(), id),
            problem: description.message,
          }
        : toDescriptionJson(context, description, file),
    ),
  );
  return all.some(({ description }) => description instanceof PasError) ? 'config' : 'done';
}

async function check(context: Context, { repair = false }: CheckOptions): Promise<ExitReason> {
  const { terminal } = context;
  if (repair) await repairOutboxHeader(context);
  const outbox = await context.openOutboxToPush();
  const corrected = verifyOutbox(outbox);
  const count = corrected.length;
  terminal.printLine(t`${outbox.path} and its journal are intact.`);
  terminal.printLine(
    count === 0
      ? t`The state shown for each entry agrees with its events.`
      : ngettext(
          msgid`The state shown for ${count} entry did not agree with its events and was corrected:`,
          `The state shown for ${count} entries did not agree with their events and was corrected:`,
          count,
        ),
  );
  for (const find of corrected) terminal.printLine(`  ${printable(find)}`);
  terminal.printValue({ file: outbox.path, sound: true, corrected });
  return 'done';
}

async function repairOutboxHeader(context: Context): Promise<void> {
  const { clock, terminal } = context;
  const profile = context.getProfile();
  const id = context.getOutboxId();
  const { outboxFile } = context.getOutboxPlaces(id);
  await withLock(context, async () => {
    if (!repairOutbox(outboxFile, clock, getBinding(profile), id)) return;
    terminal.printLine(
      t`The header of ${outboxFile} was damaged and has been rewritten, for ${profile.baseUrl}.`,
    );
    terminal.printLine(
      t`Before sending, pas searches the service for entries that are not sent yet.`,
    );
  });
}
