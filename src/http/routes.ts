import { readFileSync } from 'node:fs';
import { type Agent, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import * as tls from 'node:tls';
import type { Clock } from '../base/clock.ts';
import { ConfigError, getErrorMessage } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { chooseProxy, makeProxyAgent } from './proxy.ts';

/** How requests leave this machine: the variables of curl and Node, and keys of config.toml. */
export type NetworkSettings = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Address of a proxy, in place of the environment's; empty for none. */
  readonly proxy?: string;
  /** File with certificates (PEM) of authorities that are trusted beside those that Node knows. */
  readonly caFile?: string;
};

/** The way of the requests to one address. */
export type Route = {
  readonly agent: Agent;
  readonly proxy: URL | undefined;
  /** To be given to each request: an agent does not give them to a connection through a proxy. */
  readonly tls: tls.ConnectionOptions;
};

type Routes = {
  /** @throws ConfigError for an unusable proxy or file of certificates */
  find(address: string): Promise<Route>;
  close(): void;
};

type RoutesOptions = {
  readonly maxConnections: number;
  readonly clock: Clock;
  readonly network: NetworkSettings;
  readonly idleMs: number;
  readonly connectTimeoutMs: number;
};

/**
 * Time for each address of a host before the next one is tried. Node gives all but the last one a
 * quarter of a second, which is less than a round trip of a slow network.
 */
const ADDRESS_TIMEOUT_MS = 3000;

/** Opens a pool of connections for each origin, at its first request. */
export function openRoutes(options: RoutesOptions): Routes {
  const { network, maxConnections, idleMs, clock, connectTimeoutMs } = options;
  const closing = new AbortController();
  const routes = new Map<string, Promise<Route>>();
  const open = async ({ origin, protocol }: URL): Promise<Route> => {
    const proxy = chooseProxy(origin, network.environment, network.proxy);
    const isSecure = protocol === 'https:';
    // Certificates are verified despite NODE_TLS_REJECT_UNAUTHORIZED.
    const trust = { rejectUnauthorized: true, ca: readAuthorities(network) };
    const pool = {
      keepAlive: true,
      maxSockets: maxConnections,
      timeout: idleMs,
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      ...trust,
    };
    if (proxy !== undefined) {
      const made = { isSecure, clock, connectTimeoutMs, closing: closing.signal, agent: pool };
      return { agent: await makeProxyAgent(proxy, made), proxy, tls: trust };
    }
    const agent = isSecure ? new HttpsAgent(pool) : new HttpAgent(pool);
    return { agent, proxy, tls: trust };
  };
  return {
    find: async (address) => {
      const url = new URL(address);
      const route = routes.get(url.origin) ?? open(url);
      routes.set(url.origin, route);
      return route;
    },
    close: () => {
      closing.abort();
      for (const route of routes.values())
        route.then(({ agent }) => agent.destroy()).catch(() => undefined);
    },
  };
}

/**
 * Reads the certificates to trust; undefined for those of Node.
 * @throws ConfigError where `caFile` cannot be read or has no certificate
 */
function readAuthorities({ caFile, environment }: NetworkSettings): string[] | undefined {
  if (caFile === undefined) return undefined;
  const own = readCertificates(caFile, 'ca_file');
  // Since Node 22.15; includes NODE_EXTRA_CA_CERTS, and the system's store where it is used.
  const { getCACertificates } = tls as { getCACertificates?: (kind: string) => string[] };
  if (getCACertificates !== undefined) return [...getCACertificates('default'), own];
  const extraFile = environment['NODE_EXTRA_CA_CERTS'];
  const extra = extraFile === undefined ? [] : [readCertificates(extraFile, 'NODE_EXTRA_CA_CERTS')];
  return [...tls.rootCertificates, ...extra, own];
}

/** @param setting names the file */
function readCertificates(path: string, setting: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (thrown) {
    const why = getErrorMessage(thrown);
    throw new ConfigError(t`The certificates of ${path} cannot be read: ${why}.`, {
      cause: thrown,
      hint: t`Correct ${setting}, which names it.`,
    });
  }
  if (/-----BEGIN (?:TRUSTED |X509 )?CERTIFICATE-----/.test(text)) return text;
  throw new ConfigError(t`${path} has no certificate.`, {
    hint: t`${setting} must name a text file with certificates that begin with -----BEGIN CERTIFICATE-----.`,
  });
}
