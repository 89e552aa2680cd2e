import { Readable } from 'node:stream';
import {
  type Clock,
  type Moment,
  type MonotonicMs,
  measureElapsedMs,
  readClock,
  type ServerMs,
} from '../base/clock.ts';
import { hashSha512 } from '../base/digest.ts';
import { toDatabaseError } from '../base/disk/database.ts';
import { getErrorCode } from '../base/errors.ts';
import { getChild, getChildText } from '../base/xml/element.ts';
import { parseXml, XmlSyntaxError } from '../base/xml/parse.ts';
import { openContentStore, readAhead } from '../outbox/changes/kept-photographs.ts';
import type { Entry, EntryKind, Photograph } from '../outbox/entry.ts';
import {
  type AnswerHead,
  type Exchange,
  type HttpRequest,
  TransportError,
} from '../service/http/exchange.ts';
import type { Slot } from '../service/http/pacer.ts';
import { ChangedFileError, readVerifiedPieces, SLICE_BYTES } from '../service/http/request-body.ts';
import { classifyTransportError, type Outcome, parseOutcome } from '../service/outcome.ts';
import {
  authorize,
  makeImportRequest,
  makeNumberRequest,
  makePhotoRequest,
} from '../service/session.ts';
import { type Push, parseDate } from './push-parts.ts';

export type SendResult = {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  readonly serverDateAt: ServerMs | undefined;
  readonly tookMs: number;
  readonly departedAt: MonotonicMs;
  readonly token: string;
};

/** Builds the request of an entry; the file of a photograph is opened when it is sent. */
export function buildRequest(
  { service, openPhotograph }: Pick<Push, 'service' | 'openPhotograph'>,
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

type SendContext = {
  readonly clock: Clock;
  readonly send: Exchange;
  readonly answerTimeoutMs: number;
  readonly abort: AbortSignal;
};

type AddressedEntry = { readonly kind: EntryKind; readonly identCely: string | null };

/**
 * Maximum time from claim to departure, in milliseconds: a process that was paused for longer must
 * not send.
 */
export const MAX_CLAIM_AGE_MS = 180_000;

/**
 * Sends one request for which a slot was taken, and returns its outcome. Never throws for a failure
 * of the network.
 * @param entry a number or a photograph goes to the record that it names
 */
export async function sendOnce(
  context: SendContext,
  entry: AddressedEntry,
  request: HttpRequest,
  token: string,
  slot: Slot,
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
  const exchange = authorize(token, context.send);
  const makeFacts = (response: AnswerHead | undefined) => ({
    status: response?.status,
    serverDateAt: parseDate(response?.headers['date']),
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
 * Opens a stored photograph. The stream verifies its digest, and fails before its end if it
 * differs.
 */
export function openKeptPhotograph(folder: string, photograph: Photograph): Readable {
  const path = photograph.link ?? openContentStore(folder).getPath(photograph.sha512);
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
