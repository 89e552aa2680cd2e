import { t } from '../base/language.ts';
import { childText, getAttribute, getChild, getChildren, type XmlDocument, type XmlElement } from '../xml/element.ts';
import { type Ask, type AskOptions, makeAsk, type OaiAnswer, type OnToken, parseDocument } from './ask.ts';
import { type BrokenRecord, MalformedAnswerError, recoverPage } from './malformed-error.ts';
import { datestampMs, type OaiArguments } from './protocol.ts';
import { type OaiHeader, type OaiRecord, parseHeader, parseHeaderAlone, parseRecord } from './record.ts';

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

export type MetadataFormat = { readonly prefix: string; readonly schema: string; readonly namespace: string };

export type OaiSet = { readonly setSpec: string; readonly name: string; readonly descriptions: readonly XmlElement[] };

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

export type ListPage<Item> = Paging & {
  readonly items: readonly Item[];
  /** Records that were left out of a page that was salvaged; elsewhere none. */
  readonly broken: readonly BrokenRecord[];
};

/** The requests of a harvest. */
export type PageSource = {
  /** Sends ListIdentifiers, and returns records with only a header. */
  listHeaders(args: OaiArguments, signal?: AbortSignal, onToken?: OnToken): Promise<ListPage<OaiRecord>>;
  listRecords(args: OaiArguments, signal?: AbortSignal, onToken?: OnToken): Promise<ListPage<OaiRecord>>;
  /** Returns the readable records of a malformed page of ListRecords; undefined where there are none. */
  salvageRecords(error: MalformedAnswerError): ListPage<OaiRecord> | undefined;
  /** Returns one record as a page. */
  getRecordPage(identifier: string, metadataPrefix: string, signal?: AbortSignal): Promise<ListPage<OaiRecord>>;
};

/** The six verbs. Throws what {@link makeAsk} describes. */
export type OaiClient = PageSource & {
  readonly ask: Ask;
  identify(signal?: AbortSignal): Promise<Identity>;
  listMetadataFormats(identifier?: string, signal?: AbortSignal): Promise<MetadataFormat[]>;
  listSets(args?: OaiArguments, signal?: AbortSignal): Promise<ListPage<OaiSet>>;
  listIdentifiers(args: OaiArguments, signal?: AbortSignal, onToken?: OnToken): Promise<ListPage<OaiHeader>>;
  /** @param identifier the full identifier, or the bare one of the record */
  getRecord(identifier: string, metadataPrefix: string, signal?: AbortSignal): Promise<OaiRecord>;
};

export type OaiClientOptions = AskOptions & {
  /** `{oai_base}`, without a slash at the end. */
  readonly oaiBase: string;
  /** Such as `2.2`; without it the generic endpoint, which serves the newest. */
  readonly version?: string;
};

/** Opens a client for one endpoint; nothing is sent yet. */
export function openOaiClient(options: OaiClientOptions): OaiClient {
  const { oaiBase, version } = options;
  const endpoint = version === undefined ? `${oaiBase}/oai` : `${oaiBase}/${version}/oai`;
  const ask = makeAsk(endpoint, options);
  const askRecord = async (identifier: string, metadataPrefix: string, signal?: AbortSignal) => {
    const answer = await ask('GetRecord', { identifier: fullIdentifier(oaiBase, identifier), metadataPrefix }, signal);
    const element = getChild(answer.element, 'record');
    const record = element === undefined ? undefined : parseRecord(element);
    if (record !== undefined) return { answer, record };
    throw new MalformedAnswerError(t`The service did not send a complete record for ${identifier}.`, answer.body);
  };
  return {
    ask,
    identify: async (signal) => parseIdentity(await ask('Identify', {}, signal)),
    listMetadataFormats: async (identifier, signal) => {
      const args = identifier === undefined ? {} : { identifier: fullIdentifier(oaiBase, identifier) };
      const { element } = await ask('ListMetadataFormats', args, signal);
      return getChildren(element, 'metadataFormat').map(parseFormat);
    },
    listSets: async (args = {}, signal) => {
      const answer = await ask('ListSets', args, signal);
      return { ...parsePaging(answer), items: getChildren(answer.element, 'set').map(parseSet), broken: [] };
    },
    listIdentifiers: async (args, signal, onToken) =>
      parseWholePage(await ask('ListIdentifiers', args, signal, onToken), parseHeader),
    listHeaders: async (args, signal, onToken) =>
      parseWholePage(await ask('ListIdentifiers', args, signal, onToken), parseHeaderAlone),
    listRecords: async (args, signal, onToken) => parseWholePage(await ask('ListRecords', args, signal, onToken), parseRecord),
    salvageRecords: ({ body }) => {
      const salvaged = recoverPage(body);
      if (salvaged === undefined) return undefined;
      const page = parsePage(parseDocument('ListRecords', endpoint, salvaged.document, body), parseRecord);
      return { ...page, broken: [...salvaged.broken, ...page.broken] };
    },
    getRecord: async (identifier, metadataPrefix, signal) => (await askRecord(identifier, metadataPrefix, signal)).record,
    getRecordPage: async (identifier, metadataPrefix, signal) => {
      const { answer, record } = await askRecord(identifier, metadataPrefix, signal);
      return { ...parsePaging(answer), items: [record], broken: [] };
    },
  };
}

/** Reads the headers of records alone, wherever a harvest reads records. */
export function headersOnly(client: PageSource): PageSource {
  return {
    listHeaders: client.listHeaders,
    listRecords: client.listHeaders,
    salvageRecords: () => undefined,
    getRecordPage: async (...request) => {
      const page = await client.getRecordPage(...request);
      return { ...page, items: page.items.flatMap(({ element }) => parseHeaderAlone(element) ?? []) };
    },
  };
}

/** Only a full identifier is known to the service; a bare one is completed as the contract's headers have it. */
export function fullIdentifier(oaiBase: string, identifier: string): string {
  return /^[a-z][\w.+-]*:/i.test(identifier) ? identifier : `${oaiBase}/id/${identifier}`;
}

type ReadItem<Item> = (element: XmlElement) => Item | undefined;

function parsePage<Item>(answer: OaiAnswer, read: ReadItem<Item>): ListPage<Item> {
  const elements = answer.element.children.filter(({ name }) => name === 'record' || name === 'header');
  const items = elements.map((element) => read(element));
  const broken = items.flatMap((item, index) =>
    item === undefined ? [{ identifier: undefined, reason: describeUnusable(index + 1) }] : [],
  );
  return { ...parsePaging(answer), items: items.filter((item) => item !== undefined), broken };
}

function describeUnusable(position: number): string {
  return t`record ${position} has no identifier, no usable datestamp, or an unknown status`;
}

function parseWholePage<Item>(answer: OaiAnswer, read: ReadItem<Item>): ListPage<Item> {
  const page = parsePage(answer, read);
  const [first] = page.broken;
  if (first !== undefined) throw new MalformedAnswerError(t`The service sent a page in which ${first.reason}.`, answer.body);
  return page;
}

/** An absent token and an empty one both end the list; deployed services also end it by an empty page without one. */
function parsePaging({ element, document, responseDateMs }: OaiAnswer): Paging {
  const token = getChild(element, 'resumptionToken');
  const text = token?.text.trim();
  return {
    next: text === '' ? undefined : text,
    completeListSize: count(token, 'completeListSize'),
    cursor: count(token, 'cursor'),
    tokenExpiresMs: token === undefined ? undefined : datestampMs(getAttribute(token, 'expirationDate') ?? ''),
    responseDateMs,
    document,
  };
}

function count(token: XmlElement | undefined, name: string): number | undefined {
  const text = token === undefined ? undefined : getAttribute(token, name)?.trim();
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function parseIdentity({ element, responseDateMs }: OaiAnswer): Identity {
  const text = (name: string): string => childText(element, name) ?? '';
  const texts = (name: string): string[] => getChildren(element, name).map((child) => child.text.trim());
  return {
    repositoryName: text('repositoryName'),
    baseUrl: text('baseURL'),
    protocolVersion: text('protocolVersion'),
    adminEmails: texts('adminEmail'),
    earliestDatestamp: text('earliestDatestamp'),
    deletedRecord: text('deletedRecord'),
    granularity: text('granularity'),
    compressions: texts('compression'),
    descriptions: getChildren(element, 'description').flatMap(({ children }) => children),
    responseDateMs,
  };
}

function parseFormat(element: XmlElement): MetadataFormat {
  return {
    prefix: childText(element, 'metadataPrefix') ?? '',
    schema: childText(element, 'schema') ?? '',
    namespace: childText(element, 'metadataNamespace') ?? '',
  };
}

function parseSet(element: XmlElement): OaiSet {
  return {
    setSpec: childText(element, 'setSpec') ?? '',
    name: childText(element, 'setName') ?? '',
    descriptions: getChildren(element, 'setDescription').flatMap(({ children }) => children),
  };
}
