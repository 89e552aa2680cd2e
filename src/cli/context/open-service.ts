import { existsSync } from 'node:fs';
import { formatIso } from '../../base/clock.ts';
import { AuthError, ConfigError, PasError } from '../../base/errors.ts';
import { cmd, type Message, t } from '../../base/message.ts';
import type { LookupTerm } from '../../finds/find.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import type { OaiClient } from '../../harvest/client.ts';
import type { OaiCredentials } from '../../harvest/send-request.ts';
import { makeContentStore } from '../../outbox/changes/content-store.ts';
import type { Photograph } from '../../outbox/facts.ts';
import type { OpenService } from '../../push/account.ts';
import type { HarvestAccess, ServiceAccess } from '../../push/push-context.ts';
import {
  type Exchange,
  formatPause,
  withAnswerTimeout,
  withRetry,
} from '../../service/http/exchange.ts';
import { withMaskedAnswers } from '../../service/http/masking.ts';
import { openPaceStore, type PaceStore, PaceStoreError } from '../../service/http/pace-store.ts';
import { makePace, type Pace } from '../../service/http/pacer.ts';
import {
  formatRedisEndpoint,
  isRedisAddressFault,
  parseRedisAddress,
  type RedisAddress,
  type RedisPaceStore,
} from '../../service/http/redis-pace-store.ts';
import { openVerifiedFile } from '../../service/http/request-body.ts';
import { makeSecretsOwner } from '../../service/secrets.ts';
import type { Account } from '../../service/session.ts';
import type { Mapping } from '../../tables/own-terms/mapping.ts';
import { requireConfirmation } from '../terminal.ts';
import { isProtectedAddress, type Profile } from './config.ts';
import {
  type Context,
  findOwnHarvestBase,
  getPassword,
  getProfileUser,
  handleSignals,
  requireHarvestBase,
} from './context.ts';

/**
 * Opens the write interface for the account of the environment or the profile. A token in PAS_TOKEN
 * is used as it is; otherwise the session signs in when needed, and stores its token. No request is
 * sent yet.
 * @throws ConfigError where no profile is chosen or the secrets are damaged; AuthError where they
 * are in an unavailable keyring
 */
export async function openService(context: Context): Promise<OpenService> {
  const profile = context.getProfile();
  const { baseUrl, username, answerTimeoutMs } = profile;
  const password = getPassword(context, profile);
  const send = withAnswerTimeout(
    answerTimeoutMs,
    withMaskedPassword((await context.openConnections()).send, password),
  );
  const lent = context.environment['PAS_TOKEN']?.trim();
  const owner = makeSecretsOwner(profile);
  const keeper = {
    read: () => context.openSecrets().get(owner).token,
    write: (token: string) =>
      context.openSecrets().set(owner, { ...context.openSecrets().get(owner), token }),
  };
  const { makeExternalTokenSession, openSession } = await import('../../service/session.ts');
  const session =
    lent === undefined
      ? openSession({ baseUrl, username, password, send, keeper, clock: context.clock })
      : makeExternalTokenSession(lent);
  return {
    baseUrl,
    username,
    send,
    session,
    usesExternalToken: lent !== undefined,
    profile: getProfileUser(context),
  };
}

/**
 * Wraps the sending of requests so that answers do not contain the password, except those with
 * status 200 and 201: the password may be a word of their data.
 * @param password undefined where there is none to mask
 */
export function withMaskedPassword(send: Exchange, password: string | undefined): Exchange {
  return withMaskedAnswers([], send, password === undefined ? [] : [password]);
}

/**
 * Prints the instance of the service, and the account, to which a command writes, or for which it
 * queues, so that production and training are not confused; nothing under `--quiet`.
 */
export function announceService({ terminal, getProfile }: Context): void {
  const { kind, baseUrl, username, name } = getProfile();
  const account = username ?? t`no user name`;
  const { green, yellow } = terminal.color;
  terminal.note(
    kind === 'training'
      ? green(
          t`TRAINING: ${baseUrl}, account ${account}, profile ${name}. Its records are not real.`,
        )
      : yellow(t`PRODUCTION: ${baseUrl}, account ${account}, profile ${name}. Records are real.`),
  );
}

/**
 * Asks a person at each call if this command may write to production, unless `--yes` says so; a
 * profile of a training instance needs no confirmation.
 * @throws UsageError without a terminal and `--yes`, or when the answer is no; InterruptedError on
 * Ctrl-C
 */
export async function requireProductionConfirmation(context: Context): Promise<void> {
  const profile = context.getProfile();
  if (profile.kind !== 'production') return;
  const account = profile.username ?? t`this account`;
  await requireConfirmation(
    context,
    t`Write real records to the production service ${profile.baseUrl} as ${account}?`,
  );
}

/**
 * Opens what a lookup at the service needs, by the profile: outbox, write interface, and the
 * harvesting interface where that shows the profile's own records.
 * @throws ConfigError and AuthError as {@link openService}; DatabaseError where the outbox is
 * unusable
 */
export async function openServiceAccess(context: Context): Promise<ServiceAccess> {
  const { prefix, indexAllowanceMs, oaiAuth: auth } = context.getProfile();
  const harvesting: HarvestAccess = {
    open: () => openHarvestClient(context),
    auth,
    format: `oai_${prefix}`,
    indexAllowanceMs,
  };
  return {
    outbox: await context.openOutbox(),
    service: await openService(context),
    harvesting: findOwnHarvestBase(context) === undefined ? undefined : harvesting,
    clock: context.clock,
    lock: context.getOutboxPlaces().lock,
  };
}

/**
 * Opens the harvesting client of the profile with its authentication; it repeats requests after
 * pauses where that is safe. Nothing is requested yet.
 * @throws ConfigError where the profile has no harvesting interface; AuthError where it must sign
 * in there, and the user name or password is missing or the keyring unavailable
 */
export async function openHarvestClient(context: Context): Promise<OaiClient> {
  const profile = context.getProfile();
  const oaiBase = requireHarvestBase(profile);
  const password = profile.oaiAuth === 'none' ? undefined : getPassword(context, profile);
  const { send } = await context.openConnections();
  const exchange = withRetry(withMaskedPassword(send, password), {
    clock: context.clock,
    random: context.random,
    onWait: makeWaitPrinter(context),
  });
  return makeClient(context, oaiBase, await getCredentials(context, profile), exchange);
}

async function makeClient(
  context: Context,
  oaiBase: string,
  credentials: OaiCredentials,
  exchange: Exchange,
): Promise<OaiClient> {
  const { schemaVersion: version, answerTimeoutMs } = context.getProfile();
  const { openOaiClient } = await import('../../harvest/client.ts');
  return openOaiClient({ oaiBase, version, answerTimeoutMs, credentials, exchange });
}

/**
 * Makes the function that prints each wait before a request is repeated; nothing under `--quiet`.
 */
export function makeWaitPrinter({ terminal }: Context) {
  return (waitMs: number, reason: Message): void => {
    const seconds = Math.ceil(waitMs / 1000);
    terminal.note(t`Waiting for the service (${reason}); next try in ${seconds} s.`);
  };
}

/**
 * Opens the lookups of the vocabularies that the profile has harvested, without the museum's
 * mapping, until the context is closed. Where the profile has no harvesting interface, no
 * vocabulary counts as harvested.
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openVocabularyLookups(context: Context) {
  const profile = context.getProfile();
  return (await context.openVocabulary()).makeLookups(
    profile.oaiBase ?? '',
    getHarvestUsername(profile),
  );
}

/**
 * Returns the user name with which the profile harvests; empty for an anonymous harvest, or where
 * none is known.
 */
export function getHarvestUsername({ oaiAuth, username }: Profile): string {
  return oaiAuth === 'none' ? '' : (username ?? '');
}

/**
 * Opens the lookup of terms, first among the museum's own terms, then in the harvested
 * vocabularies.
 * @param given mapping of the museum's terms; read from its file by default, without its issues
 * @throws as {@link openVocabularyLookups}
 */
export async function openMappedLookup(context: Context, given?: Mapping): Promise<LookupTerm> {
  const [{ lookupTerm }, { makeMappedLookup, readMappingFile }] = await Promise.all([
    openVocabularyLookups(context),
    import('../../tables/own-terms/mapping.ts'),
  ]);
  return makeMappedLookup(lookupTerm, given ?? (await readMappingFile(context.places.mappingFile)));
}

/**
 * Opens the vocabulary of the profile; undefined where this data home has no file of vocabularies,
 * and then none is made.
 * @throws as {@link openProfileVocabulary}
 */
export async function findProfileVocabulary(context: Context): Promise<Vocabulary | undefined> {
  return existsSync(context.places.vocabularyFile) ? openProfileVocabulary(context) : undefined;
}

/**
 * Opens the vocabulary that the profile harvests, for reading, until the context is closed; an
 * empty one where the profile has no harvesting interface.
 * @throws ConfigError where no profile is chosen; DatabaseError where the vocabulary is unusable
 */
export async function openProfileVocabulary(context: Context): Promise<Vocabulary> {
  return (await context.openVocabulary()).openSource(context.getProfile().oaiBase ?? '');
}

/**
 * Requests the account with which the profile harvests, since it decides which records are visible.
 * Undefined without a request for an anonymous harvest, and for PAS_TOKEN, which `basic` cannot
 * use; undefined with a note where the service does not answer, refuses the account or breaks the
 * contract.
 * @param requestAccount sends the request, and may store the answer; by default it stores nothing
 * @throws ConfigError where the configuration is the reason; AuthError where the password is in an
 * unavailable keyring
 */
export async function fetchHarvestingAccount(
  context: Context,
  requestAccount?: (service: OpenService) => Promise<Account>,
): Promise<Account | undefined> {
  const { oaiAuth } = context.getProfile();
  if (oaiAuth === 'none') return undefined;
  const service = await openService(context);
  if (service.usesExternalToken && oaiAuth === 'basic') return undefined;
  const { fetchAccount } = await import('../../push/account.ts');
  try {
    return await (requestAccount ?? fetchAccount)(service);
  } catch (thrown) {
    if (!(thrown instanceof PasError) || thrown instanceof ConfigError) throw thrown;
    context.terminal.note(
      t`pas cannot tell whether the account's permissions have changed: ${thrown.message}`,
    );
    return undefined;
  }
}

/**
 * Returns the credentials of the harvest. `bearer` uses the session of the write interface, which
 * signs in when needed.
 * @throws AuthError where `basic` lacks the user name or the password; as {@link openService}
 */
async function getCredentials(context: Context, profile: Profile): Promise<OaiCredentials> {
  switch (profile.oaiAuth) {
    case 'none':
      return { kind: 'none' };
    case 'bearer': {
      const { session } = await openService(context);
      return { kind: 'bearer', ...session };
    }
    case 'basic': {
      const password = getPassword(context, profile);
      if (profile.username === undefined || password === undefined) {
        throw new AuthError(
          t`Profile ${profile.name} needs to sign in for harvesting, and is not signed in.`,
          {
            hint: t`Run \`${cmd`pas login`}\`.`,
          },
        );
      }
      return { kind: 'basic', username: profile.username, password };
    }
  }
}

export type BasicCredentials = Extract<OaiCredentials, { readonly kind: 'basic' }>;

/**
 * Tests if the harvesting interface accepts the account that has just signed in: then it shows the
 * account its own user record, which is hidden from all others (B-SEE-12). The password is sent
 * only to an address of the profile, over TLS or to this machine.
 * @param identCely identifier of the account
 * @returns false also where the interface does not answer, and without a request where `oai_auth`
 * is set, or the profile has no harvesting interface of its own or an unprotected one
 */
export async function probeHarvestAuth(
  context: Context,
  credentials: BasicCredentials,
  identCely: string,
): Promise<boolean> {
  const profile = context.getProfile();
  const oaiBase = findOwnHarvestBase(context);
  const isSaid = context.getConfig().profiles.get(profile.name)?.oai_auth !== undefined;
  if (isSaid || oaiBase === undefined || !isProtectedAddress(oaiBase)) return false;
  const { send } = await context.openConnections();
  const exchange = withMaskedPassword(send, credentials.password);
  const client = await makeClient(context, oaiBase, credentials, exchange);
  try {
    const { header, refused } = await client.getRecord(identCely, `oai_${profile.prefix}`);
    return !header.deleted && !refused;
  } catch (thrown) {
    if (thrown instanceof PasError) return false;
    throw thrown;
  }
}

const DAY_MS = 24 * 3600 * 1000;

/**
 * Opens what a push needs, by the profile. Until the context is closed, the first Ctrl-C lets
 * requests in progress end, and the second aborts them. No request is sent to the service yet.
 * @throws ConfigError for the profile or its Redis; AuthError for an unavailable keyring;
 * DatabaseError where the outbox or the file of the pace is unusable
 */
export async function openPush(context: Context) {
  const profile = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  const { maxInFlight, answerTimeoutMs, settleMs, lookBackDays } = profile;
  return {
    ...handleSignals(
      context,
      t`Waiting for requests in progress. Press Ctrl-C again to abort them.`,
    ),
    ...(await openServiceAccess(context)),
    pace: await openPace(context, profile),
    machine: context.getMachineId(),
    openPhotograph: (photograph: Photograph) =>
      openVerifiedFile(makeContentStore(photosFolder).getPath(photograph.sha512), photograph),
    lookBackMs: lookBackDays * DAY_MS,
    maxInFlight,
    answerTimeoutMs,
    settleMs,
  };
}

/**
 * Opens the pace of the profile's address and account, until the context is closed. It is shared by
 * all processes of this user on this machine, or by all machines that use the same Redis; while
 * that does not answer, this machine keeps a slower pace of its own, with a warning.
 * @throws DatabaseError where the file of the pace is unusable; ConfigError when the Redis refuses
 * the password or the account
 */
export async function openPace(context: Context, profile: Profile): Promise<Pace> {
  const local = openPaceStore(context.places.paceFile, context.clock);
  context.onClose(() => local.close());
  const { origin } = new URL(profile.baseUrl);
  return makePace({
    store: profile.pacing === 'local' ? local : await openSharedStore(context, profile, local),
    clock: context.clock,
    scopes: [`address:${origin}`, `account:${origin} ${profile.username ?? ''}`],
    intervalMs: profile.minIntervalMs,
  });
}

/**
 * Returns the end of the pause that all processes of this account observe, in words and as ISO
 * 8601; '' and null without a pause, and where the store of the pace cannot be used. A missing
 * local store is not created, unless the profile has a Redis.
 */
export async function readSharedPause(context: Context, profile: Profile) {
  const pausedMs = await readPauseMs(context, profile);
  const nowMs = context.clock.now();
  return pausedMs > 0
    ? { text: String(formatPause(pausedMs, nowMs)), until: formatIso(nowMs + pausedMs) }
    : { text: '', until: null };
}

/** Returns the milliseconds that are left of the pause; 0 for none. */
async function readPauseMs(context: Context, profile: Profile): Promise<number> {
  if (profile.pacing === 'local' && !existsSync(context.places.paceFile)) return 0;
  try {
    return await (await openPace(context, profile)).readPauseMs();
  } catch (thrown) {
    if (thrown instanceof PasError) return 0;
    throw thrown;
  }
}

/**
 * Opens the Redis of the profile, with the local store for the time in which it does not answer.
 * Both changes give a warning. It is closed with the context.
 * @throws ConfigError when the Redis refuses
 */
async function openSharedStore(
  context: Context,
  profile: Profile,
  local: PaceStore,
): Promise<PaceStore> {
  const { terminal, clock } = context;
  const place = formatRedisEndpoint(getRedisAddress(profile));
  const seconds = profile.pacingFallbackIntervalMs / 1000;
  const { openFallbackPaceStore } = await import('../../service/http/fallback-pace-store.ts');
  const store = await openFallbackPaceStore({
    connect: (signal) => openRedisOfProfile(context, profile, signal),
    local,
    fallbackIntervalMs: profile.pacingFallbackIntervalMs,
    clock,
    random: context.random,
    onLost: (why) =>
      terminal.warn(
        t`The pacing store at ${place} cannot be used: ${why}. Until it answers again, this machine paces itself: one request every ${seconds} s.`,
      ),
    onBack: () =>
      terminal.warn(t`The pacing store at ${place} answers again: back to the shared rate.`),
  });
  context.onClose(() => store.close());
  return store;
}

/**
 * Connects to the Redis in which several machines keep the pace of the profile; the caller closes
 * the connection.
 * @param signal ends the attempt to connect
 * @throws PaceStoreError when it is unavailable; ConfigError when it refuses the password or the
 * account, or where `pacing` is no address
 */
export async function openRedisOfProfile(
  context: Context,
  profile: Profile,
  signal?: AbortSignal,
): Promise<RedisPaceStore> {
  const { openRedisPaceStore } = await import('../../service/http/redis-pace-store.ts');
  const address = getRedisAddress(profile);
  try {
    const service = new URL(profile.baseUrl).origin;
    const password = context.environment['PAS_PACING_PASSWORD'];
    return await openRedisPaceStore(
      { address, password, service, clock: context.clock, random: context.random },
      signal,
    );
  } catch (thrown) {
    if (!(thrown instanceof PaceStoreError) || thrown.kind === 'unavailable') throw thrown;
    const place = formatRedisEndpoint(address);
    throw new ConfigError(t`The pacing store at ${place} refuses: ${thrown.message}`, {
      hint: t`Check pacing in the profile, and the password in PAS_PACING_PASSWORD.`,
    });
  }
}

/**
 * Parses the address of the Redis in the profile's `pacing`.
 * @throws ConfigError where `pacing` is `local` or another text that is no address of a Redis
 */
export function getRedisAddress({ pacing }: Profile): RedisAddress {
  const address = parseRedisAddress(pacing);
  if (isRedisAddressFault(address)) throw new ConfigError(address.message);
  return address;
}
