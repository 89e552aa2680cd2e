import { t } from '../base/language.ts';
import { ChangedFileError } from '../http/digest.ts';
import type { HttpResponse, NoAnswerError } from '../http/exchange.ts';
import { retryAfterMs } from '../http/retry-after.ts';
import { type ErrorBody, readErrorBody, type ServerFinding } from './error-body.ts';
import type { Operation } from './requests.ts';

/** What an answer, or the lack of one, means for the entry that was sent. */
export type Outcome =
  | { readonly kind: 'accepted'; readonly identCely: string }
  /** The service has the value already; after an attempt without answer that attempt did it. */
  | { readonly kind: 'already-current'; readonly detail: string }
  | { readonly kind: 'refused'; readonly detail: string; readonly findings: readonly ServerFinding[] }
  /** A refusal that may also come from two imports of one project taking the same number at once. */
  | { readonly kind: 'refused-in-a-word'; readonly detail: string }
  /** May concern the record or the account as a whole. */
  | { readonly kind: 'forbidden'; readonly detail: string; readonly findings: readonly ServerFinding[] }
  | { readonly kind: 'unauthorised'; readonly detail: string }
  | { readonly kind: 'throttled'; readonly waitMs: number | undefined }
  /** 429 without `Retry-After` on a record: its lock, or a throttle that does not say how long. */
  | { readonly kind: 'busy' }
  | { readonly kind: 'closed'; readonly detail: string }
  /** `cut`: its beginning left, and the connection was lost before its last byte. */
  | { readonly kind: 'never-arrived'; readonly detail: string; readonly cut: boolean }
  | { readonly kind: 'file-changed' }
  /** The service may or may not have done it. */
  | { readonly kind: 'uncertain'; readonly detail: string; readonly outsideContract: boolean };

/** Reads an identifier out of a success document; passed in, so that this module needs no XML. */
export type ReadIdentCely = (body: Buffer) => string | undefined;

const SUCCESS_STATUS: Readonly<Record<Operation, number>> = { import: 201, number: 200, photo: 201 };

/** Identifiers hold letters, digits and hyphens only; anything else in the header is not believed. */
const IDENT_CELY = /^[A-Za-z0-9][A-Za-z0-9-]{2,63}$/;

export function outcomeOf(operation: Operation, response: HttpResponse, nowMs: number, readIdentCely: ReadIdentCely): Outcome {
  if (response.status === SUCCESS_STATUS[operation]) return successOf(response, readIdentCely);
  const body = readErrorBody(response);
  const detail = detailOf(response.status, body);
  const findings = body.kind === 'findings' ? body.findings : [];
  // A body that is not the service's own may be a proxy's, and says nothing about what happened behind it, but
  // for 413: the proxy took no more of the request.
  if (response.status === 413) return { kind: 'refused', detail, findings };
  // Whoever asks to sign in has done nothing else.
  if (response.status === 401) return { kind: 'unauthorised', detail };
  if (body.kind === 'other' && response.status !== 429) return { kind: 'uncertain', detail, outsideContract: true };
  switch (response.status) {
    case 403:
      return { kind: 'forbidden', detail, findings };
    case 422:
      // Empty or too long it cannot be, since that was checked: in the service's own words it is what the record has.
      if (operation === 'number' && body.kind === 'detail') return { kind: 'already-current', detail };
      return operation === 'import' && body.kind === 'detail'
        ? { kind: 'refused-in-a-word', detail }
        : { kind: 'refused', detail, findings };
    case 429:
      return tooMany(operation, response, nowMs);
    case 503:
      return { kind: 'closed', detail };
    case 500:
      return { kind: 'uncertain', detail, outsideContract: false };
    default:
      return response.status >= 400 && response.status < 500
        ? { kind: 'refused', detail, findings }
        : { kind: 'uncertain', detail, outsideContract: true };
  }
}

/** The outcome where no whole answer came. A cut success still names the record in its head. */
export function outcomeOfNoAnswer(operation: Operation, error: NoAnswerError): Outcome {
  if (error.cause instanceof ChangedFileError) return { kind: 'file-changed' };
  if (!error.mayHaveArrived) {
    return { kind: 'never-arrived', detail: error.message, cut: error.reason !== 'connect' && error.reason !== 'aborted' };
  }
  const identCely = error.head?.headers['x-record-id'];
  if (error.head?.status === SUCCESS_STATUS[operation] && identCely !== undefined && IDENT_CELY.test(identCely)) {
    return { kind: 'accepted', identCely };
  }
  return { kind: 'uncertain', detail: t`no whole answer came (${error.message})`, outsideContract: false };
}

function successOf(response: HttpResponse, readIdentCely: ReadIdentCely): Outcome {
  const inHeader = response.headers['x-record-id'];
  const inBody = readIdentCely(response.body);
  if (inHeader !== undefined && inBody !== undefined && inHeader !== inBody) {
    const detail = t`the answer names two records, ${inHeader} in its header and ${inBody} in its document`;
    return { kind: 'uncertain', detail, outsideContract: true };
  }
  const identCely = inHeader ?? inBody;
  if (identCely !== undefined && IDENT_CELY.test(identCely)) return { kind: 'accepted', identCely };
  return { kind: 'uncertain', detail: t`status ${response.status}, but no record is named`, outsideContract: true };
}

/** Only a throttle carries `Retry-After`, but not every throttle does (contract, "Errors", rule 3). */
function tooMany(operation: Operation, response: HttpResponse, nowMs: number): Outcome {
  const waitMs = retryAfterMs(response.headers['retry-after'], nowMs);
  if (waitMs === undefined && operation !== 'import') return { kind: 'busy' };
  return { kind: 'throttled', waitMs };
}

function detailOf(status: number, body: ErrorBody): string {
  switch (body.kind) {
    case 'detail':
      return body.detail;
    case 'findings':
      return body.findings.map((finding) => finding.message).join('; ');
    case 'other':
      return body.excerpt === '' ? t`status ${status}` : t`status ${status} with "${body.excerpt}"`;
  }
}
