import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import { NEWEST_VERSION } from '../../base/addresses.ts';
import {
  type Answer,
  decodeSegment,
  HttpError,
  type Incoming,
  readBody,
} from '../../base/http-message.ts';
import { createWording } from '../../base/messages.ts';
import { makeHtmlPage } from '../../base/problem.ts';
import { parseAccept } from '../../rules/preconditions.ts';
import { runUnderFault, type SentAnswer } from '../../rules/run-under-fault.ts';
import { makeUnauthorised, signIn, signInBySession, type Viewer } from '../../rules/viewer.ts';
import type { JournalEntry } from '../../state/journal.ts';
import type { Mock } from '../../state/mock.ts';
import {
  type Envelope,
  type HarvestPath,
  parseHarvestPath,
  renderAnswer,
  renderError,
} from './envelope.ts';
import type { Harvest } from './harvest.ts';
import {
  ILLEGAL_VERB,
  makeBadArgument,
  ProtocolError,
  parseQuery,
  type Query,
} from './protocol.ts';
import { answerVerb } from './verbs.ts';

/** Limit of a form with arguments. */
const MAX_FORM_BYTES = 65_536;
const compress = promisify(gzip);
/** Minimum size for compression. */
const WORTHWHILE_BYTES = 1024;

/** Answers interface B: `/<x.y>/oai`, the generic `/oai` and the aliases `/id/<ident_cely>`. */
export async function answerHarvest(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
): Promise<SentAnswer> {
  if (mock.settings.outage) return makeHtmlPage(503, 'Service Temporarily Unavailable');
  const path = parseHarvestPath(incoming.path, mock.deployed);
  if (path === undefined) return makeHtmlPage(404, 'Not Found');
  if (!['GET', 'HEAD', 'POST'].includes(incoming.method)) {
    return makeHtmlPage(405, 'Method Not Allowed', { allow: 'GET, HEAD, POST' });
  }
  try {
    if (path.kind === 'generic') return redirectToNewest(mock, incoming);
    const query =
      path.kind === 'record' ? makeAliasQuery(incoming, path.ident) : await readArguments(incoming);
    const basic = authenticateReader(mock, incoming, path, query);
    const { viewer, cookie } = mock.deployed
      ? signInBySession(mock, incoming, basic)
      : { viewer: basic, cookie: undefined };
    entry.user = viewer.username;
    const rule = mock.faults.chooseFault(
      'oai',
      query.get('identifier')?.split('/').at(-1) ?? query.get('set') ?? undefined,
      query.has('resumptionToken') ? undefined : 'bad-resumption-token',
    );
    entry.fault = rule?.fault ?? null;
    if (rule?.fault === 'token-expired') return makeUnauthorised(mock.deployed);
    const say = createWording(incoming, mock.seedNumber);
    const answer = await runUnderFault(rule, { clock: mock.clock, say }, () =>
      answerRequest(mock, incoming, path, query, viewer, rule?.fault === 'bad-resumption-token'),
    );
    const headers =
      cookie === undefined ? answer.headers : { ...answer.headers, 'set-cookie': cookie };
    return await compressBody({ ...answer, headers }, incoming.headers['accept-encoding']);
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown.answer;
    throw thrown;
  }
}

/** 307 keeps the form of a POST; the deployed service's 302 loses it (B-ADDRESS-2). */
function redirectToNewest(mock: Mock, incoming: Incoming): Answer {
  const location = `${incoming.addresses.oaiBase}/${NEWEST_VERSION}/oai${incoming.search}`;
  const status = incoming.method === 'POST' && !mock.deployed ? 307 : 302;
  return makeHtmlPage(status, status === 307 ? 'Temporary Redirect' : 'Found', { location });
}

/**
 * Returns the query of an alias: `{oai_base}/id/<ident_cely>` is the record in the native format
 * (B-VERB-9).
 */
function makeAliasQuery({ addresses }: Incoming, ident: string): URLSearchParams {
  const identifier = `${addresses.idBase}/${decodeSegment(ident)}`;
  return new URLSearchParams({
    verb: 'GetRecord',
    metadataPrefix: `oai_${addresses.prefix}`,
    identifier,
  });
}

/**
 * Reads the arguments of the query, and of the form of a POST (OAI-PMH 2.0, section 3.1.1).
 * @throws HttpError
 */
async function readArguments(incoming: Incoming): Promise<URLSearchParams> {
  if (incoming.method !== 'POST') return incoming.query;
  const type = (incoming.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded')
    throw new HttpError(makeHtmlPage(415, 'Unsupported Media Type'));
  const form = await readBody(incoming, MAX_FORM_BYTES);
  if (form === undefined) throw new HttpError(makeHtmlPage(413, 'Content Too Large'));
  return new URLSearchParams([...incoming.query, ...new URLSearchParams(form.toString('utf8'))]);
}

/**
 * Returns the reader.
 * @throws HttpError 401, and the deployed service's answers to unreadable credentials (B-AUTH-3)
 */
function authenticateReader(
  mock: Mock,
  incoming: Incoming,
  path: HarvestPath,
  query: URLSearchParams,
): Viewer {
  const viewer = signIn(mock, incoming);
  if (viewer === undefined) throw new HttpError(makeUnauthorised(mock.deployed));
  if (typeof viewer === 'object') return viewer;
  if (!mock.deployed) throw new HttpError(makeUnauthorised(false));
  if (viewer === 'no-colon') throw new HttpError(makeHtmlPage(500, 'Internal Server Error'));
  const envelope = makeEnvelope(mock, incoming, path, query);
  throw new HttpError(
    makeXmlAnswer(renderError(envelope, new ProtocolError('badVerb', ILLEGAL_VERB))),
  );
}

async function answerRequest(
  mock: Mock,
  incoming: Incoming,
  path: HarvestPath,
  parameters: URLSearchParams,
  viewer: Viewer,
  refuseTokens: boolean,
): Promise<Answer> {
  const envelope = makeEnvelope(mock, incoming, path, parameters);
  const version = path.kind === 'version' ? path.version : NEWEST_VERSION;
  const harvest: Harvest = {
    mock,
    addresses: incoming.addresses,
    version,
    deployed: mock.deployed,
    viewer,
    requestUrl: envelope.requestUrl,
    nowMs: envelope.nowMs,
    refuseTokens,
  };
  try {
    const query = parseQuery(parameters, mock.deployed);
    if (path.kind === 'version' && !path.listed) assertListedVersion(query);
    return makeXmlAnswer(renderAnswer(envelope, await answerVerb(harvest, query)));
  } catch (thrown) {
    if (!(thrown instanceof ProtocolError)) throw thrown;
    incoming.reported.push(thrown.code);
    return makeXmlAnswer(renderError(envelope, thrown));
  }
}

/**
 * @throws HttpError or ProtocolError, by the verb, for an unknown version of the deployed service
 * (B-ADDRESS-7)
 */
function assertListedVersion({ verb }: Query): void {
  if (verb === 'Identify') throw new HttpError(makeHtmlPage(500, 'Internal Server Error'));
  if (verb === 'ListRecords' || verb === 'GetRecord')
    throw makeBadArgument('there is no such version');
}

function makeEnvelope(
  mock: Mock,
  incoming: Incoming,
  path: HarvestPath,
  query: URLSearchParams,
): Envelope {
  const segment = path.kind === 'version' ? path.segment : NEWEST_VERSION;
  return {
    nowMs: mock.clock.now(),
    responseMs: mock.harvestIndex.getResponseMs(mock.settings.response_date_shifts_ms),
    requestUrl: `${incoming.addresses.oaiBase}/${segment}/oai`,
    query,
    deployed: mock.deployed,
  };
}

function makeXmlAnswer(body: string): Answer {
  return { status: 200, headers: { 'content-type': 'text/xml;charset=UTF-8' }, body };
}

/**
 * Gzips an answer for a client that accepts it, at the lowest level: the processor limits harvests.
 */
async function compressBody(
  answer: SentAnswer,
  acceptEncoding: string | string[] | undefined,
): Promise<SentAnswer> {
  const headers = { ...answer.headers, vary: 'Accept-Encoding' };
  const plain = Buffer.isBuffer(answer.body) ? answer.body : Buffer.from(answer.body);
  if (plain.length < WORTHWHILE_BYTES || !isGzipAccepted(acceptEncoding))
    return { ...answer, headers, body: plain };
  const body = await compress(plain, { level: constants.Z_BEST_SPEED });
  return { ...answer, headers: { ...headers, 'content-encoding': 'gzip' }, body };
}

/**
 * Tells if `gzip` is accepted (RFC 9110, section 12.5.3): named, or by `*`, with a weight above
 * zero.
 */
function isGzipAccepted(header: string | string[] | undefined): boolean {
  if (header === undefined) return false;
  const accepted = parseAccept(String(header));
  const match =
    accepted.find(({ type }) => type === 'gzip') ?? accepted.find(({ type }) => type === '*');
  return match !== undefined && match.quality > 0;
}
