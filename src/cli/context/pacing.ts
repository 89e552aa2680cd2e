import { existsSync } from 'node:fs';
import { ConfigError, DatabaseError } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import { formatPause } from '../../service/http/exchange.ts';
import {
  openPaceStore,
  openWithFallback,
  type PaceStore,
  PaceStoreError,
  type Pause,
} from '../../service/http/pace-store.ts';
import { makePace, type Pace } from '../../service/http/pacer.ts';
import {
  formatRedisEndpoint,
  isAddressFault,
  parseRedisAddress,
  type RedisAddress,
  type RedisPaceStore,
} from '../../service/http/redis-pace-store.ts';
import { type Finding, makePass, makeProblem, makeWarning } from '../checks/check-machine.ts';
import { isLoopback, type Profile } from './config.ts';
import type { Context } from './context.ts';

/**
 * Opens the pace of this service address and account, shared by all processes of this user on this
 * machine, or by all machines that use the same Redis.
 * @param tolerant treats a Redis that refuses as one that is unavailable, without a message: the
 * caller reports it
 * @throws ConfigError when the Redis refuses the password or the account
 */
export async function openPace(
  context: Context,
  profile: Profile,
  { tolerant = false } = {},
): Promise<Pace> {
  const local = openLocalStore(context);
  context.onClose(() => local.close());
  const { origin } = new URL(profile.baseUrl);
  return makePace({
    store:
      profile.pacing === 'local' ? local : await openSharedStore(context, profile, local, tolerant),
    clock: context.clock,
    scopes: [`address:${origin}`, `account:${origin} ${profile.username ?? ''}`],
    intervalMs: profile.minIntervalMs,
  });
}

function openLocalStore({ places, clock }: Context): ReturnType<typeof openPaceStore> {
  try {
    return openPaceStore(places.paceFile, clock);
  } catch (thrown) {
    if (!(thrown instanceof DatabaseError)) throw thrown;
    throw new DatabaseError(thrown.says, {
      cause: thrown,
      passing: thrown.exitReason === 'unavailable',
      hint: t`All pas processes on this machine share their pace there. Make it writable, or set XDG_STATE_HOME to another folder.`,
    });
  }
}

type PauseReport = {
  /** Absent where there is no pause. */
  readonly text?: string;
  /** Its ends as ISO 8601, for programs; null where there is none. */
  readonly value: { readonly paused_until: string | null; readonly asked_until: string | null };
};

/**
 * Returns the pause that all processes of this account observe, in words and for programs. It
 * creates no store; an unavailable one counts as no pause.
 */
export async function readSharedPause(context: Context, profile: Profile): Promise<PauseReport> {
  const pause = await readPause(context, profile);
  const nowMs = context.clock.now();
  const formatEnd = (ms: number): string | null =>
    ms > 0 ? new Date(nowMs + ms).toISOString() : null;
  const value = {
    paused_until: formatEnd(pause.pausedMs),
    asked_until: formatEnd(pause.requestedMs),
  };
  const isPaused = pause.pausedMs + pause.requestedMs > 0;
  return isPaused ? { text: String(formatPause(pause, nowMs)), value } : { value };
}

async function readPause(context: Context, profile: Profile): Promise<Pause> {
  const none = { pausedMs: 0, requestedMs: 0 };
  if (profile.pacing === 'local' && !existsSync(context.places.paceFile)) return none;
  try {
    return await (await openPace(context, profile, { tolerant: true })).readPause();
  } catch (thrown) {
    if (thrown instanceof DatabaseError) return none;
    throw thrown;
  }
}

async function openSharedStore(
  context: Context,
  profile: Profile,
  local: PaceStore,
  tolerant: boolean,
): Promise<PaceStore> {
  const { terminal, clock } = context;
  const place = formatRedisEndpoint(getRedisAddress(profile));
  const seconds = profile.pacingFallbackIntervalMs / 1000;
  const store = await openWithFallback({
    connect: (signal) =>
      connect(context, profile, signal).catch((thrown: unknown) => {
        if (!tolerant || !(thrown instanceof ConfigError)) throw thrown;
        throw new PaceStoreError('unavailable', thrown.says);
      }),
    local,
    fallbackIntervalMs: profile.pacingFallbackIntervalMs,
    clock,
    random: context.random,
    onLost: (why) => {
      if (!tolerant)
        terminal.warn(
          t`The pacing store at ${place} cannot be used: ${why}. Until it answers again, this machine paces itself: one request every ${seconds} s.`,
        );
    },
    onBack: () => {
      if (!tolerant)
        terminal.warn(t`The pacing store at ${place} answers again: back to the shared rate.`);
    },
  });
  context.onClose(() => store.close());
  return store;
}

/** @throws PaceStoreError when it is unavailable; ConfigError when it refuses */
async function connect(
  context: Context,
  profile: Profile,
  signal?: AbortSignal,
): Promise<RedisPaceStore> {
  const { openRedisPaceStore } = await import('../../service/http/redis-pace-store.ts');
  const address = getRedisAddress(profile);
  try {
    const service = new URL(profile.baseUrl).origin;
    const password = context.environment['PAS_PACING_PASSWORD'];
    return await openRedisPaceStore(
      { address, password, service, clock: context.clock, random: context.random },
      signal,
    );
  } catch (thrown) {
    if (!(thrown instanceof PaceStoreError) || thrown.kind === 'unavailable') throw thrown;
    const place = formatRedisEndpoint(address);
    throw new ConfigError(t`The pacing store at ${place} refuses: ${thrown.message}`, {
      hint: t`Check pacing in the profile, and the password in PAS_PACING_PASSWORD.`,
    });
  }
}

/** The profile was validated before. */
function getRedisAddress({ pacing }: Profile): RedisAddress {
  const address = parseRedisAddress(pacing);
  if (isAddressFault(address)) throw new ConfigError(address.message);
  return address;
}

/**
 * Checks the store of the pace: local, or the shared Redis with its answer time, and whether
 * its password is protected.
 */
export async function checkPacing(context: Context, profile: Profile): Promise<Finding> {
  if (profile.pacing === 'local') return makePass(context.places.paceFile);
  const address = getRedisAddress(profile);
  const place = formatRedisEndpoint(address);
  const seconds = profile.pacingFallbackIntervalMs / 1000;
  const todo = t`Check that Redis runs there and accepts connections from this machine; until then a push sends one request every ${seconds} s.`;
  let store: RedisPaceStore | undefined;
  try {
    store = await connect(context, profile);
    const latency = (await store.measureLatencyMs()).toFixed(1);
    const summary = t`Redis at ${place} answers in ${latency} ms`;
    if (store.role === 'slave')
      return makeProblem(t`${place} is a replica of another Redis and is read-only.`, todo);
    const isOpen = !address.tls && !isLoopback(address.host);
    if (!isOpen || context.environment['PAS_PACING_PASSWORD'] === undefined)
      return makePass(summary);
    return makeWarning(
      t`${summary}; the password is sent unencrypted.`,
      t`Use rediss:// if the Redis has TLS.`,
    );
  } catch (thrown) {
    if (thrown instanceof ConfigError) return makeProblem(thrown.message, thrown.hint ?? todo);
    if (!(thrown instanceof PaceStoreError)) throw thrown;
    return makeProblem(t`The pacing store at ${place} cannot be used: ${thrown.message}.`, todo);
  } finally {
    store?.close();
  }
}
