import { findAddressFault } from '../base/address-list.ts';
import {
  array,
  check,
  flag,
  integer,
  nullable,
  object,
  optional,
  type Reader,
  readOneOf,
  text,
} from '../base/shape.ts';

/** Maximum of a timer; a longer one fires at once. */
export const MAX_TIMER_MS = 2_147_483_647;

const accessRule = check(
  object({
    rule_type: readOneOf([
      'ip_blacklist',
      'ip_whitelist',
      'user_blacklist',
      'user_whitelist',
    ] as const),
    /**
     * An address, a CIDR block or an `a-b` range; of a user rule an e-mail address or a user name.
     */
    value: text({ min: 1 }),
    active: optional(flag),
  }),
  (rule) => (rule.rule_type.startsWith('ip_') ? findAddressFault(rule.value) : undefined),
);

const rateLimit = check(
  object({
    scope: readOneOf(['user', 'ip', 'record'] as const),
    /** An e-mail address or a user name, or an address, block or range; a record rule has none. */
    value: optional(text({ min: 1 })),
    /**
     * `<count>/<unit>`, units `ms`, `s`, `m`, `h`, `d`. A malformed rate refuses everything, as the
     * service does.
     */
    rate: text(),
    active: optional(flag),
  }),
  (limit) => {
    if (limit.scope === 'record')
      return limit.value === undefined ? undefined : 'a record limit takes no value';
    if (limit.value === undefined) return `a limit of scope ${limit.scope} needs a value`;
    return limit.scope === 'ip' ? findAddressFault(limit.value) : undefined;
  },
);
/** A rule that limits the number of writes, such as `5/m`, of a user, an address or a record. */
export type RateLimit = Readonly<ReturnType<typeof rateLimit>>;

/** Settings that an operator can change at run time; names as in the control interface. */
export type Settings = {
  readonly access_mode: 'open' | 'whitelist_only' | 'closed';
  readonly access_rules: readonly Readonly<ReturnType<typeof accessRule>>[];
  /** Addresses, blocks or ranges whose `X-Forwarded-For` is trusted. */
  readonly trusted_proxies: readonly string[];
  /** 0 disables a scope. */
  readonly min_request_intervals: { readonly user_ms: number; readonly ip_ms: number };
  readonly rate_limits: readonly RateLimit[];
  /** Real delay before a write is handled. */
  readonly latency_ms: number;
  readonly record_lock_params: { readonly retry_delay_ms: number; readonly max_retries: number };
  readonly record_lock_ttl_ms: number;
  readonly allowed_schema_versions: readonly string[] | null;
  /** Enables the antivirus step. */
  readonly antivirus: boolean;
  /** Records per page of harvested lists. */
  readonly page_size: number;
  readonly resumption_token_ms: number;
  /**
   * Delay of a write in the harvesting interface, in milliseconds of the mock's clock; several are
   * taken in turn.
   */
  readonly index_delay_ms: number | readonly number[];
  /** Offsets of `responseDate` in milliseconds, taken in turn. */
  readonly response_date_shifts_ms: readonly number[];
  readonly token_ms: number;
  /**
   * Planned outage: the authentication paths and the harvesting interface answer 503 with an HTML
   * page (A-AUTH-13, B-ADDRESS-8).
   */
  readonly outage: boolean;
  /** The service can read its own schema file (A-IMPORT-10). */
  readonly schema_reachable: boolean;
  /** Largest photograph, in bytes. */
  readonly photo_max_bytes: number;
  /**
   * Largest request body, boundaries included; above it the proxy answers 413 with an HTML page.
   */
  readonly body_max_bytes: number;
};

/** Settings of a server without flags; numbers as on the deployed service (A-RATE-2, A-LOCK-3). */
export const DEFAULT_SETTINGS: Settings = {
  access_mode: 'open',
  access_rules: [],
  trusted_proxies: [],
  min_request_intervals: { user_ms: 100, ip_ms: 100 },
  rate_limits: [],
  latency_ms: 0,
  record_lock_params: { retry_delay_ms: 500, max_retries: 10 },
  record_lock_ttl_ms: 300_000,
  allowed_schema_versions: null,
  antivirus: true,
  page_size: 100,
  resumption_token_ms: 3_600_000,
  index_delay_ms: 0,
  response_date_shifts_ms: [],
  token_ms: 86_400_000,
  outage: false,
  schema_reachable: true,
  photo_max_bytes: 262_144_000,
  // Room for the boundaries of a photograph that is slightly too large, which the service itself
  // must refuse.
  body_max_bytes: 262_144_000 + 1_048_576,
};

const HOST_NAME = /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i;
/** Reads an address, a block, a range or a host name, which is the address of no connection. */
const proxy: Reader<string> = check(text(), (value) =>
  HOST_NAME.test(value) && /[a-z]/i.test(value) ? undefined : findAddressFault(value),
);
/** A hundred years: the end of a longer time would have no date. */
const MAX_TIME_MS = 3_155_760_000_000;
/** Reads a duration in milliseconds, from 0. */
export const milliseconds: Reader<number> = integer({ min: 0, max: MAX_TIME_MS });
const versionText: Reader<string> = check(text(), (version) =>
  /^\d+\.\d+$/.test(version) ? undefined : 'must be a version such as "2.2"',
);
/** Reads a version, which the deployed service also takes as a number. */
export const readSchemaVersion: Reader<string> = (value, place) =>
  versionText(typeof value === 'number' ? value.toFixed(1) : value, place);

const intervals = object({ user_ms: optional(milliseconds), ip_ms: optional(milliseconds) });
const lockParams = object({
  retry_delay_ms: optional(integer({ min: 1, max: MAX_TIMER_MS })),
  max_retries: optional(integer({ min: 1 })),
});

/**
 * Reads any part of the settings.
 * @throws ShapeError with the place and the reason
 */
export const readSettings: Reader<Partial<Settings>> = object({
  access_mode: optional(readOneOf(['open', 'whitelist_only', 'closed'] as const)),
  access_rules: optional(array(accessRule)),
  trusted_proxies: optional(array(proxy)),
  // Missing ones are as the service is built (A-RATE-7, A-LOCK-3).
  min_request_intervals: optional((value, place) => ({
    user_ms: 0,
    ip_ms: 0,
    ...intervals(value, place),
  })),
  rate_limits: optional(array(rateLimit)),
  latency_ms: optional(integer({ min: 0, max: MAX_TIMER_MS })),
  record_lock_params: optional((value, place) => ({
    ...DEFAULT_SETTINGS.record_lock_params,
    ...lockParams(value, place),
  })),
  record_lock_ttl_ms: optional(integer({ min: 1, max: MAX_TIME_MS })),
  allowed_schema_versions: optional(nullable(array(readSchemaVersion))),
  antivirus: optional(flag),
  page_size: optional(integer({ min: 1, max: 10_000 })),
  resumption_token_ms: optional(milliseconds),
  index_delay_ms: optional((value, place) =>
    (Array.isArray(value) ? array(milliseconds) : milliseconds)(value, place),
  ),
  response_date_shifts_ms: optional(array(integer({ min: -MAX_TIME_MS, max: MAX_TIME_MS }))),
  token_ms: optional(milliseconds),
  outage: optional(flag),
  schema_reachable: optional(flag),
  photo_max_bytes: optional(integer({ min: 1 })),
  body_max_bytes: optional(integer({ min: 1 })),
});
