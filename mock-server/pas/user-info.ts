import type { SentAnswer } from '../fault-hooks.ts';
import { runUnderFault } from '../faults.ts';
import type { Incoming } from '../http-message.ts';
import type { JournalEntry } from '../journal.ts';
import { createWording } from '../messages.ts';
import type { Mock } from '../mock.ts';
import { acceptedTypes, accepts, authenticate } from '../preconditions.ts';
import { detail, htmlPage, xml } from '../problem.ts';
import { renderRecord } from '../records/render.ts';

/** `GET /api/uzivatel-info/`: the account's own `uzivatel` record (A-USER-1). Not throttled; offers XML only, errors are JSON. */
export async function answerUserInfo(mock: Mock, incoming: Incoming, entry: JournalEntry): Promise<SentAnswer> {
  const say = createWording(incoming, mock.seedNumber);
  if (mock.settings.outage) return htmlPage(503, 'Service Temporarily Unavailable');
  if (!accepts(acceptedTypes(incoming.headers.accept), 'application/xml')) return detail(406, say('not-acceptable'));
  const account = authenticate(mock, { incoming, say });
  entry.user = account.username;
  if (incoming.method !== 'GET') {
    return detail(405, say('method-not-allowed', incoming.method), { allow: 'GET' });
  }
  const rule = mock.faults.take('user-info');
  entry.fault = rule?.fault ?? null;
  if (rule?.fault === 'token-expired') {
    mock.accounts.expireTokenOf(account.user);
    return detail(401, say('token-expired'), { 'www-authenticate': 'Bearer' });
  }
  return runUnderFault(rule, { clock: mock.clock, say }, () => {
    const record = mock.archive.live('uzivatel', account.user);
    if (record === undefined) return detail(404, say('not-found'));
    const body = renderRecord(record.body, 'uzivatel', '2.2', incoming.addresses, { pretty: true, declaration: true });
    return xml(200, body, { 'content-type': 'application/xml; charset=utf-8' });
  });
}
