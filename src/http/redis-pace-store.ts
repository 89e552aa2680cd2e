import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { Clock } from '../base/clock.ts';
import { LocalizedError, messageOf } from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { describeNetworkError } from './network-error.ts';
import { MAX_DEPARTING_MS, MAX_KEPT_PAUSE_MS, type PaceState, type PaceStore, UNSEEN } from './pace-state.ts';
import { createTextRedactor } from './redaction.ts';
import type { RedisAddress } from './redis-address.ts';

/** `away`: not to be had now, perhaps later. `refused`: it answers, but not to us, and time will not change that. */
export class PaceStoreError extends LocalizedError {
  readonly kind: 'away' | 'refused';
  constructor(kind: 'away' | 'refused', message: Message) {
    super(message);
    this.kind = kind;
  }
}

type RedisPaceOptions = {
  readonly address: RedisAddress;
  readonly password: string | undefined;
  /** The service's address: its scopes lie together under one key. */
  readonly service: string;
  readonly clock: Clock;
  /** From 0 to 1. */
  readonly random: () => number;
};

export type RedisPaceStore = PaceStore & {
  readonly version: string;
  readonly role: string;
  /** How long a question takes, and how far the store's clock is ahead of this machine's. */
  measure(): Promise<{ readonly latencyMs: number; readonly clockAheadMs: number }>;
  close(): void;
};

/** Longer than this nobody waits for it: the pace goes on without. */
const MAX_WAIT_MS = 1000;
/** Kept for as long as any pause, and then not worth keeping. */
const KEPT_MS = MAX_KEPT_PAUSE_MS;
/** Two clocks that run freely part by less than this. A store's clock that is further off was set. */
const MAX_DRIFT = 0.001;
const MAX_SLACK_MS = 5;
const MAX_CONFLICT_WAIT_MS = 8;

const LOOK = `local now = redis.call('TIME')
return {now[1], now[2], redis.call('HMGET', KEYS[1], unpack(ARGV))}`;

/** Compares all fields with what was seen, and sets them all or none. */
const SET_IF_UNCHANGED = `for i = 2, #ARGV, 3 do
  if (redis.call('HGET', KEYS[1], ARGV[i]) or '') ~= ARGV[i + 1] then return 0 end
end
for i = 2, #ARGV, 3 do redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 2]) end
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

/** Which server wrote the scopes. Another one may have lost the last of them, and has another clock. */
const SERVER_FIELD = 'server';

/**
 * The pace of several machines, kept in Redis and on its clock.
 * @throws PaceStoreError within a second when it cannot be used; so does every `update`, and is of no use from then on
 */
export async function openRedisPaceStore(options: RedisPaceOptions, signal?: AbortSignal): Promise<RedisPaceStore> {
  const redact = createTextRedactor(options.password === undefined ? [] : [options.password]);
  const toError: ToStoreError = (thrown) => toStoreError(thrown, redact);
  const redis = await connect(options, toError, signal);
  try {
    const { runId, version, role } = await readFacts(redis);
    return storeIn(redis, { runId, version: redact(version), role: redact(role) }, options, toError);
  } catch (thrown) {
    redis.disconnect();
    throw toError(thrown);
  }
}

type ToStoreError = (thrown: unknown) => PaceStoreError;

async function connect({ address, password }: RedisPaceOptions, toError: ToStoreError, signal?: AbortSignal): Promise<Redis> {
  const { Redis } = await import('ioredis');
  const redis = new Redis({
    host: address.host,
    port: address.port,
    ...(address.tls ? { tls: { servername: address.host, rejectUnauthorized: true } } : {}),
    protocol: 2,
    lazyConnect: true,
    maxRetriesPerRequest: 0,
    // Whoever uses this says when to try again, and what is unanswered must not be sent once more.
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
  const signIn = async (): Promise<void> => {
    await redis.connect();
    if (password !== undefined) await redis.call('AUTH', ...(address.username === undefined ? [] : [address.username]), password);
    if (address.database !== 0) await redis.select(address.database);
  };
  try {
    await inTime(signIn());
    return redis;
  } catch (thrown) {
    redis.disconnect();
    throw toError(thrown instanceof PaceStoreError ? thrown : (reason ?? thrown));
  } finally {
    signal?.removeEventListener('abort', giveUp);
  }
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const giveUp = (): void => reject(new PaceStoreError('away', msg`it does not answer`));
    // It may be this process that was held up: what has arrived by then is read first.
    timer = setTimeout(() => setImmediate(() => setImmediate(giveUp)), MAX_WAIT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

type Facts = { readonly runId: string; readonly version: string; readonly role: string };

/** An account that may not ask for them can still keep the pace. */
async function readFacts(redis: Redis): Promise<Facts> {
  let text: unknown = '';
  try {
    text = await inTime(redis.info());
  } catch (thrown) {
    if (!messageOf(thrown).startsWith('NOPERM')) throw thrown;
  }
  if (typeof text !== 'string') throw notUnderstood();
  const fact = (name: string): string => new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(`${text}`)?.[1] ?? '';
  return { runId: fact('run_id') || 'unknown', version: fact('redis_version'), role: fact('role') };
}

type Stamp = { readonly storeMs: number; readonly askedMs: number; readonly answeredMs: number };

function storeIn(
  redis: Redis,
  { runId, version, role }: Facts,
  { service, clock, random }: RedisPaceOptions,
  toError: ToStoreError,
): RedisPaceStore {
  const broken = (thrown: unknown): never => {
    redis.disconnect();
    throw toError(thrown);
  };
  const key = `pas:pace:1:{${service}}`;
  let last: Stamp | undefined;
  /** Until all who share the scopes are told of it. */
  let clockWasSet = false;

  const look = async (fields: readonly string[]) => {
    const askedMs = clock.monotonicMs();
    const reply = await inTime(redis.eval(LOOK, 1, key, SERVER_FIELD, ...fields)).catch(broken);
    const { nowMs, values } = readReply(reply);
    const stamp = { storeMs: nowMs, askedMs, answeredMs: clock.monotonicMs() };
    clockWasSet ||= last !== undefined && wasSet(last, stamp);
    last = stamp;
    const [server = '', ...texts] = values;
    return { nowMs, server, texts };
  };

  const write = async (changes: readonly (readonly [field: string, seen: string, next: string])[]): Promise<boolean> =>
    (await inTime(redis.eval(SET_IF_UNCHANGED, 1, key, KEPT_MS, ...changes.flat())).catch(broken)) === 1;

  const update: PaceStore['update'] = async (scopes, change) => {
    const fields = scopes.map(redisFieldOf);
    for (let conflicts = 0; ; conflicts += 1) {
      // Whoever comes in between got on with it, so one repeat is free.
      if (conflicts > 1) await clock.sleep(random() * Math.min(2 ** conflicts, MAX_CONFLICT_WAIT_MS));
      const { nowMs, server, texts } = await look(fields);
      const found = texts.map((text) => (text === '' ? UNSEEN : decodeState(text)));
      const rewrite = (states: readonly PaceState[]): (readonly [string, string, string])[] =>
        fields.map((field, index) => [field, texts[index] ?? '', encodeState(states[index] ?? UNSEEN)]);
      if (clockWasSet || server !== runId || found.includes(undefined)) {
        const fresh = found.map((state) => forgotten(state, nowMs));
        if (await write([[SERVER_FIELD, server, runId], ...rewrite(fresh)])) clockWasSet = false;
        continue;
      }
      const { result, next } = change(
        found.map((state) => state ?? UNSEEN),
        nowMs,
      );
      const changes = next === undefined ? [] : rewrite(next).filter(([, seen, written]) => seen !== written);
      if (changes.length === 0) return result;
      // All scopes were looked at, so all must be as they were.
      const unchanged = rewrite(next ?? []).filter(([, seen, written]) => seen === written);
      if (await write([[SERVER_FIELD, runId, runId], ...unchanged, ...changes])) return result;
    }
  };

  return {
    version,
    role,
    update,
    measure: () => measure(redis, clock).catch(broken),
    close: () => redis.disconnect(),
  };
}

/**
 * Nobody knows when the last request left: the store is new, was emptied, is another server, or had its clock set. So
 * somebody may have left just now, or may be about to.
 */
function forgotten(state: PaceState | undefined, nowMs: number): PaceState {
  return { ...UNSEEN, jitterMs: state?.jitterMs ?? 0, lastDepartureMs: nowMs, leavingUntilMs: nowMs + MAX_DEPARTING_MS };
}

/** Did more or less time pass there than can have passed here? */
function wasSet(before: Stamp, now: Stamp): boolean {
  const passedMs = now.storeMs - before.storeMs;
  const maxMs = now.answeredMs - before.askedMs;
  const minMs = now.askedMs - before.answeredMs;
  return passedMs > maxMs * (1 + MAX_DRIFT) + MAX_SLACK_MS || passedMs < minMs * (1 - MAX_DRIFT) - MAX_SLACK_MS;
}

async function measure(redis: Redis, clock: Clock): Promise<{ latencyMs: number; clockAheadMs: number }> {
  let best = { latencyMs: Number.POSITIVE_INFINITY, clockAheadMs: 0 };
  for (let round = 0; round < 5; round += 1) {
    const askedMs = clock.monotonicMs();
    const storeMs = readTime(await inTime(redis.time()));
    const latencyMs = clock.monotonicMs() - askedMs;
    const clockAheadMs = storeMs - (clock.now() - latencyMs / 2);
    if (latencyMs < best.latencyMs) best = { latencyMs, clockAheadMs };
  }
  return best;
}

/** The library's error carries the command with its arguments, which may be the password: only its text goes on, without it. */
function toStoreError(thrown: unknown, redact: (text: string) => string): PaceStoreError {
  if (thrown instanceof PaceStoreError) return thrown;
  const said = redact(messageOf(thrown));
  if (/^(Unknown RESP|Protocol error)/.test(said)) return notUnderstood();
  if (/^(WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password|ERR DB index|ERR unknown command)/.test(said)) {
    return new PaceStoreError('refused', said);
  }
  if (said.startsWith('READONLY')) return new PaceStoreError('away', msg`it is a read-only replica`);
  if (/timed? ?out|ETIMEDOUT/i.test(said)) return new PaceStoreError('away', msg`it does not answer`);
  if (/^Connection is closed|ECONNRESET|EPIPE/.test(said)) return new PaceStoreError('away', msg`the connection was lost`);
  const words = describeNetworkError(thrown);
  return new PaceStoreError('away', typeof words === 'string' ? redact(words) || msg`no reason is given` : words);
}

/** What no Redis says. */
function notUnderstood(): PaceStoreError {
  return new PaceStoreError('away', msg`its answer cannot be understood`);
}

function readTime(reply: unknown): number {
  const [seconds, micros] = Array.isArray(reply) ? (reply as readonly unknown[]) : [];
  const nowMs = Number(seconds) * 1000 + Number(micros) / 1000;
  if (!Number.isFinite(nowMs)) throw notUnderstood();
  return nowMs;
}

function readReply(reply: unknown): { readonly nowMs: number; readonly values: readonly string[] } {
  const nowMs = readTime(reply);
  const values: unknown = (reply as readonly unknown[])[2];
  if (!Array.isArray(values)) throw notUnderstood();
  return { nowMs, values: values.map((value) => (typeof value === 'string' ? value : '')) };
}

/** Whose account it is, is nobody's business in a shared place. Addresses of one account may differ in case. */
export function redisFieldOf(scope: string): string {
  const [kind = '', ...rest] = scope.split(':');
  const name = rest.join(':').toLowerCase();
  return kind === 'address' ? kind : `${kind}:${createHash('sha256').update(name).digest('hex').slice(0, 32)}`;
}

/** An earlier pas knows five numbers; the sixth is there only while the service wants a pause that is longer than such a one keeps. */
export function encodeState(state: PaceState): string {
  const { lastDepartureMs, leavingUntilMs, blockedUntilMs, jitterMs, wakingMs, askedUntilMs } = state;
  const numbers = [lastDepartureMs, leavingUntilMs, blockedUntilMs, jitterMs, wakingMs];
  return [...numbers, ...(askedUntilMs > 0 ? [askedUntilMs] : [])].join(' ');
}

/** Undefined for what no pas wrote. */
export function decodeState(text: string): PaceState | undefined {
  const numbers = text.split(' ').map(Number);
  const [lastDepartureMs, leavingUntilMs, blockedUntilMs, jitterMs, wakingMs, askedUntilMs = 0] = numbers;
  if (numbers.length > 6 || !numbers.every((number) => Number.isFinite(number) && number >= 0)) return undefined;
  if (lastDepartureMs === undefined || leavingUntilMs === undefined || blockedUntilMs === undefined) return undefined;
  if (jitterMs === undefined || wakingMs === undefined) return undefined;
  return { lastDepartureMs, leavingUntilMs, blockedUntilMs, askedUntilMs, jitterMs, wakingMs };
}
