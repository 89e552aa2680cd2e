import { OaiError, UsageError } from '../base/errors.ts';
import { cmd, type Message, msg, t } from '../base/message.ts';
import { getAttribute, getChild, type XmlElement } from '../base/xml/element.ts';
import { isWebPage, WEB_PAGE_ADVICE } from '../service/http/exchange.ts';

// The rules of OAI-PMH 2.0 as data: verbs with their arguments (section 4), errors (section 3.6).

export const OAI_NAMESPACE = 'http://www.openarchives.org/OAI/2.0/';
export const OAI_DC_NAMESPACE = 'http://www.openarchives.org/OAI/2.0/oai_dc/';

type ArgumentName = 'identifier' | 'metadataPrefix' | 'set' | 'from' | 'until' | 'resumptionToken';
/** Arguments of a request; those that are undefined are not sent. */
export type OaiArguments = { readonly [Name in ArgumentName]?: string };

type Rule = {
  readonly required: readonly ArgumentName[];
  readonly optional: readonly ArgumentName[];
};

const VERBS = {
  Identify: { required: [], optional: [] },
  ListMetadataFormats: { required: [], optional: ['identifier'] },
  ListSets: { required: [], optional: ['resumptionToken'] },
  ListIdentifiers: {
    required: ['metadataPrefix'],
    optional: ['set', 'from', 'until', 'resumptionToken'],
  },
  ListRecords: {
    required: ['metadataPrefix'],
    optional: ['set', 'from', 'until', 'resumptionToken'],
  },
  GetRecord: { required: ['identifier', 'metadataPrefix'], optional: [] },
} as const satisfies Record<string, Rule>;

/** A request of OAI-PMH. */
export type Verb = keyof typeof VERBS;

/** Tells if a verb has the required argument `metadataPrefix`. */
export function requiresFormat(verb: Verb): boolean {
  const { required }: Rule = VERBS[verb];
  return required.includes('metadataPrefix');
}

/** Hints of more than one error. */
export const CHECK_ADDRESS = msg`Check oai_base in the profile.`;
export const RUN_AGAIN = msg`Run the command again; what was stored is kept. If it happens again, tell the operator of the service.`;

/** Advice to a person about each error of the protocol (OAI-PMH 2.0, section 3.6). */
export const ERROR_HINTS: Readonly<Record<string, Message>> = {
  badArgument: msg`Check the set, the format and the dates. An overloaded service may give the same answer, so you can also try again later.`,
  badResumptionToken: msg`The service refuses the token, which is unknown or has expired: begin the list without it.`,
  badVerb: CHECK_ADDRESS,
  cannotDisseminateFormat: msg`See \`${cmd`pas oai formats`}\` for what this service offers.`,
  idDoesNotExist: msg`Check the identifier.`,
  noMetadataFormats: msg`Check the identifier.`,
  noRecordsMatch: RUN_AGAIN,
  noSetHierarchy: msg`This service has no sets; harvest without one.`,
};

/**
 * Asserts that a request has the arguments of its verb, with valid bounds.
 * @throws UsageError for arguments that every service refuses
 */
export function assertOaiArguments(verb: Verb, args: OaiArguments): void {
  const names = (Object.keys(args) as ArgumentName[]).filter((name) => args[name] !== undefined);
  const { required, optional }: Rule = VERBS[verb];
  const stray = names.find((name) => !required.includes(name) && !optional.includes(name));
  if (stray !== undefined) {
    const taken = [...required, ...optional].join(', ') || t`nothing`;
    throw new UsageError(t`${verb} takes no argument ${stray}; it takes: ${taken}.`);
  }
  const hasToken = args.resumptionToken !== undefined;
  const missing = [...names, ...(hasToken ? [] : required)].find((name) => !args[name]);
  if (missing !== undefined) {
    const option = missing.replace(/[A-Z]/, (letter) => `-${letter.toLowerCase()}`);
    throw new UsageError(t`The argument ${missing} of ${verb} is missing or empty.`, {
      hint: t`Specify it: --${option} VALUE`,
    });
  }
  if (hasToken && names.length > 1)
    throw new UsageError(
      t`Use a resumption token alone: it already contains the set, the format and the dates.`,
    );
  assertWindow(args);
}

/**
 * @throws UsageError where a bound is no datestamp, both differ in form, or are in reverse order
 */
function assertWindow({ from, until }: OaiArguments): void {
  for (const [name, value] of [
    ['from', from],
    ['until', until],
  ] as const) {
    if (value !== undefined && parseGranularity(value) === undefined) {
      throw new UsageError(
        t`${name} is "${value}", which is not a date that the service can read.`,
        {
          hint: t`Write 2025-06-18 or 2025-06-18T08:30:00Z (UTC).`,
        },
      );
    }
  }
  if (from === undefined || until === undefined) return;
  if (parseGranularity(from) !== parseGranularity(until))
    throw new UsageError(t`from and until must both be dates or both be times.`);
  if (from > until) throw new UsageError(t`from (${from}) is later than until (${until}).`);
}

/**
 * Builds the query string: the verb first, a resumption token last (B-TOKEN-1); arguments that are
 * undefined are left out.
 */
export function buildOaiQuery(verb: Verb, args: OaiArguments): string {
  const { resumptionToken, ...otherArgs } = args;
  const query = new URLSearchParams({ verb });
  for (const [name, value] of Object.entries(otherArgs))
    if (value !== undefined) query.append(name, value);
  if (resumptionToken !== undefined) query.append('resumptionToken', resumptionToken);
  return query.toString();
}

/** Returns the name of a set for people; the empty name, which is all records, as a word. */
export function formatSetName(setSpec: string): string {
  return setSpec === '' ? t`everything` : setSpec;
}

// Datestamps of OAI-PMH 2.0, section 3.3; milliseconds are read as well, since services send them.

/** Unit of the datestamps of a service (Identify). */
export type Granularity = 'day' | 'second';

export const DAY_MS = 86_400_000;

const DAY_LENGTH = 'YYYY-MM-DD'.length;
const DATESTAMP = /^\d{4}-\d{2}-(\d{2})(?:T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?Z)?$/;

/**
 * Parses a datestamp into milliseconds since 1970 UTC; that of a day is its beginning. Undefined
 * where the text is no date or time in UTC, or the day is not in the calendar.
 */
export function parseDatestampMs(text: string): number | undefined {
  const parts = DATESTAMP.exec(text);
  if (parts === null) return undefined;
  const ms = Date.parse(text);
  // Date.parse turns 30 February into 1 March, and a 13th month into NaN.
  return new Date(ms).getUTCDate() === Number(parts[1]) ? ms : undefined;
}

/** @param datestamp that {@link parseDatestampMs} can read */
function isDay(datestamp: string): boolean {
  return datestamp.length === DAY_LENGTH;
}

/**
 * Returns the granularity of a bound (`from`, `until`); undefined where the text is no datestamp,
 * or has fractions of a second.
 */
export function parseGranularity(text: string): Granularity | undefined {
  if (parseDatestampMs(text) === undefined || text.includes('.')) return undefined;
  return isDay(text) ? 'day' : 'second';
}

/**
 * Formats milliseconds since 1970 UTC as a datestamp, rounded down: a `from` must exclude nothing.
 */
export function formatDatestamp(ms: number, granularity: Granularity): string {
  const text = new Date(ms).toISOString();
  return granularity === 'day' ? text.slice(0, 10) : `${text.slice(0, 19)}Z`;
}

/**
 * Formats milliseconds since 1970 UTC as a datestamp, with fractions of a second rounded up: an
 * `until` must exclude nothing. That of a day is not rounded, since a day covers all its times.
 */
export function formatDatestampRoundedUp(ms: number, granularity: Granularity): string {
  return formatDatestamp(granularity === 'day' ? ms : ms + 999, granularity);
}

/**
 * Returns the last millisecond for which a datestamp may stand, since 1970 UTC: one at midnight may
 * be that of a whole day.
 */
export function getEndOfDatestampMs(datestampMs: number): number {
  return datestampMs % DAY_MS === 0 ? datestampMs + DAY_MS - 1 : datestampMs;
}

/**
 * Parses an `until` into milliseconds since 1970 UTC: the last one of its day or second.
 * @param bound text for which {@link parseGranularity} returns a granularity
 */
export function parseUntilMs(bound: string): number {
  const spanMs = isDay(bound) ? DAY_MS : 1000;
  return Date.parse(bound) + spanMs - 1;
}

/** OAI-PMH 2.0, section 2.5. */
export type OaiHeader = {
  readonly identifier: string;
  /** Source text. */
  readonly datestamp: string;
  readonly datestampMs: number;
  /** May be empty, contrary to B-RECORD-1, mostly in deleted records. */
  readonly setSpecs: readonly string[];
  readonly deleted: boolean;
};

/** OAI-PMH 2.0, section 2.5; in a list of headers without metadata. */
export type OaiRecord = {
  readonly header: OaiHeader;
  /** The element inside `metadata`; undefined for a deleted record, and where it is empty. */
  readonly metadata: XmlElement | undefined;
  /** The service lists the record, and the account may not read it. */
  readonly refused: boolean;
  readonly element: XmlElement;
};

/** Replaces content that the account may not read (B-SEE-2). */
export const REFUSAL = 'HTTP/1.1 403 Forbidden';

/** Tells if an element contains only the refusal. */
function isRefusal({ text, children }: XmlElement): boolean {
  return children.length === 0 && text.trim() === REFUSAL;
}

/**
 * Parses a `header`, bare or in a `record`. Undefined where it is incomplete, or its status is
 * unknown.
 */
function parseHeader(element: XmlElement): OaiHeader | undefined {
  const header = element.name === 'record' ? getChild(element, 'header', OAI_NAMESPACE) : element;
  if (header === undefined) return undefined;
  const setSpecs: string[] = [];
  let identifier: string | undefined;
  let datestamp: string | undefined;
  for (const { namespace, name, text } of header.children) {
    if (namespace !== OAI_NAMESPACE) continue;
    if (name === 'setSpec') setSpecs.push(text.trim());
    else if (name === 'identifier') identifier ??= text.trim();
    else if (name === 'datestamp') datestamp ??= text.trim();
  }
  const datestampMs = parseDatestampMs(datestamp ?? '');
  const status = (getAttribute(header, 'status') ?? '').trim().toLowerCase();
  if (
    identifier === undefined ||
    identifier === '' ||
    datestamp === undefined ||
    datestampMs === undefined
  )
    return undefined;
  if (status !== '' && status !== 'deleted') return undefined;
  return { identifier, datestamp, datestampMs, setSpecs, deleted: status === 'deleted' };
}

/**
 * Parses a `record`, or a bare `header`; undefined where the header is incomplete or has an unknown
 * status.
 */
export function parseOaiRecord(element: XmlElement): OaiRecord | undefined {
  const header = parseHeader(element);
  if (header === undefined) return undefined;
  const metadata = getChild(element, 'metadata', OAI_NAMESPACE)?.children[0];
  const refused = metadata !== undefined && isWithoutContent(metadata);
  return { header, metadata, refused, element };
}

/**
 * Tells if a record has only the refusal: in its root, in a nested root of Dublin Core, or in its
 * only field.
 */
function isWithoutContent(element: XmlElement): boolean {
  const [only, ...others] = element.children;
  if (only === undefined || others.length > 0) return isRefusal(element);
  if (only.namespace !== element.namespace) return isRefusal(only);
  return only.name === element.name && isWithoutContent(only);
}

/**
 * Returns the content of a record in the native format, such as `samostatny_nalez`: the first
 * element in the root of its metadata. Name and namespace are not checked, so it serves for native
 * records only. Undefined for a record without content.
 */
export function findNativeContent(record: OaiRecord): XmlElement | undefined {
  return record.metadata?.children[0];
}

/**
 * Returns the short form of an identifier, the part behind its last slash: `HES-000253` for
 * `https://host/id/HES-000253`, and for itself.
 */
export function getShortIdentifier(identifier: string): string {
  return identifier.slice(identifier.lastIndexOf('/') + 1);
}

/** An answer that is no page of OAI-PMH; the next one to the same request may be. */
export class MalformedAnswerError extends OaiError {
  /** @param body the whole answer: that of a firewall or a network is none of the service */
  constructor(message: string, body: Buffer, cause?: unknown) {
    const isPage = isWebPage({ body });
    super(
      'malformed',
      isPage
        ? t`${message} It is a web page, as a firewall or the sign-in page of a network sends.`
        : message,
      { cause, hint: isPage ? WEB_PAGE_ADVICE : RUN_AGAIN },
      isPage ? 'unavailable' : 'oaiProtocol',
    );
  }
}

/** Maximum size of a record. */
const MAX_RECORD_BYTES = 1024 * 1024;

/**
 * Returns the full identifier in the last header before a byte of an answer, by a search in the
 * source, which need not be well-formed. Undefined where that header's record has ended, and
 * without a header in the 1 MiB before the byte.
 */
export function findIdentifierBefore(body: Buffer, byte: number): string | undefined {
  const before = body.toString('latin1', Math.max(0, byte - MAX_RECORD_BYTES), byte);
  const headers = before.matchAll(
    /header[^<>]{0,99}>\s{0,99}<(?:[\w.-]{1,99}:)?identifier>\s{0,99}([^<\s]{1,999})/g,
  );
  const last = [...headers].at(-1);
  if (last === undefined) return undefined;
  const hasEnded = /<\/(?:[\w.-]{1,99}:)?record\s{0,99}>/.test(before.slice(last.index));
  return hasEnded ? undefined : last[1];
}
