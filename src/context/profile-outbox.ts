import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import type { Clock } from '../base/clock.ts';
import { ConfigError, DatabaseError, PasError } from '../base/errors.ts';
import { msgid, ngettext, t } from '../base/language.ts';
import { cmd, msg } from '../base/message.ts';
import { uniteAndCheck } from '../flows/queue/check-entered.ts';
import { isEmptyOutbox } from '../outbox/backup-copy.ts';
import {
  findKnownAccount,
  findKnownUsername,
  isAccountOfUser,
  isSameUser,
} from '../outbox/bound-account.ts';
import { openLedger } from '../outbox/ledger.ts';
import {
  type Binding,
  type Outbox,
  openOutbox,
  readHeader,
  updateHeader,
} from '../outbox/open-outbox.ts';
import { NOTHING_UNITED, type United } from '../outbox/unite.ts';
import { copyToTempFolder, isWriteRefused } from '../store/database-file.ts';
import type { Terminal } from '../ui/terminal.ts';
import { assignOutbox, findSimilarProfiles, freeProfileName } from './change-config.ts';
import {
  type ConfigFile,
  listProfilesOfOutbox,
  makeInitCommand,
  type Profile,
  type ProfileSettings,
} from './config.ts';
import type { LedgerPlaces, OutboxPlaces, Places } from './places.ts';

/** Parts of the context that the outboxes of a profile need. */
export type ProfileSources = {
  readonly clock: Clock;
  readonly places: Places;
  readonly terminal: Terminal;
  getMachineId(): string;
  getConfig(): ConfigFile;
  getProfile(): Profile;
  onClose(close: () => void): void;
};

type OutboxSources = ProfileSources & {
  /** Current UUID of the profile's outbox in config.toml. */
  findOutboxId(): string | undefined;
  getOutboxPlaces(id: string): OutboxPlaces;
  getLedgerPlaces(id: string): LedgerPlaces;
};

/** A push waits for the ledger; another command continues without it. */
const LEDGER_WAIT_MS = { push: 5000, command: 250 } as const;

type Purpose = keyof typeof LEDGER_WAIT_MS;

/**
 * Opens an outbox with the ledger, and creates it where a binding is given. It is closed with the
 * context.
 */
export function openOutboxWithLedger(
  sources: OutboxSources,
  id: string,
  purpose: Purpose,
  binding?: Binding,
): Outbox {
  const { ledgerFile } = sources.getLedgerPlaces(id);
  const outbox = openOutbox(sources.getOutboxPlaces(id).outboxFile, sources.clock, {
    binding,
    id,
    ledger: () =>
      openLedger(ledgerFile, {
        machine: sources.getMachineId,
        busyTimeoutMs: LEDGER_WAIT_MS[purpose],
        isChecked: purpose === 'push',
      }),
  });
  sources.onClose(() => outbox.close());
  return outbox;
}

/**
 * Opens or recreates the outbox of the profile's service and user, and unites it with the ledger.
 * @throws ConfigError where it is another service's or of several users
 */
export function openProfileOutbox(sources: OutboxSources, purpose: Purpose): Outbox {
  const { clock, places } = sources;
  const profile = sources.getProfile();
  const outboxId = sources.findOutboxId();
  const id = outboxId ?? assignOutbox(places, clock, profile.name);
  const isMissing = profile.outbox === id && !existsSync(sources.getOutboxPlaces(id).outboxFile);
  const outbox = openOutboxWithLedger(sources, id, purpose, getBinding(profile));
  if (!isServiceOfProfile(outbox, profile)) {
    if (!isEmptyOutbox(outbox)) assertBinding(outbox, profile);
    // The profile has another service now, and an unused outbox can be left.
    return openOutboxWithLedger(
      sources,
      assignOutbox(places, clock, profile.name, id),
      purpose,
      getBinding(profile),
    );
  }
  followProfile(outbox, profile);
  assertOneUser(sources.getConfig(), outbox, profile);
  const united = uniteIfPossible(outbox);
  if (isMissing) warnOfMissing(sources, outbox, united);
  return outbox;
}

/**
 * Documents are made by the profile: a new prefix or schema, or another address of the service, is
 * no other outbox.
 */
function followProfile(outbox: Outbox, profile: Profile): void {
  const header = readHeader(outbox);
  const { baseUrl: address, prefix, schemaVersion } = profile;
  const username = header.username ?? profile.username ?? null;
  const isSame =
    header.address === address &&
    header.prefix === prefix &&
    header.schemaVersion === schemaVersion &&
    header.username === username;
  if (!isSame)
    outbox.change(() => updateHeader(outbox, { address, prefix, schemaVersion, username }));
}

/** Opens the outbox of the profile for reading: a copy where nothing can be written. */
export async function openProfileOutboxReadOnly(
  sources: OutboxSources,
  open: () => Promise<Outbox>,
): Promise<Outbox> {
  try {
    return await open();
  } catch (thrown) {
    const id = sources.findOutboxId();
    const file = id === undefined ? undefined : sources.getOutboxPlaces(id).outboxFile;
    if (!isWriteRefused(thrown) || file === undefined || !existsSync(file)) throw thrown;
    const copy = copyToTempFolder(file);
    sources.onClose(copy.remove);
    sources.terminal.note(
      t`${sources.places.home} is not writable: the outbox is read from a copy.`,
    );
    const outbox = openOutbox(copy.path, sources.clock);
    sources.onClose(() => outbox.close());
    assertBinding(outbox, sources.getProfile());
    return outbox;
  }
}

/** Unites with the ledger, unless it is busy, read-only or damaged: only a push requires it. */
function uniteIfPossible(outbox: Outbox): United {
  try {
    return uniteAndCheck(outbox);
  } catch (thrown) {
    const isOfLedger =
      thrown instanceof PasError && thrown.message.startsWith(outbox.ledger?.path ?? '\0');
    // Another process may be writing to the outbox: the next command unites.
    if (isOfLedger || (thrown instanceof DatabaseError && thrown.exitReason === 'unavailable'))
      return NOTHING_UNITED;
    throw thrown;
  }
}

function warnOfMissing({ terminal }: OutboxSources, outbox: Outbox, { arrived }: United): void {
  const finds = arrived.size;
  const restored = ngettext(
    msgid`${finds} find that was sent is restored from the ledger of this machine.`,
    `${finds} finds that were sent are restored from the ledger of this machine.`,
    finds,
  );
  const why = outbox.ledgerProblem === undefined ? '' : ` ${outbox.ledgerProblem.message}`;
  terminal.warn(
    t`The outbox ${outbox.path} was missing and was recreated. ${restored}${why} Finds that were never sent are only in backups: ${cmd`pas restore`} FILE`,
  );
}

export function getBinding(profile: Profile): Binding {
  const { kind, baseUrl, prefix, schemaVersion, username } = profile;
  return { kind, address: baseUrl, prefix, schemaVersion, username: username ?? null };
}

/** A known address gives its service, so another address of it is no other outbox. */
function isServiceOfProfile(outbox: Outbox, { kind, baseUrl }: Profile): boolean {
  const { address, service, kind: ownKind } = readHeader(outbox);
  if (address === baseUrl) return ownKind === kind;
  return outbox.ledger?.listAddresses(service).includes(baseUrl) === true;
}

/**
 * @throws ConfigError with both remedies, where the outbox is for another service than the
 * profile's
 */
export function assertBinding(outbox: Outbox, profile: Profile): void {
  if (isServiceOfProfile(outbox, profile)) return;
  const { address, kind } = readHeader(outbox);
  const { name, baseUrl } = profile;
  if (kind !== profile.kind)
    throw new ConfigError(
      msg`Profile ${name} is of the kind ${profile.kind}, but its outbox ${outbox.path} of the kind ${kind}. Nothing was changed.`,
      {
        hint: msg`Set kind of ${name} back to ${kind}, and make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
      },
    );
  throw new ConfigError(
    msg`Profile ${name} has ${baseUrl}, but its outbox ${outbox.path} is for ${address}. Nothing was changed.`,
    {
      hint: msg`If it is the same service, at a new address, say so on a terminal: ${cmd`pas push`}. If not, set base_url of ${name} back to ${address}, and make a new profile: ${cmd`pas init --base-url ${baseUrl} --name`} NAME`,
    },
  );
}

/**
 * Asks if a new address in the profile is that of the outbox's service, where the ledger does not
 * know it; a yes is remembered there.
 */
export async function followMovedService(
  { getProfile, getOutboxPlaces, openOutboxById }: DataHome & { getProfile(): Profile },
  confirm: (before: string, now: string) => Promise<boolean>,
): Promise<void> {
  const { outbox: id, baseUrl, kind } = getProfile();
  if (id === undefined || !existsSync(getOutboxPlaces(id).outboxFile)) return;
  const outbox = await openOutboxById(id);
  const { address, kind: ownKind, service } = readHeader(outbox);
  const { ledger } = outbox;
  const isKnown = ledger === undefined || ledger.findService(baseUrl) !== undefined;
  if (isKnown || kind !== ownKind || isEmptyOutbox(outbox)) return;
  if (await confirm(address, baseUrl)) ledger.moveAddress(baseUrl, service);
}

/** Returns sorted names of folders that may be outboxes. */
export function listOutboxFolders(outboxesFolder: string): string[] {
  if (!existsSync(outboxesFolder)) return [];
  return readdirSync(outboxesFolder, { withFileTypes: true })
    .flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))
    .sort();
}

/** Parts of a data home that are needed to find the outbox of a profile. */
type DataHome = {
  getConfig(): ConfigFile;
  getOutboxPlaces(id: string): { readonly outboxFile: string };
  openOutboxById(id: string): Promise<Outbox>;
};

/**
 * Chooses the outbox of a profile with new settings: its own, else that of another profile of the
 * same account, else a new one.
 * @param profile with the new settings
 * @returns undefined where this is decided at the first use of the outbox
 * @throws ConfigError where its own was used and is for another service or account
 */
export async function chooseOutbox(
  home: DataHome,
  profile: Profile,
  settings: ProfileSettings,
): Promise<string | undefined> {
  const { name, outbox: outboxId } = profile;
  const username = settings.username?.toString();
  const openExisting = async (id: string) =>
    existsSync(home.getOutboxPlaces(id).outboxFile) ? home.openOutboxById(id) : undefined;
  if (outboxId !== undefined) {
    const outbox = await openExisting(outboxId);
    const isShared =
      listProfilesOfOtherUsers(home.getConfig(), outboxId, name, username).length > 0;
    if (outbox !== undefined && !isEmptyOutbox(outbox)) {
      assertBinding(outbox, profile);
      if (!isShared && !isAccountOfUser(outbox, username))
        throw makeOtherUserError(home.getConfig(), outbox, name, settings);
    }
    const isOwn =
      outbox !== undefined &&
      readHeader(outbox).account !== null &&
      isAccountOfUser(outbox, username);
    if (!isShared || isOwn) return outboxId;
  }
  const alike = findSimilarProfiles(home.getConfig(), name, settings);
  const shared = alike.flatMap(
    (other) => home.getConfig().profiles.get(other)?.outbox?.toString() ?? [],
  );
  for (const id of shared) {
    const outbox = await openExisting(id);
    if (outbox === undefined || isAccountOfUser(outbox, username)) return id;
  }
  return shared.length === 0 ? undefined : randomUUID();
}

function listProfilesOfOtherUsers(
  config: ConfigFile,
  id: string,
  name: string,
  username: string | undefined,
): string[] {
  return listProfilesOfOutbox(config, id).filter((other) => {
    const its = config.profiles.get(other)?.username?.toString();
    return (
      other !== name && its !== undefined && username !== undefined && !isSameUser(its, username)
    );
  });
}

/**
 * @throws ConfigError where profiles of several users use the outbox, which sends as one account
 */
function assertOneUser(config: ConfigFile, outbox: Outbox, { name, outbox: id }: Profile): void {
  const username = config.profiles.get(name)?.username?.toString();
  const otherProfiles =
    id === undefined ? [] : listProfilesOfOtherUsers(config, id, name, username);
  if (otherProfiles.length === 0) return;
  const getSettings = (each: string): ProfileSettings => config.profiles.get(each) ?? {};
  const isBound = readHeader(outbox).account !== null;
  const strangers = [name, ...otherProfiles].filter(
    (each) => !isBound || !isAccountOfUser(outbox, getSettings(each).username?.toString()),
  );
  const [first = otherProfiles[0] ?? name] = strangers;
  const names = [name, ...otherProfiles].join(', ');
  const command = makeInitCommand(first, getSettings(first));
  throw new ConfigError(
    msg`Profiles ${names} belong to several users but share one outbox, ${outbox.path}.`,
    {
      hint: msg`An outbox sends as one account. Give ${first} its own outbox: ${command}`,
    },
  );
}

function makeOtherUserError(
  config: ConfigFile,
  outbox: Outbox,
  name: string,
  settings: ProfileSettings,
): ConfigError {
  const account = readHeader(outbox).account ?? '';
  const username = settings.username?.toString() ?? '';
  const before = findKnownUsername(outbox) ?? findKnownAccount(outbox)?.email ?? '';
  const command = makeInitCommand(freeProfileName(config, username), settings);
  return new ConfigError(
    msg`Profile ${name} would be for the user ${username}, but its outbox ${outbox.path} sends as ${before} (${account}). Nothing was changed.`,
    {
      hint: msg`If that account now has the user name ${username}: ${cmd`pas login --profile ${name} --username ${username}`}. If it is another account, make a profile for it: ${command}`,
    },
  );
}
