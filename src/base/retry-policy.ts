const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;

/** All numbers that say when something is tried again, and how often. Times are in milliseconds. */
export const RETRY_POLICY = {
  /** Backoff of one entry by its consecutive failures: doubled, and from `slowAfter` failures on in minutes. */
  entry: { minMs: SECOND_MS, maxMs: 30 * SECOND_MS, slowAfter: 8, slowMinMs: 5 * MINUTE_MS, slowMaxMs: HOUR_MS },
  /** Repeats of an import that was refused beside another import of its project. */
  collision: { maxRepeats: 4 },
  /** New tokens for one entry. */
  token: { maxRenewals: 3 },
  /** Backoff of all entries after connection failures in a row. */
  connection: { minMs: SECOND_MS, maxMs: 10 * SECOND_MS },
  /** Answers of unknown cause for different records within `windowMs` are a throttle; more than `maxQuick` locks of one record may be one. */
  lock: { windowMs: 2 * SECOND_MS, maxQuick: 3 },
  /** Circuits of projects and kinds: failures about different subjects, and how long the circuit stays open. */
  circuit: { threshold: 5, minOpenMs: MINUTE_MS, maxOpenMs: HOUR_MS },
  /** Circuits of the service: failures in a row that end the push. */
  service: { uncertain: 5, throttled: 20, 'not-delivered': 4, closed: 1 },
  /** A queue that must wait longer is left to a later push. */
  push: { maxWaitMs: 2 * MINUTE_MS },
  /** Pauses of a watch: between probes of a service that is away, or that leaves entries uncertain; the outbox is polled meanwhile. */
  watch: { minPauseMs: SECOND_MS, maxPauseMs: MINUTE_MS, maxUncertainPauseMs: HOUR_MS, pollMs: SECOND_MS, minLookMs: MINUTE_MS },
} as const satisfies Readonly<Record<string, Readonly<Record<string, number>>>>;

/** Backoff of an entry after so many consecutive failures. */
export function entryBackoffMs(failures: number): number {
  const { minMs, maxMs, slowAfter } = RETRY_POLICY.entry;
  return failures < slowAfter ? Math.min(minMs * 2 ** (failures - 1), maxMs) : slowBackoffMs(failures - slowAfter + 1);
}

/** Backoff of an entry that a quick repeat would not help. */
export function slowBackoffMs(failures: number): number {
  const { slowMinMs, slowMaxMs } = RETRY_POLICY.entry;
  return Math.min(slowMinMs * 2 ** (failures - 1), slowMaxMs);
}

/** Backoff of all entries after so many connection failures in a row. */
export function connectionBackoffMs(failures: number): number {
  const { minMs, maxMs } = RETRY_POLICY.connection;
  return Math.min(minMs * 2 ** (failures - 1), maxMs);
}

/** How long a circuit stays open that was open for `previousMs` before; 0 for the first time. */
export function circuitOpenMs(previousMs: number): number {
  const { minOpenMs, maxOpenMs } = RETRY_POLICY.circuit;
  return Math.min(Math.max(minOpenMs, previousMs * 2), maxOpenMs);
}
