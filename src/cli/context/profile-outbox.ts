import { existsSync, renameSync } from 'node:fs';
import type { LockFile } from '../../base/disk/lock-file.ts';
import { ConfigError, DatabaseError, OutboxLeasedError, PasError } from '../../base/errors.ts';
import { cmd, msg, t } from '../../base/message.ts';
import { copyStoredFile, makeContentStore } from '../../outbox/changes/content-store.ts';
import { listOutdatedFinds, listUnsentPhotoEntries } from '../../outbox/entry-queries.ts';
import { openLedger } from '../../outbox/ledger.ts';
import {
  assertSameAccount,
  type Binding,
  findKnownAccount,
  findKnownUsername,
  isAccountOfUser,
  isEmptyOutbox,
  type Outbox,
  openOutbox,
  readHeader,
  requireLedger,
  updateHeader,
} from '../../outbox/open-outbox.ts';
import { acquirePushLock, withPushLock } from '../../outbox/push-lock.ts';
import { uniteWithLedger, uniteWithOutbox } from '../../outbox/unite.ts';
import {
  findOutboxName,
  listProfilesOfOutbox,
  mergeProfileSettings,
  type Profile,
  type ProfileSettings,
  toProfile,
} from './config.ts';
import type { Context } from './context.ts';
import { openService } from './open-service.ts';
import { listOutboxNames, type OutboxPaths } from './places.ts';

/** A push waits for the ledger; another command continues without it. */
const LEDGER_WAIT_MS = { push: 5000, command: 250 } as const;

type Purpose = keyof typeof LEDGER_WAIT_MS;

/**
 * Opens an outbox of the data home with the ledger, without uniting them. The caller closes it.
 * @param name of the outbox, not of a profile
 * @param purpose decides how long the ledger is waited for, and whether it is checked
 * @param binding service and user of a new outbox; without it a new file is for none
 * @throws DatabaseError where the outbox is unusable; DatabaseTooNewError
 */
export function openStoredOutbox(
  context: Context,
  name: string,
  { purpose = 'push', binding }: { readonly purpose?: Purpose; readonly binding?: Binding } = {},
): Outbox {
  const { outboxFile, ledgerFile } = context.getOutboxPlaces(name);
  return openOutbox(outboxFile, context.clock, {
    binding,
    ledger: () =>
      openLedger(ledgerFile, {
        busyTimeoutMs: LEDGER_WAIT_MS[purpose],
        isChecked: purpose === 'push',
      }),
  });
}

/**
 * Opens or creates the outbox of the profile's service and user, and unites it with the ledger,
 * unless that is busy or has a problem. It is closed with the context. An empty outbox takes over
 * the service of the profile.
 * @throws ConfigError where it has finds for another service; DatabaseError where it is unusable;
 * DatabaseTooNewError
 */
export function openProfileOutbox(context: Context, purpose: Purpose): Outbox {
  const profile = context.getProfile();
  const binding = toBinding(profile);
  const outbox = openStoredOutbox(context, profile.outbox, { purpose, binding });
  context.onClose(() => outbox.close());
  assertBinding(outbox, profile);
  followProfile(outbox, binding);
  uniteIfPossible(outbox);
  if (isEmptyOutbox(outbox)) warnOfOthers(context, outbox);
  return outbox;
}

/** Makes the part of a profile to which an outbox is bound: the service and the user. */
export function toBinding(profile: Profile): Binding {
  const { kind, baseUrl, username } = profile;
  return { kind, address: baseUrl, username: username ?? null };
}

/**
 * A known address gives its service, so another address of it is no other outbox.
 * @throws ConfigError where the outbox is for another service than the profile's
 */
function assertBinding(outbox: Outbox, profile: Profile): void {
  const { kind, baseUrl } = profile;
  const header = readHeader(outbox);
  const isKnown = (): boolean =>
    outbox.ledger?.listAddresses(header.service).includes(baseUrl) === true;
  if (header.kind === kind && (header.address === baseUrl || isKnown())) return;
  if (isEmptyOutbox(outbox)) {
    outbox.change(() => updateHeader(outbox, { kind, address: baseUrl }));
    return;
  }
  throw makeBindingError(outbox, profile);
}

/**
 * Makes the error that the outbox of the profile is for another service, with the command that
 * sets the profile back.
 */
function makeBindingError(outbox: Outbox, { name, kind, baseUrl }: Profile): ConfigError {
  const header = readHeader(outbox);
  const back = cmd`pas profile set --profile ${name} base_url=${header.address} kind=${header.kind}`;
  return new ConfigError(
    msg`Profile ${name} is for ${baseUrl} (${kind}), but its outbox ${outbox.path} for ${header.address} (${header.kind}). Nothing was changed.`,
    { hint: msg`Set it back: ${back}` },
  );
}

/** Another address of the service, or a user name that was not known before, is no other outbox. */
function followProfile(outbox: Outbox, binding: Binding): void {
  const header = readHeader(outbox);
  const { address } = binding;
  const username = header.username ?? binding.username;
  if (header.address !== address || header.username !== username)
    outbox.change(() => updateHeader(outbox, { address, username }));
}

/** Unites with the ledger, unless it is busy, read-only or damaged: only a push requires it. */
function uniteIfPossible(outbox: Outbox): void {
  try {
    uniteWithLedger(outbox);
  } catch (thrown) {
    const isOfLedger =
      thrown instanceof PasError && thrown.message.startsWith(outbox.ledger?.path ?? '\0');
    // Another process may be writing to the outbox: the next command unites.
    const isBusy = thrown instanceof DatabaseError && thrown.exitReason === 'unavailable';
    if (!isOfLedger && !isBusy) throw thrown;
  }
}

/** Tells if the ledger has finds that may be this outbox's, whose account is not known yet. */
function mayBelongToSender(outbox: Outbox): boolean {
  const { account, service } = readHeader(outbox);
  return account === null && outbox.ledger?.hasAttemptedFinds(service) === true;
}

/**
 * Opens the outbox of the profile with all that this machine has sent for its account, so that
 * nothing is left to do only where that is true. One of an unknown account signs in where the
 * ledger has finds of the service; else no request is needed.
 * @throws AuthError, UnavailableError, ContractError; ConfigError where the account is another one
 */
export async function openUnitedOutbox(context: Context, purpose?: 'push'): Promise<Outbox> {
  const outbox = await context.openOutbox(purpose);
  if (!mayBelongToSender(outbox)) return outbox;
  const { resolveAccount } = await import('../../push/account.ts');
  const { identCely } = await resolveAccount(outbox, await openService(context));
  uniteWithLedger(outbox, identCely);
  await joinOutboxesOfAccount(context, identCely);
  return outbox;
}

/**
 * Makes the documents of unsent finds follow from the profile and the vocabularies as they are now:
 * those of another profile, and drafts, which may be complete by now. Mostly there are none, so
 * what validates them is loaded afterwards.
 * @throws ConfigError where the schema cannot be used
 */
export async function renewProfileDocuments(context: Context): Promise<void> {
  const outbox = await context.openOutbox();
  const { makeDocumentHead } = await import('../../finds/document.ts');
  const outdated = listOutdatedFinds(outbox, makeDocumentHead(context.getProfile()));
  if (outdated.length === 0) return;
  const [{ openValidationContext }, { renewDocuments }] = await Promise.all([
    import('./find-input.ts'),
    import('../../tables/validate-finds.ts'),
  ]);
  renewDocuments(outbox, outdated, await openValidationContext(context));
}

/** Says where finds may be that a person expects in an empty outbox. */
function warnOfOthers(context: Context, outbox: Outbox): void {
  const { places, terminal } = context;
  const config = context.getConfig();
  const { address } = readHeader(outbox);
  const unused = listOutboxNames(places)
    .filter((name) => listProfilesOfOutbox(config, name).length === 0)
    .map((name) => context.getOutboxPlaces(name).folder)
    .join(', ');
  if (unused !== '')
    terminal.warn(
      t`${outbox.path} is empty, and no profile uses ${unused}. If the address or the user name was changed in config.toml, change it back, and then with ${cmd`pas profile set`}.`,
    );
  if (mayBelongToSender(outbox))
    terminal.note(
      t`${outbox.path} is empty, and this machine has sent finds to ${address}: those of this account come back with ${cmd`pas login`} or the next push. Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
    );
}

/**
 * Opens an outbox of the data home, runs `work` on it, and closes it in any case.
 * @param name of the outbox, not of a profile
 * @param binding service and user of a new outbox
 * @throws as {@link openStoredOutbox}; errors of `work`
 */
async function withStoredOutbox<T>(
  context: Context,
  name: string,
  work: (outbox: Outbox) => T | Promise<T>,
  binding?: Binding,
): Promise<T> {
  const outbox = openStoredOutbox(context, name, { binding });
  try {
    return await work(outbox);
  } finally {
    outbox.close();
  }
}

/**
 * Writes a profile into the configuration, and makes the first one the default. The finds that it
 * shows stay in sight: its outbox comes along to a new address of the service, or to another user
 * name of the account, and so do other profiles of that outbox. It may ask on a terminal.
 * @param profile of the settings, without the environment
 * @param options.isSameService a person has said that a new address is of the same service
 * @throws ConfigError where the finds are for another service or account
 */
export async function saveProfile(
  context: Context,
  profile: Profile,
  settings: ProfileSettings,
  { isSameService = false }: { readonly isSameService?: boolean } = {},
): Promise<void> {
  const { name } = profile;
  await takeOutboxAlong(context, profile, isSameService);
  context.changeConfig((config) => {
    const profiles = new Map([...config.profiles, [name, settings]]);
    return { ...config, profiles, defaultProfile: config.defaultProfile ?? name };
  });
}

async function takeOutboxAlong(
  context: Context,
  after: Profile,
  isSameService: boolean,
): Promise<void> {
  const config = context.getConfig();
  const { name } = after;
  const before = findOutboxName(config.profiles.get(name) ?? {});
  if (before === undefined || !existsSync(context.getOutboxPlaces(before).outboxFile)) return;
  const others = listProfilesOfOutbox(config, before).filter((other) => other !== name);
  const comesAlong = await withStoredOutbox(context, before, async (outbox) => {
    const { address, service, kind } = readHeader(outbox);
    if (isEmptyOutbox(outbox)) return false;
    const isAtNewAddress = address !== after.baseUrl;
    const hasMoved =
      isAtNewAddress && (isSameService || (await confirmMove(context, address, after)));
    if (!hasMoved && others.length > 0 && before !== after.outbox) return false;
    if (isAtNewAddress && !hasMoved) throw makeOtherServiceError(outbox, after);
    if (kind !== after.kind) throw makeBindingError(outbox, after);
    if (!isAccountOfUser(outbox, after.username)) throw makeOtherUserError(outbox, after);
    if (hasMoved) requireLedger(outbox).moveAddress(after.baseUrl, service);
    return true;
  });
  if (comesAlong) await moveOutbox(context, before, after);
}

async function confirmMove(
  { terminal, prompt }: Context,
  address: string,
  { baseUrl }: Profile,
): Promise<boolean> {
  if (!terminal.interactive) return false;
  return (await prompt()).confirm(
    t`The outbox of this profile is for ${address}. Is ${baseUrl} the same service, at a new address?`,
  );
}

function makeOtherServiceError(outbox: Outbox, { name, baseUrl }: Profile): ConfigError {
  const { address } = readHeader(outbox);
  return new ConfigError(
    msg`Profile ${name} would be for ${baseUrl}, but its outbox ${outbox.path} has finds for ${address}. Nothing was changed.`,
    {
      hint: msg`If it is the same service, at a new address: ${cmd`pas profile set --profile ${name} base_url=${baseUrl} --yes`}. If not, make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
    },
  );
}

function makeOtherUserError(
  outbox: Outbox,
  { name, baseUrl, username = '' }: Profile,
): ConfigError {
  const account = readHeader(outbox).account ?? '';
  const before = findKnownUsername(outbox) ?? findKnownAccount(outbox)?.email ?? '';
  return new ConfigError(
    msg`Profile ${name} would be for the user ${username}, but its outbox ${outbox.path} sends as ${before} (${account}). Nothing was changed.`,
    {
      hint: msg`If that account now has the user name ${username}: ${cmd`pas login --profile ${name} --username ${username}`}. If it is another account, make a profile for it: ${cmd`pas init ${baseUrl} --username ${username} --name`} NAME`,
    },
  );
}

/**
 * Moves an outbox, with its profiles, to the place of another address or user name. Where there is
 * one already, that takes in its finds. To be called before the context opens either.
 */
async function moveOutbox(context: Context, from: string, profile: Profile): Promise<void> {
  const source = context.getOutboxPlaces(from);
  const target = context.getOutboxPlaces(profile.outbox);
  if (from !== profile.outbox && existsSync(source.outboxFile)) {
    if (existsSync(target.folder)) {
      const take = (outbox: Outbox) => takeIn(context, from, outbox, target);
      await withStoredOutbox(context, profile.outbox, take, toBinding(profile));
    } else {
      // Refused during a push. Windows renames no folder with an open file, such as that of the
      // lock.
      acquirePushLock(context.pushLock(from)).release();
      renameSync(source.folder, target.folder);
    }
  }
  pointProfiles(context, from, { base_url: profile.baseUrl, username: profile.username });
}

/** Points the profiles of an outbox that has moved to its new place. */
function pointProfiles(
  context: Context,
  from: string,
  place: Pick<ProfileSettings, 'base_url' | 'username'>,
): void {
  context.changeConfig((config) =>
    mergeProfileSettings(config, listProfilesOfOutbox(config, from), place),
  );
}

/**
 * Opens the outbox of the profile for a user name with which its account has just signed in. The
 * profiles of the outbox get this name, unless it belongs to another account.
 * @param account identifier of the account at the service
 * @throws ConfigError where the configuration cannot be changed; OutboxLeasedError during a push;
 * DatabaseError where an outbox is unusable
 */
export async function adoptUsername(
  context: Context,
  username: string,
  account: string,
): Promise<Outbox> {
  const { name, outbox } = context.getProfile();
  const { outboxFile } = context.getOutboxPlaces();
  const bound = existsSync(outboxFile)
    ? await withStoredOutbox(context, outbox, (stored) => readHeader(stored).account)
    : null;
  if (bound !== null && bound !== account) return context.openOutbox();
  const settings = { ...context.getConfig().profiles.get(name), username };
  await moveOutbox(context, outbox, toProfile(name, settings, {}, name));
  return context.openOutbox();
}

/**
 * Takes in the finds of other outboxes in this data home that are for the same account, under
 * another user name or address, with their profiles. Their folders are renamed, not deleted. One
 * that cannot be read is passed over.
 * @param account identifier of the account at the service
 * @param given all addresses of the service; by default those that the ledger knows
 * @throws OutboxLeasedError during a push of one of them; DatabaseError where the disk fails
 */
export async function joinOutboxesOfAccount(
  context: Context,
  account: string,
  given?: readonly string[],
): Promise<void> {
  const outbox = await context.openOutbox();
  const { address, service } = readHeader(outbox);
  const addresses = given ?? outbox.ledger?.listAddresses(service) ?? [address];
  const own = context.getProfile();
  const { base_url, username } = context.getConfig().profiles.get(own.name) ?? {};
  // Without a user name to point to, the profiles of the others would lose theirs.
  if (username === undefined && given === undefined) return;
  for (const name of listOutboxNames(context.places)) {
    if (name === own.outbox || !(await isOfAccount(context, name, account, addresses))) continue;
    await takeIn(context, name, outbox, context.getOutboxPlaces());
    pointProfiles(context, name, { base_url, username });
  }
}

/** One that cannot be opened is not touched. */
async function isOfAccount(
  context: Context,
  name: string,
  account: string,
  addresses: readonly string[],
): Promise<boolean> {
  if (!existsSync(context.getOutboxPlaces(name).outboxFile)) return false;
  try {
    return await withStoredOutbox(context, name, (outbox) => {
      const header = readHeader(outbox);
      return header.account === account && addresses.includes(header.address);
    });
  } catch (thrown) {
    if (thrown instanceof PasError) return false;
    throw thrown;
  }
}

/** Takes everything of an outbox into another one, and sets the folder of the first aside. */
async function takeIn(
  context: Context,
  from: string,
  to: Outbox,
  { photosFolder }: OutboxPaths,
): Promise<void> {
  const source = context.getOutboxPlaces(from);
  const unite = async (outbox: Outbox) => {
    const { account } = readHeader(outbox);
    if (account !== null) assertSameAccount(to, account);
    const photographs = makeContentStore(photosFolder);
    for (const { photograph } of listUnsentPhotoEntries(outbox))
      await copyStoredFile(photograph.sha512, makeContentStore(source.photosFolder), photographs);
    return uniteWithOutbox(outbox, to);
  };
  const { finds: count } = await withPushLock(context.pushLock(from), () =>
    withStoredOutbox(context, from, unite),
  );
  renameSync(source.folder, `${source.folder}-united-${Math.floor(context.clock.now())}`);
  context.terminal.note(
    t`This account has an outbox here already: the finds of ${source.folder} are in ${to.path} now (${count}).`,
  );
}

/**
 * Runs `work` with the push lock held where it is free, and without it during a push of the outbox.
 * `work` is told which, and must be synchronous: the lock is released when it returns.
 * @throws DatabaseError where the lock cannot be made; errors of `work`
 */
export function withLockIfFree<T>(context: Context, work: (isLocked: boolean) => T): T {
  const lock = lockIfFree(context);
  try {
    return work(lock !== undefined);
  } finally {
    lock?.release();
  }
}

function lockIfFree({ pushLock }: Context): LockFile | undefined {
  try {
    return acquirePushLock(pushLock());
  } catch (thrown) {
    if (thrown instanceof OutboxLeasedError) return undefined;
    throw thrown;
  }
}
