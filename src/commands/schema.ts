import type { Command } from 'commander';
import { ConfigError, type ExitReason } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { isProtected } from '../context/config.ts';
import type { Context, GlobalOptions } from '../context/context.ts';
import { documentProfileOf, ownSchemaFolder } from '../context/own-schema.ts';
import { type DocumentProfile, namespaceOf, schemaLocationOf } from '../find/find.ts';
import { type Comparison, compareWithBundled } from '../find/own-schema.ts';
import { bundledSchema } from '../find/schema.ts';
import { updateSchema } from '../flows/update-schema.ts';
import { sha512Of } from '../http/digest.ts';
import { retrying } from '../http/retry.ts';
import { forget, type KeptFile, keep, readKept } from '../store/kept-files.ts';
import { printable } from '../ui/terminal.ts';
import { defineCommand, type Runner } from './command.ts';

type UpdateOptions = GlobalOptions & { readonly bundled?: boolean };

export function register(program: Command, run: Runner): void {
  const parent = program.command('schema').description(t`The schema that documents are validated with.`);
  defineCommand(parent, {
    name: 'show',
    summary: t`Say which schema is in use, since when, and how it differs from the one that comes with pas.`,
    examples: ['pas schema show', 'pas schema show --json'],
  }).action((options: GlobalOptions) => run(options, show));
  defineCommand(parent, {
    name: 'update',
    summary: t`Fetch the deployment’s own schema and validate with it from then on, also without a network.`,
    examples: ['pas schema update', 'pas schema update --bundled'],
  })
    .option('--bundled', t`go back to the schema that comes with pas`)
    .action((options: UpdateOptions) => run(options, (context) => update(context, options)));
}

async function show(context: Context): Promise<ExitReason> {
  const profile = documentProfileOf(context.profile());
  const kept = readKept(ownSchemaFolder(context, profile));
  print(context, profile, await inUse(profile, kept));
  return 'done';
}

async function update(context: Context, options: UpdateOptions): Promise<ExitReason> {
  const profile = documentProfileOf(context.profile());
  const folder = ownSchemaFolder(context, profile);
  if (options.bundled === true) {
    const had = forget(folder);
    context.terminal.note(had ? t`The schema that was fetched is forgotten.` : t`No schema was fetched; nothing is changed.`);
    print(context, profile, await inUse(profile, undefined), had ? 'forgotten' : 'unchanged');
    return 'done';
  }
  const before = keptOrUndefined(folder);
  const { answerTimeoutMs, allowHttp } = context.profile();
  const { send } = await context.connections();
  const onWait = (waitMs: number, reason: string): void => {
    const seconds = Math.ceil(waitMs / 1000);
    context.terminal.note(t`No answer yet (${reason}); next try in ${seconds} s.`);
  };
  const retry = { attempts: 3, firstWaitMs: 500, mostWaitMs: 5000, mostRetryAfterMs: 60_000, random: Math.random, onWait };
  await updateSchema({
    profile,
    exchange: retrying(send, { clock: context.clock, ...retry }),
    answerTimeoutMs,
    isProtected: (url) => isProtected(url, allowHttp),
    keep: (url, bytes) => keep(folder, `${profile.prefix}.xsd`, url, bytes, context.clock.now()),
  });
  const kept = readKept(folder);
  const change = before === undefined ? 'fetched' : before.sha512Hex === kept?.sha512Hex ? 'unchanged' : 'updated';
  print(context, profile, await inUse(profile, kept), change);
  if (change !== 'unchanged') context.terminal.note(t`Hold what is queued against it: \`pas validate\`.`);
  return 'done';
}

/** One that is damaged is replaced like any other. */
function keptOrUndefined(folder: string): KeptFile | undefined {
  try {
    return readKept(folder);
  } catch (thrown) {
    if (thrown instanceof ConfigError) return undefined;
    throw thrown;
  }
}

type InUse = { readonly kept: KeptFile | undefined; readonly sha512Hex: string; readonly comparison: Comparison };

async function inUse(profile: DocumentProfile, kept: KeptFile | undefined): Promise<InUse> {
  if (kept !== undefined) return { kept, sha512Hex: kept.sha512Hex, comparison: await compareWithBundled(kept, profile) };
  const { bytes } = await bundledSchema(profile);
  return {
    kept,
    sha512Hex: sha512Of(bytes).toString('hex'),
    comparison: { version: profile.schemaVersion, differences: [] },
  };
}

type Change = 'fetched' | 'updated' | 'unchanged' | 'forgotten';

const SIGNS = { added: '+', removed: '-', changed: '~', reordered: '↕' } as const;

function print({ terminal }: Context, profile: DocumentProfile, { kept, sha512Hex, comparison }: InUse, change?: Change): void {
  const { differences, version } = comparison;
  if (change !== undefined) terminal.line(`${SAID[change]} ${schemaLocationOf(profile)}`);
  const namespace = namespaceOf(profile);
  terminal.line(t`Schema ${profile.schemaVersion} for ${namespace}`);
  for (const [name, text] of factsOf(kept, sha512Hex)) terminal.line(`${`${name}:`.padEnd(11)}${text}`);
  if (kept !== undefined) terminal.line(differenceTitle(differences.length, version));
  for (const { kind, path, what } of differences) {
    terminal.line(printable(`  ${SIGNS[kind]} ${path === '' ? profile.prefix : path}: ${what}`));
  }
  terminal.value({
    ...(change === undefined ? {} : { change }),
    schema_version: profile.schemaVersion,
    namespace: namespaceOf(profile),
    in_use: kept === undefined ? 'bundled' : 'own',
    url: schemaLocationOf(profile),
    file: kept?.path ?? null,
    sha512: sha512Hex,
    fetched_at: kept === undefined ? null : iso(kept.fetchedAtMs),
    checked_at: kept === undefined ? null : iso(kept.checkedAtMs),
    compared_with: version,
    differences,
  });
}

function factsOf(kept: KeptFile | undefined, sha512Hex: string): (readonly [string, string])[] {
  const digest = ['sha-512', sha512Hex] as const;
  if (kept === undefined) return [[t`in use`, t`the one that comes with pas`], digest];
  const [fetched, asked] = [iso(kept.fetchedAtMs), iso(kept.checkedAtMs)];
  return [[t`in use`, t`the deployment’s own, fetched ${fetched}, last asked for ${asked}`], [t`file`, kept.path], digest];
}

const SAID: Readonly<Record<Change, string>> = {
  fetched: t`Fetched`,
  updated: t`A new one was fetched:`,
  unchanged: t`Nothing is new:`,
  forgotten: t`No longer in use:`,
};

function differenceTitle(count: number, version: string): string {
  if (count === 0) return t`It says the same as the ${version} that comes with pas.`;
  return ngettext(
    msgid`It differs from the ${version} that comes with pas in ${count} place (+ new, - gone, ~ changed, ↕ order):`,
    `It differs from the ${version} that comes with pas in ${count} places (+ new, - gone, ~ changed, ↕ order):`,
    count,
  );
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
