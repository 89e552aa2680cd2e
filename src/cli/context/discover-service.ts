import {
  ConfigError,
  getErrorMessage,
  InterruptedError,
  LocalizedError,
} from '../../base/errors.ts';
import { isPlainObject } from '../../base/json-and-toml.ts';
import { t } from '../../base/message.ts';
import { openOaiClient } from '../../harvest/client.ts';
import { makeRedirectFollower } from '../../harvest/send-request.ts';
import {
  type Exchange,
  type HttpResponse,
  makeNoAnswerError,
  TransportError,
} from '../../service/http/exchange.ts';
import { readInputFile } from '../../tables/input-file.ts';
import {
  isLoopback,
  isProtectedAddress,
  type ProfileSettings,
  parseProfileSettings,
  parseToml,
  requireAddress,
} from './config.ts';
import type { Context } from './context.ts';

const PROBE_TIMEOUT_MS = 5000;
/** Time limit for all probes of a command together. */
const MAX_PROBING_MS = 20_000;
/** A pasted address of a page may have many parent folders. */
const MAX_FOLDERS = 4;
const MAX_PROBED_BYTES = 2 * 1024 * 1024;
/** Paths of the service, which an address copied from a browser or a manual may have at its end. */
const OWN_PATHS =
  /\/(?:(?:\d+\.\d+\/)?oai|api\/(?:pas|token-auth|uzivatel-info)|api|id|schema)(?:\/.*)?$/s;
const ACCOUNT_PATH = '/api/uzivatel-info/';
const MOCK_SERVER = /^pas-mock-server\b/;

/**
 * Settings that a service shows without authentication, others are absent; `problem` is why neither
 * interface was found.
 */
type FoundService = { readonly settings: ProfileSettings; readonly problem: string | undefined };

/**
 * Finds the addresses of a service from any one of them, by requests without credentials.
 * @param text as typed: with or without the scheme, a final slash, a path of the service or a
 * query; http becomes https, except for this machine or with `allow_http`
 * @param settings those of the network, `allow_http`, `prefix` and `schema_version` are used; a
 * given `oai_base` or `schema_base` is not looked for
 * @returns what was found, which may be a part, with a given `oai_base`; a silent service and an
 * unusable proxy are a `problem`, not an error
 * @throws ConfigError where the text is no address, without quoting it
 */
export async function discoverService(
  context: Context,
  text: string,
  settings: ProfileSettings,
): Promise<FoundService> {
  const start = parseStartAddress(text, settings.allow_http === true);
  const { send } = await context.openConnections(settings);
  const probing = new Probing(send, settings);
  await probing.probeAddresses(new URL(start).origin, listParentFolders(start));
  for (const origin of listSiblingHosts(start, probing.prefix)) {
    if (probing.isComplete) break;
    await probing.probeAddresses(origin, [origin]);
  }
  await probing.probeSchema();
  return { settings: probing.getSettings(), problem: probing.problem };
}

/**
 * Returns the normalised address without query and without the service's own paths at its end.
 * @throws ConfigError for a text that is no address, without quoting it: it may contain a password
 */
function parseStartAddress(address: string, allowHttp: boolean): string {
  const text = address.trim();
  const host = /^(?:https?:\/\/)?(\[[\da-f:]+\]|[^/:?#]+)/i.exec(text)?.[1] ?? '';
  const url = /^https?:\/\//i.test(text)
    ? text
    : `${isLoopback(host) ? 'http' : 'https'}://${text}`;
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (
    parsed === undefined ||
    !/[.:]|^localhost$/.test(parsed.hostname) ||
    parsed.username !== '' ||
    parsed.password !== ''
  )
    throw new ConfigError(
      t`This is not an address of a service: it must be like https://finds.example.org, without a user name.`,
    );
  // Not left to the service's redirect to https, which could be forged.
  if (parsed.protocol === 'http:' && !isLoopback(parsed.hostname) && !allowHttp)
    parsed.protocol = 'https:';
  const path = parsed.pathname.replace(OWN_PATHS, '').replace(/(?<!\/)\/+$/, '');
  return requireAddress('pas init: base_url', `${parsed.origin}${path}`);
}

/** Returns the address itself and the folders above it, the nearest first, the host last. */
function listParentFolders(start: string): string[] {
  const { origin, pathname } = new URL(start);
  const names = pathname.split('/').filter((name) => name !== '');
  const folders = names
    .map((_, index) => `${origin}/${names.slice(0, index + 1).join('/')}`)
    .reverse();
  return [...folders.slice(0, MAX_FOLDERS), origin];
}

/**
 * Returns the addresses of other usual hosts in the same domain, with the scheme and port of
 * `start`: `api.`, the prefix of the service, none, and `www.` before the domain. A numeric address
 * and this machine have none.
 */
function listSiblingHosts(start: string, prefix: string): string[] {
  const { protocol, hostname, port } = new URL(start);
  if (isLoopback(hostname) || /^[\d.]+$|^\[/.test(hostname)) return [];
  const [, ...above] = hostname.split('.');
  const domain = isOwnDomain(above) ? above.join('.') : hostname;
  const hosts = [`api.${domain}`, `${prefix}.${domain}`, domain, `www.${domain}`];
  const origins = hosts.map((host) => `${protocol}//${host}${port === '' ? '' : `:${port}`}`);
  return origins.filter((origin) => origin !== new URL(start).origin);
}

/** Distinguishes a domain of one owner from `org` and `co.uk`. */
function isOwnDomain(labels: readonly string[]): boolean {
  const [first = '', last = ''] = labels;
  return labels.length > 2 || (labels.length === 2 && !(first.length <= 3 && last.length === 2));
}

/** The probes of one command, which share a time limit; they only add to what was found before. */
class Probing {
  readonly #send: Exchange;
  readonly #settings: ProfileSettings;
  readonly #signal = AbortSignal.timeout(MAX_PROBING_MS);
  #base: string | undefined;
  #oaiBase: string | undefined;
  #schema: { readonly base: string; readonly prefix: string } | undefined;
  #kind: 'production' | 'training' | undefined;
  #problem: string | undefined;

  constructor(send: Exchange, settings: ProfileSettings) {
    this.#send = send;
    this.#settings = settings;
    this.#oaiBase = settings.oai_base;
  }

  get prefix(): string {
    return this.#schema?.prefix ?? this.#settings.prefix ?? 'svc';
  }

  get isComplete(): boolean {
    return this.#base !== undefined && this.#oaiBase !== undefined;
  }

  /** Reason for which the first address gave no result; undefined where an interface was found. */
  get problem(): string | undefined {
    return this.#base === undefined && this.#oaiBase === undefined ? this.#problem : undefined;
  }

  /**
   * Probes for the interfaces below each of these addresses of one host, until both are found, the
   * host does not answer or the time is over. The first host without a result is the `problem`.
   */
  async probeAddresses(origin: string, addresses: readonly string[]): Promise<void> {
    for (const address of addresses) {
      if (this.isComplete || this.#signal.aborted) return;
      const silence = await Promise.all([
        this.#base === undefined ? this.#probeWriting(address) : undefined,
        this.#oaiBase === undefined ? this.#probeHarvesting(address) : undefined,
      ]);
      const why = silence.find((reason) => reason !== undefined);
      if (why !== undefined) {
        this.#problem ??= t`${origin} does not answer: ${why}.`;
        return;
      }
    }
    this.#problem ??= t`${origin} answers, but is not a finds service.`;
  }

  /**
   * Looks for the schema, unless it is given or no write interface was found. That of the write
   * interface counts before that of the harvesting interface, since it checks documents.
   */
  async probeSchema(): Promise<void> {
    if (this.#settings.schema_base !== undefined || this.#base === undefined) return;
    if (this.#schema === undefined && this.#oaiBase !== undefined)
      await this.#probeHarvesting(this.#oaiBase);
    const { prefix } = this;
    const version = this.#settings.schema_version ?? '2.2';
    const url = `${this.#base}/schema/${prefix}/${version}/${prefix}.xsd`;
    let text = '';
    await runProbe(this.#send, async (send) => {
      const { status, body } = await this.#get(url, send);
      if (status === 200) text = body.toString('utf8');
    });
    const [, base, its] = /\btargetNamespace="(https?:\/\/[^"\s]+)\/(\d+\.\d+)\/"/.exec(text) ?? [];
    if (base !== undefined && its === version) this.#schema = { base, prefix };
  }

  /** Returns the settings that were found, and a given `oai_base`; the others are absent. */
  getSettings(): ProfileSettings {
    const base = this.#base;
    // A training instance has no harvesting interface of its own.
    const isProduction = base !== undefined && base === this.#oaiBase;
    const found: ProfileSettings = {
      base_url: base,
      oai_base: this.#oaiBase,
      schema_base: this.#schema?.base,
      prefix: this.prefix === 'svc' ? undefined : this.prefix,
      kind: this.#kind ?? (isProduction ? 'production' : undefined),
    };
    return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  }

  /**
   * Looks for the write interface: its account page asks for a token.
   * @returns the reason why there is no answer at all; undefined for any answer
   */
  async #probeWriting(address: string): Promise<string | undefined> {
    return runProbe(this.#send, async (send) => {
      const { status, headers, at } = await this.#get(`${address}${ACCOUNT_PATH}`, send);
      if (
        status !== 401 ||
        !/^bearer\b/i.test(headers['www-authenticate'] ?? '') ||
        !at.endsWith(ACCOUNT_PATH)
      )
        return;
      this.#base = at.slice(0, -ACCOUNT_PATH.length);
      if (MOCK_SERVER.test(headers['server'] ?? '')) this.#kind = 'training';
    });
  }

  /**
   * Looks for the harvesting interface, also for the schema in its list of formats.
   * @returns the reason why there is no answer at all; undefined for any answer
   */
  async #probeHarvesting(address: string): Promise<string | undefined> {
    return runProbe(this.#send, async (send) => {
      let at = '';
      const exchange: Exchange = (request) => {
        at = request.url;
        return send(request);
      };
      const client = openOaiClient({
        oaiBase: address,
        credentials: { kind: 'none' },
        exchange,
        answerTimeoutMs: PROBE_TIMEOUT_MS,
        maxAnswerBytes: MAX_PROBED_BYTES,
      });
      for (const { prefix, namespace } of await client.listMetadataFormats(
        undefined,
        this.#withTimeout(),
      )) {
        // The namespace of the service's own format is `{schema_base}/<x.y>/` (S-NAME-2).
        const [, base] = /^(.+)\/\d+\.\d+\/$/.exec(namespace) ?? [];
        if (base === undefined || !prefix.startsWith('oai_')) continue;
        this.#schema = { base, prefix: prefix.slice('oai_'.length) };
        this.#oaiBase ??= /^(.+?)(?:\/\d+\.\d+)?\/oai\?/.exec(at)?.[1];
      }
    });
  }

  /** @returns the answer, and the address after redirects */
  async #get(url: string, send: Exchange): Promise<HttpResponse & { readonly at: string }> {
    let at = url;
    const get = makeRedirectFollower(url, (request) => {
      at = request.url.replace(/\?$/, '');
      return send({ ...request, url: at });
    });
    const options = {
      answerTimeoutMs: PROBE_TIMEOUT_MS,
      maxAnswerBytes: MAX_PROBED_BYTES,
      signal: this.#withTimeout(),
    };
    return { ...(await get('', undefined, options)), at };
  }

  /** Limits also the time of connecting. */
  #withTimeout(): AbortSignal {
    return AbortSignal.any([this.#signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
  }
}

/**
 * Runs a probe. Its errors of pas are not thrown: after an answer they only mean that the probe
 * found nothing.
 * @returns the reason of a missing answer; undefined for any answer
 */
async function runProbe(
  send: Exchange,
  probe: (send: Exchange) => Promise<void>,
): Promise<string | undefined> {
  let isAnswered = false;
  try {
    await probe(async (request) => {
      const response = await send(request);
      isAnswered = true;
      return response;
    });
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof LocalizedError)) throw thrown;
    if (isAnswered) return undefined;
    const seconds = PROBE_TIMEOUT_MS / 1000;
    // Nothing but the time limit interrupts a probe.
    if (thrown instanceof InterruptedError)
      return t`the answer took longer than ${seconds} seconds`;
    return getErrorMessage(thrown.cause instanceof TransportError ? thrown.cause : thrown);
  }
}

/** A profile has only a few lines. */
const MAX_PROFILE_BYTES = 64 * 1024;

/**
 * Reads the settings that an institution publishes as TOML: the keys of a profile alone, or one
 * `[profiles.NAME]` as in config.toml, beside which other keys are ignored. Nothing is stored.
 * @param from a file, or an address of https or of this machine, which may not redirect, and whose
 * answer has at most 64 KiB
 * @param settings only those of the network are used, for an address
 * @throws ConfigError where the settings are invalid or have `allow_http`, and for an address that
 * cannot be parsed, is unprotected or answers with another status than 200; UnavailableError where
 * it does not answer; FileError where the file cannot be read
 */
export async function fetchSharedProfile(
  context: Context,
  from: string,
  settings: ProfileSettings,
): Promise<ProfileSettings> {
  const isAddress = /^https?:\/\//i.test(from);
  // Errors do not show a password in the address.
  const shown = isAddress ? from.replace(/\/\/[^/]*@/, '//***@') : from;
  const bytes = isAddress
    ? await fetchProfileText(context, from, shown, settings)
    : await readInputFile(from);
  const text = bytes.toString('utf8');
  const read = parseToml(shown, text);
  const profiles = isPlainObject(read['profiles']) ? Object.values(read['profiles']) : [];
  const table = profiles.length === 1 ? profiles[0] : read;
  const offered = parseProfileSettings(shown, table);
  // Only the user may allow unprotected passwords in a network.
  if (offered.allow_http !== undefined)
    throw new ConfigError(t`${shown} allows addresses without TLS.`, {
      hint: t`If the network is your own, add --set allow_http=true.`,
    });
  return offered;
}

/** @param shown the address in errors */
async function fetchProfileText(
  context: Context,
  url: string,
  shown: string,
  settings: ProfileSettings,
): Promise<Buffer> {
  // Not quoted: a password in it may be anywhere.
  if (!URL.canParse(url))
    throw new ConfigError(
      t`This is not an address of a profile: it must be like https://museum.example.org/finds-profile.toml.`,
    );
  if (!isProtectedAddress(url))
    throw new ConfigError(
      t`${shown} is not protected by TLS: the profile could be changed in transit.`,
    );
  const { send } = await context.openConnections(settings);
  const { status, body } = await send({
    method: 'GET',
    url,
    answerTimeoutMs: 30_000,
    maxAnswerBytes: MAX_PROFILE_BYTES,
  }).catch((thrown: unknown) => {
    if (!(thrown instanceof TransportError)) throw thrown;
    throw makeNoAnswerError(shown, thrown, t`Check the network and the address.`);
  });
  if (status === 200) return body;
  throw new ConfigError(t`${shown} answered with status ${status}, not with a profile.`);
}
