import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { removeFullStop } from '../base/characters.ts';
import { DAMAGE_HINT, toDatabaseError } from '../base/disk/database.ts';
import { findDamage } from '../base/disk/database-file.ts';
import { isLockingReliable } from '../base/disk/lock-file.ts';
import { ConfigError, type ExitReason, isDamageError, PasError } from '../base/errors.ts';
import { cmd, formatMoment, type Message, msg, t } from '../base/message.ts';
import {
  type DocumentProfile,
  findSchemaNamesProblem,
  readBundledSchema,
} from '../finds/document.ts';
import type { Vocabulary } from '../finds/vocabulary/term.ts';
import { listVocabularyHarvests } from '../finds/vocabulary/terms.ts';
import { makeContentStore } from '../outbox/changes/content-store.ts';
import { listUnacceptedPhotoEntries } from '../outbox/entry-queries.ts';
import { assertSoundLedger } from '../outbox/ledger.ts';
import type { Outbox } from '../outbox/open-outbox.ts';
import { getPushPlace } from '../outbox/push-lock.ts';
import { assertSoundOutbox, describeOutbox } from '../outbox/repair-outbox.ts';
import {
  assertAccountOfOutbox,
  fetchAccount,
  type OpenService,
  type ProbeContext,
  ROLE_WORDS,
  sendAccessProbe,
} from '../push/account.ts';
import {
  type AnswerHead,
  type ConnectionFacts,
  makeNoAnswerError,
  TransportError,
} from '../service/http/exchange.ts';
import { PaceStoreError } from '../service/http/pace-store.ts';
import { formatRedisEndpoint, type RedisPaceStore } from '../service/http/redis-pace-store.ts';
import { parseErrorBody } from '../service/outcome.ts';
import { type Account, makeUserInfoRequest } from '../service/session.ts';
import { isLoopback, type Profile } from './context/config.ts';
import type { Context } from './context/context.ts';
import { getRedisAddress, openRedisOfProfile } from './context/open-service.ts';
import { formatFindCount, LOST_LEDGER_NOTE } from './result-texts.ts';

/** Finding of a check. A push continues despite a warning; a problem prevents it, now or soon. */
export type Finding = {
  readonly level: 'ok' | 'warning' | 'problem';
  /** The finding for people: a path, a version, a figure, a sentence. */
  readonly message: string;
  /** Remedy; undefined when all is well. */
  readonly todo?: Message;
  /** Exit reason of a command that meets this problem; undefined for other levels. */
  readonly reason?: ExitReason;
};

/** A finding with the name of its check: stable, kebab-case, for programs. */
export type Check = Finding & { readonly name: string };

/**
 * Makes a finding of the level `ok`.
 * @param message path, version, figure or words to show
 */
export function makePass(message: string): Finding {
  return { level: 'ok', message };
}

/** Makes a finding of the level `warning`, with its remedy; a push continues despite it. */
export function makeWarning(message: string, todo: Message): Finding {
  return { level: 'warning', message, todo };
}

/**
 * Makes a finding of the level `problem`, which prevents a push, now or soon, with its remedy.
 * @param reason exit reason of a command that meets this problem, by default `dataRefused`
 */
export function makeProblem(
  message: string,
  todo: Message,
  reason: ExitReason = 'dataRefused',
): Finding {
  return { level: 'problem', message, todo, reason };
}

/**
 * Converts an error of a check to a problem with its message, remedy and exit reason.
 * @throws the error itself where it is none of pas, but a bug
 */
export function toProblem(thrown: unknown): Finding {
  const error = toDatabaseError(t`the data folder`, thrown);
  if (!(error instanceof PasError)) throw error;
  const todo = error.hint ?? t`Correct it and run \`${cmd`pas doctor`}\` again.`;
  return makeProblem(error.message, todo, error.exitReason);
}

const LITTLE_SPACE_MIB = 500;
const NO_SPACE_MIB = 20;

/**
 * Checks that the data folder can be read and written; a missing one is a warning, another fault a
 * problem. Nothing is written.
 */
export function checkHome(home: string): Finding {
  try {
    if (statSync(home, { throwIfNoEntry: false }) === undefined)
      return makeWarning(
        t`${home} does not exist yet`,
        t`Run \`${cmd`pas init`}\`. If the folder existed before, connect its drive first.`,
      );
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return makePass(home);
  } catch {
    return makeProblem(
      t`${home} cannot be written.`,
      t`Check its permissions and its drive, or set PAS_HOME to another folder.`,
      'config',
    );
  }
}

/**
 * Checks the free space of the disk of the data folder, or of its nearest existing parent: a
 * warning below 500 MiB, a problem below 20 MiB.
 * @throws the error of `statfs`, where the system tells no free space
 */
export function checkSpace(home: string): Finding {
  const place = findNearestExisting(home);
  const { bavail, bsize } = statfsSync(place);
  const freeMebibytes = Math.floor((bavail * bsize) / 1024 / 1024);
  const message = t`${freeMebibytes} MiB free in ${place}`;
  if (freeMebibytes < NO_SPACE_MIB) return makeProblem(message, t`Free some space.`, 'unavailable');
  if (freeMebibytes < LITTLE_SPACE_MIB) return makeWarning(message, t`Free some space.`);
  return makePass(message);
}

function findNearestExisting(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearestExisting(dirname(path));
}

/**
 * Checks that an SQLite file is intact, by reading all of it; a missing one passes.
 * @param todo remedy for a damaged file
 * @param assertSound throws where the content is damaged
 * @throws DatabaseError where the file cannot be read for another reason
 */
export function checkDatabase(
  path: string,
  todo: Message = DAMAGE_HINT,
  assertSound: (path: string) => void = () => {},
): Finding {
  const file = statSync(path, { throwIfNoEntry: false });
  if (file === undefined) return makePass(t`${path} does not exist yet`);
  try {
    const damage = findDamage(path).join('; ');
    if (damage !== '') return makeProblem(t`${path} is damaged: ${damage}.`, todo, 'config');
    assertSound(path);
    const kibibytes = Math.ceil(file.size / 1024);
    return makePass(t`${path} is intact (${kibibytes} KiB)`);
  } catch (thrown) {
    if (!isDamageError(thrown)) throw thrown;
    return makeProblem(toProblem(thrown).message, todo, 'config');
  }
}

/**
 * Checks the file of the outbox, its foreign keys, facts and intents. Returns, if all are sound, a
 * passed check with its service and user, and the number of its finds and unsent entries.
 * @param machine identifier of this machine; empty where it has none
 * @throws DatabaseError where anything is damaged
 */
export function checkOutbox(outbox: Outbox, machine: string): Finding {
  assertSoundOutbox(outbox);
  const { header, user = '–', finds, unsent } = describeOutbox(outbox, machine);
  const { address } = header;
  const found = formatFindCount(finds);
  return makePass(t`${address} (${user}): ${found}; entries not sent: ${unsent}`);
}

const MAX_NAMED = 3;

/**
 * Checks that the copy of every photograph that is neither accepted nor dropped exists, has its
 * size and is readable; a push verifies its bytes.
 * @param outbox undefined where there is none
 * @param onProgress called before each photograph
 * @throws DatabaseError where the outbox cannot be read; the system's error where a copy cannot be
 */
export function checkPhotographs(
  outbox: Outbox | undefined,
  photosFolder: string,
  onProgress: (doneCount: number, total: number) => void,
): Finding {
  const copies = makeContentStore(photosFolder);
  const waiting =
    outbox === undefined
      ? []
      : listUnacceptedPhotoEntries(outbox).map(({ photograph }) => photograph);
  const count = waiting.length;
  const missing = waiting.filter(({ sha512, sizeBytes }, index) => {
    onProgress(index, count);
    const path = copies.getPath(sha512);
    if (statSync(path, { throwIfNoEntry: false })?.size !== sizeBytes) return true;
    accessSync(path, constants.R_OK);
    return false;
  });
  if (missing.length === 0) return makePass(String(count));
  const names = missing
    .slice(0, MAX_NAMED)
    .map(({ name }) => name)
    .join(', ');
  return makeProblem(
    t`${missing.length} of ${count} queued photographs were removed or changed: ${names}.`,
    t`Queue them again with \`${cmd`pas photo add`} FIND FILE\`.`,
  );
}

/** Checks the file of the ledger, as {@link checkDatabase}, and each fact in it. */
export function checkLedger(file: string): Finding {
  return checkDatabase(
    file,
    t`Move it aside, and make it again from the outboxes: ${cmd`pas doctor --repair`}`,
    assertSoundLedger,
  );
}

/**
 * Checks that a lock in the folder excludes another process, which may block the thread for 20
 * seconds; a missing folder passes.
 * @throws DatabaseError where no lock can be made in the folder
 */
export function checkLocks(folder: string): Finding {
  if (!existsSync(folder) || isLockingReliable(folder)) return makePass(folder);
  return makeProblem(
    t`A lock in ${folder} does not prevent a second push: finds could be sent twice.`,
    t`Move the state folder to a disk of this machine (PAS_STATE), and never start two pushes at once.`,
  );
}

/**
 * Checks that a push from this machine is permitted; a problem also where the ledger is unusable. A
 * lost ledger passes with a note: a push then searches the service first.
 * @param machine identifier of this machine; empty where it has none
 */
export function checkMachineOfOutbox(outbox: Outbox, machine: string): Finding {
  const { ledger, ledgerProblem } = outbox;
  if (ledgerProblem !== undefined) return toProblem(ledgerProblem);
  const place = ledger === undefined ? 'new' : getPushPlace(outbox, machine);
  if (place === 'lost-ledger') return makePass(String(LOST_LEDGER_NOTE));
  if (place !== 'foreign') return makePass(t`this machine`);
  return makeProblem(
    t`This outbox was pushed from another place.`,
    t`If you no longer push from there: ${cmd`pas push --take-over`}`,
  );
}

/**
 * Checks the store of the pace: the local file, or the profile's Redis. A local file that does not
 * exist yet passes; a password that is sent unencrypted to another machine is a warning; a store
 * that is damaged, silent or read-only, or that refuses, is a problem.
 * @throws DatabaseError where the local file cannot be read; ConfigError where `pacing` is no
 * address of a Redis
 */
export async function checkPaceStore(context: Context, profile: Profile): Promise<Finding> {
  if (profile.pacing !== 'local') return checkRedis(context, profile);
  return checkDatabase(
    context.places.paceFile,
    t`Delete it while no pas process is running; it stores only the time of the last request.`,
  );
}

async function checkRedis(context: Context, profile: Profile): Promise<Finding> {
  const address = getRedisAddress(profile);
  const place = formatRedisEndpoint(address);
  const seconds = profile.pacingFallbackIntervalMs / 1000;
  const todo = t`Check that Redis runs there and accepts connections from this machine; until then a push sends one request every ${seconds} s.`;
  let store: RedisPaceStore | undefined;
  try {
    store = await openRedisOfProfile(context, profile);
    const summary = t`Redis at ${place} answers`;
    const isOpen = !address.tls && !isLoopback(address.host);
    if (!isOpen || context.environment['PAS_PACING_PASSWORD'] === undefined)
      return makePass(summary);
    return makeWarning(
      t`${summary}; the password is sent unencrypted.`,
      t`Use rediss:// if the Redis has TLS.`,
    );
  } catch (thrown) {
    if (thrown instanceof ConfigError) return makeProblem(thrown.message, thrown.hint ?? todo);
    if (!(thrown instanceof PaceStoreError)) throw thrown;
    return makeProblem(t`The pacing store at ${place} cannot be used: ${thrown.message}.`, todo);
  } finally {
    store?.close();
  }
}

const MAX_CLOCK_ERROR_MS = 60_000;

type ServiceToCheck = ProbeContext & DocumentProfile & OpenService;

/**
 * Checks connection, clock, account, permission to write, and the schema, each with a result of its
 * own. An unreachable service, an unknown account or one that is not the outbox's is a problem, and
 * the checks that it prevents are left out. Nothing is changed at the service.
 * @param outbox undefined where there is none, or it is damaged
 * @throws ConfigError for an unusable proxy or file of certificates
 */
export async function checkService(service: ServiceToCheck, outbox?: Outbox): Promise<Check[]> {
  const { baseUrl, send, clock } = service;
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
    account = await fetchAccount(service);
    if (outbox !== undefined) assertAccountOfOutbox(outbox, service, account);
    checks.push(
      { name: 'account', ...makePass(formatRole(account)) },
      { name: 'writing', ...(await checkAccess(service)) },
    );
  } catch (thrown) {
    if (checks.length > 0) checks.push({ name: 'account', ...toProblem(thrown) });
    else if (thrown instanceof TransportError)
      checks.push({ name: 'service', ...toProblem(makeNoAnswerError(baseUrl, thrown)) });
    else throw thrown;
  }
  return [...checks, { name: 'schema', ...(await checkSchema(service, account).catch(toProblem)) }];
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

function formatRole({ name, identCely, role }: Account): string {
  const who = `${name} (${identCely}), ${ROLE_WORDS[role]}`;
  return role === 'researcher'
    ? `${who}. ${t`A researcher may import finds into state 1 only.`}`
    : who;
}

/**
 * Tells if the account may write, by a GET with the checks of a write: 405 comes after these, and a
 * throttle (429) is no refusal.
 */
async function checkAccess(service: ServiceToCheck): Promise<Finding> {
  const answer = await sendAccessProbe(service, await service.session.token());
  if (answer instanceof TransportError)
    return toProblem(makeNoAnswerError(service.baseUrl, answer));
  const body = parseErrorBody(answer.body);
  const detail = body.kind === 'detail' ? `: ${removeFullStop(body.detail)}` : '';
  const message = t`The write interface answered with status ${answer.status}${detail}.`;
  switch (answer.status) {
    case 405:
    case 429:
      return makePass(t`This account may write.`);
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
 * A warning from one minute on; an answer without the server's time passes.
 */
function checkClock(response: AnswerHead, atMs: number): Finding {
  const errorMs = atMs - Date.parse(response.headers['date'] ?? '');
  if (Number.isNaN(errorMs)) return makePass(t`The service does not state its time.`);
  const seconds = `${errorMs < 0 ? '−' : '+'}${Math.round(Math.abs(errorMs) / 1000)}`;
  if (Math.abs(errorMs) <= MAX_CLOCK_ERROR_MS) return makePass(`${seconds} s`);
  return makeWarning(
    t`This machine's clock differs from the service's by ${seconds} s.`,
    t`Correct this machine's clock.`,
  );
}

/**
 * Checks the schema names of the profile: a problem or a warning for another name or address than
 * the service uses, which only a known account tells.
 * @throws ConfigError for a version that pas does not know
 */
async function checkSchema(
  profile: DocumentProfile,
  account: Account | undefined,
): Promise<Finding> {
  const { schemaBase, schemaVersion } = profile;
  await readBundledSchema(profile);
  const names = account && findSchemaNamesProblem(profile, account);
  if (names === undefined) return makePass(`${schemaBase}/${schemaVersion}/`);
  return names.isCertain
    ? makeProblem(String(names.message), names.todo, 'config')
    : makeWarning(String(names.message), names.todo);
}

const OLD_VOCABULARY_DAYS = 90;

/**
 * Checks the age of the oldest complete harvest of a set: a warning after 90 days, or where none is
 * complete.
 * @param vocabulary undefined where nothing was harvested yet
 * @param nowMs by the clock of this machine
 */
export function checkVocabulary(vocabulary: Vocabulary | undefined, nowMs: number): Finding {
  const harvests = vocabulary === undefined ? [] : listVocabularyHarvests(vocabulary);
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
