import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import type { ExitReason } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import { maskProxyCredentials } from '../../service/http/proxy.ts';
import { makeSecretsOwner } from '../../service/secrets.ts';
import { defineCommand, type Registration } from '../command.ts';
import {
  findOutboxName,
  listProfilesOfOutbox,
  parseProfileKeyValue,
  parseProfileSettings,
  requireProfileSettings,
  toProfile,
} from '../context/config.ts';
import type { Context } from '../context/context.ts';
import { saveProfile } from '../context/profile-outbox.ts';
import { INSTANCE_WORDS } from '../result-texts.ts';

/**
 * Registers the group `pas profile` with its commands `list`, `show`, `use`, `set` and `remove`.
 */
export const registerCommands: Registration = (program, run) => {
  const parent = program.command('profile').description(t`Manage profiles.`);
  defineCommand(parent, 'list', t`List the profiles.`, [
    'pas profile list',
    'pas profile list --json',
  ]).action(run(list));
  defineCommand(parent, 'show [profile]', t`Show the settings of a profile, without passwords.`, [
    'pas profile show',
    'pas profile show training --json',
  ])
    .hook('preAction', useNamedProfile)
    .action(run(show));
  defineCommand(parent, 'use <profile>', t`Make a profile the default.`, [
    'pas profile use training',
    'pas profile use museum',
  ]).action(run(use));
  defineCommand(
    parent,
    'set <key=value...>',
    t`Change settings of a profile, such as the address of a service that has moved: its outbox moves along.`,
    [
      'pas profile set base_url=https://finds.example.org',
      'pas profile set min_interval_ms=200 --profile training',
    ],
  ).action(run(set));
  defineCommand(
    parent,
    'remove <profile>',
    t`Remove a profile and its secrets. Its entries in the outbox stay.`,
    ['pas profile remove old', 'pas profile remove old --json'],
  )
    .hook('preAction', useNamedProfile)
    .action(run(remove));
};

/** Runs a command for the profile that its argument names. */
function useNamedProfile(command: Command): void {
  const [name] = command.args;
  if (name !== undefined) command.setOptionValue('profile', name);
}

async function list({ getConfig, terminal }: Context): Promise<ExitReason> {
  const { profiles, defaultProfile } = getConfig();
  const rows = [...profiles].map(([name, settings]) => [
    name === defaultProfile ? '*' : '',
    name,
    settings.kind === undefined ? '' : INSTANCE_WORDS[settings.kind],
    settings.username ?? '',
    settings.base_url ?? '',
  ]);
  await terminal.printTable(['', t`PROFILE`, t`KIND`, t`ACCOUNT`, t`ADDRESS`], rows);
  terminal.printValue(
    [...profiles].map(([name, settings]) => ({
      profile: name,
      default: name === defaultProfile,
      ...maskProxyPassword(settings),
    })),
  );
  return 'done';
}

async function show({ getProfile, terminal }: Context): Promise<ExitReason> {
  const settings = maskProxyPassword(getProfile());
  // Prints keys in the spelling of config.toml, so that they can be copied there.
  const toSnakeCase = (key: string): string =>
    key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  for (const [key, value] of Object.entries(settings))
    terminal.printLine(`${toSnakeCase(key)}: ${value ?? ''}`);
  terminal.printValue(settings);
  return 'done';
}

async function use(
  { changeConfig, getConfig, terminal }: Context,
  name: string,
): Promise<ExitReason> {
  requireProfileSettings(getConfig(), name);
  changeConfig((current) => ({ ...current, defaultProfile: name }));
  terminal.printLine(t`${name} is now the default profile.`);
  terminal.printValue({ default: name });
  return 'done';
}

/** Changes settings of the profile; its outbox comes along, see {@link saveProfile}. */
async function set(context: Context, texts: readonly string[]): Promise<ExitReason> {
  const { terminal, getConfig } = context;
  const { name } = context.getProfile();
  const changes = parseProfileSettings(
    'pas profile set',
    Object.fromEntries(texts.map(parseProfileKeyValue)),
  );
  const settings = { ...getConfig().profiles.get(name), ...changes };
  await saveProfile(context, toProfile(name, settings, {}, 'pas profile set'), settings);
  const names = Object.keys(changes).join(', ');
  terminal.printLine(t`Profile ${name} is changed: ${names}.`);
  terminal.printValue({ profile: name, ...maskProxyPassword(settings) });
  return 'done';
}

/**
 * Removes a profile; its outbox stays. Its secrets are removed first, unless another profile has
 * the same outbox.
 */
async function remove(context: Context, name: string): Promise<ExitReason> {
  const { getConfig, openSecrets, terminal } = context;
  const file = getConfig();
  const settings = requireProfileSettings(file, name);
  const outbox = findOutboxName(settings) ?? '';
  const isOnly = listProfilesOfOutbox(file, outbox).length === 1;
  // The secrets belong to the address and the user name, as the outbox does.
  const { base_url: baseUrl, username } = settings;
  if (isOnly && baseUrl !== undefined)
    openSecrets().remove(makeSecretsOwner({ baseUrl, username }));
  context.changeConfig((current) => {
    const profiles = new Map(current.profiles);
    profiles.delete(name);
    const { defaultProfile } = current;
    return {
      ...current,
      profiles,
      defaultProfile: defaultProfile === name ? undefined : defaultProfile,
    };
  });
  terminal.printLine(t`Profile ${name} is removed.`);
  const { folder } = context.getOutboxPlaces(outbox);
  if (outbox !== '' && existsSync(folder)) terminal.note(t`Its outbox stays in ${folder}.`);
  terminal.printValue({ removed: name });
  return 'done';
}

/** Returns settings in which the password of the proxy's address is masked, to be shown. */
function maskProxyPassword<Settings extends { readonly proxy?: string | undefined }>(
  settings: Settings,
): Settings {
  return settings.proxy === undefined
    ? settings
    : { ...settings, proxy: maskProxyCredentials(settings.proxy) };
}
