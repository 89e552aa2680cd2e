import { normalAddress } from '../base/address.ts';
import { ConfigError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { type Command, commandWith, type Message, msg } from '../base/message.ts';
import { isAddressFault, parseRedisAddress } from '../http/redis-address.ts';
import { isOutboxId } from './outbox-places.ts';

type Kind = 'url' | 'text' | 'pacing' | 'count' | 'boolean' | 'outbox' | readonly string[];

/** Keys of a profile: the name in config.toml and, with dashes, the flag of `pas init`. */
export const PROFILE_KEYS = {
  base_url: { kind: 'url', required: true, help: msg`address of the write interface` },
  oai_base: { kind: 'url', help: msg`address of the harvesting interface` },
  schema_base: { kind: 'url', required: true, help: msg`root of the schema location` },
  kind: { kind: ['production', 'training'], required: true, help: msg`production or training instance` },
  prefix: { kind: 'text', help: msg`XML prefix of the service (default svc)` },
  schema_version: { kind: 'text', help: msg`schema version that the service accepts (default 2.2)` },
  username: { kind: 'text', help: msg`account, usually an e-mail address` },
  oai_auth: { kind: ['none', 'basic', 'bearer'], help: msg`how to sign in for harvesting (default none)` },
  min_interval_ms: { kind: 'count', help: msg`minimum milliseconds between requests (default 100)` },
  pacing: {
    kind: 'pacing',
    help: msg`who shares the pace: local (this machine) or redis://host:port/db (several machines; default local)`,
  },
  pacing_fallback_interval_ms: {
    kind: 'count',
    help: msg`least milliseconds between requests while that Redis cannot be used (default 2000)`,
  },
  max_in_flight: { kind: 'count', help: msg`maximum number of parallel requests (default 16)` },
  photo_max_bytes: { kind: 'count', help: msg`maximum size of a photograph in bytes (default 262144000)` },
  settle_ms: {
    kind: 'count',
    help: msg`how long the service may still process an unanswered request, in milliseconds (default 600000)`,
  },
  index_allowance_ms: {
    kind: 'count',
    help: msg`how much later a new record may appear in harvests, in milliseconds (default 900000)`,
  },
  look_back_days: {
    kind: 'count',
    help: msg`how many days before the oldest unsent find the first look at a project begins (default 30)`,
  },
  answer_timeout_ms: { kind: 'count', help: msg`how long to wait for an answer, in milliseconds (default 120000)` },
  allow_http: { kind: 'boolean', help: msg`allow addresses without TLS` },
  outbox: { kind: 'outbox', help: msg`identifier of the outbox, which pas writes itself` },
} as const satisfies Record<string, { kind: Kind; required?: true; help: Message }>;

export type ProfileKey = keyof typeof PROFILE_KEYS;

/** Keys with a flag of `pas init`: all except the one that pas writes itself. */
export const PROFILE_FLAGS = (Object.keys(PROFILE_KEYS) as ProfileKey[]).filter((key) => PROFILE_KEYS[key].kind !== 'outbox');

/** Makes the command that creates a profile with these settings, without its outbox. */
export function initCommand(name: string, settings: ProfileSettings): Command {
  const flagValue = (key: ProfileKey): string | true | undefined => {
    const value = settings[key];
    return typeof value === 'boolean' ? value || undefined : value?.toString();
  };
  return commandWith('pas init', [['--name', name], ...PROFILE_FLAGS.map((key) => [flagOf(key), flagValue(key)] as const)]);
}

/** Returns `--base-url` for `base_url`. */
export function flagOf(key: ProfileKey): string {
  return `--${key.replaceAll('_', '-')}`;
}

export type ProfileSettings = { readonly [Key in ProfileKey]?: string | number | boolean };

/**
 * @param where named in errors, such as "config.toml, profile training"
 * @throws ConfigError for an unknown key or a value of the wrong kind
 */
export function checkSettings(where: string, value: unknown): ProfileSettings {
  if (!isTable(value)) throw new ConfigError(t`${where}: must be a table.`);
  const settings: Record<string, string | number | boolean> = {};
  for (const [key, setting] of Object.entries(value)) {
    if (!Object.hasOwn(PROFILE_KEYS, key)) {
      const known = Object.keys(PROFILE_KEYS).join(', ');
      throw new ConfigError(t`${where}: unknown key ${key}.`, { hint: t`Known are ${known}.` });
    }
    settings[key] = checkValue(`${where}: ${key}`, PROFILE_KEYS[key as ProfileKey].kind, setting);
  }
  return settings;
}

function checkValue(where: string, kind: Kind, value: unknown): string | number | boolean {
  if (typeof kind === 'object') {
    if (typeof value === 'string' && kind.includes(value)) return value;
    const choices = kind.join(', ');
    throw new ConfigError(t`${where} must be one of ${choices}.`);
  }
  switch (kind) {
    case 'url':
      return checkAddress(where, value);
    case 'text':
      if (typeof value === 'string' && value.trim() !== '') return value;
      throw new ConfigError(t`${where} must be a text.`);
    case 'pacing':
      return checkPacing(where, String(value));
    case 'count': {
      const number = typeof value === 'bigint' || typeof value === 'string' ? Number(value) : value;
      if (typeof number === 'number' && Number.isSafeInteger(number) && number >= 0) return number;
      throw new ConfigError(t`${where} must be a whole number, 0 or more.`);
    }
    case 'boolean':
      if (typeof value === 'boolean') return value;
      throw new ConfigError(t`${where} must be true or false.`);
    case 'outbox':
      if (typeof value === 'string' && isOutboxId(value)) return value;
      throw new ConfigError(t`${where} must be a UUID in small letters: it is the name of the outbox's folder.`);
  }
}

/** Does not quote a refused text, which may contain a password. */
function checkAddress(where: string, value: unknown): string {
  const address = typeof value === 'string' ? normalAddress(value) : undefined;
  if (address !== undefined) return address;
  throw new ConfigError(t`${where} must be an address such as https://finds.example.org, without a user name, a query or a #.`);
}

/** Does not quote a refused text, which may contain a password. */
function checkPacing(where: string, value: string): string {
  const read = value === 'local' ? undefined : parseRedisAddress(value);
  if (read === undefined || !isAddressFault(read)) return value;
  throw new ConfigError(`${where} ${read.message}.`, { hint: read.hint });
}

export function isTable(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
