import type { Clock } from '../../base/clock.ts';
import { ConfigError } from '../../base/errors.ts';
import { type Command, cmd, composeCommand, msg, quoteShellWord, t } from '../../base/message.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import type { PushLockOptions } from '../../outbox/push-lock.ts';
import type { ProfileUser } from '../../push/account.ts';
import { maskProxy, type NetworkSettings } from '../../service/http/proxy.ts';
import type { Connections } from '../../service/http/send.ts';
import { makeSecretsOwner, type SecretLocation, type SecretStore } from '../../service/secrets.ts';
import type { Prompt } from '../prompt.ts';
import type { Terminal } from '../terminal.ts';
import {
  assertTls,
  type Config,
  findOutboxName,
  KEY_RULES,
  KEYS_WITH_FLAG,
  listProfilesOfOutbox,
  makeFreeProfileName,
  PROFILE_KEYS,
  type Profile,
  type ProfileSettings,
  toCamelCase,
  toFlag,
} from './config.ts';
import type { DataPaths, Environment, LedgerPaths, OutboxPaths, SystemQueries } from './places.ts';

/** Services of the machine and the network. */
export type Machine = {
  readonly clock: Clock;
  /** Identifies the machine, and tells if it is a container. */
  readonly system: SystemQueries;
  random(): number;
  openConnections(network: NetworkSettings): Promise<Connections>;
};

/** Part of a context that needs no profile. Resources are closed at the end, the last first. */
export type CommandResources = {
  readonly machine: Machine;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly places: DataPaths;
  readonly terminal: Terminal;
  /** A person has confirmed beforehand: `--yes`. */
  readonly isConfirmed: boolean;
  prompt(): Promise<Prompt>;
  onClose(close: () => void | Promise<void>): void;
};

/**
 * Which service, account, outbox and secrets a command uses: all of it follows from its profile,
 * which is chosen at its first use, and nothing is opened before. What is opened is closed with the
 * context.
 */
export type ProfileAccess = {
  getConfig(): Config;
  /** Changes the configuration, of which the profile is chosen anew. */
  changeConfig(change: (config: Config) => Config): void;
  /**
   * Returns service and account.
   * @throws ConfigError where there is none, or no choice
   */
  getProfile(): Profile;
  /** Returns the ` --profile NAME`, or nothing, that printed commands need for this profile. */
  getProfileFlag(): string;
  /** Passwords and tokens, by {@link getCredentialKey}. */
  openSecrets(): SecretStore;
  /** Opens the connections by which requests of the profile leave this machine. */
  openConnections(): Promise<Connections>;
  /** Opens connections with settings of the network that no profile has yet. */
  openConnectionsWith(settings: ProfileSettings): Promise<Connections>;
  /** Returns the identifier of this machine; empty where it has none. */
  getMachineId(): string;
  /** Returns the files of the profile's outbox, or of another one. */
  getOutboxPlaces(name?: string): OutboxPaths;
  getLedgerPlaces(name?: string): LedgerPaths;
  /** Returns the options for the lock of the profile's outbox, or of another one. */
  pushLock(name?: string): PushLockOptions;
  /**
   * Opens the outbox of the profile, which is created at its first use.
   * @throws ConfigError where it is for another service
   */
  openOutbox(): Promise<Outbox>;
  /**
   * Opens the outbox of the profile, and waits longer for the ledger. To be called before
   * `openOutbox`.
   */
  openOutboxToPush(): Promise<Outbox>;
  /** Opens the outbox of the profile for reading: a copy where the disk is full or read-only. */
  openOutboxToRead(): Promise<Outbox>;
};

/** Everything that a command may use of its profile; a context is one. */
export type ProfileContext = CommandResources & ProfileAccess;

/**
 * Returns the name of the chosen profile: of the flag, PAS_PROFILE, the default, or the only one.
 * It need not exist; undefined where there is no choice.
 */
export function findProfileName(
  { profiles, defaultProfile }: Config,
  environment: Environment,
  flag: string | undefined,
): string | undefined {
  const only = profiles.size === 1 ? [...profiles.keys()][0] : undefined;
  return flag ?? environment['PAS_PROFILE'] ?? defaultProfile ?? only;
}

/**
 * Returns the profile that {@link findProfileName} names, with all defaults.
 * @throws ConfigError where there is none of this name, no choice, or it is incomplete
 */
export function chooseProfile(
  config: Config,
  { places, environment }: CommandResources,
  flag: string | undefined,
): Profile {
  const name = findProfileName(config, environment, flag);
  if (name === undefined) {
    throw config.profiles.size === 0
      ? new ConfigError(t`There is no profile yet.`, { hint: formatProfileAdvice(config) })
      : new ConfigError(t`There are several profiles, but no default.`, {
          hint: t`Choose one with \`${cmd`pas profile use`} NAME\` or --profile NAME.`,
        });
  }
  const settings = config.profiles.get(name);
  if (settings === undefined)
    throw new ConfigError(t`There is no profile ${name} in ${places.configFile}.`, {
      hint: formatProfileAdvice(config),
    });
  return toProfile(name, settings, environment, t`${places.configFile}, profile ${name}`);
}

/** Returns a sentence with the names of the profiles, or how to create the first one; for hints. */
export function formatProfileAdvice({ profiles }: Config): string {
  const names = [...profiles.keys()].join(', ');
  return names === ''
    ? t`Create one with \`${cmd`pas init`} ADDRESS\`, where ADDRESS is the address of the service.`
    : t`Profiles: ${names}.`;
}

/**
 * Completes settings to a profile: with the fallbacks of all keys, its outbox, and PAS_USERNAME
 * over its own user name.
 * @param where for errors, such as "config.toml, profile training"
 * @throws ConfigError for a missing key, or an address without TLS that is not this machine's
 */
export function toProfile(
  name: string,
  settings: ProfileSettings,
  environment: Environment,
  where: string,
): Profile {
  for (const key of PROFILE_KEYS) {
    if (KEY_RULES[key].required === true && settings[key] === undefined) {
      throw new ConfigError(t`${where}: ${key} is missing.`, {
        hint: t`Add it to the file, or run \`${cmd`pas init --name ${name}`}\` again.`,
      });
    }
  }
  const values = PROFILE_KEYS.map((key) => [
    toCamelCase(key),
    settings[key] ?? KEY_RULES[key].fallback,
  ]);
  const profile = Object.freeze({
    ...Object.fromEntries(values),
    name,
    username: environment['PAS_USERNAME'] ?? settings.username,
    outbox: findOutboxName(settings) ?? '',
  }) as Profile;
  for (const address of [profile.baseUrl, profile.oaiBase ?? profile.baseUrl])
    assertTls(where, address, profile.allowHttp);
  return profile;
}

/**
 * Makes the command that creates a profile with these settings; the password of a proxy is
 * masked.
 */
export function makeInitCommand(name: string, settings: ProfileSettings): Command {
  const flags = PROFILE_KEYS.filter((key) => settings[key] !== undefined).map((key) => {
    const value = key === 'proxy' ? maskProxy(settings.proxy ?? '') : `${settings[key]}`;
    return KEYS_WITH_FLAG.includes(key)
      ? ([toFlag(key), value] as const)
      : (['--set', `${key}=${value}`] as const);
  });
  return composeCommand('pas init', [['--name', name], ...flags]);
}

/**
 * Returns proxy and certificates for requests: those of `given`, else of the profile, else of the
 * whole configuration. The profile need not exist.
 */
export function getNetworkSettings(
  { network, profiles }: Config,
  environment: Environment,
  profile: string | undefined,
  given: ProfileSettings = {},
): NetworkSettings {
  const own = profile === undefined ? undefined : profiles.get(profile);
  const get = (key: 'proxy' | 'ca_file'): string | undefined =>
    given[key] ?? own?.[key] ?? network?.[key];
  return { environment, proxy: get('proxy'), caFile: get('ca_file') };
}

/**
 * Returns the settings with the password of a proxy masked, to be shown to a person or a program.
 */
export function maskSettings<Settings extends { readonly proxy?: string | undefined }>(
  settings: Settings,
): Settings {
  return settings.proxy === undefined
    ? settings
    : { ...settings, proxy: maskProxy(settings.proxy) };
}

/** Returns the password in PAS_PASSWORD, else the stored one; undefined where there is neither. */
export function getPassword(context: ProfileContext, profile: Profile): string | undefined {
  return (
    context.environment['PAS_PASSWORD'] ??
    context.openSecrets().get(getCredentialKey(profile)).password
  );
}

/** Returns the key under which the secrets of an account are stored. */
export function getCredentialKey({
  baseUrl,
  username,
}: Pick<Profile, 'baseUrl' | 'username'>): string {
  return makeSecretsOwner({ baseUrl, username });
}

/** Returns the place of the credentials: `environment` where PAS_TOKEN or PAS_PASSWORD is set. */
export function getSourceOfSecrets({
  environment,
  getProfile,
  openSecrets,
}: ProfileContext): 'environment' | SecretLocation {
  const isGiven =
    environment['PAS_TOKEN'] !== undefined || environment['PAS_PASSWORD'] !== undefined;
  return isGiven ? 'environment' : openSecrets().getPlace(getCredentialKey(getProfile()));
}

/** Makes the sentence about the place of the credentials, from the path of the secrets file. */
export const SECRET_PLACE_TEXTS: Readonly<
  Record<'environment' | SecretLocation, (file: string) => string>
> = {
  environment: () => t`The password or token comes from the environment (PAS_PASSWORD, PAS_TOKEN).`,
  keyring: () => t`The password and token are in the system keyring.`,
  file: (file) =>
    process.platform === 'win32'
      ? t`The password and token are in ${file}. Every account that can open your user folder can read it, including administrators.`
      : t`The password and token are in ${file}, which only you can read.`,
  nowhere: () => t`No password or token is stored.`,
};

/** Returns the account of a harvest; empty for an anonymous one. */
export function getHarvestUsername({ oaiAuth, username }: Profile): string {
  return oaiAuth === 'none' ? '' : (username ?? '');
}

/**
 * Returns the address of the harvesting interface of the profile.
 * @throws ConfigError where it has none
 */
export function requireHarvestBase(profile: Profile): string {
  if (profile.oaiBase !== undefined) return profile.oaiBase;
  throw makeNoHarvestingError(profile);
}

/**
 * Returns the address of the interface that shows the profile's own records; undefined where
 * there is none. A training instance may use that of production for vocabularies: there, its
 * identifiers belong to other records.
 */
export function findOwnHarvestBase(context: ProfileContext): string | undefined {
  const { kind, baseUrl, oaiBase } = context.getProfile();
  if (oaiBase === undefined || kind === 'production') return oaiBase;
  const isOfAnother = [...context.getConfig().profiles.values()].some(
    (other) =>
      other.kind !== 'training' && other.oai_base === oaiBase && other.base_url !== baseUrl,
  );
  return isOfAnother || new URL(oaiBase).hostname !== new URL(baseUrl).hostname
    ? undefined
    : oaiBase;
}

/**
 * Makes the error that a lookup is not possible: the profile has no harvesting interface, or one
 * that does not show its own records.
 */
export function makeNoHarvestingError(profile: Profile): ConfigError {
  if (profile.oaiBase !== undefined)
    return new ConfigError(
      t`The harvesting interface of profile ${profile.name} belongs to another instance and does not show what was sent to this one.`,
      {
        hint: t`Check the website of the instance, then run \`${cmd`pas resolve`} FIND --created IDENT\` or \`${cmd`pas resolve`} FIND --resend\`.`,
      },
    );
  return new ConfigError(t`Profile ${profile.name} has no harvesting interface.`, {
    hint: t`Add it with \`${cmd`pas init --name ${profile.name} --oai-base`} …\`; a training instance uses that of production.`,
  });
}

/**
 * Returns the user of the profile in the configuration, with functions that make the advice where
 * another account has signed in.
 */
export function makeProfileUser(context: ProfileContext): ProfileUser {
  const { name } = context.getProfile();
  const config = context.getConfig();
  const settings = config.profiles.get(name) ?? {};
  return {
    name,
    username: settings.username,
    adviseProfileFor: (username) => {
      const [existing] = listProfilesOfOutbox(
        config,
        findOutboxName({ ...settings, username }) ?? '',
      );
      if (existing !== undefined)
        return msg`use its profile: ${cmd`pas push --profile ${existing}`}`;
      const command = makeInitCommand(makeFreeProfileName(config, username), {
        ...settings,
        username,
      });
      return msg`make a profile for it: ${command}`;
    },
    withUser: (username) => {
      const command = makeInitCommand(name, { ...settings, username });
      return msg`set that user in the profile: ${command}`;
    },
  };
}

/**
 * Returns the `--profile` flag for printed commands; nothing where the profile is the default
 * anyway. PAS_PROFILE may be set for this command only, so it and the configured default must both
 * be this profile.
 */
export function formatProfileFlag(
  getConfig: () => Config,
  environment: Environment,
  getProfile: () => Profile,
): string {
  try {
    const { name } = getProfile();
    const { defaultProfile, profiles } = getConfig();
    const configured = defaultProfile ?? (profiles.size === 1 ? name : undefined);
    const isUsedAnyway = configured === name && (environment['PAS_PROFILE'] ?? name) === name;
    return isUsedAnyway ? '' : ` --profile ${quoteShellWord(name)}`;
  } catch {
    return '';
  }
}
