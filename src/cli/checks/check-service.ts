import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { withoutFullStop } from '../../base/characters.ts';
import { formatMoment, t } from '../../base/language.ts';
import { cmd, msg } from '../../base/message.ts';
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
  adviseOnNetwork,
  type ConnectionFacts,
  type HttpResponse,
  TransportError,
} from '../../service/http/exchange.ts';
import { parseErrorBody } from '../../service/outcome.ts';
import { type Account, makeUserInfoRequest, type Session } from '../../service/session.ts';
import {
  type Check,
  makeCheckOfError,
  makePassedCheck,
  makeProblemCheck,
  makeUncheckedChecks,
  makeWarningCheck,
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
 * result. Those that need an unreachable service are `unchecked`. Changes nothing at the service.
 */
export async function checkService(service: ServiceToCheck): Promise<Check[]> {
  const { baseUrl, session, send, clock } = service;
  let answer: HttpResponse;
  const connections: ConnectionFacts[] = [];
  try {
    // Without a token, so that there is an answer for any account.
    answer = await send({
      ...makeUserInfoRequest(baseUrl),
      onConnection: (facts) => connections.push(facts),
    });
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    const todo = adviseOnNetwork(thrown);
    return [
      makeProblemCheck(
        'service',
        t`${baseUrl} cannot be reached: ${thrown.message}.`,
        todo,
        'unavailable',
      ),
      ...makeUncheckedChecks(['connection', 'clock', 'account', 'writing']),
      await checkSchema(service, undefined),
    ];
  }
  const reached = [
    makePassedCheck('service', baseUrl),
    ...connections.map(describeConnection),
    checkClock(answer, clock.now()),
  ];
  try {
    const account = await fetchAccount({ baseUrl, session, send });
    return [
      ...reached,
      checkRole(service, account),
      await checkAccess(service),
      await checkSchema(service, account),
    ];
  } catch (thrown) {
    return [
      ...reached,
      makeCheckOfError('account', thrown),
      ...makeUncheckedChecks(['writing']),
      await checkSchema(service, undefined),
    ];
  }
}

function describeConnection({ address, family, proxy, certificates }: ConnectionFacts): Check {
  const way = proxy === undefined ? msg`direct` : msg`through the proxy ${proxy}`;
  const chain = certificates.map(({ owner, validUntilMs }) => {
    const until = formatMoment(validUntilMs);
    return t`${owner} (until ${until})`;
  });
  const chainText = chain.join(' ← ');
  const trust = chain.length === 0 ? msg`no TLS` : msg`certificates: ${chainText}`;
  return makePassedCheck('connection', t`${way}, to ${address} (${family}); ${trust}`);
}

function checkRole({ outbox }: ServiceToCheck, { name, identCely, role }: Account): Check {
  const who = `${name} (${identCely}), ${ROLE_WORDS[role]}`;
  if (role !== 'researcher') return makePassedCheck('account', who);
  const message = `${who}. ${t`A researcher may import finds into state 1 only.`}`;
  const refused = outbox === undefined ? 0 : countRefusedToResearchers(outbox);
  if (refused === 0) return makePassedCheck('account', message);
  return makeProblemCheck(
    'account',
    `${message} ${t`Queued entries that the service will refuse: ${refused}.`}`,
    t`Ask an archaeologist to send numbers and imports into states 2 and 3, or choose state 1: ${cmd`pas edit`} FIND --set stav=1`,
    'notAllowed',
  );
}

async function checkAccess(service: ServiceToCheck): Promise<Check> {
  const answer = await sendAccessProbe(service, await service.session.token());
  if (answer instanceof TransportError)
    return makeProblemCheck(
      'writing',
      t`${service.baseUrl} did not answer: ${answer.message}.`,
      adviseOnNetwork(answer),
      'unavailable',
    );
  const body = parseErrorBody(answer.body);
  const detail = body.kind === 'detail' ? `: ${withoutFullStop(body.detail)}` : '';
  const message = t`The write interface answered with status ${answer.status}${detail}.`;
  switch (answer.status) {
    case 405:
    case 429:
      return makePassedCheck('writing');
    case 403:
      return makeProblemCheck(
        'writing',
        message,
        t`Ask the operator of the service.`,
        'notAllowed',
      );
    case 503:
      return makeProblemCheck('writing', message, t`Push later; the queue is kept.`, 'unavailable');
    default:
      return makeWarningCheck('writing', message, t`Check base_url in the profile.`);
  }
}

/**
 * Compares the clocks: photographs and datestamps depend on the time, and a large error breaks TLS.
 */
function checkClock(response: HttpResponse, atMs: number): Check {
  const errorMs = atMs - Date.parse(response.headers['date'] ?? '');
  const seconds = `${errorMs < 0 ? '−' : '+'}${Math.round(Math.abs(errorMs) / 1000)}`;
  if (Math.abs(errorMs) <= MAX_CLOCK_ERROR_MS) return makePassedCheck('clock', `${seconds} s`);
  const message = Number.isNaN(errorMs)
    ? t`The service does not state its time.`
    : t`This machine's clock differs from the service's by ${seconds} s.`;
  return makeWarningCheck('clock', message, t`Correct this machine's clock.`);
}

/**
 * Checks the schema: which one a deployment accepts is certain only at the first import, but a
 * version that pas cannot check offline, or that is not at the profile's schema location, is wrong
 * already.
 */
async function checkSchema(service: ServiceToCheck, account: Account | undefined): Promise<Check> {
  const { schemaBase, schemaVersion, prefix, send, outbox } = service;
  if (!existsSync(join(packageRoot, 'schemas', 'svc', schemaVersion, 'svc.xsd'))) {
    return makeProblemCheck(
      'schema',
      t`pas does not know schema version ${schemaVersion}.`,
      t`Correct schema_version in the profile.`,
      'config',
    );
  }
  const names = account && findSchemaNamesProblem(service, account);
  if (names?.isCertain) return makeProblemCheck('schema', `${names.message}`, names.todo, 'config');
  const address = `${schemaBase}/${schemaVersion}/${prefix}.xsd`;
  const todo = t`Check schema_base, prefix and schema_version with the operator of the service.`;
  try {
    const { status, body } = await send({
      method: 'GET',
      url: address,
      headers: { accept: '*/*' },
    });
    if (status !== 200)
      return makeWarningCheck(
        'schema',
        t`There is no schema at ${address} (status ${status}).`,
        todo,
      );
    const nameSpace = `${schemaBase}/${schemaVersion}/`;
    if (!body.toString('utf8').includes(nameSpace)) {
      return makeWarningCheck(
        'schema',
        t`The schema at ${address} has a different namespace from the profile's.`,
        todo,
      );
    }
    const isAccepted = outbox !== undefined && hasAcceptedDocumentContaining(outbox, nameSpace);
    if (names !== undefined && !isAccepted)
      return makeWarningCheck('schema', `${names.message}`, names.todo);
    return makePassedCheck('schema', nameSpace);
  } catch (thrown) {
    if (!(thrown instanceof TransportError)) throw thrown;
    return makeWarningCheck('schema', t`${address} did not answer: ${thrown.message}.`, todo);
  }
}

/**
 * Requests the identity of the harvesting interface. Errors of pas become a problem.
 * @param open opens the client of the profile
 * @param stop ends the check, however long the service asks to wait
 */
export async function checkHarvesting(
  open: () => Promise<OaiClient>,
  stop: AbortSignal,
): Promise<Check> {
  try {
    const { repositoryName, baseUrl } = await (await open()).identify(stop);
    return makePassedCheck('harvesting', `${repositoryName}, ${baseUrl}`);
  } catch (thrown) {
    return stop.aborted ? makeLateCheck('harvesting') : makeCheckOfError('harvesting', thrown);
  }
}

/** Makes the problem that the service has not answered within the time for a check. */
export function makeLateCheck(name: string): Check {
  return makeProblemCheck(
    name,
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
export function checkVocabulary(vocabulary: Vocabulary | undefined, nowMs: number): Check {
  const harvests = vocabulary === undefined ? [] : listHarvests(vocabulary);
  const complete = harvests.flatMap(({ completedAtMs }) =>
    completedAtMs === null ? [] : [completedAtMs],
  );
  const todo = t`Run \`${cmd`pas harvest-vocab`}\`.`;
  if (complete.length === 0)
    return makeWarningCheck(
      'vocabulary-age',
      t`No vocabulary was harvested: terms cannot be checked offline.`,
      todo,
    );
  const days = Math.floor((nowMs - Math.min(...complete)) / 86_400_000);
  const message = t`sets: ${complete.length}; days since the oldest harvest: ${days}`;
  return days > OLD_VOCABULARY_DAYS
    ? makeWarningCheck('vocabulary-age', message, todo)
    : makePassedCheck('vocabulary-age', message);
}
