import { existsSync } from 'node:fs';
import { ConfigError, PasError } from '../../base/errors.ts';
import { t } from '../../base/language.ts';
import { cmd, msg } from '../../base/message.ts';
import type { Vocabulary } from '../../finds/vocabulary/term.ts';
import type { OaiClient } from '../../harvest/client.ts';
import type { OaiCredentials } from '../../harvest/send-request.ts';
import type { Photograph } from '../../outbox/facts.ts';
import { listIdentifiersOfUnacceptedFinds } from '../../outbox/views/outbox-status.ts';
import type { OpenService, ProfileUser } from '../../push/account.ts';
import {
  type HarvestAccess,
  openKeptPhotograph,
  type ServiceAccess,
} from '../../push/departure.ts';
import { type Exchange, withTimeout } from '../../service/http/exchange.ts';
import { withRedactedAnswers } from '../../service/http/redaction.ts';
import { makeSecretsOwner, type SecretLocation } from '../../service/secrets.ts';
import type { Account } from '../../service/session.ts';
import { requireConfirmation } from '../terminal.ts';
import { makeFreeProfileName } from './change-config.ts';
import {
  findOutboxName,
  isProtectedAddress,
  listProfilesOfOutbox,
  makeInitCommand,
  type Profile,
} from './config.ts';
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
    redactPassword((await context.openConnections()).send, password),
  );
  const lent = context.environment['PAS_TOKEN'];
  const owner = getCredentialKey(profile);
  const keeper = {
    read: () => context.secrets.get(owner).token,
    write: (token: string) => context.secrets.set(owner, { ...context.secrets.get(owner), token }),
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
 * Returns the user of the profile in the configuration, with functions that make the advice where
 * another account has signed in.
 */
export function makeProfileUser(context: Context): ProfileUser {
  const { name } = context.getProfile();
  const config = context.getConfig();
  const settings = config.profiles.get(name) ?? {};
  return {
    name,
    username: settings.username,
    adviseProfileFor: (username) => {
      const [existing] = listProfilesOfOutbox(
        config,
        findOutboxName({ ...settings, username }) ?? '',
      );
      if (existing !== undefined)
        return msg`use its profile: ${cmd`pas push --profile ${existing}`}`;
      const command = makeInitCommand(makeFreeProfileName(config, username), {
        ...settings,
        username,
      });
      return msg`make a profile for it: ${command}`;
    },
    withUser: (username) => {
      const command = makeInitCommand(name, { ...settings, username });
      return msg`set that user in the profile: ${command}`;
    },
  };
}

/**
 * Wraps the sending of requests so that answers that report a failure do not contain the
 * password.
 * @param password undefined where there is none to redact
 */
export function redactPassword(send: Exchange, password: string | undefined): Exchange {
  return withRedactedAnswers([], send, password === undefined ? [] : [password]);
}

/** Returns the password in PAS_PASSWORD, else the stored one; undefined where there is neither. */
export function getPassword(context: Context, profile: Profile): string | undefined {
  return (
    context.environment['PAS_PASSWORD'] ?? context.secrets.get(getCredentialKey(profile)).password
  );
}

/** Returns the key under which the secrets of an account are stored. */
export function getCredentialKey({ baseUrl, username }: Profile): string {
  return makeSecretsOwner({ baseUrl, username });
}

/** Returns the place of the credentials: `environment` where PAS_TOKEN or PAS_PASSWORD is set. */
export function getSourceOfSecrets({
  environment,
  getProfile,
  secrets,
}: Context): 'environment' | SecretLocation {
  const isGiven =
    environment['PAS_TOKEN'] !== undefined || environment['PAS_PASSWORD'] !== undefined;
  return isGiven ? 'environment' : secrets.getPlace(getCredentialKey(getProfile()));
}

export const SECRET_PLACE_TEXTS: Readonly<
  Record<'environment' | SecretLocation, (file: string) => string>
> = {
  environment: () => t`The password or token comes from the environment (PAS_PASSWORD, PAS_TOKEN).`,
  keyring: () => t`The password and token are in the system keyring.`,
  file: (file) =>
    process.platform === 'win32'
      ? t`The password and token are in ${file}. Every account that can open your user folder can read it, including administrators.`
      : t`The password and token are in ${file}, which only you can read.`,
  nowhere: () => t`No password or token is stored.`,
};

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
export async function openSync(context: Context): Promise<ServiceAccess> {
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
    oaiBase: getHarvestBase(profile),
    version: profile.schemaVersion,
    credentials: await getCredentials(context, profile),
    exchange: withRetry(
      profile.oaiAuth === 'none' ? send : redactPassword(send, getPassword(context, profile)),
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

/** Returns the account of a harvest; empty for an anonymous one. */
export function getHarvestAccount({ oaiAuth, username }: Profile): string {
  return oaiAuth === 'none' ? '' : (username ?? '');
}

/**
 * Opens the lookups of the harvested vocabularies, without the museum's mapping. A profile
 * without a harvesting interface gets lookups in which nothing was harvested.
 */
export async function openLookups(context: Context) {
  const profile = context.getProfile();
  return (await context.openVocabularyToRead()).makeLookups(
    profile.oaiBase ?? '',
    getHarvestAccount(profile),
  );
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

/**
 * Returns the address of the harvesting interface of the profile.
 * @throws ConfigError where it has none
 */
export function getHarvestBase(profile: Profile): string {
  if (profile.oaiBase !== undefined) return profile.oaiBase;
  throw makeNoHarvestingError(profile);
}

/** Returns the identifiers of vocabulary entries that the mapping and unsent finds refer to. */
export async function listEntriesInUse(context: Context): Promise<ReadonlySet<string>> {
  const { readMappingFile } = await import('./user-files.ts');
  const { rows } = await readMappingFile(context);
  const hasOutbox = existsSync(context.getOutboxPlaces().outboxFile);
  const queued = hasOutbox
    ? listIdentifiersOfUnacceptedFinds(await context.openOutboxToRead())
    : [];
  return new Set([...rows.map((row) => row.id), ...queued]);
}

/**
 * Opens the vocabulary harvested from the endpoint of the profile; a temporary copy where its
 * file refuses writes.
 * @throws ConfigError where the profile has no harvesting interface
 */
export async function openHarvestedVocabulary(context: Context): Promise<Vocabulary> {
  return (await context.openVocabularyToRead()).openSource(getHarvestBase(context.getProfile()));
}

/**
 * Returns the address of the interface that shows the profile's own records; undefined where
 * there is none. A training instance may use that of production for vocabularies: there, its
 * identifiers belong to other records.
 */
export function findOwnHarvestBase(context: Context): string | undefined {
  const { kind, baseUrl, oaiBase } = context.getProfile();
  if (oaiBase === undefined || kind === 'production') return oaiBase;
  const isOfAnother = [...context.getConfig().profiles.values()].some(
    (other) =>
      other.kind !== 'training' && other.oai_base === oaiBase && other.base_url !== baseUrl,
  );
  return isOfAnother || new URL(oaiBase).hostname !== new URL(baseUrl).hostname
    ? undefined
    : oaiBase;
}

/**
 * Makes the error that a lookup is not possible: the profile has no harvesting interface, or one
 * that does not show its own records.
 */
export function makeNoHarvestingError(profile: Profile): ConfigError {
  if (profile.oaiBase !== undefined)
    return new ConfigError(
      t`The harvesting interface of profile ${profile.name} belongs to another instance and does not show what was sent to this one.`,
      {
        hint: t`Check the website of the instance, then run \`${cmd`pas resolve`} FIND --created IDENT\` or \`${cmd`pas resolve`} FIND --resend\`.`,
      },
    );
  return new ConfigError(t`Profile ${profile.name} has no harvesting interface.`, {
    hint: t`Add it with \`${cmd`pas init --name ${profile.name} --oai-base`} …\`; a training instance uses that of production.`,
  });
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
  if (isSaid || oaiBase === undefined || !isProtectedAddress(oaiBase, false)) return undefined;
  const [{ send }, { openOaiClient }] = await Promise.all([
    context.openConnections(),
    import('../../harvest/client.ts'),
  ]);
  const client = openOaiClient({
    oaiBase,
    version: profile.schemaVersion,
    answerTimeoutMs: profile.answerTimeoutMs,
    credentials: { kind: 'basic', username, password },
    exchange: redactPassword(send, password),
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
    ...(await openSync(context)),
    pace: await openPace(context, profile),
    machine: context.getMachineId(),
    openPhotograph: (photograph: Photograph) => openKeptPhotograph(photosFolder, photograph),
    lookBackMs: lookBackDays * DAY_MS,
    maxInFlight,
    answerTimeoutMs,
    settleMs,
  };
}
