import { text } from 'node:stream/consumers';
import { AuthError, ConfigError, type ExitReason, UsageError } from '../../base/errors.ts';
import { t } from '../../base/message.ts';
import {
  fetchAccount,
  ROLE_WORDS,
  type Signer,
  signIn,
  storeAccountOfOutbox,
} from '../../push/account.ts';
import { makeSecretsOwner } from '../../service/secrets.ts';
import type { Account } from '../../service/session.ts';
import { defineCommand, type Registration } from '../command.ts';
import { mergeProfileSettings } from '../context/config.ts';
import {
  type Context,
  type GlobalOptions,
  getProfileUser,
  getSourceOfSecrets,
  SECRET_PLACE_TEXTS,
} from '../context/context.ts';
import {
  type BasicCredentials,
  openService,
  probeHarvestAuth,
  withMaskedPassword,
} from '../context/open-service.ts';
import { adoptUsername, uniteOutboxesOfAccount } from '../context/profile-outbox.ts';

type LoginOptions = GlobalOptions & {
  readonly username?: string;
  readonly passwordStdin?: boolean;
};

/** Registers `pas login`, `pas logout` and `pas whoami`. */
export const registerCommands: Registration = (program, run) => {
  defineCommand(
    program,
    'login',
    t`Sign in and store the token. The password is read from PAS_PASSWORD, standard input or a prompt, never from a flag.`,
    ['pas login', 'pas login --profile training --password-stdin < password.txt'],
  )
    .option('--username <name>', t`new user name of an account that was renamed`)
    .option('--password-stdin', t`read the password from standard input`)
    .action(run(login));
  defineCommand(program, 'logout', t`Delete the stored token and password of a profile.`, [
    'pas logout',
    'pas logout --profile training',
  ]).action(run(logout));
  defineCommand(program, 'whoami', t`Show the account and role that the service reports.`, [
    'pas whoami',
    'pas whoami --json',
  ]).action(run(whoami));
};

/**
 * Signs in, and stores the password and the token. Outboxes of the same account are united, and the
 * harvest uses the account from now on if the service accepts it there.
 * @throws AuthError with a hint where the service refuses the account, or without a terminal;
 * UnavailableError, ContractError as the sign-in; UsageError for an empty standard input;
 * ConfigError where no profile is chosen, or the outbox is of another account; OutboxLeasedError
 * where an outbox would move during a push; InterruptedError on Ctrl-C
 */
async function login(context: Context, options: LoginOptions): Promise<ExitReason> {
  const profile = context.getProfile();
  const username =
    options.username ??
    profile.username ??
    (await askOrRefuse(context, t`No user name is given.`, (prompt) =>
      prompt.askText({ message: t`User name (e-mail):` }),
    ));
  const profileAccount = getProfileUser(context);
  const user = { ...profileAccount, username: options.username ?? profileAccount.username };
  const signer = { ...profile, username, usesExternalToken: false, profile: user };
  const password = await askPassword(context, options.passwordStdin === true);
  const { send } = await context.openConnections();
  const owner = makeSecretsOwner({ ...profile, username });
  const account = await signIn(
    {
      ...signer,
      password,
      send: withMaskedPassword(send, password),
      clock: context.clock,
    },
    ({ identCely }) =>
      options.username !== undefined || profile.username === undefined
        ? adoptUsername(context, username, identCely)
        : context.openOutbox(),
    // The password is stored, too, because a token may expire during a push.
    (token) => context.openSecrets().set(owner, { password, token }),
  ).catch((thrown: unknown) => {
    if (!(thrown instanceof AuthError)) throw thrown;
    throw new AuthError(thrown.says, {
      cause: thrown,
      hint: t`Check the user name and the password. If the password is lost or the account is closed, ask the operator of the service.`,
    });
  });
  await uniteOutboxesOfAccount(context, account.identCely);
  const who = formatAccount(account);
  context.terminal.printLine(t`Signed in to ${profile.baseUrl} as ${who}.`);
  await storeAccountOrWarn(context, signer, account);
  await enableHarvestAuth(context, { kind: 'basic', username, password }, account.identCely);
  report(context, account, context.openSecrets().getLocation(owner));
  return 'done';
}

/** Enables the harvest of the account: a push can look for existing records only with it. */
async function enableHarvestAuth(
  context: Context,
  credentials: BasicCredentials,
  identCely: string,
): Promise<void> {
  const { name } = context.getProfile();
  if (!(await probeHarvestAuth(context, credentials, identCely))) return;
  context.changeConfig((config) => mergeProfileSettings(config, [name], { oai_auth: 'basic' }));
  context.terminal.note(
    t`The harvesting interface accepts this account: from now on pas signs in there as well (oai_auth = basic).`,
  );
}

async function askPassword(context: Context, fromStdin: boolean): Promise<string> {
  if (fromStdin) return readFirstLine(context.streams.stdin);
  return (
    context.environment['PAS_PASSWORD'] ??
    (await askOrRefuse(context, t`No password is given.`, (prompt) =>
      prompt.askSecret(t`Password:`),
    ))
  );
}

/**
 * Reads standard input to its end, and returns the first line.
 * @throws UsageError where that is empty
 */
async function readFirstLine(stdin: NodeJS.ReadStream): Promise<string> {
  const [line = ''] = (await text(stdin)).split(/\r?\n/);
  if (line === '') throw new UsageError(t`There is no password on standard input.`);
  return line;
}

/** @throws AuthError with the refusal where no person can be asked */
async function askOrRefuse(
  context: Context,
  refusal: string,
  ask: (prompt: Awaited<ReturnType<Context['prompt']>>) => Promise<string>,
): Promise<string> {
  if (!context.terminal.interactive) {
    throw new AuthError(refusal, {
      hint: t`Set PAS_USERNAME and PAS_PASSWORD, or type them on a terminal.`,
    });
  }
  return ask(await context.prompt());
}

async function logout(context: Context): Promise<ExitReason> {
  const profile = context.getProfile();
  const { name } = profile;
  context.openSecrets().remove(makeSecretsOwner(profile));
  context.terminal.printLine(t`Signed out of ${name}.`);
  context.terminal.printValue({ profile: name, signed_in: false });
  return 'done';
}

async function whoami(context: Context): Promise<ExitReason> {
  const profile = context.getProfile();
  const service = await openService(context);
  const account = await fetchAccount(service);
  const who = formatAccount(account);
  context.terminal.printLine(t`${profile.baseUrl} knows this account as ${who}.`);
  await storeAccountOrWarn(context, service, account);
  report(context, account, getSourceOfSecrets(context));
  return 'done';
}

/** Stores the account as the service describes it; only warns where the outbox is for another. */
async function storeAccountOrWarn(
  { openOutbox, terminal }: Context,
  signer: Signer,
  account: Account,
): Promise<void> {
  try {
    storeAccountOfOutbox(await openOutbox(), signer, account);
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    terminal.warn(`${thrown.message} ${thrown.hint ?? ''}`);
  }
}

/** Formats "Eva Nováková (OS-000123), archaeologist, Museum". */
function formatAccount({ name, identCely, role, organisation }: Account): string {
  return [`${name} (${identCely})`, ROLE_WORDS[role], organisation]
    .filter((part) => part !== '')
    .join(', ');
}

function report(
  { places, terminal }: Context,
  account: Account,
  secretsPlace: keyof typeof SECRET_PLACE_TEXTS,
): void {
  terminal.note(SECRET_PLACE_TEXTS[secretsPlace](places.secretsFile));
  if (account.role === 'researcher')
    terminal.note(t`A researcher may import finds into state 1 only.`);
  terminal.printValue({
    ident_cely: account.identCely,
    name: account.name,
    email: account.email,
    organisation: account.organisation,
    role: account.role,
    secrets: secretsPlace,
  });
}
