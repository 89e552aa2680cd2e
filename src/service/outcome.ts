import { parseHtml } from '../base/characters.ts';
import { isPlainObject, parseJsonObject } from '../base/json-and-toml.ts';
import { type Message, msg } from '../base/message.ts';
import type { OutcomeKind } from '../base/outcomes.ts';
import { getChild } from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import { type HarvestedFind, parseHarvestedFind } from '../finds/harvested-find.ts';
import {
  type AnswerHead,
  type HttpResponse,
  isWebPage,
  parseRetryAfterMs,
  type TransportError,
} from './http/exchange.ts';
import { ChangedFileError } from './http/request-body.ts';

/**
 * One entry of `schema_errors` or `validation_errors` (A-ERROR-2). The message is for people only.
 */
export type ServerFinding = {
  readonly line: number | undefined;
  readonly message: Message;
  /** 1 missing record, 2 invalid data, 3 permission error */
  readonly errorType: number | undefined;
};

type ErrorBody =
  | { readonly kind: 'detail'; readonly detail: string }
  | { readonly kind: 'findings'; readonly findings: readonly ServerFinding[] }
  /** HTML of a proxy, an empty body, or another form that the contract does not have. */
  | { readonly kind: 'other'; readonly excerpt: string };

/** Limit of one text of the service, which is printed and stored with each refused entry. */
const MAX_QUOTED_CHARACTERS = 300;
const MAX_FINDINGS = 1000;

/**
 * Parses the body of a refusal (A-ERROR-1, A-ERROR-2); a body of any other form gives an excerpt of
 * its visible text. Each text is cut at 300 characters, and findings beyond the first 1000 are
 * dropped.
 */
export function parseErrorBody(body: Buffer): ErrorBody {
  const text = body.toString('utf8');
  const json = parseJsonObject(text);
  if (json !== undefined) {
    const list = json['schema_errors'] ?? json['validation_errors'];
    if (Array.isArray(list))
      return { kind: 'findings', findings: list.slice(0, MAX_FINDINGS).map(toFinding) };
    if (typeof json['detail'] === 'string') return { kind: 'detail', detail: cut(json['detail']) };
  }
  return { kind: 'other', excerpt: makeExcerpt(text) };
}

function toFinding(value: unknown): ServerFinding {
  const { line, message, error_type }: Record<string, unknown> = isPlainObject(value)
    ? value
    : { message: value };
  return {
    line: asWholeNumber(line),
    message: cut(typeof message === 'string' ? message : JSON.stringify(value)),
    errorType: asWholeNumber(error_type),
  };
}

/** Returns the beginning of a foreign answer without markup. */
function makeExcerpt(text: string): string {
  const visible = parseHtml(text.slice(0, 20_000)).text.replace(/\s+/g, ' ').trim();
  return cut(visible);
}

function cut(text: string): string {
  return text.length > MAX_QUOTED_CHARACTERS
    ? `${text.slice(0, MAX_QUOTED_CHARACTERS - 1)}…`
    : text;
}

function asWholeNumber(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

/** Operations of interface A, at the paths of A-GATE-2. */
export type Operation = 'import' | 'number' | 'photo';

/**
 * Meaning of an answer, or of a missing one, for the sent entry: one member for each {@link
 * OutcomeKind}.
 */
export type Outcome = {
  readonly [Kind in OutcomeKind]: { readonly kind: Kind } & OutcomeFacts[Kind];
}[OutcomeKind];

type WithDetail = { readonly detail: Message };
type Nothing = Readonly<Record<never, never>>;

type OutcomeFacts = {
  readonly accepted: { readonly identCely: string };
  /**
   * The service has the value already; after an attempt without an answer, that attempt wrote it.
   */
  readonly 'already-applied': WithDetail;
  readonly refused: WithDetail & { readonly findings: readonly ServerFinding[] };
  /**
   * A refusal whose cause may be two simultaneous imports of one project that took the same number.
   */
  readonly 'refused-unspecified': WithDetail;
  /** A refusal that is no JSON or XML of the service: a proxy or another server sent it. */
  readonly 'refused-by-intermediary': WithDetail;
  /** May concern the record or the account as a whole. */
  readonly forbidden: WithDetail & { readonly findings: readonly ServerFinding[] };
  readonly unauthorised: WithDetail;
  readonly throttled: { readonly waitMs: number | undefined };
  /** 429 without `Retry-After` on a record: its lock, or a throttle without a time (A-RATE-5). */
  readonly busy: Nothing;
  readonly closed: WithDetail;
  readonly 'not-delivered': WithDetail;
  /** The connection was lost after the first and before the last byte of the request. */
  readonly cut: WithDetail;
  readonly 'content-changed': Nothing;
  /** The service may have executed the request. */
  readonly uncertain: WithDetail & { readonly outsideContract: boolean };
};

/** Status of a success (A-IMPORT-11, A-NUMBER-7, A-PHOTO-8). */
const SUCCESS: Readonly<Record<Operation, number>> = { import: 201, number: 200, photo: 201 };

/**
 * Outcomes of other statuses (A-IMPORT-12 to A-IMPORT-18, A-NUMBER-8 to A-NUMBER-14, A-PHOTO-9 to
 * A-PHOTO-15), without the body, since proxies replace it. 405, 406, 413 and 415 are sent before
 * the operation (A7).
 */
const KINDS: Readonly<Record<number, OutcomeKind>> = {
  400: 'refused',
  401: 'unauthorised',
  403: 'forbidden',
  404: 'refused',
  405: 'refused',
  406: 'refused',
  413: 'refused',
  415: 'refused',
  422: 'refused',
  429: 'throttled',
  500: 'uncertain',
  503: 'closed',
};

/**
 * Returns the outcome by the status alone; one without an entry, such as a redirect, may be sent by
 * any server, before or after the operation.
 */
function getOutcomeKind(operation: Operation, status: number): OutcomeKind {
  if (status === SUCCESS[operation]) return 'accepted';
  if (status === 422 && operation === 'number') return 'already-applied';
  return KINDS[status] ?? 'uncertain';
}

/** Refusals that proxies and other servers send as well. */
const BEFORE_THE_OPERATION: readonly number[] = [404, 405, 406, 415];
/** Refusals that only a firewall or the sign-in of a network makes a web page. */
const NEVER_PAGES: readonly number[] = [400, 401, 403, 422];

/** Tells if an answer is JSON or XML, as the service's own are. */
function isOfService({ headers }: AnswerHead, body: ErrorBody): boolean {
  return (
    body.kind !== 'other' ||
    /^(?:application|text)\/(?:problem\+)?(?:json|xml)\b/i.test(headers['content-type'] ?? '')
  );
}

/** Tells if a server before the service refused the request. */
function isOfIntermediary(response: HttpResponse, body: ErrorBody): boolean {
  return BEFORE_THE_OPERATION.includes(response.status)
    ? !isOfService(response, body)
    : NEVER_PAGES.includes(response.status) && isWebPage(response);
}

/** Form of an identifier; any other text in the header is ignored. */
const IDENT_CELY = /^[A-Za-z0-9][A-Za-z0-9-]{2,63}$/;

/**
 * Returns the outcome of an operation by the answer to it; any answer has an outcome.
 * @param nowMs this machine's time, for a `Retry-After` with a date
 * @param addressed record to which a number or a photograph was sent; undefined for an import
 */
export function classifyAnswer(
  operation: Operation,
  response: HttpResponse,
  nowMs: number,
  addressed?: string,
): Outcome {
  const kind = getOutcomeKind(operation, response.status);
  if (kind === 'accepted') return parseSuccess(response, addressed);
  const body = parseErrorBody(response.body);
  const detail = getDetail(response, body);
  const findings = body.kind === 'findings' ? body.findings : [];
  if (isOfIntermediary(response, body)) return { kind: 'refused-by-intermediary', detail };
  switch (kind) {
    case 'refused':
      return operation === 'import' && response.status === 422 && body.kind === 'detail'
        ? { kind: 'refused-unspecified', detail }
        : { kind, detail, findings };
    case 'already-applied':
      // Only the service itself can say that the record has the value.
      return body.kind === 'detail' ? { kind, detail } : { kind: 'refused', detail, findings };
    case 'forbidden':
      return { kind, detail, findings };
    case 'unauthorised':
    case 'closed':
      return { kind, detail };
    case 'throttled':
      // Only a throttle sends this header, but not every throttle does (A-RATE-5).
      if (operation !== 'import' && response.headers['retry-after'] === undefined)
        return { kind: 'busy' };
      return { kind, waitMs: parseRetryAfterMs(response.headers, nowMs) };
    default:
      return { kind: 'uncertain', detail, outsideContract: response.status !== 500 };
  }
}

/**
 * Returns the outcome of an operation without a whole answer: by status and headers where those
 * came and are enough, else by whether the service can have received the whole request.
 * @param nowMs this machine's time, for a `Retry-After` with a date
 * @param addressed record to which a number or a photograph was sent; undefined for an import
 */
export function classifyTransportError(
  operation: Operation,
  error: TransportError,
  nowMs: number,
  addressed?: string,
): Outcome {
  if (error.cause instanceof ChangedFileError) return { kind: 'content-changed' };
  const outcome =
    error.head === undefined ? undefined : classifyHead(operation, error.head, nowMs, addressed);
  if (outcome !== undefined && outcome.kind !== 'uncertain') return outcome;
  if (!error.mayHaveArrived) {
    const isCut = error.reason !== 'connect' && error.reason !== 'aborted';
    return { kind: isCut ? 'cut' : 'not-delivered', detail: error.says };
  }
  return (
    outcome ?? {
      kind: 'uncertain',
      detail: msg`no complete answer came (${error.says})`,
      outsideContract: false,
    }
  );
}

/**
 * Returns the outcome by status and headers of an answer whose body was cut off; undefined where it
 * depends on the body.
 */
function classifyHead(
  operation: Operation,
  head: AnswerHead,
  nowMs: number,
  addressed?: string,
): Outcome | undefined {
  const kind = getOutcomeKind(operation, head.status);
  const needsBody =
    kind === 'already-applied' ||
    (kind === 'accepted' && head.headers['x-record-id'] === undefined);
  return needsBody
    ? undefined
    : classifyAnswer(operation, { ...head, body: Buffer.alloc(0) }, nowMs, addressed);
}

/**
 * Returns `accepted` with the record of the header, or without one of the body; `uncertain` where
 * they name none, two different ones, or another than the addressed.
 */
function parseSuccess(response: HttpResponse, addressed: string | undefined): Outcome {
  const inBody = parseAnsweredFind(response.body)?.identCely;
  const identCely = response.headers['x-record-id'] ?? inBody;
  const makeOddOutcome = (detail: Message): Outcome => ({
    kind: 'uncertain',
    detail,
    outsideContract: true,
  });
  if (identCely === undefined || !IDENT_CELY.test(identCely))
    return makeOddOutcome(msg`status ${response.status}, but without a record`);
  for (const other of [inBody, addressed])
    if (other !== undefined && other !== identCely)
      return makeOddOutcome(msg`the answer is about ${identCely}, not about ${other}`);
  return { kind: 'accepted', identCely };
}

/**
 * Parses the record in a success document of the write interface (A-IMPORT-11); undefined where it
 * has none, or no `ident_cely` of it.
 */
export function parseAnsweredFind(body: Buffer): HarvestedFind | undefined {
  try {
    const find = getChild(parseXml(body).root, 'samostatny_nalez');
    return find && parseHarvestedFind(find);
  } catch (thrown) {
    // The header may name the record of an answer that is no document of the service.
    if (thrown instanceof XmlSyntaxError) return undefined;
    throw thrown;
  }
}

/** Returns the words of an answer for people: those of the service, or its status. */
function getDetail(response: HttpResponse, body: ErrorBody): Message {
  const { status, headers } = response;
  const target = headers['location'];
  if (status >= 300 && status < 400 && target !== undefined)
    return msg`status ${status}, which redirects to ${target}`;
  switch (body.kind) {
    case 'detail':
      return body.detail;
    case 'findings':
      return body.findings.map((finding) => finding.message).join('; ');
    case 'other':
      if (status === 413)
        return msg`a proxy in front of the service does not take a request of this size (status 413)`;
      return body.excerpt === '' || headers['content-encoding'] !== undefined
        ? msg`status ${status}`
        : msg`status ${status} with "${body.excerpt}"`;
  }
}
