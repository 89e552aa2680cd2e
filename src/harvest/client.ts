import type { Clock } from '../base/clock.ts';
import { OaiError } from '../base/errors.ts';
import { msg, t } from '../base/message.ts';
import {
  getAttribute,
  getChild,
  getChildren,
  getChildText,
  type XmlDocument,
  type XmlElement,
} from '../base/xml/element.ts';
import {
  MalformedAnswerError,
  type OaiArguments,
  type OaiRecord,
  parseDatestampMs,
  parseOaiRecord,
  RUN_AGAIN,
} from './protocol.ts';
import {
  makeRequestSender,
  type OaiAnswer,
  type RequestOptions,
  type SendRequest,
} from './send-request.ts';

/** OAI-PMH 2.0, section 4.2. */
export type Identity = {
  readonly repositoryName: string;
  readonly baseUrl: string;
  readonly protocolVersion: string;
  readonly adminEmails: readonly string[];
  readonly earliestDatestamp: string;
  readonly deletedRecord: string;
  readonly granularity: string;
  readonly compressions: readonly string[];
  readonly descriptions: readonly XmlElement[];
  /** The server's clock when it answered, milliseconds since 1970 UTC. */
  readonly responseDateMs: number;
};

/** OAI-PMH 2.0, section 4.4. */
export type MetadataFormat = {
  readonly prefix: string;
  readonly schema: string;
  readonly namespace: string;
};

/** OAI-PMH 2.0, section 4.6. */
export type OaiSet = {
  readonly setSpec: string;
  readonly name: string;
  readonly descriptions: readonly XmlElement[];
};

type Paging = {
  /** Token of the next page; undefined on the last page. */
  readonly next: string | undefined;
  readonly completeListSize: number | undefined;
  /** Position of the first item in the whole list. */
  readonly cursor: number | undefined;
  readonly tokenExpiresMs: number | undefined;
  readonly responseDateMs: number;
  readonly document: XmlDocument;
};

/** One page of a list (OAI-PMH 2.0, section 3.5), with its items in the order of the service. */
export type ListPage<Item> = Paging & {
  readonly items: readonly Item[];
};

/** The verbs from which a list of records can be read. */
export type PageSource = {
  /** Sends ListIdentifiers, and returns records with only a header. */
  readonly listHeaders: FetchPage<OaiRecord>;
  readonly listRecords: FetchPage<OaiRecord>;
};

/** The six verbs of OAI-PMH at one endpoint; see {@link openOaiClient}. */
export type OaiClient = PageSource & {
  readonly sendRequest: SendRequest;
  identify(signal?: AbortSignal): Promise<Identity>;
  listMetadataFormats(identifier?: string, signal?: AbortSignal): Promise<MetadataFormat[]>;
  listSets(args?: OaiArguments, signal?: AbortSignal): Promise<ListPage<OaiSet>>;
  /** @param identifier in its full or its short form */
  getRecord(identifier: string, metadataPrefix: string, signal?: AbortSignal): Promise<OaiRecord>;
};

type OaiClientOptions = RequestOptions & {
  /** `{oai_base}`, without a slash at the end. */
  readonly oaiBase: string;
  /** Such as `2.2`; undefined for the generic endpoint, which serves the newest. */
  readonly version?: string;
};

/**
 * Makes a client for one endpoint; nothing is sent yet. Its functions throw as {@link SendRequest},
 * and OaiError `malformed` for an answer that lacks the record, or has one without a valid header.
 */
export function openOaiClient(options: OaiClientOptions): OaiClient {
  const { oaiBase, version } = options;
  const endpoint = version === undefined ? `${oaiBase}/oai` : `${oaiBase}/${version}/oai`;
  const sendRequest = makeRequestSender(endpoint, options);
  return {
    sendRequest,
    identify: async (signal) => parseIdentity(await sendRequest('Identify', {}, signal)),
    listMetadataFormats: async (identifier, signal) => {
      const full = identifier && toFullIdentifier(oaiBase, identifier);
      const { element } = await sendRequest('ListMetadataFormats', { identifier: full }, signal);
      return getChildren(element, 'metadataFormat').map(parseFormat);
    },
    listSets: async (args = {}, signal) => {
      const answer = await sendRequest('ListSets', args, signal);
      const items = getChildren(answer.element, 'set').map(parseSet);
      return { ...parsePaging(answer), items };
    },
    listHeaders: async (args, signal) =>
      parsePage(await sendRequest('ListIdentifiers', args, signal)),
    listRecords: async (args, signal) => parsePage(await sendRequest('ListRecords', args, signal)),
    getRecord: async (identifier, metadataPrefix, signal) => {
      const full = toFullIdentifier(oaiBase, identifier);
      const args = { identifier: full, metadataPrefix };
      const { element, body } = await sendRequest('GetRecord', args, signal);
      const found = getChild(element, 'record');
      const record = found === undefined ? undefined : parseOaiRecord(found);
      if (record !== undefined) return record;
      throw new MalformedAnswerError(
        t`The service did not send a complete record for ${identifier}.`,
        body,
      );
    },
  };
}

/**
 * Returns the full form of an identifier, `{oai_base}/id/…` (B-RECORD-1), which alone the service
 * knows. An identifier that begins with a scheme, such as `https:`, is returned unchanged.
 */
export function toFullIdentifier(oaiBase: string, identifier: string): string {
  return /^[a-z][\w.+-]*:/i.test(identifier) ? identifier : `${oaiBase}/id/${identifier}`;
}

function parsePage(answer: OaiAnswer): ListPage<OaiRecord> {
  const elements = answer.element.children.filter(
    ({ name }) => name === 'record' || name === 'header',
  );
  const items = elements.map((element, index) => {
    const record = parseOaiRecord(element);
    if (record !== undefined) return record;
    const position = index + 1;
    throw new MalformedAnswerError(
      t`The service sent a page with an unreadable record: record ${position} has no identifier, an invalid datestamp or an unknown status.`,
      answer.body,
    );
  });
  return { ...parsePaging(answer), items };
}

/**
 * Parses token, count and position. An absent and an empty token both end the list; some services
 * end it by an empty page.
 */
function parsePaging({ element, document, responseDateMs }: OaiAnswer): Paging {
  const token = getChild(element, 'resumptionToken');
  const text = token?.text.trim();
  return {
    next: text === '' ? undefined : text,
    completeListSize: parseCount(token, 'completeListSize'),
    cursor: parseCount(token, 'cursor'),
    tokenExpiresMs:
      token === undefined
        ? undefined
        : parseDatestampMs(getAttribute(token, 'expirationDate') ?? ''),
    responseDateMs,
    document,
  };
}

/** Parses an attribute of a token; undefined where it is absent or no whole number. */
function parseCount(token: XmlElement | undefined, name: string): number | undefined {
  const text = token === undefined ? undefined : getAttribute(token, name)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function parseIdentity({ element, responseDateMs }: OaiAnswer): Identity {
  const getText = (name: string): string => getChildText(element, name) ?? '';
  const getTexts = (name: string): string[] =>
    getChildren(element, name).map((child) => child.text.trim());
  return {
    repositoryName: getText('repositoryName'),
    baseUrl: getText('baseURL'),
    protocolVersion: getText('protocolVersion'),
    adminEmails: getTexts('adminEmail'),
    earliestDatestamp: getText('earliestDatestamp'),
    deletedRecord: getText('deletedRecord'),
    granularity: getText('granularity'),
    compressions: getTexts('compression'),
    descriptions: getChildren(element, 'description').flatMap(({ children }) => children),
    responseDateMs,
  };
}

function parseFormat(element: XmlElement): MetadataFormat {
  return {
    prefix: getChildText(element, 'metadataPrefix') ?? '',
    schema: getChildText(element, 'schema') ?? '',
    namespace: getChildText(element, 'metadataNamespace') ?? '',
  };
}

function parseSet(element: XmlElement): OaiSet {
  return {
    setSpec: getChildText(element, 'setSpec') ?? '',
    name: getChildText(element, 'setName') ?? '',
    descriptions: getChildren(element, 'setDescription').flatMap(({ children }) => children),
  };
}

/** Requests one page of a list; see {@link SendRequest}. */
export type FetchPage<Item> = (args: OaiArguments, signal?: AbortSignal) => Promise<ListPage<Item>>;

/** A list, and how its pages are requested. */
export type PagesOptions<Item> = {
  readonly fetchPage: FetchPage<Item>;
  /** Arguments of the list, or `{ resumptionToken }` to continue it. */
  readonly start: OaiArguments;
  readonly clock: Clock;
  readonly signal?: AbortSignal;
};

/**
 * Waits before a page is requested again: an overloaded service may send nonsense, or badArgument.
 */
const WAITS_AFTER_NONSENSE_MS: readonly number[] = [1000, 4000];
const WAITS_AFTER_REFUSAL_MS: readonly number[] = [1000];

const MAX_EMPTY_PAGES = 100;

/**
 * Yields the pages of a list in order, and requests the next one while the caller uses the last.
 * The list ends at an absent or empty token; a caller that stops early aborts the request under
 * way.
 * @throws OaiError `loop` where a token comes a second time, or more than 100 pages in a row are
 * empty; as {@link fetchPageWithRetry}
 */
export async function* listPages<Item>(
  options: PagesOptions<Item>,
): AsyncGenerator<ListPage<Item>> {
  const { start } = options;
  const stop = new AbortController();
  const signal =
    options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal]);
  const seenTokens = new Set(start.resumptionToken === undefined ? [] : [start.resumptionToken]);
  let emptyPages = 0;
  const fetch = (args: OaiArguments): Promise<ListPage<Item>> => {
    const page = fetchPageWithRetry({ ...options, start: args, signal });
    // The awaiting code sees the failure; without this line, a caller that stops early would end
    // the process.
    page.catch(() => {});
    return page;
  };
  try {
    let upcoming: Promise<ListPage<Item>> | undefined = fetch(start);
    while (upcoming !== undefined) {
      const page: ListPage<Item> = await upcoming;
      const { items, next } = page;
      emptyPages = items.length === 0 ? emptyPages + 1 : 0;
      if (emptyPages > MAX_EMPTY_PAGES) throw makeEndlessError('loop');
      const isCircle = next !== undefined && seenTokens.has(next);
      // A piece of a page's text keeps the whole page in memory; a copy does not.
      if (next !== undefined) seenTokens.add(Buffer.from(next).toString());
      upcoming = next === undefined || isCircle ? undefined : fetch({ resumptionToken: next });
      yield page;
      if (isCircle) throw makeEndlessError('loop');
    }
  } finally {
    stop.abort();
  }
}

/**
 * Makes the error of a list whose pages form a loop, or that is longer than it can be (`endless`).
 */
export function makeEndlessError(oaiCode: 'loop' | 'endless'): OaiError {
  const message = msg`The list of the service repeats itself or does not end.`;
  return new OaiError(oaiCode, message, { hint: RUN_AGAIN });
}

/**
 * Requests the page at which `start` begins: again after 1 s and after 4 s while the answer is
 * malformed, and once after 1 s for `badArgument`. A token that is refused after a malformed answer
 * counts as malformed, since the service need not repeat a page.
 * @throws as {@link SendRequest}: the error of the last answer; for such a token, that of the
 * malformed one
 */
export async function fetchPageWithRetry<Item>({
  fetchPage,
  start,
  clock,
  signal,
}: PagesOptions<Item>): Promise<ListPage<Item>> {
  let malformed: MalformedAnswerError | undefined;
  for (let tries = 0; ; tries++) {
    try {
      return await fetchPage(start, signal);
    } catch (thrown) {
      if (thrown instanceof MalformedAnswerError) malformed = thrown;
      // The next page may have been requested, and the service then need not repeat this one.
      const failure = malformed !== undefined && isRefusedToken(thrown) ? malformed : thrown;
      const waitMs = chooseWaits(failure)[tries];
      if (waitMs === undefined) throw failure;
      // The fetch below throws the reason of an interrupted wait.
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}

/**
 * Tells if an error is the answer to a token that the service does not know any more
 * (`badResumptionToken` or `noRecordsMatch`); the caller must know that the request had a token.
 */
export function isRefusedToken(thrown: unknown): boolean {
  return hasCode(thrown, ['badResumptionToken', 'noRecordsMatch']);
}

/** Tells if an error may be how a service ends a list: a refused token, or pages in a loop. */
export function isPossibleEndOfList(thrown: unknown): boolean {
  return isRefusedToken(thrown) || hasCode(thrown, ['loop']);
}

function hasCode(thrown: unknown, codes: readonly string[]): boolean {
  return thrown instanceof OaiError && codes.includes(thrown.oaiCode);
}

function chooseWaits(thrown: unknown): readonly number[] {
  if (thrown instanceof MalformedAnswerError) return WAITS_AFTER_NONSENSE_MS;
  return hasCode(thrown, ['badArgument']) ? WAITS_AFTER_REFUSAL_MS : [];
}
