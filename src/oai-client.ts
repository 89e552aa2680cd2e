import { systemClock } from './base/clock.ts';
import { parseAddress } from './connection.ts';
import {
  type FetchPage,
  type Identity,
  listPages,
  type MetadataFormat,
  type OaiSet,
  openOaiClient,
} from './harvest/client.ts';
import type { OaiHeader, OaiRecord } from './harvest/protocol.ts';
import {
  type Json,
  type RepeatedElements,
  readRepeatedElements,
  toRecordJson,
} from './harvest/record-json.ts';
import type { OaiCredentials } from './harvest/send-request.ts';
import { withRetry } from './service/http/exchange.ts';
import { openConnections } from './service/http/send.ts';

export { OaiError, PasError } from './base/errors.ts';
export type { XmlElement } from './base/xml/element.ts';
export type { Identity, MetadataFormat, OaiSet } from './harvest/client.ts';
export type { OaiHeader, OaiRecord } from './harvest/protocol.ts';
export type { Json } from './harvest/record-json.ts';
export type { OaiCredentials } from './harvest/send-request.ts';

export type HarvesterOptions = {
  /** `{oai_base}`, with or without a final slash. */
  readonly oaiBase: string;
  /**
   * Schema version of the endpoint; default `2.2`. `newest` is the generic endpoint, which
   * redirects to the newest.
   */
  readonly version?: string;
  /** Default: anonymous. */
  readonly credentials?: OaiCredentials;
  /** Called before each pause, so that the program can show the reason. */
  readonly onWait?: (waitMs: number, reason: string) => void;
  /** Maximum wait for an answer, in milliseconds; default 120000. */
  readonly answerTimeoutMs?: number;
  /** Send credentials to an address without TLS; to this machine that is always allowed. */
  readonly allowHttp?: boolean;
};

/**
 * Selection of a list. Dates are datestamps of the protocol, such as `2024-06-01` or
 * `2024-06-01T10:00:00Z`, both inclusive.
 */
export type ListOptions = {
  /** Such as `oai_svc` or `oai_dc`. */
  readonly metadataPrefix: string;
  readonly set?: string;
  readonly from?: string;
  readonly until?: string;
  readonly signal?: AbortSignal;
};

/**
 * The harvesting interface. Lists are read page by page, and the next page is prefetched;
 * truncated, throttled and malformed answers are requested again. Other failures are thrown:
 * OaiError for the protocol's own errors (`oaiCode`), AuthError, UnavailableError.
 */
export type Harvester = AsyncDisposable & {
  identify(): Promise<Identity>;
  /** @param identifier of a record; without it, the formats of the whole repository */
  formats(identifier?: string): Promise<readonly MetadataFormat[]>;
  sets(): AsyncIterable<OaiSet>;
  /** Yields only headers: changes and deletions. */
  headers(list: ListOptions): AsyncIterable<OaiHeader>;
  records(list: ListOptions): AsyncIterable<OaiRecord>;
  /** @param identifier in full, or as in the record, such as `HES-000253` */
  record(identifier: string, metadataPrefix: string): Promise<OaiRecord>;
  /** Returns a record in the form of `pas harvest`'s JSON Lines. */
  json(record: OaiRecord): { readonly [name: string]: Json };
  close(): Promise<void>;
};

/**
 * Opens the client of a harvesting interface; nothing is requested yet.
 * ```ts
 * await using harvester = openHarvester({ oaiBase });
 * for await (const record of harvester.records({ metadataPrefix: 'oai_svc', set: 'heslo:obdobi' }))
 * …
 * ```
 * @throws ConfigError for an invalid address, or one that would send the password unencrypted
 */
export function openHarvester(options: HarvesterOptions): Harvester {
  const { version = '2.2', credentials = { kind: 'none' }, answerTimeoutMs, onWait } = options;
  const oaiBase = parseAddress(
    'oaiBase',
    options.oaiBase,
    options.allowHttp === true || credentials.kind === 'none',
  );
  const { send, close } = openConnections({
    maxConnections: 4,
    network: { environment: process.env },
  });
  const client = openOaiClient({
    oaiBase,
    version: version === 'newest' ? undefined : version,
    answerTimeoutMs,
    credentials,
    exchange: withRetry(send, {
      clock: systemClock,
      random: Math.random,
      ...(onWait === undefined
        ? {}
        : { onWait: (waitMs, reason) => onWait(waitMs, String(reason)) }),
    }),
  });
  let repeated: RepeatedElements | undefined;
  return {
    identify: () => client.identify(),
    formats: (identifier) => client.listMetadataFormats(identifier),
    sets: () => fetchItems(client.listSets, {}),
    headers: async function* (list) {
      for await (const { header } of fetchItems(client.listHeaders, list)) yield header;
    },
    records: (list) => fetchItems(client.listRecords, list),
    record: (identifier, metadataPrefix) => client.getRecord(identifier, metadataPrefix),
    json: (record) => {
      repeated ??= readRepeatedElements(version);
      return toRecordJson(record, repeated);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function* fetchItems<Item>(
  fetchPage: FetchPage<Item>,
  { signal, ...start }: Partial<ListOptions>,
): AsyncGenerator<Item> {
  for await (const { items } of listPages({ fetchPage, start, clock: systemClock, signal }))
    yield* items;
}
