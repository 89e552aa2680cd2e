import { readFileSync } from 'node:fs';
import { isLoopback } from '../base/address.ts';
import { ConfigError, messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { LANGUAGES, type Language } from '../base/languages.ts';
import { cmd } from '../base/message.ts';
import { withoutRedisPasswords } from '../http/redis-address.ts';
import { writePrivateFile } from '../store/files.ts';
import { parseToml, type TomlTable, tomlText } from '../store/toml.ts';
import type { Environment, Places } from './places.ts';
import { checkSettings, isTable, PROFILE_KEYS, type ProfileKey, type ProfileSettings } from './profile-settings.ts';

/** One deployment and account. */
export type Profile = {
  readonly name: string;
  readonly baseUrl: string;
  readonly oaiBase: string | undefined;
  readonly schemaBase: string;
  readonly kind: 'production' | 'training';
  readonly prefix: string;
  readonly schemaVersion: string;
  readonly username: string | undefined;
  readonly oaiAuth: 'none' | 'basic' | 'bearer';
  readonly minIntervalMs: number;
  /** `local`, or the address of a Redis. */
  readonly pacing: string;
  readonly pacingFallbackIntervalMs: number;
  readonly maxInFlight: number;
  readonly photoMaxBytes: number;
  readonly settleMs: number;
  readonly indexAllowanceMs: number;
  readonly answerTimeoutMs: number;
  readonly allowHttp: boolean;
};

export type ConfigFile = {
  readonly defaultProfile: string | undefined;
  /** What people are spoken to in, where neither `--lang` nor PAS_LANG says it. */
  readonly language?: Language;
  readonly profiles: ReadonlyMap<string, ProfileSettings>;
  /** What new finds start with, as it stands in the file: it is judged where a find begins, since that takes the rules of finds. */
  readonly defaults?: DefaultsTables;
};

/** `defaults` of each profile, and the table `projects`. */
type DefaultsTables = { readonly profiles: ReadonlyMap<string, unknown>; readonly projects: TomlTable };

/** @throws ConfigError when the file is there but cannot be read or holds what it must not */
export function readConfigFile(path: string): ConfigFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')
      return { defaultProfile: undefined, profiles: new Map() };
    const why = messageOf(thrown);
    throw new ConfigError(t`${path} cannot be read: ${why}.`, { cause: thrown });
  }
  let table: TomlTable;
  try {
    table = parseToml(text);
  } catch (thrown) {
    // The parser quotes the lines around its error.
    const why = withoutRedisPasswords(messageOf(thrown).trim());
    throw new ConfigError(t`${path} is not valid TOML: ${why}`);
  }
  const { default_profile: defaultProfile, lang, profiles = {}, projects = {}, ...unknown } = table;
  const stray = Object.keys(unknown)[0];
  if (stray !== undefined)
    throw new ConfigError(t`${path}: unknown key ${stray}.`, {
      hint: t`Known are default_profile, lang, [profiles.NAME] and [projects."C-…"].`,
    });
  if (defaultProfile !== undefined && typeof defaultProfile !== 'string')
    throw new ConfigError(t`${path}: default_profile must be a text.`);
  const language = LANGUAGES.find((each) => each === lang);
  if (lang !== undefined && language === undefined) {
    const languages = LANGUAGES.join(', ');
    throw new ConfigError(t`${path}: lang names a language that pas does not speak.`, { hint: t`Choose from ${languages}.` });
  }
  if (!isTable(profiles)) throw new ConfigError(t`${path}: profiles must be a table.`);
  if (!isTable(projects)) throw new ConfigError(t`${path}: projects must be a table.`);
  return {
    defaultProfile,
    ...(language === undefined ? {} : { language }),
    profiles: new Map(
      Object.entries(profiles).map(([name, value]) => [name, checkSettings(t`${path}, profile ${name}`, withoutDefaults(value))]),
    ),
    defaults: { profiles: defaultsIn(profiles), projects },
  };
}

export function writeConfigFile(path: string, config: ConfigFile): void {
  const { defaults } = config;
  const projects = defaults?.projects ?? {};
  const text = tomlText({
    ...(config.defaultProfile === undefined ? {} : { default_profile: config.defaultProfile }),
    ...(config.language === undefined ? {} : { lang: config.language }),
    profiles: Object.fromEntries(
      [...config.profiles].map(([name, settings]) => {
        const own = defaults?.profiles.get(name);
        return [name, { ...settings, ...(own === undefined ? {} : { defaults: own }) }];
      }),
    ),
    ...(Object.keys(projects).length === 0 ? {} : { projects }),
  });
  writePrivateFile(path, `${text}\n`);
}

function defaultsIn(profiles: TomlTable): Map<string, unknown> {
  return new Map(
    Object.entries(profiles).flatMap(([name, profile]) =>
      isTable(profile) && profile['defaults'] !== undefined ? [[name, profile['defaults']]] : [],
    ),
  );
}

function withoutDefaults(profile: unknown): unknown {
  if (!isTable(profile)) return profile;
  const { defaults: _defaults, ...settings } = profile;
  return settings;
}

type ProfileChoice = { readonly flag: string | undefined; readonly environment: Environment };

/**
 * The profile to use: flag, then PAS_PROFILE, then the file's default, then the only one there is.
 * @throws ConfigError when there is none, or it is not what it must be
 */
export function chooseProfile(config: ConfigFile, places: Places, { flag, environment }: ProfileChoice): Profile {
  const only = config.profiles.size === 1 ? [...config.profiles.keys()][0] : undefined;
  const name = flag ?? environment['PAS_PROFILE'] ?? config.defaultProfile ?? only;
  if (name === undefined) {
    throw new ConfigError(config.profiles.size === 0 ? t`There is no profile yet.` : t`Several profiles and no default.`, {
      hint:
        config.profiles.size === 0
          ? t`Make one with \`${cmd`pas init`}\`.`
          : t`Choose one with \`${cmd`pas profile use`} NAME\` or --profile NAME.`,
    });
  }
  const settings = config.profiles.get(name);
  if (settings === undefined) {
    const known = [...config.profiles.keys()].join(', ');
    throw new ConfigError(t`There is no profile ${name} in ${places.configFile}.`, {
      hint: known === '' ? t`Make one with \`${cmd`pas init`}\`.` : t`There is ${known}.`,
    });
  }
  refuseContradiction(config, places, name, settings);
  return toProfile(name, settings, environment, t`${places.configFile}, profile ${name}`);
}

/** What is true of a service, whichever profile names it. */
const OF_THE_SERVICE = ['kind', 'prefix'] as const;

/** Two profiles of one service share its entries: what one of them calls practice must not be real for the other. */
export function refuseContradiction(
  { profiles }: ConfigFile,
  { configFile }: Places,
  name: string,
  settings: ProfileSettings,
): void {
  for (const [other, { base_url: address, ...others }] of profiles) {
    if (other === name || address === undefined || address !== settings.base_url) continue;
    const key = OF_THE_SERVICE.find((each) => (others[each] ?? 'svc') !== (settings[each] ?? 'svc'));
    if (key === undefined) continue;
    const [here, there] = [String(settings[key] ?? 'svc'), String(others[key] ?? 'svc')];
    throw new ConfigError(
      t`${configFile}: profiles ${name} and ${other} name one service, ${address}, but differ in its ${key}: ${here} and ${there}.`,
      { hint: t`Correct one of them, in the file or with \`${cmd`pas init`}\`. Nothing was sent.` },
    );
  }
}

/** @throws ConfigError for a missing key, or an address without TLS that is not this machine's */
export function toProfile(name: string, settings: ProfileSettings, environment: Environment, where: string): Profile {
  for (const [key, rule] of Object.entries(PROFILE_KEYS)) {
    if ('required' in rule && settings[key as ProfileKey] === undefined) {
      throw new ConfigError(t`${where}: ${key} is missing.`, {
        hint: t`Add it to the file, or run \`${cmd`pas init --name ${name}`}\` again.`,
      });
    }
  }
  const text = (key: ProfileKey): string | undefined => (settings[key] === undefined ? undefined : String(settings[key]));
  const count = (key: ProfileKey, fallback: number): number => Number(settings[key] ?? fallback);
  const profile: Profile = {
    name,
    baseUrl: text('base_url') ?? '',
    oaiBase: text('oai_base'),
    schemaBase: text('schema_base') ?? '',
    kind: text('kind') === 'training' ? 'training' : 'production',
    prefix: text('prefix') ?? 'svc',
    schemaVersion: text('schema_version') ?? '2.2',
    username: environment['PAS_USERNAME'] ?? text('username'),
    oaiAuth: oaiAuth(text('oai_auth')),
    minIntervalMs: count('min_interval_ms', 100),
    pacing: text('pacing') ?? 'local',
    pacingFallbackIntervalMs: count('pacing_fallback_interval_ms', 2000),
    maxInFlight: Math.max(1, count('max_in_flight', 16)),
    photoMaxBytes: count('photo_max_bytes', 262_144_000),
    settleMs: count('settle_ms', 600_000),
    indexAllowanceMs: count('index_allowance_ms', 900_000),
    answerTimeoutMs: count('answer_timeout_ms', 120_000),
    allowHttp: settings.allow_http === true,
  };
  for (const address of [profile.baseUrl, profile.oaiBase ?? profile.baseUrl]) requireTls(where, address, profile.allowHttp);
  return Object.freeze(profile);
}

function oaiAuth(value: string | undefined): Profile['oaiAuth'] {
  return value === 'basic' || value === 'bearer' ? value : 'none';
}

/** With TLS, on this machine, or in a network that the profile calls its own. */
export function isProtected(address: string, allowHttp: boolean): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || allowHttp));
}

export function requireTls(where: string, address: string, allowHttp: boolean): void {
  if (isProtected(address, allowHttp)) return;
  throw new ConfigError(t`${where}: ${address} would send the password in the open.`, {
    hint: t`Use the https:// address, or set allow_http = true if the network is your own.`,
  });
}
