import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withoutFullStop } from '../../base/characters.ts';
import { cmd, formatMoment, msg, t } from '../../base/message.ts';
import { packageRoot } from '../../base/own-files.ts';
import { findSchemaNamesProblem } from '../../finds/document.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import { listHarvests } from '../../finds/vocabulary/terms.ts';
import type { OaiClient } from '../../harvest/client.ts';
import type { Outbox } from '../../outbox/open-outbox.ts';
import {
  countRefusedToResearchers,
  hasAcceptedDocumentContaining,
} from '../../outbox/views/outbox-status.ts';
import { fetchAccount, ROLE_WORDS } from '../../push/account.ts';
import { type ProbeContext, sendAccessProbe } from '../../push/departure.ts';
import {
  type ConnectionFacts,
  type HttpResponse,
  makeNoAnswerError,
  TransportError,
} from '../../service/http/exchange.ts';
import { parseErrorBody } from '../../service/outcome.ts';
import { type Account, makeUserInfoRequest, type Session } from '../../service/session.ts';
import {
  type Check,
  type Finding,
  makePass,
  makeProblem,
  makeWarning,
  toProblem,
} from './check-machine.ts';

type ServiceToCheck = ProbeContext & {
  readonly schemaBase: string;
  readonly schemaVersion: string;
  readonly prefix: string;
  readonly session: Session;
  /** Undefined where there is none, or a damaged one. */
  readonly outbox: Outbox | undefined;
};

const MAX_CLOCK_ERROR_MS = 60_000;

/**
 * Checks reach, clock, account, role, permission to write, and the schema, each with its own
 * result; without those that an unreachable service or an unknown account prevents. Changes nothing
 * at the service.
 */
export async function checkService(service: ServiceToCheck): Promise<Check[]> {
  const { baseUrl, session, send, clock } = service;
  const checks: Check[] = [];
  let account: Account | undefined;
  try {
    const connections: ConnectionFacts[] = [];
    // Without a token, so that there is an answer for any account.
    const answer = await send({
      ...makeUserInfoRequest(baseUrl),
      onConnection: (facts) => connections.push(facts),
    });
    checks.push(
      { name: 'service', ...makePass(baseUrl) },
      { name: 'connection', ...makePass(connections.map(formatConnection).join('; ')) },
      { name: 'clock', ...checkClock(answer, clock.now()) },
    );
    account = await fetchAccount({ baseUrl, session, send });
    checks.push(
      { name: 'account', ...checkRole(service, account) },
      { name: 'writing', ...(await checkAccess(service)) },
    );
  } catch (thrown) {
    if (checks.length > 0) checks.push({ name: 'account', ...toProblem(thrown) });
    else if (thrown instanceof TransportError)
      checks.push({ name: 'service', ...toProblem(makeNoAnswerError(baseUrl, thrown)) });
    else throw thrown;
  }
  return [...checks, { name: 'schema', ...(await checkSchema(service, account)) }];
}

function formatConnection({ address, family, proxy, certificates }: ConnectionFacts): string {
  const way = proxy === undefined ? msg`direct` : msg`through the proxy ${proxy}`;
  const chain = certificates.map(({ owner, validUntilMs }) => {
    const until = formatMoment(validUntilMs);
    return t`${owner} (until ${until})`;
  });
  const chainText = chain.join(' ← ');
  const trust = chain.length === 0 ? msg`no TLS` : msg`certificates: ${chainText}`;
  return t`${way}, to ${address} (${family}); ${trust}`;
}

function checkRole({ outbox }: ServiceToCheck, { name, identCely, role }: Account): Finding {
  const who = `${name} (${identCely}), ${ROLE_WORDS[role]}`;
  if (role !== 'researcher') return makePass(who);
  const message = `${who}. ${t`A researcher may import finds into state 1 only.`}`;
  const refused = outbox === undefined ? 0 : countRefusedToResearchers(outbox);
  if (refused === 0) return makePass(message);
  return makeProblem(
    `${message} ${t`Queued entries that the service will refuse: ${refused}.`}`,
    t`Ask an archaeologist to send numbers and imports into states 2 and 3, or choose state 1: ${cmd`pas edit`} FIND --set stav=1`,
    'notAllowed',
  );
}

async function checkAccess(service: ServiceToCheck): Promise<Finding> {
  const answer = await sendAccessProbe(service, await service.session.token());
  if (answer instanceof TransportError)
    return toProblem(makeNoAnswerError(service.baseUrl, answer));
  const body = parseErrorBody(answer.body);
  const detail = body.kind === 'detail' ? `: ${withoutFullStop(body.detail)}` : '';
  const message = t`The write interface answered with status ${answer.status}${detail}.`;
  switch (answer.status) {
    case 405:
    case 429:
      return makePass();
    case 403:
      return makeProblem(message, t`Ask the operator of the service.`, 'notAllowed');
    case 503:
      return makeProblem(message, t`Push later; the queue is kept.`, 'unavailable');
    default:
      return makeWarning(message, t`Check base_url in the profile.`);
  }
}

/**
 * Compares the clocks: photographs and datestamps depend on the time, and a large error breaks TLS.
 */
function checkClock(response: HttpResponse, atMs: number): Finding {
  const errorMs = atMs - Date.parse(response.headers['date'] ?? '');
  const seconds = `${errorMs < 0 ? '−' : '+'}${Math.round(Math.abs(errorMs) / 1000)}`;
  if (Math.abs(errorMs) <= MAX_CLOCK_ERROR_MS) return makePass(`${seconds} s`);
  const message = Number.isNaN(errorMs)
    ? t`The service does not state its time.`
    : t`This machine's clock differs from the service's by ${seconds} s.`;
  return makeWarning(message, t`Correct this machine's clock.`);
}

/**
 * Checks the schema: which one a deployment accepts is certain only at the first import, but a
 * version that pas cannot check offline, or that is not at the profile's schema location, is wrong
 * already.
 */
async function checkSchema(
  service: ServiceToCheck,
  account: Account | undefined,
): Promise<Finding> {
  const { schemaBase, schemaVersion, prefix, send, outbox } = service;
  if (!existsSync(join(packageRoot, 'schemas', 'svc', schemaVersion, 'svc.xsd'))) {
    return makeProblem(
      t`pas does not know schema version ${schemaVersion}.`,
      t`Correct schema_version in the profile.`,
      'config',
    );
  }
  const names = account && findSchemaNamesProblem(service, account);
  if (names?.isCertain) return makeProblem(`${names.message}`, names.todo, 'config');
  const address = `${schemaBase}/${schemaVersion}/${prefix}.xsd`;
  const todo = t`Check schema_base, prefix and schema_version with the operator of the service.`;
  try {
    const { status, body } = await send({
      method: 'GET',
      url: address,
      headers: { accept: '*/*' },
    });
    if (status !== 200)
      return makeWarning(t`There is no schema at ${address} (status ${status}).`, todo);
    const nameSpace = `${schemaBase}/${schemaVersion}/`;
    if (!body.toString('utf8').includes(nameSpace)) {
      return makeWarning(
        t`The schema at ${address} has a different namespace from the profile's.`,
        todo,
      );
    }
    const isAccepted = outbox !== undefined && hasAcceptedDocumentContaining(outbox, nameSpace);
    if (names !== undefined && !isAccepted) return makeWarning(`${names.message}`, names.todo);
    return makePass(nameSpace);
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    return makeWarning(t`${address} did not answer: ${thrown.message}.`, todo);
  }
}

/**
 * Requests the identity of the harvesting interface.
 * @param open opens the client of the profile
 * @param stop ends the check, however long the service asks to wait
 * @throws PasError where the interface refuses, or its answer is no answer of OAI-PMH
 */
export async function checkHarvesting(
  open: () => Promise<OaiClient>,
  stop: AbortSignal,
): Promise<Finding> {
  try {
    const { repositoryName, baseUrl } = await (await open()).identify(stop);
    return makePass(`${repositoryName}, ${baseUrl}`);
  } catch (thrown) {
    if (stop.aborted) return makeLateProblem();
    throw thrown;
  }
}

/** Makes the problem that the service has not answered within the time for a check. */
export function makeLateProblem(): Finding {
  return makeProblem(
    t`The service took too long to answer.`,
    t`Check the network. The queue is kept.`,
    'unavailable',
  );
}

const OLD_VOCABULARY_DAYS = 90;

/**
 * Checks the age of the oldest complete harvest; a warning where it is old, or there is none.
 * @param vocabulary undefined where nothing was harvested yet
 */
export function checkVocabulary(vocabulary: Vocabulary | undefined, nowMs: number): Finding {
  const harvests = vocabulary === undefined ? [] : listHarvests(vocabulary);
  const complete = harvests.flatMap(({ completedAtMs }) =>
    completedAtMs === null ? [] : [completedAtMs],
  );
  const todo = t`Run \`${cmd`pas harvest-vocab`}\`.`;
  if (complete.length === 0)
    return makeWarning(t`No vocabulary was harvested: terms cannot be checked offline.`, todo);
  const days = Math.floor((nowMs - Math.min(...complete)) / 86_400_000);
  const message = t`sets: ${complete.length}; days since the oldest harvest: ${days}`;
  return days > OLD_VOCABULARY_DAYS ? makeWarning(message, todo) : makePass(message);
}
