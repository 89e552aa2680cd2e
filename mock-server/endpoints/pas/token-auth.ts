import { type Answer, type Incoming, isWithoutBody, readBody } from '../../base/http-message.ts';
import { createWording, type Say } from '../../base/messages.ts';
import { readFormFields } from '../../base/multipart.ts';
import {
  makeDetailAnswer,
  makeHtmlPage,
  makeJsonAnswer,
  makeXmlAnswer,
} from '../../base/problem.ts';
import { authenticate, isAccepted, parseAccept } from '../../rules/preconditions.ts';
import { runUnderFault, type SentAnswer } from '../../rules/run-under-fault.ts';
import type { JournalEntry } from '../../state/journal.ts';
import type { Mock } from '../../state/mock.ts';
import { renderRecord } from '../../state/records/render.ts';

const MAX_BODY_BYTES = 64 * 1024;

/**
 * Answers `POST /api/token-auth/` with the account's token (A-AUTH-2). Access lists and throttling
 * do not apply. A deactivated account gets a token, too, which is refused when used.
 */
export async function answerTokenAuth(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
): Promise<SentAnswer> {
  const say = createWording(incoming, mock.seedNumber);
  if (mock.settings.outage) return makeHtmlPage(503, 'Service Temporarily Unavailable');
  if (incoming.method !== 'POST')
    return makeDetailAnswer(405, say('method-not-allowed', incoming.method), { allow: 'POST' });
  const rule = mock.faults.chooseFault('token');
  entry.fault = rule?.fault ?? null;
  return runUnderFault(rule, { clock: mock.clock, say }, async () => {
    const credentials = await readCredentials(incoming, say);
    if (!(credentials instanceof Map)) return credentials;
    const username = credentials.get('username')?.trim() ?? '';
    const password = credentials.get('password') ?? '';
    const missing = [username === '' ? 'username' : '', password === '' ? 'password' : ''].filter(
      (name) => name !== '',
    );
    if (missing.length > 0)
      return makeJsonAnswer(
        400,
        Object.fromEntries(missing.map((name) => [name, [say('field-required')]])),
      );
    const account = mock.accounts.signIn(username, password);
    if (account === undefined)
      return makeJsonAnswer(400, { non_field_errors: [say('bad-credentials')] });
    entry.user = account.username;
    const token = mock.accounts.issueToken(account.user, mock.settings.token_ms);
    // Simulates a shared token that expires right after it was issued.
    if (rule?.fault === 'token-expired') mock.accounts.expireToken(account.user);
    return makeJsonAnswer(200, { token });
  });
}

/** Reads credentials as JSON or as a form of either type. */
async function readCredentials(
  incoming: Incoming,
  say: Say,
): Promise<Map<string, string> | Answer> {
  if (isWithoutBody(incoming)) return new Map();
  const contentType = (incoming.headers['content-type'] ?? '').toLowerCase();
  if (contentType.startsWith('multipart/form-data')) {
    const fields = await readFormFields(incoming, MAX_BODY_BYTES);
    return fields ?? makeDetailAnswer(400, say('multipart-malformed'));
  }
  const body = await readBody(incoming, MAX_BODY_BYTES);
  if (body === undefined) return makeHtmlPage(413, 'Request Entity Too Large');
  if (contentType.startsWith('application/x-www-form-urlencoded')) {
    return new Map(new URLSearchParams(body.toString('utf8')));
  }
  if (!contentType.startsWith('application/json'))
    return makeDetailAnswer(415, say('media-type', contentType));
  return parseJsonFields(body) ?? makeDetailAnswer(400, say('body-malformed'));
}

function parseJsonFields(body: Buffer): Map<string, string> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return new Map(
      Object.entries(value).map(([name, field]) => [name, typeof field === 'string' ? field : '']),
    );
  } catch {
    return undefined;
  }
}

/**
 * Answers `GET /api/uzivatel-info/` with the account's `uzivatel` record (A-USER-1): not throttled;
 * errors are JSON.
 */
export async function answerUserInfo(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
): Promise<SentAnswer> {
  const say = createWording(incoming, mock.seedNumber);
  if (mock.settings.outage) return makeHtmlPage(503, 'Service Temporarily Unavailable');
  if (!isAccepted(parseAccept(incoming.headers.accept), 'application/xml'))
    return makeDetailAnswer(406, say('not-acceptable'));
  const account = authenticate(mock, incoming, say);
  entry.user = account.username;
  if (incoming.method !== 'GET') {
    return makeDetailAnswer(405, say('method-not-allowed', incoming.method), { allow: 'GET' });
  }
  const rule = mock.faults.chooseFault('user-info');
  entry.fault = rule?.fault ?? null;
  if (rule?.fault === 'token-expired') {
    mock.accounts.expireToken(account.user);
    return makeDetailAnswer(401, say('token-expired'), { 'www-authenticate': 'Bearer' });
  }
  return runUnderFault(rule, { clock: mock.clock, say }, () => {
    const record = mock.archive.findLive('uzivatel', account.user);
    if (record === undefined) return makeDetailAnswer(404, say('not-found'));
    const body = renderRecord(record.body, 'uzivatel', '2.2', incoming.addresses, {
      pretty: true,
      declaration: true,
    });
    return makeXmlAnswer(200, body, { 'content-type': 'application/xml; charset=utf-8' });
  });
}
