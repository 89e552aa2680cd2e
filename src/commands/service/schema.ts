import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { formatMoment, t } from '../../base/language.ts';
import { cmd, type Message, msg } from '../../base/message.ts';
import { isProtected } from '../../context/config.ts';
import type { Context, GlobalOptions } from '../../context/context.ts';
import { getDocumentProfile, getOwnSchemaFolder } from '../../context/validation.ts';
import {
  findSchemaInUse,
  removeSchema,
  type SchemaChange,
  type SchemaInUse,
  updateSchema,
} from '../../flows/harvest/update-schema.ts';
import { defineCommand, type Runner } from '../command.ts';

type UpdateOptions = GlobalOptions & { readonly bundled?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program
    .command('schema')
    .description(t`Manage the schema used to validate documents.`);
  defineCommand(parent, {
    name: 'show',
    summary: t`Show which schema is in use, since when, and whether it is the bundled one.`,
    examples: ['pas schema show', 'pas schema show --json'],
  }).action((options: GlobalOptions) => run(options, show));
  defineCommand(parent, {
    name: 'update',
    summary: t`Download the schema of the service and use it for validation from now on, also offline.`,
    examples: ['pas schema update', 'pas schema update --bundled'],
  })
    .option('--bundled', t`go back to the bundled schema`)
    .action((options: UpdateOptions) => run(options, (context) => update(context, options)));
}

async function show(context: Context): Promise<ExitReason> {
  const profile = getDocumentProfile(context.getProfile());
  print(
    context,
    profile.schemaVersion,
    await findSchemaInUse(profile, getOwnSchemaFolder(context, profile)),
  );
  return 'done';
}

async function update(context: Context, { bundled }: UpdateOptions): Promise<ExitReason> {
  const { terminal } = context;
  const profile = getDocumentProfile(context.getProfile());
  const folder = getOwnSchemaFolder(context, profile);
  const change = bundled === true ? removeSchema(folder) : await fetchInto(context, folder);
  if (bundled === true) {
    terminal.note(
      change === 'forgotten'
        ? t`The downloaded schema was removed.`
        : t`There is no downloaded schema; nothing was changed.`,
    );
  }
  print(context, profile.schemaVersion, await findSchemaInUse(profile, folder), change);
  if (change === 'fetched' || change === 'updated')
    terminal.note(t`Validate the queue with it: \`${cmd`pas validate`}\`.`);
  return 'done';
}

async function fetchInto(context: Context, folder: string): Promise<SchemaChange> {
  const { answerTimeoutMs, allowHttp } = context.getProfile();
  const { send } = await context.openConnections();
  return updateSchema({
    profile: getDocumentProfile(context.getProfile()),
    folder,
    send,
    clock: context.clock,
    random: Math.random,
    onWait: (waitMs, reason) => {
      const seconds = Math.ceil(waitMs / 1000);
      context.terminal.note(t`No answer yet (${reason}); next try in ${seconds} s.`);
    },
    answerTimeoutMs,
    isProtected: (url) => isProtected(url, allowHttp),
  });
}

function print(
  { terminal }: Context,
  version: string,
  inUse: SchemaInUse,
  change?: SchemaChange,
): void {
  const { url, namespace, keptFile, sha512Hex, sameAsBundled } = inUse;
  if (change !== undefined) terminal.printLine(`${SAID[change]} ${url}`);
  terminal.printLine(t`Schema ${version} for ${namespace}`);
  for (const [name, text] of describeSchema(inUse))
    terminal.printLine(`${`${name}:`.padEnd(11)}${text}`);
  terminal.printValue({
    change,
    schema_version: version,
    namespace,
    in_use: keptFile === undefined ? 'bundled' : 'own',
    url,
    file: keptFile?.path ?? null,
    sha512: sha512Hex,
    fetched_at: keptFile === undefined ? null : formatIso(keptFile.fetchedAtMs),
    checked_at: keptFile === undefined ? null : formatIso(keptFile.checkedAtMs),
    same_as_bundled: sameAsBundled,
  });
}

function describeSchema({
  keptFile,
  sha512Hex,
  sameAsBundled,
}: SchemaInUse): (readonly [string, string])[] {
  const digest = ['sha-512', sha512Hex] as const;
  if (keptFile === undefined) return [[t`in use`, t`the bundled schema`], digest];
  const fetched = formatMoment(keptFile.fetchedAtMs);
  const asked = formatMoment(keptFile.checkedAtMs);
  return [
    [t`in use`, t`the schema of the service, downloaded ${fetched}, last checked ${asked}`],
    [
      t`content`,
      sameAsBundled ? t`the same as the bundled schema` : t`different from the bundled schema`,
    ],
    [t`file`, keptFile.path],
    digest,
  ];
}

const SAID: Readonly<Record<SchemaChange, Message>> = {
  fetched: msg`Fetched`,
  updated: msg`A new one was fetched:`,
  unchanged: msg`No change:`,
  forgotten: msg`No longer in use:`,
};

function formatIso(ms: number): string {
  return new Date(ms).toISOString();
}
