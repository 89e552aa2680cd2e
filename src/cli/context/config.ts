import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { acquireChangeLock } from '../../base/disk/lock-file.ts';
import { writePrivateFile } from '../../base/disk/output-file.ts';
import { ConfigError, getErrorCode, getErrorMessage } from '../../base/errors.ts';
import { formatIssuePlace } from '../../base/issue.ts';
import { formatToml, isPlainObject, tryParseToml } from '../../base/json-and-toml.ts';
import { cmd, LANGUAGES, type Language, type Message, msg, t } from '../../base/message.ts';
import { parseProxy } from '../../service/http/proxy.ts';
import { isRedisAddressFault, parseRedisAddress } from '../../service/http/redis-pace-store.ts';
import type { DefaultsTables } from '../../tables/columns/settings.ts';
import { type DataPaths, type Environment, makeOutboxFolderName } from './places.ts';

/** Content of config.toml, with its values checked. */
export type Config = {
  readonly defaultProfile: string | undefined;
  /** Settings of the network, unless a profile has its own. */
  readonly network: Pick<ProfileSettings, 'proxy' | 'ca_file'>;
  /** Language of messages, where neither `--lang` nor PAS_LANG sets it. */
  readonly language: Language | undefined;
  readonly profiles: ReadonlyMap<string, ProfileSettings>;
  /**
   * Defaults of new finds, unvalidated: their check needs the rules of finds, so it follows when a
   * find is made.
   */
  readonly defaults: DefaultsTables;
};

/**
 * Reads config.toml and checks each value that it has, except for the defaults of finds. That no
 * key of a profile is missing is checked by {@link toProfile}. A missing file is an empty
 * configuration.
 * @throws ConfigError where the file cannot be read, is not TOML, or has an unknown key or a wrong
 * value
 */
export function readConfigFile(path: string): Config {
  const { profiles = {}, projects = {}, ...plain } = readTable(path);
  for (const key of Object.keys(plain)) assertKnownKey(path, key, GLOBAL_KEYS);
  const check = <T>(key: string, read: (where: string, value: unknown) => T): T | undefined =>
    plain[key] === undefined ? undefined : read(`${path}: ${key}`, plain[key]);
  return {
    defaultProfile: check('default_profile', checkText),
    language: check('lang', (where, value) => checkChoice(where, value, LANGUAGES)),
    network: { proxy: check('proxy', checkProxy), ca_file: check('ca_file', checkText) },
    ...parseProfiles(path, checkTable(`${path}: profiles`, profiles), projects),
  };
}

const GLOBAL_KEYS = ['default_profile', 'lang', 'proxy', 'ca_file'];

function assertKnownKey(where: string, key: string, known: readonly string[]): void {
  if (known.includes(key)) return;
  const keyNames = known.join(', ');
  throw new ConfigError(t`${where}: unknown key ${key}.`, { hint: t`Known are ${keyNames}.` });
}

/** Reads a file of TOML; a missing one is empty. */
function readTable(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    if (getErrorCode(thrown) === 'ENOENT') return {};
    const why = getErrorMessage(thrown);
    throw new ConfigError(t`${path} cannot be read: ${why}.`, { cause: thrown });
  }
  return parseToml(path, text);
}

/**
 * Parses a text of TOML as a table.
 * @param path for the error, such as that of config.toml
 * @throws ConfigError for other texts, without quoting them: they may contain a password
 */
export function parseToml(path: string, text: string): Record<string, unknown> {
  const reading = tryParseToml(text);
  if (reading.kind === 'table') return reading.table;
  const { message, line } = reading;
  const place = formatIssuePlace({ file: path, line });
  throw new ConfigError(t`${place}: this is not valid TOML: ${message}.`);
}

function parseProfiles(path: string, tables: Record<string, unknown>, ofProjects: unknown) {
  const projects = checkTable(`${path}: projects`, ofProjects);
  const profiles = new Map<string, ProfileSettings>();
  const defaults = new Map<string, unknown>();
  for (const [name, table] of Object.entries(tables)) {
    const where = t`${path}, profile ${name}`;
    const { defaults: own, ...settings } = checkTable(where, table);
    profiles.set(name, parseProfileSettings(where, settings));
    if (own !== undefined) defaults.set(name, own);
  }
  return { profiles, defaults: { profiles: defaults, projects } };
}

/**
 * Returns the name of the outbox of a profile, from its address and user name, whether or not the
 * outbox exists; undefined without an address.
 */
export function findOutboxName({ base_url: address, username }: ProfileSettings) {
  return address === undefined ? undefined : makeOutboxFolderName(address, username ?? '');
}

/** Lists the names of the profiles that use the outbox, in the order of config.toml. */
export function listProfilesOfOutbox({ profiles }: Config, outboxName: string): string[] {
  return [...profiles].flatMap(([name, settings]) =>
    findOutboxName(settings) === outboxName ? [name] : [],
  );
}

/** Tells if what is sent to an absolute URL stays secret: it has TLS, or is of this machine. */
export function isProtectedAddress(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

/**
 * Asserts that a password may be sent to an address: it is protected, or `allowHttp` is true.
 * @param where for the error, such as "config.toml, profile training"
 * @param address an absolute URL
 * @param allowHttp the profile declares that the network is the user's own
 * @throws ConfigError otherwise
 */
export function assertMaySendPassword(where: string, address: string, allowHttp: boolean): void {
  if (allowHttp || isProtectedAddress(address)) return;
  throw new ConfigError(t`${where}: ${address} would send the password unencrypted.`, {
    hint: t`Use the https:// address, or set allow_http = true if the network is your own.`,
  });
}

type Value = string | number | boolean;

type KeyRule = {
  /**
   * Returns the value as it is stored and used, such as a normalised address.
   * @throws ConfigError for a wrong value, which is never quoted: it may be a password
   */
  readonly check: (where: string, value: unknown) => Value;
  readonly choices?: readonly string[];
  readonly required?: true;
  readonly fallback?: Value;
  /** A person decides it: `pas init` has a flag for it, with this help. */
  readonly help?: Message;
};

/** Kinds of an instance, in the order in which a question offers them. */
const KIND = ['training', 'production'] as const;
const OAI_AUTH = ['none', 'basic', 'bearer'] as const;

const TABLE = {
  base_url: {
    check: requireAddress,
    required: true,
    help: msg`address of the write interface`,
  },
  oai_base: { check: requireAddress, help: msg`address of the harvesting interface` },
  schema_base: {
    check: requireAddress,
    required: true,
    help: msg`address below which the schemas are`,
  },
  kind: {
    check: (where, value) => checkChoice(where, value, KIND),
    choices: KIND,
    required: true,
    help: msg`production or training instance`,
  },
  prefix: { check: checkText, fallback: 'svc' },
  schema_version: { check: checkVersion, fallback: '2.2' },
  username: { check: checkText, help: msg`account, usually an e-mail address` },
  oai_auth: {
    check: (where, value) => checkChoice(where, value, OAI_AUTH),
    choices: OAI_AUTH,
    fallback: 'none',
    help: msg`how to sign in for harvesting (default none)`,
  },
  min_interval_ms: { check: checkCount, fallback: 100 },
  /** `local`, or the address of a Redis. */
  pacing: { check: checkPacing, fallback: 'local' },
  pacing_fallback_interval_ms: { check: checkCount, fallback: 2000 },
  max_in_flight: { check: (where, value) => Math.max(1, checkCount(where, value)), fallback: 16 },
  photo_max_bytes: { check: checkCount, fallback: 262_144_000 },
  /** Remove the place where a photograph was taken from the copy that is queued. */
  strip_gps: { check: checkBoolean, fallback: false },
  settle_ms: { check: checkCount, fallback: 600_000 },
  index_allowance_ms: { check: checkCount, fallback: 900_000 },
  /** Days before the oldest unsent entry at which the first look begins. */
  look_back_days: { check: checkCount, fallback: 30 },
  answer_timeout_ms: { check: checkCount, fallback: 120_000 },
  allow_http: { check: checkBoolean, fallback: false },
  /** Empty: no proxy, whatever the environment says. */
  proxy: { check: checkProxy },
  ca_file: { check: checkText },
} as const satisfies Record<string, KeyRule>;

/** Name of a setting in config.toml, such as `base_url`. */
export type ProfileKey = keyof typeof TABLE;

type ValueOf<Key extends ProfileKey> = ReturnType<(typeof TABLE)[Key]['check']>;

/** How each key of a profile is checked, its default and its help. */
export const KEY_RULES: Readonly<Record<ProfileKey, KeyRule>> = TABLE;
/** All keys of a profile, in the order in which they are shown. */
const PROFILE_KEYS = Object.keys(TABLE) as ProfileKey[];
/** Keys that have a flag of `pas init`. */
export const KEYS_WITH_FLAG = PROFILE_KEYS.filter((key) => KEY_RULES[key].help !== undefined);

/** Checked keys of a profile, as they are in config.toml. */
export type ProfileSettings = { readonly [Key in ProfileKey]?: ValueOf<Key> };

/** All settings of a profile, with the defaults: `baseUrl` is `base_url`. */
export type Profile = {
  readonly [Key in ProfileKey as CamelCase<Key>]: (typeof TABLE)[Key] extends
    | { readonly required: true }
    | { readonly fallback: Value }
    ? ValueOf<Key>
    : ValueOf<Key> | undefined;
} & {
  readonly name: string;
  /** Name of its outbox, which profiles of one address and configured user name share. */
  readonly outbox: string;
};

type CamelCase<Text extends string> = Text extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Text;

/** Returns `baseUrl` for `base_url`. */
export function toCamelCase(key: ProfileKey): string {
  return key.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Parses `key=value` as typed, for {@link parseProfileSettings}, which checks both.
 * @throws ConfigError for a text without `=`, without quoting it: it may contain a password
 */
export function parseProfileKeyValue(text: string): readonly [key: string, value: string] {
  const at = text.indexOf('=');
  if (at < 0) throw new ConfigError(t`A setting needs a key and a value: key=value.`);
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

/**
 * Checks keys and values of a profile as in config.toml, and returns the values in their normal
 * form; no key is required.
 * @param where for errors
 * @throws ConfigError for an unknown key or a wrong value, or where `value` is no table
 */
export function parseProfileSettings(where: string, value: unknown): ProfileSettings {
  const settings: Record<string, Value> = {};
  for (const [key, setting] of Object.entries(checkTable(where, value))) {
    assertKnownKey(where, key, PROFILE_KEYS);
    settings[key] = KEY_RULES[key as ProfileKey].check(`${where}: ${key}`, setting);
  }
  return settings as ProfileSettings;
}

function checkTable(where: string, value: unknown): Record<string, unknown> {
  if (isPlainObject(value)) return value;
  throw new ConfigError(t`${where} must be a table.`);
}

function checkChoice<Choice extends string>(
  where: string,
  value: unknown,
  all: readonly Choice[],
): Choice {
  const choice = all.find((each) => each === value);
  if (choice !== undefined) return choice;
  const choices = all.join(', ');
  throw new ConfigError(t`${where} must be one of ${choices}.`);
}

function checkCount(where: string, value: unknown): number {
  const number = typeof value === 'bigint' || typeof value === 'string' ? Number(value) : value;
  if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
  throw new ConfigError(t`${where} must be a whole number, 0 or more.`);
}

function checkBoolean(where: string, value: unknown): boolean {
  if (value === true || value === 'true') return true;
  if (value === false || value === 'false') return false;
  throw new ConfigError(t`${where} must be true or false.`);
}

function checkText(where: string, value: unknown): string {
  if (typeof value === 'string' && value.trim() !== '') return value;
  throw new ConfigError(t`${where} must be a text.`);
}

function checkVersion(where: string, value: unknown): string {
  if (typeof value === 'string' && /^\d+(?:\.\d+)*$/.test(value)) return value;
  throw new ConfigError(t`${where} must be a version such as "2.2".`);
}

function checkProxy(where: string, value: unknown): string {
  const text = typeof value === 'string' ? value.trim() : ' ';
  if (text !== '') parseProxy(where, text);
  return text;
}

/**
 * Returns the value as {@link normalizeAddress} writes it.
 * @param where for the error
 * @throws ConfigError where the value is no address of a service
 */
export function requireAddress(where: string, value: unknown): string {
  const address = typeof value === 'string' ? normalizeAddress(value) : undefined;
  if (address !== undefined) return address;
  throw new ConfigError(
    t`${where} must be an address such as https://finds.example.org, without a user name, a query or a #.`,
  );
}

function checkPacing(where: string, value: unknown): string {
  const text = String(value);
  const read = text === 'local' ? undefined : parseRedisAddress(text);
  if (read === undefined || !isRedisAddressFault(read)) return text;
  throw new ConfigError(`${where} ${read.message}.`, { hint: read.hint });
}

/**
 * Normalises the address of a service (RFC 3986, section 6.2), so that two spellings of one service
 * are equal: host in lower case without final dots, no default port, one form of percent-encoding,
 * no final slash.
 * @returns undefined where the text is no http or https address, or has a query, a fragment, or a
 * user name or password, which would be stored and shown
 */
export function normalizeAddress(text: string): string | undefined {
  const trimmed = text.trim();
  if (!/^https?:\/\/[^/]/i.test(trimmed) || !URL.canParse(trimmed)) return undefined;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(trimmed);
  if (username !== '' || password !== '' || search !== '' || hash !== '') return undefined;
  const host = hostname.replace(/(?<!\.)\.+$/, '');
  const portPart = port === '' ? '' : `:${port}`;
  const path = pathname.replace(/%[0-9a-f]{2}/gi, normalizeEscape).replace(/(?<!\/)\/+$/, '');
  const address = `${protocol}//${host}${portPart}${path}`;
  // Without its final dots the host may be a number, which the URL parser writes in another form.
  return host === hostname ? address : normalizeAddress(address);
}

/** Decodes a character that needs no encoding, else writes capital digits (RFC 3986, 6.2.2). */
function normalizeEscape(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase();
}

/**
 * Tells if a host is this machine: `localhost` or a numeric loopback address, IPv6 with or without
 * brackets. 127.example.org is another host.
 */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(?:\.\d{1,3}){3}$/.test(host);
}

/** Writes the whole file anew: comments in it are lost. */
function writeConfigFile(
  path: string,
  { defaultProfile, language, network, profiles, defaults }: Config,
): void {
  const { projects } = defaults;
  // Keys that are undefined are left out.
  const text = formatToml({
    default_profile: defaultProfile,
    lang: language,
    proxy: network.proxy,
    ca_file: network.ca_file,
    profiles: Object.fromEntries(
      [...profiles].map(([name, settings]) => [
        name,
        { ...settings, defaults: defaults.profiles.get(name) },
      ]),
    ),
    projects: Object.keys(projects).length === 0 ? undefined : projects,
  });
  writePrivateFile(path, `${text}\n`);
}

/**
 * Changes config.toml under a lock, so that concurrent changes are kept.
 * @param change gets the configuration on disk; nothing is written if it returns the same object or
 * throws
 * @returns the new configuration
 * @throws ConfigError where the file is invalid, or another process keeps the lock for two seconds,
 * which block the thread; DatabaseError where the disk fails; errors of `change`
 */
export function changeConfigFile(
  { home, configFile }: DataPaths,
  clock: Clock,
  change: (config: Config) => Config,
): Config {
  const lock = acquireChangeLock(join(home, '.config.lock'), clock);
  try {
    const before = readConfigFile(configFile);
    const after = change(before);
    if (after !== before) writeConfigFile(configFile, after);
    return after;
  } finally {
    lock.release();
  }
}

/**
 * Returns the configuration with `changes` in the settings of each named profile; a missing profile
 * is added. An undefined value unsets its key.
 */
export function mergeProfileSettings(
  config: Config,
  names: readonly string[],
  changes: ProfileSettings,
): Config {
  const profiles = new Map(config.profiles);
  for (const name of names) profiles.set(name, { ...profiles.get(name), ...changes });
  return { ...config, profiles };
}

/**
 * Completes settings to a profile, with the fallbacks of all keys. PAS_USERNAME replaces the user
 * name; the name of the outbox is that of the settings alone.
 * @param environment only its PAS_USERNAME counts; `{}` for the profile as it is written
 * @param where for errors, such as "config.toml, profile training"
 * @throws ConfigError for a missing key, or as {@link assertMaySendPassword} for its addresses
 */
export function toProfile(
  name: string,
  settings: ProfileSettings,
  environment: Environment,
  where: string,
): Profile {
  const key = PROFILE_KEYS.find(
    (each) => KEY_RULES[each].required === true && settings[each] === undefined,
  );
  if (key !== undefined)
    throw new ConfigError(t`${where}: ${key} is missing.`, {
      hint: t`Add it to the file, or run \`${cmd`pas init --name ${name}`}\` again.`,
    });
  const values = PROFILE_KEYS.map((each) => [
    toCamelCase(each),
    settings[each] ?? KEY_RULES[each].fallback,
  ]);
  const profile = Object.freeze({
    ...Object.fromEntries(values),
    name,
    username: environment['PAS_USERNAME'] ?? settings.username,
    outbox: findOutboxName(settings) ?? '',
  }) as Profile;
  for (const address of [profile.baseUrl, profile.oaiBase ?? profile.baseUrl])
    assertMaySendPassword(where, address, profile.allowHttp);
  return profile;
}

/**
 * Returns the settings of a profile, which may be incomplete.
 * @throws ConfigError where there is no profile of this name
 */
export function requireProfileSettings(config: Config, name: string): ProfileSettings {
  const settings = config.profiles.get(name);
  if (settings !== undefined) return settings;
  throw new ConfigError(t`There is no profile ${name}.`, { hint: formatProfileAdvice(config) });
}

/**
 * Formats a hint for a missing profile: the names of the profiles, or how to create the first one.
 */
export function formatProfileAdvice({ profiles }: Config): string {
  const names = [...profiles.keys()].join(', ');
  return names === ''
    ? t`Create one with \`${cmd`pas init`} ADDRESS\`, where ADDRESS is the address of the service.`
    : t`Profiles: ${names}.`;
}
