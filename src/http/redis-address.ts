import { cmd, type Message, msg } from '../base/message.ts';

/** Address of a Redis and its user, without the password, since it is printed. */
export type RedisAddress = {
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
  readonly database: number;
  readonly username: string | undefined;
};

/**
 * Reason why a text is no address of a Redis; it quotes nothing of the text, which may contain a
 * password.
 */
type AddressFault = { readonly message: Message; readonly hint: Message };

const DEFAULT_PORT = 6379;
const MAX_DATABASE_NUMBER = 1_000_000;

/**
 * Parses `redis://[user@]host[:port][/database]`, or the same with `rediss` for TLS; refuses an
 * address with a password.
 */
export function parseRedisAddress(text: string): RedisAddress | AddressFault {
  const url = /^rediss?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  const database = Number(/^\/?(\d*)$/.exec(url?.pathname ?? '-')?.[1] ?? Number.NaN);
  if (
    url !== undefined &&
    (url.password !== '' || /^[^/:]*:[^/@]*@/.test(text.slice(text.indexOf('//') + 2)))
  ) {
    return {
      message: msg`contains a password; secrets are not allowed in config.toml or in a flag`,
      hint: msg`Leave it out of the address; set it in PAS_PACING_PASSWORD, or store it with \`${cmd`pas login --pacing-password`}\`.`,
    };
  }
  if (
    url === undefined ||
    url.hostname === '' ||
    url.port === '0' ||
    !(database <= MAX_DATABASE_NUMBER) ||
    url.search + url.hash !== ''
  ) {
    return {
      message: msg`must be local or the address of a Redis`,
      hint: msg`For example redis://192.0.2.10:6379/0, or rediss://pace.example.org for TLS.`,
    };
  }
  return {
    tls: url.protocol === 'rediss:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database,
    username: url.username === '' ? undefined : decodePart(url.username),
  };
}

function decodePart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function isAddressFault(read: RedisAddress | AddressFault): read is AddressFault {
  return 'hint' in read;
}

/**
 * Formats `host:port/database` without the user name; an IPv6 address in brackets (RFC 3986,
 * section 3.2.2).
 */
export function formatRedisEndpoint({ host, port, database }: RedisAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

/** Masks user and password in the Redis addresses of a text. */
export function withoutRedisPasswords(text: string): string {
  return text.replace(/(rediss?:\/\/)([^\s"']*)/g, (whole, scheme: string, rest: string) =>
    rest.includes('@') ? `${scheme}***${rest.slice(rest.lastIndexOf('@'))}` : whole,
  );
}
