import { UsageError } from '../base/errors.ts';
import { t } from '../base/language.ts';
import type { Profile } from '../config.ts';
import type { Context } from '../context.ts';
import { identOfAccount } from '../outbox/accounts.ts';
import type { Outbox } from '../outbox/outbox.ts';
import { openSession, type Session } from '../pas-api/session.ts';
import type { SecretPlace } from '../store/secrets.ts';

/** The session of the profile's account, with what the environment or the secret store holds. */
export async function openAccountSession(context: Context): Promise<Session> {
  const profile = context.profile();
  const { send } = await context.connections();
  const fromEnvironment = context.environment['PAS_TOKEN'];
  return openSession({
    baseUrl: profile.baseUrl,
    username: profile.username,
    password: passwordOf(context, profile),
    send,
    keeper: {
      read: () => fromEnvironment ?? (keepsSecrets(context) ? context.secrets.get(profile.name).token : undefined),
      write: (token) => {
        if (fromEnvironment === undefined && keepsSecrets(context))
          context.secrets.set(profile.name, { ...context.secrets.get(profile.name), token });
      },
    },
  });
}

export function passwordOf(context: Context, profile: Profile): string | undefined {
  return context.environment['PAS_PASSWORD'] ?? (keepsSecrets(context) ? context.secrets.get(profile.name).password : undefined);
}

/**
 * What is kept for a profile is its own account's. An account that PAS_USERNAME puts in its place neither uses nor
 * replaces it: records would else be made in another person's name.
 */
export function keepsSecrets(context: Context): boolean {
  const inItsPlace = context.environment['PAS_USERNAME'];
  return inItsPlace === undefined || inItsPlace === context.config().profiles.get(context.profile().name)?.username;
}

/** The service's identifier of the account that requests are made with; undefined where nobody has asked whose it is. */
export function accountOf(context: Context, outbox: Outbox): string | undefined {
  const { name, username } = context.profile();
  const isOwn = keepsSecrets(context) && context.environment['PAS_TOKEN'] === undefined;
  return isOwn ? identOfAccount(outbox, name, username) : undefined;
}

/** Where the secrets that a command uses come from. */
export function placeOfSecrets(context: Context): 'environment' | SecretPlace {
  const { environment, profile, secrets } = context;
  if (environment['PAS_TOKEN'] !== undefined || environment['PAS_PASSWORD'] !== undefined) return 'environment';
  return keepsSecrets(context) ? secrets.placeOf(profile().name) : 'nowhere';
}

export const SECRETS_ARE: Readonly<Record<'environment' | SecretPlace, (file: string) => string>> = {
  environment: () => t`Password or token come from the environment (PAS_PASSWORD, PAS_TOKEN).`,
  keyring: () => t`Password and token are in the keyring of the system.`,
  file: (file) => t`Password and token are in ${file}, which only you can read.`,
  nowhere: () => t`No password or token is kept.`,
};

/** Which instance a command writes to, or queues for, so that nobody takes the one for the other. */
export function announceInstance({ terminal, profile }: Context): void {
  const { kind, baseUrl, username, name } = profile();
  const account = username ?? t`no user name`;
  if (kind === 'training') {
    terminal.note(terminal.color.green(t`TRAINING: ${baseUrl}, account ${account}, profile ${name}. Nothing of it is real.`));
  } else terminal.note(terminal.color.yellow(t`PRODUCTION: ${baseUrl}, account ${account}, profile ${name}. Records are real.`));
}

/**
 * Records made in production are real: ask before the first write of a command.
 * @throws UsageError when nobody can be asked and `--yes` is not given, or the answer is no
 */
export async function confirmProduction(context: Context, yes: boolean): Promise<void> {
  const profile = context.profile();
  if (profile.kind !== 'production' || yes) return;
  if (!context.terminal.interactive) {
    throw new UsageError(t`Profile ${profile.name} writes to the production service ${profile.baseUrl}.`, {
      hint: t`Add --yes if the records are meant to be real.`,
    });
  }
  const prompt = await context.prompt();
  const account = profile.username ?? t`this account`;
  if (!(await prompt.confirm(t`Write real records to ${profile.baseUrl} as ${account}?`))) {
    throw new UsageError(t`Nothing was sent.`);
  }
}
