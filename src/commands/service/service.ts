import type { Command } from 'commander';
import { type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { carryOut, knownServices, type Move, planMove, type ServiceRow } from '../../flows/push/known-services.ts';
import { defineCommand, type Runner } from '../command.ts';

type MovedOptions = GlobalOptions & { readonly yes?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('service').description(t`The services and accounts that this outbox knows.`);
  defineCommand(parent, {
    name: 'list',
    summary: t`List the services that finds were queued for or sent to, with their accounts.`,
    examples: ['pas service list', 'pas service list --json'],
  }).action((options: GlobalOptions) => run(options, list));
  defineCommand(parent, {
    name: 'moved <old> <new>',
    summary: t`Say that a service has got another address: what was sent to the old one is at the new one.`,
    examples: [
      'pas service moved https://old.example.org https://finds.example.org',
      'pas service moved museum https://finds.example.org --yes',
    ],
  })
    .option('--yes', t`do not ask`)
    .action((old: string, now: string, options: MovedOptions) => run(options, (context) => moved(context, old, now, options)));
}

async function list(context: Context): Promise<ExitReason> {
  const { terminal } = context;
  const services = knownServices(await context.wholeOutboxToRead());
  const header = [t`SERVICE`, t`PROFILES`, t`ACCOUNTS`, t`ENTRIES`, t`RECORDS`];
  await terminal.table(
    header,
    services.map((row) => [
      nameOf(row),
      row.profiles.join(', '),
      row.accounts.map(({ identCely, username }) => username ?? identCely).join(', '),
      String(row.entries),
      String(row.accepted),
    ]),
  );
  for (const { address, knownAs } of services) {
    const name = knownAs ?? '';
    if (address === null)
      terminal.warn(t`Nobody knows the address of ${name}. Say it: ${cmd`pas service moved ${name}`} ADDRESS`);
  }
  terminal.value(
    services.map(({ address, knownAs, profiles, accounts, entries, accepted }) => ({
      service: address,
      known_as: knownAs,
      profiles,
      accounts: accounts.map(({ identCely, username, name }) => ({ ident_cely: identCely, username, name })),
      entries,
      accepted,
    })),
  );
  return 'done';
}

function nameOf({ address, knownAs }: ServiceRow): string {
  const profile = knownAs ?? '';
  return address ?? t`profile ${profile} (address unknown)`;
}

async function moved(context: Context, old: string, now: string, { yes }: MovedOptions): Promise<ExitReason> {
  const { terminal, config } = context;
  const outbox = await context.wholeOutbox();
  const move = planMove(outbox, old, now);
  if (yes !== true) await confirm(context, move);
  carryOut(outbox, move);
  const { from, address } = move;
  const was = nameOf(from);
  terminal.line(t`What was queued for and sent to ${was} is at ${address} from now on.`);
  for (const [name, { base_url: named }] of config().profiles)
    if (named === from.address)
      terminal.warn(
        t`Profile ${name} still names ${was}: correct base_url in config.toml, or make it anew with ${cmd`pas init`}.`,
      );
  terminal.value({ moved: from.address ?? from.knownAs, to: address, entries: from.entries });
  return 'done';
}

/** @throws UsageError when nobody can be asked, or the answer is no */
async function confirm({ terminal, prompt }: Context, { from, address, into }: Move): Promise<void> {
  const [was, entries, accepted] = [nameOf(from), from.entries, from.accepted];
  const what = t`${was} has ${entries} entries here, ${accepted} of them records. They will be taken for those of ${address}.`;
  const others = into?.entries ?? 0;
  const warning =
    others === 0 ? '' : ` ${t`That one has ${others} entries of its own: the two become one, which cannot be undone.`}`;
  if (!terminal.interactive) throw new UsageError(`${what}${warning}`, { hint: t`Add --yes if it is the same service.` });
  terminal.note(`${what}${warning}`);
  if (!(await (await prompt()).confirm(t`Is it the same service at a new address?`)))
    throw new UsageError(t`Nothing was changed.`);
}
