import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import { cmd, msg } from '../base/message.ts';
import type { OpenService, ProfileUser } from '../flows/push/resolve-account.ts';
import { type Exchange, withTimeout } from '../http/exchange.ts';
import { redactAnswers } from '../http/redaction.ts';
import { ownerOf, type SecretPlace } from '../store/secrets.ts';
import { freeProfileName, profilesAlike } from './change-config.ts';
import type { Profile } from './config.ts';
import type { Context } from './context.ts';
import { initCommand } from './profile-settings.ts';

/** Opens the write interface for the account of the environment or the profile. */
export async function openService(context: Context): Promise<OpenService> {
  const profile = context.profile();
  const { baseUrl, username, answerTimeoutMs } = profile;
  const password = passwordOf(context, profile);
  const send = withTimeout(answerTimeoutMs, keepingQuiet((await context.connections()).send, password));
  const lent = context.environment['PAS_TOKEN'];
  const owner = credentialKey(profile);
  const keeper = {
    read: () => context.secrets.get(owner).token,
    write: (token: string) => context.secrets.set(owner, { ...context.secrets.get(owner), token }),
  };
  const { externalTokenSession, openSession } = await import('../pas-api/session.ts');
  const session = lent === undefined ? openSession({ baseUrl, username, password, send, keeper }) : externalTokenSession(lent);
  return { baseUrl, username, send, session, usesExternalToken: lent !== undefined, profile: profileUser(context) };
}

/** Returns the user of the profile, with the commands to advise where another account has signed in. */
export function profileUser({ config, profile }: Pick<Context, 'config' | 'profile'>): ProfileUser {
  const { name } = profile();
  const { profiles } = config();
  const settings = profiles.get(name) ?? {};
  return {
    name,
    username: settings.username?.toString(),
    profileFor: (username) => {
      const [existing] = profilesAlike({ profiles }, name, { ...settings, username });
      if (existing !== undefined) return msg`use its profile: ${cmd`pas push --profile ${existing}`}`;
      const command = initCommand(freeProfileName({ profiles }, username), { ...settings, username });
      return msg`make a profile for it: ${command}`;
    },
    withUser: (username) => {
      const command = initCommand(name, { ...settings, username });
      return msg`name that user in the profile: ${command}`;
    },
  };
}

/** Redacts the password in answers that report a failure. */
export function keepingQuiet(send: Exchange, password: string | undefined): Exchange {
  return redactAnswers([], send, password === undefined ? [] : [password]);
}

export function passwordOf(context: Context, profile: Profile): string | undefined {
  return context.environment['PAS_PASSWORD'] ?? context.secrets.get(credentialKey(profile)).password;
}

/** Returns the key of the secrets of a profile's account, or of another one. */
export function credentialKey({ baseUrl, username }: Pick<Profile, 'baseUrl' | 'username'>): string {
  return ownerOf({ baseUrl, username });
}

/** Returns the source of the secrets of a command. */
export function placeOfSecrets({ environment, profile, secrets }: Context): 'environment' | SecretPlace {
  const isGiven = environment['PAS_TOKEN'] !== undefined || environment['PAS_PASSWORD'] !== undefined;
  return isGiven ? 'environment' : secrets.placeOf(credentialKey(profile()));
}

export const SECRET_PLACE_TEXTS: Readonly<Record<'environment' | SecretPlace, (file: string) => string>> = {
  environment: () => t`The password or token comes from the environment (PAS_PASSWORD, PAS_TOKEN).`,
  keyring: () => t`The password and token are in the system keyring.`,
  file: (file) =>
    process.platform === 'win32'
      ? t`The password and token are in ${file}. Every account that can open your user folder can read it, including administrators.`
      : t`The password and token are in ${file}, which only you can read.`,
  nowhere: () => t`No password or token is stored.`,
};

/** Announces the instance to which a command writes, or for which it queues, so that production and training are not confused. */
export function announceInstance({ terminal, profile }: Context): void {
  const { kind, baseUrl, username, name } = profile();
  const account = username ?? t`no user name`;
  if (kind === 'training') {
    terminal.note(terminal.color.green(t`TRAINING: ${baseUrl}, account ${account}, profile ${name}. Nothing of it is real.`));
  } else terminal.note(terminal.color.yellow(t`PRODUCTION: ${baseUrl}, account ${account}, profile ${name}. Records are real.`));
}

/**
 * Asks before the first write of a command in production, where records are real.
 * @throws UsageError without a terminal and `--yes`, or when the answer is no
 */
export async function confirmProduction(context: Context, yes: boolean): Promise<void> {
  const profile = context.profile();
  if (profile.kind !== 'production' || yes) return;
  if (!context.terminal.interactive) {
    throw new UsageError(t`Profile ${profile.name} writes to the production service ${profile.baseUrl}.`, {
      hint: t`Add --yes to write real records.`,
    });
  }
  const prompt = await context.prompt();
  const account = profile.username ?? t`this account`;
  if (!(await prompt.confirm(t`Write real records to ${profile.baseUrl} as ${account}?`))) {
    throw new UsageError(t`Nothing was sent.`);
  }
}
