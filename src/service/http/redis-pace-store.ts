import { createHash } from 'node:crypto';
import { unescape as decodePercent } from 'node:querystring';
import type { Redis } from 'ioredis';
import type { Clock } from '../../base/clock.ts';
import { getErrorMessage } from '../../base/errors.ts';
import { type Message, msg } from '../../base/message.ts';
import { describeNetworkError } from './exchange.ts';
import { makeTextMask } from './masking.ts';
import {
  formatPaceState,
  MAX_LEASE_MS,
  type PaceState,
  type PaceStore,
  PaceStoreError,
  parsePaceState,
  UNSEEN,
} from './pace-store.ts';

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

const NO_ADDRESS: AddressFault = {
  message: msg`must be local or the address of a Redis`,
  hint: msg`For example redis://192.0.2.10:6379/0, or rediss://pace.example.org for TLS.`,
};
const HAS_PASSWORD: AddressFault = {
  message: msg`contains a password; secrets are not allowed in config.toml or in a flag`,
  hint: msg`Leave it out of the address; set it in PAS_PACING_PASSWORD.`,
};

/**
 * Parses `redis://[user@]host[:port][/database]`, or the same with `rediss` for TLS. Returns a
 * fault for any other text, and for an address with a password; {@link isRedisAddressFault} tells.
 */
export function parseRedisAddress(text: string): RedisAddress | AddressFault {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text)) return NO_ADDRESS;
  const url = new URL(text);
  const isPasswordWritten = /^[^/:]*:[^/@]*@/.test(text.slice(text.indexOf('//') + 2));
  if (url.password !== '' || isPasswordWritten) return HAS_PASSWORD;
  const database = Number(/^\/?(\d*)$/.exec(url.pathname)?.[1] ?? Number.NaN);
  const isDatabaseValid = database <= MAX_DATABASE_NUMBER;
  const isPlace = url.hostname !== '' && url.port !== '0' && isDatabaseValid;
  if (!isPlace || url.search !== '' || url.hash !== '') return NO_ADDRESS;
  return {
    tls: url.protocol === 'rediss:',
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port === '' ? DEFAULT_PORT : Number(url.port),
    database,
    username: url.username === '' ? undefined : decodePercent(url.username),
  };
}

/** Tells if {@link parseRedisAddress} refused the text. */
export function isRedisAddressFault(read: RedisAddress | AddressFault): read is AddressFault {
  return 'hint' in read;
}

/**
 * Formats `host:port/database` without the user name; an IPv6 address in brackets (RFC 3986,
 * section 3.2.2).
 */
export function formatRedisEndpoint({ host, port, database }: RedisAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
}

type RedisPaceOptions = {
  readonly address: RedisAddress;
  readonly password: string | undefined;
  /** Address of the service; its scopes are fields of one key. */
  readonly service: string;
  readonly clock: Clock;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
};

/** The pace of several machines, which keep their departures in one Redis. */
export type RedisPaceStore = PaceStore & {
  close(): void;
};

/** Time limit of a request, after which the store counts as lost. */
const MAX_WAIT_MS = 1000;
/** Expiry of the key: longer than any pause. */
const KEPT_MS = 24 * 3_600_000;
/** Maximum drift of two clocks; with more the clock of the store was set. */
const MAX_DRIFT = 0.001;
const MAX_SLACK_MS = 5;
const MAX_CONFLICT_WAIT_MS = 8;

const LOOK = `local now = redis.call('TIME')
return {now[1], now[2], redis.call('HMGET', KEYS[1], unpack(ARGV))}`;

/** Sets all fields if each still has the value that was read, else none. */
const SET_IF_UNCHANGED = `for i = 2, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
for i = 2, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

/**
 * Field with the id of the server that wrote the scopes: another one may lack the last writes and
 * has another clock.
 */
const SERVER_FIELD = 'server';

/**
 * Opens the pace of several machines in a Redis, by the clock of the Redis.
 * @param signal ends the attempt to connect
 * @throws PaceStoreError within about two seconds where the Redis cannot be used. Every `update`
 * throws the same, and closes the store then.
 */
export async function openRedisPaceStore(
  options: RedisPaceOptions,
  signal?: AbortSignal,
): Promise<RedisPaceStore> {
  const mask = makeTextMask(options.password === undefined ? [] : [options.password]);
  const toError: ToStoreError = (thrown) => toStoreError(thrown, mask);
  const redis = await connect(options, toError, signal);
  try {
    return storeIn(redis, await fetchRunId(redis), options, toError);
  } catch (thrown) {
    redis.disconnect();
    throw toError(thrown);
  }
}

type ToStoreError = (thrown: unknown) => PaceStoreError;

/**
 * Connects, signs in and selects the database, within {@link MAX_WAIT_MS}; nothing reconnects.
 * @param signal ends the connection that is being made
 * @throws PaceStoreError, by `toError`
 */
async function connect(
  { address, password }: RedisPaceOptions,
  toError: ToStoreError,
  signal?: AbortSignal,
): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis({
    host: address.host,
    port: address.port,
    tls: address.tls ? { servername: address.host, rejectUnauthorized: true } : undefined,
    protocol: 2,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    // The caller reconnects, and an unanswered command must not be repeated.
    retryStrategy: () => null,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
  });
  let reason: unknown;
  redis.on('error', (error) => {
    reason = error;
  });
  const giveUp = (): void => redis.disconnect();
  signal?.addEventListener('abort', giveUp, { once: true });
  const account = address.username === undefined ? [] : [address.username];
  const signIn = async (): Promise<void> => {
    await redis.connect();
    if (password !== undefined) await redis.call('AUTH', ...account, password);
    if (address.database !== 0) await redis.select(address.database);
  };
  try {
    await waitInTime(signIn());
    return redis;
  } catch (thrown) {
    redis.disconnect();
    throw toError(thrown instanceof PaceStoreError ? thrown : (reason ?? thrown));
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

async function waitInTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new PaceStoreError('unavailable', msg`it does not answer`));
    // This process may have been paused: bytes that have arrived are read first.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), MAX_WAIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Reads the id of the server's run; `unknown` for an account without the right to `INFO`. */
async function fetchRunId(redis: Redis): Promise<string> {
  let text: unknown = '';
  try {
    text = await waitInTime(redis.info());
  } catch (thrown) {
    if (!getErrorMessage(thrown).startsWith('NOPERM')) throw thrown;
  }
  if (typeof text !== 'string') throw makeProtocolError();
  return /^run_id:(.*?)\r?$/m.exec(text)?.[1] || 'unknown';
}

type Stamp = { readonly storeMs: number; readonly askedMs: number; readonly answeredMs: number };

/** Reads and writes the fields of one service. */
class RedisFields {
  /** True until the scopes are rewritten. */
  clockWasSet = false;
  readonly #redis: Redis;
  readonly #key: string;
  readonly #clock: Clock;
  #last: Stamp | undefined;

  constructor(redis: Redis, service: string, clock: Clock) {
    this.#redis = redis;
    this.#key = `pas:pace:1:{${service}}`;
    this.#clock = clock;
  }

  async read(fields: readonly string[]) {
    const askedMs = this.#clock.monotonicMs();
    const reply = await waitInTime(this.#redis.eval(LOOK, 1, this.#key, SERVER_FIELD, ...fields));
    const { nowMs, values } = parseReply(reply);
    const stamp = { storeMs: nowMs, askedMs, answeredMs: this.#clock.monotonicMs() };
    this.clockWasSet ||= this.#last !== undefined && isClockSet(this.#last, stamp);
    this.#last = stamp;
    const [server = '', ...texts] = values;
    return { nowMs, server, texts };
  }

  /** @returns false where a field changed since it was read */
  async write(changes: readonly FieldChange[]): Promise<boolean> {
    const done = this.#redis.eval(SET_IF_UNCHANGED, 1, this.#key, KEPT_MS, ...changes.flat());
    return (await waitInTime(done)) === 1;
  }
}

type FieldChange = readonly [field: string, seen: string, next: string];

/**
 * Makes the store of a connection. An update is decided again after each conflict. After a change
 * of the server or its clock, the scopes are first written as if a request had departed just now.
 */
function storeIn(
  redis: Redis,
  runId: string,
  { service, clock, random }: RedisPaceOptions,
  toError: ToStoreError,
): RedisPaceStore {
  const failBroken = (thrown: unknown): never => {
    redis.disconnect();
    throw toError(thrown);
  };
  const stored = new RedisFields(redis, service, clock);

  const update: PaceStore['update'] = async (scopes, change) => {
    const fields = scopes.map(makeRedisField);
    for (let conflicts = 0; ; conflicts += 1) {
      // The first repeat is immediate: the process that caused the conflict has finished.
      if (conflicts > 1)
        await clock.sleep(random() * Math.min(2 ** conflicts, MAX_CONFLICT_WAIT_MS));
      const { nowMs, server, texts } = await stored.read(fields).catch(failBroken);
      const write = (from: string, changes: readonly FieldChange[]) =>
        stored.write([[SERVER_FIELD, from, runId], ...changes]).catch(failBroken);
      const rewrite = (states: readonly PaceState[]) =>
        fields.map((field, index): FieldChange => {
          return [field, texts[index] ?? '', formatPaceState(states[index] ?? UNSEEN)];
        });
      const storedStates = texts.map((text) => (text === '' ? UNSEEN : parsePaceState(text)));
      if (stored.clockWasSet || server !== runId || storedStates.includes(undefined)) {
        const fresh = storedStates.map((state) => makeForgottenState(state, nowMs));
        if (await write(server, rewrite(fresh))) stored.clockWasSet = false;
        continue;
      }
      const { result, next } = change(
        storedStates.map((state) => state ?? UNSEEN),
        nowMs,
      );
      const changes = next === undefined ? [] : rewrite(next);
      if (changes.every(([, seen, text]) => seen === text)) return result;
      // The decision used all scopes, so none may have changed.
      if (await write(runId, changes)) return result;
    }
  };

  return { update, close: () => redis.disconnect() };
}

/**
 * Returns the state for an unknown last departure (new, emptied or replaced store, or clock set):
 * one now, with a turn taken.
 */
function makeForgottenState(state: PaceState | undefined, nowMs: number): PaceState {
  return {
    ...UNSEEN,
    jitterMs: state?.jitterMs ?? 0,
    lastDepartureMs: nowMs,
    reservedUntilMs: nowMs + MAX_LEASE_MS,
  };
}

/** Tells if more or less time passed on the clock of the store than can have passed here. */
function isClockSet(before: Stamp, now: Stamp): boolean {
  const passedMs = now.storeMs - before.storeMs;
  const maxMs = now.answeredMs - before.askedMs;
  const minMs = now.askedMs - before.answeredMs;
  return (
    passedMs > maxMs * (1 + MAX_DRIFT) + MAX_SLACK_MS ||
    passedMs < minMs * (1 - MAX_DRIFT) - MAX_SLACK_MS
  );
}

/**
 * Keeps only the masked text of the error: the library's error has the command with its
 * arguments, among them the password.
 */
function toStoreError(thrown: unknown, mask: (text: string) => string): PaceStoreError {
  if (thrown instanceof PaceStoreError) return thrown;
  const message = mask(getErrorMessage(thrown));
  if (/^(Unknown RESP|Protocol error)/.test(message)) return makeProtocolError();
  if (
    /^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index|ERR unknown command)/.test(
      message,
    )
  ) {
    return new PaceStoreError('rejected', message);
  }
  if (/timed? ?out|ETIMEDOUT/i.test(message))
    return new PaceStoreError('unavailable', msg`it does not answer`);
  if (/^Connection is closed|ECONNRESET|EPIPE/.test(message))
    return new PaceStoreError('unavailable', msg`the connection was lost`);
  const words = describeNetworkError(thrown);
  return new PaceStoreError('unavailable', typeof words === 'string' ? mask(words) : words);
}

function makeProtocolError(): PaceStoreError {
  return new PaceStoreError('unavailable', msg`its answer cannot be understood`);
}

function parseReply(reply: unknown): {
  readonly nowMs: number;
  readonly values: readonly string[];
} {
  const [seconds, micros, values] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  const nowMs = Number(seconds) * 1000 + Number(micros) / 1000;
  if (!Number.isFinite(nowMs) || !Array.isArray(values)) throw makeProtocolError();
  return { nowMs, values: values.map((value) => (typeof value === 'string' ? value : '')) };
}

/**
 * Makes the name of the field of a scope: `address` for that of the service's address, which is in
 * the key; for an account `account:` and a hash of its name in lower case, so that the store does
 * not reveal the name.
 */
export function makeRedisField(scope: string): string {
  const [kind = '', ...rest] = scope.split(':');
  const name = rest.join(':').toLowerCase();
  return kind === 'address'
    ? kind
    : `${kind}:${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}
