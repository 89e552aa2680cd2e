import { readFileSync } from 'node:fs';
import { isLoopback } from '../base/address.ts';
import { ConfigError, messageOf } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { LANGUAGES, type Language } from '../base/languages.ts';
import { cmd } from '../base/message.ts';
import { withoutRedisPasswords } from '../http/redis-address.ts';
import { parseToml, type TomlTable } from '../store/toml.ts';
import { JOURNAL_LAYOUTS, type JournalLayout } from './outbox-places.ts';
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
  /** Number of days before the oldest unsent find at which the first lookup in a project begins. */
  readonly lookBackDays: number;
  readonly answerTimeoutMs: number;
  readonly allowHttp: boolean;
  /** UUID of its outbox; undefined before its first use. */
  readonly outbox: string | undefined;
};

/** Codes of projects → codes at a training instance. */
type ProjectMap = Readonly<Record<string, string>>;

export type ConfigFile = {
  readonly defaultProfile: string | undefined;
  /** Language of messages, where neither `--lang` nor PAS_LANG sets it. */
  readonly language?: Language;
  /** Location of journals and locks; chosen by pas if absent. */
  readonly journal?: JournalLayout;
  readonly profiles: ReadonlyMap<string, ProfileSettings>;
  /** Defaults of new finds, unvalidated: their check needs the rules of finds, so it follows when a find is made. */
  readonly defaults?: DefaultsTables;
  /** `projects` of each profile, for rehearsals with it. */
  readonly projectMaps?: ReadonlyMap<string, ProjectMap>;
};

/** `defaults` of each profile, and the table `projects`. */
type DefaultsTables = { readonly profiles: ReadonlyMap<string, unknown>; readonly projects: TomlTable };

/** @throws ConfigError when the file cannot be read or is invalid */
export function readConfigFile(path: string): ConfigFile {
  const table = readTable(path);
  if (table === undefined) return { defaultProfile: undefined, profiles: new Map() };
  const { default_profile: defaultProfile, lang, journal, profiles = {}, projects = {}, ...unknown } = table;
  const stray = Object.keys(unknown)[0];
  if (stray !== undefined)
    throw new ConfigError(t`${path}: unknown key ${stray}.`, {
      hint: t`Known are default_profile, lang, journal, [profiles.NAME] and [projects."C-…"].`,
    });
  if (defaultProfile !== undefined && typeof defaultProfile !== 'string')
    throw new ConfigError(t`${path}: default_profile must be a text.`);
  const language = LANGUAGES.find((each) => each === lang);
  if (lang !== undefined && language === undefined) {
    const languages = LANGUAGES.join(', ');
    throw new ConfigError(t`${path}: lang is not a language of pas.`, { hint: t`Choose from ${languages}.` });
  }
  const layout = JOURNAL_LAYOUTS.find((each) => each === journal);
  if (journal !== undefined && layout === undefined) {
    const layouts = JOURNAL_LAYOUTS.join(', ');
    throw new ConfigError(t`${path}: journal must be one of ${layouts}.`);
  }
  if (!isTable(profiles)) throw new ConfigError(t`${path}: profiles must be a table.`);
  if (!isTable(projects)) throw new ConfigError(t`${path}: projects must be a table.`);
  return {
    defaultProfile,
    ...(language === undefined ? {} : { language }),
    ...(layout === undefined ? {} : { journal: layout }),
    profiles: new Map(
      Object.entries(profiles).map(([name, value]) => [name, checkSettings(t`${path}, profile ${name}`, withoutTables(value))]),
    ),
    defaults: { profiles: defaultsIn(profiles), projects },
    projectMaps: projectMapsIn(path, profiles),
  };
}

/** @returns undefined where there is no file */
function readTable(path: string): TomlTable | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT') return undefined;
    const why = messageOf(thrown);
    throw new ConfigError(t`${path} cannot be read: ${why}.`, { cause: thrown });
  }
  try {
    return parseToml(text);
  } catch (thrown) {
    // The parser's message quotes lines of the file.
    const why = withoutRedisPasswords(messageOf(thrown).trim());
    throw new ConfigError(t`${path} is not valid TOML: ${why}`);
  }
}

function defaultsIn(profiles: TomlTable): Map<string, unknown> {
  return new Map(
    Object.entries(profiles).flatMap(([name, profile]) =>
      isTable(profile) && profile['defaults'] !== undefined ? [[name, profile['defaults']]] : [],
    ),
  );
}

function withoutTables(profile: unknown): unknown {
  if (!isTable(profile)) return profile;
  const { defaults: _defaults, projects: _projects, ...settings } = profile;
  return settings;
}

function projectMapsIn(path: string, profiles: TomlTable): Map<string, ProjectMap> {
  return new Map(
    Object.entries(profiles).flatMap(([name, profile]): [string, ProjectMap][] => {
      const map = isTable(profile) ? profile['projects'] : undefined;
      if (map === undefined) return [];
      if (isTable(map) && Object.values(map).every((value) => typeof value === 'string')) return [[name, map as ProjectMap]];
      throw new ConfigError(t`${path}, profile ${name}: projects must be a table of codes, such as { "C-1" = "C-2" }.`);
    }),
  );
}

type ProfileChoice = { readonly flag: string | undefined; readonly environment: Environment };

/**
 * Returns the profile of the flag, else of PAS_PROFILE, else the file's default, else the only one.
 * @throws ConfigError when there is none, or it is invalid
 */
export function chooseProfile(config: ConfigFile, places: Places, { flag, environment }: ProfileChoice): Profile {
  const only = config.profiles.size === 1 ? [...config.profiles.keys()][0] : undefined;
  const name = flag ?? environment['PAS_PROFILE'] ?? config.defaultProfile ?? only;
  if (name === undefined) {
    throw new ConfigError(config.profiles.size === 0 ? t`There is no profile yet.` : t`Several profiles and no default.`, {
      hint:
        config.profiles.size === 0
          ? t`Create one with \`${cmd`pas init`} ADDRESS\`, where ADDRESS is the address of the service.`
          : t`Choose one with \`${cmd`pas profile use`} NAME\` or --profile NAME.`,
    });
  }
  const settings = config.profiles.get(name);
  if (settings === undefined) {
    const known = [...config.profiles.keys()].join(', ');
    throw new ConfigError(t`There is no profile ${name} in ${places.configFile}.`, {
      hint:
        known === ''
          ? t`Create one with \`${cmd`pas init`} ADDRESS\`, where ADDRESS is the address of the service.`
          : t`Profiles: ${known}.`,
    });
  }
  return toProfile(name, settings, environment, t`${places.configFile}, profile ${name}`);
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
    lookBackDays: count('look_back_days', 30),
    answerTimeoutMs: count('answer_timeout_ms', 120_000),
    allowHttp: settings.allow_http === true,
    outbox: text('outbox'),
  };
  for (const address of [profile.baseUrl, profile.oaiBase ?? profile.baseUrl]) requireTls(where, address, profile.allowHttp);
  return Object.freeze(profile);
}

function oaiAuth(value: string | undefined): Profile['oaiAuth'] {
  return value === 'basic' || value === 'bearer' ? value : 'none';
}

/** Tells if an address is protected: TLS, loopback, or a network that the profile declares as its own. */
export function isProtected(address: string, allowHttp: boolean): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && (isLoopback(hostname) || allowHttp));
}

export function requireTls(where: string, address: string, allowHttp: boolean): void {
  if (isProtected(address, allowHttp)) return;
  throw new ConfigError(t`${where}: ${address} would send the password unencrypted.`, {
    hint: t`Use the https:// address, or set allow_http = true if the network is your own.`,
  });
}
