import { systemClock } from './base/clock.ts';
import { hashSha512 } from './base/disk/files.ts';
import { FileError, UsageError } from './base/errors.ts';
import { type Connection, openWriteConnection, type ServiceOptions } from './connection.ts';
import { inspectPhotograph } from './photos/photograph.ts';
import { fetchAccount } from './push/account.ts';
import { sendEntryRequest } from './push/departure.ts';
import type { Exchange, HttpRequest } from './service/http/exchange.ts';
import { openVerifiedFile } from './service/http/request-body.ts';
import type { Outcome } from './service/outcome.ts';
import {
  type Account,
  makeImportRequest,
  makeNumberRequest,
  makePhotoRequest,
} from './service/session.ts';

export { PasError } from './base/errors.ts';
export type { ServiceOptions } from './connection.ts';
export type { Outcome, ServerFinding } from './service/outcome.ts';
export type { Account, Role } from './service/session.ts';

/**
 * The write interface, request by request, within the rate limit. No request is repeated, except
 * one that the service refused because of an expired token. The meaning of an answer is the {@link
 * Outcome}: after `uncertain` the service may have executed the request, and a repeat could create
 * a second record. `pas push` settles this, and survives crashes.
 */
export type WriteClient = AsyncDisposable & {
  /**
   * Returns the account by the service's description.
   * @throws PasError where there is none
   */
  account(): Promise<Account>;
  /** Sends the exact bytes of one import document. */
  importFind(document: Uint8Array): Promise<Outcome>;
  setNumber(identCely: string, value: string): Promise<Outcome>;
  /**
   * Adds a photograph to a record; the file is streamed.
   * @throws FileError for a file that is no acceptable photograph
   */
  addPhoto(identCely: string, path: string): Promise<Outcome>;
  close(): Promise<void>;
};

/**
 * Opens the client of the write interface; nothing is requested yet. Every call throws AuthError
 * where signing in fails, and UnavailableError where that gets no answer.
 * ```ts
 * await using client = openWriteClient({ baseUrl, username, password });
 * const outcome = await client.importFind(document);
 * if (outcome.kind === 'accepted') console.log(outcome.identCely);
 * ```
 * @throws ConfigError for an invalid address, or one that would send the password unencrypted;
 * DatabaseError where the file of the pace cannot be opened
 */
export function openWriteClient(options: ServiceOptions): WriteClient {
  const connection = openWriteConnection(options);
  const { baseUrl, pace, session } = connection;
  const stop = new AbortController();
  const send = makeSend(connection, stop.signal);
  const paced: Exchange = async (request) => {
    const turn = await pace.acquire(stop.signal);
    try {
      return await connection.send({ ...request, onDeparture: turn.depart });
    } finally {
      turn.release();
    }
  };
  const close = async (): Promise<void> => {
    stop.abort();
    await connection.close();
  };
  return {
    account: () => fetchAccount({ baseUrl, session, send: paced }),
    importFind: (document) => {
      const bytes = Buffer.from(document);
      return send({ kind: 'import', identCely: null }, () =>
        makeImportRequest(baseUrl, bytes, hashSha512(bytes)),
      );
    },
    setNumber: async (identCely, value) => {
      if (value.trim() === '')
        throw new UsageError(
          'The registration number is empty; it cannot be removed, only changed.',
        );
      return send({ kind: 'number', identCely }, () =>
        makeNumberRequest(baseUrl, identCely, value.trim()),
      );
    },
    addPhoto: async (identCely, path) =>
      send({ kind: 'photo', identCely }, await preparePhoto(baseUrl, identCely, path)),
    close,
    [Symbol.asyncDispose]: close,
  };
}

/**
 * Checks a photograph, and returns the function that makes the request which streams its file.
 * @throws FileError for a file that is no acceptable photograph
 */
async function preparePhoto(
  baseUrl: string,
  identCely: string,
  path: string,
): Promise<() => HttpRequest> {
  const { photograph, issues } = await inspectPhotograph(path);
  if (photograph === undefined)
    throw new FileError(path, issues.map(({ message }) => message).join(' '));
  const file = {
    name: path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1),
    mediaType: photograph.mediaType,
    sha512: photograph.sha512,
    sizeBytes: photograph.sizeBytes,
  };
  return () =>
    makePhotoRequest(baseUrl, identCely, { ...file, open: () => openVerifiedFile(path, file) });
}

type Target = Parameters<typeof sendEntryRequest>[1];

/** Makes the function that sends a request in a turn of the pace, and again with a new token. */
function makeSend(connection: Connection, abort: AbortSignal) {
  const { pace, session } = connection;
  const context = { ...connection, clock: systemClock, abort };
  const attemptOnce = async (
    target: Target,
    request: HttpRequest,
    token: string,
  ): Promise<Outcome> => {
    const turn = await pace.acquire(abort);
    const { outcome, departedAt } = await sendEntryRequest(context, target, request, token, turn);
    if (outcome.kind === 'throttled') pace.pauseAfterThrottle(departedAt, outcome.waitMs);
    return outcome;
  };
  return async (target: Target, makeRequest: () => HttpRequest): Promise<Outcome> => {
    const token = await session.token();
    const outcome = await attemptOnce(target, makeRequest(), token);
    return outcome.kind === 'unauthorised'
      ? attemptOnce(target, makeRequest(), await session.renew(token))
      : outcome;
  };
}
