import type { Command } from 'commander';
import { type ExitReason, PasError, UsageError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd } from '../../base/message.ts';
import { normalizeAddress } from '../../context/config.ts';
import { type Context, type GlobalOptions, getCredentialKeys } from '../../context/context.ts';
import { withLocks } from '../../context/other-outboxes.ts';
import { isOutboxId } from '../../context/places.ts';
import {
  catchUnusable,
  type Description,
  describeOutbox,
  listOutboxFolders,
  moveOutbox,
  type ServiceMove,
} from '../../flows/outbox/describe-outbox.ts';
import { requireConfirmation } from '../../ui/terminal.ts';
import { defineCommand, type Runner } from '../command.ts';

type MovedOptions = GlobalOptions & {
  readonly yes?: boolean;
  readonly prefix?: string;
  readonly schemaVersion?: string;
};

export function register(program: Command, run: Runner): void {
  const parent = program
    .command('service')
    .description(t`Tell pas that a service has a new address.`);
  defineCommand(parent, {
    name: 'moved <old> <new>',
    summary: t`Tell pas that a service has a new address: everything sent to the old address is at the new one.`,
    examples: [
      'pas service moved https://old.example.org https://finds.example.org',
      'pas service moved https://finds.example.org https://finds.example.org --schema-version 2.2 --yes',
    ],
  })
    .option('--prefix <prefix>', t`XML prefix that the service now has`)
    .option('--schema-version <version>', t`schema version that the service now accepts`)
    .option('--yes', t`do not ask`)
    .action((old: string, now: string, options: MovedOptions) =>
      run(options, (context) => renameService(context, old, now, options)),
    );
}

type AffectedOutboxes = {
  readonly from: string;
  readonly move: ServiceMove;
  readonly outboxes: readonly Description[];
  readonly profiles: readonly string[];
};

async function renameService(
  context: Context,
  old: string,
  now: string,
  options: MovedOptions,
): Promise<ExitReason> {
  const { terminal } = context;
  const affected = await planRename(context, old, now, options);
  const { from, move, outboxes, profiles } = affected;
  if (options.yes !== true) await confirm(context, affected);
  const ids = outboxes.map(({ header }) => header.outbox);
  await withLocks(context, ids, async () => {
    for (const id of ids) moveOutbox(await context.openOutboxById(id), move);
    moveProfiles(context, affected);
  });
  terminal.printLine(
    t`Everything queued for or sent to ${from} belongs to ${move.address} from now on.`,
  );
  for (const name of profiles) terminal.printLine(t`Profile ${name} now has ${move.address}.`);
  if (profiles.length > 0)
    terminal.note(t`Check oai_base and schema_base in ${context.places.configFile} too.`);
  if (options.prefix !== undefined || options.schemaVersion !== undefined)
    terminal.note(t`\`${cmd`pas validate`}\` rebuilds the documents that are not sent yet.`);
  const entries = sum(outboxes, 'entries');
  terminal.printValue({ moved: from, to: move.address, entries, outboxes: ids, profiles });
  return 'done';
}

/**
 * @throws UsageError, without quoting a possible password, where the old address is unknown, or the
 * new one is invalid
 */
async function planRename(
  context: Context,
  old: string,
  now: string,
  options: MovedOptions,
): Promise<AffectedOutboxes> {
  const from = normalizeAddress(old);
  const address = normalizeAddress(now);
  const all = await describeOutboxes(context);
  const named = [...context.getConfig().profiles].map(
    ([name, { base_url: url }]) => [name, String(url ?? '')] as const,
  );
  const outboxes = all.filter(({ header }) => header.address === from);
  const profiles = named.flatMap(([name, url]) => (url === from ? [name] : []));
  if (from === undefined || (outboxes.length === 0 && profiles.length === 0)) {
    const addresses = [
      ...new Set([...all.map(({ header }) => header.address), ...named.map(([, url]) => url)]),
    ].join(', ');
    throw new UsageError(t`pas does not know a service at the old address.`, {
      hint: t`Known services: ${addresses}`,
    });
  }
  if (address === undefined)
    throw new UsageError(
      t`The new address must be like https://finds.example.org, without a user name, a query or a #.`,
    );
  const { prefix, schemaVersion } = options;
  if (address === from && prefix === undefined && schemaVersion === undefined)
    throw new UsageError(t`${from} and ${address} are the same address.`, {
      hint: t`If the service now accepts other documents, add --schema-version or --prefix.`,
    });
  const move = {
    address,
    ...(prefix === undefined ? {} : { prefix }),
    ...(schemaVersion === undefined ? {} : { schemaVersion }),
  };
  return { from, move, outboxes, profiles };
}

async function describeOutboxes(context: Context): Promise<Description[]> {
  const descriptions: Description[] = [];
  for (const id of listOutboxFolders(context.places.outboxesFolder).filter(isOutboxId)) {
    const described = await catchUnusable(async () =>
      describeOutbox(await context.openOutboxById(id), context.getMachineId()),
    );
    if (described instanceof PasError) context.terminal.warn(described.message);
    else descriptions.push(described);
  }
  return descriptions;
}

/** Moves the secrets of the profiles, too, since they are stored by address. */
function moveProfiles(context: Context, { profiles, move }: AffectedOutboxes): void {
  const before = context.getConfig();
  const after = {
    base_url: move.address,
    ...(move.prefix === undefined ? {} : { prefix: move.prefix }),
    ...(move.schemaVersion === undefined ? {} : { schema_version: move.schemaVersion }),
  };
  context.changeConfig((config) => ({
    ...config,
    profiles: new Map(
      [...config.profiles].map(([name, its]) => [
        name,
        profiles.includes(name) ? { ...its, ...after } : its,
      ]),
    ),
  }));
  const now = context.getConfig();
  for (const name of profiles) {
    const [[old], [owner]] = [getCredentialKeys(before, name), getCredentialKeys(now, name)];
    if (old === undefined || owner === undefined || old === owner) continue;
    try {
      const secrets = context.secrets.get(old);
      if (Object.keys(secrets).length > 0 && context.secrets.getPlace(owner) === 'nowhere')
        context.secrets.set(owner, secrets);
    } catch (thrown) {
      if (!(thrown instanceof PasError)) throw thrown;
      context.terminal.warn(
        t`Profile ${name} must sign in again: ${cmd`pas login --profile ${name}`}`,
      );
    }
  }
}

async function confirm(
  context: Context,
  { from, move, outboxes }: AffectedOutboxes,
): Promise<void> {
  const entries = sum(outboxes, 'entries');
  const accepted = sum(outboxes, 'accepted');
  const what = t`${from} has ${entries} entries here, of which ${accepted} are records. They will count as entries of ${move.address}.`;
  if (context.terminal.interactive) context.terminal.note(what);
  const unasked = [what, t`Add --yes if it is the same service.`] as const;
  await requireConfirmation(context, t`Is it the same service?`, unasked, t`Nothing was changed.`);
}

function sum(outboxes: readonly Description[], key: 'entries' | 'accepted'): number {
  return outboxes.reduce((total, each) => total + each[key], 0);
}
