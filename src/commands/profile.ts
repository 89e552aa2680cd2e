import type { Command } from 'commander';
import { ConfigError, type ExitReason } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { writeConfigFile } from '../config.ts';
import type { Context, GlobalOptions } from '../context.ts';
import { table } from '../ui/table.ts';
import { defineCommand, type Runner } from './command.ts';

export function register(program: Command, run: Runner): void {
  const parent = program.command('profile').description(t`Manage profiles.`);
  defineCommand(parent, {
    name: 'list',
    summary: t`List the profiles.`,
    examples: ['pas profile list', 'pas profile list --json'],
  }).action((options: GlobalOptions) => run(options, list));
  defineCommand(parent, {
    name: 'show [name]',
    summary: t`Show what a profile says, without its secrets.`,
    examples: ['pas profile show', 'pas profile show training --json'],
  }).action((name: string | undefined, options: GlobalOptions) =>
    run(name === undefined ? options : { ...options, profile: name }, show),
  );
  defineCommand(parent, {
    name: 'use <name>',
    summary: t`Make a profile the default.`,
    examples: ['pas profile use training', 'pas profile use museum'],
  }).action((name: string, options: GlobalOptions) => run(options, (context) => use(context, name)));
  defineCommand(parent, {
    name: 'remove <name>',
    summary: t`Remove a profile and its secrets. Its entries in the outbox stay.`,
    examples: ['pas profile remove old', 'pas profile remove old --json'],
  }).action((name: string, options: GlobalOptions) => run(options, (context) => remove(context, name)));
}

async function list({ config, terminal }: Context): Promise<ExitReason> {
  const { profiles, defaultProfile } = config();
  const rows = [...profiles].map(([name, settings]) => [
    name === defaultProfile ? '*' : '',
    name,
    String(settings.kind ?? ''),
    String(settings.username ?? ''),
    String(settings.base_url ?? ''),
  ]);
  for (const line of table(['', t`PROFILE`, t`KIND`, t`ACCOUNT`, t`ADDRESS`], rows)) terminal.line(line);
  terminal.value([...profiles].map(([name, settings]) => ({ profile: name, default: name === defaultProfile, ...settings })));
  return 'done';
}

async function show({ profile, terminal }: Context): Promise<ExitReason> {
  const settings = profile();
  for (const [key, value] of Object.entries(settings)) terminal.line(`${key}: ${value ?? ''}`);
  terminal.value(settings);
  return 'done';
}

async function use({ config, places, terminal }: Context, name: string): Promise<ExitReason> {
  const file = config();
  if (!file.profiles.has(name)) throw unknownProfile(name, [...file.profiles.keys()]);
  writeConfigFile(places.configFile, { ...file, defaultProfile: name });
  terminal.line(t`${name} is the default now.`);
  terminal.value({ default: name });
  return 'done';
}

async function remove({ config, places, secrets, terminal }: Context, name: string): Promise<ExitReason> {
  const file = config();
  if (!file.profiles.has(name)) throw unknownProfile(name, [...file.profiles.keys()]);
  const profiles = new Map(file.profiles);
  profiles.delete(name);
  secrets.remove(name);
  writeConfigFile(places.configFile, {
    defaultProfile: file.defaultProfile === name ? undefined : file.defaultProfile,
    profiles,
  });
  terminal.line(t`Profile ${name} is removed.`);
  terminal.value({ removed: name });
  return 'done';
}

function unknownProfile(name: string, known: readonly string[]): ConfigError {
  const names = known.join(', ');
  return new ConfigError(t`There is no profile ${name}.`, {
    hint: names === '' ? t`Make one with \`pas init\`.` : t`There is ${names}.`,
  });
}
