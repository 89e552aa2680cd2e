import { type Answer, decodeSegment, HttpError, type Incoming } from '../../base/http-message.ts';
import { createWording } from '../../base/messages.ts';
import { makeDetailAnswer, makeHtmlPage } from '../../base/problem.ts';
import { checkPreconditions, getQuality, parseAccept } from '../../rules/preconditions.ts';
import { runUnderFault, type SentAnswer } from '../../rules/run-under-fault.ts';
import type { WriteRequest } from '../../rules/write-request.ts';
import type { JournalEntry } from '../../state/journal.ts';
import type { Mock } from '../../state/mock.ts';
import { escapeText } from '../../state/records/render.ts';
import { importFind } from './import-xml.ts';
import { attachPhotograph } from './photograph.ts';
import { changeRegistrationNumber } from './registration-number.ts';

type Endpoint = {
  readonly name: 'import' | 'number' | 'photo';
  readonly path: RegExp;
  readonly method: 'POST' | 'PATCH';
  run(mock: Mock, request: WriteRequest, record: string): Promise<Answer>;
};

/** Paths of A-GATE-2, without a final slash. */
const ENDPOINTS: readonly Endpoint[] = [
  { name: 'import', path: /^\/api\/pas\/import-xml$/, method: 'POST', run: importFind },
  {
    name: 'number',
    path: /^\/api\/pas\/nalez\/([^/]+)\/evidencni-cislo$/,
    method: 'PATCH',
    run: changeRegistrationNumber,
  },
  {
    name: 'photo',
    path: /^\/api\/pas\/nalez\/([^/]+)\/upload-foto$/,
    method: 'POST',
    run: attachPhotograph,
  },
];

/** Answers the write endpoints: preconditions, then the operation under the active fault. */
export async function answerWrite(
  mock: Mock,
  incoming: Incoming,
  entry: JournalEntry,
): Promise<SentAnswer> {
  const say = createWording(incoming, mock.seedNumber);
  const endpoint = ENDPOINTS.find((candidate) => candidate.path.test(incoming.path));
  // No view of the service has such a path, so that its framework answers.
  if (endpoint === undefined) {
    incoming.reported.push('not-found');
    return makeHtmlPage(404, 'Not Found');
  }
  const segment = endpoint.path.exec(incoming.path)?.[1];
  const record = segment === undefined ? undefined : decodeSegment(segment);
  mock.journal.measureAddress(entry, incoming);
  try {
    const account = checkPreconditions(mock, {
      incoming,
      entry,
      say,
      allowedMethod: endpoint.method,
      record,
    });
    const rule = mock.faults.chooseFault(endpoint.name, record);
    entry.fault = rule?.fault ?? null;
    if (rule?.fault === 'token-expired') {
      mock.accounts.expireToken(account.user);
      return makeDetailAnswer(401, say('token-expired'), { 'www-authenticate': 'Bearer' });
    }
    const { latency_ms } = mock.settings;
    if (latency_ms > 0) await mock.clock.sleep(latency_ms);
    return await runUnderFault(rule, { clock: mock.clock, say }, (hooks) =>
      endpoint.run(mock, { incoming, account, say, hooks, fault: rule?.fault }, record ?? ''),
    );
  } catch (thrown) {
    if (thrown instanceof HttpError) return toAcceptedFormat(thrown.answer, incoming);
    throw thrown;
  }
}

/**
 * Converts errors to HTML for a client that prefers it to JSON (A-GATE-7); that the interface is
 * closed is said before the format is negotiated.
 */
function toAcceptedFormat(answer: Answer, incoming: Incoming): Answer {
  const accepted = parseAccept(incoming.headers.accept);
  const wantsHtml = getQuality(accepted, 'text/html') > getQuality(accepted, 'application/json');
  if (!wantsHtml || answer.status === 503 || answer.headers['content-type'] !== 'application/json')
    return answer;
  const headers = { ...answer.headers, 'content-type': 'text/html; charset=utf-8' };
  return {
    ...answer,
    headers,
    body: `<!DOCTYPE html>\n<html><body><pre>${escapeText(answer.body.toString())}</pre></body></html>\n`,
  };
}
