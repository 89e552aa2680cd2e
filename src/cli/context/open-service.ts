import { existsSync } from 'node:fs';
import { ConfigError, PasError } from '../../base/errors.ts';
import { cmd, t } from '../../base/message.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import type { OaiClient } from '../../harvest/client.ts';
import type { OaiCredentials } from '../../harvest/send-request.ts';
import { openContentStore } from '../../outbox/changes/kept-photographs.ts';
import type { Photograph } from '../../outbox/facts.ts';
import { listIdentifiersOfUnacceptedFinds } from '../../outbox/views/outbox-status.ts';
import type { OpenService } from '../../push/account.ts';
import { type HarvestAccess, openPhotograph, type ServiceAccess } from '../../push/departure.ts';
import { type Exchange, withTimeout } from '../../service/http/exchange.ts';
import { withMaskedAnswers } from '../../service/http/masking.ts';
import type { Account } from '../../service/session.ts';
import { requireConfirmation } from '../terminal.ts';
import {
  findOwnHarvestBase,
  getCredentialKey,
  getHarvestUsername,
  getPassword,
  makeProfileUser,
  requireHarvestBase,
} from './chosen-profile.ts';
import { isProtectedAddress, type Profile } from './config.ts';
import { type Context, installSignalHandlers } from './context.ts';
import { openPace } from './pacing.ts';

/**
 * Opens the write interface for the account of the environment or the profile. PAS_TOKEN is used
 * as it is; otherwise the session signs in when needed, and stores its token. No request is sent
 * yet.
 */
export async function openService(context: Context): Promise<OpenService> {
  const profile = context.getProfile();
  const { baseUrl, username, answerTimeoutMs } = profile;
  const password = getPassword(context, profile);
  const send = withTimeout(
    answerTimeoutMs,
    withMaskedPassword((await context.openConnections()).send, password),
  );
  const lent = context.environment['PAS_TOKEN'];
  const owner = getCredentialKey(profile);
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
    profile: makeProfileUser(context),
  };
}

/**
 * Wraps the sending of requests so that answers that report a failure do not contain the
 * password.
 * @param password undefined where there is none to mask
 */
export function withMaskedPassword(send: Exchange, password: string | undefined): Exchange {
  return withMaskedAnswers([], send, password === undefined ? [] : [password]);
}

/**
 * Prints the instance to which a command writes, or for which it queues, so that production and
 * training are not confused; nothing under `--quiet`.
 */
export function announceInstance({ terminal, getProfile }: Context): void {
  const { kind, baseUrl, username, name } = getProfile();
  const account = username ?? t`no user name`;
  if (kind === 'training') {
    terminal.note(
      terminal.color.green(
        t`TRAINING: ${baseUrl}, account ${account}, profile ${name}. Its records are not real.`,
      ),
    );
  } else
    terminal.note(
      terminal.color.yellow(
        t`PRODUCTION: ${baseUrl}, account ${account}, profile ${name}. Records are real.`,
      ),
    );
}

/**
 * Asks before the first write to production; other profiles need no confirmation.
 * @throws UsageError without a terminal and `--yes`, or when the answer is no
 */
export async function confirmProduction(context: Context): Promise<void> {
  const profile = context.getProfile();
  if (profile.kind !== 'production') return;
  const account = profile.username ?? t`this account`;
  await requireConfirmation(
    context,
    t`Write real records to the production service ${profile.baseUrl} as ${account}?`,
  );
}

/**
 * Opens everything that a lookup at the service needs, by the profile: outbox, write interface,
 * and harvesting, unless the profile has no interface that shows its own records.
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
    lock: context.pushLock(),
  };
}

/**
 * Opens the harvesting client of the profile with its authentication, with pauses and retries where
 * they are safe.
 * @param waitedMs time in milliseconds for which the command has waited for the service already
 * @throws ConfigError when the profile has no harvesting interface
 */
export async function openHarvestClient(context: Context, waitedMs = 0): Promise<OaiClient> {
  const profile = context.getProfile();
  const [{ send }, { openOaiClient }, { withRetry }] = await Promise.all([
    context.openConnections(),
    import('../../harvest/client.ts'),
    import('../../service/http/exchange.ts'),
  ]);
  return openOaiClient({
    oaiBase: requireHarvestBase(profile),
    version: profile.schemaVersion,
    credentials: await getCredentials(context, profile),
    exchange: withRetry(
      profile.oaiAuth === 'none' ? send : withMaskedPassword(send, getPassword(context, profile)),
      {
        clock: context.clock,
        random: context.random,
        waitedMs,
        onWait: (waitMs, reason) => {
          const seconds = Math.ceil(waitMs / 1000);
          context.terminal.note(t`Waiting for the service (${reason}); next try in ${seconds} s.`);
        },
      },
    ),
    answerTimeoutMs: profile.answerTimeoutMs,
  });
}

/**
 * Opens the lookups of the harvested vocabularies, without the museum's mapping. A profile
 * without a harvesting interface gets lookups in which nothing was harvested.
 */
export async function openLookups(context: Context) {
  const profile = context.getProfile();
  return (await context.openVocabularyToRead()).makeLookups(
    profile.oaiBase ?? '',
    getHarvestUsername(profile),
  );
}

/**
 * Opens the vocabulary of the profile for reading; one in which nothing was harvested, where the
 * profile has no harvesting interface.
 */
export async function openProfileVocabulary(context: Context): Promise<Vocabulary> {
  return (await context.openVocabularyToRead()).openSource(context.getProfile().oaiBase ?? '');
}

type HarvestingAccount = {
  /** Undefined for an anonymous harvest, or where the service does not answer. */
  readonly account: Account | undefined;
  /** Time in milliseconds for which the command has waited for the service already. */
  readonly waitedMs: number;
};

/**
 * Requests the account, on which the visible records depend. Undefined for an anonymous harvest,
 * with a token that the harvest cannot use, or where the service does not answer, which is noted.
 * @param ask sends the request, and may store the answer
 * @throws ConfigError where the configuration is the reason
 */
export async function fetchHarvestingAccount(
  context: Context,
  ask?: (service: OpenService) => Promise<Account>,
): Promise<HarvestingAccount> {
  const { oaiAuth } = context.getProfile();
  const startedMs = context.clock.monotonicMs();
  const unknown = { account: undefined, waitedMs: 0 };
  if (oaiAuth === 'none') return unknown;
  const service = await openService(context);
  if (service.usesExternalToken && oaiAuth === 'basic') return unknown;
  const { fetchAccount: readAccount } = await import('../../push/account.ts');
  try {
    return { account: await (ask ?? readAccount)(service), waitedMs: 0 };
  } catch (thrown) {
    if (!(thrown instanceof PasError) || thrown instanceof ConfigError) throw thrown;
    context.terminal.note(
      t`pas cannot tell whether the account's permissions have changed: ${thrown.message}`,
    );
    return { account: undefined, waitedMs: context.clock.monotonicMs() - startedMs };
  }
}

/** Returns the identifiers of vocabulary entries that the mapping and unsent finds refer to. */
export async function listTermIdsInUse(context: Context): Promise<ReadonlySet<string>> {
  const { readMappingFile } = await import('./user-files.ts');
  const { rows } = await readMappingFile(context);
  const hasOutbox = existsSync(context.getOutboxPlaces().outboxFile);
  const queued = hasOutbox
    ? listIdentifiersOfUnacceptedFinds(await context.openOutboxToRead())
    : [];
  return new Set([...rows.map((row) => row.id), ...queued]);
}

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
        throw new ConfigError(
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

/**
 * Tests if the harvesting interface accepts the account that has just signed in: then it shows the
 * account its own user record, which is hidden from all others (B-SEE-12). The password is sent
 * only to an address of the profile, over TLS or to this machine.
 * @returns undefined where no test is needed: the profile has the setting, or no harvesting
 * interface of its own
 */
export async function probeHarvestAuth(
  context: Context,
  {
    username,
    password,
    identCely,
  }: { readonly username: string; readonly password: string; readonly identCely: string },
): Promise<boolean | undefined> {
  const profile = context.getProfile();
  const oaiBase = findOwnHarvestBase(context);
  const isSaid = context.getConfig().profiles.get(profile.name)?.oai_auth !== undefined;
  if (isSaid || oaiBase === undefined || !isProtectedAddress(oaiBase)) return undefined;
  const [{ send }, { openOaiClient }] = await Promise.all([
    context.openConnections(),
    import('../../harvest/client.ts'),
  ]);
  const client = openOaiClient({
    oaiBase,
    version: profile.schemaVersion,
    answerTimeoutMs: profile.answerTimeoutMs,
    credentials: { kind: 'basic', username, password },
    exchange: withMaskedPassword(send, password),
  });
  try {
    const { record } = await client.getRecord(identCely, `oai_${profile.prefix}`);
    const { header, refused } = record;
    return !header.deleted && !refused;
  } catch (thrown) {
    if (thrown instanceof PasError) return false;
    throw thrown;
  }
}

const DAY_MS = 24 * 3600 * 1000;

/**
 * Opens everything that a push needs, by the profile. The first Ctrl-C lets requests in progress
 * end, the second aborts them. No request is sent yet.
 */
export async function openPush(context: Context) {
  const profile = context.getProfile();
  const { photosFolder } = context.getOutboxPlaces();
  const { maxInFlight, answerTimeoutMs, settleMs, lookBackDays } = profile;
  return {
    ...installSignalHandlers(
      context,
      t`Waiting for requests in progress. Press Ctrl-C again to abort them.`,
    ),
    ...(await openServiceAccess(context)),
    pace: await openPace(context, profile),
    machine: context.getMachineId(),
    openPhotograph: (photograph: Photograph) =>
      openPhotograph(openContentStore(photosFolder).getPath(photograph.sha512), photograph),
    lookBackMs: lookBackDays * DAY_MS,
    maxInFlight,
    answerTimeoutMs,
    settleMs,
  };
}
