import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Agent, type ClientRequest, Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { unescape as decodePercent } from 'node:querystring';
import * as tls from 'node:tls';
import type { Clock } from '../../base/clock.ts';
import { ConfigError, getErrorMessage } from '../../base/errors.ts';
import { type Message, msg, t } from '../../base/message.ts';
import { describeNetworkError, NOT_HTTP, ProxyError } from './exchange.ts';

/** Variables of the environment, such as HTTPS_PROXY. */
type Variables = Readonly<Record<string, string | undefined>>;

/**
 * Chooses the proxy for an address: `configured`, else that of the environment as for curl
 * (HTTPS_PROXY or HTTP_PROXY, then ALL_PROXY, each in small letters first), except that HTTP_PROXY
 * also counts in capitals. Undefined without a proxy, and for a host in NO_PROXY, even if one is
 * configured.
 * @param configured an empty text is no proxy; undefined: that of the environment
 * @throws ConfigError where the proxy is no http address
 */
export function chooseProxy(
  address: string,
  environment: Variables,
  configured: string | undefined,
): URL | undefined {
  const { protocol } = new URL(address);
  const get = (name: string): string | undefined =>
    environment[name] || environment[name.toUpperCase()] || undefined;
  const names = [`${protocol.slice(0, -1)}_proxy`, 'all_proxy'];
  const variable = names.find((name) => get(name) !== undefined);
  const text = configured ?? get(variable ?? '') ?? '';
  if (text === '' || isExcluded(address, get('no_proxy') ?? '')) return undefined;
  return parseProxy(configured === undefined ? String(variable).toUpperCase() : 'proxy', text);
}

/**
 * Parses the address of a proxy, with or without `http://`.
 * @param where for the error, which does not quote the text: it may have a password
 * @throws ConfigError where it is no http address
 */
export function parseProxy(where: string, text: string): URL {
  const url = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed !== undefined && /^https?:$/.test(parsed.protocol) && parsed.hostname !== '')
    return parsed;
  throw new ConfigError(
    t`${where}: the address of a proxy must be like http://proxy.example.org:3128.`,
  );
}

/** Tells if NO_PROXY names the host of an address: itself, a domain or a network of it. */
function isExcluded(address: string, noProxy: string): boolean {
  const { hostname, port, protocol } = new URL(address);
  const usedPort = port || (protocol === 'https:' ? '443' : '80');
  const entries = noProxy.toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    if (entry === '*') return true;
    const hasPort = /^(?:\[[^\]]*\]|[^:]*):\d+$/.test(entry);
    const at = hasPort ? entry.lastIndexOf(':') : entry.length;
    const name = entry.slice(0, at).replace(/^\*?\./, '');
    if (name === '' || (hasPort && entry.slice(at + 1) !== usedPort)) return false;
    const host = hostname.replace(/^\[|\]$/g, '');
    return isIP(host) === 0
      ? host === name || host.endsWith(`.${name}`)
      : isInNetwork(host, name.replace(/^\[|\]$/g, ''));
  });
}

/** Tells if an IP address is in `network`, an address or one with a prefix as in 10.0.0.0/8. */
function isInNetwork(address: string, network: string): boolean {
  const [base = '', bits] = network.split('/');
  const isV6 = isIP(address) === 6;
  const maxBits = isV6 ? 128 : 32;
  const prefix = bits === undefined ? maxBits : Number(bits);
  if (isIP(base) !== isIP(address) || !(prefix >= 0 && prefix <= maxBits)) return false;
  const list = new BlockList();
  list.addSubnet(base, Math.trunc(prefix), isV6 ? 'ipv6' : 'ipv4');
  return list.check(address, isV6 ? 'ipv6' : 'ipv4');
}

/** Returns the address of a proxy without user name and password, for messages. */
export function formatProxyAddress({ protocol, host }: URL): string {
  return `${protocol}//${host}`;
}

/** Replaces user name and password in a text that is meant as the address of a proxy by `***`. */
export function maskProxyCredentials(text: string): string {
  const at = text.lastIndexOf('@');
  const scheme = /^[a-z][a-z\d+.-]*:\/\//i.exec(text)?.[0] ?? '';
  return at < 0 ? text : `${scheme}***${text.slice(at)}`;
}

/** Time limit for a connection, also through a proxy. */
export const CONNECT_TIMEOUT_MS = 15_000;

type ProxyAgentOptions = {
  readonly isSecure: boolean;
  readonly clock: Clock;
  /** Ends connections that are being made. */
  readonly closing: AbortSignal;
  /** Options of the agent and of its connections. */
  readonly agent: object;
};

/** Members that the agents of both libraries have. */
type ProxyAgent = Agent & {
  connectOpts: object;
  connect(request: ClientRequest, target: object): Promise<Socket>;
};

/** Makes an agent whose requests go through `proxy`: by CONNECT for https, else in its own name. */
async function makeProxyAgent(proxy: URL, options: ProxyAgentOptions): Promise<Agent> {
  // The libraries write the address that they are given into debug output.
  const plain = new URL(formatProxyAddress(proxy));
  const settings = { ...options.agent, headers: makeProxyHeaders(proxy) };
  const [{ HttpsProxyAgent }, { HttpProxyAgent }] = await Promise.all([
    import('https-proxy-agent'),
    import('http-proxy-agent'),
  ]);
  const agent: ProxyAgent = options.isSecure
    ? new HttpsProxyAgent(plain, settings)
    : new HttpProxyAgent(plain, settings);
  const connect = agent.connect.bind(agent);
  agent.connect = async (request, target) => {
    const made = new AbortController();
    const late = new AbortController();
    const signal = AbortSignal.any([options.closing, late.signal]);
    // `connect` reads the options before it first waits.
    agent.connectOpts = { ...agent.connectOpts, signal };
    let status = 200;
    request.once('proxyConnect', (answer: { statusCode?: number }) => {
      const { statusCode = 200 } = answer;
      // Any 2xx opens the tunnel (RFC 9110, section 9.3.6); the library knows only 200.
      status = statusCode >= 200 && statusCode < 300 ? 200 : statusCode;
      answer.statusCode = status;
    });
    options.clock
      .sleep(CONNECT_TIMEOUT_MS, made.signal)
      .then(() => made.signal.aborted || late.abort())
      .catch(() => undefined);
    const socket = await connect(request, target)
      .then(async (opened) => {
        // The library for http does not wait for TLS with the proxy.
        if (!options.isSecure && opened instanceof tls.TLSSocket)
          await once(opened, 'secureConnect', { signal });
        return opened;
      })
      .catch((thrown: unknown) => {
        throw makeProxyError(proxy, describeFailure(thrown, late.signal), thrown);
      })
      .finally(() => made.abort());
    if (status === 200) return socket;
    socket.destroy();
    throw makeProxyError(proxy, Number.isNaN(status) ? NOT_HTTP : describeProxyRefusal(status));
  };
  return agent;
}

function makeProxyHeaders({ username, password }: URL): Record<string, string> {
  if (username === '' && password === '') return {};
  // A password may have a bare %, which decodeURIComponent refuses.
  const account = `${decodePercent(username)}:${decodePercent(password)}`;
  return { 'Proxy-Authorization': `Basic ${Buffer.from(account).toString('base64')}` };
}

function describeFailure(thrown: unknown, late: AbortSignal): Message {
  const seconds = CONNECT_TIMEOUT_MS / 1000;
  if (late.aborted) return msg`it did not answer within ${seconds} seconds`;
  const isClosed = thrown instanceof Error && /^Proxy connection ended/.test(thrown.message);
  return isClosed ? msg`the connection was lost` : describeNetworkError(thrown);
}

/** Describes an answer of a proxy that refuses a connection (RFC 9110, section 9.3.6). */
export function describeProxyRefusal(status: number): Message {
  return status === 407
    ? msg`it wants a user name and a password (status 407): write them into its address, as in http://USER:PASSWORD@HOST:PORT`
    : msg`it refuses the connection (status ${status})`;
}

/** Makes the error of a connection that a proxy does not let through; no byte of it has left. */
export function makeProxyError(proxy: URL, why: Message, cause?: unknown): ProxyError {
  const address = formatProxyAddress(proxy);
  return new ProxyError(msg`the proxy ${address} failed: ${why}`, { cause });
}

/** How requests leave this machine: the variables of curl and Node, and keys of config.toml. */
export type NetworkSettings = {
  readonly environment: Variables;
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
};

/**
 * Maximum idle time, below that of servers: a create on a connection that the server closes would
 * become uncertain.
 */
export const IDLE_MS = 2000;

/**
 * Time for each address of a host before the next one is tried. Node gives all but the last one a
 * quarter of a second, which is less than a round trip of a slow network.
 */
const ADDRESS_TIMEOUT_MS = 3000;

/**
 * Opens the routes of all requests: a pool of connections for each origin, made when `find` is
 * first called for it. A connection whose proxy fails has an error that is a {@link ProxyError}.
 */
export function openRoutes(options: RoutesOptions): Routes {
  const closing = new AbortController();
  const routes = new Map<string, Promise<Route>>();
  return {
    find: async (address) => {
      const url = new URL(address);
      const route = routes.get(url.origin) ?? openRoute(url, options, closing.signal);
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

async function openRoute(
  { origin, protocol }: URL,
  { network, maxConnections, clock }: RoutesOptions,
  closing: AbortSignal,
): Promise<Route> {
  const proxy = chooseProxy(origin, network.environment, network.proxy);
  const isSecure = protocol === 'https:';
  // Certificates are verified despite NODE_TLS_REJECT_UNAUTHORIZED.
  const trust = { rejectUnauthorized: true, ca: readAuthorities(network) };
  const pool = {
    keepAlive: true,
    maxSockets: maxConnections,
    timeout: IDLE_MS,
    autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
    ...trust,
  };
  if (proxy !== undefined) {
    const made = { isSecure, clock, closing, agent: pool };
    return { agent: await makeProxyAgent(proxy, made), proxy, tls: trust };
  }
  const agent = isSecure ? new HttpsAgent(pool) : new HttpAgent(pool);
  return { agent, proxy, tls: trust };
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
