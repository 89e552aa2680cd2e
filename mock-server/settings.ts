export type AccessRule = {
  readonly rule_type: 'ip_blacklist' | 'ip_whitelist' | 'user_blacklist' | 'user_whitelist';
  /** An address, a CIDR block or an `a-b` range; of a user rule an e-mail address. */
  readonly value: string;
  readonly active?: boolean;
};

export type RateLimit = {
  readonly scope: 'user' | 'ip' | 'record';
  /** An e-mail address, or an address, block or range; a record rule has none. */
  readonly value?: string;
  /** `<count>/<unit>`, units `ms`, `s`, `m`, `h`, `d`. A malformed rate refuses everything, as the service does. */
  readonly rate: string;
  readonly active?: boolean;
};

/** What an operator can change while the mock runs; names as in the control interface. */
export type Settings = {
  readonly access_mode: 'open' | 'whitelist_only' | 'closed';
  readonly access_rules: readonly AccessRule[];
  /** Addresses, blocks or ranges whose `X-Forwarded-For` is believed. */
  readonly trusted_proxies: readonly string[];
  /** 0 switches a scope off. */
  readonly min_request_intervals: { readonly user_ms: number; readonly ip_ms: number };
  readonly rate_limits: readonly RateLimit[];
  /** Real delay before a write is handled, in milliseconds. */
  readonly latency_ms: number;
  readonly record_lock_params: { readonly retry_delay_ms: number; readonly max_retries: number };
  readonly record_lock_ttl_ms: number;
  readonly allowed_schema_versions: readonly string[] | null;
  /** Whether the antivirus step runs. */
  readonly antivirus: boolean;
  /** Records per page of harvested lists. */
  readonly page_size: number;
  readonly resumption_token_ms: number;
  readonly token_ms: number;
  /** Both interfaces answer 503 with an HTML page. */
  readonly outage: boolean;
};

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
  token_ms: 86_400_000,
  outage: false,
};
