import { existsSync, renameSync } from 'node:fs';
import { isSoundDatabase } from '../../base/disk/database-file.ts';
import type { LockFile } from '../../base/disk/lock-file.ts';
import { DatabaseError, OutboxLeasedError, PasError } from '../../base/errors.ts';
import type { Issue } from '../../base/issue.ts';
import { cmd, msg, t } from '../../base/message.ts';
import { copyStoredFile, makeContentStore } from '../../outbox/changes/content-store.ts';
import {
  listOutdatedFinds,
  listUnacceptedPhotoEntries,
  type Renewal,
} from '../../outbox/entry-queries.ts';
import { type Ledger, openLedger } from '../../outbox/ledger.ts';
import {
  assertMayBelongTo,
  type Binding,
  isEmptyOutbox,
  type Outbox,
  type Owner,
  openLedgerIfUsable,
  openOutbox,
  readHeader,
  requireLedger,
  updateHeader,
} from '../../outbox/open-outbox.ts';
import { acquirePushLock, withPushLock } from '../../outbox/push-lock.ts';
import { addFromOutbox, uniteWithLedger } from '../../outbox/unite.ts';
import { printIssues, requireConfirmation } from '../terminal.ts';
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
 * Opens or creates an outbox of the data home and the ledger, without uniting them. The caller
 * closes it. A ledger that cannot be opened is not an error, but `ledgerProblem` of the outbox.
 * @param name of the outbox, not of a profile
 * @param purpose for a push, the default, the ledger is checked and waited for longer
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
 * Opens or creates the outbox of the profile, until the context is closed, and unites it with the
 * ledger, if it is not busy and has no problem. An empty outbox is bound to the service of the
 * profile, with a warning where the person's finds may be elsewhere. Any outbox takes over another
 * address of its service, and a user name where it has none.
 * @throws ConfigError where it has finds for another service; DatabaseError where it is unusable;
 * DatabaseTooNewError
 */
export function openProfileOutbox(context: Context, purpose: Purpose): Outbox {
  const profile = context.getProfile();
  const binding = toBinding(profile);
  const outbox = openStoredOutbox(context, profile.outbox, { purpose, binding });
  context.onClose(() => outbox.close());
  bindToProfile(outbox, profile);
  uniteIfPossible(outbox);
  if (isEmptyOutbox(outbox)) warnOfOthers(context, outbox);
  return outbox;
}

/** Returns the service and the user of a profile, to which its outbox is bound. */
export function toBinding(profile: Profile): Binding {
  const { kind, baseUrl, username } = profile;
  return { kind, address: baseUrl, username: username ?? null };
}

/**
 * Binds an outbox to the service of the profile, and to its user where none was known before. One
 * with finds must be of that service already: an address that the ledger knows of it is no other.
 * @throws ConfigError where the outbox is for another service than the profile's
 */
function bindToProfile(outbox: Outbox, profile: Profile): void {
  const binding = toBinding(profile);
  const { kind, address } = binding;
  const header = readHeader(outbox);
  if (!isEmptyOutbox(outbox)) {
    const back = cmd`pas profile set --profile ${profile.name} base_url=${header.address} kind=${header.kind}`;
    // Who sends is known only after the sign-in.
    const addresses = listAddresses(outbox.ledger, address);
    const owner = { kind, addresses, username: null, account: null };
    assertMayBelongTo(outbox, owner, msg`Set it back: ${back}`);
  }
  const username = header.username ?? binding.username;
  if (header.kind !== kind || header.address !== address || header.username !== username)
    outbox.change(() => updateHeader(outbox, { kind, address, username }));
}

/** Returns this and the other known addresses of the service at an address. */
function listAddresses(ledger: Ledger | undefined, address: string): string[] {
  return [address, ...(ledger?.listAddresses(ledger.findService(address) ?? '') ?? [])];
}

/**
 * Unites with the ledger. Where that is busy, read-only or damaged, or the outbox is busy, nothing
 * is done: only a push requires it.
 */
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
 * Opens the outbox of the profile with all that this machine has sent for its account. Where the
 * account is not known yet and the ledger has finds of the service, the account is requested, and
 * its other outboxes are united with this one; else no request is sent.
 * @throws AuthError, UnavailableError, ContractError; ConfigError where the account is not that of
 * the outbox; OutboxLeasedError during a push of another outbox; DatabaseError where one is
 * unusable
 */
export async function openUnitedOutbox(context: Context, purpose?: 'push'): Promise<Outbox> {
  const outbox = await context.openOutbox(purpose);
  if (!mayBelongToSender(outbox)) return outbox;
  const { fetchAccountOfOutbox } = await import('../../push/account.ts');
  const { identCely } = await fetchAccountOfOutbox(outbox, await openService(context));
  uniteWithLedger(outbox, identCely);
  await uniteOutboxesOfAccount(context, identCely);
  return outbox;
}

/**
 * Validates unsent finds again whose documents may be outdated, and stores the results: those that
 * were made for another profile or schema, and drafts, except those that a person keeps as drafts;
 * after a harvest of vocabularies all that are queued. The validation is loaded only when needed.
 * @returns the issues of the finds that have become drafts, which were printed
 * @throws ConfigError where the schema cannot be used; DatabaseError where the disk fails
 */
export async function renewProfileDocuments(
  context: Context,
  after: Renewal = 'change',
): Promise<readonly Issue[]> {
  const { terminal } = context;
  const outbox = await context.openOutbox();
  const { makeDocumentHead } = await import('../../finds/document.ts');
  const outdated = listOutdatedFinds(outbox, makeDocumentHead(context.getProfile()), after);
  if (outdated.length === 0) return [];
  const [{ openValidationContext }, { renewDocuments }] = await Promise.all([
    import('./find-input.ts'),
    import('../../tables/validate-finds.ts'),
  ]);
  const issues = renewDocuments(outbox, outdated, await openValidationContext(context));
  const draftNames = [...new Set(issues.map(({ find }) => find))].join(', ');
  printIssues(terminal, issues, terminal.warn);
  if (issues.length > 0)
    terminal.warn(t`Drafts until you correct what is marked ✗: ${draftNames}.`);
  return issues;
}

/** Warns where the finds may be that a person expects in an empty outbox. */
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
      t`${outbox.path} is empty, and no profile uses ${unused}. If the address or the user name was changed in config.toml, change it back there, and then change it with ${cmd`pas profile set`}.`,
    );
  if (mayBelongToSender(outbox))
    terminal.note(
      t`${outbox.path} is empty, and this machine has sent finds to ${address}: those of this account come back with ${cmd`pas login`} or the next push. Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
    );
}

/**
 * Opens an outbox of the data home as for a push, runs `work` on it, and closes it in any case.
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
 * Writes a profile into the configuration, as the default where there is none. Before that its
 * outbox moves to the new settings, with its other profiles, where they name a new address of the
 * service or another user name of the account.
 * @param profile made of the settings, without the environment
 * @throws UsageError where a person does not confirm that a new address is of the same service;
 * ConfigError where the finds are for another kind or account; OutboxLeasedError during a push;
 * InterruptedError on Ctrl-C; DatabaseError where an outbox or the disk fails
 */
export async function saveProfile(
  context: Context,
  profile: Profile,
  settings: ProfileSettings,
): Promise<void> {
  const { name } = profile;
  await takeOutboxAlong(context, profile);
  context.changeConfig((config) => {
    const profiles = new Map([...config.profiles, [name, settings]]);
    return { ...config, profiles, defaultProfile: config.defaultProfile ?? name };
  });
}

/**
 * Moves the outbox of a profile to the place of its new settings, with its other profiles. An empty
 * one stays, and so does one that other profiles use, unless its service has another address now.
 * @throws as {@link saveProfile}
 */
async function takeOutboxAlong(context: Context, after: Profile): Promise<void> {
  const config = context.getConfig();
  const { name, baseUrl, username = 'USER' } = after;
  const before = findOutboxName(config.profiles.get(name) ?? {});
  if (before === undefined || !existsSync(context.getOutboxPlaces(before).outboxFile)) return;
  const isShared = listProfilesOfOutbox(config, before).some((other) => other !== name);
  const owner = await withStoredOutbox(context, before, async (outbox) => {
    const { address, service } = readHeader(outbox);
    if (isEmptyOutbox(outbox)) return undefined;
    const hasMoved = address !== baseUrl;
    if (!hasMoved && isShared && before !== after.outbox) return undefined;
    const place = await findOutboxOwner(context, after);
    // A person confirms the new address.
    const moved = { ...place, addresses: [...place.addresses, address] };
    assertMayBelongTo(
      outbox,
      moved,
      msg`For another account or service, make a profile: ${cmd`pas init ${baseUrl} --username ${username} --name`} NAME. If its account has the user name ${username} now: ${cmd`pas login --profile ${name} --username ${username}`}`,
    );
    if (hasMoved) {
      await requireConfirmation(
        context,
        t`The outbox of this profile is for ${address}. Is ${baseUrl} the same service, at a new address? (For another service, make a new profile.)`,
      );
      requireLedger(outbox).moveAddress(baseUrl, service);
    }
    return moved;
  });
  if (owner !== undefined) await moveOutbox(context, before, after, owner);
}

/**
 * Finds out whose the outbox of a profile is, also where that outbox does not exist or cannot be
 * read: its account and kind are those in the outbox, else the kind that the ledger knows for the
 * service, else that of the profile. The addresses are that of the profile and all that the ledger
 * knows of the service; the user name is that of the profile. Nothing is asked of the service.
 */
export async function findOutboxOwner(context: Context, profile: Profile): Promise<Owner> {
  const { baseUrl, kind, outbox: name, username = null } = profile;
  const header = await readStoredOutbox(context, name, (outbox) => ({
    account: readHeader(outbox).account,
    kind: isEmptyOutbox(outbox) ? undefined : readHeader(outbox).kind,
  }));
  const { ledgerFile } = context.getOutboxPlaces(name);
  const { ledger } = openLedgerIfUsable(() => openLedger(ledgerFile));
  const owner = {
    kind: header?.kind ?? ledger?.findKind(baseUrl) ?? kind,
    addresses: listAddresses(ledger, baseUrl),
    username,
    account: header?.account ?? null,
  };
  ledger?.close();
  return owner;
}

/**
 * Moves an outbox to the place of another address or user name, and points its profiles there.
 * Where there is an outbox already, they are united in that one. To be called before the context
 * opens either.
 * @throws OutboxLeasedError during a push; ConfigError where either is not of the owner;
 * DatabaseError where an outbox is unusable
 */
async function moveOutbox(
  context: Context,
  from: string,
  profile: Profile,
  owner: Owner,
): Promise<void> {
  const source = context.getOutboxPlaces(from);
  const target = context.getOutboxPlaces(profile.outbox);
  if (from !== profile.outbox && existsSync(source.outboxFile)) {
    if (existsSync(target.folder)) {
      const take = (outbox: Outbox) => {
        bindToProfile(outbox, profile);
        return uniteStoredOutbox(context, from, outbox, owner, target);
      };
      await withStoredOutbox(context, profile.outbox, take, toBinding(profile));
    } else {
      // Refused during a push. Windows renames no folder with an open file, such as that of the
      // lock.
      acquirePushLock(source.lock).release();
      renameSync(source.folder, target.folder);
    }
  }
  pointProfiles(context, from, { base_url: profile.baseUrl, username: profile.username });
}

/** Sets address and user name of the profiles of an outbox that has moved. */
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
 * Opens the outbox of the profile for a user name with which its account has just signed in. One of
 * another account is opened unchanged; any other moves to the place of that name, which its
 * profiles get. To be called before the context opens the outbox.
 * @param account identifier of the account at the service
 * @throws ConfigError where the configuration cannot be changed, or an outbox that is already at
 * the new place is of another owner; OutboxLeasedError during a push; DatabaseError where an outbox
 * is unusable
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
  const profile = toProfile(name, settings, {}, name);
  const owner = { ...(await findOutboxOwner(context, profile)), account };
  await moveOutbox(context, outbox, profile, owner);
  return context.openOutbox();
}

/**
 * Unites the outbox of the profile with others in this data home that are of the same account,
 * under another user name or address. Their profiles then use this outbox, and their folders are
 * renamed, not deleted. One that cannot be read is passed over; after an error, those united before
 * stay so.
 * @param account identifier of the account at the service
 * @param confirmed addresses that a person said are of this service; by default those that the
 * ledger knows, and then nothing is done for a profile without a user name
 * @throws OutboxLeasedError during a push of one of them; DatabaseError where the disk fails
 */
export async function uniteOutboxesOfAccount(
  context: Context,
  account: string,
  confirmed?: readonly string[],
): Promise<void> {
  const outbox = await context.openOutbox();
  const { address, kind } = readHeader(outbox);
  const addresses = [address, ...(confirmed ?? listAddresses(outbox.ledger, address))];
  const owner = { kind, addresses, username: null, account };
  const isOfOwner = (stored: Outbox): boolean => {
    assertMayBelongTo(stored, owner);
    return readHeader(stored).account === account;
  };
  const own = context.getProfile();
  const { base_url, username } = context.getConfig().profiles.get(own.name) ?? {};
  // Without a user name to point to, the profiles of the others would lose theirs.
  if (username === undefined && confirmed === undefined) return;
  for (const name of listOutboxNames(context.places)) {
    if (name === own.outbox) continue;
    if ((await readStoredOutbox(context, name, isOfOwner)) !== true) continue;
    await uniteStoredOutbox(context, name, outbox, owner, context.getOutboxPlaces());
    pointProfiles(context, name, { base_url, username });
  }
}

/** Reads from an outbox of the data home; undefined where there is none that can be read. */
async function readStoredOutbox<T>(
  context: Context,
  name: string,
  read: (outbox: Outbox) => T,
): Promise<T | undefined> {
  const { outboxFile } = context.getOutboxPlaces(name);
  if (!existsSync(outboxFile)) return undefined;
  try {
    // Opened, a damaged one would get the changes in its log: it must stay as it is.
    return isSoundDatabase(outboxFile) ? await withStoredOutbox(context, name, read) : undefined;
  } catch (thrown) {
    if (thrown instanceof PasError) return undefined;
    throw thrown;
  }
}

/**
 * Adds everything of an outbox to another one, with the photographs that are not sent, as far as
 * they exist, and renames the folder of the first, with a note.
 * @param from name of the outbox
 * @throws OutboxLeasedError during a push of `from`; ConfigError where either is not of the owner
 */
async function uniteStoredOutbox(
  context: Context,
  from: string,
  to: Outbox,
  owner: Owner,
  { photosFolder }: OutboxPaths,
): Promise<void> {
  const source = context.getOutboxPlaces(from);
  const unite = async (outbox: Outbox) => {
    for (const each of [outbox, to]) assertMayBelongTo(each, owner);
    const photographs = makeContentStore(photosFolder);
    for (const { photograph } of listUnacceptedPhotoEntries(outbox))
      await copyStoredFile(photograph.sha512, makeContentStore(source.photosFolder), photographs);
    return addFromOutbox(outbox, to);
  };
  const { finds: count } = await withPushLock(source.lock, () =>
    withStoredOutbox(context, from, unite),
  );
  renameSync(source.folder, `${source.folder}-united-${context.clock.now()}`);
  context.terminal.note(
    t`This account has an outbox here already: the finds of ${source.folder} are in ${to.path} now (${count}).`,
  );
}

/**
 * Runs `work` and returns its result, with the push lock of the profile's outbox held where it is
 * free, and without it during a push.
 * @param work told if the lock is held; synchronous, since the lock is released when it returns
 * @throws DatabaseError where the lock cannot be made; errors of `work`
 */
export function withPushLockIfFree<T>(
  { getOutboxPlaces }: Context,
  work: (isLocked: boolean) => T,
): T {
  let lock: LockFile | undefined;
  try {
    lock = acquirePushLock(getOutboxPlaces().lock);
  } catch (thrown) {
    if (!(thrown instanceof OutboxLeasedError)) throw thrown;
  }
  try {
    return work(lock !== undefined);
  } finally {
    lock?.release();
  }
}
