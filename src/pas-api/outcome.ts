import { type Message, msg } from '../base/message.ts';
import type { OutcomeKind } from '../base/outcomes.ts';
import { ChangedFileError } from '../http/digest.ts';
import type { HttpResponse, TransportError } from '../http/exchange.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import { type ErrorBody, parseErrorBody, type ServerFinding } from './error-body.ts';
import type { Operation } from './requests.ts';

/** Meaning of an answer, or of the lack of one, for the entry that was sent: one member for each row of {@link OutcomeKind}. */
export type Outcome = { readonly [Kind in OutcomeKind]: { readonly kind: Kind } & OutcomeFacts[Kind] }[OutcomeKind];

type Detailed = { readonly detail: Message };
type Nothing = Readonly<Record<never, never>>;

/** Facts that each kind of outcome carries. */
type OutcomeFacts = {
  readonly accepted: { readonly identCely: string };
  /** The service has the value already; after an attempt without answer that attempt did it. */
  readonly 'already-applied': Detailed;
  readonly refused: Detailed & { readonly findings: readonly ServerFinding[] };
  /** A refusal that may also come from two imports of one project taking the same number at once. */
  readonly 'refused-unspecified': Detailed;
  /** A refusal that is not the service's own JSON or XML: a proxy, or a page of another server, gave it. */
  readonly 'refused-by-intermediary': Detailed;
  /** May concern the record or the account as a whole. */
  readonly forbidden: Detailed & { readonly findings: readonly ServerFinding[] };
  readonly unauthorised: Detailed;
  readonly throttled: { readonly waitMs: number | undefined };
  /** 429 without `Retry-After` on a record: its lock, or a throttle that does not say how long. */
  readonly busy: Nothing;
  readonly closed: Detailed;
  readonly 'not-delivered': Detailed;
  /** Its beginning left, and the connection was lost before its last byte. */
  readonly cut: Detailed;
  readonly 'content-changed': Nothing;
  /** The service may or may not have done it. */
  readonly uncertain: Detailed & { readonly outsideContract: boolean };
};

/** Reads an identifier out of a success document; passed in, so that this module needs no XML. */
export type ReadIdentCely = (body: Buffer) => string | undefined;

/** What a status says of the operation: a refusal means that it was not carried out. */
type Meaning =
  | 'success'
  | 'refused'
  | 'already-applied'
  | 'unauthorised'
  | 'forbidden'
  | 'too-many'
  | 'closed'
  | 'failed'
  | 'outside-contract';

type Meanings = { readonly [operation in Operation]?: Meaning };

type AnswerHead = Pick<HttpResponse, 'status' | 'headers'>;

const forAll = (meaning: Meaning): Meanings => ({ import: meaning, number: meaning, photo: meaning });

/**
 * The status decides, whatever stands in the body: a proxy puts its own pages there. From the contract
 * (A-IMPORT-11 to A-IMPORT-18, A-NUMBER-7 to A-NUMBER-14, A-PHOTO-8 to A-PHOTO-15), but for 405, 406, 413 and 415: those belong to
 * gates that stand before the operation (A7).
 */
const MEANINGS: Readonly<Record<number, Meanings>> = {
  200: { number: 'success' },
  201: { import: 'success', photo: 'success' },
  400: forAll('refused'),
  401: forAll('unauthorised'),
  403: forAll('forbidden'),
  404: forAll('refused'),
  405: forAll('refused'),
  406: forAll('refused'),
  413: forAll('refused'),
  415: forAll('refused'),
  422: { import: 'refused', number: 'already-applied', photo: 'refused' },
  429: forAll('too-many'),
  500: forAll('failed'),
  503: forAll('closed'),
};

/** Of any other status nobody knows who gave it, or when. A redirect of a write is one: 303 follows what was done. */
function meaningOf(operation: Operation, status: number): Meaning {
  return MEANINGS[status]?.[operation] ?? 'outside-contract';
}

/** Refusals that something on the way, or another server at the address, gives just as well. */
const BEFORE_THE_OPERATION: readonly number[] = [404, 405, 406, 415];

/** The service itself answers in JSON or XML. */
function isOfService({ headers }: AnswerHead, body: ErrorBody): boolean {
  return body.kind !== 'other' || /^(?:application|text)\/(?:problem\+)?(?:json|xml)\b/i.test(headers['content-type'] ?? '');
}

/** Identifiers hold letters, digits and hyphens only; anything else in the header is not believed. */
const IDENT_CELY = /^[A-Za-z0-9][A-Za-z0-9-]{2,63}$/;

/** @param addressed the record that a number or a photograph was sent to */
export function outcomeOf(
  operation: Operation,
  response: HttpResponse,
  nowMs: number,
  readIdentCely: ReadIdentCely,
  addressed?: string,
): Outcome {
  const meaning = meaningOf(operation, response.status);
  if (meaning === 'success') return successOf(response, readIdentCely, addressed);
  const body = parseErrorBody(response);
  const detail = detailOf(response, body);
  const findings = body.kind === 'findings' ? body.findings : [];
  switch (meaning) {
    case 'refused':
      if (BEFORE_THE_OPERATION.includes(response.status) && !isOfService(response, body))
        return { kind: 'refused-by-intermediary', detail };
      return operation === 'import' && response.status === 422 && body.kind === 'detail'
        ? { kind: 'refused-unspecified', detail }
        : { kind: 'refused', detail, findings };
    case 'already-applied':
      // That the record has it is believed of the service alone.
      return body.kind === 'detail' ? { kind: 'already-applied', detail } : { kind: 'refused', detail, findings };
    case 'unauthorised':
      return { kind: 'unauthorised', detail };
    case 'forbidden':
      return { kind: 'forbidden', detail, findings };
    case 'too-many':
      return tooMany(operation, response, nowMs);
    case 'closed':
      return { kind: 'closed', detail };
    case 'failed':
      return { kind: 'uncertain', detail, outsideContract: false };
    case 'outside-contract':
      return { kind: 'uncertain', detail, outsideContract: true };
  }
}

/** The outcome where no whole answer came. */
export function outcomeOfTransportError(operation: Operation, error: TransportError, nowMs: number, addressed?: string): Outcome {
  if (error.cause instanceof ChangedFileError) return { kind: 'content-changed' };
  const told = error.head === undefined ? undefined : outcomeOfHead(operation, error.head, nowMs, addressed);
  if (told !== undefined && told.kind !== 'uncertain') return told;
  if (!error.mayHaveArrived) {
    const isCut = error.reason !== 'connect' && error.reason !== 'aborted';
    return { kind: isCut ? 'cut' : 'not-delivered', detail: error.says };
  }
  return told ?? { kind: 'uncertain', detail: msg`no complete answer came (${error.says})`, outsideContract: false };
}

/** An answer that was cut off in its body had its status and its headers; undefined where those do not tell enough. */
function outcomeOfHead(operation: Operation, head: AnswerHead, nowMs: number, addressed?: string): Outcome | undefined {
  const meaning = meaningOf(operation, head.status);
  const needsBody = meaning === 'already-applied' || (meaning === 'success' && head.headers['x-record-id'] === undefined);
  return needsBody ? undefined : outcomeOf(operation, { ...head, body: Buffer.alloc(0) }, nowMs, () => undefined, addressed);
}

function successOf(response: HttpResponse, readIdentCely: ReadIdentCely, addressed: string | undefined): Outcome {
  const inHeader = response.headers['x-record-id'];
  const inBody = readIdentCely(response.body);
  const identCely = inHeader ?? inBody;
  const odd = (detail: Message): Outcome => ({ kind: 'uncertain', detail, outsideContract: true });
  if (identCely === undefined || !IDENT_CELY.test(identCely)) return odd(msg`status ${response.status}, but without a record`);
  if (inBody !== undefined && inBody !== identCely) {
    return odd(msg`the answer names two records, ${identCely} in its header and ${inBody} in its document`);
  }
  if (addressed !== undefined && addressed !== identCely)
    return odd(msg`the answer is about ${identCely}, not about ${addressed}`);
  return { kind: 'accepted', identCely };
}

/** Only a throttle carries `Retry-After`, but not every throttle does (A-RATE-5). */
function tooMany(operation: Operation, response: HttpResponse, nowMs: number): Outcome {
  const waitMs = retryAfterMs(response.headers['retry-after'], nowMs);
  if (waitMs === undefined && operation !== 'import') return { kind: 'busy' };
  return { kind: 'throttled', waitMs };
}

function detailOf({ status, headers }: HttpResponse, body: ErrorBody): Message {
  const target = headers['location'];
  if (status >= 300 && status < 400 && target !== undefined) return msg`status ${status}, which redirects to ${target}`;
  switch (body.kind) {
    case 'detail':
      return body.detail;
    case 'findings':
      return body.findings.map((finding) => finding.message).join('; ');
    case 'other':
      return body.excerpt === '' ? msg`status ${status}` : msg`status ${status} with "${body.excerpt}"`;
  }
}
