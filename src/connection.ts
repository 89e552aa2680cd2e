import { systemClock } from './base/clock.ts';
import { ConfigError } from './base/errors.ts';
import { isProtectedAddress, normalizeAddress } from './cli/context/config.ts';
import { makeDataPaths } from './cli/context/places.ts';
import { withAnswerTimeout } from './service/http/exchange.ts';
import { openPaceStore } from './service/http/pace-store.ts';
import { makePace } from './service/http/pacer.ts';
import { openConnections } from './service/http/send.ts';
import { openSession } from './service/session.ts';

/** The write interface of one deployment, and the account that writes. */
export type ServiceOptions = {
  /** `{base_url}`, with or without a final slash. */
  readonly baseUrl: string;
  readonly username: string;
  readonly password: string;
  /** A token from an earlier run, to save a request; a new one is requested when it has expired. */
  readonly token?: string | undefined;
  /** Called with each new token. Store it as safely as the password, or not at all. */
  readonly onToken?: (token: string) => void;
  /** Minimum of milliseconds between two requests; default 100, the limit of the service. */
  readonly minIntervalMs?: number;
  /**
   * SQLite file by which all processes of a machine share one pace; by default that of the program
   * `pas`.
   */
  readonly paceFile?: string;
  /** Maximum wait for an answer, in milliseconds; default 120000. */
  readonly answerTimeoutMs?: number;
  /** Allow an address without TLS; loopback addresses are always allowed. */
  readonly allowHttp?: boolean;
};

/** Connections, session and pace of one account; `close` ends them. */
export type Connection = ReturnType<typeof openWriteConnection>;

/**
 * Opens the connections, session and pace of one account, for the caller to close. Nothing is
 * requested yet: the session signs in when a token is needed.
 * @throws ConfigError for an invalid address, or one that would send the password unencrypted;
 * DatabaseError where the file of the pace cannot be opened
 */
export function openWriteConnection(options: ServiceOptions) {
  const { username, password, onToken } = options;
  const baseUrl = parseAddress('baseUrl', options.baseUrl, options.allowHttp === true);
  const { answerTimeoutMs = 120_000 } = options;
  const connections = openConnections({
    maxConnections: 64,
    network: { environment: process.env },
  });
  const send = withAnswerTimeout(answerTimeoutMs, connections.send);
  const store = openPaceStore(options.paceFile ?? makeDataPaths(process.env).paceFile, systemClock);
  const { origin } = new URL(baseUrl);
  const keeper = { read: () => options.token, write: (token: string) => onToken?.(token) };
  return {
    baseUrl,
    answerTimeoutMs,
    send,
    session: openSession({ baseUrl, username, password, keeper, send, clock: systemClock }),
    pace: makePace({
      store,
      clock: systemClock,
      scopes: [`address:${origin}`, `account:${origin} ${username}`],
      intervalMs: options.minIntervalMs ?? 100,
    }),
    close: async () => {
      store.close();
      await connections.close();
    },
  };
}

/**
 * Parses an address into its normal form: without a slash at the end.
 * @param name of the option, for the error
 * @param allowHttp true: the address may be unprotected
 * @throws ConfigError for an invalid address, or one that would send the password unencrypted
 */
export function parseAddress(name: string, address: string, allowHttp: boolean): string {
  const normal = normalizeAddress(address);
  if (normal === undefined) {
    throw new ConfigError(
      `${name} must be an address such as https://finds.example.org, without a user name, a query or a #.`,
    );
  }
  if (!allowHttp && !isProtectedAddress(normal)) {
    throw new ConfigError(`${name}: ${address} would send the password unencrypted.`, {
      hint: 'Use the https:// address, or set allowHttp if the network is your own.',
    });
  }
  return normal;
}
