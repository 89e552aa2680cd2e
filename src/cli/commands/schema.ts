import { Option } from 'commander';
import { formatIso } from '../../base/clock.ts';
import type { ExitReason } from '../../base/errors.ts';
import { cmd, formatMoment, t } from '../../base/message.ts';
import {
  deleteKeptSchema,
  readSchemaInUse,
  type SchemaChange,
  type SchemaInUse,
  updateSchema,
} from '../../harvest/update-schema.ts';
import { defineCommand, type Registration } from '../command.ts';
import { isProtectedAddress } from '../context/config.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { getOwnSchemaFolder } from '../context/find-input.ts';
import { makeWaitPrinter } from '../context/open-service.ts';

type SchemaOptions = GlobalOptions & { readonly update?: boolean; readonly bundled?: boolean };

/** Registers `pas schema`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'schema',
    t`Show which schema validates documents, download that of the service, or go back to the bundled one.`,
    ['pas schema', 'pas schema --update'],
  )
    .addOption(
      new Option('--update', t`use the schema of the service, also offline`).conflicts('bundled'),
    )
    .option('--bundled', t`use the bundled schema again`)
    .action(run(schema));
};

async function schema(context: Context, options: SchemaOptions): Promise<ExitReason> {
  const { terminal } = context;
  const profile = context.getProfile();
  const folder = getOwnSchemaFolder(context, profile);
  const change = await changeSchema(context, folder, options);
  print(context, profile.schemaVersion, await readSchemaInUse(profile, folder), change);
  if (change === 'fetched' || change === 'updated')
    terminal.note(t`Validate the queue with it: \`${cmd`pas validate`}\`.`);
  return 'done';
}

/** @returns undefined where the schema is only shown */
async function changeSchema(
  context: Context,
  folder: string,
  { update, bundled }: SchemaOptions,
): Promise<SchemaChange | undefined> {
  if (bundled === true) return deleteKeptSchema(folder);
  return update === true ? fetchInto(context, folder) : undefined;
}

/** Fetches the schema of the profile's service; where that cannot be used, the stored one stays. */
async function fetchInto(context: Context, folder: string): Promise<SchemaChange> {
  const profile = context.getProfile();
  const { answerTimeoutMs, allowHttp } = profile;
  const { send } = await context.openConnections();
  return updateSchema({
    profile,
    folder,
    send,
    clock: context.clock,
    random: context.random,
    onWait: makeWaitPrinter(context),
    answerTimeoutMs,
    isProtected: (url) => allowHttp || isProtectedAddress(url),
  });
}

function print(
  { terminal }: Context,
  version: string,
  inUse: SchemaInUse,
  change: SchemaChange | undefined,
): void {
  const { url, namespace, keptSchema, sha512Hex } = inUse;
  terminal.printLine(t`Schema ${version} for ${namespace}`);
  for (const line of describeSchema(inUse)) terminal.printLine(`  ${line}`);
  terminal.printValue({
    change,
    schema_version: version,
    namespace,
    in_use: keptSchema === undefined ? 'bundled' : 'own',
    url,
    file: keptSchema?.path ?? null,
    sha512: sha512Hex,
    fetched_at: formatIso(keptSchema?.fetchedAtMs),
  });
}

function describeSchema({ url, keptSchema, sha512Hex }: SchemaInUse): string[] {
  const digest = `SHA-512 ${sha512Hex}`;
  if (keptSchema === undefined) return [t`the bundled schema`, digest];
  const fetched = formatMoment(keptSchema.fetchedAtMs);
  return [t`the schema of the service, downloaded ${fetched}`, url, keptSchema.path, digest];
}
