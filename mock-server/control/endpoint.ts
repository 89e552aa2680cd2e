import { createHash, timingSafeEqual } from 'node:crypto';
import { isInList, makeBlockList, toPlainAddress } from '../base/address-list.ts';
import { CONTROL_PATH } from '../base/addresses.ts';
import { getErrorMessage } from '../base/error-message.ts';
import {
  type Answer,
  ControlRefusal,
  decodeSegment,
  HttpError,
  type Incoming,
  readBody,
} from '../base/http-message.ts';
import { makeJsonAnswer } from '../base/problem.ts';
import {
  check,
  flag,
  instant,
  number,
  object,
  optional,
  parseJson,
  type Reader,
  ShapeError,
} from '../base/shape.ts';
import { answerDescription } from '../endpoints/descriptions.ts';
import type { Mock } from '../state/mock.ts';
import { SeedError } from '../state/seed/load-seed.ts';
import { milliseconds, readSettings } from '../state/settings.ts';
import {
  addFault,
  clearFaults,
  listFaultCatalogue,
  removeFault,
  setFaults,
  switchFault,
} from './fault-requests.ts';
import { viewFinds, viewMap } from './finds-view.ts';
import { viewJournal, viewWholeEntry } from './journal-view.ts';
import { answerPageFile } from './page-files.ts';
import { changeRecord, deleteRecord, restoreRecord, showRecord } from './records.ts';
import { moveFind } from './state-changes.ts';
import { changeAccount, viewClock, viewState } from './state-view.ts';
import { addTenant, listTenants, removeTenant } from './tenants.ts';
import { verifyRequests } from './verify.ts';

const MAX_BODY_BYTES = 16 * 1024 * 1024;

type Route = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: RegExp;
  /** @param segment part of the path that the pattern's group matched */
  run(
    mock: Mock,
    call: { readonly body: unknown; readonly segment: string; readonly incoming: Incoming },
  ): unknown;
};

const clockCommand: Reader<{ advance_ms?: number; set?: number; frozen?: boolean }> = check(
  object({ advance_ms: optional(number({})), set: optional(instant), frozen: optional(flag) }),
  (command) =>
    command.advance_ms === undefined && command.set === undefined && command.frozen === undefined
      ? 'needs advance_ms, set or frozen'
      : undefined,
);

const ROUTES: readonly Route[] = [
  { method: 'GET', path: /^\/health$/, run: () => ({ status: 'ok' }) },
  {
    method: 'GET',
    path: /^\/state$/,
    run: (mock, { incoming }) => viewState(mock, incoming.addresses),
  },
  { method: 'POST', path: /^\/reset$/, run: resetAll },
  {
    method: 'GET',
    path: /^\/journal$/,
    run: (mock, { incoming }) => viewJournal(mock, incoming.query),
  },
  {
    method: 'GET',
    path: /^\/journal\/(\d+)$/,
    run: (mock, { segment }) => viewWholeEntry(mock, segment),
  },
  { method: 'DELETE', path: /^\/journal$/, run: clearJournal },
  { method: 'GET', path: /^\/faults$/, run: (mock) => mock.faults.list() },
  { method: 'PUT', path: /^\/faults$/, run: setFaults },
  { method: 'POST', path: /^\/faults$/, run: addFault },
  { method: 'DELETE', path: /^\/faults$/, run: clearFaults },
  { method: 'GET', path: /^\/faults\/catalogue$/, run: listFaultCatalogue },
  { method: 'PUT', path: /^\/faults\/(\d+)$/, run: switchFault },
  { method: 'DELETE', path: /^\/faults\/(\d+)$/, run: removeFault },
  {
    method: 'GET',
    path: /^\/finds$/,
    run: (mock, { incoming }) => viewFinds(mock, incoming.query),
  },
  { method: 'GET', path: /^\/map$/, run: viewMap },
  { method: 'GET', path: /^\/pulse$/, run: viewHeartbeat },
  { method: 'POST', path: /^\/verify$/, run: askVerify },
  { method: 'GET', path: /^\/tenants$/, run: listTenants },
  { method: 'POST', path: /^\/tenants$/, run: addTenant },
  { method: 'DELETE', path: /^\/tenants\/([^/]+)$/, run: removeTenant },
  { method: 'GET', path: /^\/settings$/, run: (mock) => mock.settings },
  { method: 'PUT', path: /^\/settings$/, run: saveSettings },
  { method: 'GET', path: /^\/clock$/, run: viewClock },
  { method: 'POST', path: /^\/clock$/, run: moveClock },
  {
    method: 'GET',
    path: /^\/records\/([^/]+)$/,
    run: (mock, { segment }) => showRecord(mock, segment),
  },
  { method: 'POST', path: /^\/records$/, run: (mock, { body }) => changeRecord(mock, body) },
  {
    method: 'POST',
    path: /^\/records\/([^/]+)\/delete$/,
    run: (mock, { segment, body }) => deleteRecord(mock, segment, body),
  },
  {
    method: 'POST',
    path: /^\/records\/([^/]+)\/restore$/,
    run: (mock, { segment, body }) => restoreRecord(mock, segment, body),
  },
  {
    method: 'POST',
    path: /^\/records\/([^/]+)\/move$/,
    run: (mock, { segment, body }) => moveFind(mock, segment, body),
  },
  { method: 'POST', path: /^\/records\/([^/]+)\/lock$/, run: holdLock },
  {
    method: 'PUT',
    path: /^\/accounts\/([^/]+)$/,
    run: (mock, { segment, body }) => changeAccount(mock, segment, body),
  },
];

/** Answers a request to the control interface, which is outside the contract. */
export async function answerControl(mock: Mock, incoming: Incoming): Promise<Answer> {
  const path = incoming.path.slice(CONTROL_PATH.length);
  const method = incoming.method === 'HEAD' ? 'GET' : incoming.method;
  // Container runtimes request the health without a token.
  const isOpen = mock.controlToken !== undefined && path === '/health';
  const refusal = isOpen ? undefined : checkAccess(mock, incoming);
  if (refusal !== undefined) return refusal;
  if (path === '/openapi.json')
    return method === 'GET'
      ? answerDescription(incoming, 'control')
      : makeFailure(405, `${path} takes GET`);
  const file = method === 'GET' ? await answerPageFile(mock, path) : undefined;
  if (file !== undefined) return file;
  const matching = ROUTES.filter((route) => route.path.test(path));
  const route = matching.find((candidate) => candidate.method === method);
  if (route === undefined) {
    return matching.length === 0
      ? makeFailure(
          404,
          `there is no ${path === '' ? '/' : path} here; see the mock server's README`,
        )
      : makeFailure(
          405,
          `${path} takes ${matching.map((candidate) => candidate.method).join(', ')}`,
        );
  }
  try {
    const body = method === 'GET' ? undefined : await readJson(incoming);
    const segment = decodeSegment(route.path.exec(path)?.[1] ?? '');
    return makeJsonAnswer(200, (await route.run(mock, { body, segment, incoming })) ?? null);
  } catch (thrown) {
    if (thrown instanceof ShapeError) return makeFailure(400, thrown.message);
    if (thrown instanceof ControlRefusal) return makeFailure(thrown.status, thrown.message);
    if (thrown instanceof SeedError) return makeFailure(422, thrown.message);
    throw thrown;
  }
}

async function readJson(incoming: Incoming): Promise<unknown> {
  const body = await readBody(incoming, MAX_BODY_BYTES);
  if (body === undefined)
    throw new ShapeError('the body', `is longer than ${MAX_BODY_BYTES} bytes`);
  if (body.length === 0) return undefined;
  try {
    return parseJson(body.toString('utf8'));
  } catch (thrown) {
    throw new ShapeError('the body', `is no JSON (${getErrorMessage(thrown)})`);
  }
}

/**
 * Returns the identity, the revision of the finds and the oldest kept journal entry, at little
 * cost.
 */
function viewHeartbeat(mock: Mock): unknown {
  return {
    pid: process.pid,
    revision: mock.archive.getRevision('samostatny_nalez'),
    oldest_entry: mock.journal.oldestId,
    clock: viewClock(mock),
  };
}

/** @throws ShapeError for a body, which would have no effect */
function assertNoBody(body: unknown): void {
  if (body !== undefined && JSON.stringify(body) !== '{}')
    throw new ShapeError('the body', 'must be empty');
}

async function resetAll(mock: Mock, { body }: { readonly body: unknown }): Promise<unknown> {
  assertNoBody(body);
  const startedMs = performance.now();
  await mock.reset();
  return { status: 'ok', ms: performance.now() - startedMs };
}

function clearJournal(mock: Mock): unknown {
  mock.journal.clear();
  return { status: 'ok' };
}

function saveSettings(mock: Mock, { body }: { readonly body: unknown }): unknown {
  mock.applySettings(readSettings(body));
  return mock.settings;
}

function moveClock(mock: Mock, { body }: { readonly body: unknown }): unknown {
  const command = clockCommand(body);
  instant((command.set ?? mock.clock.now()) + (command.advance_ms ?? 0), 'the clock');
  if (command.frozen === true) mock.clock.freeze();
  if (command.frozen === false) mock.clock.unfreeze();
  if (command.set !== undefined) mock.clock.set(command.set);
  if (command.advance_ms !== undefined) mock.clock.advance(command.advance_ms);
  return viewClock(mock);
}

/** Holds a record's lock like another request; 0 releases it. */
function holdLock(
  mock: Mock,
  { body, segment }: { readonly body: unknown; readonly segment: string },
): unknown {
  const { ms } = object({ ms: milliseconds })(body);
  if (mock.archive.get(segment)?.deleted !== false)
    throw new ControlRefusal(404, `there is no record ${segment}`);
  mock.locks.release(segment);
  if (ms > 0) mock.locks.hold(segment, ms);
  return { ident: segment, locked: ms > 0 };
}

/**
 * @throws HttpError where the assertion fails: with a status of its own, so that `curl --fail` ends
 * a job
 */
async function askVerify(mock: Mock, { body }: { readonly body: unknown }): Promise<unknown> {
  const usernames = mock.accounts.listAll().map(({ username }) => username);
  const verified = await verifyRequests(mock.journal, usernames, body);
  if (!verified.ok) throw new HttpError(makeJsonAnswer(406, verified));
  return verified;
}

const LOOPBACK = makeBlockList(['127.0.0.0/8', '::1']);
const ASKS_FOR_TOKEN = {
  'www-authenticate': 'Basic realm="control interface of the mock server", charset="UTF-8"',
};

/**
 * Explains why a caller may not use the control interface; undefined where it may. A caller with
 * the token may, from any host; where there is no token, any caller on this machine, whatever
 * address the server listens on.
 */
function checkAccess(mock: Mock, incoming: Incoming): Answer | undefined {
  const { message, headers, addresses } = incoming;
  const { origin, host, authorization } = headers;
  if (mock.controlToken === undefined) {
    if (!isInList(LOOPBACK, toPlainAddress(message.socket.remoteAddress ?? '')))
      return makeFailure(
        403,
        'the control interface answers on loopback only; a server with --control-token answers others as well',
      );
    if (!isNameOfThisMachine(mock, host))
      return makeFailure(403, `the control interface answers at ${mock.addresses.controlUrl}`);
  } else if (!hasToken(mock.controlToken, authorization)) {
    const error = 'the control interface asks for its token, as Bearer or as the password of Basic';
    return makeJsonAnswer(401, { error }, ASKS_FOR_TOKEN);
  }
  // A browser sends stored credentials with requests of any page, so the token alone does not
  // exclude foreign pages.
  const ownOrigins = [
    `http://${host}`,
    ...[addresses, mock.addresses].map(({ controlUrl }) => new URL(controlUrl).origin),
  ];
  const isOwn = origin === undefined || ownOrigins.includes(origin);
  return isOwn && !isFromAnotherSite(incoming)
    ? undefined
    : makeFailure(403, 'web pages from elsewhere may not use this');
}

/**
 * Tells if another web page made the request, which has no `Origin` where the page shows an image
 * or has no referrer. A link that a person follows to the page of the control interface may.
 */
function isFromAnotherSite({ method, headers }: Incoming): boolean {
  const site = headers['sec-fetch-site'];
  const isLink = method === 'GET' && headers['sec-fetch-mode'] === 'navigate';
  return (site === 'cross-site' || site === 'same-site') && !isLink;
}

function makeFailure(status: number, reason: string): Answer {
  return makeJsonAnswer(status, { error: reason });
}

/** Protects against DNS rebinding: a foreign host name that resolves to this server is refused. */
function isNameOfThisMachine({ addresses }: Mock, host: string | undefined): boolean {
  const url = `http://${host ?? ''}`;
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  const isLoopback = isInList(LOOPBACK, hostname.replace(/^\[(.*)\]$/, '$1'));
  return (
    isLoopback || hostname === 'localhost' || hostname === new URL(addresses.controlUrl).hostname
  );
}

/** Tells if credentials contain the token; a browser adds any user name. */
function hasToken(token: string, authorization: string | undefined): boolean {
  const [, scheme = '', credentials = ''] =
    /^(Bearer|Basic) +(\S.*)$/is.exec(authorization ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  // Headers arrive as Latin-1, whatever their bytes are.
  const text = Buffer.from(credentials, isBasic ? 'base64' : 'latin1').toString('utf8');
  const presented = isBasic ? text.replace(/^[^:]*:/, '') : text;
  const digestText = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digestText(presented), digestText(token));
}
