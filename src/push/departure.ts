import { Readable } from 'node:stream';
import {
  asServerMs,
  type Clock,
  type Moment,
  type MonotonicMs,
  measureElapsedMs,
  readClock,
  type ServerMs,
} from '../base/clock.ts';
import { toDatabaseError } from '../base/disk/database.ts';
import { hashSha512 } from '../base/disk/files.ts';
import {
  getErrorCode,
  getLocalizedMessage,
  type PasError,
  UnavailableError,
} from '../base/errors.ts';
import { type Message, msg } from '../base/message.ts';
import { getChild, getChildText } from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import type { OaiClient } from '../harvest/client.ts';
import { readAhead } from '../outbox/changes/kept-photographs.ts';
import type { Entry, EntryKind, EntryState } from '../outbox/entry.ts';
import { findEntryById } from '../outbox/entry-queries.ts';
import type { Photograph } from '../outbox/facts.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import type { PushLockOptions } from '../outbox/push-lock.ts';
import {
  type AnswerHead,
  type Exchange,
  type HttpRequest,
  type HttpResponse,
  parseRetryAfterMs,
  TransportError,
} from '../service/http/exchange.ts';
import type { DepartureSlot, Pace } from '../service/http/pacer.ts';
import { ChangedFileError, readVerifiedPieces, SLICE_BYTES } from '../service/http/request-body.ts';
import { classifyTransportError, type Outcome, parseOutcome } from '../service/outcome.ts';
import {
  makeAccessProbe,
  makeImportRequest,
  makeNumberRequest,
  makePhotoRequest,
  withBearerToken,
} from '../service/session.ts';
import type { OpenService } from './account.ts';
import type { ReconciledEntry } from './judge-import.ts';

/**
 * Server time, from the last answer and the time elapsed since. Undefined before the first answer.
 */
type ServerClock = {
  /**
   * Lower bound: a `Date` header has whole seconds, and the monotonic clock stops while the machine
   * sleeps.
   */
  now(): ServerMs | undefined;
  /**
   * Upper bound: the answer may have been written right after the request, and read late by a
   * paused process. Uses the wall clock where it advanced more, as during sleep.
   */
  latest(): ServerMs | undefined;
  /** Reads the time from the answers of an exchange. */
  observe(send: Exchange): Exchange;
};

const HEADER_PRECISION_MS = 1000;

/** Creates the clock of the service, unknown before the first answer. */
export function createServerClock(clock: Clock): ServerClock {
  let heard:
    | { readonly at: ServerMs; readonly askedOn: Moment; readonly readOn: Moment }
    | undefined;
  return {
    now: () =>
      heard === undefined
        ? undefined
        : asServerMs(heard.at + clock.monotonicMs() - heard.readOn.monotonicMs),
    latest: () =>
      heard === undefined
        ? undefined
        : asServerMs(heard.at + HEADER_PRECISION_MS + measureElapsedMs(clock, heard.askedOn)),
    observe: (send) => async (request) => {
      const askedOn = readClock(clock);
      const response = await send(request);
      const at = parseDateHeader(response.headers['date']);
      if (at !== undefined) heard = { at, askedOn, readOn: readClock(clock) };
      return response;
    },
  };
}

/** Parses a `Date` header (RFC 9110, 6.6.1); undefined for an invalid one. */
function parseDateHeader(header: string | undefined): ServerMs | undefined {
  const at = header === undefined ? Number.NaN : Date.parse(header);
  return Number.isNaN(at) ? undefined : asServerMs(at);
}

export type HarvestAccess = {
  open(): Promise<OaiClient>;
  /** Sign-in: `bearer` as the writing account, `basic` as the user name of the profile. */
  readonly auth: 'none' | 'bearer' | 'basic';
  /** The service's native format, such as `oai_svc`. */
  readonly format: string;
  /** Maximum time until a new record appears in a harvest. */
  readonly indexAllowanceMs: number;
};

/** Write access to a service, and read access where it has a harvest. */
export type ServiceAccess = {
  readonly clock: Clock;
  readonly outbox: Outbox;
  readonly service: OpenService;
  /** Undefined where a person settles uncertain entries. */
  readonly harvesting: HarvestAccess | undefined;
  readonly lock: PushLockOptions;
  readonly onSearch?: (doneCount: number, total: number | undefined) => void;
};

/** Reason for which the service was not searched before sending. */
export type NoSearchReason = 'no-harvesting' | 'anonymous' | 'not-signed-in';

export type PushContext = ServiceAccess & {
  readonly kinds: readonly EntryKind[];
  /** Keys of the records to send; undefined for all. */
  readonly subjects: readonly string[] | undefined;
  /** Maximum number of requests. */
  readonly limit: number | undefined;
  /** At least 1. */
  readonly maxInFlight: number;
  readonly answerTimeoutMs: number;
  /** Maximum time in milliseconds for which the service may work on a request without an answer. */
  readonly settleMs: number;
  readonly pace: Pace;
  readonly report: (event: PushEvent) => void;
  /** Stops new requests; those in flight are awaited. */
  readonly stop: AbortSignal;
  /** Aborts requests in flight as well. */
  readonly abort: AbortSignal;
  /** Identifier of this machine; empty where it has none. */
  readonly machine: string;
  readonly openPhotograph: (photograph: Photograph) => Readable;
  /** Treatment of held entries where no person can be asked. */
  readonly onQuestion: 'hold' | 'send';
  readonly lookBackMs: number;
  /** Asks a person about held entries, and records the answers. */
  readonly askHeld?: (held: readonly Entry[]) => Promise<void>;
  /**
   * Asks if a service that this machine knows by these addresses has another address now;
   * undefined where no person can be asked.
   */
  readonly confirmSameService?: (addresses: readonly string[], account: string) => Promise<boolean>;
  /** Tells if an outbox of another place is taken over, as a person says. */
  readonly confirmTakeOver?: () => Promise<boolean>;
  /**
   * Settles which new people the service may create; false where some are not accepted. Without
   * it, all are.
   */
  readonly admitNewPeople?: (mayAsk: boolean) => Promise<boolean>;
  /** Called before each round with the number of entries to send. */
  readonly onRound?: (queued: number) => void;
  readonly onReconciled?: (settled: readonly ReconciledEntry[]) => void;
  /** Called with the error of a failed search for uncertain entries; the push continues. */
  readonly onSearchFailed?: (error: PasError) => void;
  /** Called once if imports are sent without a search. */
  readonly onNotChecked?: (why: NoSearchReason) => void;
  /** Called if the ledger of this machine was missing, or is an older one. */
  readonly onLostLedger?: () => void;
};

/** A push whose account is known. */
export type SignedInPush = PushContext & {
  /** The service's identifier of the sending account. */
  readonly account: string;
  readonly serverClock: ServerClock;
};

type EntryName = {
  readonly entry: number;
  readonly kind: EntryKind;
  readonly find: string | null;
};

export type PushEvent =
  | (EntryName & {
      readonly type: 'attempt';
      readonly status: number | null;
      readonly ms: number;
      readonly paced_ms: number;
    })
  | (EntryName & {
      readonly type: 'settled';
      readonly state: EntryState;
      readonly ident_cely: string | null;
      readonly reason: Message | null;
    })
  /** Five of them got the same refusal: the others of the kind and project stay queued. */
  | {
      readonly type: 'left_out';
      readonly kind: EntryKind;
      readonly project: string;
      readonly status: number | null;
      readonly reason: Message;
      readonly count: number;
      readonly refused: readonly string[];
    };

/** Returns the fields that name an entry in an event; `find` is its local id, else its record. */
export function makeEntryName({ id, kind, localId, identCely }: Entry): EntryName {
  return { entry: id, kind, find: localId ?? identCely };
}

/** Reports an entry whose state has changed: by an answer, by evidence, or after a killed push. */
export function reportSettledEntry({ outbox, report }: PushContext, id: number): void {
  const entry = findEntryById(outbox, id);
  if (entry === undefined) return;
  report({
    type: 'settled',
    ...makeEntryName(entry),
    state: entry.state,
    ident_cely: entry.identCely,
    reason: entry.reason,
  });
}

/** Cause for a push to end before everything was sent. */
export type StopCause =
  | { readonly kind: 'interrupted' }
  /** `new-people`: the service would create people that the user has not accepted. */
  | {
      readonly kind: 'closed' | 'unreachable' | 'not-allowed' | 'in-doubt' | 'new-people';
      readonly reason: Message;
    }
  /** `waiting`: the service has asked for a pause; `not-yet`: the remaining entries are not due. */
  | { readonly kind: 'waiting' | 'not-yet'; readonly reason: Message; readonly untilMs: number };

/** Tells if an error is that of an aborted wait or request, by its name. */
export function isAbortError(thrown: unknown): thrown is Error {
  return thrown instanceof Error && thrown.name === 'AbortError';
}

export type ProbeContext = {
  readonly baseUrl: string;
  readonly clock: Clock;
  readonly pace: Pace;
  readonly send: Exchange;
  readonly stop: AbortSignal;
};

/**
 * Sends a request that changes nothing, with the permissions of a write, within the pace: it tells
 * if the account is refused, and if the service is open.
 */
export async function probeAccess(asker: ProbeContext, token: string): Promise<Outcome> {
  const answer = await sendAccessProbe(asker, token);
  if (answer instanceof TransportError) return { kind: 'not-delivered', detail: answer.says };
  return parseOutcome('import', answer, asker.clock.now(), () => undefined);
}

/** Returns the cause for the push to end after a probe; undefined where it continues. */
export function findStopCauseOfProbe(outcome: Outcome): StopCause | undefined {
  switch (outcome.kind) {
    case 'not-delivered':
    case 'cut':
      return { kind: 'unreachable', reason: outcome.detail };
    case 'closed':
      return { kind: 'closed', reason: outcome.detail };
    case 'uncertain':
      return {
        kind: 'in-doubt',
        reason: msg`the answers may not come from the service: ${outcome.detail}`,
      };
    default:
      return undefined;
  }
}

/**
 * Sends a probe within the pace. A throttle slows down all requests (A-RATE-6).
 * @returns a TransportError, which is not thrown, also where it was stopped or must pause too
 * long
 */
export async function sendAccessProbe(
  { baseUrl, clock, pace, send, stop }: ProbeContext,
  token: string,
): Promise<HttpResponse | TransportError> {
  let slot: DepartureSlot | undefined;
  try {
    slot = await pace.acquire(stop);
    const acquiredMs = clock.monotonicMs();
    const exchange = withBearerToken(token, send);
    const response = await exchange({
      ...makeAccessProbe(baseUrl),
      signal: stop,
      onDeparture: slot.depart,
    });
    if (response.status === 429)
      pace.pauseAfterThrottle(acquiredMs, parseRetryAfterMs(response.headers, clock.now()));
    return response;
  } catch (thrown) {
    if (thrown instanceof TransportError) return thrown;
    if (thrown instanceof UnavailableError || isAbortError(thrown))
      return new TransportError('aborted', false, getLocalizedMessage(thrown));
    throw thrown;
  } finally {
    slot?.release();
  }
}

export type SendResult = {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly serverDateAt: ServerMs | undefined;
  readonly tookMs: number;
  readonly departedAt: MonotonicMs;
  readonly token: string;
};

/**
 * Builds the request of an entry; the file of a photograph is opened when it is sent.
 * @throws Error where the entry has no document, or no record to change
 */
export function makeEntryRequest(
  { service, openPhotograph }: Pick<PushContext, 'service' | 'openPhotograph'>,
  entry: Entry,
): HttpRequest {
  const { baseUrl } = service;
  switch (entry.kind) {
    case 'import':
      return makeImportRequest(
        baseUrl,
        requireValue(entry.document),
        hashSha512(requireValue(entry.document)),
      );
    case 'number':
      return makeNumberRequest(baseUrl, requireValue(entry.identCely), entry.value);
    case 'photo': {
      const { photograph } = entry;
      return makePhotoRequest(baseUrl, requireValue(entry.identCely), {
        ...photograph,
        open: () => openPhotograph(photograph),
      });
    }
  }
}

/** Asserts a value that the outbox guarantees for a queued entry. */
function requireValue<T>(value: T | null): T {
  if (value === null) throw new Error('a queued entry lacks what it is to send');
  return value;
}

/**
 * Maximum time from claim to departure, in milliseconds: a process that was paused for longer must
 * not send.
 */
export const MAX_CLAIM_AGE_MS = 180_000;

/**
 * Sends one request for which a slot was taken, releases the slot, and returns the outcome. Never
 * throws for a failure of the network.
 * @param entry a number or a photograph goes to the record that it names
 * @param claimedOn the request is not sent later than {@link MAX_CLAIM_AGE_MS} after it
 */
export async function sendEntryRequest(
  context: Pick<PushContext, 'clock' | 'answerTimeoutMs' | 'abort'> & { readonly send: Exchange },
  entry: Pick<Entry, 'kind' | 'identCely'>,
  request: HttpRequest,
  token: string,
  slot: DepartureSlot,
  claimedOn: Moment = readClock(context.clock),
): Promise<SendResult> {
  const { clock } = context;
  const addressed = entry.kind === 'import' ? undefined : requireValue(entry.identCely);
  let departedAt = clock.monotonicMs();
  const onDeparture = () => {
    const mayDepart = measureElapsedMs(clock, claimedOn) <= MAX_CLAIM_AGE_MS && slot.depart();
    departedAt = clock.monotonicMs();
    return mayDepart;
  };
  const exchange = withBearerToken(token, context.send);
  const makeFacts = (response: AnswerHead | undefined) => ({
    status: response?.status,
    serverDateAt: parseDateHeader(response?.headers['date']),
    tookMs: clock.monotonicMs() - departedAt,
    departedAt,
    token,
  });
  try {
    const response = await exchange({
      ...request,
      answerTimeoutMs: context.answerTimeoutMs,
      signal: context.abort,
      onDeparture,
    });
    const outcome = parseOutcome(entry.kind, response, clock.now(), parseRecordIdent, addressed);
    return { outcome, ...makeFacts(response) };
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    return {
      outcome: classifyTransportError(entry.kind, thrown, clock.now(), addressed),
      ...makeFacts(thrown.head),
    };
  } finally {
    slot.release();
  }
}

/**
 * Parses `samostatny_nalez/ident_cely` in a success document of the write interface; undefined
 * where it has none.
 */
export function parseRecordIdent(body: Buffer): string | undefined {
  try {
    const find = getChild(parseXml(body).root, 'samostatny_nalez');
    return find === undefined ? undefined : getChildText(find, 'ident_cely');
  } catch (thrown) {
    // The header may name the record of an answer that is no document of the service.
    if (thrown instanceof XmlSyntaxError) return undefined;
    throw thrown;
  }
}

/**
 * Opens the file of a photograph. The stream verifies its digest, and fails before its end if it
 * differs.
 */
export function openPhotograph(
  path: string,
  photograph: Pick<Photograph, 'sha512' | 'sizeBytes'>,
): Readable {
  return Readable.from(readVerifiedPieces(readKept(path), photograph), {
    objectMode: false,
    highWaterMark: SLICE_BYTES,
  });
}

async function* readKept(path: string): AsyncGenerator<Buffer, void> {
  try {
    yield* readAhead(path);
  } catch (thrown) {
    if (!(thrown instanceof Error)) throw thrown;
    throw isGone(thrown) ? new ChangedFileError() : toReadError(path, thrown);
  }
}

/**
 * Tells if a file is missing, which counts as a change: the user must queue the photograph again.
 */
function isGone(error: Error): boolean {
  return ['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM'].includes(getErrorCode(error));
}

/** Wraps an error of the disk, which a retry may overcome. */
function toReadError(path: string, error: Error): Error {
  const databaseError = toDatabaseError(path, error);
  return databaseError instanceof Error ? databaseError : error;
}
